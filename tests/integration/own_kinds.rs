//! Riddles in groups of three in a benchmark of one's own, by operations on records with columns (`anonymise_riddle`,
//! `puzzle_group`), from an empty workspace to releases that are verified, compared, exported and evaluated.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::harness::Workspace;
use crate::own::vote;

const THREES: &str = "riddle-threes";

const THREES_TOML: &str = r#"about = "riddles in groups of three"
records = "written riddles"
steps = ["import", "riddle", "anonymise", "review:writing", "group"]

[step.riddle]
kind = "native"
op = "riddle"

[step.anonymise]
kind = "native"
op = "anonymise_riddle"

[step.group]
kind = "native"
op = "puzzle_group"
records = "threes"

[fields]
texts = "[answer] + distractors"

[data]
about = "A riddle with four answers, in groups of three."
labels = ["kind", "standing"]
group = "id | replace('_SR', '') | replace('_CR', '')"
columns = [
  { name = "id", type = "text", is = "id", about = "Its name." },
  { name = "kind", type = "text", is = "kind", values = ["sentence", "word"], about = "What the riddle plays with." },
  { name = "question", type = "text", is = "question", about = "The riddle." },
  { name = "options", type = "list of text", is = "order | map('int') | map('at', texts)", about = "Four answers." },
  { name = "gold", type = "integer", is = "'0' | place(order)", about = "The place of the right one." },
  { name = "standing", type = "text", is = "standing", values = ["confirmed", "published", "provisional", "synthetic"], about = "How sure it is." },
]
[data.poses]
question = "question"
instruction = "Choose the answer."
options = "options"
gold = "gold"

[[compat]]
file = "threes.jsonl"
lines = true
[compat.keys]
riddle = "question"
right = "options[gold]"

[[task]]
name = "choose"
about = "Which of the four it is."
prompt = "choose"
with = { question = "question", options = "options | lettered" }
choose = { options = "options", gold = "gold" }

[paper]
set = "Riddle Threes"
title = "Riddles in groups of three"
authors = "nobody"
year = 2026
url = ""
key = "threes"
languages = ["en"]

[columns."written riddles"]
id = { type = "text", about = "The riddle's id." }
question = { type = "text", null = false, about = "What is asked." }
answer = { type = "text", null = false, about = "The answer." }
licence = { type = "text", about = "The licence of its source." }
kind = { type = "text", about = "`sentence` or `word`." }
kind_status = { type = "text", about = "How sure all of it is." }
kind_basis = { type = "list of text", about = "What that rests on." }
distractors = { type = "list of text", about = "Three wrong answers." }
distractors_status = { type = "text", about = "How sure they are." }
semantic_question = { type = "text", about = "The riddle in other words." }
semantic_status = { type = "text", about = "How sure that is." }
context_question = { type = "text", about = "The riddle in another scene." }
context_answer = { type = "text", about = "Its answer." }
context_status = { type = "text", about = "How sure they are." }
context_distractors = { type = "list of text", about = "Its wrong answers." }
context_distractors_status = { type = "text", about = "How sure they are." }
flags = { type = "list of text", about = "What was found." }

[columns.threes]
id = { type = "text", about = "The riddle's id, with `_SR` or `_CR`." }
group = { type = "text", null = false, about = "The riddle." }
kind = { type = "text", null = false, about = "`sentence` or `word`." }
role = { type = "text", null = false, about = "`original`, `semantic` or `context`." }
question = { type = "text", null = false, about = "The question." }
answer = { type = "text", null = false, about = "The right answer." }
distractors = { type = "list of text", about = "Three wrong ones." }
order = { type = "list of text", about = "The order in which they are shown." }
original_answer = { type = "text", about = "The answer that gave way to another." }
standing = { type = "text", null = false, about = "How sure it is." }
"#;

const THREES_BALLOTS: &str = r#"[ballot.writing]
title = "Write the group of this riddle"
guideline = "Wrong answers that tempt, the riddle in other words, and the same trick in another scene."
voters = ["annotator"]
votes = 1
standing = "kind"
shows = [{ key = "riddle", is = "question", label = "Riddle" }, { key = "answer", is = "answer", label = "Answer" }]
fields = [
  { name = "kind", label = "Kind", kind = "choice", options = [
    { code = "sentence", label = "sentence", means = "What one takes for granted is wrong." },
    { code = "word", label = "word", means = "The answer hangs on a word." },
  ] },
  { name = "wrong", label = "Wrong answers, one a line", kind = "text" },
  { name = "semantic", label = "In other words", kind = "text" },
  { name = "context", label = "In another scene", kind = "text" },
  { name = "context_answer", label = "The answer there", kind = "text" },
  { name = "context_wrong", label = "Wrong answers there, one a line", kind = "text" },
]
[ballot.writing.keeps]
kind = "said.kind"
distractors = "said.wrong | lines"
distractors_status = "standing"
semantic_question = "said.semantic"
semantic_status = "standing"
context_question = "said.context"
context_answer = "said.context_answer"
context_status = "standing"
context_distractors = "said.context_wrong | lines"
context_distractors_status = "standing"
"#;

pub const CHOOSE: &str = "{# A choice. #}\nAnswer with one letter.\n{{ question | inside(\"question\") }}\n{{ options | inside(\"options\") }}\n";

const SETTINGS: &str = r#"
[text]
language = "en"

[puzzles]
none_share = 0.0

[[source]]
name = "riddles"
kind = "table"
path = "raw/dumps/riddles*.csv"
fields = { id = "riddle:{no}", title = "riddle", content = "answer" }
licence = "CC0-1.0"
recipes = ["riddle-threes"]

[[annotator]]
name = "annotator-1"
role = "annotator"
languages = ["en"]
"#;

/// An empty workspace with these settings, and a folder of a benchmark.
pub fn empty(settings: &str, folders: &[(&str, &str)]) -> Workspace {
    let ws = Workspace::folder();
    ws.call(["init", "--empty"]).expect(0);
    ws.write("raw/salt", crate::harness::SALT);
    ws.write("pipeline.toml", ws.read("pipeline.toml") + settings);
    for (path, text) in folders {
        ws.write(&format!("benchmarks/{path}"), text);
    }
    ws
}

fn riddle_threes() -> Workspace {
    let ws = empty(
        SETTINGS,
        &[
            ("riddle-threes/benchmark.toml", THREES_TOML),
            ("riddle-threes/ballots.toml", THREES_BALLOTS),
            ("riddle-threes/prompts/choose.jinja", CHOOSE),
        ],
    );
    ws.write(
        "raw/dumps/riddles.csv",
        "no,riddle,answer\n1,Which bird goes down?,A swallow.\n2,Who answers joe@example.com and never speaks?,An answering machine.\n",
    );
    ws
}

/// What somebody writes for each riddle.
fn write_groups(ws: &Workspace) {
    vote(ws, THREES, "writing", "annotator-1", |see| {
        let riddle = see["riddle"].as_str().unwrap();
        assert!(!riddle.contains('@'), "{riddle}");
        json!({
            "kind": "word", "wrong": "A duck.\nA robin.\nA heron.", "semantic": format!("In other words: {riddle}"),
            "context": format!("Elsewhere: {riddle}"), "context_answer": "A crane.", "context_wrong": "A stork.\nAn eagle.\nA crow.",
        })
    });
}

#[test]
fn riddles_become_groups_of_three_without_a_line_of_rust() {
    let ws = riddle_threes();
    ws.call(["benchmark", "check"]).expect(0);
    ws.run().expect(0);
    let marked = ws.explain(THREES, "riddle:2").to_string();
    assert!(marked.contains("personal_data_marked"), "{marked}");
    write_groups(&ws);
    ws.run().expect(0);
    ws.audit_clean();
    let rows = ws.candidates(THREES);
    let ids: Vec<&str> = rows.iter().map(|row| row["id"].as_str().unwrap()).collect();
    let mut sorted = ids.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, ["riddle:1", "riddle:1_CR", "riddle:1_SR", "riddle:2", "riddle:2_CR", "riddle:2_SR"]);
    assert!(rows.iter().all(|row| row["standing"] == "confirmed" && row["kind"] == "word"), "{rows:?}");
    let right: BTreeMap<&str, &Value> = rows
        .iter()
        .map(|row| (row["id"].as_str().unwrap(), &row["options"][row["gold"].as_u64().unwrap() as usize]))
        .collect();
    assert_eq!((right["riddle:1_SR"], right["riddle:1_CR"]), (&json!("A swallow."), &json!("A crane.")));

    // The same raw/ makes the same bytes.
    let before = ws.derived();
    ws.remove_derived();
    ws.run().expect(0);
    crate::harness::assert_same(&before, &ws.derived(), "made anew");

    ws.call(["release", THREES]).expect(0);
    ws.call(["verify", "output/riddle-threes/1.0.0", "--raw"]).expect(0);
    assert_eq!(ws.read("output/riddle-threes/1.0.0/compat/threes.jsonl").lines().count(), 6);

    // A riddle more: a new version, which differs by its three rows alone.
    ws.write("raw/dumps/riddles-2.csv", "no,riddle,answer\n3,Which room has no door?,A mushroom.\n");
    ws.run().expect(0);
    write_groups(&ws);
    ws.run().expect(0);
    let result = ws.call(["release", THREES]).expect(0).out;
    assert!(result.contains("1.1.0: 9 rows") && result.contains("3 added, 0 changed, 0 removed"), "{result}");
    let two = ["output/riddle-threes/1.0.0", "output/riddle-threes/1.1.0"];
    let result = ws.call(["diff", two[0], two[1]]).expect(1).out;
    assert!(result.contains("riddle:3"), "{result}");
    ws.call(["verify", two[1], "--raw"]).expect(0);
    ws.call(["export", two[1], "csv", "rows.csv"]).expect(0);
    assert!(ws.read("rows.csv").contains("Which room has no door?"));
    let result =
        ws.call(["evaluate", THREES, "--model", "first-option", "--model", "random", "--json"]).expect(0).out;
    let actual: Value = serde_json::from_str(&result).unwrap();
    let firsts = ws.candidates(THREES).iter().filter(|row| row["gold"] == 0).count();
    let percent = actual[0]["report"]["tables"][0]["rows"][0]["cells"][0]["value"].as_f64().unwrap();
    assert!((percent - 100.0 * firsts as f64 / 9.0).abs() < 1e-9, "{actual}");
}

#[test]
fn what_an_operation_lacks_is_reported_with_a_hint() {
    let ws = riddle_threes();
    let path = format!("benchmarks/{THREES}/benchmark.toml");
    let wrong = |text: String, parts: &[&str]| {
        ws.write(&path, text);
        let result = ws.call(["benchmark", "check"]).expect(2).err;
        for part in parts {
            assert!(result.contains(part), "{part}: {result}");
        }
    };
    let ballots = format!("benchmarks/{THREES}/ballots.toml");
    ws.write(&ballots, THREES_BALLOTS.replace("context_answer = \"said", "answer_of_context = \"said"));
    let cut = THREES_TOML.replace("context_answer = {", "answer_of_context = {");
    wrong(
        cut,
        &[
            "\"puzzle_group\" reads a kind of records with",
            "but its input is written riddles, without context_answer",
        ],
    );
    ws.write(&ballots, THREES_BALLOTS);
    let cut = THREES_TOML.replace("original_answer = {", "former_answer = {");
    wrong(cut, &["the records of this step are threes, without original_answer"]);
    let declared =
        THREES_TOML.replace("records = \"written riddles\"\n", "").replace("records = \"threes\"\n", "");
    ws.remove(&ballots);
    let declared = declared.replace(", \"review:writing\"", "");
    wrong(
        declared,
        &[
            "\"anonymise_riddle\" reads a kind of records with the columns question, answer, but its input is declared records",
            "hint: a table `[step.anonymise]` with `texts = [\"riddle.question\", \"riddle.answer\"]`",
            "hint: `records = \"puzzles\"` in front of `steps`",
        ],
    );
}

const CHOSEN: &str = "three-answers";

const CHOSEN_TOML: &str = r#"about = "questions with three answers"
records = "asked"
steps = ["import", "clean", "review:write", "options"]

[step.options]
right = "answer"
wrong = "others"
number = 3
keeps = { shown = "said.shown", place = "said.right" }

[columns]
asked = ["id", "text text!: The question.", "answer: The right answer.", "others list: Two wrong ones.", "shown list: All three.", "place count: Where the right one is.", "write_*: Whether they are confirmed.", "flags"]

[data]
about = "A question with three answers."
rests_on = ["write"]
[data.columns]
id = ["id", "Its name."]
question = ["text", "The question."]
options = ["shown", "list of text", "Three answers."]
answer = ["place | letter", "A | B | C", "The letter of the right one."]
standing = true
"#;

const CHOSEN_BALLOTS: &str = r#"[ballots]
voters = ["annotator"]

[ballot.write]
title = "Answer it, once rightly and twice wrongly"
guideline = "Wrong answers that tempt, a line each."
shows = [{ question = ["Question", "text"] }]
keeps = { others = "said.others | lines" }
[ballot.write.fields]
answer = "The right answer"
others = { label = "Two wrong answers", into = "" }
"#;

/// A workspace with that folder, and the path of its benchmark.toml.
fn chosen() -> (Workspace, String) {
    let folder =
        [("three-answers/benchmark.toml", CHOSEN_TOML), ("three-answers/ballots.toml", CHOSEN_BALLOTS)];
    (empty(&SETTINGS.replace(THREES, CHOSEN), &folder), format!("benchmarks/{CHOSEN}/benchmark.toml"))
}

#[test]
fn options_of_ones_own_records_are_those_that_the_folder_names() {
    let (ws, toml) = chosen();
    ws.write("raw/dumps/riddles.csv", "no,riddle,answer\n1,Which bird goes down?,\n2,Which bird lifts?,\n");
    ws.call(["benchmark", "check", CHOSEN]).expect(0);
    ws.run().expect(0);
    vote(&ws, CHOSEN, "write", "annotator-1", |see| {
        let down = see["question"].as_str().unwrap().contains("down");
        json!({ "answer": if down { "A swallow." } else { "A crane." }, "others": "A robin.\nAn eagle." })
    });
    ws.run().expect(0);
    ws.audit_clean();
    let rows = ws.candidates(CHOSEN);
    assert_eq!(rows.len(), 2, "{rows:?}");
    for row in rows {
        let options = row["options"].as_array().unwrap();
        let place = ["A", "B", "C"].iter().position(|letter| row["answer"] == *letter).unwrap();
        let right =
            if row["question"].as_str().unwrap().contains("down") { "A swallow." } else { "A crane." };
        assert_eq!((options.len(), &options[place]), (3, &json!(right)), "{row}");
    }

    // Records that are still posts are records without answers: they wait, and no file is called damaged.
    let early = CHOSEN_TOML.replace("\"review:write\", \"options\"", "\"options\", \"review:write\"");
    ws.write(&toml, early);
    let told = ws.run();
    assert!(!format!("{}{}", told.out, told.err).contains("damaged"), "{}{}", told.out, told.err);
    assert_eq!(ws.reasons(CHOSEN)["held/options_missing"], 2);
}

#[test]
fn options_without_a_place_to_go_are_reported_before_anything_runs() {
    let (ws, toml) = chosen();
    let keeps = "keeps = { shown = \"said.shown\", place = \"said.right\" }\n";
    let table = CHOSEN_TOML.split_once("[step.options]").unwrap().1.split_once("[columns]").unwrap().0;
    let bare = CHOSEN_TOML.replace(&format!("[step.options]{table}"), "");
    for (text, said) in [
        (CHOSEN_TOML.replace(keeps, ""), "`keeps` is missing: the columns that get the options"),
        (CHOSEN_TOML.replace("said.shown", "said.show"), "unknown field of options \"show\""),
        (CHOSEN_TOML.replace("place = \"said", "plase = \"said"), "unknown column \"plase\""),
        (CHOSEN_TOML.replace("\"answer\"\nwrong", "\"anser\"\nwrong"), "unknown column \"anser\""),
        (bare, "[step.options] lacks `right` and `wrong`: which answers are put in order, and `keeps`"),
        (
            CHOSEN_TOML.replace("\"options\"]", "\"options\", \"dedup\"]"),
            "\"dedup\" reads posts, and \"review:write\" turns them into records",
        ),
        (
            format!("{CHOSEN_TOML}\n[step.anonymise]\ntexts = [\"write.answer\"]\n")
                .replace("\"options\"]", "\"options\", \"anonymise\"]"),
            "`texts` is for declared records",
        ),
    ] {
        ws.write(&toml, text);
        let told = ws.call(["benchmark", "check", CHOSEN]).expect(2).err;
        assert!(told.contains(said), "{said}: {told}");
    }
}
