//! The columns of a table: what they hold, and where they stand.

use riddlemill_text::text::format_decimals;

use super::Place;

/// A column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its heading; empty of a column that only lines or JSON have.
    pub title: String,
    /// The key of its cells in JSON: `a.b` is within an object, `a[]` one of a list. Not in JSON if empty.
    pub key: &'static str,
    pub unit: ColumnUnit,
    /// Its place in the lines of a report; not in them if `None`.
    pub place: Option<Place>,
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnUnit {
    /// Names and words.
    Text,
    /// Whole numbers.
    Count,
    /// Numbers that are shown with so many digits behind the point.
    Number { digits: usize },
    /// The same with a sign of percent.
    Percent { digits: usize },
    /// Shares of 1, which are shown in percent.
    Share { digits: usize },
}

impl Column {
    /// A column of names and words.
    pub fn of_words(title: impl Into<String>) -> Column {
        Column { title: title.into(), key: "", unit: ColumnUnit::Text, place: None }
    }

    /// A column of numbers with two digits behind the point.
    pub fn of_numbers(title: impl Into<String>) -> Column {
        Column { unit: ColumnUnit::Number { digits: 2 }, ..Column::of_words(title) }
    }

    /// A column of whole numbers.
    pub fn of_counts(title: impl Into<String>) -> Column {
        Column { unit: ColumnUnit::Count, ..Column::of_words(title) }
    }

    /// A column that is in JSON alone.
    pub fn of_key(key: &'static str) -> Column {
        Column::of_words("").with_key(key)
    }

    /// The same with a key in JSON.
    #[must_use]
    pub fn with_key(self, key: &'static str) -> Column {
        Column { key, ..self }
    }

    /// The same with another unit.
    #[must_use]
    pub fn with_unit(self, unit: ColumnUnit) -> Column {
        Column { unit, ..self }
    }

    /// The same with a place in the lines of a report.
    #[must_use]
    pub fn with_place(self, place: Place) -> Column {
        Column { place: Some(place), ..self }
    }
}

impl ColumnUnit {
    /// What its numbers are shown times.
    pub(super) fn scale(self) -> f64 {
        if matches!(self, ColumnUnit::Share { .. }) { 100.0 } else { 1.0 }
    }
}

/// A figure without an interval: small ones, such as p-values, with their first digits.
pub fn format_plain(value: f64, digits: usize) -> String {
    let least = 0.5 * 0.1f64.powi(i32::try_from(digits).unwrap_or(i32::MAX));
    if value != 0.0 && value.abs() < least { format!("{value:.1e}") } else { format_decimals(value, digits) }
}
