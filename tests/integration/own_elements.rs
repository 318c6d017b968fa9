//! Drafts and ballots about each element of a list, in a benchmark whose folder declares its records, and in one whose records
//! have columns.

use serde_json::{Value, json};

use crate::harness::Workspace;
use crate::own::vote;

const NAME: &str = "near-words";

const BENCHMARK: &str = r#"about = "riddles with hints to their wrong answers"
steps = ["import", "riddle", "near", "hints", "review:hints", "scores"]

[step.riddle]
kind = "native"
op = "riddle"

[step.near]
kind = "native"
op = "neighbours"
with = { question = "riddle.question", answer = "riddle.answer" }

[step.hints]
kind = "draft"
for = "hints"
over = "near.distractors"
called = "it"
when = "'sofa' not in it"
prompt = "hint"
with = { riddle = "riddle.question", word = "it" }
reply = { text = ["Hint"], gives = { hint = "text" } }
discards = { hint = "it" }
checks = ["'gives the word away' if said.hint and it | fold in said.hint | fold"]

[step.scores]
kind = "draft"
asks = "judge.endpoints"
at_least = "judge.min_judges"
over = "hints.each"
called = "it.it"
known_as = "id ~ ' ' ~ it.it"
when = "it.hint"
prompt = "score"
with = { word = "it.it", hint = "it.hint" }
reply = { rating = [1, 5], gives = { score = "rating" } }

[data]
about = "A riddle, its wrong answers, and a hint to each."
rests_on = ["hints"]
columns = [
  { name = "id", type = "text", is = "id", about = "Its name." },
  { name = "riddle", type = "text", is = "riddle.question", about = "The riddle." },
  { name = "words", type = "list of text", is = "near.distractors or []", about = "Wrong answers." },
  { name = "hints", type = "list of text", is = "hints.each | map(attribute='hint', default='') | list", about = "A hint to each." },
  { name = "scores", type = "list of number", is = "scores.each | selectattr('drafts', 'defined') | map(attribute='drafts') | map('first') | map(attribute='score') | list", about = "How good each is." },
  { name = "standing", type = "text", is = "standing", values = ["confirmed", "published", "provisional", "synthetic"], about = "How sure it is." },
]
[data.poses]
question = "riddle"
instruction = "Answer the riddle."
words = "riddle"

[paper]
set = "Near words"
title = "Near words"
authors = "nobody"
year = 2026
url = ""
key = "near"
languages = ["en"]
"#;

const BALLOTS: &str = r#"[ballot.hints]
title = "Is the hint good?"
guideline = "Accept it, or write another one."
over = "near.distractors"
called = "it"
shows = [{ key = "word", is = "it" }, { key = "flags", is = "drafted.flags" }]
drafts = "shown"
voters = ["annotator"]
votes = 1
[[ballot.hints.fields]]
name = "verdict"
label = "Accept?"
kind = "choice"
options = [{ code = "accept", label = "yes", means = "It is good." }, { code = "rewrite", label = "no", means = "Another is better." }]
[[ballot.hints.fields]]
name = "hint"
label = "The hint"
kind = "text"
when = { field = "verdict", write = ["rewrite"], draft = ["accept"] }
"#;

fn result(template: &str, record: &str, reply: impl Into<Value>) -> String {
    json!({ "template": format!("{NAME}/{template}"), "record": record, "reply": reply.into() }).to_string()
        + "\n"
}

fn near_words() -> Workspace {
    let ws = Workspace::folder();
    ws.write("raw/salt", crate::harness::SALT);
    ws.write(&format!("benchmarks/{NAME}/benchmark.toml"), BENCHMARK);
    ws.write(&format!("benchmarks/{NAME}/ballots.toml"), BALLOTS);
    for (name, text) in [
        (
            "hint",
            "{# A hint.\n   output: text #}\n=== user ===\n{{ riddle | inside(\"riddle\") }}\nA hint to {{ word | inside(\"word\") }}\n",
        ),
        (
            "score",
            "{# A score.\n   output: text #}\n=== user ===\nFrom 1 to 5.\n{{ word | inside(\"word\") }}\n{{ hint | inside(\"hint\") }}\n",
        ),
    ] {
        ws.write(&format!("benchmarks/{NAME}/prompts/{name}.jinja"), text);
    }
    ws.write(
        "raw/dumps/riddles.csv",
        "no,riddle,answer\n1,Which bird goes down?,A swallow.\n2,Which never ends?,A clock.\n3,What has a neck?,A bottle.\n",
    );
    let facts = [
        json!({ "word": "swallow", "category": "birds", "members": ["an eagle", "crow", "the robin"] }),
        json!({ "word": "clock", "category": "furniture", "members": ["a sofa", "a shelf", "the carpet"] }),
    ];
    ws.write("raw/premises/facts.jsonl", facts.map(|line| format!("{line}\n")).concat());
    let replies = [
        result("hint", "riddle:1/An eagle.", "It is in arms of states."),
        result("hint", "riddle:1/A crow.", "It says: a crow."),
        result("hint", "riddle:1/A robin.", "Its breast is red."),
        result("hint", "riddle:2/A shelf.", "I'm sorry, but I can't help with that request."),
    ];
    ws.write("raw/sample/replies.jsonl", replies.concat());
    ws.write(
        "pipeline.toml",
        "version = 1\n[text]\nlanguage = \"en\"\n[puzzles]\nwordnet = \"\"\n[judge]\nendpoints = [\"strict\"]\nmin_judges = 1\n\
         [llm.sample]\nprovider = \"sample\"\npack = \"raw/sample/replies.jsonl\"\n\
         [llm.strict]\nprovider = \"sample\"\nmodel = \"strict\"\npack = \"raw/sample/replies.jsonl\"\n\
         [[source]]\nname = \"riddles\"\nkind = \"table\"\npath = \"raw/dumps/riddles.csv\"\n\
         fields = { id = \"riddle:{no}\", title = \"riddle\", content = \"answer\" }\nrecipes = [\"near-words\"]\n\
         [[annotator]]\nname = \"annotator-1\"\nrole = \"annotator\"\nlanguages = [\"en\"]\n",
    );
    ws
}

fn outcome(ws: &Workspace, step: &str, id: &str) -> Value {
    let result = ws.call(["show", step, "--recipe", NAME, "--json"]).expect(0).out;
    let actual: Value = serde_json::from_str(&result).unwrap();
    let rows = actual[0]["rows"].as_array().unwrap();
    rows.iter().find(|row| row["id"] == id).unwrap_or_else(|| panic!("no {id} in {result}")).clone()
}

#[test]
fn a_model_is_asked_about_each_element_of_a_list_and_people_see_its_draft() {
    let ws = near_words();
    ws.call(["benchmark", "check"]).expect(0);
    let shown = ws.call(["benchmark", "show", NAME]).expect(0).out;
    assert!(shown.contains("asks near-words/hint; for each of near.distractors"), "{shown}");
    assert!(shown.contains("1 of annotator each: verdict, hint; for each of near.distractors"), "{shown}");
    let tried = ws.call(["benchmark", "try", NAME, "--post", "Why?", "--answer", "So."]).expect(0).out;
    assert!(
        tried.contains("asks about each of near.distractors, of which this post has none yet"),
        "{tried}"
    );

    // Of the clock the reply about one element lacks, and the record waits for it. Nothing is asked about a sofa.
    ws.run().expect(0);
    let clock = outcome(&ws, "hints", "riddle:2");
    assert_eq!((&clock["outcome"], &clock["reason"]), (&json!("held"), &json!("reply_missing")), "{clock}");
    assert!(clock["evidence"].as_str().unwrap().starts_with("A carpet.: "), "{clock}");
    assert_eq!(outcome(&ws, "hints", "riddle:3")["outcome"], "kept");
    let actual = ws.call(["explain", "riddle:1", "--recipe", NAME, "--full"]).expect(0).out;
    assert!(
        actual.contains("A hint to") && actual.contains("An eagle.") && actual.contains("Its breast is red."),
        "{actual}"
    );
    let status = ws.call(["status"]).expect(0).out;
    assert!(status.contains("hints"), "{status}");

    // With the reply it goes on; the refusal is no draft of that element.
    let pack =
        ws.read("raw/sample/replies.jsonl") + &result("hint", "riddle:2/A carpet.", "One walks on it.");
    ws.write("raw/sample/replies.jsonl", &pack);
    ws.run().expect(0);
    let clock = outcome(&ws, "hints", "riddle:2");
    assert_eq!((&clock["outcome"], &clock["reason"]), (&json!("changed"), &json!("drafted")), "{clock}");
    let bird = outcome(&ws, "hints", "riddle:1");
    assert!(bird["after"].as_str().unwrap().contains("A robin.: Its breast is red."), "{bird}");
    // People see each element with its draft and what was found in it, and rewrite where it is none.
    let seen = std::cell::RefCell::new(Vec::new());
    vote(&ws, NAME, "hints", "annotator-1", |see| {
        seen.borrow_mut().push(see.clone());
        match see["word"].as_str().unwrap() {
            "A sofa." | "A shelf." => json!({ "verdict": "rewrite", "hint": "It is in a room." }),
            "A crow." => json!({ "verdict": "rewrite", "hint": "It is black." }),
            _ => json!({ "verdict": "accept" }),
        }
    });
    let seen = seen.into_inner();
    assert_eq!(seen.len(), 6, "{seen:?}");
    let of = |word: &str| seen.iter().find(|see| see["word"] == word).unwrap();
    assert_eq!(of("A crow.")["flags"], json!(["gives the word away"]), "{seen:?}");
    assert!(of("A shelf.")["flags"][0].as_str().unwrap().contains("refuses to answer"), "{seen:?}");
    assert!(of("A robin.").get("flags").is_none_or(|flags| flags == ""), "{seen:?}");
    ws.run().expect(0);

    // A list of groups: judges score each hint.
    let scored = [
        ("riddle:1", ["An eagle.", "A crow.", "A robin."]),
        ("riddle:2", ["A sofa.", "A shelf.", "A carpet."]),
    ];
    let scores =
        scored.map(|(id, words)| words.map(|word| result("score", &format!("{id} {word}"), "4")).concat());
    ws.write("raw/sample/replies.jsonl", pack + &scores.concat());
    ws.run().expect(0);
    ws.audit_clean();
    let rows = ws.candidates(NAME);
    let row = |id: &str| rows.iter().find(|row| row["id"] == id).unwrap_or_else(|| panic!("{id}: {rows:?}"));
    let bird = row("riddle:1");
    let hint = |word: &str| {
        let words = bird["words"].as_array().unwrap();
        bird["hints"][words.iter().position(|known| known == word).unwrap()].clone()
    };
    assert_eq!(
        (hint("A robin."), hint("A crow.")),
        (json!("Its breast is red."), json!("It is black.")),
        "{bird}"
    );
    assert_eq!(
        (&bird["scores"], &bird["standing"]),
        (&json!([4.0, 4.0, 4.0]), &json!("confirmed")),
        "{bird}"
    );

    // The card names who drafted.
    let card = ws.read(&format!("output/{NAME}/candidate/README.md"));
    assert!(card.contains("replies written for the sample"), "{card}");

    // The same raw/ makes the same bytes.
    let before = ws.derived();
    ws.remove_derived();
    ws.run().expect(0);
    crate::harness::assert_same(&before, &ws.derived(), "made anew");
}

#[test]
fn an_element_without_a_reply_holds_nothing_up_where_the_step_is_optional() {
    let ws = near_words();
    ws.write("pipeline.toml", ws.read("pipeline.toml") + "[draft]\noptional = [\"hints\"]\n");
    ws.run().expect(0);
    let clock = outcome(&ws, "hints", "riddle:2");
    assert_eq!((&clock["outcome"], &clock["reason"]), (&json!("changed"), &json!("not_drafted")), "{clock}");
    // The element that has a reply has its draft.
    assert_eq!(clock["after"], "A shelf.: I'm sorry, but I can't help with that request.", "{clock}");
}

#[test]
fn a_forecast_counts_every_element() {
    let ws = near_words();
    ws.run().expect(0);
    let settings = ws.read("pipeline.toml").replace(
        "[llm.sample]\nprovider = \"sample\"\npack = \"raw/sample/replies.jsonl\"\n",
        "[draft]\nendpoint = \"mine\"\n[llm.mine]\nbase_url = \"http://127.0.0.1:9/v1\"\nmodel = \"m\"\nfree = true\n",
    );
    ws.write("pipeline.toml", settings);
    let result = ws.call(["estimate", "--recipe", NAME, "--json"]).expect(0).out;
    let actual: Value = serde_json::from_str(&result).unwrap();
    assert!(
        result.contains("\"requests\": 5") || result.contains("\"requests\":5"),
        "three words and two: {actual}"
    );
}

#[test]
fn what_is_wrong_with_a_list_is_reported_with_its_place() {
    let ws = near_words();
    let path = |file: &str| format!("benchmarks/{NAME}/{file}");
    let wrong = |from: &str, to: &str, parts: &[&str]| {
        assert!(BENCHMARK.contains(from), "{from}");
        ws.write(&path("benchmark.toml"), BENCHMARK.replacen(from, to, 1));
        let result = ws.call(["benchmark", "check"]).expect(2).err;
        for part in parts {
            assert!(result.contains(part), "{part}: {result}");
        }
    };
    let over = "over = \"near.distractors\"\n";
    wrong(over, "over = \"near.distracters\"\n", &["benchmark.toml:", "did you mean \"distractors\"?"]);
    wrong(over, "over = \"it.distractors\"\n", &["unknown name \"it\""]);
    wrong(over, "", &["`called` names the elements of a list, and `over` is missing"]);
    wrong("called = \"it\"\n", "", &["`called` is missing: the name of an element, over `it`"]);
    wrong("word = \"it\" }", "word = \"its\" }", &["benchmark.toml:", "did you mean \"it\"?"]);
    wrong(
        "gives = { hint = \"text\" } }",
        "gives = { called = \"text\" } }",
        &["no field may be named \"called\""],
    );
    wrong("checks = [", "checks_each = [", &["`it` is an element of `over`"]);
    wrong("kind = \"draft\"\nfor = \"hints\"\n", "kind = \"respond\"\n", &["models answer whole records"]);
    wrong("when = \"it.hint\"\n", "made = \"ratings\"\n", &["what is made elsewhere is of whole records"]);
    wrong("is = \"hints.each", "is = \"hints.eachs", &["did you mean \"each\"?"]);
    ws.write(&path("benchmark.toml"), BENCHMARK);
    let ballots = |from: &str, to: &str, part: &str| {
        assert!(BALLOTS.contains(from), "{from}");
        ws.write(&path("ballots.toml"), BALLOTS.replacen(from, to, 1));
        let result = ws.call(["benchmark", "check"]).expect(2).err;
        assert!(result.contains(part), "{part}: {result}");
    };
    ballots("drafted.flags", "drafted.flag", "did you mean \"flags\"?");
    let whole = "over = \"near.distractors\"\ncalled = \"it\"\n";
    ballots(whole, "", "\"hints\" is asked about whole records, and this draft about elements of `over`");
    ballots("over = \"near", "when = \"it\"\nover = \"near", "unknown name \"it\"");
    // A list that turns out to be none.
    ws.write(&path("ballots.toml"), BALLOTS);
    ws.write(&path("benchmark.toml"), BENCHMARK.replacen(over, "over = \"riddle.question\"\n", 1));
    ws.call(["benchmark", "check"]).expect(0);
    ws.call(["run"]);
    let bird = outcome(&ws, "hints", "riddle:1");
    assert_eq!((&bird["outcome"], &bird["reason"]), (&json!("failed"), &json!("not_a_list")), "{bird}");
    assert!(bird["evidence"].as_str().unwrap().contains("riddle.question is a string, not a list"), "{bird}");
}

const KIND: &str = r#"about = "jokes with what is said of each of their words"
records = "worded"
steps = ["import", "words", "review:words"]

[step.words]
kind = "draft"
over = "text | split(' ')"
called = "it"
prompt = "word"
with = { joke = "text", word = "it" }
reply = { text = ["Word"], gives = { word = "text" } }
keeps = { words = "each | map(attribute='word') | list", word_basis = "basis" }
checks = ["'is a word' if said.word == it"]

[columns.worded]
id = { type = "text", about = "The post's id." }
text = { type = "text", null = false, about = "The joke." }
words = { type = "list of text", about = "What is said of each word." }
word_basis = { type = "list of text", about = "What that rests on." }
words_status = { type = "text", about = "How sure it is." }
words_basis = { type = "list of text", about = "What that rests on." }
flags = { type = "list of text", about = "What was found." }
"#;

#[test]
fn each_element_is_asked_about_where_records_have_columns() {
    let ws = near_words();
    ws.write(&format!("benchmarks/{NAME}/benchmark.toml"), KIND);
    ws.write(
        &format!("benchmarks/{NAME}/ballots.toml"),
        "[ballot.words]\ndrafts = \"shown\"\ntitle = \"Fine?\"\nguideline = \"Say so.\"\nshows = [{ key = \"words\", is = \"words\" }, { key = \"flags\", is = \"found\" }]\n\
         [[ballot.words.fields]]\nname = \"fine\"\nlabel = \"Fine?\"\nkind = \"choice\"\n\
         options = [{ code = \"yes\", label = \"yes\", means = \"It is.\" }]\n",
    );
    ws.remove(&format!("benchmarks/{NAME}/prompts/hint.jinja"));
    ws.remove(&format!("benchmarks/{NAME}/prompts/score.jinja"));
    ws.write(
        &format!("benchmarks/{NAME}/prompts/word.jinja"),
        "{# A word.\n   output: text #}\n=== user ===\n{{ joke | inside(\"joke\") }}\n{{ word | inside(\"word\") }}\n",
    );
    ws.write("raw/dumps/riddles.csv", "no,riddle,answer\n1,Fish drown,\n");
    ws.write(
        "raw/sample/replies.jsonl",
        result("word", "riddle:1/Fish", "animals") + &result("word", "riddle:1/drown", "drown"),
    );
    ws.call(["benchmark", "check"]).expect(0);
    ws.run().expect(0);
    let actual = ws.call(["show", "words", "--recipe", NAME, "--json"]).expect(0).out;
    assert!(actual.contains("Fish: animals; drown: drown"), "{actual}");
    vote(&ws, NAME, "words", "annotator-1", |see| {
        assert_eq!(see["words"], json!(["animals", "drown"]), "{see}");
        assert_eq!(see["flags"], json!(["drown: is a word"]), "{see}");
        json!({ "fine": "yes" })
    });
    ws.run().expect(0);
    ws.audit_clean();
    ws.write(&format!("benchmarks/{NAME}/benchmark.toml"), KIND.replace("each | map", "said | map"));
    let result = ws.call(["benchmark", "check"]).expect(2).err;
    assert!(result.contains("unknown column \"said\""), "{result}");
}
