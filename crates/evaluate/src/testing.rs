//! Small sets for tests.

use serde_json::{Value as Json, json};

use super::answer::{Answer, Rating, RawAnswer};
use super::item::Item;
use super::set::Set;
use super::task::{Setting, Task};
use crate::review::ballots;

pub(super) fn set_of_items(config: &str, items: Vec<Item>) -> Set {
    let (draft, rows_hash) = (Vec::new(), String::new());
    let (config, version, examples) = (config.into(), "test".into(), Vec::new());
    Set { config, version, items, examples, draft, withdrawn: 0, rows_hash, sample: None }
}

/// A task of any benchmark.
pub(super) fn task_of_name(name: &str) -> Task {
    name.parse().unwrap()
}

/// The eight types of FLUB's figure 2, by their Chinese names; Undefined is none of them.
pub(super) fn flub_type_names() -> Vec<&'static str> {
    let all = ballots::options_of_list("flub", "types");
    all.iter().filter(|kind| kind.code != "undefined").map(|kind| kind.label.zh).collect()
}

fn item_of_row(config: &str, row: Json) -> Item {
    Item::of_row(config, row.as_object().unwrap()).unwrap().0
}

pub(super) fn question_item(at: usize, categories: &[&str]) -> Item {
    item_of_row(
        "ruozhibench-gen",
        json!({
            "id": format!("RB-{at}"),
            "question_en": format!("Why {at}?"),
            "irrationality": "No reason.",
            "pair": at.is_multiple_of(2).then(|| format!("When {at}?")),
            "category_names": categories,
        }),
    )
}

pub(super) fn pair_item(at: usize, categories: &[&str]) -> Item {
    let mut options = ["Nobody knows.", "Because."];
    let answer = usize::from(!at.is_multiple_of(2));
    if answer == 1 {
        options.reverse();
    }
    item_of_row(
        "ruozhibench-mc",
        json!({
            "id": format!("RB-{at}"),
            "question_en": format!("Why {at}?"),
            "options": options,
            "answer": answer,
            "category_names": categories,
            "rating_models": ["m"],
            "rating_judges": ["j"],
            "ratings": [at % 5],
        }),
    )
}

pub(super) fn text_item(at: usize, is_question: bool, kind: Option<&str>, answer: usize) -> Item {
    item_of_row(
        "flub",
        json!({
            "id": format!("t{at}"),
            "text": format!("第{at}句"),
            "is_question": is_question,
            "type": kind,
            "explanation": "双关。",
            "options": ["甲", "乙", "丙", "丁"],
            "answer": crate::options::LETTERS[answer],
        }),
    )
}

pub(super) fn joke_item(at: usize, votes: [u64; 3]) -> Item {
    item_of_row(
        "chumor",
        json!({
            "id": format!("j{at}"),
            "joke": format!("笑话{at}"),
            "explanation": "双关。",
            "opponent_models": ["m"],
            "opponent_explanations": ["太长。"],
            "votes_human": [votes[0]],
            "votes_model": [votes[1]],
            "votes_tie": [votes[2]],
        }),
    )
}

pub(super) fn puzzle_item(id: &str, options: [&str; 4], answer: usize) -> Item {
    let question = "How did he cross?";
    item_of_row(
        "brainteaser",
        json!({ "id": id, "question": question, "choice_list": options, "label": answer }),
    )
}

/// The three puzzles of a group.
pub(super) fn puzzle_group(at: usize, word: bool, answer: usize) -> Vec<Item> {
    let group = format!("{}-{at}", if word { "WP" } else { "SP" });
    let options = ["A frozen river.", "A boat.", "A bridge.", "None of above."];
    ["", "_SR", "_CR"].into_iter().map(|end| puzzle_item(&format!("{group}{end}"), options, answer)).collect()
}

pub(super) fn raw_answer(task: Task, model: &str, text: &str) -> RawAnswer {
    let (setting, basis) = (Setting::default(), "test".into());
    RawAnswer { task, setting, model: model.into(), person: false, sample: 0, basis, text: text.into() }
}

pub(super) fn parsed_answer(item: &Item, task: Task, model: &str, text: &str) -> Answer {
    Answer::parse_raw(item, raw_answer(task, model, text))
}

pub(super) fn rated_answer(item: &Item, task: Task, model: &str, ratings: &[(&str, &str)]) -> Answer {
    let mut answer = parsed_answer(item, task, model, "So.");
    answer.ratings = ratings.iter().map(|(judge, value)| rating_of_judge(judge, value, false)).collect();
    answer
}

pub(super) fn rating_of_judge(judge: &str, value: &str, person: bool) -> Rating {
    Rating { judge: judge.into(), person, value: value.into(), basis: "test".into() }
}
