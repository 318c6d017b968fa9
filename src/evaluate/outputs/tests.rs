//! The three forms, line for line.

use std::path::Path;

use super::*;
use crate::evaluate::testing::{group, pair, question, set, text};

fn read_file(set: &Set, name: &str, content: &str, model: Option<&str>) -> (Vec<Answer>, Vec<SetAside>) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, content).unwrap();
    let mut answers = Vec::new();
    let aside = read(set, &[File { path, model: model.map(str::to_string) }], &mut answers).unwrap();
    (answers, aside)
}

fn place(aside: &SetAside) -> &str {
    aside.place.rsplit(':').next().unwrap()
}

#[test]
fn plain_lines_are_scored_and_bad_ones_set_aside() {
    let set = set("flub", vec![text(0, true, None, 0), text(1, false, None, 1)]);
    let lines = [
        r#"{"item": "t0", "model": "m", "task": "select", "text": "A"}"#,
        r#"{"item": "t1", "model": "m", "task": "select", "text": "none"}"#,
        r#"{"item": "t1", "model": "m", "task": "select", "setting": "cot", "text": "答案: B"}"#,
        r#"{"item": "t0", "model": "m", "text": "B"}"#,
        r#"{"item": "t7", "model": "m", "task": "select", "text": "A"}"#,
        r#"{"item": "t0", "task": "select", "text": "A"}"#,
        r#"{"item": "t0", "model": "m", "task": "classify", "text": "歧义"}"#,
        r#"{"item": "t0", "model": "m", "task": "selekt", "text": "A"}"#,
        "not json",
    ];
    let (answers, aside) = read_file(&set, "a.jsonl", &lines.join("\n"), None);
    let told: Vec<(Option<bool>, bool)> =
        answers.iter().map(|a| (a.correct, a.format_error.is_some())).collect();
    assert_eq!(told, [(Some(true), false), (Some(false), true), (Some(true), false)]);
    assert!(answers[0].basis.starts_with("made:") && answers[0].basis.ends_with("a.jsonl:1"));
    assert_eq!(aside.iter().map(place).collect::<Vec<_>>(), ["4", "5", "6", "7", "8", "9"]);
    assert!(aside[0].what.contains("the same item, task and model as"), "{}", aside[0].what);
    assert!(aside[2].what.contains("--outputs MODEL=FILE"), "{}", aside[2].what);
}

#[test]
fn raw_responses_are_outputs_of_gen() {
    let set = set("ruozhibench-gen", vec![question(0, &[]), question(1, &[])]);
    let lines = [
        r#"{"item": "RB-0", "model": "m", "text": "No.", "for": "question"}"#,
        r#"{"item": "RB-0", "model": "m", "text": "At noon.", "for": "pair"}"#,
        r#"{"item": "RB-1", "model": "m", "text": "At noon.", "for": "pair"}"#,
        r#"{"item": "RB-1", "model": "m", "text": "Again.", "for": "question", "sample": 1}"#,
    ];
    let (answers, aside) = read_file(&set, "a.jsonl", &lines.join("\n"), Some("given"));
    let told: Vec<(Task, &str)> = answers.iter().map(|a| (a.task, a.model.as_str())).collect();
    assert_eq!(told, [(Task::Answer, "given"), (Task::AnswerNormal, "given")]);
    assert_eq!(aside.len(), 2, "no normal question beside RB-1, and a further sample");
}

#[test]
fn lm_eval_logs_give_likelihoods_or_words() {
    let mc = set("ruozhibench-mc", vec![pair(0, &[]), pair(1, &[])]);
    let lines = [
        r#"{"doc_id": 0, "doc": {"id": "RB-0"}, "resps": [[["-1.0", "True"]], [["-3.0", "False"]]], "filtered_resps": [["-1.0", "True"], ["-3.0", "False"]], "acc": 1.0}"#,
        r#"{"doc_id": 1, "doc": {"id": "RB-1"}, "filtered_resps": [[-1.0, true], [-3.0, false]]}"#,
        r#"{"doc_id": 2, "doc": {"question": "?"}, "filtered_resps": [[-1.0, true]]}"#,
        r#"{"doc_id": 3, "doc": {"id": "RB-1"}, "filtered_resps": []}"#,
    ];
    let (answers, aside) = read_file(&mc, "org__model/samples_mc_2026.jsonl", &lines.join("\n"), None);
    // The release has the good answer first in RB-0 and second in RB-1; the first is chosen in both.
    let told: Vec<(Task, Option<bool>)> = answers.iter().map(|a| (a.task, a.correct)).collect();
    assert_eq!(told, [(Task::GoodFirst, Some(true)), (Task::BadFirst, Some(false))]);
    assert_eq!(answers[0].model, "org/model");
    assert_eq!(aside.len(), 2);
    let generated = set("flub", vec![text(0, true, None, 2)]);
    let line = r#"{"doc_id": 0, "doc": {"id": "t0"}, "resps": [["C"]], "filtered_resps": ["C"]}"#;
    let (answers, _) = read_file(&generated, "m/samples_x.jsonl", line, None);
    assert_eq!(answers[0].correct, Some(true));
}

#[test]
fn inspect_logs_give_the_letter_after_answer() {
    let set = set("brainteaser", group(0, false, 1));
    let log = serde_json::json!({
        "version": 2, "status": "success",
        "eval": {"task": "brainteaser", "model": "org/model"},
        "samples": [
            {"id": "SP-0", "epoch": 1, "choices": ["a", "b", "c", "d"], "target": "B",
             "output": {"model": "org/model", "completion": "Let me see: A is out.\n\nANSWER: B"}},
            {"id": "SP-0_SR", "epoch": 1, "choices": ["a", "b", "c", "d"],
             "output": {"choices": [{"message": {"content": [{"type": "text", "text": "ANSWER: A"}]}}]}},
            {"id": "SP-0_CR", "epoch": 1, "choices": ["a", "b", "c", "d"], "output": {"completion": "I give up"}},
            {"id": "SP-0", "epoch": 2, "output": {"completion": "ANSWER: B"}},
            {"id": "SP-0", "error": {"message": "timeout"}},
        ],
    });
    let (answers, aside) = read_file(&set, "log.json", &log.to_string(), None);
    let told: Vec<(Option<bool>, bool)> =
        answers.iter().map(|a| (a.correct, a.format_error.is_some())).collect();
    assert_eq!(told, [(Some(true), false), (Some(false), false), (Some(false), true)]);
    assert!(answers.iter().all(|answer| answer.model == "org/model"));
    assert_eq!(aside.len(), 2);
    assert!(aside[1].place.ends_with("sample 5") && aside[1].what.contains("timeout"));
}

#[test]
fn what_is_no_log_says_so() {
    let set = set("flub", vec![text(0, true, None, 0)]);
    let dir = tempfile::tempdir().unwrap();
    for (content, word) in [("PK\u{3}\u{4}", "inspect log dump"), ("", "no output")] {
        let path = dir.path().join("x");
        std::fs::write(&path, content).unwrap();
        let error = read(&set, &[File { path, model: None }], &mut Vec::new()).unwrap_err();
        assert!(error.to_string().contains(word), "{error}");
    }
    assert_eq!(File::named("m=f"), File { path: Path::new("f").into(), model: Some("m".into()) });
}
