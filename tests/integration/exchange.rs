//! Sets compared with published ones, and rows for other programs.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::harness::{Workspace, reference};
use crate::reviewed::{GEN, Reviewed};

type Item = Map<String, Value>;

/// The items of a published file, with its bare NaN as null.
fn items(path: &Path) -> Vec<Item> {
    let text = std::fs::read_to_string(path).unwrap().replace(": NaN", ": null");
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn lines(items: &[Item]) -> String {
    items.iter().map(|item| serde_json::to_string(item).unwrap() + "\n").collect()
}

fn compared(ws: &Workspace, set: &str, reference: &str, more: &[&str], code: i32) -> Value {
    let result = ws.call(["compare", set, reference, "--json"].iter().chain(more)).expect(code);
    serde_json::from_str(&result.out).unwrap()
}

#[test]
fn a_published_set_is_itself() {
    let Some(reference) = reference() else { return };
    let ws = Workspace::folder();
    for entry in std::fs::read_dir(reference.join("data/reference")).unwrap() {
        let path = entry.unwrap().path();
        let file = path.to_str().unwrap();
        let found = compared(&ws, file, file, &[], 0);
        assert_eq!(found["exact"], found["reference"], "{file}");
        for (label, agreement) in found["labels"].as_object().unwrap() {
            assert_eq!(agreement["percent"], 1.0, "{file} {label}");
        }
        println!("compare: {} published items of {}", found["exact"], path.file_stem().unwrap().display());
    }
}

#[test]
fn planted_edits_are_found_and_nothing_else() {
    let Some(reference) = reference() else { return };
    let ws = Workspace::folder();
    let published = items(&reference.join("data/reference/flub-dev.jsonl"));
    ws.write("reference.jsonl", lines(&published));
    let mut edited = published.clone();
    let drifts = edited.iter().position(|i| i["text"].as_str().unwrap().ends_with('？')).unwrap();
    let typed: Vec<usize> =
        (0..edited.len()).filter(|i| *i != drifts && edited[*i]["type"].is_string()).collect();
    let (retyped, explained, lost) = (typed[0], typed[1], typed[2]);
    let to = if edited[retyped]["type"] == "悖论" { "文字游戏" } else { "悖论" };
    edited[retyped]["type"] = json!(to);
    edited[explained]["explanation"] = json!("别的解释。");
    let text = edited[drifts]["text"].as_str().unwrap().trim_end_matches('？').to_string();
    edited[drifts]["text"] = json!(text);
    let mut new = edited[typed[3]].clone();
    new["text"] = json!("这条是为了这个测试新写的，公开的文件里没有它。");
    edited.push(new);
    edited.remove(lost);
    ws.write("edited.jsonl", lines(&edited));

    let found = compared(&ws, "edited.jsonl", "reference.jsonl", &[], 1);
    let named = |list: &Value| -> Vec<String> {
        list.as_array().unwrap().iter().map(|row| row["item"].as_str().unwrap().to_string()).collect()
    };
    let id = |at: usize| published[at]["id"].as_str().unwrap().to_string();
    assert_eq!(found["exact"], published.len() - 2);
    assert_eq!(named(&found["near"]), [id(drifts)]);
    assert_eq!(named(&found["missing"]), [id(lost)]);
    assert_eq!(found["extra"], 1);
    let mut differing: Vec<(String, String)> = found["differing"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| (f["item"].as_str().unwrap().into(), f["column"].as_str().unwrap().into()))
        .collect();
    differing.sort();
    let mut want = vec![(id(retyped), "type".to_string()), (id(explained), "explanation".to_string())];
    want.sort();
    assert_eq!(differing, want);
    let agreement = &found["labels"]["type"];
    assert!(agreement["kappa"].as_f64().unwrap() > 0.98 && agreement["percent"].as_f64().unwrap() < 1.0);
    let actual = ws.call(["compare", "edited.jsonl", "reference.jsonl"]).expect(1).out;
    assert!(actual.contains("1 nearly, 1 missing; 1 not in the reference"), "{actual}");
}

#[test]
fn published_types_are_the_papers() {
    let Some(reference) = reference() else { return };
    let ws = Workspace::folder();
    let published = items(&reference.join("data/reference/flub-dev.jsonl"));
    ws.write("reference.jsonl", lines(&published));
    // The paper's eight types, as in a rebuilt set.
    let paper = BTreeMap::from([
        ("谐音", "字音错误"),
        ("多音字", "字音错误"),
        ("偷换词义/字义", "歧义"),
        ("违反常识", "事实性错误"),
    ]);
    let mut ours = published.clone();
    let mut mapped = 0;
    for item in &mut ours {
        if let Some(to) = item["type"].as_str().and_then(|kind| paper.get(kind)) {
            item["type"] = json!(to);
            mapped += 1;
        }
    }
    assert!(mapped > 0);
    ws.write("ours.jsonl", lines(&ours));
    let found = compared(&ws, "ours.jsonl", "reference.jsonl", &[], 0);
    assert_eq!(found["labels"]["type"]["percent"], 1.0);
    // The mapping is a file: another one gives another comparison.
    ws.write("map.json", "{}");
    let found = compared(&ws, "ours.jsonl", "reference.jsonl", &["--map", "map.json"], 1);
    assert_eq!(found["differing"].as_array().unwrap().len(), mapped);
}

#[test]
fn published_rows_put_in_as_reviewed_items_come_out_as_published() {
    let Some(reference) = reference() else { return };
    let file = reference.join("data/reference/ruozhibench-gen-dev.jsonl");
    let published = items(&file);
    let mut people = Reviewed::new();
    people.add(&published);
    let result = people.ws.call(["release", GEN, "--adopt", file.to_str().unwrap()]).expect(0);
    assert!(result.out.contains(&format!("{} found here", published.len())), "{}", result.out);
    people.run();
    people.release(&[]).expect(0);
    let compat = people.ws.read(&format!("output/{GEN}/1.0.0/compat/ruozhibench_gen.jsonl"));
    let rows: Vec<&str> = compat.lines().collect();
    assert_eq!(rows.len(), published.len());
    for (row, item) in rows.iter().zip(&published) {
        assert_eq!(*row, serde_json::to_string(item).unwrap());
    }
    println!("ruozhibench-gen: {} published items put in, {} come out", published.len(), rows.len());
    let set = format!("output/{GEN}/1.0.0/compat/ruozhibench_gen.jsonl");
    compared(&people.ws, &set, file.to_str().unwrap(), &[], 0);
    // A number that belongs to another item is not adopted.
    let mut other = published[..2].to_vec();
    other[0]["index"] = published[1]["index"].clone();
    other.truncate(1);
    people.ws.write("other.jsonl", lines(&other));
    let result = people.ws.call(["release", GEN, "--adopt", "other.jsonl"]).expect(2);
    assert!(result.err.contains("cannot be adopted"), "{}", result.err);
}

#[test]
fn what_is_missing_names_the_stage_that_lost_it() {
    let ws = Workspace::sample();
    ws.call(["run", "--recipe", GEN, "--offline"]).expect(0);
    let shown =
        ws.call(["show", "filter", "--recipe", GEN, "--outcome", "dropped", "--limit", "1", "--json"]);
    let shown: Value = serde_json::from_str(&shown.expect(0).out).unwrap();
    let text = find_text(&shown).unwrap();
    let item = json!({ "question_zh": text, "index": 1 });
    let never = json!({ "question_zh": "这句话谁也没有发过，也没有哪个文件里有。", "index": 2 });
    ws.write("reference.jsonl", format!("{item}\n{never}\n"));
    let found = compared(&ws, &format!("output/{GEN}/candidate"), "reference.jsonl", &[], 1);
    assert_eq!(found["missing"].as_array().unwrap().len(), 2);
    let lost = found["missing"][0]["lost"].as_str().unwrap();
    // The post, where it stands, and what became of it.
    assert!(lost.contains("(sample-") && lost.contains("): filter dropped "), "{found}");
    assert_eq!(found["missing"][1]["lost"], Value::Null);
}

fn find_text(value: &Value) -> Option<String> {
    match value {
        Value::Object(map) => map
            .get("text")
            .and_then(Value::as_str)
            .map(str::to_string)
            .or_else(|| map.values().find_map(find_text)),
        Value::Array(list) => list.iter().find_map(find_text),
        _ => None,
    }
}

#[test]
fn stages_differ_by_what_a_stage_did() {
    let ws = Workspace::sample();
    ws.call(["run", "--recipe", GEN, "--offline"]).expect(0);
    let stage = |name: &str| format!("staged/{GEN}/{name}");
    let result = ws.call(["diff", &stage("04_filter"), &stage("05_dedup"), "--json"]).expect(1);
    let found: Value = serde_json::from_str(&result.out).unwrap();
    let found = &found["configs"][0];
    let removed = found["removed"].as_array().unwrap();
    assert!(!removed.is_empty() && found["added"].as_array().unwrap().is_empty());
    for row in removed {
        assert!(row["cause"].as_str().unwrap().starts_with("dedup merged "), "{row}");
    }
    // Drafts and reviews have other columns than posts.
    let result = ws.call(["diff", &stage("09_translate"), &stage("10_review-translation")]);
    let other = ws.call(["diff", &stage("09_translate"), &stage("09_translate")]).expect(0);
    assert!(other.out.contains("0 added, 0 removed, 0 changed"), "{}", other.out);
    assert!(result.code == 1 || result.err.contains("review"), "{} {}", result.out, result.err);
}

#[test]
fn rows_go_out_in_every_form() {
    let ws = Workspace::sample();
    ws.call(["run", "--recipe", GEN, "--offline"]).expect(0);
    let rows = ws.candidates(GEN);
    let candidate = format!("output/{GEN}/candidate");
    for (form, file) in
        [("label-studio", "l.json"), ("argilla", "a.jsonl"), ("csv", "c.csv"), ("xlsx", "x.xlsx")]
    {
        let result = ws.call(["export", &candidate, form, file]).expect(0);
        assert!(result.err.contains(&format!("{} rows", rows.len())), "{}", result.err);
    }
    let tasks: Vec<Value> = serde_json::from_str(&ws.read("l.json")).unwrap();
    assert_eq!(tasks.len(), rows.len());
    assert!(tasks.iter().zip(&rows).all(|(task, row)| task["data"] == *row));
    let records = ws.read("a.jsonl");
    for (line, row) in records.lines().zip(&rows) {
        let record: Value = serde_json::from_str(line).unwrap();
        assert_eq!((&record["id"], &record["fields"]["question_zh"]), (&row["id"], &row["question_zh"]));
        assert_eq!(record["fields"]["categories"], row["categories"]);
        assert_eq!(record["metadata"]["source_id"], row["source_id"]);
    }
    let text = ws.read("c.csv");
    let mut table = csv::Reader::from_reader(text.trim_start_matches('\u{feff}').as_bytes());
    let headers: Vec<String> = table.headers().unwrap().iter().map(str::to_string).collect();
    assert!(headers.iter().eq(rows[0].as_object().unwrap().keys()));
    let zh = headers.iter().position(|h| h == "question_zh").unwrap();
    for (record, row) in table.records().zip(&rows) {
        assert_eq!(&record.unwrap()[zh], row["question_zh"].as_str().unwrap());
    }
    let mut book: calamine::Xlsx<_> = calamine::open_workbook(ws.path("x.xlsx")).unwrap();
    let sheet = calamine::Reader::worksheet_range_at(&mut book, 0).unwrap().unwrap();
    assert_eq!(sheet.get_size(), (rows.len() + 1, headers.len()));
    assert_eq!(
        sheet.get_value((1, zh as u32)).unwrap().to_string(),
        rows[0]["question_zh"].as_str().unwrap()
    );
}
