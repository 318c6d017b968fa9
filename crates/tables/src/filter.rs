//! Filters on the rows of a table.

use polars::prelude::{DataFrame, PolarsResult};
use rustc_hash::FxHashSet;

/// Up to this many values are compared one by one instead of looked up.
const FEW_VALUES: usize = 4;

/// Columns of names, which are used to find a few rows of many.
const NAMES: [&str; 4] = ["id", "into", "parent", "child"];

/// Up to this many names are looked up one by one instead of reading all rows.
const FEW_NAMES: usize = 1024;

/// Selects rows of a table by their text columns. A null matches nothing.
#[derive(Clone, Debug)]
pub enum Filter {
    /// The column is one of these texts.
    AnyOf(&'static str, Vec<String>),
    /// The column's text starts with this.
    StartsWith(&'static str, String),
    /// The column's text ends with this.
    EndsWith(&'static str, String),
    /// The column is not null.
    Present(&'static str),
    /// Both match.
    And(Box<Filter>, Box<Filter>),
    /// At least one matches.
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

    /// Rows that match both.
    #[must_use]
    pub fn and(self, other: Filter) -> Filter {
        Filter::And(Box::new(self), Box::new(other))
    }

    /// Rows that match either.
    #[must_use]
    pub fn or(self, other: Filter) -> Filter {
        Filter::Or(Box::new(self), Box::new(other))
    }

    /// The columns that it reads.
    pub(super) fn used_columns(&self) -> Vec<&'static str> {
        let mut columns = match self {
            Filter::AnyOf(column, _)
            | Filter::StartsWith(column, _)
            | Filter::EndsWith(column, _)
            | Filter::Present(column) => vec![*column],
            Filter::And(a, b) | Filter::Or(a, b) => [a.used_columns(), b.used_columns()].concat(),
        };
        columns.sort_unstable();
        columns.dedup();
        columns
    }

    /// The names of which a matching row must have one, by column; `None` if other rows may match too, or
    /// there are too many names.
    pub(super) fn required_names(&self) -> Option<Vec<(&'static str, &[String])>> {
        let names = match self {
            Filter::AnyOf(column, names) => {
                NAMES.contains(column).then(|| vec![(*column, names.as_slice())])?
            }
            Filter::Or(a, b) => [a.required_names()?, b.required_names()?].concat(),
            Filter::And(a, b) => a.required_names().or_else(|| b.required_names())?,
            _ => return None,
        };
        let all: usize = names.iter().map(|(_, names)| names.len()).sum();
        (all <= FEW_NAMES).then_some(names)
    }

    /// For each row of a frame, whether it matches.
    pub(super) fn compute_mask(&self, frame: &DataFrame) -> PolarsResult<Vec<bool>> {
        let texts = |column: &str, fits: &dyn Fn(&str) -> bool| -> PolarsResult<Vec<bool>> {
            Ok(frame.column(column)?.str()?.iter().map(|text| text.is_some_and(fits)).collect())
        };
        let both = |a: &Filter, b: &Filter, one: fn(bool, bool) -> bool| -> PolarsResult<Vec<bool>> {
            Ok(a.compute_mask(frame)?
                .into_iter()
                .zip(b.compute_mask(frame)?)
                .map(|(a, b)| one(a, b))
                .collect())
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
