//! Cunning texts: three juniors, and a senior who reviews their work.

use std::collections::BTreeMap;

use riddlemill::review::ballot::{Ballot, Role, Round};
use riddlemill::review::{Item, Value, Vote, ballots, review_item};
use serde_json::{Value as Json, json};

use super::{Cast, Pack};

pub const PACK: Pack = Pack { recipe: "flub", part: "flub", replies, votes };

/// Drafts: the type, the shorter of two explanations, and three wrong answers per reply.
fn replies(id: &str, part: &Json) -> Vec<Json> {
    let line = |template: &str, sample: usize, reply: Json| json!({ "template": format!("flub/{template}"), "record": id, "sample": sample, "reply": reply });
    let kind = part["type"].as_str().unwrap_or("未分类");
    let mut lines = vec![
        line("type", 0, json!({ "type": kind, "reason": "为示例而写。" })),
        line("explanation", 0, part["explanation"].clone()),
    ];
    let wrong: Vec<&Json> = part["wrong"].as_array().unwrap().iter().map(|wrong| &wrong["text"]).collect();
    for (sample, three) in wrong.chunks(3).enumerate() {
        lines.push(line("wrong", sample, json!({ "wrong": three })));
    }
    lines
}

fn votes(ballot: &Ballot, _: &str, items: &[&Item], row: &Json) -> Vec<Cast> {
    let Some(&item) = items.first() else { return Vec::new() };
    let part = match ballot.name {
        "wrong-candidates" => "wrong",
        name => name,
    };
    let result = &row["votes"]["flub"][part];
    let cast = |voter: &str, role, round, item: &Item, answers| Cast {
        item: item.clone(),
        voter: voter.replace("annotator", "junior"),
        role,
        round,
        answers,
    };
    let juniors = |of: fn(&Json) -> BTreeMap<&'static str, Value>| -> Vec<Cast> {
        let result = result.as_object().unwrap().iter().filter(|(voter, _)| *voter != "senior-1");
        result.map(|(voter, result)| cast(voter, Role::Junior, Round::Vote, item, of(result))).collect()
    };
    let senior = |round, item: &Item, answers| cast("senior-1", Role::Senior, round, item, answers);
    match ballot.name {
        "clean" => {
            let asks = row["votes"]["flub"]["is_question"]["annotator-1"] == true;
            let answers = BTreeMap::from([
                ("verdict", Value::from("keep")),
                ("is_question", Value::from(if asks { "yes" } else { "no" })),
            ]);
            vec![cast("junior-1", Role::Junior, Round::Vote, item, answers)]
        }
        "type" => {
            let mut votes = juniors(|result| BTreeMap::from([("type", Value::from(code(result)))]));
            let seen = seen(ballot, item, &votes);
            let answers = BTreeMap::from([
                ("type", Value::from(code(&result["senior-1"]))),
                ("main_type", Value::from("clear")),
            ]);
            votes.push(senior(Round::Review, &seen, answers));
            votes
        }
        "explanation" => {
            let text = |result: &Json| Value::from(result["text"].as_str().unwrap());
            let mut votes = juniors(|result| {
                BTreeMap::from([("explanation", Value::from(result["text"].as_str().unwrap()))])
            });
            let seen = seen(ballot, item, &votes);
            let better = text(&result[result["senior-1"]["choice"].as_str().unwrap()]);
            let shown = seen.content["votes.explanation"].as_list().unwrap();
            let place = shown.iter().position(|text| Value::from(text.as_str()) == better).unwrap();
            let answers = BTreeMap::from([("chosen", Value::List(vec![(place + 1).to_string()]))]);
            votes.push(senior(Round::Review, &seen, answers));
            votes
        }
        "wrong-candidates" => juniors(|result| {
            let texts =
                result["texts"].as_array().unwrap().iter().map(|text| Value::from(text.as_str().unwrap()));
            ["wrong_1", "wrong_2", "wrong_3"].into_iter().zip(texts).collect()
        }),
        _ => {
            // The bank numbers the nine by person, as the stage does.
            let numbers = result["senior-1"]["picked"].as_array().unwrap().iter();
            let numbers = numbers.map(|place| (place.as_u64().unwrap() + 1).to_string()).collect();
            vec![senior(Round::Vote, item, BTreeMap::from([("wrong", Value::List(numbers))]))]
        }
    }
}

fn code(result: &Json) -> &'static str {
    let name = result.as_str().unwrap_or("未分类");
    ballots::options_of_list("flub", "types").iter().find(|kind| kind.label.zh == name).unwrap().code
}

/// The item as the senior sees it once these votes are cast.
fn seen(ballot: &Ballot, item: &Item, votes: &[Cast]) -> Item {
    let copy = |cast: &Cast| Cast {
        item: cast.item.clone(),
        voter: cast.voter.clone(),
        role: cast.role,
        round: cast.round,
        answers: cast.answers.clone(),
    };
    let votes: Vec<Vote> = votes.iter().map(|cast| super::vote(ballot, copy(cast))).collect();
    review_item(ballot, item, &votes.iter().collect::<Vec<_>>())
}
