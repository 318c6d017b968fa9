//! Named operations in a benchmark whose folder declares its records.

use std::path::Path;

use serde_json::{Value, json};

use crate::browser::Server;
use crate::harness::Workspace;
use crate::own::vote;

const RIDDLES: &str = "small-riddles";

const BENCHMARK: &str = r#"about = "riddles with words beside the answer"
steps = ["import", "riddle", "same", "typing", "review:typos", "facts", "near", "review:wrong", "options"]

[step.riddle]
kind = "native"
op = "riddle"

[step.same]
kind = "native"
op = "same_riddle"
with = { question = "riddle.question", answer = "riddle.answer" }

[step.typing]
kind = "native"
op = "spelling"
for = "typos"
with = { question = "riddle.question", answer = "riddle.answer" }

[step.facts]
kind = "native"
op = "given_premises"
with = { question = "question" }

[step.near]
kind = "native"
op = "neighbours"
for = "wrong"
with = { question = "question", answer = "riddle.answer" }

[step.options]
kind = "options"
right = "riddle.answer"
wrong = "wrong.best"

[fields]
question = "typos.question or riddle.question"

[data]
about = "A riddle with four answers."
rests_on = ["typos?", "wrong"]
columns = [
  { name = "id", type = "text", is = "id", about = "Its name." },
  { name = "riddle", type = "text", is = "question", about = "The riddle." },
  { name = "options", type = "list of text", is = "options.shown", about = "Four answers." },
  { name = "premises", type = "list of text", is = "facts.premises or []", about = "What one believes at first." },
  { name = "from", type = "list of text", is = "wrong.draft.from", about = "How each wrong answer is related to the right one." },
  { name = "standing", type = "text", is = "standing", values = ["confirmed", "published", "provisional", "synthetic"], about = "How sure it is." },
]
[data.poses]
question = "riddle"
instruction = "Answer the riddle."
words = "riddle"

[paper]
set = "Small riddles"
title = "Small riddles"
authors = "nobody"
year = 2026
url = ""
key = "small"
biases = ""
languages = ["en"]

[settings.dedup]
metric = "indel"
threshold = 0.8
"#;

const BALLOTS: &str = r#"[every]
voters = ["annotator"]
votes = 1
drafts = "shown"

[ballot.typos]
title = "Are these typing errors?"
guideline = "Accept the corrections, or write the riddle as it should read."
when = "typos.draft"
shows = [{ key = "riddle", is = "riddle.question" }, { key = "corrections", is = "typos.draft.corrections" }]
[[ballot.typos.fields]]
name = "verdict"
label = "Accept?"
kind = "choice"
options = [{ code = "accept", label = "yes", means = "The corrections are right." }, { code = "rewrite", label = "no", means = "It reads otherwise." }]
[[ballot.typos.fields]]
name = "question"
label = "The riddle"
kind = "text"
when = { field = "verdict", write = ["rewrite"], draft = ["accept"] }

[ballot.wrong]
title = "Which three are wrong?"
guideline = "Pick three."
when = "wrong.draft"
shows = [{ key = "riddle", is = "question" }, { key = "answer", is = "riddle.answer" }, { key = "words", is = "wrong.draft.distractors", label = "Words" }]
[[ballot.wrong.fields]]
name = "best"
label = "The three"
kind = "pick"
k = 3
from = "words"
"#;

const TABLE: &str = "no,riddle,answer\n\
    1,Which bird goes down?,A swallow.\n\
    2,What has a neck and no head?,A bottle.\n\
    3,What has a neck but no head?,The bottle.\n\
    4,What has a neck and no heart?,A guitar.\n\
    5,Which mornign never ends for a stopped clock?,The clock.\n";

fn small_riddles() -> Workspace {
    let ws = Workspace::folder();
    ws.write("raw/salt", crate::harness::SALT);
    ws.write(&format!("benchmarks/{RIDDLES}/benchmark.toml"), BENCHMARK);
    ws.write(&format!("benchmarks/{RIDDLES}/ballots.toml"), BALLOTS);
    ws.write("raw/dumps/riddles.csv", TABLE);
    let facts = [
        json!({ "word": "swallow", "category": "birds of the sky", "members": ["an eagle", "crow", "the robin"] }),
        json!({ "word": "clock", "category": "furniture", "members": ["a sofa", "a shelf", "the carpet"] }),
        json!({ "question": "which bird goes down", "premises": ["It flies.", "It sits.", "It is a bird.", "It falls."], "overturned": 2 }),
    ];
    ws.write("raw/premises/facts.jsonl", facts.map(|line| format!("{line}\n")).concat());
    ws.write(
        "pipeline.toml",
        "version = 1\n[text]\nlanguage = \"en\"\n[puzzles]\nwordnet = \"\"\n\
         [[source]]\nname = \"riddles\"\nkind = \"table\"\npath = \"raw/dumps/riddles.csv\"\n\
         fields = { id = \"riddle:{no}\", title = \"riddle\", content = \"answer\" }\nrecipes = [\"small-riddles\"]\n\
         [[annotator]]\nname = \"annotator-1\"\nrole = \"annotator\"\nlanguages = [\"en\"]\n\
         [[annotator]]\nname = \"meta-1\"\nrole = \"meta\"\nlanguages = [\"en\"]\n",
    );
    ws
}

/// The outcomes of a step, by record.
fn outcome(ws: &Workspace, step: &str, id: &str) -> Value {
    let result = ws.call(["show", step, "--recipe", RIDDLES, "--json"]).expect(0).out;
    let actual: Value = serde_json::from_str(&result).unwrap();
    let rows = actual[0]["rows"].as_array().unwrap();
    rows.iter().find(|row| row["id"] == id).unwrap_or_else(|| panic!("no {id} in {result}")).clone()
}

#[test]
fn operations_work_on_declared_records() {
    let ws = small_riddles();
    ws.call(["benchmark", "check"]).expect(0);
    ws.run().expect(0);
    // One riddle occurs twice; two similar ones have different answers, and people may split merged ones.
    let third = outcome(&ws, "same", "riddle:3");
    assert_eq!((&third["outcome"], &third["into"]), (&json!("merged"), &json!("riddle:2")), "{third}");
    assert!(third["evidence"].as_str().unwrap().contains("answers share 1.00"), "{third}");
    assert_eq!(outcome(&ws, "same", "riddle:4")["outcome"], "kept");

    // A dictionary makes a proposal, and the text waits for people.
    let fifth = outcome(&ws, "typing", "riddle:5");
    assert_eq!((&fifth["outcome"], &fifth["evidence"]), (&json!("changed"), &json!("mornign -> morning")));
    vote(&ws, RIDDLES, "typos", "annotator-1", |see| {
        assert_eq!(see["corrections"], json!(["mornign -> morning"]), "{see}");
        json!({ "verdict": "accept" })
    });
    ws.run().expect(0);

    // Words near the answer are the draft of a ballot; information from files about a riddle is a separate
    // group.
    let first = outcome(&ws, "near", "riddle:1");
    assert_eq!(first["reason"], "beside_answer", "{first}");
    assert_eq!(outcome(&ws, "near", "riddle:2")["outcome"], "kept");
    assert_eq!(outcome(&ws, "facts", "riddle:1")["evidence"], "premises of raw/premises/facts.jsonl:3");
    vote(&ws, RIDDLES, "wrong", "annotator-1", |_| json!({ "best": "1; 2; 3" }));
    ws.run().expect(0);
    ws.audit_clean();
    let rows = ws.candidates(RIDDLES);
    let mut ids: Vec<&str> = rows.iter().map(|row| row["id"].as_str().unwrap()).collect();
    ids.sort_unstable();
    assert_eq!(ids, ["riddle:1", "riddle:5"]);
    let row = |id: &str| rows.iter().find(|row| row["id"] == id).unwrap();
    assert_eq!(row("riddle:5")["riddle"], "Which morning never ends for a stopped clock?");
    let mut options: Vec<&str> =
        row("riddle:1")["options"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    options.sort_unstable();
    assert_eq!(options, ["A crow.", "A robin.", "A swallow.", "An eagle."]);
    assert_eq!(row("riddle:1")["premises"], json!(["It flies.", "It sits.", "It is a bird.", "It falls."]));
    assert!(row("riddle:1")["from"][0].as_str().unwrap().contains("birds of the sky"), "{rows:?}");
    assert_eq!(row("riddle:1")["standing"], "confirmed");

    // The same raw/ gives the same bytes; an added line in a file outdates the step that reads it.
    let before = ws.derived();
    ws.remove_derived();
    ws.run().expect(0);
    crate::harness::assert_same(&before, &ws.derived(), "made anew");
    ws.write("raw/premises/more.jsonl", "{\"word\": \"x\", \"members\": []}\n");
    let result = ws.call(["status"]).expect(0).out;
    assert!(result.contains("facts") && result.contains("premises raw/premises/more.jsonl"), "{result}");
}

/// People decide about pairs of declared records on the page.
#[test]
fn people_part_riddles_that_were_merged() {
    let ws = small_riddles();
    ws.call(["run", "--to", "same"]).expect(0);
    let server = Server::start(&ws, &[]);
    let page = server.get(&format!("/{RIDDLES}/duplicates?show=pairs&verdict=same")).body;
    assert!(page.contains("neck but no head") && page.contains("The bottle."), "{page}");
    drop(server);
    let decide = [
        "decide",
        "two",
        "riddle:2",
        "riddle:3",
        "--recipe",
        RIDDLES,
        "--by",
        "meta-1",
        "--why",
        "they differ",
    ];
    ws.call(decide).expect(0);
    ws.call(["run", "--to", "same"]).expect(0);
    let third = outcome(&ws, "same", "riddle:3");
    assert_eq!((&third["outcome"], &third["reason"]), (&json!("changed"), &json!("decided_two")), "{third}");
    ws.audit_clean();
}

#[test]
fn what_is_wrong_with_an_operation_is_reported_with_its_place() {
    let ws = small_riddles();
    let path = format!("benchmarks/{RIDDLES}/benchmark.toml");
    let wrong = |from: &str, to: &str, parts: &[&str]| {
        assert!(BENCHMARK.contains(from), "{from}");
        ws.write(&path, BENCHMARK.replacen(from, to, 1));
        let result = ws.call(["benchmark", "check"]).expect(2).err;
        for part in parts {
            assert!(result.contains(part), "{part}: {result}");
        }
    };
    wrong(
        "op = \"same_riddle\"",
        "op = \"same_ridle\"",
        &[
            "small-riddles/benchmark.toml:10:6: unknown operation \"same_ridle\"",
            "did you mean \"same_riddle\"?",
        ],
    );
    wrong(
        "with = { question = \"riddle.question\"",
        "with = { qestion = \"riddle.question\"",
        &[
            "unknown value that \"same_riddle\" takes \"qestion\"",
            "did you mean \"question\"?",
            "benchmark.toml:10:6: `with` does not give \"question\", which \"same_riddle\" needs",
        ],
    );
    wrong(
        "op = \"same_riddle\"\n",
        "op = \"same_riddle\"\nthreshhold = 0.8\nwen = true\n",
        &[
            "benchmark.toml:11:14: unknown setting of \"same_riddle\" \"threshhold\"",
            "benchmark.toml:12:7: unknown setting of \"same_riddle\" \"wen\"",
            "did you mean \"when\"?",
        ],
    );
    wrong("for = \"typos\"", "for = \"typoes\"", &["unknown ballot \"typoes\"", "did you mean \"typos\"?"]);
    wrong(
        "op = \"riddle\"\n",
        "op = \"puzzle_group\"\nwhen = \"id\"\n",
        &[
            "\"puzzle_group\" makes a kind of records with the columns group, kind, role, question, answer,",
            "but the records of this step are declared records",
            "\"puzzle_group\" reads a kind of records with the columns question, answer, kind, distractors,",
            "but its input is posts",
            "\"puzzle_group\" has no `when`: it makes whole records",
        ],
    );
    wrong("with = { question = \"question\" }", "with = { question = \"facts.premises\" }", &["\"facts\""]);
    wrong("facts.premises or []", "facts.premisses or []", &["\"premisses\"", "did you mean \"premises\"?"]);
    // Built-in folders are checked in the same way.
    let flub = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/benchmarks/brainteaser");
    let mut text = std::fs::read_to_string(flub.join("benchmark.toml")).unwrap();
    text = text.replace(
        "keeps = { distractors_draft = \"said.distractors\"",
        "keeps = { distractors_draft = \"said.words\"",
    );
    ws.write(&path, BENCHMARK);
    ws.call(["init", "--benchmark", "brainteaser"]).expect(0);
    ws.write("benchmarks/brainteaser/benchmark.toml", text);
    let result = ws.call(["benchmark", "check"]).expect(2).err;
    assert!(result.contains("unknown field that \"neighbours\" finds \"words\""), "{result}");
}

/// Each word related to the answer is an item of its own.
#[test]
fn a_ballot_is_asked_once_for_each_element_of_a_list() {
    let ws = small_riddles();
    let benchmark = BENCHMARK
        .replace("\"typing\", \"review:typos\", \"facts\", \"near\", \"review:wrong\"", "\"near\", \"review:fits\"")
        .replace("for = \"wrong\"\nwith = { question = \"question\"", "with = { question = \"riddle.question\"")
        .replace("\"typos.question or riddle.question\"", "\"riddle.question\"")
        .replace("wrong = \"wrong.best\"", "wrong = \"fits.each | selectattr('fit', 'equalto', 'yes') | map(attribute='it') | list\"\nnumber = 3")
        .replace("[\"typos?\", \"wrong\"]", "[\"fits\"]")
        .replace("facts.premises or []", "near.distractors")
        .replace("wrong.draft.from", "near.from");
    let cut = |text: &str, from: &str, to: &str| {
        let (start, end) = (text.find(from).unwrap(), text.find(to).unwrap());
        format!("{}{}", &text[..start], &text[end..])
    };
    let benchmark = cut(&benchmark, "[step.typing]", "[step.near]");
    ws.write(&format!("benchmarks/{RIDDLES}/benchmark.toml"), benchmark);
    let ballots = r#"[ballot.fits]
title = "Does it fit?"
guideline = "Say whether it is wrong and yet tempts."
when = "near.distractors"
over = "near.distractors"
called = "it"
shows = [{ key = "riddle", is = "question", label = "Riddle" }, { key = "word", is = "it", label = "Word" }]
voters = ["annotator"]
votes = 1
[[ballot.fits.fields]]
name = "fit"
label = "Does it?"
kind = "choice"
options = [{ code = "yes", label = "yes", means = "It tempts." }, { code = "no", label = "no", means = "It does not." }]
"#;
    let path = format!("benchmarks/{RIDDLES}/ballots.toml");
    ws.write(&path, ballots.replace("is = \"it\"", "is = \"itt\""));
    assert!(ws.call(["benchmark", "check"]).expect(2).err.contains("did you mean \"it\"?"));
    ws.write(&path, ballots);
    ws.call(["benchmark", "check"]).expect(0);
    ws.run().expect(0);
    let shown = std::cell::RefCell::new(Vec::new());
    vote(&ws, RIDDLES, "fits", "annotator-1", |see| {
        let word = see["word"].as_str().unwrap().to_owned();
        shown.borrow_mut().push(word.clone());
        json!({ "fit": if word.contains("crow") || word.contains("sofa") { "no" } else { "yes" } })
    });
    assert_eq!(shown.borrow().len(), 6, "three words of two riddles: {shown:?}");
    ws.run().expect(0);
    ws.audit_clean();
    let rows = ws.candidates(RIDDLES);
    assert_eq!(rows.len(), 2, "{rows:?}");
    let bird = rows.iter().find(|row| row["id"] == "riddle:1").unwrap();
    let mut options: Vec<&str> =
        bird["options"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    options.sort_unstable();
    assert_eq!(
        (options, &bird["standing"]),
        (vec!["A robin.", "A swallow.", "An eagle."], &json!("confirmed"))
    );
    let actual = outcome(&ws, "review:fits", "riddle:1");
    assert_eq!(actual["after"].as_str().map(|after| after.lines().count()), Some(3), "{actual}");
}

/// A benchmark.toml whose last kind of records has a column more.
fn with_a_column(text: &str, column: &str) -> String {
    format!("{}  {column:?},\n]\n", text.trim_end().strip_suffix(']').unwrap())
}

/// Operations ask for columns, whatever the kind of the records is called and whatever other columns it has.
#[test]
fn operations_work_on_kinds_that_a_folder_declares() {
    let (built_in, own) = (Workspace::sample(), Workspace::sample());
    for (benchmark, kinds) in [
        ("brainteaser", [("puzzles", "riddles"), ("reconstructions", "three of a riddle")]),
        ("ruozhibench-mc", [("responses", "answers"), ("multiple choices", "good and bad")]),
    ] {
        own.call(["init", "--benchmark", benchmark]).expect(0);
        for file in ["benchmark.toml", "report.toml"].map(|file| format!("benchmarks/{benchmark}/{file}")) {
            let mut text = own.read(&file);
            for (then, now) in kinds {
                text = text.replace(&format!("records = \"{then}\""), &format!("records = \"{now}\""));
                for named in [format!("\n{then} = [\n"), format!("\n\"{then}\" = [\n")] {
                    text = text.replace(&named, &format!("\n\"{now}\" = [\n"));
                }
            }
            if file.ends_with("benchmark.toml") {
                assert!(text.contains("\n\"riddles\" = [\n") || text.contains("\n\"answers\" = [\n"));
                text = with_a_column(&text, "mood: Of another column nothing is asked.");
            }
            own.write(&file, text);
        }
    }
    built_in.call(["run", "--offline"]).expect(0);
    own.call(["run", "--offline"]).expect(0);
    for benchmark in ["brainteaser", "ruozhibench-mc"] {
        let rows = built_in.candidates(benchmark);
        assert!(!rows.is_empty());
        assert_eq!(rows, own.candidates(benchmark));
    }
    own.audit_clean();
    // A column more, and the rows have to be made anew.
    let file = "benchmarks/brainteaser/benchmark.toml";
    own.write(file, with_a_column(&own.read(file), "weather: Nor of this one."));
    let status = own.call(["status"]).expect(0).out;
    assert!(status.contains("[columns.three of a riddle]"), "{status}");
    own.call(["run", "--offline"]).expect(0);
    own.audit_clean();
    let reference = own.path("reference");
    own.call(["man", "--reference", &reference.to_string_lossy()]).expect(0);
}

#[test]
fn what_is_wrong_with_the_columns_of_a_kind_is_reported_with_its_place() {
    let ws = small_riddles();
    let path = format!("benchmarks/{RIDDLES}/benchmark.toml");
    let columns = r#"
[columns.riddles]
text = { type = "text", about = "What it says." }
groups = { type = "list of text", null = false, about = "Of it." }
Mood = { type = "txt" }
"#;
    let of = BENCHMARK.replacen("steps = ", "records = \"ridles\"\nsteps = ", 1);
    ws.write(&path, of + columns);
    let result = ws.call(["benchmark", "check"]).expect(2).err;
    for part in [
        "unknown kind of records \"ridles\"",
        "did you mean \"riddles\"?",
        "[columns.riddles]: the first column is `id`, of type \"text\"",
        "[columns.riddles]: no column may be named \"groups\"",
        "a list is never null",
        "Mood: a column's name has small letters, digits and `_`",
        "\"txt\"",
    ] {
        assert!(result.contains(part), "{part}: {result}");
    }
}
