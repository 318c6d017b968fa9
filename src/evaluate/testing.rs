//! Small sets for tests.

use super::answer::{Answer, Rating, RawAnswer};
use super::item::{Body, Item, Opponent, Variant};
use super::set::Set;
use super::task::{Setting, Task};

pub(super) fn set(config: &str, items: Vec<Item>) -> Set {
    Set { config: config.into(), version: "test".into(), items, draft: Vec::new(), withdrawn: 0 }
}

fn item(id: impl Into<String>, body: Body) -> Item {
    let id = id.into();
    Item { record: id.clone(), id, body, paper: false }
}

pub(super) fn question(at: usize, categories: &[&str]) -> Item {
    item(
        format!("RB-{at}"),
        Body::Question {
            question: format!("Why {at}?"),
            irrationality: "No reason.".into(),
            pair: at.is_multiple_of(2).then(|| format!("When {at}?")),
            categories: categories.iter().map(ToString::to_string).collect(),
        },
    )
}

pub(super) fn pair(at: usize, categories: &[&str]) -> Item {
    item(
        format!("RB-{at}"),
        Body::Pair {
            question: format!("Why {at}?"),
            good: "Nobody knows.".into(),
            bad: "Because.".into(),
            good_first: at.is_multiple_of(2),
            categories: categories.iter().map(ToString::to_string).collect(),
            rated: vec![("m".into(), "j".into(), (at % 5) as u32)],
        },
    )
}

pub(super) fn text(at: usize, is_question: bool, kind: Option<&str>, answer: usize) -> Item {
    item(
        format!("t{at}"),
        Body::Text {
            text: format!("第{at}句"),
            is_question,
            kind: kind.map(str::to_string),
            explanation: "双关。".into(),
            options: ["甲", "乙", "丙", "丁"].map(str::to_string).into(),
            answer,
        },
    )
}

pub(super) fn joke(at: usize, votes: [u64; 3]) -> Item {
    let opponents = vec![Opponent { model: "m".into(), explanation: "太长。".into(), votes }];
    item(format!("j{at}"), Body::Joke { joke: format!("笑话{at}"), explanation: "双关。".into(), opponents })
}

/// The three puzzles of a group.
pub(super) fn group(at: usize, word: bool, answer: usize) -> Vec<Item> {
    let group = format!("{}-{at}", if word { "WP" } else { "SP" });
    Variant::ALL
        .into_iter()
        .map(|variant| {
            let end = ["", "_SR", "_CR"][variant as usize];
            let options = ["A frozen river.", "A boat.", "A bridge.", "None of above."];
            let body = Body::Puzzle {
                question: "How did he cross?".into(),
                options: options.map(str::to_string).into(),
                answer,
                group: group.clone(),
                variant,
                word,
            };
            item(format!("{group}{end}"), body)
        })
        .collect()
}

pub(super) fn given(task: Task, model: &str, text: &str) -> RawAnswer {
    let (setting, basis) = (Setting::default(), "test".into());
    RawAnswer { task, setting, model: model.into(), person: false, basis, text: text.into() }
}

pub(super) fn answer(item: &Item, task: Task, model: &str, text: &str) -> Answer {
    Answer::read(item, given(task, model, text))
}

pub(super) fn rated(item: &Item, task: Task, model: &str, ratings: &[(&str, &str)]) -> Answer {
    let mut answer = answer(item, task, model, "So.");
    answer.ratings = ratings.iter().map(|(judge, value)| rating(judge, value, false)).collect();
    answer
}

pub(super) fn rating(judge: &str, value: &str, person: bool) -> Rating {
    Rating { judge: judge.into(), person, value: value.into(), basis: "test".into() }
}
