//! Questions fully reviewed by people, entered through the real ballots.

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Map, Value, json};

use crate::harness::{CallResult, Workspace, title};

pub const GEN: &str = "ruozhibench-gen";

/// No review blocks anything, no model is asked, and no rule rejects a text.
const SETTINGS: &str = r#"
version = 1

[[source]]
name = "posts"
kind = "leymore-titles"
path = "raw/dumps/*.json"
licence = "CC0-1.0"

[anonymise]
links = "keep"
names = "keep"
contacts = "keep"
identity = "keep"
addresses = "keep"
policy = []

[filter]
questions = false
forum = false
min_chars = 0
max_chars = 100000

[dedup]
metric = "levenshtein"
threshold = 1.0
normalize = false

[review]
optional = ["screen", "translation", "irrationality", "category", "pair"]
sample = ""

[[annotator]]
name = "annotator-1"
role = "annotator"
languages = ["zh", "en"]

[[annotator]]
name = "annotator-2"
role = "annotator"
languages = ["zh", "en"]

[[annotator]]
name = "annotator-3"
role = "annotator"
languages = ["zh", "en"]
"#;

/// A workspace of such questions.
pub struct Reviewed {
    pub ws: Workspace,
    /// Items in the published form by their question.
    items: BTreeMap<String, Map<String, Value>>,
    dumps: usize,
}

/// An item in the published form.
pub fn item(
    zh: &str,
    en: &str,
    irrationality: &str,
    pair: Option<&str>,
    category: &str,
) -> Map<String, Value> {
    let item = json!({
        "question_zh": zh, "question_en": en, "irrationality": irrationality, "pair": pair, "category": category,
    });
    item.as_object().unwrap().clone()
}

impl Reviewed {
    pub fn new() -> Reviewed {
        Reviewed { ws: Workspace::with(SETTINGS), items: BTreeMap::new(), dumps: 0 }
    }

    /// The same workspace on another machine.
    pub fn copy(&self) -> Reviewed {
        Reviewed { ws: self.ws.copy(), items: self.items.clone(), dumps: self.dumps }
    }

    /// Puts a dump with these items' questions into raw/, and casts all votes on them.
    pub fn add(&mut self, items: &[Map<String, Value>]) {
        self.dumps += 1;
        let line = |(i, item): (usize, &Map<String, Value>)| {
            title((self.dumps * 100_000 + i) as u64, item["question_zh"].as_str().unwrap()) + "\n"
        };
        let dump: String = items.iter().enumerate().map(line).collect();
        self.ws.write(&format!("raw/dumps/{}.json", self.dumps), dump);
        let named =
            items.iter().map(|item| (item["question_zh"].as_str().unwrap().to_string(), item.clone()));
        let new: BTreeMap<String, Map<String, Value>> = named.collect();
        self.items.extend(new.clone());
        self.run();
        for step in ["screen", "translation", "irrationality", "category", "pair"] {
            self.vote(step, |zh| new.get(zh).map(|item| answers(step, item)));
            self.run();
        }
    }

    pub fn run(&self) {
        self.ws.call(["run", "--recipe", GEN, "--offline"]).expect(0);
    }

    /// Votes on a step: the answer to a question, or nothing. Returns the number of votes added.
    pub fn vote(&self, step: &str, answer: impl Fn(&str) -> Option<Value>) -> usize {
        let voters = match step {
            "screen" => 3,
            "category" => 2,
            _ => 1,
        };
        (1..=voters).map(|n| vote(&self.ws, step, &format!("annotator-{n}"), &answer)).sum()
    }

    /// A voter of a step changes their vote.
    pub fn vote_again(&self, step: &str, who: &str, zh: &str, answers: &Value) {
        let of = |vote: &Value, row: &Value| {
            (&vote["step"], &vote["annotator"], &vote["item"]) == (&json!(step), &json!(who), &row["item"])
        };
        let ballot = self.ws.read(&self.ballots(step, who));
        let rows = ballot.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let mut row = rows.into_iter().find(|row| row["see"]["question_zh"] == zh).unwrap();
        let mut own = Value::Null;
        for entry in fs::read_dir(self.ws.path("raw/votes")).unwrap() {
            let path = entry.unwrap().path();
            let log = if path.extension().is_some_and(|e| e == "jsonl") {
                fs::read_to_string(path).unwrap()
            } else {
                String::new()
            };
            for vote in log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
                if of(&vote, &row) {
                    own = vote["id"].clone();
                }
            }
        }
        assert!(own.is_string(), "{who} has not voted on {zh}");
        row["vote"] = own;
        row["answers"] = answers.clone();
        self.ws.write("votes.jsonl", format!("{row}\n"));
        let result = self.ws.call(["review", "import", step, "--recipe", GEN, "votes.jsonl"]).expect(0);
        assert!(result.out.contains("1 added"), "{} {}", result.out, result.err);
    }

    /// The ballot that a voter filled in first.
    fn ballots(&self, step: &str, who: &str) -> String {
        format!("kept/{step}-{who}.jsonl")
    }

    pub fn release(&self, more: &[&str]) -> CallResult {
        release(&self.ws, more)
    }
}

pub fn release(ws: &Workspace, more: &[&str]) -> CallResult {
    ws.call(["release", GEN, "--date", "2026-01-02"].iter().chain(more))
}

/// One person's votes on a step, through an exported ballot.
pub fn vote(ws: &Workspace, step: &str, who: &str, answer: impl Fn(&str) -> Option<Value>) -> usize {
    let args = [
        "review",
        "export",
        step,
        "--recipe",
        GEN,
        "--annotator",
        who,
        "--format",
        "jsonl",
        "--out",
        "ballots",
    ];
    let files = ws.call(args).expect(0).out;
    let (mut filled, mut kept) = (String::new(), String::new());
    let mut votes = 0;
    for line in
        files.lines().flat_map(|file| ws.read(file.trim()).lines().map(str::to_string).collect::<Vec<_>>())
    {
        let mut row: Value = serde_json::from_str(&line).unwrap();
        kept += &format!("{row}\n");
        if let Some(answers) = answer(row["see"]["question_zh"].as_str().unwrap()) {
            row["answers"] = answers;
            filled += &format!("{row}\n");
            votes += 1;
        }
    }
    ws.write("votes.jsonl", filled);
    let place = format!("kept/{step}-{who}.jsonl");
    let before = if ws.exists(&place) { ws.read(&place) } else { String::new() };
    // The latest ballot on a question first.
    ws.write(&place, kept + &before);
    // A table without a vote is no success.
    let code = if votes > 0 { 0 } else { 3 };
    let result = ws.call(["review", "import", step, "--recipe", GEN, "votes.jsonl"]).expect(code);
    assert!(result.out.contains(&format!("{votes} added")), "{step}: {} {}", result.out, result.err);
    votes
}

fn answers(step: &str, item: &Map<String, Value>) -> Value {
    let rewrite = |field: &str| json!({ "verdict": "rewrite", field: item[field] });
    match step {
        "screen" => json!({ "screen": "keep" }),
        "category" => {
            let numbers = item["category"].as_str().unwrap().split(", ");
            json!({ "categories": numbers.map(|part| &part[..1]).collect::<Vec<_>>(), "sure": "yes" })
        }
        "pair" if item["pair"].is_null() => json!({ "pairing": "none" }),
        "pair" => json!({ "pairing": "write", "pair": item["pair"] }),
        "translation" => rewrite("question_en"),
        _ => rewrite(step),
    }
}
