//! Parsing of models' replies: tolerant of wrapping, strict about the value inside.
//!
//! Nothing here guesses. A reply that says two things, or nothing, is [`Unreadable`], never a default.

mod choice;
mod json;
mod mended;
mod rating;
mod repeated;
mod text;

pub use choice::{choice, choice_within, labelled, letter, numbers, one_of};
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
}

impl Unreadable {
    /// What is wrong with the reply.
    pub fn new(what: impl Into<String>) -> Unreadable {
        Unreadable { what: what.into(), before: None }
    }

    /// The same, which earlier versions put in these words: what they asked again is stored under them.
    fn said_before(self, words: String) -> Unreadable {
        Unreadable { before: Some(words), ..self }
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
