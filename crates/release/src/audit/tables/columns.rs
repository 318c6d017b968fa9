//! What the columns of a release hold.

use std::collections::BTreeMap;

use riddlemill_benchmarks::data::{Column, ColumnKind, Data};
use serde::Serialize;
use serde_json::Value;

use super::source::Item;
use super::{Found, INDENT};
use crate::figures::{self, Cell, Digits, Place, Row, Table};
use crate::measures::mean;

/// The frequency of each value of a column.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Counted {
    column: &'static str,
    /// Those that the column may hold in the order of the declaration, others by their names.
    values: Vec<(String, usize)>,
}

fn columns_of(data: Option<&'static Data>) -> impl Iterator<Item = &'static Column> {
    data.into_iter().flat_map(|data| &data.columns)
}

fn labels_of(data: Option<&'static Data>) -> &'static [&'static str] {
    data.map(|data| data.labels.as_slice()).unwrap_or_default()
}

/// A table for each column of labels.
pub(super) fn count_labels(data: Option<&'static Data>, rows: &[Item]) -> Found {
    let labels = labels_of(data);
    let columns = columns_of(data).filter(|column| labels.contains(&column.name));
    let counted: Vec<Counted> = columns.map(|column| count_values(column, rows)).collect();
    let (mut lines, mut tables) = (String::new(), Vec::new());
    for counted in &counted {
        let row = |(value, count): &(String, usize)| {
            vec![Cell::Text(value.clone()), Cell::plain_number(*count as f64)]
        };
        let value = figures::Column::of_words("Value").with_place(Place::align_left(30));
        let count = figures::Column::of_counts("Count").with_place(Place::align_right(6, Digits::Fixed(0)));
        let rows = counted.values.iter().map(row).collect();
        let (name, columns) = (counted.column.to_owned(), vec![value, count]);
        let table = Table { name, columns, rows, ..Table::default() };
        lines.push_str(&format!("  {}\n{}", counted.column, table.render_lines(INDENT)));
        tables.push(table);
    }
    Found { tables, ..Found::new(counted, lines) }
}

fn count_values(column: &'static Column, rows: &[Item]) -> Counted {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for value in rows.iter().flat_map(|row| match row.get(column.name) {
        Some(Value::Array(list)) => list.iter().collect::<Vec<_>>(),
        other => other.into_iter().collect(),
    }) {
        let word = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        *counts.entry(word).or_default() += 1;
    }
    // Removed one by one, so that only undeclared values are left for the end.
    let declared =
        column.values.iter().map(|value| ((*value).to_owned(), counts.remove(*value).unwrap_or(0)));
    let mut values: Vec<(String, usize)> = declared.collect();
    values.extend(counts);
    Counted { column: column.name, values }
}

/// A line for each column of texts or numbers.
pub(super) fn measure_columns(data: Option<&'static Data>, rows: &[Item]) -> Found {
    let labels = labels_of(data);
    let free = |column: &&Column| !labels.contains(&column.name) && column.values.is_empty();
    let named = |column: &&Column| !["id", "source_id", "standing"].contains(&column.name);
    let measured =
        columns_of(data).filter(free).filter(named).filter_map(|column| measure_column(column, rows));
    let end =
        |title: &str| figures::Column::of_numbers(title).with_place(Place::align_right(9, Digits::Fitting));
    let columns = vec![
        figures::Column::of_words("Column").with_place(Place::align_left(32)),
        figures::Column::of_key("column"),
        figures::Column::of_key("characters"),
        figures::Column::of_counts("Items")
            .with_key("items")
            .with_place(Place::align_right(6, Digits::Fixed(0))),
        figures::Column::of_numbers("Mean")
            .with_key("mean")
            .with_place(Place::align_right(9, Digits::Fixed(2))),
        end("Least").with_key("least"),
        end("Most").with_key("most"),
    ];
    let table = Table { columns, rows: measured.collect(), ..Table::default() };
    let is_empty = table.rows.is_empty();
    let mut found = Found::of_table(table);
    if !is_empty {
        let header = "  columns                               items      mean     least      most\n";
        found.lines.insert_str(0, header);
    }
    found
}

/// Mean, least and most of a column, with the number of items that have one: of texts of their lengths in characters. `None` of
/// a column that holds neither texts nor numbers.
fn measure_column(column: &'static Column, rows: &[Item]) -> Option<Row> {
    let characters = column.kind == ColumnKind::Text;
    let measured = |value: &Value| match column.kind {
        ColumnKind::Text => value.as_str().map(|text| text.chars().count() as f64),
        ColumnKind::Count | ColumnKind::Real => value.as_f64(),
        _ => None,
    };
    let all: Vec<f64> = rows.iter().filter_map(|row| measured(row.get(column.name)?)).collect();
    let fold = |of: fn(f64, f64) -> f64| all.iter().copied().reduce(of);
    let (mean, least, most) = (mean(&all)?, fold(f64::min)?, fold(f64::max)?);
    let name = if characters { format!("{}, characters", column.name) } else { column.name.to_owned() };
    let [shown, column] = [name, column.name.to_owned()].map(Cell::Text);
    let numbers = [all.len() as f64, mean, least, most].map(Cell::plain_number);
    Some([shown, column, Cell::Nested(characters.into())].into_iter().chain(numbers).collect())
}
