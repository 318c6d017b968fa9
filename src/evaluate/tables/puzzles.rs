//! BrainTeaser's table 4.

use std::collections::BTreeMap;

use super::book::Book;
use super::table::{Cell, Look, Row, Table};
use crate::evaluate::item::{Body, Item, Variant};
use crate::evaluate::metrics::{SHARE, Unit};
use crate::evaluate::task::{Setting, Task};

/// Table 4 of one kind of puzzle; of both where `word` is none.
pub fn puzzles(book: &Book<'_>, word: Option<bool>) -> Table {
    let (name, title) = match word {
        Some(false) => ("sentence-puzzles", "Sentence puzzles"),
        Some(true) => ("word-puzzles", "Word puzzles"),
        None => ("puzzles", "All puzzles"),
    };
    let of_kind =
        |item: &Item| matches!(&item.body, Body::Puzzle { word: own, .. } if word.is_none_or(|w| w == *own));
    let mut rows = Vec::new();
    for who in book.answered(&[Task::Solve]) {
        let instance = |variant: Option<Variant>| {
            let among = |item: &Item| {
                let own = matches!(&item.body, Body::Puzzle { variant: own, .. } if variant.is_none_or(|v| v == *own));
                own && of_kind(item)
            };
            let mut parts = Vec::new();
            parts.extend(variant.map(|variant| ("part", variant.name().to_string())));
            parts.extend(word.map(|word| ("kind", if word { "word" } else { "sentence" }.to_string())));
            book.accuracy(who, Task::Solve, Setting::default(), among, parts.into_iter().collect())
        };
        let mut cells: Vec<Option<Cell>> = Variant::ALL.map(|variant| instance(Some(variant))).into();
        cells.push(groups(book, who, &Variant::ALL[..2], of_kind));
        cells.push(groups(book, who, &Variant::ALL, of_kind));
        cells.push(instance(None));
        cells.push(book.format(who, &[Task::Solve], Setting::default()).filter(|_| word.is_none()));
        rows.push(Row { name: book.who[who].name.clone(), cells });
    }
    let mut columns: Vec<String> =
        ["Original", "Semantic", "Context", "Ori & Sem", "Ori & Sem & Con", "Overall"]
            .map(str::to_string)
            .into();
    match word {
        None => columns.push("Format".into()),
        Some(_) => rows.iter_mut().for_each(|row| _ = row.cells.pop()),
    }
    Table {
        name,
        title: title.into(),
        paper: "BrainTeaser, table 4",
        about: "Percent of puzzles solved, by variant; of groups in which the original and its semantic \
                reconstruction are solved, and in which all three are; of all puzzles. A format error is wrong; \
                intervals resample whole groups."
            .into(),
        of: "Model",
        columns,
        rows,
        look: Look::Plain,
    }
}

/// The share of groups in which all of some variants are right, among the groups in which all are answered.
fn groups(
    book: &Book<'_>,
    who: usize,
    variants: &[Variant],
    of_kind: impl Fn(&Item) -> bool,
) -> Option<Cell> {
    let column = book.column(who, Task::Solve, Setting::default())?;
    // By group and by who among several people: right so far, and how many were answered.
    let mut groups: BTreeMap<(usize, &str), (bool, usize)> = BTreeMap::new();
    for (at, answers) in column.iter().enumerate() {
        let item = &book.set.items[at];
        let Body::Puzzle { variant, .. } = &item.body else { continue };
        if !of_kind(item) || !variants.contains(variant) {
            continue;
        }
        for answer in answers {
            let group = groups.entry((book.unit(at), &answer.model)).or_insert((true, 0));
            *group = (group.0 && answer.correct == Some(true), group.1 + 1);
        }
    }
    let whole = groups.into_iter().filter(|(_, (_, answered))| *answered == variants.len());
    let units: Vec<Unit> =
        whole.map(|((at, _), (right, _))| Unit { at, sum: f64::from(right), count: 1.0 }).collect();
    let keys = book.keys(who, Task::Solve, Setting::default());
    Some(Cell::of(book.resamples.ratio(&units, SHARE)?, 100.0, units.len(), keys))
}
