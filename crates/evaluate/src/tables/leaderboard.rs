//! Leaderboards: the models of a task by their means, with intervals of their ranks.

use std::collections::{BTreeMap, BTreeSet};

use super::compare::{is_compared_here, of_models};
use super::scores::ScoreBook;
use crate::figures::{Figure, Row, Table, figure_row};
use crate::measures::{RatioUnit, SHARE, weighted_ratio};
use crate::task::{Setting, Task};

/// A model of a leaderboard.
struct Ranked {
    who: usize,
    units: Vec<RatioUnit>,
    mean: f64,
    /// Its mean in every resample.
    drawn: Vec<f64>,
}

/// A leaderboard of every task and setting that at least two models answered.
pub fn leaderboard_tables(book: &ScoreBook<'_>) -> Vec<Table> {
    let mut tables = Vec::new();
    for task in Task::of_config(&book.set.config).into_iter().filter(|task| is_compared_here(*task)) {
        let settings = book.settings_of_task(task);
        for &setting in &settings {
            let title = match settings.len() {
                1 => format!("Leaderboard, {task}"),
                _ => format!("Leaderboard, {task}, {setting}"),
            };
            tables.extend(leaderboard_table(book, task, setting, title));
        }
    }
    tables
}

fn leaderboard_table(book: &ScoreBook<'_>, task: Task, setting: Setting, title: String) -> Option<Table> {
    let values = of_models(book, task, setting);
    let [(_, first), others @ ..] = &values[..] else { return None };
    let mut common: BTreeSet<usize> = first.keys().copied().collect();
    for (_, of_other) in others {
        common.retain(|item| of_other.contains_key(item));
    }
    if others.is_empty() || common.is_empty() {
        return None;
    }
    let mut models: Vec<Ranked> =
        values.iter().filter_map(|(who, values)| resample_model(book, *who, values, &common)).collect();
    // Models of one mean stay in the order of the other tables.
    models.sort_by(|one, other| other.mean.total_cmp(&one.mean));
    let rows = models.iter().map(|model| {
        let keys = book.keys_of_answers(model.who, task, setting);
        let [low, high] = rank_interval(book, &models, model);
        let above = models.iter().filter(|other| is_above(other.mean, model.mean)).count();
        let rank = Figure::with_ends((above + 1) as f64, Some([low, high]), common.len(), keys.clone());
        let (scale, range) = match task.scale_of_judges() {
            Some([min, max]) => (1.0, [f64::from(min), f64::from(max)]),
            None => (100.0, SHARE),
        };
        let mean = book.resamples.estimate_ratio(&model.units, range);
        let mean = mean.map(|mean| Figure::new(mean, scale, common.len(), keys));
        figure_row(&book.who[model.who].name, [Some(rank), mean])
    });
    let rows: Vec<Row> = rows.collect();
    let asked = book.set.items.iter().filter(|item| item.has_task(task)).count();
    Some(Table {
        name: "leaderboard".into(),
        title,
        paper: "none".into(),
        about: format!(
            "On the {} of {asked} items on which every model here has a figure: the rank by the mean, with the ranks in the \
             middle {:.0} % of resamples of these items, and the mean. Models whose ranks overlap are not told apart.",
            common.len(),
            100.0 * book.resamples.settings().level,
        ),
        ..Table::of_figures("Model", ["Rank", "Mean"], rows)
    })
}

fn resample_model(
    book: &ScoreBook<'_>,
    author: usize,
    values: &BTreeMap<usize, f64>,
    common: &BTreeSet<usize>,
) -> Option<Ranked> {
    let unit =
        |item: &usize| Some(RatioUnit { at: book.unit_of_item(*item), sum: *values.get(item)?, count: 1.0 });
    let units: Vec<RatioUnit> = common.iter().filter_map(unit).collect();
    let sum: f64 = units.iter().map(|unit| unit.sum).sum();
    let count = units.len();
    // All models have the same items, so a resample without any of them is left out for all.
    let drawn = book.resamples.resample_statistic(|weights| weighted_ratio(&units, weights));
    (count > 0).then(|| Ranked { who: author, units, mean: sum / count as f64, drawn })
}

/// Sums of the same values in another order differ in their last digits.
fn is_above(other: f64, own: f64) -> bool {
    other > own + 1e-9
}

/// The lowest and the highest rank in the middle of the resamples.
fn rank_interval(book: &ScoreBook<'_>, models: &[Ranked], model: &Ranked) -> [f64; 2] {
    let rank = |(at, own): (usize, &f64)| {
        let above = models.iter().filter(|other| is_above(other.drawn[at], *own)).count();
        (above + 1) as f64
    };
    let drawn: Vec<f64> = model.drawn.iter().enumerate().map(rank).collect();
    let above = models.iter().filter(|other| is_above(other.mean, model.mean)).count();
    let ends = book.resamples.settings().interval_about((above + 1) as f64, drawn);
    // A rank is a whole number, and percentiles may lie between two.
    [ends.low.floor().min(ends.value), ends.high.ceil().max(ends.value)]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::figures::name_of;
    use crate::review::agreement::Bootstrap;
    use crate::testing::{parsed_answer, set_of_items, task_of_name, text_item};

    #[test]
    fn ranks_have_intervals_and_are_on_common_items() {
        let set = set_of_items("flub", (0..60).map(|at| text_item(at, true, None, 0)).collect());
        let mut answers = Vec::new();
        for (at, item) in set.items.iter().enumerate() {
            let right = |is_right: bool| if is_right { "A" } else { "B" };
            answers.push(parsed_answer(item, task_of_name("select"), "poor", right(at % 10 == 0)));
            answers.push(parsed_answer(item, task_of_name("select"), "close", right(at % 10 < 8)));
            // One item is missing, so nobody is ranked on it.
            if at > 0 {
                answers.push(parsed_answer(item, task_of_name("select"), "best", right(at % 20 < 17)));
            }
        }
        let bootstrap = Bootstrap { resamples: 300, seed: 1, level: 0.95 };
        let book = ScoreBook::new(&set, &answers, &[], BTreeMap::new(), bootstrap);
        let tables = leaderboard_tables(&book);
        let [table] = &tables[..] else { panic!("one task") };
        let names: Vec<&str> = table.rows.iter().map(|row| name_of(row)).collect();
        assert_eq!(names, ["best", "close", "poor"]);
        let ranks: Vec<(f64, Option<[f64; 2]>, Option<usize>)> = table
            .rows
            .iter()
            .map(|row| row[1].figure().unwrap())
            .map(|rank| (rank.value, rank.ends, rank.n))
            .collect();
        assert_eq!(ranks[0], (1.0, Some([1.0, 2.0]), Some(59)));
        assert_eq!(ranks[1], (2.0, Some([1.0, 2.0]), Some(59)));
        assert_eq!(ranks[2], (3.0, Some([3.0, 3.0]), Some(59)));
        assert!(table.about.starts_with("On the 59 of 60 items"), "{}", table.about);
    }
}
