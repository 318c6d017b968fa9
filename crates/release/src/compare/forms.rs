//! Brings the rows of a release and of a published file into the same form: published ones are converted back
//! into columns.

use crate::layout::{self, Layout};
use crate::read_rows::JsonRow;

/// The form of a row.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    /// The columns of a release.
    Columns,
    /// A published object.
    Published,
    /// Neither.
    Other,
}

/// Converts published rows back into columns if the other side has columns, and removes from the latter what
/// the published form lacks. Two sides of the same form are unchanged.
pub fn same_form(rows: &mut [JsonRow], reference: &mut [JsonRow]) {
    match (form(rows), form(reference)) {
        (Form::Columns, Form::Published) => to_columns(reference),
        (Form::Published, Form::Columns) => to_columns(rows),
        _ => {}
    }
}

fn form(rows: &[JsonRow]) -> Form {
    let Some(first) = rows.first() else { return Form::Other };
    let is_of = |layout: &Layout| layout.columns.iter().all(|column| first.contains_key(column.name));
    if layout::all().any(is_of) {
        return Form::Columns;
    }
    if rows.iter().any(|row| layout::from_published(row).is_some()) { Form::Published } else { Form::Other }
}

/// Rows that cannot be converted are unchanged and are matched by their texts.
fn to_columns(rows: &mut [JsonRow]) {
    for row in rows {
        let Some((layout, made)) = layout::from_published(row) else { continue };
        let stand_ins = layout.stand_ins();
        let columns = layout.columns.iter().zip(made.0);
        let stated = columns.filter(|(column, value)| stand_ins.get(column.name) != Some(value));
        *row = stated.map(|(column, value)| (column.name.to_owned(), value.to_json())).collect();
    }
}
