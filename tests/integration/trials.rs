//! Trials on items with known answers, and such items mixed into queues.

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value, json};

use crate::harness::Workspace;

/// The type chosen by the first of the sample's juniors, by item.
pub fn known(ws: &Workspace) -> BTreeMap<String, String> {
    let votes = ws.read("raw/sample/votes.jsonl");
    let votes = votes.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let ours =
        |vote: &Value| vote["recipe"] == "flub" && vote["step"] == "type" && vote["annotator"] == "junior-1";
    let text = |value: &Value| value.as_str().unwrap().to_string();
    votes.filter(ours).map(|vote| (text(&vote["item"]), text(&vote["values"]["type"]))).collect()
}

/// Fills in the trial of one person, the first `wrong` answers wrongly, and returns it.
fn answered(ws: &Workspace, who: &str, gold: &BTreeMap<String, String>, wrong: usize, most: usize) -> String {
    let args = ["review", "export", "type", "--recipe", "flub", "--format", "jsonl", "--gold", "gold.jsonl"];
    let result = ws.call(args.iter().chain(&["--annotator", who, "--out", "trials"])).expect(0);
    let path = result.out.trim().to_string();
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

    // 84 % exceeds 80 %, 80 % does not; 96 % exceeds 95 %; five answers are not a trial.
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
    let result = ws.call(args.into_iter().chain(files.clone()).chain(["--json"])).expect(0);
    let actual: Value = serde_json::from_str(&result.out).unwrap();
    for (row, (who, wrong, of, level)) in actual.as_array().unwrap().iter().zip(trials) {
        assert_eq!(*row, json!({ "annotator": who, "right": of - wrong, "of": of, "level": level }));
    }
    let actual = ws.call(args.into_iter().chain(files)).expect(0).out;
    assert!(actual.contains("senior-1       24 of 25 right (96 %): may be a senior"), "{actual}");
    let votes = fs::read_dir(ws.path("raw/votes")).unwrap().map(|file| file.unwrap().path());
    assert_eq!(votes.filter(|path| path.is_file()).count(), 0, "no answer of a trial becomes a vote");

    // A graded person may vote as the grade says, whatever the settings say; others as the settings say.
    let assign = ["review", "assign", "type", "--recipe", "flub"];
    let result = ws.call(assign).expect(2);
    assert!(
        result.err.contains("3 different annotators are needed for each item, but 2 may vote"),
        "{}",
        result.err
    );
    assert!(result.err.contains("junior-2: their trial was not passed"), "{}", result.err);
    let of = |who: &str| {
        let args = ["review", "export", "type", "--recipe", "flub", "--format", "jsonl", "--annotator", who];
        ws.call(args.iter().chain(&["--out", "later"])).expect(0).out.trim().to_string()
    };
    for (who, code) in [("junior-1", 0), ("junior-2", 3), ("junior-3", 0)] {
        let path = of(who);
        let row = ws.read(&path).lines().next().unwrap().to_string();
        let mut row: Value = serde_json::from_str(&row).unwrap();
        row["answers"] = json!({ "type": "paradox" });
        ws.write(&path, format!("{row}\n"));
        let result = ws.call(["review", "import", "type", "--recipe", "flub", &path]).expect(code);
        assert!(code == 0 || result.err.contains("may not vote here: not qualified"), "{}", result.err);
    }
    let actual = ws.call(["review", "status", "--recipe", "flub"]).expect(0).out;
    assert!(actual.contains("may vote: 1 by a trial, 1 by qualified = true alone"), "{actual}");
    // Repeating the same trial adds no grade, and a better one counts.
    let again = |wrong: usize| {
        let path = answered(&ws, "junior-2", &gold, wrong, 25);
        ws.call(args.into_iter().chain([path.as_str()])).expect(0).out
    };
    assert!(again(5).contains("0 new grades stored"));
    assert!(again(0).contains("1 new grade stored"));
    ws.call(assign).expect(0);
    ws.call(["fsck"]).expect(0);

    // An unusable line is reported; half a trial would be another trial.
    ws.write(
        "gold.jsonl",
        ws.read("gold.jsonl") + "{\"item\": \"tieba:1\", \"answers\": {\"type\": \"pun\"}}\n",
    );
    let result = ws.call(args).expect(2);
    assert!(result.err.contains("gold.jsonl: line 26: no item \"tieba:1\""), "{}", result.err);
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

#[test]
fn texts_of_a_trial_are_graded_by_a_senior_who_does_not_see_whose_they_are() {
    let ws = Workspace::sample();
    ws.call(["run", "--recipe", "flub", "--offline"]).expect(0);
    let items: Vec<String> = known(&ws).into_keys().take(20).collect();
    let gold =
        |item: &String| format!("{}\n", json!({ "item": item, "answers": { "explanation": "已知。" } }));
    ws.write("gold.jsonl", items.iter().map(gold).collect::<String>());
    let mut files = Vec::new();
    for who in ["junior-1", "junior-2"] {
        let args = ["review", "export", "explanation", "--recipe", "flub", "--format", "jsonl"];
        let more = ["--gold", "gold.jsonl", "--annotator", who, "--out", "trials"];
        let path = ws.call(args.iter().chain(&more)).expect(0).out.trim().to_string();
        let mut text = String::new();
        for line in ws.read(&path).lines() {
            let mut row: Value = serde_json::from_str(line).unwrap();
            row["answers"] = json!({ "explanation": format!("{who} 的解释。").replace("junior-", "第") });
            text.push_str(&format!("{row}\n"));
        }
        ws.write(&path, text);
        files.push(path);
    }
    let qualify = ["review", "qualify", "explanation", "--recipe", "flub"];
    let given = |more: &[&str]| {
        let files = files.iter().map(String::as_str);
        ws.call(qualify.into_iter().chain(["--gold", "gold.jsonl"]).chain(more.iter().copied()).chain(files))
    };
    assert!(given(&[]).expect(2).err.contains("--sheet FILE.csv"));
    assert!(given(&["--sheet", "grade.csv"]).expect(0).out.contains("40 answers to grade"));
    let sheet = ws.read("grade.csv");
    assert!(!sheet.contains("junior"), "{sheet}");
    // One gives correct answers, the other a wrong one in every fourth case.
    let mut turn = 0;
    let graded: Vec<String> = sheet
        .lines()
        .map(|line| {
            let row = line.trim_end_matches('\r');
            let grade = match (row.contains("第1"), row.contains("第2")) {
                (true, _) => "yes",
                (_, true) => {
                    turn += 1;
                    if turn % 4 == 0 { "no" } else { "是" }
                }
                _ => return row.to_string(),
            };
            format!("{row}{grade}")
        })
        .collect();
    ws.write("grade.csv", graded.join("\n"));
    let take = |by: &str| ws.call(qualify.into_iter().chain(["--graded", "grade.csv", "--by", by]));
    assert!(take("junior-3").expect(2).err.contains("is not a senior"));
    let actual = take("senior-1").expect(0).out;
    assert!(actual.contains("junior-1       20 of 20 right (100 %): may be a senior"), "{actual}");
    assert!(actual.contains("junior-2       15 of 20 right (75 %): may not vote"), "{actual}");
    let result = ws.call(["review", "assign", "explanation", "--recipe", "flub"]).expect(0);
    assert!(!result.out.contains("junior-2"), "{}", result.out);
}

#[test]
fn a_second_trial_is_counted_and_has_new_items_where_there_are_any() {
    let ws = Workspace::sample();
    ws.call(["run", "--recipe", "flub", "--offline"]).expect(0);
    let all = known(&ws);
    assert!(all.len() >= 28, "{}", all.len());
    let write = |gold: &BTreeMap<String, String>| {
        let lines = gold.iter().map(|(item, kind)| json!({ "item": item, "answers": { "type": kind } }));
        ws.write("gold.jsonl", lines.map(|line| format!("{line}\n")).collect::<String>());
    };
    let qualify = |file: &str| {
        let args =
            ["review", "qualify", "type", "--recipe", "flub", "--gold", "gold.jsonl", "--fewest", "8", file];
        ws.call(args).expect(0).out
    };
    let first: BTreeMap<String, String> = all.iter().take(8).map(|(a, b)| (a.clone(), b.clone())).collect();
    write(&first);
    let failed = qualify(&answered(&ws, "junior-1", &first, 4, 8));
    assert!(failed.contains("junior-1       4 of 8 right (50 %): may not vote\n"), "{failed}");
    // On the same items it is said how often they have tried, and that they knew the items.
    let again = qualify(&answered(&ws, "junior-1", &first, 0, 8));
    assert!(again.contains("attempt 2, in which 8 items had been in an earlier one"), "{again}");
    // Of more known answers the new ones are asked.
    write(&all);
    let new: BTreeMap<String, String> =
        all.into_iter().filter(|(item, _)| !first.contains_key(item)).collect();
    let third = qualify(&answered(&ws, "junior-1", &new, 0, 28));
    assert!(third.contains("; attempt 3\n"), "{third}");
}
