//! What the steps of BrainTeaser ask of a puzzle, and where the answers go, in tests.

use super::typed::TypedSubject;
use crate::stages::draft::{Draft, Slot};
use crate::stages::subject::{Decision, Drafted};
use riddlemill_review::ballot::Ballot;
use riddlemill_review::{Value, Values};
use riddlemill_text::record::{Puzzle, Reason, Standing};

fn ballot(name: &str) -> &'static Ballot {
    riddlemill_benchmarks::find("brainteaser").and_then(|folder| folder.ballot(name)).unwrap()
}

fn draft(step: &str) -> Draft {
    Draft::of(riddlemill_benchmarks::find("brainteaser").unwrap(), step).unwrap()
}

const DISTRACTORS: [&str; 3] = ["distractor_1", "distractor_2", "distractor_3"];

fn slot() -> Slot {
    Slot { model: "m".into(), ..Slot::default() }
}

fn sentence() -> Puzzle {
    Puzzle {
        id: "riddle:1".into(),
        question: "A man shaves all day and keeps his beard. How?".into(),
        answer: "He is a barber.".into(),
        kind: Some("sentence".into()),
        premises: ["He shaves himself.", "A razor cuts.", "It is one day."].map(String::from).into(),
        stumper: Some("he shaves himself".into()),
        ..Puzzle::default()
    }
}

#[test]
fn what_is_asked_depends_on_the_kind() {
    let word = Puzzle { kind: Some("word".into()), ..sentence() };
    let template = |puzzle: &Puzzle, draft| puzzle.prompt(draft, &slot()).map(|prompt| prompt.template);
    assert_eq!(template(&word, draft("premises")), None);
    assert_eq!(template(&word, draft("distractors")), Some("brainteaser/distractors_word"));
    let listed = Puzzle { distractors_draft: vec!["a".into()], ..word };
    assert_eq!(template(&listed, draft("distractors")), None);
    let prompt = sentence().prompt(draft("distractors"), &slot()).unwrap();
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
    let findings = puzzle.drafted(draft("distractors"), &drafts);
    assert_eq!(findings.len(), 3, "{findings:?}");
    assert_eq!(puzzle.distractors_from, ["A razor cuts.", "He shaves himself.", ""]);
}

#[test]
fn premises_are_read_as_people_write_them() {
    let mut puzzle = sentence();
    let values: Values = [("premises", "One.\nTwo."), ("stumper", "Another.")].into_iter().collect();
    let decision = Decision { values, given: Vec::new() };
    puzzle.decided(ballot("premises"), &[Some(decision)], Standing::Confirmed, vec!["vote:1".into()]);
    let prompt = puzzle.prompt(draft("distractors"), &slot()).unwrap();
    assert_eq!((puzzle.premises.len(), prompt.values["overturned"].as_str()), (3, "2"));
    assert_eq!(puzzle.premises_status.as_deref(), Some("confirmed"));
}

fn decision<const N: usize>(answers: [(&str, Value); N]) -> [Option<Decision>; 1] {
    let mut values = Values::new();
    answers.into_iter().for_each(|(field, value)| values.set(field, value));
    [Some(Decision { values, given: Vec::new() })]
}

#[test]
fn where_none_is_sensible_a_model_is_asked_again() {
    let wrong = ["A duck.", "A hen.", "A crow."].map(String::from).to_vec();
    let mut puzzle = Puzzle {
        question: "Which bird goes down?".into(),
        answer: "A swallow.".into(),
        kind: Some("word".into()),
        distractors_draft: wrong.clone(),
        ..Puzzle::default()
    };
    assert!(puzzle.prompt(draft("again"), &slot()).is_none(), "nobody rejected them");
    let none = decision([("verdict", "none".into())]);
    puzzle.decided(ballot("distractors"), &none, Standing::Confirmed, vec!["vote:1".into()]);
    assert_eq!((&puzzle.distractors_rejected, &puzzle.distractors_status), (&wrong, &None));
    let prompt = puzzle.prompt(draft("again"), &slot()).unwrap();
    assert_eq!(prompt.template, "brainteaser/distractors_word");
    assert_eq!(prompt.values["rejected"], "A duck.\nA hen.\nA crow.");
    let values: Values = DISTRACTORS.into_iter().zip(["A robin.", "A heron.", "A stork."]).collect();
    let drafts = [Drafted { element: 0, slot: slot(), values: values.clone(), basis: "reply:2".into() }];
    assert!(puzzle.drafted(draft("again"), &drafts).is_empty());
    let decided = [Some(Decision { values, given: Vec::new() })];
    puzzle.decided(ballot("again"), &decided, Standing::Confirmed, vec!["vote:2".into()]);
    assert_eq!(puzzle.distractors, ["A robin.", "A heron.", "A stork."]);
    assert_eq!(puzzle.distractors_status.as_deref(), Some("confirmed"));
    assert!(puzzle.prompt(draft("again"), &slot()).is_none());
}

#[test]
fn a_new_situation_has_distractors_by_the_same_process() {
    let mut puzzle = Puzzle {
        context_question: Some("A boy climbs a volcano. How?".into()),
        context_answer: Some("It is a climbing frame.".into()),
        context_premises: ["It is hot.", "He climbs.", "It is a mountain.", "It is day."]
            .map(String::from)
            .into(),
        context_stumper: Some("It is a mountain.".into()),
        ..sentence()
    };
    let prompt = puzzle.prompt(draft("context-distractors"), &slot()).unwrap();
    assert_eq!(
        (prompt.template, prompt.values["overturned"].as_str()),
        ("brainteaser/distractors_sentence", "2")
    );
    let mut values: Values =
        DISTRACTORS.into_iter().zip(["It is cold.", "It is a frame to climb.", "It is night."]).collect();
    values.set("overturned", ["0", "2", "3"].map(String::from).to_vec());
    let drafts = [Drafted { element: 0, slot: slot(), values, basis: "reply:1".into() }];
    let findings = puzzle.drafted(draft("context-distractors"), &drafts);
    assert_eq!(findings, ["\"It is a frame to climb.\" overturns the premise that the answer overturns"]);
    assert_eq!(puzzle.context_distractors_from, ["It is hot.", "It is a mountain.", "It is day."]);
}

#[test]
fn people_write_the_text_and_take_corrections_word_by_word() {
    let mut puzzle = Puzzle { question: "Wat is it?".into(), ..Puzzle::default() };
    assert_eq!(puzzle.lacks(ballot("text")), Some(Reason::AnswerMissing));
    let written = decision([
        ("verdict", "rewrite".into()),
        ("question", "Wich is teh clock?".into()),
        ("answer", "The one taht ticks.".into()),
        ("premises", "One.\n2. Two.".into()),
        ("distractors", "A.\nB.\nC.".into()),
    ]);
    puzzle.decided(ballot("text"), &written, Standing::Confirmed, vec!["vote:1".into()]);
    assert_eq!((puzzle.lacks(ballot("text")), puzzle.premises_draft.len()), (None, 2));
    assert_eq!(puzzle.distractors_draft, ["A.", "B.", "C."]);
    assert!(
        puzzle.prompt(draft("premises"), &slot()).is_none()
            && puzzle.prompt(draft("distractors"), &slot()).is_none()
    );
    puzzle.corrections = ["wich -> which", "teh -> the", "taht -> that"].map(String::from).into();
    let some =
        decision([("verdict", "some".into()), ("accepted", Value::List(vec!["1".into(), "3".into()]))]);
    puzzle.decided(ballot("spelling"), &some, Standing::Confirmed, vec!["vote:2".into()]);
    assert_eq!(
        (puzzle.question.as_str(), puzzle.answer.as_str()),
        ("Which is teh clock?", "The one that ticks.")
    );
}
