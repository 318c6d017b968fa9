//! The columns of a release.

use crate::expression::Expression;

/// A column of a release.
#[derive(Debug)]
pub struct Column {
    /// Its key in JSON and its name in Parquet.
    pub name: &'static str,
    /// Its type.
    pub kind: ColumnKind,
    /// Whether it may be null.
    pub nullable: bool,
    /// Its value over the record, `number` and `standing`.
    pub is: Expression,
    /// Its meaning, in one sentence.
    pub about: &'static str,
    /// The allowed values; empty if any is.
    pub values: Vec<&'static str>,
}

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// UTF-8 text.
    Text,
    /// A whole number from 0.
    Count,
    /// A real number.
    Real,
    /// Yes or no.
    Flag,
    /// A list of texts.
    Texts,
    /// A list of whole numbers.
    Counts,
    /// A list of real numbers.
    Reals,
}

impl ColumnKind {
    /// Its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            ColumnKind::Text => "a text",
            ColumnKind::Count => "a whole number",
            ColumnKind::Real => "a number",
            ColumnKind::Flag => "true or false",
            ColumnKind::Texts => "a list of texts",
            ColumnKind::Counts => "a list of whole numbers",
            ColumnKind::Reals => "a list of numbers",
        }
    }

    /// Whether it is a list, and the type of its elements or of itself.
    pub fn split_list_kind(self) -> (bool, ColumnKind) {
        match self {
            ColumnKind::Texts => (true, ColumnKind::Text),
            ColumnKind::Counts => (true, ColumnKind::Count),
            ColumnKind::Reals => (true, ColumnKind::Real),
            other => (false, other),
        }
    }
}
