//! People's ratings of answers compared with the judges' (FLUB, table 2).

use riddlemill_benchmarks::figure::Figure as Declared;

use super::scores::ScoreBook;
use crate::answer::Answer;
use crate::figures::{Figure, Keys, Table, figure_row};
use crate::measures::{
    Correlation, RatioUnit, pearson_correlation, pearson_r, spearman_correlation, spearman_r,
};
use crate::task::{Setting, Task};

/// An answer scored by people and judges: its unit, people's mean on the judges' scale, the judges' mean.
struct Scored {
    unit: usize,
    person: f64,
    judge: f64,
}

fn scored_answers(
    book: &ScoreBook<'_>,
    author: usize,
    task: Task,
    setting: Setting,
    times: f64,
) -> Vec<Scored> {
    let Some(column) = book.answers_of_author(author, task, setting) else { return Vec::new() };
    let one = |at: usize, answer: &Answer| {
        let (person, judge) = (answer.mean_rating(true)?, answer.mean_rating(false)?);
        Some(Scored { unit: book.unit_of_item(at), person: times * person, judge })
    };
    let all = column.iter().enumerate();
    all.flat_map(|(at, answers)| answers.iter().filter_map(move |answer| one(at, answer))).collect()
}

/// FLUB's table 2: people's scores compared with the judges', on the explanations that both scored.
pub fn people_table(book: &ScoreBook<'_>, declared: &Declared, task: Task) -> Table {
    let people = task.task_declaration().people.as_ref();
    let times = people.map_or(1.0, |people| people.times);
    // The ranges of people's means and the judges'.
    let ends = |scale: Option<[u32; 2]>| scale.map_or([0.0, 1.0], |scale| scale.map(f64::from));
    let scales =
        [ends(people.and_then(|people| people.scale)).map(|end| times * end), ends(task.scale_of_judges())];
    let mut rows = Vec::new();
    let mut all = Vec::new();
    for setting in book.settings_of_task(task) {
        for who in book.authors_of_tasks(&[task]) {
            let scored = scored_answers(book, who, task, setting, times);
            if scored.is_empty() {
                continue;
            }
            let keys = book.keys_of_answers(who, task, setting);
            let name = format!("{}, {setting}", book.who[who].name);
            rows.push(figure_row(name, compare_with_judges(book, &scored, scales, &keys)));
            all.extend(scored);
        }
    }
    if rows.len() > 1 {
        let keys = Keys::from([("task", task.to_string())]);
        rows.push(figure_row("Overall", compare_with_judges(book, &all, scales, &keys)));
    }
    let columns = ["People", "Judges", "Spearman", "Pearson", "Spearman p", "Pearson p"];
    Table::of_figures("Model and setting", columns, rows).with_heading(declared)
}

fn compare_with_judges(
    book: &ScoreBook<'_>,
    scored: &[Scored],
    scales: [[f64; 2]; 2],
    keys: &Keys,
) -> Vec<Option<Figure>> {
    let n = scored.len();
    let mean = |value: fn(&Scored) -> f64, range: [f64; 2]| {
        let units: Vec<RatioUnit> =
            scored.iter().map(|one| RatioUnit { at: one.unit, sum: value(one), count: 1.0 }).collect();
        Some(Figure::new(book.resamples.estimate_ratio(&units, range)?, 1.0, n, keys.clone()))
    };
    // Repeated by the weight of their unit.
    let pairs = |weights: &[u16]| -> Vec<(f64, f64)> {
        let repeated =
            |one: &Scored| std::iter::repeat_n((one.person, one.judge), usize::from(weights[one.unit]));
        scored.iter().flat_map(repeated).collect()
    };
    let once: Vec<(f64, f64)> = scored.iter().map(|one| (one.person, one.judge)).collect();
    let correlation = |of: fn(&[(f64, f64)]) -> Option<f64>| {
        let (r, ends) = book.resamples.estimate_correlation(n, |weights| of(&pairs(weights)))?;
        Some(Figure::with_ends(r, ends, n, keys.clone()))
    };
    let p = |of: Option<Correlation>| Some(Figure::without_interval(of?.p?, n, keys.clone()));
    vec![
        mean(|one| one.person, scales[0]),
        mean(|one| one.judge, scales[1]),
        correlation(spearman_r),
        correlation(pearson_r),
        p(spearman_correlation(&once)),
        p(pearson_correlation(&once)),
    ]
}
