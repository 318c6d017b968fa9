//! Rows of a file of votes, in any format.

use std::borrow::Cow;

use crate::value::Value;

use super::unread::Unread;

/// The rows of a file.
pub(super) struct Entries {
    /// The worksheet.
    pub(super) sheet: Option<String>,
    /// Headers, in the file's order.
    pub(super) columns: Vec<String>,
    pub(super) rows: Vec<Entry>,
    pub(super) places: Places,
    /// What stands in the file beside these columns.
    pub(super) unread: Unread,
}

/// The column of each cell of rows that is not empty.
pub(super) fn filled_columns(rows: &[Entry]) -> impl Iterator<Item = usize> {
    rows.iter().flat_map(|row| (0..row.cells.len()).filter(|at| row.cells.text_at(*at).is_some()))
}

/// One row.
pub(super) struct Entry {
    /// The number of the row, line or task, from 1.
    pub(super) number: usize,
    /// By column; a row may be shorter than the header.
    pub(super) cells: RowCells,
    /// Columns that are merged into a cell above, with that cell.
    pub(super) merged: Vec<(usize, String)>,
}

/// The cells of a row.
pub(super) enum RowCells {
    /// Their values; `None` for empty cells.
    Values(Vec<Option<Value>>),
    /// Their text, as in the file.
    Texts(::csv::StringRecord),
}

impl RowCells {
    pub(super) fn len(&self) -> usize {
        match self {
            RowCells::Values(values) => values.len(),
            RowCells::Texts(texts) => texts.len(),
        }
    }

    /// The value of a cell, if it is not empty.
    pub(super) fn value_at(&self, at: usize) -> Option<Cow<'_, Value>> {
        match self {
            RowCells::Values(values) => values.get(at)?.as_ref().map(Cow::Borrowed),
            RowCells::Texts(texts) => {
                texts.get(at).filter(|text| !text.is_empty()).map(|text| Cow::Owned(text.into()))
            }
        }
    }

    /// The trimmed text of a cell, if anything is left.
    pub(super) fn text_at(&self, at: usize) -> Option<Cow<'_, str>> {
        let text = match self {
            RowCells::Texts(texts) => Cow::from(texts.get(at)?.trim()),
            RowCells::Values(values) => match values.get(at)?.as_ref()? {
                Value::Text(text) => Cow::from(text.trim()),
                other => Cow::from(other.to_string().trim().to_owned()),
            },
        };
        Some(text).filter(|text| !text.is_empty())
    }
}

/// How places in the file are named.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Places {
    Cells,
    Lines,
    Tasks,
}

impl Entries {
    /// The name of a row, or of one of its cells.
    pub(super) fn name_place(&self, number: usize, column: Option<usize>) -> String {
        let name = column
            .and_then(|column| self.columns.get(column))
            .map(|name| format!(", {name}"))
            .unwrap_or_default();
        let cell = match (self.places, column) {
            (Places::Lines, _) => return format!("line {number}{name}"),
            (Places::Tasks, _) => return format!("task {number}{name}"),
            (Places::Cells, Some(column)) => format!("{}{number}", column_letters(column)),
            (Places::Cells, None) => format!("row {number}"),
        };
        match &self.sheet {
            Some(sheet) => format!("sheet {sheet}, {cell}"),
            None => cell,
        }
    }
}

pub(super) use riddlemill_files::reading::workbook::column_letters;
