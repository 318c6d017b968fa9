//! The sample's replies and votes are made from its content bank, `raw/sample/content.jsonl`: replies by
//! record, votes with the content hashes of the real ballots. `RIDDLEMILL_WRITE_SAMPLE=1` rewrites them.

mod chumor;
mod flub;
mod ruozhibench;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use riddlemill::config::{Config, FILE, Overrides, sample_pipeline};
use riddlemill::pipeline::{self, Selection, review_items};
use riddlemill::recipe::{self, Recipe};
use riddlemill::record::{Post, derive_id};
use riddlemill::review::answers::{Answers, read_answers};
use riddlemill::review::ballot::{Ballot, Role, Round};
use riddlemill::review::{Item, Value, Vote};
use riddlemill::stages::Stop;
use riddlemill::store::{StageReader, Workspace};
use serde_json::Value as Json;

use crate::harness::Silent;

#[test]
fn replies_and_votes_of_the_sample_are_current() {
    let (replies, votes, responses) = make();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("raw/sample");
    for (name, made) in [("replies.jsonl", replies), ("votes.jsonl", votes), ("responses.jsonl", responses)] {
        let path = folder.join(name);
        if std::env::var_os("RIDDLEMILL_WRITE_SAMPLE").is_some() {
            fs::write(&path, &made).unwrap();
        }
        let there = fs::read_to_string(&path).unwrap();
        assert!(there == made, "{name} is not what content.jsonl gives; RIDDLEMILL_WRITE_SAMPLE=1 writes it");
    }
}

/// What is made of a recipe's part of the bank.
struct Pack {
    recipe: &'static str,
    /// The part of a content row.
    part: &'static str,
    /// The replies to a record: lines of the pack.
    replies: fn(&str, &Json) -> Vec<Json>,
    /// The votes on a record's ballots of a step.
    votes: fn(&Ballot, &str, &[&Item], &Json) -> Vec<Cast>,
}

/// One vote of the bank.
pub struct Cast {
    pub item: Item,
    pub voter: String,
    pub role: Role,
    pub round: Round,
    pub answers: BTreeMap<&'static str, Value>,
}

const PACKS: [Pack; 3] = [ruozhibench::PACK, flub::PACK, chumor::PACK];

/// A workspace that is filled step by step: a step's ballots depend on the votes of those before it.
struct Making {
    _dir: tempfile::TempDir,
    root: PathBuf,
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
        let making = Making { _dir: dir, root };
        making.write("replies.jsonl", "");
        making.write("votes.jsonl", "");
        making
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.root.join("raw/sample").join(name), text).unwrap();
    }

    fn config(&self) -> Config {
        Config::load(&self.root, &recipe::recipe_names(), &recipe::changed_defaults(), &Overrides::default())
            .unwrap()
    }

    fn run_to(&self, recipe: &'static Recipe, step: &str) {
        let selection = Selection { to: Some(step.into()), offline: true, ..Selection::default() };
        pipeline::run_recipe(&self.config(), recipe, &selection, &Stop::default(), &Silent).unwrap();
    }

    fn posts(&self, recipe: &'static Recipe, step: &str) -> Vec<Post> {
        let (number, step) = recipe.find_step(step).unwrap();
        let place = Workspace::new(&self.root).stage_folder(recipe.name, number, step.name);
        StageReader::open(&place).unwrap().unwrap().read_table("rows").unwrap()
    }

    fn items(&self, recipe: &'static Recipe, step: &str) -> (Ballot, Vec<Item>) {
        review_items(&self.config(), recipe, step).unwrap().unwrap()
    }
}

fn make() -> (String, String, String) {
    let making = Making::new();
    let (mut replies, mut votes, mut responses) = (String::new(), String::new(), String::new());
    for pack in PACKS {
        let recipe = recipe::find_recipe(pack.recipe).unwrap();
        making.run_to(recipe, "dedup");
        let bank = bank(&making, recipe, pack.part);
        for (id, row) in &bank {
            for line in (pack.replies)(id, &row[pack.part]) {
                replies.push_str(&format!("{line}\n"));
            }
        }
        for (id, row) in bank.iter().filter(|_| pack.part == "ruozhibench") {
            for line in ruozhibench::responses(id, &row[pack.part]) {
                responses.push_str(&format!("{line}\n"));
            }
        }
        making.write("replies.jsonl", &replies);
        for step in recipe.steps() {
            let Some(review) = step.stage.declared_review() else { continue };
            making.run_to(recipe, step.inputs[0]);
            let (ballot, items) = making.items(recipe, review.benchmark_and_ballot().1);
            for (id, row) in &bank {
                let items: Vec<&Item> = items.iter().filter(|item| owner(item, id, row)).collect();
                for cast in (pack.votes)(&ballot, id, &items, row) {
                    votes.push_str(&serde_json::to_string(&vote(&ballot, cast)).unwrap());
                    votes.push('\n');
                }
            }
            making.write("votes.jsonl", &votes);
        }
    }
    (replies, votes, responses)
}

/// Whether an item belongs to a record: the record itself, or a model's response to it.
fn owner(item: &Item, id: &str, row: &Json) -> bool {
    let models = row["chumor"]["models"].as_array().into_iter().flatten();
    let mut models = models.filter_map(|model| model["model"].as_str());
    item.id == id || models.any(|model| item.id == chumor::against(id, model))
}

/// The rows of the content bank with a part whose post is kept by dedup, each with its id. A key is an id or,
/// for posts of annual threads, the post's text as in the dump.
fn bank(making: &Making, recipe: &'static Recipe, part: &str) -> Vec<(String, Json)> {
    let by_content: BTreeMap<String, String> = making
        .posts(recipe, "import")
        .into_iter()
        .filter_map(|post| Some((post.content?, post.id)))
        .collect();
    let there: BTreeMap<String, ()> =
        making.posts(recipe, "dedup").into_iter().map(|post| (post.id, ())).collect();
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
        if let Some(id) = kept.filter(|_| row.get(part).is_some()) {
            bank.push((id, row));
        }
    }
    bank
}

/// The id of a model's first answer to a question of RuozhiBench-MC, or to its paired normal one.
pub fn response_id(question: &str, normal: bool, model: &str) -> String {
    let role = if normal { "response to the pair" } else { "response" };
    derive_id(role, &[question, model, "0"])
}

/// The vote, marked as the sample's.
pub fn vote(ballot: &Ballot, cast: Cast) -> Vote {
    let Cast { item, voter, role, round, answers } = cast;
    let values =
        match read_answers(&ballot.questions_of_round(round), &item, |field| answers.get(field).cloned()) {
            Answers::Given(values) => values,
            other => panic!("{} {} {voter}: {other:?}", item.id, ballot.name),
        };
    let vote = Vote {
        annotator: voter,
        role,
        round,
        values,
        at: "2026-01-01T00:00:00Z".into(),
        source: "sample".into(),
        synthetic: true,
        ..Vote::on_item(ballot, &item)
    };
    vote.with_id()
}
