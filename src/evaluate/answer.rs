//! One answer to one question, read and scored: a line of `answers.jsonl`.

use serde::{Deserialize, Serialize};

use super::item::Item;
use super::read;
use super::task::{Setting, Task};
use crate::llm::parse::Unreadable;

/// What somebody answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The item's id.
    pub item: String,
    /// The task.
    pub task: Task,
    /// How it was put.
    pub setting: Setting,
    /// The model, or the person, who answers.
    pub model: String,
    /// Whether it is a person.
    pub person: bool,
    /// Where the words come from: `reply:<key>` of the reply store, `sample:<key>` of a pack, `made:<file>:<line>`,
    /// `ballot:<file>:<line>`, or `built-in`.
    pub basis: String,
    /// The words.
    pub text: String,
    /// Which option they choose, as the gold is written; none where they cannot be read or nothing is chosen.
    pub said: Option<String>,
    /// What is right; none where somebody has to judge.
    pub gold: Option<String>,
    /// Whether it is right.
    pub correct: Option<bool>,
    /// Why the words cannot be read: a format error, not a wrong answer.
    pub format_error: Option<String>,
    /// What judges say about it.
    pub ratings: Vec<Rating>,
    /// What of the set it belongs to: categories, kind, part, whether it asks.
    pub parts: Vec<String>,
}

/// What one judge says about one answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rating {
    /// The judge.
    pub judge: String,
    /// Whether it is a person.
    pub person: bool,
    /// A number on the task's scale; of a joke `human`, `llm` or `equal`.
    pub value: String,
    /// Where it comes from, as in [`Answer::basis`].
    pub basis: String,
}

impl Rating {
    /// The value as a number.
    pub fn number(&self) -> Option<f64> {
        self.value.parse().ok()
    }
}

/// Who answers, what, and where the words come from.
#[derive(Clone, Debug, PartialEq)]
pub struct RawAnswer {
    /// The task.
    pub task: Task,
    /// How it was put.
    pub setting: Setting,
    /// The model or person.
    pub model: String,
    /// Whether it is a person.
    pub person: bool,
    /// Where the words come from.
    pub basis: String,
    /// The words.
    pub text: String,
}

impl Answer {
    /// Reads an answer to an item.
    pub fn read(item: &Item, given: RawAnswer) -> Answer {
        let read = read::read(item, given.task, given.setting, &given.text);
        Answer::made(item, given, read)
    }

    /// An answer whose choice is known already: the place of an option among those of the release.
    pub fn chosen(item: &Item, given: RawAnswer, place: usize) -> Answer {
        let read = read::at_place(item, given.task, place);
        Answer::made(item, given, read)
    }

    fn made(item: &Item, given: RawAnswer, read: Result<Option<String>, Unreadable>) -> Answer {
        let gold = item.gold(given.task);
        let (said, format_error) = match read {
            Ok(said) => (said, None),
            Err(what) => (None, Some(what.to_string())),
        };
        let correct = gold.as_ref().map(|gold| said.as_ref() == Some(gold));
        Answer {
            item: item.id.clone(),
            task: given.task,
            setting: given.setting,
            model: given.model,
            person: given.person,
            basis: given.basis,
            text: given.text,
            said,
            gold,
            correct,
            format_error,
            ratings: Vec::new(),
            parts: item.parts.clone(),
        }
    }
}
