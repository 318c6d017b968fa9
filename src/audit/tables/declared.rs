//! Benchmarks whose folders say all: what their columns hold, and what may be guessed of their options.

use std::collections::BTreeMap;

use riddlemill_benchmarks::data::{Answer, Column, Data, Kind};
use serde::Serialize;
use serde_json::{Map, Value};

use super::Reviewed;
use crate::shortcuts::{Item, Shortcuts, measure};

/// The figures of a set by its columns.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DeclaredTables {
    /// Records at the end of the recipe.
    pub records: usize,
    /// Of them, those that have all that an item needs.
    pub items: usize,
    /// Columns of labels, with how often each value stands.
    pub labels: Vec<Counted>,
    /// Columns of texts, in characters, and of numbers.
    pub figures: Vec<Figure>,
    /// What may be guessed from the options.
    pub shortcuts: Option<Shortcuts>,
    /// What became of the drafts, a review a row.
    pub reviews: Vec<Reviewed>,
}

/// How often each value of a column stands.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Counted {
    /// The column.
    pub column: &'static str,
    /// Its values: those that it may hold in the order of the declaration, others by their names.
    pub values: Vec<(String, usize)>,
}

/// Mean, least and most of a column.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// The column.
    pub column: &'static str,
    /// Whether these are lengths of texts, in characters.
    pub characters: bool,
    /// How many items have one.
    pub items: usize,
    /// The mean.
    pub mean: f64,
    /// The least.
    pub least: f64,
    /// The most.
    pub most: f64,
}

pub(super) fn of(
    data: Option<&'static Data>,
    records: usize,
    rows: &[Map<String, Value>],
    reviews: Vec<Reviewed>,
    seed: u64,
) -> DeclaredTables {
    let columns = || data.into_iter().flat_map(|data| &data.columns);
    let labels: &[&str] = data.map(|data| data.labels.as_slice()).unwrap_or_default();
    let counted =
        columns().filter(|column| labels.contains(&column.name)).map(|column| counted(column, rows));
    let free = |column: &&Column| !labels.contains(&column.name) && column.values.is_empty();
    let named = |column: &&Column| !["id", "source_id", "standing"].contains(&column.name);
    DeclaredTables {
        records,
        items: rows.len(),
        labels: counted.collect(),
        figures: columns().filter(free).filter(named).filter_map(|column| figure(column, rows)).collect(),
        shortcuts: data.and_then(|data| guessed(data, rows, seed)),
        reviews,
    }
}

fn counted(column: &'static Column, rows: &[Map<String, Value>]) -> Counted {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for value in rows.iter().flat_map(|row| match row.get(column.name) {
        Some(Value::Array(list)) => list.iter().collect::<Vec<_>>(),
        other => other.into_iter().collect(),
    }) {
        let word = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        *counts.entry(word).or_default() += 1;
    }
    let declared =
        column.values.iter().map(|value| ((*value).to_owned(), counts.remove(*value).unwrap_or(0)));
    let mut values: Vec<(String, usize)> = declared.collect();
    values.extend(counts);
    Counted { column: column.name, values }
}

/// `None` of a column that holds neither texts nor numbers.
fn figure(column: &'static Column, rows: &[Map<String, Value>]) -> Option<Figure> {
    let characters = column.kind == Kind::Text;
    let measured = |value: &Value| match column.kind {
        Kind::Text => value.as_str().map(|text| text.chars().count() as f64),
        Kind::Count | Kind::Real => value.as_f64(),
        _ => None,
    };
    let all: Vec<f64> = rows.iter().filter_map(|row| measured(row.get(column.name)?)).collect();
    let fold = |of: fn(f64, f64) -> f64| all.iter().copied().reduce(of);
    Some(Figure {
        column: column.name,
        characters,
        items: all.len(),
        mean: all.iter().sum::<f64>() / all.len() as f64,
        least: fold(f64::min)?,
        most: fold(f64::max)?,
    })
}

/// What may be guessed of a multiple choice; `None` where the set is none.
fn guessed(data: &Data, rows: &[Map<String, Value>], seed: u64) -> Option<Shortcuts> {
    let poses = data.poses.as_ref()?;
    let Answer::Choice { options, gold } = poses.answer else { return None };
    let texts = |row: &Map<String, Value>| -> Option<Vec<String>> {
        row.get(options)?.as_array()?.iter().map(|text| text.as_str().map(str::to_owned)).collect()
    };
    let place = |row: &Map<String, Value>| match row.get(gold)? {
        Value::String(letter) => crate::options::LETTERS.iter().position(|known| known == letter),
        number => number.as_u64().and_then(|place| usize::try_from(place).ok()),
    };
    let text = |row: &Map<String, Value>, name: &str| row.get(name)?.as_str().map(str::to_owned);
    let all: Vec<(String, String, Vec<String>, usize)> = rows
        .iter()
        .filter_map(|row| {
            let (options, gold) = (texts(row)?, place(row)?);
            let whole = gold < options.len();
            whole.then_some((text(row, "id")?, text(row, poses.question)?, options, gold))
        })
        .collect();
    let items: Vec<Item<'_>> = all
        .iter()
        .map(|(id, question, options, gold)| Item { id, group: id, question, options, gold: *gold })
        .collect();
    measure(&items, &[], seed)
}
