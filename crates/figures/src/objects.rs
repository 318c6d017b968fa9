//! Tables as JSON: a table of named rows as an evaluation has it, a list of objects as a report does, and back.

use serde::{Serialize, Serializer};
use serde_json::{Map, Value as Json};

use super::{Cell, Column, ColumnUnit, Figure, Keys, Row, Table, name_of, stem};

/// A table of named rows.
#[derive(Serialize)]
struct NamedRows<'a> {
    name: &'a str,
    title: &'a str,
    paper: &'a str,
    about: &'a str,
    of: &'a str,
    columns: &'a [&'a str],
    rows: Vec<NamedRow<'a>>,
    look: Look,
}

#[derive(Serialize)]
struct NamedRow<'a> {
    name: &'a str,
    cells: &'a [Cell],
}

/// How a table is drawn on a page.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Look {
    Plain,
    Heat { low: f64, high: f64 },
}

/// A figure with the ends of its interval, and the answers it is computed from.
#[derive(Serialize)]
struct WithOrigin<'a> {
    value: f64,
    low: Option<f64>,
    high: Option<f64>,
    n: Option<usize>,
    from: &'a Keys,
}

impl Serialize for Table {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let header = self.column_titles();
        let (of, columns) = header.split_first().map_or(("", &[][..]), |(of, columns)| (*of, columns));
        let rows = self.rows.iter();
        let rows = rows.map(|row| NamedRow { name: name_of(row), cells: row.get(1..).unwrap_or_default() });
        let rows = rows.collect();
        let look = self.heat.map_or(Look::Plain, |[low, high]| Look::Heat { low, high });
        let Table { name, title, paper, about, .. } = self;
        NamedRows { name, title, paper, about, of, columns, rows, look }.serialize(serializer)
    }
}

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Cell::Empty => serializer.serialize_none(),
            Cell::Text(text) => serializer.serialize_str(text),
            Cell::Nested(value) => value.serialize(serializer),
            Cell::Figure(Figure { value, ends, n, from }) => {
                let [low, high] = ends.map_or([None; 2], |ends| ends.map(Some));
                WithOrigin { value: *value, low, high, n: *n, from }.serialize(serializer)
            }
        }
    }
}

impl Table {
    /// Its rows as objects: a key for each column that has a heading. What is empty has no key.
    pub fn row_objects(&self) -> Vec<Map<String, Json>> {
        let cell = |(column, cell): (&Column, &Cell)| {
            let value = match cell {
                _ if column.title.is_empty() => return None,
                Cell::Empty => return None,
                Cell::Text(text) => Json::from(text.as_str()),
                Cell::Nested(value) => value.clone(),
                Cell::Figure(figure) if column.unit == ColumnUnit::Count => Json::from(figure.value as i64),
                Cell::Figure(figure) => Json::from(figure.value),
            };
            Some((column.title.clone(), value))
        };
        self.rows.iter().map(|row| self.columns.iter().zip(row).filter_map(cell).collect()).collect()
    }

    /// A table of objects; what a row is named after stands first. Its units are those of its cells.
    pub fn of_objects(prefix: &str, name: &str, rows: &[Map<String, Json>]) -> Table {
        let mut header: Vec<&String> = Vec::new();
        for key in rows.iter().flat_map(Map::keys) {
            if !header.contains(&key) {
                header.push(key);
            }
        }
        header.sort_by_key(|key| !rows.iter().any(|row| row.get(*key).is_some_and(Json::is_string)));
        let cells: Vec<Row> =
            rows.iter().map(|row| header.iter().map(|key| cell_of(row.get(*key))).collect()).collect();
        let column =
            |(at, key): (usize, &&String)| Column::of_cells(*key, cells.iter().map(move |row| &row[at]));
        Table {
            name: stem(&format!("{prefix}-{name}")),
            title: format!("{prefix}: {}", name.replace('_', " ")),
            columns: header.iter().enumerate().map(column).collect(),
            rows: cells,
            ..Table::default()
        }
    }
}

/// A value as a cell.
fn cell_of(value: Option<&Json>) -> Cell {
    match value {
        None | Some(Json::Null) => Cell::Empty,
        Some(Json::Number(number)) => number.as_f64().map_or(Cell::Empty, Cell::plain_number),
        Some(Json::String(text)) => Cell::Text(text.clone()),
        Some(value) => Cell::Nested(value.clone()),
    }
}

/// A value as a text: of words themselves, of nothing nothing.
pub fn text_of_value(value: Option<&Json>) -> String {
    match value {
        None | Some(Json::Null) => String::new(),
        Some(Json::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    }
}
