//! Texts in both languages of annotators, and options.

use std::collections::BTreeMap;

use serde::Serialize;

/// A text in both languages of the annotators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Label {
    /// English.
    pub en: &'static str,
    /// Chinese.
    pub zh: &'static str,
}

/// A [`Label`], for short.
pub const fn make_label(en: &'static str, zh: &'static str) -> Label {
    Label { en, zh }
}

/// One option of a choice. The code is in votes and never changes; labels may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Choice {
    /// The stable name in votes: lower-case ASCII, digits and `_`.
    pub code: &'static str,
    /// The label for annotators.
    pub label: Label,
    /// When it applies.
    pub definition: Label,
    /// An example, if helpful.
    pub example: Option<Label>,
}

/// A [`Choice`], for short.
pub const fn make_choice(code: &'static str, label: Label, definition: Label) -> Choice {
    Choice { code, label, definition, example: None }
}

/// Options that several fields share, by the name of their list.
pub type Lists = BTreeMap<&'static str, Vec<Choice>>;
