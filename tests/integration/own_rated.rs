//! Questions with a good and a bad answer in a benchmark of one's own, by an operation on records with columns (`rated_pair`):
//! people write, models answer and judge, others did so elsewhere, and the result is released, verified, exported and evaluated.

use riddlemill::record::derive_id;
use serde_json::{Value, json};

use crate::harness::Workspace;
use crate::own::vote;
use crate::own_kinds::{CHOOSE, empty};

const TRICKS: &str = "trick-questions";
const ANSWERS: &str = "two-answers";

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

const SETTINGS: &str = r#"
[text]
language = "en"

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

/// Two folders, of which the second continues the first; questions, and what was answered and rated elsewhere.
fn two_answers() -> Workspace {
    let ws = empty(
        SETTINGS,
        &[
            ("trick-questions/benchmark.toml", TRICKS_TOML),
            ("trick-questions/ballots.toml", TRICKS_BALLOTS),
            ("two-answers/benchmark.toml", ANSWERS_TOML),
            ("two-answers/prompts/choose.jinja", CHOOSE),
            (
                "two-answers/prompts/respond.jinja",
                "{# An answer.\n   output: text #}\n=== user ===\n{{ question | alone }}\n",
            ),
            (
                "two-answers/prompts/judge.jinja",
                "{# A rating.\n   output: json #}\nFrom 0 to 4.\n{{ answer | inside(\"answer\") }}\nReply with {\"rating\": 2}\n",
            ),
        ],
    );
    ws.write(
        "raw/dumps/tricks.csv",
        "no,question\n1,Why do fish never drown on Mondays?\n2,How deep is a hole that nobody dug?\n",
    );
    let lines = |lines: Vec<Value>| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    let questions = ["trick:1", "trick:2"];
    let reply = |template: &str, record: &str, reply: Value| json!({ "template": format!("{ANSWERS}/{template}"), "record": record, "reply": reply });
    let answer = |question: &str, model: &str| derive_id("answer", &[question, model, "0"]);
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

#[test]
fn questions_get_a_good_and_a_bad_answer_without_a_line_of_rust() {
    let ws = two_answers();
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
    let actual = ws.call(["show", "options", "--recipe", ANSWERS, "--json"]).expect(0).out;
    assert!(actual.contains("joined"), "{actual}");
    ws.call(["release", ANSWERS]).expect(0);
    let place = std::fs::read_dir(ws.path("output/two-answers")).unwrap();
    let version = place
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .find(|name| name.starts_with("1.0.0"))
        .unwrap();
    let release = format!("output/two-answers/{version}");
    ws.call(["verify", &release, "--raw"]).expect(0);
    ws.call(["export", &release, "csv", "rows.csv"]).expect(0);
    let result =
        ws.call(["evaluate", &format!("{ANSWERS}@{version}"), "--model", "first-option"]).expect(0).out;
    assert!(result.contains("first-option"), "{result}");
}

/// Of a question whose answers are rated alike, the question waits: its answers are no items of their own.
#[test]
fn what_waits_is_counted_in_questions_and_not_in_their_answers() {
    let ws = two_answers();
    for (file, from, to) in [
        ("raw/packs/replies.jsonl", "\"rating\":4", "\"rating\":1"),
        ("raw/ratings/mine.jsonl", "\"rating\":4", "\"rating\":0"),
    ] {
        let text = ws.read(file);
        assert!(text.contains(from), "{text}");
        ws.write(file, text.replace(from, to));
    }
    ws.call(["run", "--recipe", TRICKS]).expect(0);
    vote(&ws, TRICKS, "writing", "annotator-1", |_| json!({ "wrong": "It takes something for granted." }));
    let run = ws.call(["run"]).expect(0);
    assert!(run.err.contains("2 wait: all 2 answers are rated alike"), "{}", run.err);
    let manifest: Value =
        serde_json::from_str(&ws.read(&format!("output/{ANSWERS}/candidate/MANIFEST.json"))).unwrap();
    let left =
        manifest["left_out"].as_array().unwrap().iter().find(|left| left["stage"] == "options").unwrap();
    assert_eq!((&left["items"]["count"], &left["beside"]), (&json!(2), &json!(4)), "{manifest}");
    assert_eq!(manifest["waiting"], 2, "{manifest}");
    let card = ws.read(&format!("output/{ANSWERS}/candidate/README.md"));
    assert!(card.contains("| 2 (and 4 that belong to them) |"), "{card}");
    let refused = ws.call(["release", ANSWERS]).expect(2);
    assert!(
        refused.err.contains("2 held at options (options_missing), with 4 that belong to them"),
        "{}",
        refused.err
    );
}
