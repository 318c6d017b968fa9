//! What the steps of BrainTeaser ask of a puzzle, and where the answers go, in tests.

use super::rows::{first_prompt, make_row, row_with_values};
use crate::stages::draft::{DraftStep, Slot};
use crate::stages::subject::{Decision, Drafted, reason_to_stop, write_decisions, write_drafts};
use riddlemill_record::{Reason, Row, Standing};
use riddlemill_review::ballot::Ballot;
use riddlemill_review::{Value, Values};
use serde_json::json;

fn ballot(name: &str) -> &'static Ballot {
    riddlemill_benchmarks::find_benchmark("brainteaser").and_then(|folder| folder.find_ballot(name)).unwrap()
}

fn draft(step: &str) -> DraftStep {
    DraftStep::find_draft(riddlemill_benchmarks::find_benchmark("brainteaser").unwrap(), step).unwrap()
}

const DISTRACTORS: [&str; 3] = ["distractor_1", "distractor_2", "distractor_3"];

fn slot() -> Slot {
    Slot { model: "m".into(), ..Slot::default() }
}

fn sentence() -> Row {
    let values = json!({
        "id": "riddle:1",
        "question": "A man shaves all day and keeps his beard. How?",
        "answer": "He is a barber.",
        "kind": "sentence",
        "premises": ["He shaves himself.", "A razor cuts.", "It is one day."],
        "stumper": "he shaves himself",
    });
    make_row("puzzles", values)
}

#[test]
fn what_is_asked_depends_on_the_kind() {
    let word = row_with_values(&sentence(), json!({ "kind": "word" }));
    let template = |puzzle: &Row, draft| first_prompt(puzzle, draft, &slot()).map(|prompt| prompt.template);
    assert_eq!(template(&word, draft("premises")), None);
    assert_eq!(template(&word, draft("distractors")), Some("brainteaser/distractors_word"));
    let listed = row_with_values(&word, json!({ "distractors_draft": ["a"] }));
    assert_eq!(template(&listed, draft("distractors")), None);
    let prompt = first_prompt(&sentence(), draft("distractors"), &slot()).unwrap();
    assert_eq!(
        (prompt.template, prompt.values["overturned"].as_str()),
        ("brainteaser/distractors_sentence", "0")
    );
    assert!(prompt.values["premises"].starts_with("0. He shaves himself.\n1. "));
}

#[test]
fn a_distractor_must_leave_the_stumper_alone() {
    let mut puzzle = sentence();
    let mut values: Values =
        DISTRACTORS.into_iter().zip(["His razor is blunt.", "He is a barber!", "He rests."]).collect();
    values.set("overturned", ["1", "0", "7"].map(String::from).to_vec());
    let drafts = [Drafted { element: 0, slot: slot(), values, basis: "sample:x".into() }];
    let findings = write_drafts(&mut puzzle, draft("distractors"), &drafts);
    assert_eq!(findings.len(), 3, "{findings:?}");
    assert_eq!(puzzle.list("distractors_from"), ["A razor cuts.", "He shaves himself.", ""]);
}

#[test]
fn premises_are_read_as_people_write_them() {
    let mut puzzle = sentence();
    let values: Values = [("premises", "One.\nTwo."), ("stumper", "Another.")].into_iter().collect();
    let decision = Decision { values, given: Vec::new() };
    decide(&mut puzzle, "premises", &[Some(decision)], "vote:1");
    let prompt = first_prompt(&puzzle, draft("distractors"), &slot()).unwrap();
    assert_eq!((puzzle.list("premises").len(), prompt.values["overturned"].as_str()), (3, "2"));
    assert_eq!(puzzle.text("premises_status"), Some("confirmed"));
}

fn decide(puzzle: &mut Row, on: &str, decisions: &[Option<Decision>], vote: &str) {
    write_decisions(puzzle, ballot(on), decisions, Standing::Confirmed, vec![vote.into()]);
}

fn decision<const N: usize>(answers: [(&str, Value); N]) -> [Option<Decision>; 1] {
    let mut values = Values::new();
    answers.into_iter().for_each(|(field, value)| values.set(field, value));
    [Some(Decision { values, given: Vec::new() })]
}

#[test]
fn where_none_is_sensible_a_model_is_asked_again() {
    let wrong = ["A duck.", "A hen.", "A crow."];
    let values = json!({
        "question": "Which bird goes down?", "answer": "A swallow.", "kind": "word", "distractors_draft": wrong,
    });
    let mut puzzle = make_row("puzzles", values);
    let asked = |puzzle: &Row| first_prompt(puzzle, draft("again"), &slot());
    assert!(asked(&puzzle).is_none(), "nobody rejected them");
    let none = decision([("verdict", "none".into())]);
    decide(&mut puzzle, "distractors", &none, "vote:1");
    assert_eq!(puzzle.list("distractors_rejected"), wrong);
    assert_eq!(puzzle.text("distractors_status"), None);
    let prompt = asked(&puzzle).unwrap();
    assert_eq!(prompt.template, "brainteaser/distractors_word");
    assert_eq!(prompt.values["rejected"], "A duck.\nA hen.\nA crow.");
    let values: Values = DISTRACTORS.into_iter().zip(["A robin.", "A heron.", "A stork."]).collect();
    let drafts = [Drafted { element: 0, slot: slot(), values: values.clone(), basis: "reply:2".into() }];
    assert!(write_drafts(&mut puzzle, draft("again"), &drafts).is_empty());
    decide(&mut puzzle, "again", &[Some(Decision { values, given: Vec::new() })], "vote:2");
    assert_eq!(puzzle.list("distractors"), ["A robin.", "A heron.", "A stork."]);
    assert_eq!(puzzle.text("distractors_status"), Some("confirmed"));
    assert!(asked(&puzzle).is_none());
}

#[test]
fn a_new_situation_has_distractors_by_the_same_process() {
    let values = json!({
        "context_question": "A boy climbs a volcano. How?",
        "context_answer": "It is a climbing frame.",
        "context_premises": ["It is hot.", "He climbs.", "It is a mountain.", "It is day."],
        "context_stumper": "It is a mountain.",
    });
    let mut puzzle = row_with_values(&sentence(), values);
    let prompt = first_prompt(&puzzle, draft("context-distractors"), &slot()).unwrap();
    assert_eq!(
        (prompt.template, prompt.values["overturned"].as_str()),
        ("brainteaser/distractors_sentence", "2")
    );
    let mut values: Values =
        DISTRACTORS.into_iter().zip(["It is cold.", "It is a frame to climb.", "It is night."]).collect();
    values.set("overturned", ["0", "2", "3"].map(String::from).to_vec());
    let drafts = [Drafted { element: 0, slot: slot(), values, basis: "reply:1".into() }];
    let findings = write_drafts(&mut puzzle, draft("context-distractors"), &drafts);
    assert_eq!(findings, ["\"It is a frame to climb.\" overturns the premise that the answer overturns"]);
    assert_eq!(puzzle.list("context_distractors_from"), ["It is hot.", "It is a mountain.", "It is day."]);
}

#[test]
fn people_write_the_text_and_take_corrections_word_by_word() {
    let mut puzzle = make_row("puzzles", json!({ "question": "Wat is it?" }));
    assert_eq!(reason_to_stop(&puzzle, ballot("text")), Some(Reason::AnswerMissing));
    let written = decision([
        ("verdict", "rewrite".into()),
        ("question", "Wich is teh clock?".into()),
        ("answer", "The one taht ticks.".into()),
        ("premises", "One.\n2. Two.".into()),
        ("distractors", "A.\nB.\nC.".into()),
    ]);
    decide(&mut puzzle, "text", &written, "vote:1");
    assert_eq!((reason_to_stop(&puzzle, ballot("text")), puzzle.list("premises_draft").len()), (None, 2));
    assert_eq!(puzzle.list("distractors_draft"), ["A.", "B.", "C."]);
    let asked = |step| first_prompt(&puzzle, draft(step), &slot());
    assert!(asked("premises").is_none() && asked("distractors").is_none());
    let mut puzzle =
        row_with_values(&puzzle, json!({ "corrections": ["wich -> which", "teh -> the", "taht -> that"] }));
    let some =
        decision([("verdict", "some".into()), ("accepted", Value::List(vec!["1".into(), "3".into()]))]);
    decide(&mut puzzle, "spelling", &some, "vote:2");
    assert_eq!(
        (puzzle.text("question"), puzzle.text("answer")),
        (Some("Which is teh clock?"), Some("The one that ticks."))
    );
}
