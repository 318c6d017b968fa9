//! The table of a set whose tasks its folder declares: one row a model, and for each task what its kind is measured by.

use super::book::{Book, Column};
use super::table::{Cell, Look, Row, Table};
use crate::evaluate::metrics::{Confusions, SHARE, pearson_r};
use crate::evaluate::task::{Setting, Task};
use riddlemill_benchmarks::task::Wants;

/// Percent of right choices; of labels the share that is named exactly and macro F1; of ratings the correlation with
/// people's.
pub fn tasks(book: &Book<'_>) -> Table {
    let tasks: Vec<(Task, &riddlemill_benchmarks::task::Task)> =
        Task::of(&book.set.config).into_iter().filter_map(|task| Some((task, task.declared()?))).collect();
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
                Wants::Labels { codes, .. } => cells.extend([exact(), macro_f1(book, who, *task, codes)]),
                Wants::Rating { .. } => cells.push(correlation(book, who, *task)),
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

fn macro_f1(book: &Book<'_>, who: usize, task: Task, codes: &[&str]) -> Option<Cell> {
    let column: &Column<'_> = book.column(who, task, Setting::default())?;
    let mut answers = Vec::new();
    for (at, answer) in
        column.iter().enumerate().flat_map(|(at, on)| on.iter().map(move |answer| (at, answer)))
    {
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
    Some(Cell::of(estimate, 100.0, answers.len(), book.keys(who, task, Setting::default())))
}

fn correlation(book: &Book<'_>, who: usize, task: Task) -> Option<Cell> {
    let column = book.column(who, task, Setting::default())?;
    let number = |text: &Option<String>| text.as_deref()?.parse::<f64>().ok();
    let pairs: Vec<(f64, f64)> = column
        .iter()
        .flatten()
        .filter_map(|answer| Some((number(&answer.said)?, number(&answer.gold)?)))
        .collect();
    let r = pearson_r(&pairs)?;
    Some(Cell::plain(100.0 * r, pairs.len(), book.keys(who, task, Setting::default())))
}
