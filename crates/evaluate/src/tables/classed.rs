//! Answers as classes: the right and the named labels, and the figures of both.

use std::collections::BTreeSet;

use riddlemill_benchmarks::table::{ClassScore, Classes};
use riddlemill_benchmarks::task::AnswerParsing;

use super::scores::{Column, ScoreBook};
use crate::answer::Answer;
use crate::item::Item;
use crate::measures::Confusions;
use crate::task::{Setting, Task};

/// An answer's unit, the indices of the right labels and of the named ones.
pub(super) type Labelled = (usize, Vec<usize>, Vec<usize>);

/// The labels of a model's answers to the covered items; `None` without answers, or where a task has no labels.
pub(super) fn labels_of_answers(
    book: &ScoreBook<'_>,
    author: usize,
    task: Task,
    setting: Setting,
    among: impl Fn(&Item) -> bool,
) -> Option<Vec<Labelled>> {
    let column: &Column<'_> = book.answers_of_author(author, task, setting)?;
    let AnswerParsing::Labels { codes, .. } = &task.task_declaration().wants else { return None };
    let made = covered_answers(book, column, among).map(|(at, answer)| {
        let of = |named: &Option<String>| indices_of_codes(codes, named.as_deref());
        (book.unit_of_item(at), of(&answer.gold), of(&answer.chosen))
    });
    Some(made.collect())
}

/// How many units these answers are of: several answers to one item, or to the items of a group, are drawn together.
pub(super) fn units_of(answers: &[Labelled]) -> usize {
    answers.iter().map(|(unit, ..)| unit).collect::<BTreeSet<_>>().len()
}

/// The labels that occur in the set.
pub(super) fn of_set_labels(book: &ScoreBook<'_>, task: Task) -> Vec<usize> {
    let AnswerParsing::Labels { codes, .. } = &task.task_declaration().wants else { return Vec::new() };
    let golds = book.set.items.iter().filter_map(|item| item.gold_answer(task));
    let found: BTreeSet<usize> = golds.flat_map(|gold| indices_of_codes(codes, Some(&gold))).collect();
    found.into_iter().collect()
}

/// Over the labels of the set, or over those that are right or named.
pub(super) fn macro_f1(
    task: Task,
    answers: &[Labelled],
    of_set: Option<&[usize]>,
    weights: &[u16],
) -> Option<f64> {
    let confusions = confusions_of(task, answers, weights)?;
    match of_set {
        Some(labels) => confusions.macro_f1_of(labels),
        None => confusions.macro_f1(),
    }
}

/// A figure of labels as classes, with these weights of units.
pub(super) fn class_score(
    task: Task,
    answers: &[Labelled],
    score: ClassScore,
    over: Classes,
    weights: &[u16],
) -> Option<f64> {
    confusions_of(task, answers, weights)?.compute_score(score, over)
}

/// What was named for which label, with these weights of units; `None` if the task asks for no labels.
fn confusions_of(task: Task, answers: &[Labelled], weights: &[u16]) -> Option<Confusions> {
    let AnswerParsing::Labels { codes, .. } = &task.task_declaration().wants else { return None };
    let mut confusions = Confusions::new(codes.len());
    for (unit, gold, predicted) in answers {
        confusions.add_all(gold, predicted, f64::from(weights[*unit]));
    }
    Some(confusions)
}

/// Whether an answer is right; `None` of one that names nothing.
pub(super) fn of_attempted(answer: &Answer) -> Option<f64> {
    answer.chosen.as_ref().and(answer.correct).map(f64::from)
}

/// Indices of the named codes, which are separated by `; `.
fn indices_of_codes(codes: &[&str], named: Option<&str>) -> Vec<usize> {
    let place = |code: &str| codes.iter().position(|known| *known == code);
    named.into_iter().flat_map(|named| named.split("; ")).filter_map(place).collect()
}

/// Answers to the covered items, with their indices.
pub(super) fn covered_answers<'c>(
    book: &'c ScoreBook<'_>,
    column: &'c Column<'_>,
    among: impl Fn(&Item) -> bool + 'c,
) -> impl Iterator<Item = (usize, &'c Answer)> {
    let items = column.iter().enumerate().filter(move |(at, _)| among(&book.set.items[*at]));
    items.flat_map(|(at, on)| on.iter().map(move |answer| (at, *answer)))
}
