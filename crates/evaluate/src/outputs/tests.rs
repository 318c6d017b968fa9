//! The formats, line by line.

use std::path::Path;

use super::*;
use crate::testing::{pair_item, puzzle_group, question_item, set_of_items, task_of_name, text_item};

fn read_file(set: &Set, name: &str, content: &str, model: Option<&str>) -> (Vec<Answer>, Vec<SetAside>) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, content).unwrap();
    let mut answers = Vec::new();
    let skipped = read(set, &[File { path, model: model.map(str::to_string) }], &mut answers).unwrap();
    (answers, skipped.skipped)
}

fn place(skipped: &SetAside) -> &str {
    skipped.place.rsplit(':').next().unwrap()
}

#[test]
fn plain_lines_are_scored_and_bad_ones_set_aside() {
    let set = set_of_items("flub", vec![text_item(0, true, None, 0), text_item(1, false, None, 1)]);
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
    let (answers, skipped) = read_file(&set, "a.jsonl", &lines.join("\n"), None);
    let results: Vec<(Option<bool>, bool)> =
        answers.iter().map(|a| (a.correct, a.format_error.is_some())).collect();
    assert_eq!(results, [(Some(true), false), (Some(false), true), (Some(true), false)]);
    assert!(answers[0].basis.starts_with("made:") && answers[0].basis.ends_with("a.jsonl:1"));
    assert_eq!(skipped.iter().map(place).collect::<Vec<_>>(), ["4", "5", "6", "7", "8", "9"]);
    assert!(skipped[0].what.contains("the same item, task and model as"), "{}", skipped[0].what);
    assert!(skipped[2].what.contains("--outputs MODEL=FILE"), "{}", skipped[2].what);
}

#[test]
fn what_is_set_aside_says_what_is_wrong_and_what_would_help() {
    let set = set_of_items("flub", vec![text_item(0, true, None, 0)]);
    let lines = [
        (r#"{"item": "t0", "model": "m", "task": "select", "text": "A"}"#, ""),
        (
            r#"{"item": "t0", "model": "m", "task": "select", "text": "B"}"#,
            "the same item, task and model as FILE:1, in other words",
        ),
        (r#"{"item": "t7", "model": "m", "text": "A"}"#, "no item \"t7\" in flub@test"),
        (
            r#"{"item": "t0", "model": "m", "task": "classify", "text": "A"}"#,
            "classify cannot be asked about \"t0\" of flub@test",
        ),
        (
            r#"{"item": "t0", "model": "m", "text": "A", "sample": 1}"#,
            "a further answer of a model: the first is evaluated\n  hint: `samples` of the task says how many answers of a model count",
        ),
        (
            r#"{"item": "t0", "text": "A"}"#,
            "no model is named\n  hint: --outputs MODEL=FILE names it for the whole file",
        ),
        (
            r#"{"doc": {"n": 1}, "resps": [["A"]]}"#,
            "the document has no \"id\"\n  hint: the release's own eval/lm_eval files keep it",
        ),
        (
            r#"{"doc": {"id": "t0"}, "resps": []}"#,
            "neither \"filtered_resps\" nor \"resps\" holds a reply or log-likelihoods",
        ),
        (
            r#"{"id": "t0", "text": "x", "prompt": "y", "response": null}"#,
            "\"a\" names no task of flub\n  hint: the authors' script writes TASK_output_MODEL.jsonl, as selection_output_MODEL.jsonl",
        ),
    ];
    let content: Vec<&str> = lines.iter().map(|(line, _)| *line).collect();
    let (_, skipped) = read_file(&set, "a.jsonl", &content.join("\n"), None);
    let messages = skipped.iter().map(|skipped_line| {
        let file = skipped_line.place.rsplit_once(':').unwrap().0;
        skipped_line.what.replace(file, "FILE")
    });
    let wanted: Vec<&str> = lines[1..].iter().map(|(_, what)| *what).collect();
    assert_eq!(messages.collect::<Vec<_>>(), wanted);

    let (_, skipped) = read_file(&set, "b.jsonl", "{\"item\": 1}\nno", None);
    let hint = "\n  hint: a line is {\"item\": …, \"model\": …, \"task\": …, \"text\": …}, with \"setting\": \"5-shot\" or \"cot\" where it is not 0-shot";
    assert!(
        skipped[0].what.starts_with("not an output: ") && skipped[0].what.ends_with(hint),
        "{}",
        skipped[0].what
    );
    assert!(
        skipped[1].what.starts_with("not JSON: ") && skipped[1].what.ends_with(hint),
        "{}",
        skipped[1].what
    );
    let row = r#"{"id": "t0", "text": "x", "prompt": "y", "response": null}"#;
    let (_, skipped) = read_file(&set, "selection_output_m.jsonl", row, None);
    assert_eq!(skipped[0].what, "response is null: the model did not answer");
}

#[test]
fn raw_responses_are_outputs_of_gen() {
    let set = set_of_items("ruozhibench-gen", vec![question_item(0, &[]), question_item(1, &[])]);
    let lines = [
        r#"{"item": "RB-0", "model": "m", "text": "No.", "for": "question"}"#,
        r#"{"item": "RB-0", "model": "m", "text": "At noon.", "for": "pair"}"#,
        r#"{"item": "RB-1", "model": "m", "text": "At noon.", "for": "pair"}"#,
        r#"{"item": "RB-1", "model": "m", "text": "Again.", "for": "question", "sample": 1}"#,
    ];
    let (answers, skipped) = read_file(&set, "a.jsonl", &lines.join("\n"), Some("given"));
    let tasks: Vec<(Task, &str)> = answers.iter().map(|a| (a.task, a.model.as_str())).collect();
    assert_eq!(tasks, [(task_of_name("answer"), "given"), (task_of_name("answer-normal"), "given")]);
    assert_eq!(skipped.len(), 2, "no normal question beside RB-1, and a further sample");
}

#[test]
fn lm_eval_logs_give_likelihoods_or_words() {
    let mc = set_of_items("ruozhibench-mc", vec![pair_item(0, &[]), pair_item(1, &[])]);
    let lines = [
        r#"{"doc_id": 0, "doc": {"id": "RB-0"}, "resps": [[["-1.0", "True"]], [["-3.0", "False"]]], "filtered_resps": [["-1.0", "True"], ["-3.0", "False"]], "acc": 1.0}"#,
        r#"{"doc_id": 1, "doc": {"id": "RB-1"}, "filtered_resps": [[-1.0, true], [-3.0, false]]}"#,
        r#"{"doc_id": 2, "doc": {"question": "?"}, "filtered_resps": [[-1.0, true]]}"#,
        r#"{"doc_id": 3, "doc": {"id": "RB-1"}, "filtered_resps": []}"#,
    ];
    let (answers, skipped) = read_file(&mc, "org__model/samples_mc_2026.jsonl", &lines.join("\n"), None);
    // The release has the good answer first in RB-0 and second in RB-1; the first is chosen in both.
    let results: Vec<(Task, Option<bool>)> = answers.iter().map(|a| (a.task, a.correct)).collect();
    assert_eq!(results, [(task_of_name("good-first"), Some(true)), (task_of_name("bad-first"), Some(false))]);
    assert_eq!(answers[0].model, "org/model");
    assert_eq!(skipped.len(), 2);
    let generated = set_of_items("flub", vec![text_item(0, true, None, 2)]);
    let line = r#"{"doc_id": 0, "doc": {"id": "t0"}, "resps": [["C"]], "filtered_resps": ["C"]}"#;
    let (answers, _) = read_file(&generated, "m/samples_x.jsonl", line, None);
    assert_eq!(answers[0].correct, Some(true));
}

/// The files of eval/ name their task in every item.
#[test]
fn logs_of_the_sets_own_files_are_about_the_task_that_they_name() {
    let flub = set_of_items("flub", vec![text_item(0, true, Some("歧义"), 2)]);
    let line = r#"{"doc_id": 0, "doc": {"id": "t0", "task": "classify"}, "resps": [["歧义"]], "filtered_resps": ["歧义"]}"#;
    let (answers, skipped) = read_file(&flub, "m/samples_flub_classify_x.jsonl", line, None);
    assert_eq!((answers.len(), skipped.len()), (1, 0), "{skipped:?}");
    assert_eq!(answers[0].task, task_of_name("classify"));
    let log = serde_json::json!({
        "version": 2, "status": "success", "eval": { "task": "flub_explain", "model": "org/model" },
        "samples": [{ "id": "t0", "epoch": 1, "metadata": { "task": "explain" }, "output": { "completion": "没有人。" } }],
    });
    let (answers, _) = read_file(&flub, "log.json", &log.to_string(), None);
    assert_eq!((answers[0].task, answers[0].text.as_str()), (task_of_name("explain"), "没有人。"));
}

#[test]
fn inspect_logs_give_the_letter_after_answer() {
    let set = set_of_items("brainteaser", puzzle_group(0, false, 1));
    let options = ["A frozen river.", "A boat.", "A bridge.", "None of above."];
    let log = serde_json::json!({
        "version": 2, "status": "success",
        "eval": {"task": "brainteaser", "model": "org/model"},
        "samples": [
            {"id": "SP-0", "epoch": 1, "choices": options, "target": "B",
             "output": {"model": "org/model", "completion": "Let me see: A is out.\n\nANSWER: B"}},
            {"id": "SP-0_SR", "epoch": 1, "choices": options,
             "output": {"choices": [{"message": {"content": [{"type": "text", "text": "ANSWER: A"}]}}]}},
            {"id": "SP-0_CR", "epoch": 1, "choices": options, "output": {"completion": "I give up"}},
            {"id": "SP-0", "epoch": 2, "output": {"completion": "ANSWER: B"}},
            {"id": "SP-0", "error": {"message": "timeout"}},
        ],
    });
    let (answers, skipped) = read_file(&set, "log.json", &log.to_string(), None);
    let results: Vec<(Option<bool>, bool)> =
        answers.iter().map(|a| (a.correct, a.format_error.is_some())).collect();
    assert_eq!(results, [(Some(true), false), (Some(false), false), (Some(false), true)]);
    assert!(answers.iter().all(|answer| answer.model == "org/model"));
    assert_eq!(skipped.len(), 2);
    assert!(skipped[1].place.ends_with("sample 5") && skipped[1].what.contains("timeout"));
}

#[test]
fn what_is_no_log_says_so() {
    let set = set_of_items("flub", vec![text_item(0, true, None, 0)]);
    let dir = tempfile::tempdir().unwrap();
    for (content, word) in [("PK\u{3}\u{4}", "inspect log dump"), ("", "no output")] {
        let path = dir.path().join("x");
        std::fs::write(&path, content).unwrap();
        let error = read(&set, &[File { path, model: None }], &mut Vec::new()).unwrap_err();
        assert!(error.to_string().contains(word), "{error}");
    }
    assert_eq!(File::named("m=f"), File { path: Path::new("f").into(), model: Some("m".into()) });
}

fn results(answers: &[Answer]) -> Vec<(&str, Task, String, &str, Option<&str>)> {
    let one = |a: &'_ Answer| (a.setting.to_string(), a.task);
    answers
        .iter()
        .map(|a| (a.item.as_str(), one(a).1, one(a).0, a.model.as_str(), a.chosen.as_deref()))
        .collect()
}

/// A set with other numbers than the published one: items are matched by their questions.
#[test]
fn responses_and_ratings_of_ruozhibench_are_read_as_its_scripts_write_them() {
    let set = set_of_items(
        "ruozhibench-gen",
        vec![question_item(0, &[]), question_item(1, &[]), question_item(2, &[])],
    );
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, lines: &[&str]| {
        let path = dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, lines.join("\n")).unwrap();
    };
    let row = |index: u8, at: u8, more: &str| {
        format!(
            "{{\"question_zh\":\"为什么{at}\",\"question_en\":\"Why {at}?\",\"irrationality\":\"So.\",\"pair\":null,\"category\":\"1(Logical Error)\",\"index\":{index},{more}}}"
        )
    };
    let response = |at: u8| row(at + 7, at, &format!("\"response\":\"It is {at}.\""));
    write(
        "response_gen/m-1.jsonl",
        &[&response(0), &response(1), &row(9, 2, "\"response\":null"), &response(8)],
    );
    let rated = |at: u8, rating: i8| {
        let more = format!("\"response\":\"It is {at}.\",\"gen_evaluation\":\"…\",\"gen_rating\":{rating}");
        row(at + 7, at, &more)
    };
    write("evaluation_gen/judge-a/m-1.jsonl", &[&rated(0, 3), &rated(1, -1)]);
    write("evaluation_gen/judge-b/m-1.jsonl", &[&rated(0, 4), &rated(1, 0)]);
    write("evaluation_gen/judge-b/m-1.csv", &["question_zh,question_en"]);
    let normal = row(9, 2, "\"pair_response\":\"At noon.\",\"normal_evaluation\":\"…\",\"normal_rating\":4");
    write("evaluation_normal/judge-a/m-1.jsonl", &[&normal]);

    let mut answers = Vec::new();
    let skipped = read(&set, &[File { path: dir.path().into(), model: None }], &mut answers).unwrap().skipped;
    answers.sort_by(|a, b| a.item.cmp(&b.item));
    let plain = |item, task| (item, task, "0-shot".to_string(), "m-1", None);
    assert_eq!(
        results(&answers),
        [
            plain("RB-0", task_of_name("answer")),
            plain("RB-1", task_of_name("answer")),
            plain("RB-2", task_of_name("answer-normal"))
        ]
    );
    let ratings = |at: usize| {
        let ratings = answers[at].ratings.iter();
        ratings.map(|r| (r.judge.as_str(), r.value.as_str())).collect::<Vec<_>>()
    };
    assert_eq!(ratings(0), [("judge-a", "3"), ("judge-b", "4")]);
    assert_eq!((ratings(1), ratings(2)), (vec![("judge-b", "0")], vec![("judge-a", "4")]));
    let messages: Vec<&str> = skipped.iter().map(|one| one.what.split('\n').next().unwrap()).collect();
    assert_eq!(
        messages,
        [
            "gen_rating -1 is not a rating from 0 to 4",
            "response is null: the model did not answer",
            "no item of ruozhibench-gen@test asks \"Why 8?\"",
        ]
    );
}

#[test]
fn choices_of_ruozhibench_are_read_in_both_orders() {
    let set = set_of_items("ruozhibench-mc", vec![pair_item(0, &[]), pair_item(1, &[])]);
    let lines = [
        r#"{"question_en":"Why 0?","index":0,"Good Answer":"Nobody knows.","Bad Answer":"Because.","good_first_response":"So.\n<choice>AnswerA</choice>","good_first_choice":"AnswerA","good_first_correctness":true,"bad_first_response":"<choice>AnswerA</choice>","bad_first_choice":"AnswerA","bad_first_correctness":false}"#,
        r#"{"question_en":"Why 1?","index":1,"good_first_response":"The first.","good_first_choice":-1,"bad_first_response":false,"bad_first_choice":-1}"#,
    ];
    let (answers, skipped) = read_file(&set, "evaluation_mc/m-1.jsonl", &lines.join("\n"), None);
    let results: Vec<_> = answers.iter().map(|a| (a.item.as_str(), a.task, a.correct)).collect();
    assert_eq!(
        results,
        [
            ("RB-0", task_of_name("good-first"), Some(true)),
            ("RB-0", task_of_name("bad-first"), Some(false)),
            ("RB-1", task_of_name("good-first"), Some(false)),
        ]
    );
    assert!(answers[2].format_error.is_some() && answers.iter().all(|a| a.model == "m-1"));
    assert_eq!(skipped.len(), 1);
}

#[test]
fn outputs_of_flub_name_task_and_model_in_their_files() {
    let set =
        set_of_items("flub", vec![text_item(0, true, Some("悖论"), 0), text_item(1, false, Some("歧义"), 1)]);
    let line = |at: u8, prompt: &str, response: &str, more: &str| {
        format!(
            "{{\"id\": \"sha\", \"text\": \"第{at}句\", \"prompt\": \"{prompt}\", \"response\": \"{response}\", \"answer\": \"A\"{more}}}"
        )
    };
    // The same options under other letters: the chosen one is the one at its letter in the prompt.
    let lines = [
        line(0, "…\\nA: 甲\\nB: 乙\\nC: 丙\\nD: 丁\\n答案：", "答案：A", ""),
        line(1, "…\\nA: 乙\\nB: 甲\\nC: 丙\\nD: 丁\\n答案：", "A", ""),
        line(7, "…", "A", ""),
    ];
    let (answers, skipped) = read_file(&set, "outputs/selection_output_gpt-4.jsonl", &lines.join("\n"), None);
    let cot = |item, answer| (item, task_of_name("select"), "cot".to_string(), "gpt-4", Some(answer));
    assert_eq!(results(&answers), [cot("t0", "A"), cot("t1", "B")]);
    assert_eq!((answers[1].correct, skipped.len()), (Some(true), 1));

    let (answers, _) =
        read_file(&set, "classification_2shot_output_gpt-4.jsonl", &line(0, "…", "分类：悖论", ""), None);
    assert_eq!(results(&answers), [("t0", task_of_name("classify"), "2-shot".into(), "gpt-4", Some("悖论"))]);

    let judged =
        |rating: &str| format!(", \"evaluation_prompt\": \"…\", \"evaluation_response\": \"{rating}\"");
    let lines = [
        line(0, "…", "双关。", &judged("Rating: [[7]]")),
        line(1, "…", "夸张。", &judged("I cannot rate it.")),
    ];
    let (answers, skipped) =
        read_file(&set, "evaluations/explanation_cot_output_m.jsonl", &lines.join("\n"), None);
    let rating = &answers[0].ratings[0];
    assert_eq!((rating.judge.as_str(), rating.value.as_str()), ("evaluations", "7"));
    assert_eq!((answers.len(), answers[0].setting, skipped.len()), (1, Setting::COT, 1));

    let (_, skipped) = read_file(&set, "outputs/mine.jsonl", &line(0, "…", "A", ""), None);
    assert!(skipped[0].what.contains("TASK_output_MODEL.jsonl"), "{}", skipped[0].what);
}

#[test]
fn predictions_of_brainteaser_are_places_in_its_own_choice_list() {
    let set = set_of_items("brainteaser", puzzle_group(0, false, 1));
    let row = |id: &str, more: &str| {
        format!(
            "{{\"id\": \"{id}\", \"question\": \"How did he cross?\", \"label\": 2, \"choice_list\": [\"A bridge.\", \"A frozen river.\", \"A boat.\", \"None of above.\"]{more}}}"
        )
    };
    let rows = [
        row("SP-0", ", \"response\": \"Answer:(C) A boat.\", \"predict\": \"C\""),
        row("SP-0_SR", ", \"response\": \"(B)\""),
        row("SP-0_CR", ", \"response\": \"I give up\""),
        row("SP-9", ", \"response\": \"(B)\""),
    ];
    for content in [format!("[{}]", rows.join(", ")), rows.join("\n")] {
        let (answers, skipped) = read_file(&set, "prompting_result_4.json", &content, Some("gpt"));
        let results: Vec<_> =
            answers.iter().map(|a| (a.item.as_str(), a.chosen.as_deref(), a.correct)).collect();
        assert_eq!(
            results,
            [
                ("SP-0", Some("B"), Some(true)),
                ("SP-0_SR", Some("A"), Some(false)),
                ("SP-0_CR", None, Some(false)),
            ]
        );
        assert_eq!(skipped.len(), 1, "three items ask the same, and none is SP-9");
    }
}

/// One line, by gzip.
const PACKED: &[u8] = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff\xabV\xca,I\xcdU\xb2RP*1P\xd2QP\xca\xcdOI\xcd\x01qsA\xbc\x92\xc4\xe2l\x10\xa785'5\xb9\x04,\x92ZQ\x02\x12qT\xaa\xe5\x02\x00\xa4_M_<\x00\x00\x00";

#[test]
fn packed_outputs_are_read_in_a_folder_and_by_their_names() {
    let set = set_of_items("flub", vec![text_item(0, true, None, 0), text_item(1, false, None, 1)]);
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a.jsonl.gz"), PACKED).unwrap();
    for path in [dir.path().to_owned(), dir.path().join("a.jsonl.gz")] {
        let mut answers = Vec::new();
        let skipped = read(&set, &[File { path, model: None }], &mut answers).unwrap().skipped;
        assert_eq!((answers.len(), skipped.len(), answers[0].correct), (1, 0, Some(true)), "{skipped:?}");
    }
}
