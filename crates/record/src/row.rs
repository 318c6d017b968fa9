//! A row whose columns come with it: those that a benchmark's folder declares.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::declared::cells_of;
use super::{Cell, CellKind, Cells, Column, OwnedCell, Post, Record, Typed, Values, set_flags};

/// The column of findings.
const FLAGS: &str = "flags";

/// A row of any columns, the first of which is its id. Values are found by the names of their columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    columns: &'static [Column],
    cells: Vec<OwnedCell>,
}

impl Row {
    /// A row of these columns without values.
    pub fn new(columns: &'static [Column], id: impl Into<String>) -> Row {
        let mut row = Row { columns, cells: columns.iter().map(Column::empty_cell).collect() };
        if let Some(first) = row.cells.first_mut() {
            *first = OwnedCell::Text(id.into());
        }
        row
    }

    /// The values of another record, in those of these columns that it has, too.
    pub fn from_record<R: Record>(columns: &'static [Column], record: &R) -> Row {
        let mut row = Row::new(columns, record.id());
        let theirs = R::described(record.columns()).iter().zip(cells_of(record));
        theirs.for_each(|(column, cell)| row.set(column.name, cell));
        row
    }

    /// The row of a post: its text and its origin.
    pub fn of_post(columns: &'static [Column], post: &Post) -> Row {
        Row::from_record(columns, post)
    }

    /// Whether there is a column of this name.
    pub fn has_column(&self, name: &str) -> bool {
        self.columns.iter().any(|column| column.name == name)
    }

    fn find_cell(&self, name: &str) -> Option<&OwnedCell> {
        self.cells.get(self.columns.iter().position(|column| column.name == name)?)
    }

    /// The value of a column; `None` without such a column.
    pub fn cell(&self, name: &str) -> Option<Cell<'_>> {
        self.find_cell(name).map(OwnedCell::as_cell)
    }

    /// A text; `None` where it is null.
    pub fn text(&self, name: &str) -> Option<&str> {
        if let Some(Cell::Text(text)) = self.cell(name) { Some(text) } else { None }
    }

    /// A count; `None` where it is null.
    pub fn count(&self, name: &str) -> Option<u64> {
        if let Some(Cell::Count(n)) = self.cell(name) { Some(n) } else { None }
    }

    /// A number; `None` where it is null.
    pub fn real(&self, name: &str) -> Option<f64> {
        if let Some(Cell::Real(x)) = self.cell(name) { Some(x) } else { None }
    }

    /// Yes or no; `None` where it is null.
    pub fn flag(&self, name: &str) -> Option<bool> {
        if let Some(Cell::Flag(flag)) = self.cell(name) { Some(flag) } else { None }
    }

    /// A list of texts.
    pub fn list(&self, name: &str) -> &[String] {
        if let Some(Cell::Texts(list)) = self.cell(name) { list } else { &[] }
    }

    /// Sets a column. A value of the wrong type becomes null; an unknown column is ignored.
    pub fn set(&mut self, name: &str, cell: OwnedCell) {
        let Some(place) = self.columns.iter().position(|column| column.name == name) else { return };
        self.cells[place] = fit_cell(&self.columns[place], cell);
    }

    /// Sets a column of text.
    pub fn set_text(&mut self, name: &str, text: impl Into<String>) {
        self.set(name, OwnedCell::Text(text.into()));
    }

    /// Sets a column of texts.
    pub fn set_list(&mut self, name: &str, list: Vec<String>) {
        self.set(name, OwnedCell::Texts(list));
    }

    /// The findings of self-checks on drafts, `step: finding`.
    pub fn flags(&self) -> &[String] {
        self.list(FLAGS)
    }

    /// Adds findings.
    pub fn add_flags(&mut self, findings: impl IntoIterator<Item = String>) {
        let mut flags = self.flags().to_vec();
        flags.extend(findings);
        self.set_list(FLAGS, flags);
    }

    /// Replaces the findings on one step's draft.
    pub fn set_flags(&mut self, step: &str, findings: Vec<String>) {
        let mut flags = self.flags().to_vec();
        set_flags(&mut flags, step, findings);
        self.set_list(FLAGS, flags);
    }
}

/// The value, where it is of the column's type.
fn fit_cell(column: &Column, cell: OwnedCell) -> OwnedCell {
    let fits = match cell {
        OwnedCell::Null => false,
        OwnedCell::Text(_) => column.kind == CellKind::Text,
        OwnedCell::Count(_) => column.kind == CellKind::Count,
        OwnedCell::Real(_) => column.kind == CellKind::Real,
        OwnedCell::Flag(_) => column.kind == CellKind::Flag,
        OwnedCell::Texts(_) => column.kind == CellKind::Texts,
    };
    if fits { cell } else { column.empty_cell() }
}

impl<T: Typed> From<T> for Row {
    fn from(record: T) -> Row {
        Row { columns: T::COLUMNS, cells: cells_of(&record) }
    }
}

impl Record for Row {
    type Columns = &'static [Column];

    fn described(columns: &'static [Column]) -> &'static [Column] {
        columns
    }

    fn columns(&self) -> &'static [Column] {
        self.columns
    }

    fn id(&self) -> &str {
        if let Some(OwnedCell::Text(id)) = self.cells.first() { id } else { "" }
    }

    fn append_to(&self, cells: &mut dyn Cells) {
        self.cells.iter().for_each(|cell| cells.append(cell.as_cell()));
    }

    fn take(columns: &'static [Column], values: &mut dyn Values) -> Row {
        let take = |column: &Column| {
            let cell = match column.kind {
                CellKind::Text => values.text().map(OwnedCell::Text),
                CellKind::Count => values.count().map(OwnedCell::Count),
                CellKind::Real => values.real().map(OwnedCell::Real),
                CellKind::Flag => values.flag().map(OwnedCell::Flag),
                CellKind::Texts => values.texts().map(OwnedCell::Texts),
            };
            cell.unwrap_or_else(|| column.empty_cell())
        };
        Row { columns, cells: columns.iter().map(take).collect() }
    }
}

impl Serialize for Row {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(self.cells.len()))?;
        for (column, cell) in self.columns.iter().zip(&self.cells) {
            match cell.as_cell() {
                Cell::Null => map.serialize_entry(column.name, &()),
                Cell::Text(text) => map.serialize_entry(column.name, text),
                Cell::Count(n) => map.serialize_entry(column.name, &n),
                Cell::Real(x) => map.serialize_entry(column.name, &x),
                Cell::Flag(flag) => map.serialize_entry(column.name, &flag),
                Cell::Texts(list) => map.serialize_entry(column.name, list),
            }?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Declared, row_digest};

    #[test]
    fn a_row_has_the_cells_of_its_type() {
        let typed = Declared { id: "a".into(), text: "云".into(), score: Some(0.5), ..Declared::default() };
        let row = Row::from(typed.clone());
        assert_eq!(row_digest((), [&typed]), row_digest(Declared::COLUMNS, [&row]));
        assert_eq!((row.id(), row.text("text"), row.text("title")), ("a", Some("云"), None));
        assert_eq!(serde_json::to_value(&row).unwrap(), serde_json::to_value(&typed).unwrap());
    }

    #[test]
    fn a_value_of_another_type_is_none() {
        let mut row = Row::new(Declared::COLUMNS, "a");
        row.set("position", OwnedCell::Text("x".into()));
        row.set("score", OwnedCell::Count(1));
        row.set_list("flags", vec!["b".into()]);
        row.set_text("nowhere", "c");
        assert_eq!((row.count("position"), row.cell("score")), (Some(0), Some(Cell::Null)));
        assert_eq!((row.list("flags"), row.cell("nowhere")), (&["b".to_owned()][..], None));
    }
}
