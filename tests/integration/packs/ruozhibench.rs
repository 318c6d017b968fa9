//! Trick questions: drafts, and three voters whose senior settles disagreements.

use std::collections::BTreeMap;

use riddlemill::review::ballot::{Ballot, REASON, Role, Round};
use riddlemill::review::{Item, Value};
use serde_json::{Value as Json, json};

use super::{Cast, Pack, response_id};

pub const PACK: Pack = Pack { recipe: "ruozhibench-gen", part: "ruozhibench", replies, votes };

fn replies(id: &str, part: &Json) -> Vec<Json> {
    let line = |template: &str, reply: Json| json!({ "template": format!("ruozhibench/{template}"), "record": id, "reply": reply });
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
    lines.extend(ratings(id, part));
    lines
}

/// Each response of the bank with its question, and whether that is the normal one.
fn answers_of(part: &Json) -> Vec<(bool, &Json)> {
    let of = |(name, normal): (&str, bool)| {
        let list = part["responses"][name].as_array().map(Vec::as_slice).unwrap_or_default();
        list.iter().map(move |response| (normal, response)).collect::<Vec<_>>()
    };
    [("question", false), ("pair", true)].into_iter().flat_map(of).collect()
}

/// The lines of raw/sample/responses.jsonl.
pub fn responses(id: &str, part: &Json) -> Vec<Json> {
    let line = |(normal, response): (bool, &Json)| {
        let to = if normal { "pair" } else { "question" };
        json!({ "item": id, "model": response["model"], "text": response["text"], "for": to })
    };
    answers_of(part).into_iter().map(line).collect()
}

/// The judges' replies.
fn ratings(id: &str, part: &Json) -> Vec<Json> {
    let mut lines = Vec::new();
    for (normal, response) in answers_of(part) {
        let template = if normal { "ruozhibench/judge_normal" } else { "ruozhibench/judge" };
        let record = response_id(id, normal, response["model"].as_str().unwrap());
        for rating in response["ratings"].as_array().unwrap() {
            let reply = json!({ "rating": rating["rating"], "explanation": rating["explanation"] });
            let judge = &rating["judge"];
            lines.push(json!({ "model": judge, "template": template, "record": record, "reply": reply }));
        }
    }
    lines
}

/// Ballots that a voter left unanswered are skipped.
fn votes(ballot: &Ballot, _: &str, items: &[&Item], row: &Json) -> Vec<Cast> {
    let Some(item) = items.first() else { return Vec::new() };
    let given = row["votes"]["ruozhibench"][ballot.name].as_object().cloned().unwrap_or_default();
    let mut votes = Vec::new();
    for (voter, result) in given {
        let senior = voter == "senior-1";
        let Some(mut answers) = answers(ballot.name, item, &result) else { continue };
        if senior {
            answers.insert(REASON, Value::from("Decided for the sample."));
        }
        votes.push(Cast {
            item: (*item).clone(),
            voter: if senior { "meta-1".into() } else { voter },
            role: if senior { Role::Meta } else { Role::Annotator },
            round: if senior { Round::Adjudication } else { Round::Vote },
            answers,
        });
    }
    votes
}

/// An answer of the bank as the fields of the ballot; `None` if it only says "no".
fn answers(step: &str, item: &Item, result: &Json) -> Option<BTreeMap<&'static str, Value>> {
    let text = |key: &str| result[key].as_str();
    Some(match step {
        "screen" => {
            let mut against: Vec<String> = ["culture_bound", "harmful"]
                .into_iter()
                .filter(|code| result[*code] == true)
                .map(Into::into)
                .collect();
            if against.is_empty() && result["suits_english"] != true {
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
            let numbers = result.as_array()?.iter().map(ToString::to_string).collect::<Vec<_>>();
            BTreeMap::from([("categories", Value::List(numbers)), ("sure", Value::from("yes"))])
        }
        _ if text("choice") == Some("accept") && item.draft.get("pair").is_none() => return None,
        _ => BTreeMap::from([("pairing", Value::from(text("choice")?))]),
    })
}
