//! The sources of BrainTeaser's sample: replies and votes from `raw/sample/content-puzzles.jsonl`, and a
//! small lexical database in WordNet's format. `RIDDLEMILL_WRITE_SAMPLE=1` rewrites them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use riddlemill::config::{Config, FILE, Overrides, sample_pipeline};
use riddlemill::pipeline::{self, Selection, review_items};
use riddlemill::puzzle::wordnet::write;
use riddlemill::recipe::{self, Recipe};
use riddlemill::record::{Record, Row};
use riddlemill::review::ballot::{Ballot, Role, Round};
use riddlemill::review::{Item, Value, Vote};
use riddlemill::stages::Stop;
use serde_json::{Value as Json, json};

use crate::harness::Silent;
use crate::packs::{Cast, vote};
use crate::puzzle_rows::rows;

const LICENCE: &str = "Written for a sample workspace, in the format that wndb(5) documents.\nCC0-1.0";

/// Words, the number of the hypernym, whether an instance of it, gloss.
const NOUNS: &[write::Line<'static>] = &[
    (&["bird"], None, false, "an animal with feathers that lays eggs"),
    (&["swallow"], Some(0), false, "a small bird with long wings and a forked tail"),
    (&["duck"], Some(0), false, "a bird that swims and dives"),
    (&["robin"], Some(0), false, "a small bird with a red breast"),
    (&["heron"], Some(0), false, "a bird with long legs that wades"),
    (&["mouthful"], None, false, "as much as the mouth holds"),
    (&["swallow", "sup"], Some(5), false, "a small mouthful of something to drink"),
    (&["planet"], None, false, "a large body that goes round the sun"),
    (&["Earth"], Some(7), true, "the planet on which we live"),
    (&["Venus"], Some(7), true, "the planet second from the sun"),
    (&["Mars"], Some(7), true, "a small red planet"),
    (&["Saturn"], Some(7), true, "a planet with rings"),
    (&["capital", "capital city"], None, false, "the city in which a government sits"),
    (&["Rome"], Some(12), true, "the capital city of Italy"),
    (&["Berlin"], Some(12), true, "the capital city of Germany"),
    (&["Lima"], Some(12), true, "the capital city of Peru"),
    (&["Oslo"], Some(12), true, "the capital city of Norway"),
    (&["vegetable"], None, false, "a plant or a part of one that is eaten with the main dish"),
    (&["leek"], Some(17), false, "a vegetable like a long white onion"),
    (&["onion"], Some(17), false, "a vegetable with a strong smell"),
    (&["carrot"], Some(17), false, "a long orange vegetable"),
    (&["radish"], Some(17), false, "a small red vegetable with a sharp taste"),
    (&["fruit"], None, false, "the sweet part of a plant that holds its seeds"),
    (&["plum"], Some(22), false, "a fruit with smooth skin and a stone"),
    (&["pear"], Some(22), false, "a sweet fruit, narrow at one end"),
    (&["lemon"], Some(22), false, "a sour yellow fruit"),
    (&["melon"], Some(22), false, "a large fruit with a hard rind"),
];

#[test]
fn the_puzzles_of_the_sample_are_current() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("raw/sample");
    let (index, data) = write::format_nouns(LICENCE, NOUNS);
    let mut made = vec![("wordnet/index.noun", index), ("wordnet/data.noun", data)];
    let written = std::env::var_os("RIDDLEMILL_WRITE_SAMPLE").is_some();
    let check = |made: &[(&str, String)]| {
        for (name, text) in made {
            let path = folder.join(name);
            if written {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(&path, text).unwrap();
            }
            let there = fs::read_to_string(&path).unwrap();
            assert!(there == *text, "{name} is not current; RIDDLEMILL_WRITE_SAMPLE=1 writes it");
        }
    };
    check(&made);
    let (replies, votes) = make();
    made = vec![("puzzles/replies.jsonl", replies), ("puzzles/votes.jsonl", votes)];
    check(&made);
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
        let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("raw/sample");
        for folder in ["puzzles", "wordnet"] {
            let to = root.join("raw/sample").join(folder);
            fs::create_dir_all(&to).unwrap();
            for file in fs::read_dir(sample.join(folder)).unwrap() {
                let file = file.unwrap();
                fs::copy(file.path(), to.join(file.file_name())).unwrap();
            }
        }
        fs::write(root.join(FILE), sample_pipeline()).unwrap();
        let making = Making { _dir: dir, root, recipe: recipe::find_recipe("brainteaser").unwrap() };
        making.write("replies.jsonl", "");
        making.write("votes.jsonl", "");
        making
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.root.join("raw/sample/puzzles").join(name), text).unwrap();
    }

    fn config(&self) -> Config {
        Config::load(&self.root, &recipe::recipe_names(), &recipe::changed_defaults(), &Overrides::default())
            .unwrap()
    }

    fn run_to(&self, step: &str) {
        let selection = Selection { to: Some(step.into()), offline: true, ..Selection::default() };
        pipeline::run_recipe(&self.config(), self.recipe, &selection, &Stop::default(), &Silent).unwrap();
    }
}

fn make() -> (String, String) {
    let making = Making::new();
    making.run_to("strip");
    let bank = bank(&rows(&making.root, "strip"));
    let mut replies = String::new();
    for line in bank.iter().flat_map(|(id, row)| replies_to(id, row)) {
        replies.push_str(&format!("{line}\n"));
    }
    making.write("replies.jsonl", &replies);
    let mut votes = String::new();
    for step in making.recipe.steps() {
        let Some(review) = step.stage.declared_review() else { continue };
        making.run_to(step.inputs[0]);
        let (ballot, items) =
            review_items(&making.config(), making.recipe, review.benchmark_and_ballot().1).unwrap().unwrap();
        for (id, row) in &bank {
            for item in items.iter().filter(|item| item.id == *id) {
                for vote in votes_on(&ballot, item, row) {
                    votes.push_str(&format!("{}\n", serde_json::to_string(&vote).unwrap()));
                }
            }
        }
        making.write("votes.jsonl", &votes);
    }
    (replies, votes)
}

/// The rows of the content bank by the ids of their puzzles. A key is an id or the question; the copies of a
/// puzzle have the same answers, whichever of them dedup keeps.
fn bank(puzzles: &[Row]) -> Vec<(String, Json)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("raw/sample/content-puzzles.jsonl");
    let mut bank = Vec::new();
    for line in fs::read_to_string(path).unwrap().lines() {
        let row: Json = serde_json::from_str(line).unwrap();
        let copies = row["copies"].as_array().cloned().unwrap_or_default();
        for key in std::iter::once(&row["key"]).chain(&copies).filter_map(Json::as_str) {
            let puzzle =
                puzzles.iter().find(|puzzle| puzzle.id() == key || puzzle.text("question") == Some(key));
            bank.push((puzzle.unwrap_or_else(|| panic!("no puzzle {key}")).id().to_owned(), row.clone()));
        }
    }
    bank
}

fn replies_to(id: &str, row: &Json) -> Vec<Json> {
    let line = |template: &str, record: &str, reply: Json| json!({ "template": format!("brainteaser/{template}"), "record": record, "reply": reply });
    let reason =
        if row["kind"] == "neither" { "Nothing has to be unlearned." } else { "One premise has to go." };
    let mut lines = vec![line("kind", id, json!({ "kind": row["kind"], "reason": reason }))];
    if row["kind"] == "neither" {
        return lines;
    }
    let list = |key: &str, part: &str| -> Vec<Json> {
        row[key].as_array().into_iter().flatten().map(|entry| entry[part].clone()).collect()
    };
    let premise = json!("Words mean what they say.");
    if row["kind"] == "sentence" {
        let overturned = list("premises", "overwritten_by_answer").iter().position(|by| *by == true).unwrap();
        lines.push(line(
            "premises",
            id,
            json!({ "premises": list("premises", "text"), "overturned": overturned }),
        ));
        lines.push(overturning(&line, id, list("distractors", "text"), list("distractors", "overwrites")));
    } else {
        lines.push(line("distractors_word", id, json!({ "distractors": list("distractors", "text") })));
    }
    if row["again"].is_array() {
        lines.push(line("distractors_word", &format!("{id} again"), json!({ "distractors": row["again"] })));
    }
    lines.push(line("semantic", id, row["semantic"]["question"].clone()));
    let context = &row["context"];
    let (question, answer, wrong) =
        (&context["question"], &context["answer"], context["distractors"].clone());
    let inside = |key: &str| context[key].as_array().cloned().unwrap_or_default();
    let (of_context, premises) = (format!("{id}_CR"), inside("premises"));
    if row["kind"] == "sentence" {
        let overturned =
            premises.iter().position(|premise| premise["overwritten_by_answer"] == true).unwrap();
        let premises: Vec<&Json> = premises.iter().map(|premise| &premise["text"]).collect();
        let reply =
            json!({ "question": question, "answer": answer, "premises": premises, "overturned": overturned });
        lines.push(line("context", id, reply));
        lines.push(overturning(&line, &of_context, inside("distractors"), inside("overwrites")));
    } else {
        lines.push(line(
            "context_word",
            id,
            json!({ "question": question, "answer": answer, "premise": premise }),
        ));
        lines.push(line("distractors_word", &of_context, json!({ "distractors": wrong })));
    }
    for (mark, topic) in ["", "_SR", "_CR"].iter().zip(row["topic"].as_array().unwrap()) {
        lines.push(line("topic", &format!("{id}{mark}"), topic.clone()));
    }
    lines
}

/// Distractors of a sentence puzzle, each with the premise that it overturns.
fn overturning(
    line: &dyn Fn(&str, &str, Json) -> Json,
    record: &str,
    texts: Vec<Json>,
    premises: Vec<Json>,
) -> Json {
    let wrong = texts.into_iter().zip(premises);
    let wrong: Vec<Json> = wrong.map(|(text, premise)| json!({ "text": text, "premise": premise })).collect();
    line("distractors_sentence", record, json!({ "distractors": wrong }))
}

/// The bank's votes on an item. A voter who only rejected a draft has written nothing yet, and is skipped.
fn votes_on(ballot: &Ballot, item: &Item, row: &Json) -> Vec<Vote> {
    let given = row["votes"][ballot.name].as_object().cloned().unwrap_or_default();
    let mut votes = Vec::new();
    for (voter, result) in given.into_iter().filter(|(voter, _)| voter != "senior-1") {
        let Some(answers) = answers(ballot, &result) else { continue };
        let (item, role, round) = (item.clone(), Role::Annotator, Round::Vote);
        votes.push(vote(ballot, Cast { item, voter, role, round, answers }));
    }
    votes
}

fn answers(ballot: &Ballot, result: &Json) -> Option<BTreeMap<&'static str, Value>> {
    let verdict = |verdict: &str| ("verdict", Value::from(verdict));
    Some(match (ballot.name, result) {
        ("kind", Json::String(kind)) if kind == "neither" => {
            BTreeMap::from([("kind", Value::from("neither")), ("other", Value::from("dad_joke"))])
        }
        ("kind", Json::String(kind)) => BTreeMap::from([("kind", Value::from(kind.as_str()))]),
        ("validity", result) => {
            let word = |key: &str| Value::from(if result[key] == true { "yes" } else { "no" });
            ["original", "semantic", "context"].map(|key| (key, word(key))).into()
        }
        (_, Json::String(word)) if word == "accept" || word == "none" => BTreeMap::from([verdict(word)]),
        (_, Json::Object(texts)) => {
            let written = |name: &'static str| Some((name, Value::from(texts.get(name)?.as_str().unwrap())));
            ballot.fields.iter().filter_map(|field| written(field.name)).chain([verdict("rewrite")]).collect()
        }
        _ => return None,
    })
}
