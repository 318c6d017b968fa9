//! TOML as JSON.

use serde_json::Value;
use toml_edit::Item;

/// A value or a table in any notation; `None` for what JSON has not: dates, `nan` and `inf`.
pub fn item_json(item: &Item) -> Option<Value> {
    match item {
        Item::Value(value) => value_json(value),
        Item::Table(table) => {
            table.iter().map(|(key, item)| Some((key.to_owned(), item_json(item)?))).collect()
        }
        Item::ArrayOfTables(tables) => {
            let table = |table: &toml_edit::Table| {
                table.iter().map(|(key, item)| Some((key.to_owned(), item_json(item)?))).collect()
            };
            tables.iter().map(table).collect::<Option<Vec<Value>>>().map(Value::Array)
        }
        Item::None => None,
    }
}

/// The same of a value.
pub fn value_json(value: &toml_edit::Value) -> Option<Value> {
    Some(match value {
        toml_edit::Value::String(text) => text.value().clone().into(),
        toml_edit::Value::Integer(n) => (*n.value()).into(),
        toml_edit::Value::Float(x) => serde_json::Number::from_f64(*x.value())?.into(),
        toml_edit::Value::Boolean(flag) => (*flag.value()).into(),
        toml_edit::Value::Array(list) => list.iter().map(value_json).collect::<Option<Vec<_>>>()?.into(),
        toml_edit::Value::InlineTable(table) => {
            let entry = |(key, value): (&str, &toml_edit::Value)| Some((key.to_owned(), value_json(value)?));
            Value::Object(table.iter().map(entry).collect::<Option<_>>()?)
        }
        toml_edit::Value::Datetime(_) => return None,
    })
}

/// A value written in TOML.
pub fn toml_value(text: &str) -> Option<Value> {
    text.parse::<toml_edit::Value>().ok().as_ref().and_then(value_json)
}
