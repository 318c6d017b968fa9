//! The sample's replies and votes are made from its content bank, `raw/sample/content.jsonl`: replies by
//! record, votes with the content hashes of the real ballots. `RIDDLEMILL_WRITE_SAMPLE=1` writes them anew.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use riddlemill::config::{Config, FILE, Overrides, sample_pipeline};
use riddlemill::pipeline::{self, Progress, Selection, review_items};
use riddlemill::recipe::{self, Recipe};
use riddlemill::record::Post;
use riddlemill::review::answers::{Answers, read};
use riddlemill::review::ballot::{REASON, Role, Round, Step};
use riddlemill::review::{Item, Value, Vote};
use riddlemill::stages::Stop;
use riddlemill::store::{Manifest, StageReader, Workspace};
use serde_json::{Value as Json, json};

/// The review steps, each with the stage before it.
const STEPS: [(&str, &str); 5] = [
    ("screen", "screen"),
    ("translation", "translate"),
    ("irrationality", "irrationality"),
    ("category", "category"),
    ("pair", "pair"),
];

#[test]
fn replies_and_votes_of_the_sample_are_current() {
    let (replies, votes) = make();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("raw/sample");
    for (name, made) in [("replies.jsonl", replies), ("votes.jsonl", votes)] {
        let path = folder.join(name);
        if std::env::var_os("RIDDLEMILL_WRITE_SAMPLE").is_some() {
            fs::write(&path, &made).unwrap();
        }
        let there = fs::read_to_string(&path).unwrap();
        assert!(there == made, "{name} is not what content.jsonl gives; RIDDLEMILL_WRITE_SAMPLE=1 writes it");
    }
}

struct Silent;

impl Progress for Silent {
    fn begin(&self, _: &str, _: &str, _: &str, _: u64) {}
    fn advance(&self, _: u64) {}
    fn end(&self, _: &str, _: &Manifest) {}
    fn fresh(&self, _: &str, _: &Manifest) {}
}

/// A workspace that is filled step by step: a step's ballots depend on the votes of those before it.
struct Making {
    _dir: tempfile::TempDir,
    root: PathBuf,
    recipe: &'static Recipe,
}

impl Making {
    fn new() -> Making {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().to_path_buf();
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("raw/sample/dumps");
        fs::create_dir_all(root.join("raw/sample/dumps")).unwrap();
        for file in fs::read_dir(from).unwrap() {
            let file = file.unwrap();
            fs::copy(file.path(), root.join("raw/sample/dumps").join(file.file_name())).unwrap();
        }
        fs::write(root.join(FILE), sample_pipeline()).unwrap();
        let making = Making { _dir: dir, root, recipe: recipe::find("ruozhibench-gen").unwrap() };
        making.put("replies.jsonl", "");
        making.put("votes.jsonl", "");
        making
    }

    fn put(&self, name: &str, text: &str) {
        fs::write(self.root.join("raw/sample").join(name), text).unwrap();
    }

    fn config(&self) -> Config {
        Config::load(&self.root, &recipe::names(), &recipe::choices(), &Overrides::default()).unwrap()
    }

    fn run_to(&self, step: &str) {
        let selection = Selection { to: Some(step.into()), offline: true, ..Selection::default() };
        pipeline::run(&self.config(), self.recipe, &selection, &Stop::default(), &Silent).unwrap();
    }

    fn posts(&self, step: &str) -> Vec<Post> {
        let (number, step) = self.recipe.step(step).unwrap();
        let place = Workspace::new(&self.root).stage(self.recipe.name, number, step.name);
        StageReader::open(&place).unwrap().unwrap().all("rows").unwrap()
    }

    fn items(&self, step: &str) -> (Step, Vec<Item>) {
        review_items(&self.config(), self.recipe, step).unwrap().unwrap()
    }
}

fn make() -> (String, String) {
    let making = Making::new();
    making.run_to("dedup");
    let bank = bank(&making);
    let replies: String = bank.iter().flat_map(|(id, row)| replies(id, &row["ruozhibench"])).collect();
    making.put("replies.jsonl", &replies);
    let mut votes = String::new();
    for (step, before) in STEPS {
        making.run_to(before);
        let (ballot, items) = making.items(step);
        let items: BTreeMap<&str, &Item> = items.iter().map(|item| (item.id.as_str(), item)).collect();
        for (id, row) in &bank {
            let Some(item) = items.get(id.as_str()) else { continue };
            for vote in votes_on(&ballot, item, row) {
                votes.push_str(&serde_json::to_string(&vote).unwrap());
                votes.push('\n');
            }
        }
        making.put("votes.jsonl", &votes);
    }
    (replies, votes)
}

/// The rows of the content bank whose question is still there after dedup, each with its id. A key is an
/// id or, for posts of annual threads, the post's text as the dump has it.
fn bank(making: &Making) -> Vec<(String, Json)> {
    let by_content: BTreeMap<String, String> =
        making.posts("import").into_iter().filter_map(|post| Some((post.content?, post.id))).collect();
    let there: BTreeMap<String, ()> = making.posts("dedup").into_iter().map(|post| (post.id, ())).collect();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("raw/sample/content.jsonl");
    let mut bank = Vec::new();
    for line in fs::read_to_string(path).unwrap().lines() {
        let row: Json = serde_json::from_str(line).unwrap();
        let copies = row["copies"].as_array().cloned().unwrap_or_default();
        let id = |key: &Json| {
            let key = key.as_str()?;
            Some(by_content.get(key).cloned().unwrap_or_else(|| key.to_string()))
        };
        let mut ids = std::iter::once(&row["key"]).chain(&copies).filter_map(id);
        let kept = ids.find(|id| there.contains_key(id));
        if let Some(id) = kept.filter(|_| row.get("ruozhibench").is_some()) {
            bank.push((id, row));
        }
    }
    bank
}

fn replies(id: &str, part: &Json) -> Vec<String> {
    let line = |template: &str, reply: Json| {
        format!(
            "{}\n",
            json!({ "template": format!("ruozhibench/{template}"), "record": id, "reply": reply })
        )
    };
    let screen = &part["screen"];
    let (culture, harmful) = (screen["culture_bound"] == true, screen["harmful"] == true);
    let lost = screen["suits_english"] != true && !culture && !harmful;
    let reason = |applies: bool, otherwise: &str| {
        if applies { screen["reason"].clone() } else { json!(otherwise) }
    };
    let mut lines = vec![line(
        "screen",
        json!({
            "culture_bound": culture,
            "culture_bound_reason": reason(culture, "What it speaks of is known to readers everywhere."),
            "harmful": harmful,
            "harmful_reason": reason(harmful, "It demeans nobody and encourages nothing."),
            "trap_survives": !lost,
            "trap_survives_reason": reason(lost || !(culture || harmful), "The flaw is in what is asked, not in the words."),
        }),
    )];
    if part["translation"].is_object() {
        let analysis = part.get("irrationality_draft").unwrap_or(&part["irrationality"]);
        lines.push(line("translate", part["translation"]["draft"].clone()));
        lines.push(line("irrationality", analysis.clone()));
        lines.push(line("category", part["categories"]["draft"].clone()));
        lines.push(line("pair", json!({ "pair": part["pair"] })));
    }
    lines
}

/// The bank's votes on an item. Its senior settles what the three do not agree on; ballots that a
/// voter left without an answer are left out.
fn votes_on(step: &Step, item: &Item, row: &Json) -> Vec<Vote> {
    let given = row["votes"]["ruozhibench"][step.name].as_object().cloned().unwrap_or_default();
    let mut votes = Vec::new();
    for (voter, said) in given {
        let senior = voter == "senior-1";
        let round = if senior { Round::Adjudication } else { Round::Vote };
        let Some(mut answers) = answers(step.name, item, &said) else { continue };
        if senior {
            answers.insert(REASON, Value::from("Decided for the sample."));
        }
        let values = match read(&step.form(round), item, |field| answers.get(field).cloned()) {
            Answers::Given(values) => values,
            Answers::Blank => continue,
            Answers::Faulty(faults) => panic!("{} {} {voter}: {faults:?}", item.id, step.name),
        };
        let vote = Vote {
            id: item.content_hash,
            recipe: step.recipe.into(),
            step: step.name.into(),
            item: item.id.clone(),
            content_hash: item.content_hash,
            annotator: if senior { "meta-1".into() } else { voter },
            role: if senior { Role::Meta } else { Role::Annotator },
            round,
            values,
            at: "2026-01-01T00:00:00Z".into(),
            source: "sample".into(),
            synthetic: true,
            seconds: None,
            base: None,
            supersedes: None,
        };
        votes.push(vote.sealed());
    }
    votes
}

/// An answer of the bank in the fields of the ballot; `None` where it says no more than "not so".
fn answers(step: &str, item: &Item, said: &Json) -> Option<BTreeMap<&'static str, Value>> {
    let text = |key: &str| said[key].as_str();
    Some(match step {
        "screen" => {
            let mut against: Vec<String> = ["culture_bound", "harmful"]
                .into_iter()
                .filter(|code| said[*code] == true)
                .map(Into::into)
                .collect();
            if against.is_empty() && said["suits_english"] != true {
                against.push("untranslatable".into());
            }
            let verdict = if against.is_empty() { Value::from("keep") } else { Value::List(against) };
            BTreeMap::from([("screen", verdict)])
        }
        "translation" | "irrationality" => {
            let field = if step == "translation" { "question_en" } else { "irrationality" };
            match (text("choice")?, text("text")) {
                ("accept", _) => BTreeMap::from([("verdict", Value::from("accept"))]),
                ("rewrite", Some(text)) => {
                    BTreeMap::from([("verdict", Value::from("rewrite")), (field, Value::from(text))])
                }
                _ => return None,
            }
        }
        "category" => {
            let numbers = said.as_array()?.iter().map(ToString::to_string).collect::<Vec<_>>();
            BTreeMap::from([("categories", Value::List(numbers)), ("sure", Value::from("yes"))])
        }
        _ if text("choice") == Some("accept") && item.draft.get("pair").is_none() => return None,
        _ => BTreeMap::from([("pairing", Value::from(text("choice")?))]),
    })
}
