//! From `init` to a release by following nothing but `next:`, on real dumps, with an endpoint that fails as
//! real ones do.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::generate::{GEN, Guard, Server, reply_to};
use crate::harness::{CallResult, RECIPES, WITHOUT_WORDNET, Workspace, reference, source, title};
use crate::puzzle_rows::BRAIN;

const KEY: &str = "sk-right-12345678";

/// Texts for machines without dumps.
const TEXTS: [&str; 6] = [
    "为什么鱼不会口渴？",
    "雨伞会不会淋湿？",
    "云会恐高吗？",
    "冰箱里的灯关门以后去哪儿了？",
    "生鱼片其实是死鱼片吗？",
    "蓝牙耳机坏了，是看牙科还是耳科？",
];

/// Somebody who follows `next:`.
struct Researcher {
    ws: Workspace,
    recipe: &'static str,
    env: BTreeMap<String, String>,
    did: Vec<String>,
}

impl Researcher {
    /// Starts in a fresh workspace with threads of their own and an endpoint at this port.
    fn new(recipe: &'static str, port: u16, dump: &str, more: &str) -> Researcher {
        Researcher::with(recipe, "leymore-titles", port, dump, more)
    }

    /// Starts with a dump of this kind of source.
    fn with(recipe: &'static str, kind: &str, port: u16, dump: &str, more: &str) -> Researcher {
        let ws = Workspace::folder();
        ws.call(["init", "--empty"]).expect(0);
        ws.write("raw/dumps/own.json", dump);
        let own = source("own", kind, "raw/dumps/own.json");
        let endpoint = format!(
            "[llm.mine]\nbase_url = \"http://127.0.0.1:{port}/v0\"\nmodel = \"m\"\nkey_env = \"MINE_KEY\"\nretries = {{ max_attempts = 1 }}\n"
        );
        let settings = format!("{}\n{own}licence = \"CC0-1.0\"\n{endpoint}{more}", ws.read("pipeline.toml"));
        ws.write("pipeline.toml", settings);
        Researcher { ws, recipe, env: BTreeMap::new(), did: Vec::new() }
    }

    fn call(&self, args: &[&str]) -> CallResult {
        CallResult::from(self.ws.command(args).envs(&self.env))
    }

    /// The next step by `status`; a final option that names the recipe is removed.
    fn next(&self) -> Option<String> {
        let result = self.call(&["status", "--recipe", self.recipe, "--json"]).expect(0);
        let rows: Vec<Value> = serde_json::from_str(&result.out).unwrap();
        let next = rows.iter().map(|row| &row["next"]).find(|next| next.is_object())?;
        let command = next["command"].as_str()?;
        Some(match next["first"].as_str() {
            Some(first) => format!("{first}; then {command}"),
            None => command.to_owned(),
        })
    }

    /// Follows the next steps until there is none.
    fn follow(&mut self) {
        while let Some(next) = self.next() {
            self.did.push(next.clone());
            assert!(self.did.len() < 240, "it goes round and round: {:#?}", self.did);
            match next.split_once("; then ") {
                Some((first, then)) => {
                    self.mend(first);
                    self.execute(then);
                }
                None => self.execute(&next),
            }
        }
    }

    fn execute(&mut self, command: &str) {
        let mut args: Vec<&str> = command.split_whitespace().skip(1).collect();
        if args[..2] == ["review", "export"] {
            args.extend(["--format", "jsonl", "--out", "ballots"]);
            let result = self.call(&args).expect(0);
            return self.vote(args[2], result.out.trim());
        }
        let result = self.call(&args);
        assert!([0, 3].contains(&result.code), "{command}: {} {}", result.out, result.err);
    }

    /// Fills in a ballot and imports it.
    fn vote(&self, step: &str, file: &str) {
        let mut round = String::from("vote");
        let mut line = |line: &str| {
            let mut row: Value = serde_json::from_str(line).unwrap();
            round = row["round"].as_str().unwrap().to_owned();
            row["answers"] = answers(self.recipe, step, &row);
            format!("{row}\n")
        };
        let filled: String = self.ws.read(file).lines().map(&mut line).collect();
        self.ws.write("votes.jsonl", filled);
        let import = ["review", "import", step, "--recipe", self.recipe, "--round", &round, "votes.jsonl"];
        self.call(&import).expect(0);
    }

    /// Does what no command does: the environment, and pipeline.toml.
    fn mend(&mut self, what: &str) {
        let settings = self.ws.read("pipeline.toml");
        let edited = if what == "export MINE_KEY=…" {
            self.env.insert("MINE_KEY".into(), "sk-wrong-12345678".into());
            return;
        } else if what == "check the key in MINE_KEY" {
            self.env.insert("MINE_KEY".into(), KEY.into());
            return;
        } else if what.contains("usd_per_million_in") && what.contains("[llm.mine]") {
            settings.replace("\n[llm.mine]\n", "\n[llm.mine]\nfree = true\n")
        } else if what.starts_with("check base_url and model of [llm.mine]") {
            settings.replace("/v0\"", "/v1\"")
        } else if what.ends_with("as draft.endpoint in pipeline.toml") {
            settings + "\n[draft]\nendpoint = \"mine\"\n"
        } else if what.ends_with("as draft.opponents in pipeline.toml") {
            settings + "\n[draft]\nopponents = [\"mine\"]\n"
        } else if what.starts_with("add [[annotator]]s to pipeline.toml") {
            let person = |name: &str, role: &str| {
                format!(
                    "\n[[annotator]]\nname = \"{name}\"\nrole = \"{role}\"\nlanguages = [\"zh\", \"en\"]\n"
                )
            };
            // The author of an explanation does not judge it: another judge is needed later.
            let names =
                if settings.contains("\nname = \"a1\"") { ["a4"].as_slice() } else { &["a1", "a2", "a3"] };
            let meta = if names.len() > 1 { person("m1", "meta") } else { String::new() };
            let people: String = names.iter().map(|name| person(name, "annotator")).collect();
            settings + &people + &meta
        } else {
            panic!("nobody knows how to {what}; done so far: {:#?}", self.did);
        };
        self.ws.write("pipeline.toml", edited);
    }

    /// Whether a step of this kind was done.
    fn has_done(&self, what: &str) -> bool {
        self.did.iter().any(|did| did.starts_with(what))
    }

    /// The resulting release.
    fn released(&self) -> Value {
        let manifest = self.ws.read(&format!("output/{}/1.0.0/MANIFEST.json", self.recipe));
        serde_json::from_str(&manifest).unwrap()
    }
}

fn answers(recipe: &str, step: &str, row: &Value) -> Value {
    if recipe == BRAIN {
        return answers_on_puzzle(step, row);
    }
    let who = row["annotator"].as_str().unwrap();
    let looks = row["round"] == "review";
    // Derived from the text, so that no two answers of a set are equal.
    let mark = row["see"].to_string().chars().count();
    match (recipe, step) {
        ("flub", "clean") => json!({ "verdict": "keep", "is_question": "no" }),
        ("flub", "type") if looks => json!({ "type": "reasoning_error", "main_type": "clear" }),
        ("flub", "type") => json!({ "type": "reasoning_error" }),
        ("flub", "explanation") if looks => json!({ "chosen": "1" }),
        ("flub", "explanation") => json!({ "explanation": format!("{who}说，第{mark}处的推断不成立。") }),
        (_, "wrong-candidates") => {
            let one = |n: u8| format!("{who}说，第{mark}处的理由{n}成立。");
            json!({ "wrong_1": one(1), "wrong_2": one(2), "wrong_3": one(3) })
        }
        (_, "wrong") => json!({ "wrong": "1; 4; 9" }),
        (_, "final") => json!({ "verdict": "accept" }),
        (_, "suitability") => json!({ "suitability": "keep" }),
        // Without drafts, people write.
        (_, "translation") if row["draft"].is_null() => {
            json!({ "verdict": "rewrite", "question_en": format!("Why is it {mark}?") })
        }
        (_, "irrationality") if row["draft"].is_null() => {
            json!({ "verdict": "rewrite", "irrationality": format!("It is not {mark}.") })
        }
        (_, "screen") => json!({ "screen": "keep" }),
        ("chumor", "explanation") => json!({ "explanation": "谐音是笑点。先这样解释。" }),
        (_, "preference") => json!({ "preference": "human" }),
        (_, "category") => json!({ "categories": ["2"], "sure": "yes" }),
        // A pair is written if nothing is drafted, for every other question.
        (_, "pair") if row["draft"].is_null() && mark.is_multiple_of(2) => {
            json!({ "pairing": "write", "pair": format!("Is it {mark} normal?") })
        }
        (_, "pair") => json!({ "pairing": "none" }),
        _ => json!({ "verdict": "accept" }),
    }
}

/// Drafts are accepted, but for the distractors of every other puzzle: a model writes others.
fn answers_on_puzzle(step: &str, row: &Value) -> Value {
    let length = row["see"]["question"].to_string().len();
    match step {
        "kind" => json!({ "kind": row["draft"]["kind"] }),
        "distractors" | "context-distractors" if length.is_multiple_of(2) => json!({ "verdict": "none" }),
        "validity" => json!({ "original": "yes", "semantic": "yes", "context": "yes" }),
        _ => json!({ "verdict": "accept" }),
    }
}

fn reply(prompt: &str) -> (&'static str, String) {
    if prompt.contains("\"rating\"") {
        let rating = if prompt.contains("a good answer") { 4 } else { 1 };
        return ("judge", json!({ "rating": rating, "explanation": "As it is." }).to_string());
    }
    if prompt.contains("笑话") || prompt.contains("好笑") || prompt.contains("幽默") {
        return ("explain", format!("这里有{}个字。于是好笑。", prompt.chars().count()));
    }
    // The paper's own wording.
    if prompt.contains("three closest question categories") {
        return ("category", "2 3 5".into());
    }
    reply_to(prompt)
}

fn failing() -> Server {
    Server::guarded(reply, None, Duration::ZERO, guard())
}

/// Refuses requests to the wrong path or with the wrong key, and is unavailable for the first of the valid
/// ones.
fn guard() -> Guard {
    let served = std::sync::atomic::AtomicU32::new(0);
    Arc::new(move |head: &str, _: u32| {
        if head.starts_with("post /v0/") {
            return Some((404, "no such place"));
        }
        if !head.contains(&format!("bearer {KEY}")) {
            return Some((401, "invalid api key"));
        }
        (served.fetch_add(1, std::sync::atomic::Ordering::Relaxed) < 3).then_some((503, "overloaded"))
    })
}

/// Drafts of a puzzle, each with a number of its own so that no two are equal.
fn reply_on_puzzle(prompt: &str) -> (&'static str, String) {
    let n = prompt.len() + prompt.bytes().map(usize::from).sum::<usize>() % 9973;
    let premises: Vec<String> = (1..=4).map(|i| format!("Thing {i} of {n} is as it seems.")).collect();
    let wrong = [(0, "frozen"), (2, "painted"), (3, "borrowed")];
    if prompt.contains("Which kind of puzzle is this?") {
        let puzzle = prompt.rsplit("<puzzle").next().unwrap_or_default();
        let kind = if puzzle.contains("letter") { "word" } else { "sentence" };
        ("kind", json!({ "kind": kind, "reason": "So it seems." }).to_string())
    } else if prompt.contains("List the premises") {
        ("premises", json!({ "premises": premises, "overturned": 1 }).to_string())
    } else if prompt.contains("\"premise\": 0") {
        let wrong = wrong.map(|(i, how)| json!({ "text": format!("Thing {n} was {how}."), "premise": i }));
        ("distractors", json!({ "distractors": wrong }).to_string())
    } else if prompt.contains("Write three distractors") {
        let wrong = wrong.map(|(_, how)| format!("The {how} letter {n}."));
        ("distractors", json!({ "distractors": wrong }).to_string())
    } else if prompt.contains("Rephrase the puzzle") {
        ("semantic", format!("In other words, how can number {n} be?"))
    } else if prompt.contains("\"premise\": \"what") {
        let new = json!({ "question": format!("Which sign ends {n}?"), "answer": format!("Sign {n}."), "premise": "Signs mean something." });
        ("context", new.to_string())
    } else if prompt.contains("Write a new puzzle") {
        let new = json!({ "question": format!("A baker has {n} rolls and none. How?"), "answer": format!("The {n} rolls are drums."), "premises": premises, "overturned": 1 });
        ("context", new.to_string())
    } else {
        ("topic", "Language".into())
    }
}

/// Every fifth published original with its answer, as a site would have it, or riddles of this test's own.
fn riddles() -> Vec<String> {
    let own = [
        json!({ "id": 1, "question": "A clock is late every day and is never repaired. Why?", "answer": "It is on a stage." }),
        json!({ "id": 2, "question": "Which letter do London and France share?", "answer": "The letter N." }),
        json!({ "id": 3, "question": "A woman walks over a lake and stays dry. How?", "answer": "It is winter." }),
    ];
    let lines = |rows: &mut dyn Iterator<Item = Value>| rows.map(|row| format!("{row}\n")).collect();
    let mut dumps: Vec<String> = vec![lines(&mut own.into_iter())];
    if let Some(folder) = reference() {
        let real = ["sentence", "word"].map(|kind| {
            fs::read_to_string(folder.join(format!("data/reference/brainteaser-{kind}-dev.jsonl"))).unwrap()
        });
        let rows = real
            .iter()
            .flat_map(|text| text.lines())
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        let mut originals = rows
            .filter(|row| !row["id"].as_str().unwrap().contains('_'))
            .step_by(5)
            .map(|row| json!({ "id": row["id"], "question": row["question"], "answer": row["answer"] }));
        dumps.push(lines(&mut originals));
    }
    dumps
}

/// The first threads of the real dump, or texts of this test's own.
fn dumps(rows: usize) -> Vec<String> {
    let own: Vec<String> = (1..).zip(TEXTS).map(|(tid, text)| title(tid, text)).collect();
    let mut dumps = vec![format!("[{}]", own.join(",\n"))];
    if let Some(folder) = reference() {
        let real = fs::read_to_string(folder.join("data/raw/leymore/ruozhiba-title-good.json")).unwrap();
        let threads: Vec<Value> = serde_json::from_str(&real).unwrap();
        dumps.push(Value::from(threads[..rows].to_vec()).to_string());
    }
    dumps
}

#[test]
fn questions_come_to_a_release() {
    assert!(RECIPES.contains(&GEN));
    for dump in dumps(300) {
        let server = failing();
        let mut researcher = Researcher::new(GEN, server.port, &dump, "");
        researcher.follow();
        let released = researcher.released();
        assert!(released["rows"].as_u64().unwrap() > 3, "{released}");
        assert!(researcher.has_done("check the key in MINE_KEY"), "{:#?}", researcher.did);
        assert!(researcher.has_done("check base_url and model"), "{:#?}", researcher.did);
        assert!(researcher.has_done("add [[annotator]]s"), "{:#?}", researcher.did);
        assert_eq!(researcher.did.last().unwrap(), "riddlemill release ruozhibench-gen");
    }
}

#[test]
fn jokes_come_to_a_release() {
    for dump in dumps(60) {
        let server = failing();
        let mut researcher = Researcher::new("chumor", server.port, &dump, "");
        researcher.follow();
        let released = researcher.released();
        assert!(released["rows"].as_u64().unwrap() > 3, "{released}");
        assert!(
            researcher.has_done("name an [llm.<name>] of yours as draft.opponents"),
            "{:#?}",
            researcher.did
        );
        assert_eq!(researcher.did.last().unwrap(), "riddlemill release chumor");
    }
}

#[test]
fn riddles_come_to_a_release() {
    for dump in riddles() {
        let server = Server::guarded(reply_on_puzzle, None, Duration::ZERO, guard());
        let mut researcher = Researcher::with(BRAIN, "puzzles", server.port, &dump, WITHOUT_WORDNET);
        researcher.follow();
        let released = researcher.released();
        let puzzles = dump.lines().count() as u64;
        assert!(released["draft"].as_array().unwrap().is_empty(), "{released}");
        assert!(released["rows"].as_u64().unwrap() * 10 >= puzzles * 3 * 9, "{puzzles} puzzles: {released}");
        for step in ["kind", "premises", "distractors", "again", "semantic", "context", "context-distractors"]
        {
            assert!(
                researcher.has_done(&format!("riddlemill review export {step}")),
                "{:#?}",
                researcher.did
            );
        }
        assert_eq!(researcher.did.last().unwrap(), "riddlemill release brainteaser");
    }
}

#[test]
fn what_is_optional_and_missing_makes_no_release_provisional() {
    let server = failing();
    let dump = dumps(0).swap_remove(0);
    let optional = "\n[recipe.chumor.draft]\noptional = [\"opponents\"]\n";
    let mut researcher = Researcher::new("chumor", server.port, &dump, optional);
    researcher.follow();
    let released = researcher.released();
    assert_eq!((released["draft"].as_array().unwrap().len(), released["rows"].as_u64()), (0, Some(6)));
    assert_eq!(server.count(), 0);
}

/// FLUB's juniors and senior, who are granted access by hand.
const PEOPLE: &str = r#"
[run]
profile = "paper"

[[annotator]]
name = "j1"
role = "junior"
qualified = true

[[annotator]]
name = "j2"
role = "junior"
qualified = true

[[annotator]]
name = "j3"
role = "junior"
qualified = true

[[annotator]]
name = "s1"
role = "senior"
qualified = true

[[annotator]]
name = "m1"
role = "meta"
"#;

#[test]
fn cunning_texts_come_to_a_release_in_the_papers_way() {
    for dump in dumps(60) {
        let server = failing();
        let mut researcher = Researcher::new("flub", server.port, &dump, PEOPLE);
        researcher.follow();
        let released = researcher.released();
        assert!(released["rows"].as_u64().unwrap() > 3, "{released}");
        assert!(researcher.has_done("riddlemill review export final"), "{:#?}", researcher.did);
        assert_eq!((researcher.did.last().unwrap().as_str(), server.count()), ("riddlemill release flub", 0));
        let card = researcher.ws.read("output/flub/1.0.0/README.md");
        assert!(
            card.contains(
                "0 annotators passed a trial on known answers (over 80 %, seniors over 95 %), 3 were admitted"
            ),
            "{card}"
        );
        assert!(card.contains("review:final") && !card.contains("The authors checked every row"), "{card}");
        assert!(!card.contains("The prompts are those of"), "{card}");
        assert!(card.contains("review:type: seniors modified 0 of"), "{card}");
    }
}

/// RuozhiBench as its authors did it: no draft before people have screened twice, and people write the pairs.
const SCREENED_TWICE: &str = r#"
[run]
profile = "paper"

[recipe.ruozhibench-mc.respond]
endpoints = ["good", "bad"]

[recipe.ruozhibench-mc.judge]
endpoints = ["judge-1", "judge-2", "judge-3"]
"#;

/// An endpoint with this name on its own server, whose replies say which model gave them.
fn model(name: &'static str, reply: fn(&str) -> (&'static str, String)) -> (Server, String) {
    let server = Server::replying(reply, None, Duration::ZERO);
    *server.model.lock().unwrap() = name;
    let settings = format!(
        "\n[llm.{name}]\nbase_url = \"http://127.0.0.1:{}/v1\"\nmodel = \"{name}\"\nfree = true\n",
        server.port
    );
    (server, settings)
}

#[test]
fn tricky_questions_come_to_both_releases_in_the_papers_way() {
    let models = [
        model("good", |prompt| ("respond", format!("a good answer to {}", prompt.len()))),
        model("bad", |prompt| ("respond", format!("a poor answer to {}", prompt.len()))),
        model("judge-1", reply),
        model("judge-2", reply),
        model("judge-3", reply),
    ];
    let endpoints: String = models.iter().map(|(_, settings)| settings.as_str()).collect();
    for dump in dumps(120) {
        let server = failing();
        let settings = format!("{SCREENED_TWICE}{endpoints}");
        let mut researcher = Researcher::new(GEN, server.port, &dump, &settings);
        researcher.follow();
        let released = researcher.released();
        let rows = released["rows"].as_u64().unwrap();
        assert!(rows > 2 && released["draft"].as_array().unwrap().is_empty(), "{released}");
        for done in ["riddlemill review export screen", "riddlemill review export suitability"] {
            assert!(researcher.has_done(done), "{:#?}", researcher.did);
        }
        let asked = server.take();
        assert_eq!(asked.keys().copied().collect::<Vec<_>>(), ["category", "irrationality", "translate"]);
        let card = researcher.ws.read(&format!("output/{GEN}/1.0.0/README.md"));
        assert!(card.contains("review:suitability"), "{card}");

        researcher.recipe = "ruozhibench-mc";
        researcher.follow();
        let released = researcher.released();
        assert!(released["draft"].as_array().unwrap().is_empty(), "{released}");
        assert_eq!(released["rows"].as_u64(), Some(rows), "{released}");
        let data = researcher.ws.read("output/ruozhibench-mc/1.0.0/data/ruozhibench-mc/test.jsonl");
        for row in data.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
            let place = row["answer"].as_u64().unwrap() as usize;
            assert_eq!((&row["option_models"][place], &row["gap"]), (&json!("good"), &json!(3.0)), "{row}");
            assert_eq!(row["standing"], "confirmed");
        }
    }
}
