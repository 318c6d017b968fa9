//! Published files that are tables: CSV, TSV and Parquet.
//!
//! In CSV and TSV a null is an empty cell, a list or an object its JSON. The columns of Parquet have the type of the column
//! of the set that they repeat, or one that fits all their values; where none does, the values are their JSON as text.

use riddlemill_benchmarks::ExpressionError;
use riddlemill_benchmarks::compat::CompatFormat;
use serde_json::{Map, Value as Json};

use super::layout::{Column, ColumnKind, Compat, Layout};
use super::row::{Row, Value};

/// The character between the cells of a line; `None` of a form that has no such lines.
pub(super) fn cell_separator(form: CompatFormat) -> Option<u8> {
    match form {
        CompatFormat::Csv => Some(b','),
        CompatFormat::Tsv => Some(b'\t'),
        CompatFormat::Json | CompatFormat::JsonLines | CompatFormat::Parquet => None,
    }
}

/// The first line of a table: its keys. `None` of a form that has no such line.
pub(super) fn header_line(compat: &Compat) -> Option<String> {
    cell_separator(compat.form)
        .map(|mark| join_cells(mark, compat.keys.iter().map(|(key, _)| (*key).to_owned())))
}

/// A row's line in a table, with its line break; `None` if the row is not in that file, or the file is no such table.
///
/// # Errors
/// [`ExpressionError`] if a value cannot be computed.
pub(super) fn table_line(
    layout: &Layout,
    compat: &Compat,
    row: &Row,
) -> Result<Option<String>, ExpressionError> {
    let Some(mark) = cell_separator(compat.form) else { return Ok(None) };
    Ok(table_cells(layout, compat, row)?.map(|cells| join_cells(mark, cells.iter().map(cell_text))))
}

/// A row's values under the keys of a published file, in their order; `None` if the row is not in that file.
///
/// # Errors
/// [`ExpressionError`] if a value cannot be computed.
pub(super) fn table_cells(
    layout: &Layout,
    compat: &Compat,
    row: &Row,
) -> Result<Option<Vec<Json>>, ExpressionError> {
    let Some(computed) = layout.published_form(compat, row)? else { return Ok(None) };
    // The original of a published row may hold what no JSON can, such as a bare NaN.
    let original = layout.published_line(compat, row)?;
    let original = original.and_then(|line| serde_json::from_str::<Map<String, Json>>(&line).ok());
    let object = original.unwrap_or(computed);
    let cell = |(key, _): &(&'static str, _)| object.get(*key).cloned().unwrap_or_default();
    Ok(Some(compat.keys.iter().map(cell).collect()))
}

/// The columns of a Parquet file with these values, and its rows.
pub(super) fn parquet_columns(
    layout: &Layout,
    compat: &Compat,
    rows: &[Vec<Json>],
) -> (Vec<Column>, Vec<Row>) {
    let column = |(at, (key, value)): (usize, &(&'static str, riddlemill_benchmarks::Expression))| {
        let values = || rows.iter().filter_map(move |row| row.get(at));
        let repeated = layout.columns.iter().find(|column| column.name == value.source());
        let mut kinds = repeated.map(|column| column.kind).into_iter().chain(KINDS);
        let fits = |kind: &ColumnKind| values().all(|value| Value::from_json(*kind, value).is_some());
        // Without any value every type fits, and a text is the plainest.
        let kind = kinds.find(fits).unwrap_or(ColumnKind::Text);
        Column { name: key, kind, nullable: true, about: "", values: &[] }
    };
    let columns: Vec<Column> = compat.keys.iter().enumerate().map(column).collect();
    let typed = |row: &Vec<Json>| {
        let value = |(column, value): (&Column, &Json)| {
            Value::from_json(column.kind, value).unwrap_or_else(|| Value::Text(cell_text(value)))
        };
        Row(columns.iter().zip(row).map(value).collect())
    };
    let rows: Vec<Row> = rows.iter().map(typed).collect();
    (columns, rows)
}

/// The types of a column, from the narrowest.
const KINDS: [ColumnKind; 7] = [
    ColumnKind::Text,
    ColumnKind::Flag,
    ColumnKind::Count,
    ColumnKind::Real,
    ColumnKind::Texts,
    ColumnKind::Counts,
    ColumnKind::Reals,
];

/// A value as the text of a cell.
fn cell_text(value: &Json) -> String {
    match value {
        Json::Null => String::new(),
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A line of cells, quoted where they need it.
fn join_cells(mark: u8, cells: impl Iterator<Item = String>) -> String {
    let mut writer = csv::WriterBuilder::new().delimiter(mark).from_writer(Vec::new());
    // Writing into a vector cannot fail.
    writer.write_record(cells.collect::<Vec<_>>()).ok();
    String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{cell_text, join_cells};

    /// What a table holds is read back as it was, whatever marks, quotes and line breaks are in it.
    #[test]
    fn a_line_is_read_back_as_it_was() {
        let values = [json!("a, \"b\"\tc\nd"), json!(null), json!(["x", 1]), json!(2.5), json!(true)];
        let cells: Vec<String> = values.iter().map(cell_text).collect();
        assert_eq!(cells[1..], ["", "[\"x\",1]", "2.5", "true"]);
        for mark in [b',', b'\t'] {
            let line = join_cells(mark, cells.iter().cloned());
            assert!(line.ends_with('\n') && !line.ends_with("\r\n"), "{line:?}");
            let mut reader =
                csv::ReaderBuilder::new().delimiter(mark).has_headers(false).from_reader(line.as_bytes());
            let read: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>().unwrap();
            assert_eq!(read.len(), 1);
            assert_eq!(read[0].iter().collect::<Vec<_>>(), cells);
        }
    }
}
