//! Jokes: a person's explanation compared with two models', and the errors of these.

use std::collections::BTreeMap;

use riddlemill::record::derive_id;
use riddlemill::review::ballot::{Ballot, Role, Round};
use riddlemill::review::{Item, Value};
use serde_json::{Value as Json, json};

use super::{Cast, Pack};

pub const PACK: Pack = Pack { recipe: "chumor", part: "chumor", replies, votes };

/// The names of errors in the bank, and in the ballot.
const ERRORS: [(&str, &str); 6] = [
    ("Pun-based Humor", "pun"),
    ("Insufficient Contextual Understanding", "context"),
    ("Cultural Unawareness", "cultural"),
    ("Hallucinations", "hallucination"),
    ("Excessive Sensitivity", "sensitivity"),
    ("Character-based Humor", "character"),
];

/// The item that compares a joke's explanation with a model's.
pub fn against(id: &str, model: &str) -> String {
    derive_id("against", &[id, model])
}

fn replies(id: &str, part: &Json) -> Vec<Json> {
    let models = part["models"].as_array().unwrap().iter();
    models
        .map(|of| {
            json!({
                "model": of["model"], "template": "chumor/explanation", "record": id, "reply": of["explanation"],
            })
        })
        .collect()
}

fn votes(ballot: &Ballot, id: &str, items: &[&Item], row: &Json) -> Vec<Cast> {
    let result = &row["votes"]["chumor"][ballot.name];
    let cast = |item: &Item, voter: &str, answers| Cast {
        item: item.clone(),
        voter: voter.into(),
        role: Role::Annotator,
        round: Round::Vote,
        answers,
    };
    let item_of = |model: &str| items.iter().find(|item| item.id == against(id, model)).copied();
    let models = row["chumor"]["models"].as_array().unwrap();
    let mut votes = Vec::new();
    match ballot.name {
        "screen" => {
            for (voter, result) in result.as_object().unwrap() {
                let verdict = match result["choice"].as_str() {
                    Some("keep") => Value::from("keep"),
                    _ => Value::List(vec!["not_funny".into()]),
                };
                if let Some(item) = items.first().filter(|_| voter != "senior-1") {
                    votes.push(cast(item, voter, BTreeMap::from([("screen", verdict)])));
                }
            }
        }
        "explanation" => {
            let text = result["annotator-1"]["text"].as_str().unwrap();
            if let Some(item) = items.first() {
                votes.push(cast(item, "annotator-1", BTreeMap::from([("explanation", Value::from(text))])));
            }
        }
        "preference" => {
            for model in models.iter().filter_map(|model| model["model"].as_str()) {
                let Some(item) = item_of(model) else { continue };
                for (voter, side) in result[model].as_object().unwrap() {
                    let side = side.as_str().map(|side| if side == "tie" { "equal" } else { side });
                    let answers = BTreeMap::from([("preference", Value::from(side.unwrap()))]);
                    votes.push(cast(item, voter, answers));
                }
            }
        }
        _ => {
            for model in models {
                let Some(item) = item_of(model["model"].as_str().unwrap()) else { continue };
                let named = model["error_types"].as_array().unwrap().iter().filter_map(Json::as_str);
                let code = |name: &str| ERRORS.iter().find(|(other, _)| *other == name).unwrap().1.to_owned();
                let mut codes: Vec<String> = named.map(code).collect();
                if codes.is_empty() {
                    codes.push("none".into());
                }
                votes.push(cast(item, "annotator-1", BTreeMap::from([("errors", Value::List(codes))])));
            }
        }
    }
    votes
}
