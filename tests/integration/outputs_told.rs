//! What files of outputs lack, and what is assumed of them, is told: rows of a table that is cut, rows without an answer, tasks that
//! are not named, models that are several, logs that did not end, options in another order, and names of people.

use serde_json::{Value, json};

use crate::harness::{CallResult, Workspace};
use crate::own::{TWISTERS, example};

const OPTIONS: [&str; 4] = ["A barrel.", "A jar.", "A bottle.", "A shoe."];

/// Seven riddles, whose answer is the bottle.
fn riddles() -> Workspace {
    let ws = example(TWISTERS);
    let row = |at: usize| {
        json!({
            "id": format!("BT-{at}"), "riddle": format!("What has {at} necks?"), "options": OPTIONS, "answer": "C",
            "hint": "It is made of glass.", "source_id": format!("riddle:{at}"), "standing": "confirmed",
        })
    };
    ws.write("rows.jsonl", (1..=7).map(|at| format!("{}\n", row(at))).collect::<String>());
    ws
}

fn evaluate(ws: &Workspace, outputs: &[&str], code: i32) -> CallResult {
    let call = ["evaluate", "rows.jsonl", "--resamples", "50", "--out", "results", "--outputs"];
    ws.call(call.iter().chain(outputs)).expect(code)
}

fn lines(ws: &Workspace, name: &str) -> Vec<Value> {
    let text = ws.read(&format!("results/{name}.jsonl"));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn output(at: usize, task: &str, text: &str) -> String {
    let task = format!("{TWISTERS}/{task}");
    format!("{}\n", json!({ "item": format!("BT-{at}"), "model": "m", "task": task, "text": text }))
}

/// A figure with its n.
fn figure(ws: &Workspace, column: &str) -> (f64, u64) {
    let report: Value = serde_json::from_str(&ws.read("results/evaluation.json")).unwrap();
    let table = report["tables"].as_array().unwrap().iter().find(|table| table["name"] == "hints").unwrap();
    let columns = table["columns"].as_array().unwrap();
    let at = columns.iter().position(|title| title == column).unwrap();
    let cell = &table["rows"][0]["cells"][at];
    assert!(cell["low"].is_number(), "{cell}");
    (cell["value"].as_f64().unwrap(), cell["n"].as_u64().unwrap())
}

#[test]
fn a_cut_table_of_outputs_loses_one_row_and_says_which() {
    let ws = riddles();
    let row = |at: usize, text: &str| format!("BT-{at},m,{TWISTERS}/solve,{text}\n");
    let mut table = "item,model,task,text\n".to_owned();
    table += &row(1, "C");
    table += &row(2, "\"C, I think");
    table += &(3..=6).map(|at| row(at, "C")).collect::<String>();
    table += &row(7, "");
    ws.write("cut.csv", table);
    let told = evaluate(&ws, &["cut.csv"], 3).err;
    assert!(told.contains("cut.csv:line 3: a quotation mark is opened in cell 4 and never closed"), "{told}");
    assert!(told.contains("1 of 7 rows of brain-twisters/solve, 0-shot, have no answer of m"), "{told}");
    assert_eq!(lines(&ws, "set_aside").len(), 1);
    let answers = lines(&ws, "answers");
    assert_eq!(answers.len(), 6, "the rows below it are read");
    // An empty cell is an answer without a word.
    assert_eq!((&answers[5]["item"], &answers[5]["correct"]), (&json!("BT-7"), &json!(false)));
}

#[test]
fn rows_without_an_answer_are_told_and_a_difference_is_over_the_rows_of_both() {
    let ws = riddles();
    let mut outputs: String = (1..=7).map(|at| output(at, "solve", if at < 4 { "C" } else { "A" })).collect();
    outputs += &(1..=3).map(|at| output(at, "solve-with-hint", "C")).collect::<String>();
    ws.write("m.jsonl", outputs);
    let told = evaluate(&ws, &["m.jsonl"], 3).err;
    assert!(
        told.contains("4 of 7 rows of brain-twisters/solve-with-hint, 0-shot, have no answer of m"),
        "{told}"
    );
    let missing = lines(&ws, "missing");
    assert_eq!(
        (missing.len(), &missing[0]["item"], &missing[0]["reason"]),
        (4, &json!("BT-4"), &json!("no_output"))
    );
    assert_eq!(figure(&ws, "With"), (100.0, 3));
    let without = figure(&ws, "Without");
    assert!((without.0 - 300.0 / 7.0).abs() < 1e-9 && without.1 == 7, "{without:?}");
    assert_eq!(figure(&ws, "Gain"), (0.0, 3));
    // A task that no file answers is not asked.
    ws.write("m.jsonl", (1..=7).map(|at| output(at, "solve", "C")).collect::<String>());
    assert!(!evaluate(&ws, &["m.jsonl"], 0).err.contains("have no answer"));
}

#[test]
fn what_an_output_does_not_name_is_told() {
    let ws = riddles();
    let line = |at: usize, more: Value| {
        let mut line = json!({ "item": format!("BT-{at}"), "text": "C" });
        line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        format!("{line}\n")
    };
    let all = |more: Value| (1..=7).map(|at| line(at, more.clone())).collect::<String>();
    ws.write("unnamed.jsonl", all(json!({ "model": "m" })));
    let told = evaluate(&ws, &["unnamed.jsonl"], 0).err;
    assert!(
        told.contains("7 outputs without `task` read as of brain-twisters/solve, though brain-twisters/solve-with-hint fits"),
        "{told}"
    );
    // The name of a task within its benchmark is enough, and another one is not taken for a task of another benchmark.
    ws.write("short.jsonl", all(json!({ "model": "m", "task": "solve" })));
    assert!(!evaluate(&ws, &["short.jsonl"], 0).err.contains("without `task`"));
    assert_eq!(lines(&ws, "answers")[0]["task"], "brain-twisters/solve");
    ws.write("null.jsonl", all(json!({ "model": "m", "task": "solve", "text": null })));
    evaluate(&ws, &["null.jsonl"], 0);
    assert_eq!(lines(&ws, "answers")[0]["correct"], false);
    // One name for two models is refused.
    ws.write(
        "two.jsonl",
        line(1, json!({ "model": "a", "task": "solve" }))
            + &line(1, json!({ "model": "b", "task": "solve" })),
    );
    let told = evaluate(&ws, &["mine=two.jsonl"], 2).err;
    assert!(
        told.contains("it holds answers of several models, a, b, and mine= would make them one"),
        "{told}"
    );
    ws.write("texts/b.txt", "C");
    let told = evaluate(&ws, &["texts"], 2).err;
    assert!(told.contains("no file in it has the name of outputs: ") && told.contains("b.txt"), "{told}");
    ws.write("texts/a.jsonl", all(json!({ "model": "m", "task": "solve" })));
    let told = evaluate(&ws, &["texts"], 0).err;
    assert!(
        told.contains("Not read, because their names are not those of outputs: ") && told.contains("b.txt"),
        "{told}"
    );
}

#[test]
fn logs_of_inspect_that_are_cut_refused_unended_or_in_another_order_are_told() {
    let ws = riddles();
    let sample = |at: usize, choices: [&str; 4], text: &str, reason: &str| {
        json!({
            "id": format!("BT-{at}"), "choices": choices, "metadata": { "task": "brain-twisters/solve" },
            "output": { "completion": text, "choices": [{ "stop_reason": reason }] },
        })
    };
    let turned = ["A bottle.", "A shoe.", "A barrel.", "A jar."];
    let samples = [
        sample(1, OPTIONS, "ANSWER: C", "stop"),
        sample(2, turned, "ANSWER: A", "stop"),
        sample(3, turned, "I think it is B.", "stop"),
        sample(4, OPTIONS, "ANSWER: C", "max_tokens"),
        sample(5, OPTIONS, "ANSWER: C", "content_filter"),
        sample(6, ["A bottle.", "A shoe.", "A barrel.", "A swan."], "ANSWER: A", "stop"),
    ];
    ws.write(
        "log.json",
        json!({ "status": "cancelled", "eval": { "model": "m" }, "samples": samples }).to_string(),
    );
    let told = evaluate(&ws, &["log.json"], 3).err;
    assert!(told.contains("the log's status is \"cancelled\": it did not come to its end"), "{told}");
    assert!(told.contains("\"BT-6\" has other options than the model was shown"), "{told}");
    assert!(told.contains("1 reply of 5 cut, and counted as wrong"), "{told}");
    let results: Vec<(Value, Value)> = lines(&ws, "answers")
        .into_iter()
        .map(|answer| (answer["chosen"].clone(), answer["no_answer"].clone()))
        .collect();
    assert_eq!(
        results,
        [
            (json!("C"), Value::Null),
            (json!("C"), Value::Null),
            (json!("D"), Value::Null),
            (Value::Null, json!("cut")),
            (Value::Null, json!("refused")),
        ]
    );
}

#[test]
fn several_replies_of_lm_eval_are_samples_or_told() {
    let ws = riddles();
    let line = |at: usize, options: [&str; 4], replies: &[&str]| {
        let doc = json!({ "id": format!("BT-{at}"), "task": "brain-twisters/solve", "options": options });
        format!("{}\n", json!({ "doc": doc, "resps": [replies], "filtered_resps": [replies[0]] }))
    };
    let turned = ["A bottle.", "A shoe.", "A barrel.", "A jar."];
    let rest: String = (3..=7).map(|at| line(at, OPTIONS, &["C"])).collect();
    ws.write("m/samples_x.jsonl", line(1, OPTIONS, &["C", "B", "B"]) + &line(2, turned, &["A"]) + &rest);
    let told = evaluate(&ws, &["m/samples_x.jsonl"], 3).err;
    assert_eq!(told.matches("a further answer of a model: the first is evaluated").count(), 2, "{told}");
    assert!(lines(&ws, "answers").iter().all(|answer| answer["correct"] == true));
}

#[test]
fn options_of_the_call_that_change_nothing_are_told() {
    let ws = riddles();
    let call = [
        "evaluate",
        "rows.jsonl",
        "--model",
        "random",
        "--shots",
        "3",
        "--cot",
        "--judge",
        "sample",
        "--out",
        "results",
    ];
    let told = ws.call(call).expect(0).err;
    let names = "brain-twisters/solve, brain-twisters/solve-with-hint";
    assert!(
        told.contains(&format!("No `shots` in the folder, so that --shots changes nothing: {names}")),
        "{told}"
    );
    assert!(
        told.contains(&format!("No `reasoned` in the folder, so that --cot changes nothing: {names}")),
        "{told}"
    );
    assert!(told.contains("No task here has a judge, so that --judge changes nothing"), "{told}");
}

#[test]
fn people_have_no_names_in_results() {
    let ws = riddles();
    ws.call(["evaluate", "rows.jsonl", "--model", "random", "--write-ballots", "sheets"]).expect(0);
    let sheet = ws.read("sheets/choose.csv");
    let mut reader = csv::Reader::from_reader(sheet.trim_start_matches('\u{feff}').as_bytes());
    let who = "Ann Smith, ann@example.com";
    let vote = |row: csv::StringRecord| {
        format!("{}\n", json!({ "ballot": &row[0], "answer": "A bottle.", "annotator": who }))
    };
    let votes: String = reader.records().map(Result::unwrap).map(vote).collect();
    ws.write("votes.jsonl", votes.repeat(2));
    let result =
        ws.call(["evaluate", "rows.jsonl", "--ballots", "votes.jsonl", "--out", "results"]).expect(3);
    let files = ["answers.jsonl", "evaluation.json", "set_aside.jsonl", "report.html"];
    let all = result.out + &result.err + &files.map(|file| ws.read(&format!("results/{file}"))).concat();
    assert!(!all.contains("Ann Smith") && !all.contains("ann@example.com"), "{all}");
    assert!(all.contains("has voted on this ballot before") && all.contains("person-"), "{all}");
    let people = lines(&ws, "answers");
    assert!(people.iter().all(|answer| answer["correct"] == true && answer["person"] == true), "{people:?}");
}
