//! Tables as JSON: a table of named rows as an evaluation has it, and a list of objects as a report does.

use serde::{Serialize, Serializer};
use serde_json::{Map, Value as Json};

use super::{Cell, ColumnUnit, Figure, Keys, Row, Table, name_of};

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
            Cell::Figure(Figure { value, ends, n, from, .. }) => {
                let [low, high] = ends.map_or([None; 2], |ends| ends.map(Some));
                WithOrigin { value: *value, low, high, n: *n, from }.serialize(serializer)
            }
        }
    }
}

impl Cell {
    /// As a value of a report: with an interval a list of the value and its ends. Nothing is null.
    pub fn to_value(&self, unit: ColumnUnit) -> Json {
        match self {
            Cell::Empty => Json::Null,
            Cell::Text(text) => Json::from(text.as_str()),
            Cell::Nested(value) => value.clone(),
            Cell::Figure(Figure { value, ends: Some([low, high]), .. }) => {
                Json::from(vec![*value, *low, *high])
            }
            Cell::Figure(figure) if figure.unit.unwrap_or(unit) == ColumnUnit::Count => {
                Json::from(figure.value as i64)
            }
            Cell::Figure(figure) => Json::from(figure.value),
        }
    }
}

impl Table {
    /// Its rows as objects by the keys of its columns. A figure that is not defined is null, words that are missing have no key.
    pub fn row_objects(&self) -> Vec<Map<String, Json>> {
        let object = |row: &Row| {
            let mut object = Map::new();
            for (column, cell) in self.columns.iter().zip(row).filter(|(column, _)| !column.key.is_empty()) {
                if column.unit != ColumnUnit::Text || *cell != Cell::Empty {
                    insert_value(&mut object, column.key, cell.to_value(column.unit));
                }
            }
            object
        };
        self.rows.iter().map(object).collect()
    }
}

/// Puts a value where a key says: `a.b` within an object, `a[]` behind the others of a list.
fn insert_value(object: &mut Map<String, Json>, key: &str, value: Json) {
    if let Some((outer, inner)) = key.split_once('.') {
        let within = object.entry(outer).or_insert_with(|| Json::Object(Map::new()));
        within.as_object_mut().into_iter().for_each(|within| insert_value(within, inner, value.clone()));
    } else if let Some(list) = key.strip_suffix("[]") {
        let list = object.entry(list).or_insert_with(|| Json::Array(Vec::new()));
        list.as_array_mut().into_iter().for_each(|list| list.push(value.clone()));
    } else {
        object.insert(key.to_owned(), value);
    }
}
