//! What the columns of a release hold.

use std::collections::BTreeMap;

use riddlemill_benchmarks::data::{Column, Data, Kind};
use serde::Serialize;
use serde_json::Value;

use super::Found;
use super::numbers::whole;
use super::source::Item;
use crate::figures::mean;

/// The frequency of each value of a column.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Counted {
    column: &'static str,
    /// Those that the column may hold in the order of the declaration, others by their names.
    values: Vec<(String, usize)>,
}

/// Mean, least and most of a column.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
struct Figure {
    column: &'static str,
    /// Whether these are lengths of texts, in characters.
    characters: bool,
    /// How many items have one.
    items: usize,
    mean: f64,
    least: f64,
    most: f64,
}

fn columns_of(data: Option<&'static Data>) -> impl Iterator<Item = &'static Column> {
    data.into_iter().flat_map(|data| &data.columns)
}

fn labels_of(data: Option<&'static Data>) -> &'static [&'static str] {
    data.map(|data| data.labels.as_slice()).unwrap_or_default()
}

/// A table for each column of labels.
pub(super) fn labels(data: Option<&'static Data>, rows: &[Item]) -> Found {
    let labels = labels_of(data);
    let columns = columns_of(data).filter(|column| labels.contains(&column.name));
    let counted: Vec<Counted> = columns.map(|column| counted(column, rows)).collect();
    let mut lines = String::new();
    for counted in &counted {
        lines.push_str(&format!("  {}\n", counted.column));
        for (value, count) in &counted.values {
            lines.push_str(&format!("    {value:<30} {count:>6}\n"));
        }
    }
    Found::new(counted, lines)
}

fn counted(column: &'static Column, rows: &[Item]) -> Counted {
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
pub(super) fn columns(data: Option<&'static Data>, rows: &[Item]) -> Found {
    let labels = labels_of(data);
    let free = |column: &&Column| !labels.contains(&column.name) && column.values.is_empty();
    let named = |column: &&Column| !["id", "source_id", "standing"].contains(&column.name);
    let measured = columns_of(data).filter(free).filter(named).filter_map(|column| figure(column, rows));
    let figures: Vec<Figure> = measured.collect();
    let mut lines = String::new();
    if !figures.is_empty() {
        lines.push_str("  columns                               items      mean     least      most\n");
    }
    for figure in &figures {
        let name = match figure.characters {
            true => format!("{}, characters", figure.column),
            false => figure.column.to_owned(),
        };
        let end = |value: f64| whole(&value.into());
        lines.push_str(&format!(
            "    {name:<32} {:>6} {:>9.2} {:>9} {:>9}\n",
            figure.items,
            figure.mean,
            end(figure.least),
            end(figure.most)
        ));
    }
    Found::new(figures, lines)
}

/// `None` of a column that holds neither texts nor numbers.
fn figure(column: &'static Column, rows: &[Item]) -> Option<Figure> {
    let characters = column.kind == Kind::Text;
    let measured = |value: &Value| match column.kind {
        Kind::Text => value.as_str().map(|text| text.chars().count() as f64),
        Kind::Count | Kind::Real => value.as_f64(),
        _ => None,
    };
    let all: Vec<f64> = rows.iter().filter_map(|row| measured(row.get(column.name)?)).collect();
    let fold = |of: fn(f64, f64) -> f64| all.iter().copied().reduce(of);
    let (mean, least, most) = (mean(&all)?, fold(f64::min)?, fold(f64::max)?);
    Some(Figure { column: column.name, characters, items: all.len(), mean, least, most })
}
