//! Rows of the built-in benchmarks in tests.

use super::{Prompt, draft_items};
use crate::stages::draft::{DraftStep, Slot};
use riddlemill_record::{Column, OwnedCell, Row};
use serde_json::Value as Json;

/// The columns of a kind.
pub(in crate::stages) fn columns_of_kind(name: &str) -> &'static [Column] {
    let mut kinds = riddlemill_benchmarks::all_benchmarks().iter().flat_map(|benchmark| &benchmark.kinds);
    kinds.find(|kind| kind.name == name).expect("a kind of records").columns
}

/// A row of a kind with these values.
pub(in crate::stages) fn make_row(name: &str, values: Json) -> Row {
    row_with_values(&Row::new(columns_of_kind(name), ""), values)
}

/// The row with other values.
pub(in crate::stages) fn row_with_values(row: &Row, values: Json) -> Row {
    let mut row = row.clone();
    for (column, value) in values.as_object().expect("values by columns") {
        assert!(row.has_column(column), "{column}");
        row.set(column, cell_of_json(value));
    }
    row
}

/// What a draft asks about the first of its items.
pub(in crate::stages) fn first_prompt(record: &Row, draft: DraftStep, slot: &Slot) -> Option<Prompt> {
    draft_items(record, draft).ok()?.first()?.prompt_for_slot(draft, slot)
}

fn cell_of_json(value: &Json) -> OwnedCell {
    let text = |value: &Json| value.as_str().expect("a text").to_owned();
    match value {
        Json::Null => OwnedCell::Null,
        Json::Bool(flag) => OwnedCell::Flag(*flag),
        Json::Number(number) => OwnedCell::Count(number.as_u64().expect("a count")),
        Json::String(text) => OwnedCell::Text(text.clone()),
        Json::Array(list) => OwnedCell::Texts(list.iter().map(text).collect()),
        Json::Object(_) => panic!("no cell: {value}"),
    }
}
