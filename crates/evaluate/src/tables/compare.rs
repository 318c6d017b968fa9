//! Compares every two models on the same items: McNemar's test for correct and incorrect answers, the paired
//! bootstrap for all, with Holm's correction for many pairs.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::scores::ScoreBook;
use riddlemill_benchmarks::task::AnswerParsing;

use crate::answer::Answer;
use crate::measures::{Difference, McNemar, RatioUnit, holm_correction, mcnemar_test, paired_difference};
use crate::task::{Setting, Task};

/// Two models, one task.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    pub task: Task,
    pub setting: Setting,
    /// The first model.
    pub first: String,
    pub second: String,
    /// Items that both answered, or on which both were judged.
    pub n: usize,
    /// For correct and incorrect answers; `None` for ratings.
    pub mcnemar: Option<McNemar>,
    /// Their difference: in percent of correct answers, or on the judges' scale.
    pub difference: Difference,
    /// The test whose p is corrected: McNemar's where every item counts by itself, else the bootstrap's, which
    /// draws groups of items together.
    pub test: &'static str,
    /// Its p.
    pub test_p: f64,
    /// The same with Holm's correction for all pairs of models in this task and setting.
    pub holm_p: f64,
}

/// Whether models are compared in a task: a preference is not a figure of one model on a scale, and a rating
/// is not correct or incorrect.
pub(super) fn is_compared_here(task: Task) -> bool {
    !task.is_compared() && !matches!(task.task_declaration().wants, AnswerParsing::Rating { .. })
}

/// The figures of every model that has any, by item.
pub(super) fn of_models(
    book: &ScoreBook<'_>,
    task: Task,
    setting: Setting,
) -> Vec<(usize, BTreeMap<usize, f64>)> {
    let models = book.authors_of_tasks(&[task]).into_iter().filter(|who| !book.who[*who].person);
    let values = models.filter_map(|who| Some((who, figures_by_item(book, who, task, setting)?)));
    values.filter(|(_, values)| !values.is_empty()).collect()
}

/// Compares models on every common task. People are left out.
pub fn compare_models(book: &ScoreBook<'_>) -> Vec<Comparison> {
    let mut comparisons = Vec::new();
    for task in Task::of_config(&book.set.config).into_iter().filter(|task| is_compared_here(*task)) {
        for setting in book.settings_of_task(task) {
            let values = of_models(book, task, setting);
            let mut pairs = Vec::new();
            for (at, (first, of_first)) in values.iter().enumerate() {
                for (second, of_second) in &values[at + 1..] {
                    let names = [*first, *second].map(|who| book.who[who].name.clone());
                    pairs.extend(compare_pair(book, task, setting, names, of_first, of_second));
                }
            }
            let corrected = holm_correction(&pairs.iter().map(|pair| pair.test_p).collect::<Vec<_>>());
            pairs.iter_mut().zip(corrected).for_each(|(pair, p)| pair.holm_p = p);
            comparisons.extend(pairs);
        }
    }
    comparisons
}

fn compare_pair(
    book: &ScoreBook<'_>,
    task: Task,
    setting: Setting,
    [first, second]: [String; 2],
    of_first: &BTreeMap<usize, f64>,
    of_second: &BTreeMap<usize, f64>,
) -> Option<Comparison> {
    let both: Vec<(usize, f64, f64)> =
        of_first.iter().filter_map(|(item, a)| Some((*item, *a, *of_second.get(item)?))).collect();
    let scale = if task.is_choice() { 100.0 } else { 1.0 };
    let side = |value: fn(&(usize, f64, f64)) -> f64| -> Vec<RatioUnit> {
        let unit = |one: &(usize, f64, f64)| RatioUnit {
            at: book.unit_of_item(one.0),
            sum: scale * value(one),
            count: 1.0,
        };
        both.iter().map(unit).collect()
    };
    let span = match task.scale_of_judges() {
        Some([min, max]) => f64::from(max - min),
        None => scale,
    };
    let apart = paired_difference(&book.resamples, &side(|one| one.1), &side(|one| one.2), span)?;
    let only = |a: f64, b: f64| both.iter().filter(|one| one.1 == a && one.2 == b).count() as u64;
    // McNemar's test is of one answer to each item, not of the mean of several.
    let mcnemar = (task.is_choice() && task.samples_per_item() == 1)
        .then(|| mcnemar_test(only(1.0, 0.0), only(0.0, 1.0)));
    let units: BTreeSet<usize> = both.iter().map(|one| book.unit_of_item(one.0)).collect();
    let (test, test_p) = match mcnemar.filter(|_| units.len() == both.len()) {
        Some(mcnemar) => ("McNemar", mcnemar.exact_p),
        None => ("bootstrap", apart.p),
    };
    let (n, holm_p) = (both.len(), test_p);
    Some(Comparison { task, setting, first, second, n, mcnemar, difference: apart, test, test_p, holm_p })
}

/// A model's figure on each item: 1 or 0 for a choice, else the mean of its ratings; of several answers the mean.
pub(super) fn figures_by_item(
    book: &ScoreBook<'_>,
    author: usize,
    task: Task,
    setting: Setting,
) -> Option<BTreeMap<usize, f64>> {
    let column = book.answers_of_author(author, task, setting)?;
    let value = |answer: &Answer| {
        if task.is_choice() {
            return answer.correct.map(f64::from);
        }
        answer.mean_rating(false)
    };
    let mean = |answers: &Vec<&Answer>| {
        let values: Vec<f64> = answers.iter().filter_map(|answer| value(answer)).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    };
    Some(column.iter().enumerate().filter_map(|(at, answers)| Some((at, mean(answers)?))).collect())
}
