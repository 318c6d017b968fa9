//! Which rows of a table are wanted.

use polars::prelude::{DataFrame, PolarsResult};
use rustc_hash::FxHashSet;

/// Values that are sooner compared one by one than looked up.
const FEW_VALUES: usize = 4;

/// Columns of names, by which a few rows of many are looked for.
const NAMES: [&str; 4] = ["id", "into", "parent", "child"];

/// Names that are sooner looked up one by one than all rows read.
const FEW_NAMES: usize = 1024;

/// Which rows of a table are wanted, by what its columns of text hold. A null fits nothing.
#[derive(Clone, Debug)]
pub enum Filter {
    /// The column holds one of these texts.
    AnyOf(&'static str, Vec<String>),
    /// The column's text begins so.
    StartsWith(&'static str, String),
    /// The column's text ends so.
    EndsWith(&'static str, String),
    /// The column is not null.
    Present(&'static str),
    /// Both let the row through.
    And(Box<Filter>, Box<Filter>),
    /// One of the two lets the row through.
    Or(Box<Filter>, Box<Filter>),
}

impl Filter {
    /// Rows whose column is one of a few values.
    pub fn any_of<'a>(column: &'static str, values: impl IntoIterator<Item = &'a str>) -> Filter {
        Filter::AnyOf(column, values.into_iter().map(str::to_string).collect())
    }

    /// Rows whose column is this value.
    pub fn equals(column: &'static str, value: &str) -> Filter {
        Filter::any_of(column, [value])
    }

    /// Rows that both let through.
    #[must_use]
    pub fn and(self, other: Filter) -> Filter {
        Filter::And(Box::new(self), Box::new(other))
    }

    /// Rows that either lets through.
    #[must_use]
    pub fn or(self, other: Filter) -> Filter {
        Filter::Or(Box::new(self), Box::new(other))
    }

    /// The columns that it looks at.
    pub(super) fn columns(&self) -> Vec<&'static str> {
        let mut columns = match self {
            Filter::AnyOf(column, _)
            | Filter::StartsWith(column, _)
            | Filter::EndsWith(column, _)
            | Filter::Present(column) => vec![*column],
            Filter::And(a, b) | Filter::Or(a, b) => [a.columns(), b.columns()].concat(),
        };
        columns.sort_unstable();
        columns.dedup();
        columns
    }

    /// The names that a row must hold one of, by column; `None` where others may be let through, or too many.
    pub(super) fn names(&self) -> Option<Vec<(&'static str, &[String])>> {
        let names = match self {
            Filter::AnyOf(column, names) => {
                NAMES.contains(column).then(|| vec![(*column, names.as_slice())])?
            }
            Filter::Or(a, b) => [a.names()?, b.names()?].concat(),
            Filter::And(a, b) => a.names().or_else(|| b.names())?,
            _ => return None,
        };
        let all: usize = names.iter().map(|(_, names)| names.len()).sum();
        (all <= FEW_NAMES).then_some(names)
    }

    /// For each row of a frame, whether it is let through.
    pub(super) fn mask(&self, frame: &DataFrame) -> PolarsResult<Vec<bool>> {
        let texts = |column: &str, fits: &dyn Fn(&str) -> bool| -> PolarsResult<Vec<bool>> {
            Ok(frame.column(column)?.str()?.iter().map(|text| text.is_some_and(fits)).collect())
        };
        let both = |a: &Filter, b: &Filter, one: fn(bool, bool) -> bool| -> PolarsResult<Vec<bool>> {
            Ok(a.mask(frame)?.into_iter().zip(b.mask(frame)?).map(|(a, b)| one(a, b)).collect())
        };
        match self {
            Filter::AnyOf(column, values) if values.len() <= FEW_VALUES => {
                texts(column, &|text| values.iter().any(|value| value == text))
            }
            Filter::AnyOf(column, values) => {
                let values: FxHashSet<&str> = values.iter().map(String::as_str).collect();
                texts(column, &|text| values.contains(text))
            }
            Filter::StartsWith(column, start) => texts(column, &|text| text.starts_with(start.as_str())),
            Filter::EndsWith(column, end) => texts(column, &|text| text.ends_with(end.as_str())),
            Filter::Present(column) => texts(column, &|_| true),
            Filter::And(a, b) => both(a, b, |a, b| a && b),
            Filter::Or(a, b) => both(a, b, |a, b| a || b),
        }
    }
}
