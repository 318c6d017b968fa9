//! One parsed and scored answer to one question: a line of `answers.jsonl`.

use serde::{Deserialize, Serialize};

use super::confidence::split_confidence;
use super::item::Item;
use super::read;
use super::task::{Setting, Task};
use crate::llm::parse::Unreadable;
use crate::measures::mean;

/// What a model or a person answered to a task about an item, and how it was scored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The item's id.
    pub item: String,
    pub task: Task,
    pub setting: Setting,
    /// The model or person.
    pub model: String,
    /// Whether it is a person.
    pub person: bool,
    /// Which of several answers to the same question, from 0.
    #[serde(default, skip_serializing_if = "is_first")]
    pub sample: u32,
    /// Origin of the text: `reply:<key>` of the reply store (`reply` if it was cut), `sample:<key>` of a pack, `made:<file>:<line>`,
    /// `ballot:<file>:<line>`, or `built-in`.
    pub basis: String,
    pub text: String,
    /// The chosen option, in the form of the gold answer; `None` if it cannot be parsed or nothing is chosen.
    #[serde(alias = "said")]
    pub chosen: Option<String>,
    /// The gold answer; `None` if the answer has to be judged.
    pub gold: Option<String>,
    /// Whether it is correct.
    pub correct: Option<bool>,
    /// The confidence that it states, from 0 to 1; `None` if its task asks for none, or it states none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// How many questions a conversation had; `None` of other tasks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<u32>,
    /// Why the text cannot be parsed: a format error, not a wrong answer.
    pub format_error: Option<String>,
    /// Why the reply holds no answer, if it is of an endpoint or its format says so; `format_error` has the details.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_answer: Option<NoAnswer>,
    /// The judges' ratings.
    pub ratings: Vec<Rating>,
    /// The parts of the set it belongs to: categories, kind, split, whether it asks.
    pub parts: Vec<String>,
}

/// Whether it is the first of several answers, whose number is not written.
pub(super) fn is_first(sample: &u32) -> bool {
    *sample == 0
}

/// How the basis of what an endpoint replied begins.
pub const OF_A_REPLY: &str = "reply";

/// How the basis of what files of outputs hold begins.
pub(super) const OF_A_FILE: &str = "made:";

/// Why a reply that came holds no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoAnswer {
    /// It was cut at its limit of tokens.
    Cut,
    /// The model refused, or a content filter withheld the answer.
    Refused,
    /// It is empty, nothing but reasoning, or not in the form that was asked for.
    Unread,
}

/// One judge's rating of one answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rating {
    pub judge: String,
    /// Whether it is a person.
    pub person: bool,
    /// A number on the task's scale; for a joke `human`, `llm` or `equal`.
    pub value: String,
    /// Its origin, as in [`Answer::basis`].
    pub basis: String,
}

impl Answer {
    /// The mean of the numbers that people gave it, or judges; `None` without any.
    pub fn mean_rating(&self, person: bool) -> Option<f64> {
        let of_kind = self.ratings.iter().filter(|rating| rating.person == person);
        mean(&of_kind.filter_map(Rating::numeric_value).collect::<Vec<_>>())
    }
}

impl Rating {
    /// The value as a number.
    pub fn numeric_value(&self) -> Option<f64> {
        self.value.parse().ok()
    }
}

/// An answer before parsing, with its origin.
#[derive(Clone, Debug, PartialEq)]
pub struct RawAnswer {
    pub task: Task,
    pub setting: Setting,
    /// The model or person.
    pub model: String,
    /// Whether it is a person.
    pub person: bool,
    /// Which of several answers, from 0.
    pub sample: u32,
    /// Origin of the text.
    pub basis: String,
    pub text: String,
}

impl Answer {
    /// Whether an endpoint replied it.
    pub fn is_reply(&self) -> bool {
        self.basis.starts_with(OF_A_REPLY)
    }

    /// Whether a file of outputs holds it.
    pub fn is_output(&self) -> bool {
        self.basis.starts_with(OF_A_FILE)
    }

    /// Parses an answer to an item.
    pub fn parse_raw(item: &Item, raw: RawAnswer) -> Answer {
        let read = match raw.task.task_declaration().confidence {
            Some(asked) => {
                read::parse_choice(item, raw.task, raw.setting, &split_confidence(asked, &raw.text).0)
            }
            None => read::parse_choice(item, raw.task, raw.setting, &raw.text),
        };
        Answer::from_choice(item, raw, read)
    }

    /// An answer with a known choice: the index of an option in the release.
    pub fn from_option_index(item: &Item, raw: RawAnswer, place: usize) -> Answer {
        let read = read::at_place(item, raw.task, place);
        Answer::from_choice(item, raw, read)
    }

    /// A reply without an answer, with what is wrong with it.
    pub fn from_reply_without_answer(item: &Item, raw: RawAnswer, why: NoAnswer, what: String) -> Answer {
        let answer = Answer::from_choice(item, raw, Err(Unreadable::new(what)));
        Answer { no_answer: Some(why), ..answer }
    }

    fn from_choice(item: &Item, raw: RawAnswer, read: Result<Option<String>, Unreadable>) -> Answer {
        let gold = item.gold_answer(raw.task);
        let (chosen, format_error) = match read {
            Ok(choice) => (choice, None),
            Err(what) => (None, Some(what.to_string())),
        };
        let is_unread = format_error.is_some() && raw.basis.starts_with(OF_A_REPLY);
        // An answer that cannot be parsed counts as wrong, not as missing.
        let asked = raw.task.task_declaration().confidence;
        let correct = gold.as_ref().map(|gold| chosen.as_ref() == Some(gold));
        Answer {
            item: item.id.clone(),
            task: raw.task,
            setting: raw.setting,
            model: raw.model,
            person: raw.person,
            sample: raw.sample,
            basis: raw.basis,
            confidence: asked.and_then(|asked| split_confidence(asked, &raw.text).1),
            turns: None,
            text: raw.text,
            chosen,
            gold,
            correct,
            format_error,
            no_answer: is_unread.then_some(NoAnswer::Unread),
            ratings: Vec::new(),
            parts: item.parts.clone(),
        }
    }
}
