//! Steps that neither ask nor find anything: the order of options, and marked texts.

use crate::draft::{Place, by_name};
use crate::expression::Expression;
use crate::reader::{Keys, keep};

/// The options of a multiple choice.
pub struct Options {
    pub benchmark: &'static str,
    /// The step.
    pub name: &'static str,
    /// The right one, over the record.
    pub right: Expression,
    /// The wrong ones.
    pub wrong: Expression,
    pub number: usize,
    /// The purpose of the draw: another one gives another order.
    pub purpose: &'static str,
}

/// Texts of records in which personal data is marked.
pub struct Marked {
    pub benchmark: &'static str,
    /// The step.
    pub name: &'static str,
    /// Groups and their fields, `riddle.question`.
    pub texts: Vec<(&'static str, &'static str)>,
    /// Whether they are in English; by default, in the language of the recipe's posts.
    pub english: Option<bool>,
}

by_name!(Options Marked);

impl Place<'_> {
    /// The options of a multiple choice.
    pub fn options(&self, keys: &Keys<'_>) -> Option<Options> {
        let number = keys.count("number").unwrap_or(4);
        if !(2..=riddlemill_text::options::LETTERS.len()).contains(&number) {
            keys.problem(
                "number",
                format!("between 2 and {} options", riddlemill_text::options::LETTERS.len()),
            );
        }
        for key in ["right", "wrong"].into_iter().filter(|key| !keys.has(key)) {
            keys.needed(key);
        }
        let (right, wrong) = (self.expression(keys, "right"), self.expression(keys, "wrong"));
        let purpose =
            keys.text("purpose").unwrap_or_else(|| keep(&format!("{} {}", self.benchmark, self.name)));
        Some(Options {
            benchmark: self.benchmark,
            name: self.name,
            right: right?,
            wrong: wrong?,
            number,
            purpose,
        })
    }

    /// Texts in which personal data is marked.
    pub fn marked(&self, keys: &Keys<'_>) -> Marked {
        let texts = keys.texts("texts").unwrap_or_default();
        let parted = |text: &'static str| {
            let parts = text.split_once('.');
            if parts.is_none() {
                keys.problem(
                    "texts",
                    format!("{text:?} is not a field of a group, such as \"riddle.question\""),
                );
            }
            parts
        };
        let english = keys.one_of("language", &[("en", true), ("zh", false)]);
        Marked {
            benchmark: self.benchmark,
            name: self.name,
            texts: texts.into_iter().filter_map(parted).collect(),
            english,
        }
    }
}
