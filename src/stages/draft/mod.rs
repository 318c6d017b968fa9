//! Drafts: what a model proposes for people to confirm or correct.
//!
//! One file a step. Each says what its prompt asks for, reads the reply into the answers of the step's
//! ballot, and checks the draft before a person's time is spent on it. [`ask`] holds what all share.

mod ask;
mod category;
mod irrationality;
mod pair;
mod screen;
mod translation;

use std::collections::BTreeMap;

pub use ask::{Asking, draft, endpoint, evidence, open_store, prompts, requests, sends};

use crate::llm::parse::Unreadable;
use crate::record::Question;
use crate::review::{Value, Values};

/// Every draft. Its name is that of the review step that looks at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draft {
    /// What speaks against a question (RuozhiBench 2.2).
    Screen,
    /// The question in English (2.3).
    Translation,
    /// What is irrational about it (2.3, figure 10).
    Irrationality,
    /// The three closest categories (2.3, figure 11).
    Category,
    /// The normal question next to it (2.3, figure 3).
    Pair,
}

impl Draft {
    /// The name of the step in ballots, flags and settings.
    pub fn name(self) -> &'static str {
        match self {
            Draft::Screen => "screen",
            Draft::Translation => "translation",
            Draft::Irrationality => "irrationality",
            Draft::Category => "category",
            Draft::Pair => "pair",
        }
    }

    /// The prompt.
    pub fn template(self) -> &'static str {
        match self {
            Draft::Screen => "ruozhibench/screen",
            Draft::Translation => "ruozhibench/translate",
            Draft::Irrationality => "ruozhibench/irrationality",
            Draft::Category => "ruozhibench/category",
            Draft::Pair => "ruozhibench/pair",
        }
    }

    /// What the prompt asks for. Everything after the translation rests on the reviewed English.
    pub fn values(self, question: &Question) -> BTreeMap<&'static str, String> {
        let english = || question.question_en.clone().unwrap_or_default();
        let analysis = || question.irrationality.clone().unwrap_or_default();
        match self {
            Draft::Screen | Draft::Translation => BTreeMap::from([("question", question.text.clone())]),
            Draft::Irrationality => BTreeMap::from([("question", english())]),
            Draft::Category | Draft::Pair => {
                BTreeMap::from([("question", english()), ("irrationality", analysis())])
            }
        }
    }

    /// The bare text, where the draft is its translation: for a server that takes no prompts.
    pub fn text(self, question: &Question) -> Option<String> {
        (self == Draft::Translation).then(|| question.text.clone())
    }

    /// Reads a reply as answers to the step's ballot, with remarks under names that no ballot has.
    ///
    /// # Errors
    /// [`Unreadable`] in words that can be put to the model.
    pub fn read(self, reply: &str) -> Result<Values, Unreadable> {
        match self {
            Draft::Screen => screen::read(reply),
            Draft::Translation => translation::read(reply),
            Draft::Irrationality => irrationality::read(reply),
            Draft::Category => category::read(reply),
            Draft::Pair => pair::read(reply),
        }
    }

    /// Puts a draft on a question, with its basis and with what the self-checks find.
    pub fn apply(self, question: &mut Question, values: &Values, basis: String) {
        let basis = vec![basis];
        let findings = match self {
            Draft::Screen => {
                question.screen_draft = list(values, "screen");
                question.screen_reasons = list(values, screen::REASONS);
                question.screen_basis = basis;
                Vec::new()
            }
            Draft::Translation => {
                question.translation_draft = text(values, "question_en");
                question.translation_basis = basis;
                translation::check(&question.text, question.translation_draft.as_deref().unwrap_or_default())
            }
            Draft::Irrationality => {
                question.irrationality_draft = text(values, "irrationality");
                question.irrationality_basis = basis;
                irrationality::check(question.irrationality_draft.as_deref().unwrap_or_default())
            }
            Draft::Category => {
                question.category_draft = list(values, "categories");
                question.category_basis = basis;
                category::check(&question.category_draft)
            }
            Draft::Pair => {
                question.pair_draft = text(values, "pair");
                question.pair_basis = basis;
                let english = question.question_en.as_deref().unwrap_or_default();
                question.pair_draft.as_deref().map(|pair| pair::check(english, pair)).unwrap_or_default()
            }
        };
        question.set_flags(self.name(), findings);
    }
}

fn text(values: &Values, field: &str) -> Option<String> {
    values.text(field).map(str::to_owned)
}

/// A list, or one code as a list of itself.
fn list(values: &Values, field: &str) -> Vec<String> {
    match values.get(field) {
        Some(Value::List(list)) => list.clone(),
        Some(Value::Text(code)) => vec![code.clone()],
        _ => Vec::new(),
    }
}
