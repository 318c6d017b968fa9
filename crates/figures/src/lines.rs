//! Tables as the lines of a report, whose columns have declared widths: the same table always stands in the same places.

use std::fmt::Write as _;

use riddlemill_text::text::decimals;

use super::{Cell, Column, Table};

/// Where a column stands in a line: what is before it, its width, and what is behind it.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    pub before: String,
    pub width: usize,
    pub side: Side,
    pub after: &'static str,
    /// Digits behind the point, where they are not those of the column; `None` for a whole number without a point.
    pub digits: Digits,
}

/// The side on which the cells of a column are aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Left,
    Right,
}

/// How a number is shown in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Digits {
    /// With so many digits behind the point.
    Fixed(usize),
    /// A whole number without a point, others with two digits.
    Fitting,
}

impl Place {
    /// Words on the left of so many columns.
    pub fn left(width: usize) -> Place {
        Place { before: String::new(), width, side: Side::Left, after: "", digits: Digits::Fitting }
    }

    /// Numbers on the right of so many columns, behind a blank.
    pub fn right(width: usize, digits: Digits) -> Place {
        Place { before: " ".to_owned(), width, side: Side::Right, after: "", digits }
    }

    /// The same behind other words.
    #[must_use]
    pub fn behind(self, before: impl Into<String>) -> Place {
        Place { before: before.into(), ..self }
    }

    /// The same with a unit.
    #[must_use]
    pub fn before(self, after: &'static str) -> Place {
        Place { after, ..self }
    }

    fn shown(&self, cell: &Cell, column: &Column) -> String {
        let text = match (cell.figure(), self.digits) {
            (Some(figure), Digits::Fixed(digits)) => decimals(figure.value, digits),
            (Some(figure), Digits::Fitting) if figure.value.fract() == 0.0 => decimals(figure.value, 0),
            (Some(figure), Digits::Fitting) => decimals(figure.value, 2),
            (None, _) => cell.shown(column),
        };
        let padded = match self.side {
            Side::Left => format!("{text:<width$}", width = self.width),
            Side::Right => format!("{text:>width$}", width = self.width),
        };
        format!("{}{padded}{}", self.before, self.after)
    }
}

impl Column {
    /// The same with a place in the lines of a report.
    #[must_use]
    pub fn at(self, place: Place) -> Column {
        Column { place: Some(place), ..self }
    }
}

impl Table {
    /// Its rows as lines with so many blanks before them: the columns that have a place.
    pub fn lines(&self, indent: usize) -> String {
        let mut lines = String::new();
        for row in &self.rows {
            let cells = self.columns.iter().zip(row);
            let placed = cells.filter_map(|(column, cell)| Some(column.place.as_ref()?.shown(cell, column)));
            let _ = writeln!(lines, "{:indent$}{}", "", placed.collect::<String>());
        }
        lines
    }
}
