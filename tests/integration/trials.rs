//! Trials on items whose answers are known, and such items mixed into queues.

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value, json};

use crate::harness::Workspace;

/// The type that the first of the sample's juniors gave, by item.
fn known(ws: &Workspace) -> BTreeMap<String, String> {
    let votes = ws.read("raw/sample/votes.jsonl");
    let votes = votes.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let ours =
        |vote: &Value| vote["recipe"] == "flub" && vote["step"] == "type" && vote["annotator"] == "junior-1";
    let text = |value: &Value| value.as_str().unwrap().to_string();
    votes.filter(ours).map(|vote| (text(&vote["item"]), text(&vote["values"]["type"]))).collect()
}

/// Fills in the trial of one person, the first `wrong` answers wrongly, and gives it back.
fn answered(ws: &Workspace, who: &str, gold: &BTreeMap<String, String>, wrong: usize, most: usize) -> String {
    let args = ["review", "export", "type", "--recipe", "flub", "--format", "jsonl", "--gold", "gold.jsonl"];
    let said = ws.call(args.iter().chain(&["--annotator", who, "--out", "trials"])).expect(0);
    let path = said.out.trim().to_string();
    let rows: Vec<Value> = ws.read(&path).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut items: Vec<&str> = rows.iter().filter_map(|row| row["item"].as_str()).collect();
    items.sort_unstable();
    assert!(items.iter().copied().eq(gold.keys().map(String::as_str)), "{items:?}");
    let mut text = String::new();
    for (at, mut row) in rows.into_iter().filter(|row| row["item"].is_string()).take(most).enumerate() {
        let right = &gold[row["item"].as_str().unwrap()];
        let other = if right == "paradox" { "reasoning_error" } else { "paradox" };
        row["answers"] = json!({ "type": if at < wrong { other } else { right.as_str() } });
        text.push_str(&format!("{row}\n"));
    }
    ws.write(&path, text);
    path
}

#[test]
fn trials_on_known_answers_say_who_may_vote() {
    let ws = Workspace::sample();
    ws.call(["run", "--recipe", "flub", "--offline"]).expect(0);
    let gold: BTreeMap<String, String> = known(&ws).into_iter().take(25).collect();
    assert_eq!(gold.len(), 25);
    let lines = gold.iter().map(|(item, kind)| json!({ "item": item, "answers": { "type": kind } }));
    ws.write("gold.jsonl", lines.map(|line| format!("{line}\n")).collect::<String>());

    // 84 % is over 80 %, 80 % is not; 96 % is over 95 %; five answers are no trial.
    let trials = [
        ("junior-1", 4, 25, "formal"),
        ("junior-2", 5, 25, "failed"),
        ("junior-3", 0, 5, "too_few"),
        ("senior-1", 1, 25, "senior"),
    ];
    let files: Vec<String> =
        trials.iter().map(|(who, wrong, of, _)| answered(&ws, who, &gold, *wrong, *of)).collect();
    let args = ["review", "qualify", "type", "--recipe", "flub", "--gold", "gold.jsonl"];
    let files = files.iter().map(String::as_str);
    let said = ws.call(args.into_iter().chain(files.clone()).chain(["--json"])).expect(0);
    let told: Value = serde_json::from_str(&said.out).unwrap();
    for (row, (who, wrong, of, level)) in told.as_array().unwrap().iter().zip(trials) {
        assert_eq!(*row, json!({ "annotator": who, "right": of - wrong, "of": of, "level": level }));
    }
    let told = ws.call(args.into_iter().chain(files)).expect(0).out;
    assert!(told.contains("senior-1       24 of 25 right (96 %): may be a senior"), "{told}");
    let stored = fs::read_dir(ws.path("raw/votes"))
        .map_or(0, |files| files.map(|file| file.unwrap().metadata().unwrap().len()).sum());
    assert_eq!(stored, 0, "a trial is graded, not stored");

    // A line that cannot be used is named; half a trial would be another trial.
    ws.write(
        "gold.jsonl",
        ws.read("gold.jsonl") + "{\"item\": \"tieba:1\", \"answers\": {\"type\": \"pun\"}}\n",
    );
    let said = ws.call(args).expect(2);
    assert!(said.err.contains("gold.jsonl: line 26: no item \"tieba:1\""), "{}", said.err);
}

#[test]
fn known_items_are_mixed_into_every_queue() {
    let ws = Workspace::sample();
    ws.call(["run", "--recipe", "flub", "--offline"]).expect(0);
    let gold: Vec<(String, String)> = known(&ws).into_iter().take(10).collect();
    let lines = gold.iter().map(|(item, kind)| json!({ "item": item, "answers": { "type": kind } }));
    ws.write("gold.jsonl", lines.map(|line| format!("{line}\n")).collect::<String>());
    let assign = ["review", "assign", "type", "--recipe", "flub", "--overlap", "0.5"];
    let shares = ["--gold", "gold.jsonl", "--gold-share", "0.2"];
    ws.call(assign.iter().chain(&shares)).expect(0);
    let queue = |who: &str| -> Vec<String> {
        let args = ["review", "export", "type", "--recipe", "flub", "--format", "jsonl", "--out", "queues"];
        let path = ws.call(args.iter().chain(&["--annotator", who])).expect(0).out.trim().to_string();
        let rows = ws.read(&path);
        let rows = rows.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        rows.filter_map(|row| Some(row["item"].as_str()?.to_string())).collect()
    };
    for who in ["junior-1", "junior-2", "junior-3"] {
        let items = queue(who);
        let known = items.iter().filter(|item| gold.iter().any(|(gold, _)| gold == *item)).count();
        assert!(known as f64 >= 0.2 * items.len() as f64, "{who}: {known} of {}", items.len());
        assert!(!items.is_empty());
    }
    assert!(ws.call(assign.iter().chain(&["--gold", "gold.jsonl"])).expect(2).err.contains("--gold-share"));
}
