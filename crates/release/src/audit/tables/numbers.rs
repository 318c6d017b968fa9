//! Numbers of a set: how many records, which share of them, means, lengths.

use minijinja::Value;
use riddlemill_benchmarks::ExpressionError;
use riddlemill_benchmarks::figure::{NumberFigure, NumberMeasure};
use serde_json::{Map, Value as Json, json};

use super::source::{Records, Source};
use super::{Found, INDENT, votes};
use crate::error_of_trouble;
use crate::figures::{Cell, Column, ColumnUnit, Digits, Place, Row, Table};
use crate::measures::{mean, percent};
use crate::pipeline::RunError;

/// A number that is computed: what it is called, and its cells: the value, and of lengths the highest and the lowest.
pub(super) struct Number {
    /// Its key in JSON.
    pub name: &'static str,
    pub label: &'static str,
    pub cells: [Cell; 3],
}

/// The place of what a number is in the row of its table.
const LABEL: usize = 0;

/// The place of its value.
const VALUE: usize = 1;

const WITH_DIGITS: ColumnUnit = ColumnUnit::Number { digits: 2 };

/// A share in percent.
pub(super) const SHARE: ColumnUnit = ColumnUnit::Share { digits: 2 };

impl Number {
    /// One value.
    pub fn new(name: &'static str, label: &'static str, value: Option<f64>, unit: ColumnUnit) -> Number {
        Number { name, label, cells: [Cell::of_unit(value, unit), Cell::Empty, Cell::Empty] }
    }

    fn of_count(of: &NumberFigure, count: usize) -> Number {
        Number::new(of.name, of.label, Some(count as f64), ColumnUnit::Count)
    }

    /// Its value in JSON: of lengths the mean and both ends, null without texts.
    pub fn to_value(&self) -> Json {
        let [value, max, min] = self.cells.each_ref().map(|cell| cell.to_value(WITH_DIGITS));
        if max.is_null() { value } else { json!({ "average": value, "max": max, "min": min }) }
    }
}

/// Each number under its name, and its line.
pub(super) fn compute_numbers(
    numbers: &[NumberFigure],
    records: &Records<'_>,
    source: &Source<'_>,
) -> Result<Found, RunError> {
    let mut all = Vec::with_capacity(numbers.len());
    for number in numbers {
        all.push(match &number.measure {
            NumberMeasure::Items => Number::of_count(number, source.released_items()?.len()),
            NumberMeasure::Modified(ballot) => {
                let (modified, looked_at) = votes::count_modified(source, ballot)?;
                let percent = (looked_at > 0).then(|| percent(modified, looked_at));
                Number::new(number.name, number.label, percent, ColumnUnit::Percent { digits: 2 })
            }
            NumberMeasure::LookedAt(ballot) => {
                Number::of_count(number, votes::count_modified(source, ballot)?.1)
            }
            _ => measure_records(number, records).map_err(error_of_trouble)?,
        });
    }
    let value: Map<String, Json> =
        all.iter().map(|number| (number.name.to_owned(), number.to_value())).collect();
    let mut found = found_of_numbers(Json::Object(value), &all);
    // There are no lengths without texts.
    let is_told = |(of, number): &(&NumberFigure, &Number)| {
        !matches!(of.measure, NumberMeasure::Lengths(_)) || number.cells[0] != Cell::Empty
    };
    let told = numbers.iter().zip(&all).filter(is_told).map(|(_, number)| row_of_number(number));
    found.lines = table_of_numbers(told.collect()).render_lines(INDENT);
    Ok(found)
}

/// Numbers with their value in JSON.
pub(super) fn found_of_numbers(value: Json, numbers: &[Number]) -> Found {
    let table = table_of_numbers(numbers.iter().map(row_of_number).collect());
    Found { value, lines: table.render_lines(INDENT), numbers: Some(table), ..Found::default() }
}

fn row_of_number(number: &Number) -> Row {
    std::iter::once(Cell::Text(number.label.to_owned())).chain(number.cells.clone()).collect()
}

fn table_of_numbers(rows: Vec<Row>) -> Table {
    let place = |width: usize| Place::align_right(width, Digits::OfUnit);
    let columns = vec![
        Column::of_words("Figure").with_place(Place::align_left(44)),
        column_of_values("Value"),
        Column::of_numbers("Most").with_place(place(5)),
        Column::of_numbers("Least").with_place(place(5)),
    ];
    Table { columns, rows, ..Table::default() }
}

fn column_of_values(title: &str) -> Column {
    Column::of_numbers(title).with_place(Place::align_right(10, Digits::OfUnit).with_none("-"))
}

/// The numbers of several figures below each other.
pub(super) fn stack_numbers(tables: &[&Table]) -> Table {
    table_of_numbers(tables.iter().flat_map(|table| table.rows.iter().cloned()).collect())
}

/// The same numbers of several parts beside each other, with a column for each.
pub(super) fn numbers_of_parts(titles: &[String], parts: &[&Table]) -> Table {
    let cell = |row: &Row, at: usize| row.get(at).cloned().unwrap_or_default();
    let first = parts.first().map(|part| part.rows.as_slice()).unwrap_or_default();
    let row = |(at, row): (usize, &Row)| {
        let values =
            parts.iter().map(|part| part.rows.get(at).map(|row| cell(row, VALUE)).unwrap_or_default());
        std::iter::once(cell(row, LABEL)).chain(values).collect()
    };
    let label = Column::of_words("Figure").with_place(Place::align_left(44));
    Table {
        columns: std::iter::once(label).chain(titles.iter().map(|title| column_of_values(title))).collect(),
        rows: first.iter().enumerate().map(row).collect(),
        ..Table::default()
    }
}

/// What is counted of records.
fn measure_records(number: &NumberFigure, records: &Records<'_>) -> Result<Number, ExpressionError> {
    let one = |value: Option<f64>, unit| Number::new(number.name, number.label, value, unit);
    Ok(match &number.measure {
        NumberMeasure::Count(condition) => {
            let values = records.values_of_expression(condition)?;
            Number::of_count(number, values.iter().filter(|value| value.is_true()).count())
        }
        NumberMeasure::Share(condition) => {
            // Records without an answer are not part of the share.
            let answers: Vec<Value> = records
                .values_of_expression(condition)?
                .into_iter()
                .filter(|value| !value.is_none())
                .collect();
            let so = answers.iter().filter(|value| value.is_true()).count();
            one((!answers.is_empty()).then(|| so as f64 / answers.len() as f64), SHARE)
        }
        NumberMeasure::Mean(expression) => {
            one(mean(&collect_reals(&records.values_of_expression(expression)?)), WITH_DIGITS)
        }
        NumberMeasure::Lengths(expression) => {
            let values = records.values_of_expression(expression)?;
            let all = collect_reals(&values);
            let is_whole = values.iter().filter(|value| value.is_number()).all(Value::is_integer);
            let unit = if is_whole { ColumnUnit::Count } else { WITH_DIGITS };
            let end = |of: fn(f64, f64) -> f64| Cell::of_unit(all.iter().copied().reduce(of), unit);
            let cells = [Cell::of_unit(mean(&all), WITH_DIGITS), end(f64::max), end(f64::min)];
            Number { name: number.name, label: number.label, cells }
        }
        NumberMeasure::Items | NumberMeasure::Modified(_) | NumberMeasure::LookedAt(_) => {
            one(None, WITH_DIGITS)
        }
    })
}

/// The numbers among some values.
pub(super) fn collect_reals(values: &[Value]) -> Vec<f64> {
    let number = |value: &Value| value.is_number().then(|| f64::try_from(value.clone()).ok()).flatten();
    values.iter().filter_map(number).collect()
}
