//! Parsing of models' replies: tolerant of wrapping, strict about the value inside.
//!
//! Nothing here guesses. A reply that says two things, or nothing, is [`Unreadable`], never a default.

mod choice;
mod denied;
mod json;
mod mended;
mod rating;
mod repeated;
mod text;

pub use choice::{choice, choice_within, labelled, letter, names, numbers, one_of};
pub use json::{ends_with_object, flag, lenient, object, optional_text, strings, text_field, without_halves};
pub use rating::{bracketed, on_scale, rating};
pub use riddlemill_text::text::counts::{count_words, sentences};
pub use text::plain;

use std::fmt;

/// Why a reply cannot be parsed, worded for the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    what: String,
    /// How earlier versions said it.
    before: Option<String>,
    /// The same for a model that was asked in Chinese.
    chinese: Option<String>,
}

impl Unreadable {
    /// What is wrong with the reply.
    pub fn new(what: impl Into<String>) -> Unreadable {
        Unreadable { what: what.into(), before: None, chinese: None }
    }

    /// The same, which earlier versions put in these words: what they asked again is stored under them.
    fn said_before(self, words: String) -> Unreadable {
        Unreadable { before: Some(words), ..self }
    }

    /// The same for a model that was asked in Chinese. Ledgers keep the English, in which earlier versions asked again.
    pub fn in_chinese(self, words: impl Into<String>) -> Unreadable {
        let before = self.before.clone().or_else(|| Some(self.what.clone()));
        Unreadable { before, chinese: Some(words.into()), ..self }
    }

    /// The same with its words changed, such as cut.
    pub(crate) fn changed(&self, change: impl Fn(&str) -> String) -> Unreadable {
        let chinese = self.chinese.as_deref().map(&change);
        Unreadable { what: change(&self.what), before: None, chinese }
    }

    /// What a model is told whose reply is asked for again, in the language of its prompt.
    pub(crate) fn told(&self) -> String {
        match &self.chinese {
            Some(words) => format!(
                "你的回复无法采用：{}。请重新回答第一条消息，严格采用其中要求的格式，不要写任何其他内容。",
                words.trim_end_matches('。')
            ),
            None => format!(
                "Your reply could not be read: {self}. Answer the first message again, in exactly the form it asks for, and write nothing else."
            ),
        }
    }

    /// The same in the words of earlier versions; `None` if they had no others.
    pub fn as_before(&self) -> Option<Unreadable> {
        self.before.clone().map(Unreadable::new)
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for Unreadable {}

#[cfg(test)]
mod tests;
