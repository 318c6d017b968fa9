//! Sheets exported, filled in and imported.

use super::*;
use crate::testing::{
    joke_item, pair_item, parsed_answer, puzzle_group, set_of_items, task_of_name, text_item,
};

fn blinding() -> Blinding {
    Blinding::new([5; 32])
}

/// A sheet's rows, with `answer` filled in.
fn fill(sheet: &Sheet, answer: impl Fn(&Cells) -> String) -> String {
    let rows = table_rows(&sheet.bytes).unwrap().rows;
    let line = |(_, cells): &(usize, Cells)| {
        let filled = serde_json::json!({ "ballot": cells["ballot"], "answer": answer(cells) });
        filled.to_string()
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn vote(set: &Set, answers: &mut Vec<Answer>, content: &str) -> Vec<SetAside> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("b.jsonl");
    std::fs::write(&path, content).unwrap();
    read_ballots(set, &[File { path, model: Some("reader".into()) }], answers, 1, &blinding()).unwrap()
}

fn sheet<'a>(sheets: &'a [Sheet], name: &str) -> &'a Sheet {
    sheets.iter().find(|sheet| sheet.name == name).unwrap()
}

#[test]
fn people_choose_as_models_do() {
    let set = set_of_items("brainteaser", puzzle_group(0, false, 1));
    let mut answers = Vec::new();
    let sheets = create_blank_sheets(&set, &answers, 1, &blinding()).unwrap();
    let skipped = vote(&set, &mut answers, &fill(sheet(&sheets, "choose.csv"), |_| "b".to_uppercase()));
    assert!(skipped.is_empty(), "{skipped:?}");
    assert!(answers.len() == 3 && answers.iter().all(|a| a.person && a.correct == Some(true)));
}

#[test]
fn a_pair_is_shown_in_one_order_and_the_ballot_does_not_tell_which() {
    let set = set_of_items("ruozhibench-mc", (0..40).map(|at| pair_item(at, &[])).collect());
    let sheets = create_blank_sheets(&set, &[], 1, &blinding()).unwrap();
    let choose = sheet(&sheets, "choose.csv");
    let text = String::from_utf8(choose.bytes.clone()).unwrap();
    assert!(!text.contains("good") && !text.contains("first"));
    let mut answers = Vec::new();
    let knows =
        |cells: &Cells| if cells["options"].starts_with("A. Nobody knows.") { "A" } else { "B" }.to_string();
    assert!(vote(&set, &mut answers, &fill(choose, knows)).is_empty());
    assert_eq!(answers.iter().filter(|a| a.correct == Some(true)).count(), 40);
    let first = answers.iter().filter(|a| a.task == task_of_name("good-first")).count();
    assert!((8..=32).contains(&first), "{first} of 40");
}

#[test]
fn explanations_are_rated_and_compared_blindly() {
    let texts = set_of_items("flub", vec![text_item(0, true, None, 0)]);
    let mut answers = vec![parsed_answer(&texts.items[0], task_of_name("explain"), "secret-model", "因为。")];
    let sheets = create_blank_sheets(&texts, &answers, 1, &blinding()).unwrap();
    let rate = sheet(&sheets, "rate.csv");
    assert!(!String::from_utf8_lossy(&rate.bytes).contains("secret"));
    let filled = fill(rate, |_| "4".into());
    let twice = format!("{filled}\n{filled}\n{}", filled.replace("\"4\"", "\"9\""));
    let skipped = vote(&texts, &mut answers, &twice);
    assert_eq!((answers[0].ratings[0].value.as_str(), skipped.len()), ("4", 2));
    let jokes = set_of_items("chumor", (0..20).map(|at| joke_item(at, [0; 3])).collect());
    let mut answers: Vec<Answer> = jokes
        .items
        .iter()
        .map(|item| parsed_answer(item, task_of_name("explain-joke"), "m", "太长。"))
        .collect();
    let sheets = create_blank_sheets(&jokes, &answers, 1, &blinding()).unwrap();
    let person = |cells: &Cells| if cells["explanation_1"] == "双关。" { "1" } else { "2" }.to_string();
    assert!(vote(&jokes, &mut answers, &fill(sheet(&sheets, "prefer.csv"), person)).is_empty());
    assert!(answers.iter().all(|answer| answer.ratings[0].value == "human"));
}

/// Appendix A.5: people write, experts score people and models alike, and giving no answer scores 0.
#[test]
fn puzzles_are_answered_freely_and_scored_blindly() {
    let set = set_of_items(
        "brainteaser",
        (0..4).flat_map(|at| puzzle_group(at, false, usize::from(at == 3) * 3)).collect(),
    );
    let context: Vec<&Item> =
        set.items.iter().filter(|item| item.has_task(task_of_name("solve-open"))).collect();
    assert_eq!(context.len(), 3, "one is answered by none of above");
    let mut answers =
        vec![parsed_answer(context[0], task_of_name("solve-open"), "secret-model", "Over the ice.")];
    answers.push(parsed_answer(context[1], task_of_name("solve-open"), "secret-model", " - "));
    let sheets = create_blank_sheets(&set, &answers, 1, &blinding()).unwrap();
    assert!(vote(&set, &mut answers, &fill(sheet(&sheets, "write.csv"), |_| "He swam.".into())).is_empty());
    assert_eq!(answers.iter().filter(|answer| answer.person).count(), 3);
    let sheets = create_blank_sheets(&set, &answers, 1, &blinding()).unwrap();
    let score = sheet(&sheets, "score.csv");
    let shown = String::from_utf8_lossy(&score.bytes);
    assert!(!shown.contains("secret") && !shown.contains("reader"));
    let scored = |cells: &Cells| if cells["response"] == "He swam." { "2" } else { "5" }.to_string();
    assert!(vote(&set, &mut answers, &fill(score, scored)).is_empty());
    assert_eq!(answers[0].ratings[0].value, "5");
    assert!(answers[1].ratings.is_empty() && answers[1].format_error.is_some());
    assert!(answers[2..].iter().all(|answer| answer.ratings[0].value == "2"));
    let wrong = fill(score, |_| "6".into()).replace("reader", "other");
    assert_eq!(vote(&set, &mut answers, &wrong).len(), 4);
}

#[test]
fn what_is_no_vote_is_set_aside() {
    let set = set_of_items("flub", vec![text_item(0, true, None, 0)]);
    let mut answers = Vec::new();
    let skipped = vote(
        &set,
        &mut answers,
        "{\"ballot\": \"x\", \"answer\": \"A\"}\n{\"ballot\": \"y\", \"answer\": null}",
    );
    assert_eq!((skipped.len(), answers.len()), (1, 0), "an empty answer is no vote");
}

/// The id was a hash of the task, the item and the model: with the models' names, anybody could sort them.
#[test]
fn no_ballot_says_whose_answer_it_shows_and_older_ballots_are_read() {
    let texts = set_of_items("flub", vec![text_item(0, true, None, 0)]);
    let mut answers = vec![parsed_answer(&texts.items[0], task_of_name("explain"), "secret-model", "因为。")];
    let computed =
        list_ballots(&texts, &answers, 1).into_iter().find(|(_, about)| *about == BallotSubject::Answer(0));
    let computed = computed.unwrap().0;
    let sheets = create_blank_sheets(&texts, &answers, 1, &blinding()).unwrap();
    let rate = sheet(&sheets, "rate.csv");
    assert!(!String::from_utf8_lossy(&rate.bytes).contains(&computed));
    let other = create_blank_sheets(&texts, &answers, 1, &Blinding::new([6; 32])).unwrap();
    assert_ne!(sheet(&other, "rate.csv").bytes, rate.bytes);
    let older = format!("{{\"ballot\": \"{computed}\", \"answer\": 4}}\n");
    let both = older + &fill(rate, |_| "4".into());
    assert_eq!(vote(&texts, &mut answers, &both).len(), 1, "one ballot by two names");
    assert_eq!(answers[0].ratings.len(), 1);
}

/// Each sheet has its own section, and no other set's.
#[test]
fn guidelines_are_of_the_sheets_that_are_there() {
    let guidelines =
        |sheets: &[Sheet]| String::from_utf8(sheet(sheets, "guidelines.md").bytes.clone()).unwrap();
    let texts = set_of_items("flub", vec![text_item(0, true, None, 0)]);
    let answers = vec![parsed_answer(&texts.items[0], task_of_name("explain"), "m", "因为。")];
    let flub = guidelines(&create_blank_sheets(&texts, &answers, 1, &blinding()).unwrap());
    assert!(
        flub.contains("## rate.csv (1 to 5)\nCompare the response") && flub.contains("5. It has the right")
    );
    for other in ["score.csv", "prefer.csv", "write.csv", "joke"] {
        assert!(!flub.contains(other), "{other}: {flub}");
    }
    let jokes = set_of_items("chumor", vec![joke_item(0, [0; 3])]);
    let answers = vec![parsed_answer(&jokes.items[0], task_of_name("explain-joke"), "m", "太长。")];
    let chumor = guidelines(&create_blank_sheets(&jokes, &answers, 1, &blinding()).unwrap());
    assert!(
        chumor.contains("## prefer.csv\nWhich explanation") && !chumor.contains("choose.csv"),
        "{chumor}"
    );
}
