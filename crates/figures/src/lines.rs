//! Tables as the lines of a report, whose columns have declared widths: the same table always stands in the same places.

use std::fmt::Write as _;

use riddlemill_text::text::format_decimals;
use unicode_width::UnicodeWidthStr;

use super::place::{Digits, Place, Side};
use super::table::format_value;
use super::{Cell, Column, Table};

impl Place {
    fn format_cell(&self, cell: &Cell, column: &Column) -> String {
        if *cell == Cell::Empty && self.width == 0 {
            return String::new();
        }
        let text = match (cell.figure(), self.digits) {
            (Some(figure), Digits::OfUnit) => format_value(figure, column),
            (Some(figure), Digits::Fixed(digits)) => format_decimals(figure.value, digits),
            (Some(figure), Digits::Fitting) if figure.value.fract() == 0.0 => {
                format_decimals(figure.value, 0)
            }
            (Some(figure), Digits::Fitting) => format_decimals(figure.value, 2),
            (None, _) if *cell == Cell::Empty => self.none.to_owned(),
            (None, _) => cell.format_with_interval(column),
        };
        // A Chinese character is as wide as two others.
        let blanks = " ".repeat(self.width.saturating_sub(text.width()));
        let (left, right) = match self.side {
            Side::Left => ("", blanks.as_str()),
            Side::Right => (blanks.as_str(), ""),
        };
        format!("{}{left}{text}{right}{}", self.before, self.after)
    }
}

impl Table {
    /// Its rows as lines with so many blanks before them: the columns that have a place.
    pub fn render_lines(&self, indent: usize) -> String {
        let mut lines = String::new();
        for row in &self.rows {
            let cells = self.columns.iter().zip(row);
            let placed =
                cells.filter_map(|(column, cell)| Some(column.place.as_ref()?.format_cell(cell, column)));
            let line = format!("{:indent$}{}", "", placed.collect::<String>());
            let _ = writeln!(lines, "{}", line.trim_end());
        }
        lines
    }
}
