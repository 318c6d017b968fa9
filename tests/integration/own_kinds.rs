//! Benchmarks of one's own that use the operations on records with columns, from an empty workspace to releases that are
//! verified, compared, exported and evaluated: riddles in groups of three (`anonymise_riddle`, `puzzle_group`), and questions
//! with a good and a bad answer (`rated_pair`).

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::harness::Workspace;
use crate::own::vote;

const THREES: &str = "riddle-threes";
const TRICKS: &str = "trick-questions";
const ANSWERS: &str = "two-answers";

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

const TRICKS_TOML: &str = r#"about = "trick questions and what is wrong with them"
records = "tricks"
steps = ["import", "review:writing"]

[columns.tricks]
id = { type = "text", about = "The post's id." }
text = { type = "text", null = false, about = "The question as it was posted." }
licence = { type = "text", about = "The licence of its source." }
question_en = { type = "text", about = "The question as models are asked it." }
irrationality = { type = "text", about = "What is wrong with it." }
irrationality_status = { type = "text", about = "How sure that is." }
irrationality_basis = { type = "list of text", about = "What that rests on." }
flags = { type = "list of text", about = "What was found." }
"#;

const TRICKS_BALLOTS: &str = r#"[ballot.writing]
title = "What is wrong with the question?"
guideline = "One sentence."
voters = ["annotator"]
votes = 1
standing = "irrationality"
shows = [{ key = "question", is = "text", label = "Question" }]
fields = [{ name = "wrong", label = "What is wrong", kind = "text" }]
keeps = { question_en = "text", irrationality = "said.wrong" }
"#;

const ANSWERS_TOML: &str = r#"about = "a good and a bad answer to each trick question"
records = "two of them"
steps = ["respond", "judge", "options"]

[step.respond]
kind = "respond"
from = ["trick-questions/review:writing"]
records = "answers"
asks = "respond.endpoints"
made = "responses"
reply = { whole = true }
[[step.respond.ask]]
name = "question"
role = "answer"
prompt = "respond"
with = { question = "question_en" }
[step.respond.keeps]
question = "of"
model = "model"
sample = "sample"
text = "said.text"
basis = "basis"

[step.judge]
kind = "draft"
asks = "judge.endpoints"
at_least = "judge.min_judges"
made = "ratings"
reason = "rated"
ledger = ["rating"]
prompt = "judge"
with = { answer = "text" }
reply = { json = { rating = { scale = [0, 4] } } }
[step.judge.keeps]
judges = "drafts | map(attribute='model') | list"
ratings = "drafts | map(attribute='rating') | map('int') | list"
rating_basis = "basis"

[step.options]
kind = "native"
op = "rated_pair"
records = "two of them"
from = ["judge", "trick-questions/review:writing"]
gap = 1

[data]
about = "A trick question with a good and a bad answer."
labels = ["standing"]
columns = [
  { name = "id", type = "text", is = "id", about = "The question's name." },
  { name = "question", type = "text", is = "question_en", about = "The question." },
  { name = "options", type = "list of text", is = "[good, bad] if good_first else [bad, good]", about = "Two answers." },
  { name = "gold", type = "integer", is = "0 if good_first else 1", about = "The place of the good one." },
  { name = "models", type = "list of text", is = "[good_model, bad_model]", about = "Whose they are, the good one first." },
  { name = "gap", type = "number", is = "gap", about = "How far apart they are rated." },
  { name = "standing", type = "text", is = "standing", values = ["confirmed", "published", "provisional", "synthetic"], about = "How sure it is." },
]
[data.poses]
question = "question"
instruction = "Which answer is better?"
options = "options"
gold = "gold"

[[task]]
name = "choose"
about = "Which of the two is better."
prompt = "choose"
with = { question = "question", options = "options | lettered" }
choose = { options = "options", gold = "gold" }

[paper]
set = "Two Answers"
title = "Trick questions with two answers"
authors = "nobody"
year = 2026
url = ""
key = "answers"
languages = ["en"]

[columns.answers]
id = { type = "text", about = "Its name." }
question = { type = "text", null = false, about = "The question's id." }
normal = { type = "flag", null = false, about = "Whether it answers another question." }
model = { type = "text", null = false, about = "Who answered." }
sample = { type = "count", null = false, about = "Which of its answers it is." }
text = { type = "text", null = false, about = "The answer." }
basis = { type = "list of text", about = "What it rests on." }
judges = { type = "list of text", about = "Who rated it." }
ratings = { type = "list of text", about = "The ratings." }
rating_basis = { type = "list of text", about = "What they rest on." }
flags = { type = "list of text", about = "What was found." }

[columns."two of them"]
id = { type = "text", about = "The question's id." }
question_en = { type = "text", null = false, about = "The question." }
irrationality = { type = "text", null = false, about = "What is wrong with it." }
good = { type = "text", null = false, about = "The answer that is rated higher." }
good_model = { type = "text", null = false, about = "Whose it is." }
bad = { type = "text", null = false, about = "The answer that is rated lower." }
bad_model = { type = "text", null = false, about = "Whose it is." }
gap = { type = "number", null = false, about = "How far apart they are rated." }
pairs = { type = "count", null = false, about = "How many pairs there were." }
good_first = { type = "flag", null = false, about = "Whether the good one is shown first." }
standing = { type = "text", null = false, about = "How sure it is." }
"#;

const CHOOSE: &str = "{# A choice. #}\nAnswer with one letter.\n{{ question | inside(\"question\") }}\n{{ options | inside(\"options\") }}\n";

const SETTINGS: &str = r#"
[text]
language = "en"

[puzzles]
none_share = 0.0

[judge]
endpoints = ["strict"]
min_judges = 2

[respond]
endpoints = ["talker"]

[llm.talker]
provider = "sample"
model = "talker"
pack = "raw/packs/replies.jsonl"

[llm.strict]
provider = "sample"
model = "strict"
pack = "raw/packs/replies.jsonl"

[[source]]
name = "riddles"
kind = "table"
path = "raw/dumps/riddles*.csv"
fields = { id = "riddle:{no}", title = "riddle", content = "answer" }
licence = "CC0-1.0"
recipes = ["riddle-threes"]

[[source]]
name = "tricks"
kind = "table"
path = "raw/dumps/tricks.csv"
fields = { id = "trick:{no}", title = "question" }
licence = "CC0-1.0"
recipes = ["trick-questions"]

[[annotator]]
name = "annotator-1"
role = "annotator"
languages = ["en"]
"#;

/// An empty workspace with the three folders, dumps, and what was answered and rated elsewhere.
fn own_kinds() -> Workspace {
    let ws = Workspace::folder();
    ws.call(["init", "--empty"]).expect(0);
    ws.write("raw/salt", crate::harness::SALT);
    ws.write("pipeline.toml", ws.read("pipeline.toml") + SETTINGS);
    for (name, benchmark, ballots) in [
        (THREES, THREES_TOML, Some(THREES_BALLOTS)),
        (TRICKS, TRICKS_TOML, Some(TRICKS_BALLOTS)),
        (ANSWERS, ANSWERS_TOML, None),
    ] {
        ws.write(&format!("benchmarks/{name}/benchmark.toml"), benchmark);
        if let Some(ballots) = ballots {
            ws.write(&format!("benchmarks/{name}/ballots.toml"), ballots);
        }
    }
    for (path, text) in [
        ("riddle-threes/prompts/choose", CHOOSE),
        ("two-answers/prompts/choose", CHOOSE),
        (
            "two-answers/prompts/respond",
            "{# An answer.\n   output: text #}\n=== user ===\n{{ question | alone }}\n",
        ),
        (
            "two-answers/prompts/judge",
            "{# A rating.\n   output: json #}\n=== user ===\nFrom 0 to 4.\n{{ answer | inside(\"answer\") }}\nReply with {\"rating\": 2}\n",
        ),
    ] {
        ws.write(&format!("benchmarks/{path}.jinja"), text);
    }
    ws.write(
        "raw/dumps/riddles.csv",
        "no,riddle,answer\n1,Which bird goes down?,A swallow.\n2,Who answers joe@example.com and never speaks?,An answering machine.\n",
    );
    ws.write(
        "raw/dumps/tricks.csv",
        "no,question\n1,Why do fish never drown on Mondays?\n2,How deep is a hole that nobody dug?\n",
    );
    let lines = |lines: Vec<Value>| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    let questions = ["trick:1", "trick:2"];
    let reply = |template: &str, record: &str, reply: Value| json!({ "template": format!("{ANSWERS}/{template}"), "record": record, "reply": reply });
    let answer = |question: &str, model: &str| riddlemill::record::derived("answer", &[question, model, "0"]);
    let replies = questions.iter().flat_map(|question| {
        [
            reply("respond", question, json!(format!("They do, about {question}."))),
            reply("judge", &answer(question, "talker"), json!({ "rating": 1 })),
            reply("judge", &answer(question, "elsewhere"), json!({ "rating": 4 })),
        ]
    });
    ws.write("raw/packs/replies.jsonl", lines(replies.collect()));
    let made = questions.map(|question| json!({ "item": question, "model": "elsewhere", "text": format!("The premise of {question} is wrong.") }));
    ws.write("raw/responses/mine.jsonl", lines(made.to_vec()));
    let rated = questions.iter().flat_map(|question| {
        [("talker", 0), ("elsewhere", 4)]
            .map(|(model, rating)| json!({ "item": question, "model": model, "judge": "a person", "rating": rating }))
    });
    ws.write("raw/ratings/mine.jsonl", lines(rated.collect()));
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
    let ws = own_kinds();
    ws.call(["benchmark", "check"]).expect(0);
    ws.call(["run", "--recipe", THREES]).expect(0);
    let marked = ws.explain(THREES, "riddle:2").to_string();
    assert!(marked.contains("personal_data_marked"), "{marked}");
    write_groups(&ws);
    ws.call(["run", "--recipe", THREES]).expect(0);
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

    ws.call(["release", THREES]).expect(0);
    ws.call(["verify", "output/riddle-threes/1.0.0", "--raw"]).expect(0);
    assert_eq!(ws.read("output/riddle-threes/1.0.0/compat/threes.jsonl").lines().count(), 6);

    // A riddle more: a new version, which differs by its three rows alone.
    ws.write("raw/dumps/riddles-2.csv", "no,riddle,answer\n3,Which room has no door?,A mushroom.\n");
    ws.call(["run", "--recipe", THREES]).expect(0);
    write_groups(&ws);
    ws.call(["run", "--recipe", THREES]).expect(0);
    let said = ws.call(["release", THREES]).expect(0).out;
    assert!(said.contains("1.1.0: 9 rows") && said.contains("3 added, 0 changed, 0 removed"), "{said}");
    let two = ["output/riddle-threes/1.0.0", "output/riddle-threes/1.1.0"];
    let said = ws.call(["diff", two[0], two[1]]).expect(1).out;
    assert!(said.contains("riddle:3"), "{said}");
    ws.call(["verify", two[1], "--raw"]).expect(0);
    ws.call(["export", two[1], "csv", "rows.csv"]).expect(0);
    assert!(ws.read("rows.csv").contains("Which room has no door?"));
    let said =
        ws.call(["evaluate", THREES, "--model", "first-option", "--model", "random", "--json"]).expect(0).out;
    let told: Value = serde_json::from_str(&said).unwrap();
    let firsts = ws.candidates(THREES).iter().filter(|row| row["gold"] == 0).count();
    let percent = told[0]["report"]["tables"][0]["rows"][0]["cells"][0]["value"].as_f64().unwrap();
    assert!((percent - 100.0 * firsts as f64 / 9.0).abs() < 1e-9, "{told}");

    let before = ws.derived();
    ws.remove_derived();
    ws.call(["run", "--recipe", THREES]).expect(0);
    ws.call(["release", THREES, "--restore"]);
    let after = ws.derived();
    assert!(
        before
            .keys()
            .filter(|path| path.starts_with("staged"))
            .all(|path| before.get(path) == after.get(path))
    );
}

#[test]
fn questions_get_a_good_and_a_bad_answer_without_a_line_of_rust() {
    let ws = own_kinds();
    ws.call(["run", "--recipe", TRICKS]).expect(0);
    vote(
        &ws,
        TRICKS,
        "writing",
        "annotator-1",
        |see| json!({ "wrong": format!("It takes something for granted: {}", see["question"].as_str().unwrap()) }),
    );
    ws.call(["run"]).expect(0);
    ws.audit_clean();
    let rows = ws.candidates(ANSWERS);
    assert_eq!(rows.len(), 2, "{rows:?}");
    for row in &rows {
        assert_eq!((&row["models"], &row["gap"]), (&json!(["elsewhere", "talker"]), &json!(3.5)), "{row}");
        let good = row["options"][row["gold"].as_u64().unwrap() as usize].as_str().unwrap();
        assert!(good.starts_with("The premise of"), "{row}");
    }
    let told = ws.call(["show", "options", "--recipe", ANSWERS, "--json"]).expect(0).out;
    assert!(told.contains("joined"), "{told}");
    ws.call(["release", ANSWERS]).expect(0);
    let place = std::fs::read_dir(ws.path("output/two-answers")).unwrap();
    let version = place
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .find(|name| name.starts_with("1.0.0"))
        .unwrap();
    let release = format!("output/two-answers/{version}");
    ws.call(["verify", &release, "--raw"]).expect(0);
    ws.call(["export", &release, "csv", "rows.csv"]).expect(0);
    let said =
        ws.call(["evaluate", &format!("{ANSWERS}@{version}"), "--model", "first-option"]).expect(0).out;
    assert!(said.contains("first-option"), "{said}");
}

#[test]
fn what_an_operation_lacks_is_said_with_what_helps() {
    let ws = own_kinds();
    let path = format!("benchmarks/{THREES}/benchmark.toml");
    let wrong = |text: String, parts: &[&str]| {
        ws.write(&path, text);
        let said = ws.call(["benchmark", "check"]).expect(2).err;
        for part in parts {
            assert!(said.contains(part), "{part}: {said}");
        }
    };
    let ballots = format!("benchmarks/{THREES}/ballots.toml");
    ws.write(&ballots, THREES_BALLOTS.replace("context_answer = \"said", "answer_of_context = \"said"));
    let cut = THREES_TOML.replace("context_answer = {", "answer_of_context = {");
    wrong(
        cut,
        &[
            "\"puzzle_group\" reads a kind of records with",
            "written riddles come to it, without context_answer",
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
            "\"anonymise_riddle\" reads a kind of records with the columns question, answer, and declared records come to it",
            "hint: a table `[step.anonymise]` with `texts = [\"riddle.question\", \"riddle.answer\"]`",
            "hint: `records = \"puzzles\"` in front of `steps`",
        ],
    );
}
