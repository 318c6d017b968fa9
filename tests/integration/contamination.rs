//! `contamination`: rows that published sets have too, from files of any form, in memory and on disk, and what was not
//! compared.

use serde_json::{Value, json};

use crate::harness::Workspace;

const SET: &str = r#"{"id":"s1","text":"冰箱里的灯关门后还亮吗，我钻进去看过"}
{"id":"s2","text":"云会恐高吗"}
{"id":"s3","text":"鱼在水里会口渴吗，我问过它"}
"#;

fn workspace() -> Workspace {
    let ws = Workspace::folder();
    ws.write("set.jsonl", SET);
    // As published: an array, other columns, a token that is not JSON.
    ws.write(
        "published.json",
        r#"[{"question":"冰箱里的灯关了门还亮吗，我钻进去看过","score":NaN},{"question":"月亮为什么不掉下来"}]"#,
    );
    ws.write("table.csv", "id,text\n7,云会恐高吗？\n8,云会恐高吗\n9,太阳几点下班\n");
    ws
}

fn found(report: &Value) -> Vec<(String, String)> {
    let rows = report["found"].as_array().unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    rows.iter().map(|row| (text(&row["id"]), text(&row["other"]))).collect()
}

#[test]
fn rows_that_other_sets_have_are_named_by_file() {
    let ws = workspace();
    let line = ["contamination", "set.jsonl", "--against", "published.json", "table.csv"];
    let report: Value = serde_json::from_str(&ws.call(line.iter().chain(&["--json"])).expect(1).out).unwrap();
    assert_eq!((&report["rows"], &report["found"]), (&json!(3), &json!(2)));
    let against = report["against"].as_array().unwrap();
    assert_eq!(found(&against[0]), [("s1".to_owned(), "item 1".to_owned())]);
    assert_eq!(found(&against[1]).len(), 1);
    assert_eq!(found(&against[1])[0].0, "s2");
    assert_eq!(against[1]["pairs"], 2, "both copies of the table are pairs");
    let text = ws.call(line).expect(1).out;
    assert!(text.contains("set.jsonl: 2 of 3 rows shared"), "{text}");
    assert!(text.contains("s1: 冰箱里的灯关门后还亮吗") && text.contains("as item 1: 冰箱"), "{text}");
}

#[test]
fn disk_finds_what_memory_finds_and_pairs_are_all_of_them() {
    let ws = workspace();
    let line = ["contamination", "set.jsonl", "--against", "published.json", "table.csv", "--json"];
    let memory = ws.call(line.iter().chain(&["--pairs", "memory.jsonl"])).expect(1).out;
    let disk = ["--on-disk", ".", "--memory", "1", "--pairs", "disk.jsonl"];
    assert_eq!(ws.call(line.iter().chain(&disk)).expect(1).out, memory);
    assert_eq!(ws.read("disk.jsonl"), ws.read("memory.jsonl"));
    let pairs: Vec<Value> =
        ws.read("memory.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let named: Vec<(&str, &str, &str)> = pairs
        .iter()
        .map(|pair| {
            let text = |key: &str| pair[key].as_str().unwrap();
            (text("a"), text("against"), text("b"))
        })
        .collect();
    let wanted = [("s1", "published.json", "item 1"), ("s2", "table.csv", "7"), ("s2", "table.csv", "8")];
    assert_eq!(named, wanted);
    assert_eq!(std::fs::read_dir(ws.root()).unwrap().count(), 5, "no working file is left");
}

#[test]
fn what_is_not_compared_is_said() {
    let ws = workspace();
    ws.write("clean.jsonl", "{\"text\":\"太阳几点下班\"}\n");
    ws.call(["contamination", "set.jsonl", "--against", "clean.jsonl"]).expect(0);
    ws.write("holes.jsonl", "{\"text\":\"太阳几点下班\"}\nno row\n{\"id\":3,\"text\":null}\n");
    let result = ws.call(["contamination", "set.jsonl", "--against", "holes.jsonl"]).expect(3);
    assert!(result.out.contains("1 row without a text") && result.out.contains("line 2: "), "{}", result.out);
    // A file whose texts are in a column of its own.
    ws.write("own.csv", "nr,witz\n1,云会恐高吗\n");
    let result = ws.call(["contamination", "set.jsonl", "--against", "own.csv"]).expect(2);
    assert!(result.err.contains("nr, witz") && result.err.contains("--column"), "{}", result.err);
    ws.call(["contamination", "set.jsonl", "--against", "own.csv", "--column", "witz"]).expect(1);
    let result =
        ws.call(["contamination", "set.jsonl", "--against", "own.csv", "--column", "witze"]).expect(2);
    assert!(result.err.contains("witze"), "{}", result.err);
    ws.write("empty.jsonl", "");
    let result = ws.call(["contamination", "set.jsonl", "--against", "empty.jsonl"]).expect(2);
    assert!(result.err.contains("empty.jsonl has no rows"), "{}", result.err);
    let result = ws.call(["contamination", "set.jsonl", "--against", "clean.jsonl", "none.jsonl"]).expect(4);
    assert!(result.out.is_empty() && result.err.contains("none.jsonl"), "{}", result.err);
    ws.write("page.html", "<!DOCTYPE html><html><body>moved</body></html>");
    let result = ws.call(["contamination", "set.jsonl", "--against", "page.html"]).expect(4);
    assert!(result.err.contains("page.html"), "{}", result.err);
}

#[test]
fn a_candidate_shares_every_row_with_itself() {
    let ws = Workspace::sample();
    ws.call(["run", "--offline", "--recipe", "flub"]).expect(0);
    let set = "output/flub/candidate";
    let out = ws.call(["contamination", set, "--against", set, "--json"]).expect(1).out;
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(report["found"], report["rows"]);
    // Its published form has other columns, and the same texts.
    let published = format!("{set}/compat/FLUB.jsonl");
    let out = ws.call(["contamination", set, "--against", &published, "--json"]).expect(1).out;
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(report["found"], report["rows"]);
}

#[test]
fn english_is_read_as_english_against_another_set() {
    let ws = Workspace::folder();
    ws.write("rows.jsonl", "{\"id\":1,\"text\":\"Why don't cats like to swim in the cold sea?\"}\n");
    ws.write("other.jsonl", "{\"id\":\"e\",\"text\":\"Why do not cats like to swim in the cold sea?\"}\n");
    let both = ws.shell("cat rows.jsonl other.jsonl | \"$0\" apply dedup").expect(0).out;
    let merged = both.lines().filter(|line| line.contains("\"merged\"")).count();
    let against = ws.shell("\"$0\" apply dedup --against other.jsonl < rows.jsonl").expect(0).out;
    let row: Value = serde_json::from_str(&against).unwrap();
    assert_eq!(row["resembles"].is_null(), merged == 0, "{both}{against}");
    let code = if merged == 0 { 0 } else { 1 };
    ws.call(["contamination", "rows.jsonl", "--against", "other.jsonl"]).expect(code);
}
