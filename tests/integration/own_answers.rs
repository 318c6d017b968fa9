//! Models that answer and judge in a benchmark whose folder declares its records.

use riddlemill::record::derive_id;
use serde_json::{Value, json};

use crate::harness::Workspace;

const NAME: &str = "judged-riddles";

const BENCHMARK: &str = r#"about = "answers of models to riddles, rated by judges"
steps = ["import", "riddle", "respond", "judge"]

[step.riddle]
kind = "native"
op = "riddle"

[step.respond]
kind = "respond"
asks = "respond.endpoints"
replies = "respond.samples"
at_least = "respond.min_models"
made = "responses"
reply = { whole = true }
[[step.respond.ask]]
name = "riddle"
role = "answer"
prompt = "answer"
with = { riddle = "riddle.question" }
[[step.respond.ask]]
name = "hinted"
role = "answer to a hint"
when = "'bird' in riddle.question"
prompt = "hinted"
with = { riddle = "riddle.question", hint = "riddle.answer[:3]" }

[step.judge]
kind = "draft"
asks = "judge.endpoints"
replies = "judge.repeats"
at_least = "judge.min_judges"
barred = { by = "judge.barred", whose = "respond.model" }
made = "ratings"
reason = "rated"
ledger = ["rating"]
prompt = "judge"
with = { riddle = "riddle.question", answer = "riddle.answer", response = "respond.text" }
reply = { json = { rating = { scale = [1, 3] }, explanation = "text if given" } }

[data]
about = "An answer and its ratings."
columns = [
  { name = "id", type = "text", is = "id", about = "Its name." },
  { name = "riddle", type = "text", is = "riddle.question", about = "The riddle." },
  { name = "ask", type = "text", is = "respond.ask", about = "With a hint or without." },
  { name = "model", type = "text", is = "respond.model", about = "Who answered." },
  { name = "response", type = "text", is = "respond.text", about = "The answer." },
  { name = "judges", type = "list of text", is = "judge.drafts | map(attribute='model')", about = "Who rated it." },
  { name = "ratings", type = "list of integer", is = "judge.drafts | map(attribute='rating') | map('int')", about = "From 1 to 3." },
]
[data.poses]
question = "riddle"
instruction = "Answer the riddle."
words = "riddle"

[paper]
set = "Judged riddles"
title = "Judged riddles"
authors = "nobody"
year = 2026
url = ""
key = "judged"
biases = ""
languages = ["en"]
"#;

const PROMPTS: [(&str, &str); 3] = [
    ("answer", "{# An answer.\n   output: text #}\n=== user ===\n{{ riddle | inside(\"riddle\") }}\n"),
    (
        "hinted",
        "{# An answer to a hint.\n   output: text #}\n=== user ===\n{{ riddle | inside(\"riddle\") }}\nIt begins with {{ hint | inside(\"hint\") }}\n",
    ),
    (
        "judge",
        "{# A rating.\n   output: json #}\n=== user ===\nFrom 1 to 3.\n{{ riddle | inside(\"riddle\") }}\n{{ answer | inside(\"answer\") }}\n{{ response | inside(\"response\") }}\nReply with {\"rating\": 2, \"explanation\": \"...\"}\n",
    ),
];

fn judged_riddles() -> Workspace {
    let ws = Workspace::folder();
    ws.write("raw/salt", crate::harness::SALT);
    ws.write(&format!("benchmarks/{NAME}/benchmark.toml"), BENCHMARK);
    for (name, text) in PROMPTS {
        ws.write(&format!("benchmarks/{NAME}/prompts/{name}.jinja"), text);
    }
    ws.write(
        "raw/dumps/riddles.csv",
        "no,riddle,answer\n1,Which bird goes down?,A swallow.\n2,What has a neck and no head?,A bottle.\n",
    );
    let result = |template: &str, record: &str, reply: Value| {
        json!({ "template": format!("{NAME}/{template}"), "record": record, "reply": reply }).to_string()
    };
    // What is asked with a hint is another record to a pack, and each answer is one of its own.
    let answer = |role: &str, riddle: &str, model: &str| derive_id(role, &[riddle, model, "0"]);
    let lines = [
        result("answer", "riddle:1", "A duck.".into()),
        result("answer", "riddle:2", "A bottle.".into()),
        result("hinted", &derive_id("hinted", &["riddle:1"]), "A swallow.".into()),
        result("judge", &answer("answer", "riddle:1", "talker"), json!({ "rating": 1 })),
        result(
            "judge",
            &answer("answer", "riddle:2", "talker"),
            json!({ "rating": 3, "explanation": "Right." }),
        ),
        result("judge", &answer("answer to a hint", "riddle:1", "talker"), json!({ "rating": [3] })),
        result("judge", &answer("answer", "riddle:1", "elsewhere"), json!({ "rating": "2/3" })),
    ];
    ws.write("raw/sample/replies.jsonl", lines.map(|line| line + "\n").concat());
    ws.write(
        "pipeline.toml",
        "version = 1\n[text]\nlanguage = \"en\"\n[respond]\nendpoints = [\"talker\"]\n\
         [judge]\nendpoints = [\"strict\"]\nbarred = [\"strict: else*\"]\n\
         [llm.talker]\nprovider = \"sample\"\nmodel = \"talker\"\npack = \"raw/sample/replies.jsonl\"\n\
         [llm.strict]\nprovider = \"sample\"\nmodel = \"strict\"\npack = \"raw/sample/replies.jsonl\"\n\
         [[source]]\nname = \"riddles\"\nkind = \"table\"\npath = \"raw/dumps/riddles.csv\"\n\
         fields = { id = \"riddle:{no}\", title = \"riddle\", content = \"answer\" }\nrecipes = [\"judged-riddles\"]\n",
    );
    let response = |item: &str, to: &str| {
        json!({ "item": item, "model": "elsewhere", "text": format!("I think of {item}."), "for": to })
            .to_string()
    };
    let made = [response("riddle:1", "riddle"), response("riddle:2", "hinted"), response("riddle:2", "hint")];
    ws.write("raw/responses/mine.jsonl", made.map(|line| line + "\n").concat());
    let rating = |judge: &str, rating: u8| {
        json!({ "item": "riddle:1", "model": "elsewhere", "judge": judge, "rating": rating }).to_string()
    };
    let rated = [rating("a person", 2), rating("another", 4)];
    ws.write("raw/ratings/mine.jsonl", rated.map(|line| line + "\n").concat());
    ws
}

#[test]
fn models_answer_and_judge_declared_records() {
    let ws = judged_riddles();
    ws.call(["benchmark", "check"]).expect(0);
    // Lines that answer nothing are reported.
    let result = ws.call(["run"]).expect(3).err;
    assert!(result.contains("mine.jsonl:2: \"hinted\" is not asked about \"riddle:2\""), "{result}");
    assert!(result.contains("mine.jsonl:3: unknown value of \"for\" \"hint\""), "{result}");
    assert!(result.contains("mine.jsonl:2: 4 is not a rating from 1 to 3"), "{result}");
    ws.audit_clean();
    let rows = ws.candidates(NAME);
    let actual = |ask: &str, model: &str, riddle: &str| {
        let found = |row: &&Value| {
            row["ask"] == ask && row["model"] == model && row["riddle"].as_str().unwrap().contains(riddle)
        };
        rows.iter().find(found).unwrap_or_else(|| panic!("no {ask} {model}: {rows:?}")).clone()
    };
    assert_eq!(rows.len(), 4, "{rows:?}");
    let duck = actual("riddle", "talker", "bird");
    assert_eq!((&duck["response"], &duck["ratings"]), (&json!("A duck."), &json!([1])));
    assert_eq!(actual("hinted", "talker", "bird")["ratings"], json!([3]));
    assert_eq!(actual("riddle", "talker", "neck")["ratings"], json!([3]));
    // The judge that is barred from a model does not rate it, and one elsewhere did.
    let elsewhere = actual("riddle", "elsewhere", "bird");
    assert_eq!((&elsewhere["judges"], &elsewhere["ratings"]), (&json!(["a person"]), &json!([2])));

    // The same raw/ makes the same bytes.
    let before = ws.derived();
    ws.remove_derived();
    ws.call(["run"]).expect(3);
    crate::harness::assert_same(&before, &ws.derived(), "made anew");
}

#[test]
fn an_answer_waits_for_as_many_models_as_are_wanted() {
    let ws = judged_riddles();
    let settings = ws.read("pipeline.toml").replace("[respond]\n", "[respond]\nmin_models = 2\n");
    ws.write("pipeline.toml", settings);
    ws.call(["run"]).expect(3);
    let result = ws.call(["show", "respond", "--recipe", NAME, "--json"]).expect(0).out;
    assert!(result.contains("1 of at least 2 models have answered: talker"), "{result}");
    assert_eq!(ws.reasons(NAME)["held/responses_missing"], 1);
}

#[test]
fn what_is_wrong_with_an_asking_step_is_reported_with_its_place() {
    let ws = judged_riddles();
    let wrong = |from: &str, to: &str, parts: &[&str]| {
        assert!(BENCHMARK.contains(from), "{from}");
        ws.write(&format!("benchmarks/{NAME}/benchmark.toml"), BENCHMARK.replacen(from, to, 1));
        let result = ws.call(["benchmark", "check"]).expect(2).err;
        for part in parts {
            assert!(result.contains(part), "{part}: {result}");
        }
    };
    let setting = "did you mean \"min_models\"?";
    wrong("respond.min_models", "respond.min_model", &["at_least: unknown key of [respond]", setting]);
    wrong("\"respond.samples\"", "\"respond.endpoints\"", &["replies: respond.endpoints is not a number"]);
    wrong("made = \"ratings\"", "made = \"responses\"", &["made: \"responses\" are of a step of kind"]);
    wrong("rating = { scale = [1, 3] }", "rating = \"integer\"", &["made: ratings need a `reply`"]);
    wrong("reason = \"rated\"", "reason = \"rate\"", &["unknown reason \"rate\"", "\"rated\"?"]);
    wrong("whose = \"respond.model\"", "whose = \"respond.modl\"", &["\"modl\"", "did you mean \"model\"?"]);
    wrong("name = \"hinted\"\n", "", &["`name` is missing"]);
}
