//! One figure, whether a report or an evaluation computes it: figure 4 of RuozhiBench on the published half, and the types of
//! FLUB (appendix D.2), whose published file names them otherwise.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::harness::{Workspace, reference};

/// A workspace with the settings of an example.
fn example(name: &str) -> Workspace {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(name);
    Workspace::with(&fs::read_to_string(folder.join("pipeline.toml")).unwrap())
}

/// What `report` computes of a recipe.
fn reported(ws: &Workspace, recipe: &str) -> Value {
    let json = ws.call(["report", "--recipe", recipe, "--json"]).expect(0).out;
    let json: Value = serde_json::from_str(&json).unwrap();
    json[0]["tables"].clone()
}

/// A table of `evaluate`.
fn evaluated(ws: &Workspace, folder: &str, table: &str) -> Value {
    let report: Value = serde_json::from_str(&ws.read(&format!("{folder}/evaluation.json"))).unwrap();
    let tables = report["tables"].as_array().unwrap();
    tables.iter().find(|found| found["name"] == table).unwrap_or_else(|| panic!("{table}: {report}")).clone()
}

/// Three models answer every published question, and two judges rate them; one of them does not rate every answer, so that
/// judges weigh equally only where their means do.
#[test]
fn figure_4_of_ruozhibench_is_one_figure() {
    let Some(reference) = reference() else { return };
    let ws = example("rebuild-ruozhibench-gen");
    let half = fs::read(reference.join("data/reference/ruozhibench-gen-dev.jsonl")).unwrap();
    ws.write("raw/published/ruozhibench_gen.jsonl", half);
    ws.call(["run", "--recipe", "ruozhibench-gen", "--offline", "-q"]).expect(0);
    let questions = ws.candidates("ruozhibench-gen");
    let (mut responses, mut ratings) = (String::new(), String::new());
    for (at, model) in ["m1", "m2", "m3"].into_iter().enumerate() {
        let mut answers = String::new();
        let mut judged = [String::new(), String::new()];
        for (place, row) in questions.iter().enumerate() {
            let item = row["source_id"].as_str().unwrap();
            let text = format!("Answer {place} of {model}.");
            responses += &format!("{}\n", json!({ "item": item, "model": model, "text": text }));
            let keys = json!({ "question_zh": row["question_zh"], "question_en": row["question_en"], "index": row["index"], "response": text });
            answers += &format!("{keys}\n");
            for (judge, lines) in judged.iter_mut().enumerate() {
                if judge == 1 && (place + at) % 5 == 0 {
                    continue;
                }
                let rating = (place * 7 + at * 3 + judge * 2) % 5;
                let of = format!("j{judge}");
                ratings += &format!(
                    "{}\n",
                    json!({ "item": item, "model": model, "judge": of, "rating": rating, "explanation": "So." })
                );
                let mut rated = keys.clone();
                rated["gen_rating"] = json!(rating);
                *lines += &format!("{rated}\n");
            }
        }
        ws.write(&format!("theirs/response_gen/{model}.jsonl"), answers);
        for (judge, lines) in judged.into_iter().enumerate() {
            ws.write(&format!("theirs/evaluation_gen/j{judge}/{model}.jsonl"), lines);
        }
    }
    ws.write("raw/responses/all.jsonl", responses);
    ws.write("raw/ratings/all.jsonl", ratings);
    ws.call(["run", "--recipe", "ruozhibench-mc", "--offline", "-q"]).expect(0);
    let set = ws.path("output/ruozhibench-gen/candidate").display().to_string();
    let args = ["evaluate", &set, "--outputs", "theirs/evaluation_gen", "theirs/response_gen"];
    ws.call(args.into_iter().chain(["--resamples", "10", "--out", "results"])).expect(0);
    let scores = evaluated(&ws, "results", "scores");
    let means = reported(&ws, "ruozhibench-mc")["means"].clone();
    let (means, rows) = (means.as_array().unwrap(), scores["rows"].as_array().unwrap());
    // The six categories in the order of the list, and all questions; the last row is the mean of the models.
    let mut compared = 0;
    for mean in means {
        let row = rows.iter().find(|row| row["name"] == mean["model"]).unwrap();
        let all = row["cells"].as_array().unwrap().len() - 1;
        let at = mean["category"].as_str().map_or(all, |code| code.parse::<usize>().unwrap() - 1);
        let [theirs, ours] =
            [&row["cells"][at]["value"], &mean["score"]].map(|score| score.as_f64().unwrap());
        assert!((theirs - ours).abs() < 1e-9, "{mean} in a report, {theirs} in an evaluation");
        compared += 1;
        if at == all {
            assert_eq!(mean["questions"], questions.len(), "every question of the set: {mean}");
        }
    }
    assert_eq!(compared, 3 * 7, "{means:?}");
}

/// Rows of a published FLUB with so many labels of each name.
fn labelled(counts: &[(&str, usize)]) -> String {
    let kinds = counts.iter().flat_map(|(kind, count)| std::iter::repeat_n(*kind, *count));
    let row = |(at, kind): (usize, &str)| {
        let options = json!({ "A": "双关。", "B": "甲", "C": "乙", "D": "丙" });
        let row = json!({
            "text": format!("第{at}句"), "is_question": false, "type": kind, "explanation": "双关。",
            "id": format!("{at:040x}"), "options": options, "answer": "A",
        });
        format!("{row}\n")
    };
    kinds.enumerate().map(row).collect()
}

/// Appendix D.2 has 5 phonetic errors, 35 ambiguities and 12 factual errors. The published file has none, 6 and 4 under these
/// names, and the others under names that the paper does not have.
#[test]
fn types_of_flub_are_those_of_the_paper() {
    let ws = example("rebuild-flub");
    let published =
        [("谐音", 3), ("多音字", 2), ("偷换词义/字义", 29), ("歧义", 6), ("违反常识", 8), ("事实性错误", 4)];
    ws.write("raw/published/FLUB.jsonl", labelled(&published));
    ws.call(["run", "--recipe", "flub", "--offline", "-q"]).expect(0);
    let report = reported(&ws, "flub");
    let texts = |name: &str| {
        let types = report["types"].as_array().unwrap();
        types.iter().find(|of| of["name"] == name).unwrap_or_else(|| panic!("{name}: {report}"))["texts"]
            .clone()
    };
    assert_eq!(["Phonetic Error", "Ambiguity", "Factual Error"].map(texts), [5, 35, 12].map(Value::from));
    let all: u64 = report["types"].as_array().unwrap().iter().map(|of| of["texts"].as_u64().unwrap()).sum();
    assert_eq!(all, 52, "no text is of two types or of none: {report}");
    let text = ws.call(["report", "--recipe", "flub"]).expect(0).out;
    assert!(text.contains("Ambiguity              35  歧义"), "{text}");
    // An evaluation of the same rows takes every one of them for a class.
    let set = ws.path("output/flub/candidate").display().to_string();
    let args = ["evaluate", &set, "--model", "first-option", "--task", "classify", "--resamples", "10"];
    ws.call(args.into_iter().chain(["--out", "results"])).expect(0);
    let tasks = evaluated(&ws, "results", "tasks");
    let columns = tasks["columns"].as_array().unwrap();
    let at = columns.iter().position(|column| column == "Classification F1").unwrap();
    assert_eq!(tasks["rows"][0]["cells"][at]["n"], 52, "{tasks}");
}

/// The same on the published half itself: each type has as many texts as its published names.
#[test]
fn types_of_the_published_half_are_counted() {
    let Some(reference) = reference() else { return };
    let ws = example("rebuild-flub");
    let half = fs::read_to_string(reference.join("data/reference/flub-dev.jsonl")).unwrap();
    ws.write("raw/published/FLUB.jsonl", &half);
    ws.call(["run", "--recipe", "flub", "--offline", "-q"]).expect(0);
    let report = reported(&ws, "flub");
    let of_names = |names: &[&str]| {
        let named = |line: &&str| names.iter().any(|name| line.contains(&format!("\"type\": \"{name}\"")));
        half.lines().filter(named).count()
    };
    for (english, names) in [
        ("Phonetic Error", &["谐音", "多音字", "字音错误"][..]),
        ("Ambiguity", &["偷换词义/字义", "歧义"]),
        ("Factual Error", &["违反常识", "事实性错误"]),
    ] {
        let found = report["types"].as_array().unwrap().iter().find(|of| of["name"] == english).unwrap();
        assert!(of_names(names) > 0, "{english}");
        assert_eq!(found["texts"], of_names(names), "{found}");
    }
}
