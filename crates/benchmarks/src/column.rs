//! The columns of a release.

use crate::expression::Expression;

/// A column of a release.
#[derive(Debug)]
pub struct Column {
    /// Its key in JSON and its name in Parquet.
    pub name: &'static str,
    /// Its type.
    pub kind: Kind,
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
pub enum Kind {
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

impl Kind {
    /// Its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Text => "a text",
            Kind::Count => "a whole number",
            Kind::Real => "a number",
            Kind::Flag => "true or false",
            Kind::Texts => "a list of texts",
            Kind::Counts => "a list of whole numbers",
            Kind::Reals => "a list of numbers",
        }
    }

    /// Whether it is a list, and the type of its elements or of itself.
    pub fn split_list_kind(self) -> (bool, Kind) {
        match self {
            Kind::Texts => (true, Kind::Text),
            Kind::Counts => (true, Kind::Count),
            Kind::Reals => (true, Kind::Real),
            other => (false, other),
        }
    }
}
