//! Figures of labels as classes in a folder's tables: precision, recall, F1, Matthews' correlation, false positives and
//! negatives, and right among attempted, each with its interval.

use serde_json::{Value, json};

use crate::harness::Workspace;
use crate::own::example;
use crate::own_columns::{LINES, vote_on_lines};

const TABLE: &str = r#"
[table.classes]
title = "Kinds of error as classes"
[table.classes.columns]
Precision = { precision = "kind", of = "literal" }
Recall = { recall = "kind", of = "literal" }
F1 = { f1 = "kind", of = "literal" }
MCC = { mcc = "kind", of = "literal" }
FPR = { fpr = "kind", of = "literal" }
FNR = { fnr = "kind", of = "literal" }
Micro = { recall = "kind", average = "micro" }
Right = { accuracy = "kind" }
"Right of attempted" = { accuracy_of_attempted = "kind" }
"#;

const FOLDER: &str = "benchmarks/loan-lines/benchmark.toml";

fn with(table: &str) -> Workspace {
    let ws = example(LINES);
    let settings = ws.read("pipeline.toml").replace("sample = \"raw/sample/votes.jsonl\"", "");
    ws.write("pipeline.toml", settings);
    ws.write(FOLDER, ws.read(FOLDER) + table);
    ws
}

#[test]
fn each_figure_of_labels_is_that_of_the_counts_and_has_an_interval() {
    let ws = with(TABLE);
    vote_on_lines(&ws);
    ws.call(["release", LINES]).expect(0);
    let rows = ws.candidates(LINES);
    // The first literal row is missed, the first other one taken for literal, and one reply has no label.
    let literal: Vec<bool> = rows.iter().map(|row| row["kind"] == "literal").collect();
    let of_kind = |kind: bool| literal.iter().filter(|literal| **literal == kind).count() as f64;
    let (positives, negatives) = (of_kind(true), of_kind(false));
    assert!(positives >= 2.0 && negatives >= 3.0, "{rows:?}");
    let first = |kind: bool| literal.iter().position(|literal| *literal == kind).unwrap();
    let silent = literal.iter().enumerate().filter(|(_, literal)| !**literal).nth(1).unwrap().0;
    let mut outputs = String::new();
    for (at, row) in rows.iter().enumerate() {
        let text = match at {
            at if at == first(true) => "none",
            at if at == first(false) => "literal",
            at if at == silent => "I cannot tell",
            _ => row["kind"].as_str().unwrap(),
        };
        let line = json!({ "item": row["id"], "task": "loan-lines/kind", "model": "half", "text": text });
        outputs += &format!("{line}\n");
    }
    ws.write("answers.jsonl", outputs);
    let call = ["evaluate", "loan-lines@1.0.0", "--outputs", "answers.jsonl", "--json"];
    let report: Value = serde_json::from_str(&ws.call(call).expect(0).out).unwrap();
    let tables = report[0]["report"]["tables"].as_array().unwrap();
    let table = tables.iter().find(|table| table["name"] == "classes").unwrap();
    let cells = table["rows"][0]["cells"].as_array().unwrap();
    let (found, all) = (positives - 1.0, positives + negatives);
    let named = found + 1.0;
    let mcc =
        (found * all - positives * named) / (positives * (all - positives) * named * (all - named)).sqrt();
    let expected = [
        found / named,
        found / positives,
        2.0 * found / (positives + named),
        mcc,
        1.0 / negatives,
        1.0 / positives,
        (all - 3.0) / all,
        (all - 3.0) / all,
        (all - 3.0) / (all - 1.0),
    ];
    assert_eq!(cells.len(), expected.len(), "{table}");
    for (at, (cell, expected)) in cells.iter().zip(expected).enumerate() {
        let value = cell["value"].as_f64().unwrap();
        assert!((value - 100.0 * expected).abs() < 1e-6, "column {at}: {value}, {expected}: {table}");
        assert!(cell["low"].as_f64() <= Some(value) && cell["high"].as_f64() >= Some(value), "{cell}");
    }
}

#[test]
fn what_a_figure_cannot_be_of_is_told_with_what_can() {
    for (columns, told) in [
        ("A = { fpr = 'kind' }", "`fpr` is of one label: `of` names it"),
        ("A = { recall = 'kind', of = 'litteral' }", "unknown label \"litteral\""),
        ("A = { recall = 'rate' }", "`recall` measures tasks with `label`"),
        ("A = { mcc = 'kind', average = 'micro' }", "`mcc` has no average"),
        ("A = { f1 = 'kind', average = 'mikro' }", "did you mean \"micro\"?"),
        ("A = { recal = 'kind' }", "a column has one of accuracy, accuracy_of_attempted"),
        (
            "A = { mcc = 'kind' }, B = { accuracy = 'kind' }, C = { geometric = ['A', 'B'] }",
            "`mcc` may be negative",
        ),
    ] {
        let ws = with(&format!("\n[table.x]\ntitle = \"X\"\ncolumns = {{ {columns} }}\n"));
        let checked = ws.call(["benchmark", "check"]).expect(2);
        assert!(
            checked.err.contains(told) && checked.err.contains("benchmark.toml:"),
            "{columns}: {}",
            checked.err
        );
    }
}
