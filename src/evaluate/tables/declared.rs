//! The tables of a set whose tasks its folder declares: one row a model. Without `[[table]]` there is one, with what the
//! kind of each task is measured by.

use std::collections::BTreeSet;

use riddlemill_benchmarks::table::{self as declared, Measure};
use riddlemill_benchmarks::task::Wants;
use serde_json::Value as Json;

use super::book::{Book, Column};
use super::table::{Cell, Look, Row, Table};
use crate::evaluate::answer::Answer;
use crate::evaluate::item::{Body, Item};
use crate::evaluate::metrics::{Confusions, SHARE, difference, pearson_r};
use crate::evaluate::task::{Setting, Task};

/// The tables that the folder declares, each with whether the page draws it; else one of all tasks.
pub fn tables(book: &Book<'_>) -> Vec<(Table, bool)> {
    let declared = riddlemill_benchmarks::find(&book.set.config).map(|found| found.evaluation.as_slice());
    match declared.unwrap_or_default() {
        [] => vec![(tasks(book), true)],
        tables => tables.iter().map(|table| (table_of(book, table), table.chart)).collect(),
    }
}

fn task_of(name: &'static str) -> Task {
    Task::Declared(name)
}

fn table_of(book: &Book<'_>, declared: &declared::Table) -> Table {
    let tasks: Vec<Task> = declared.columns.iter().flat_map(|column| measured(&column.measure)).collect();
    let parted: Vec<Vec<Option<String>>> = declared
        .columns
        .iter()
        .map(|column| column.each.map_or(vec![None], |each| values(book, each)))
        .collect();
    let mut columns = Vec::new();
    for (column, parts) in declared.columns.iter().zip(&parted) {
        columns.extend(parts.iter().map(|part| match part {
            None => column.title.to_owned(),
            Some(value) => format!("{}: {value}", column.title),
        }));
    }
    let mut rows = Vec::new();
    for who in book.answered(&tasks) {
        let mut by_column: Vec<Vec<Option<Cell>>> = Vec::new();
        for (column, parts) in declared.columns.iter().zip(&parted) {
            let made =
                parts.iter().map(|part| cell(book, who, declared, column, part.as_deref(), &by_column));
            let made = made.collect();
            by_column.push(made);
        }
        rows.push(Row { name: book.who[who].name.clone(), cells: by_column.concat() });
    }
    Table {
        name: declared.name,
        title: declared.title.to_owned(),
        paper: declared.paper,
        about: format!("{} A format error is wrong.", declared.about).trim().to_owned(),
        of: "Model",
        columns,
        rows,
        look: Look::Plain,
    }
}

/// The tasks whose answers a measure is drawn from.
fn measured(measure: &Measure) -> Vec<Task> {
    match measure {
        Measure::Accuracy(name) | Measure::F1(name) | Measure::Correlation(name) => vec![task_of(name)],
        Measure::Format(names) => names.iter().map(|name| task_of(name)).collect(),
        Measure::Difference(..) | Measure::Mean(_) => Vec::new(),
    }
}

/// The values of a column of the set, sorted; of a list each that it holds.
fn values(book: &Book<'_>, column: &str) -> Vec<Option<String>> {
    let all = book.set.items.iter().flat_map(|item| of_row(item, column));
    all.collect::<BTreeSet<String>>().into_iter().map(Some).collect()
}

fn of_row(item: &Item, column: &str) -> Vec<String> {
    let Body::Declared { row, .. } = &item.body else { return Vec::new() };
    let word = |value: &Json| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match row.get(column) {
        None | Some(Json::Null) => Vec::new(),
        Some(Json::Array(list)) => list.iter().map(word).collect(),
        Some(value) => vec![word(value)],
    }
}

fn cell(
    book: &Book<'_>,
    who: usize,
    table: &declared::Table,
    column: &declared::Column,
    part: Option<&str>,
    before: &[Vec<Option<Cell>>],
) -> Option<Cell> {
    let among = |item: &Item| {
        let in_part = || match (part, column.each) {
            (Some(part), Some(each)) => of_row(item, each).iter().any(|value| value == part),
            _ => true,
        };
        holds(column, item) && in_part()
    };
    let first = |place: usize| before.get(place)?.first()?.as_ref();
    match &column.measure {
        Measure::Accuracy(name) => {
            book.accuracy(who, task_of(name), Setting::default(), among, Default::default())
        }
        Measure::F1(name) => {
            let Wants::Labels { codes, .. } = &riddlemill_benchmarks::task(name)?.wants else { return None };
            macro_f1(book, who, task_of(name), codes, among)
        }
        Measure::Correlation(name) => correlation(book, who, task_of(name), among),
        Measure::Format(_) => book.format(who, &measured(&column.measure), Setting::default()),
        Measure::Difference(one, other) => {
            let (a, b) = (first(*one)?, first(*other)?);
            let ends = apart(book, who, [&table.columns[*one], &table.columns[*other]]);
            let keys = a.from.iter().filter(|(key, value)| b.from.get(*key) == Some(value));
            let keys = keys.map(|(key, value)| (*key, value.clone())).collect();
            Some(Cell::within(a.value - b.value, ends, a.n.min(b.n), keys))
        }
        Measure::Mean(places) => {
            let cells: Option<Vec<&Cell>> = places.iter().map(|place| first(*place)).collect();
            let cells = cells?;
            let mean = cells.iter().map(|cell| cell.value).sum::<f64>() / cells.len() as f64;
            Some(Cell::plain(mean, cells.iter().map(|cell| cell.n).min()?, Default::default()))
        }
    }
}

/// Whether a column measures an item. What cannot be computed of it leaves it out.
fn holds(column: &declared::Column, item: &Item) -> bool {
    let (Some(among), Body::Declared { row, .. }) = (&column.among, &item.body) else { return true };
    among.holds(&minijinja::Value::from(minijinja::value::Serde(row))).unwrap_or(false)
}

/// The interval of the difference of two shares on the same resamples; none of other figures.
fn apart(book: &Book<'_>, who: usize, columns: [&declared::Column; 2]) -> Option<[f64; 2]> {
    let units = columns.map(|column| {
        let Measure::Accuracy(name) = column.measure else { return None };
        let answers = book.column(who, task_of(name), Setting::default())?;
        Some(book.parts(answers, |item| holds(column, item), |answer| answer.correct.map(f64::from)).0)
    });
    let [Some(first), Some(second)] = units else { return None };
    let found = difference(&book.resamples, &first, &second, 1.0)?.difference;
    Some([100.0 * found.low, 100.0 * found.high])
}

/// Percent of right choices; of labels the share that is named exactly and macro F1; of ratings the correlation with
/// people's.
fn tasks(book: &Book<'_>) -> Table {
    let tasks: Vec<(Task, &riddlemill_benchmarks::task::Task)> = Task::of_config(&book.set.config)
        .into_iter()
        .filter_map(|task| Some((task, task.declared()?)))
        .collect();
    let mut columns = Vec::new();
    for (_, declared) in &tasks {
        match declared.wants {
            Wants::Choice { .. } => columns.push(declared.title.to_owned()),
            Wants::Labels { .. } => {
                columns.extend([format!("{} exact", declared.title), format!("{} macro F1", declared.title)]);
            }
            Wants::Rating { .. } => columns.push(format!("{} r × 100", declared.title)),
        }
    }
    columns.push("Format".into());
    let all: Vec<Task> = tasks.iter().map(|(task, _)| *task).collect();
    let mut rows = Vec::new();
    for who in book.answered(&all) {
        let mut cells = Vec::new();
        for (task, declared) in &tasks {
            let exact = || book.accuracy(who, *task, Setting::default(), |_| true, Default::default());
            match &declared.wants {
                Wants::Choice { .. } => cells.push(exact()),
                Wants::Labels { codes, .. } => {
                    cells.extend([exact(), macro_f1(book, who, *task, codes, |_| true)])
                }
                Wants::Rating { .. } => cells.push(correlation(book, who, *task, |_| true)),
            }
        }
        cells.push(book.format(who, &all, Setting::default()));
        rows.push(Row { name: book.who[who].name.clone(), cells });
    }
    let about: Vec<&str> =
        tasks.iter().map(|(_, task)| task.about).filter(|about| !about.is_empty()).collect();
    Table {
        name: "tasks",
        title: "Tasks, percent".into(),
        paper: "",
        about: format!("{} A format error is wrong.", about.join(" ")),
        of: "Model",
        columns,
        rows,
        look: Look::Plain,
    }
}

/// Places of the codes that are named, with `; ` between them.
fn classes(codes: &[&str], named: Option<&str>) -> Vec<usize> {
    let place = |code: &str| codes.iter().position(|known| *known == code);
    named.into_iter().flat_map(|named| named.split("; ")).filter_map(place).collect()
}

fn macro_f1(
    book: &Book<'_>,
    who: usize,
    task: Task,
    codes: &[&str],
    among: impl Fn(&Item) -> bool,
) -> Option<Cell> {
    let column: &Column<'_> = book.column(who, task, Setting::default())?;
    let mut answers = Vec::new();
    for (at, answer) in within(book, column, among) {
        let gold = classes(codes, answer.gold.as_deref());
        answers.push((book.unit(at), gold, classes(codes, answer.said.as_deref())));
    }
    let estimate = book.resamples.estimate(answers.len(), SHARE, |weights| {
        let mut confusions = Confusions::new(codes.len());
        for (unit, gold, said) in &answers {
            confusions.add_all(gold, said, f64::from(weights[*unit]));
        }
        confusions.macro_f1()
    })?;
    Some(Cell::new(estimate, 100.0, answers.len(), book.keys(who, task, Setting::default())))
}

/// Answers with the places of their items, of those that are measured.
fn within<'c>(
    book: &'c Book<'_>,
    column: &'c Column<'_>,
    among: impl Fn(&Item) -> bool + 'c,
) -> impl Iterator<Item = (usize, &'c Answer)> {
    let items = column.iter().enumerate().filter(move |(at, _)| among(&book.set.items[*at]));
    items.flat_map(|(at, on)| on.iter().map(move |answer| (at, *answer)))
}

fn correlation(book: &Book<'_>, who: usize, task: Task, among: impl Fn(&Item) -> bool) -> Option<Cell> {
    let column = book.column(who, task, Setting::default())?;
    let number = |text: &Option<String>| text.as_deref()?.parse::<f64>().ok();
    let pairs: Vec<(f64, f64)> = within(book, column, among)
        .filter_map(|(_, answer)| Some((number(&answer.said)?, number(&answer.gold)?)))
        .collect();
    let r = pearson_r(&pairs)?;
    Some(Cell::plain(100.0 * r, pairs.len(), book.keys(who, task, Setting::default())))
}
