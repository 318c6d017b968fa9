//! Two answers in both orders (RuozhiBench, table 4 and figure 7), and the data of figures 8 and 9.

use std::collections::BTreeMap;

use riddlemill_benchmarks::figure::Figure as Declared;
use riddlemill_benchmarks::table::NativeTable;

use super::SHADED;
use super::replies;
use super::scores::ScoreBook;
use crate::answer::Answer;
use crate::builtin::BuiltIn;
use crate::figures::{Figure, Keys, Row, Table, figure_row, name_of};
use crate::item::Item;
use crate::measures::judges::{Rating, mean_scores};
use crate::measures::mean;
use crate::measures::{RatioUnit, SHARE};
use crate::task::{Setting, Task};

/// A row of figure 7: shares in both orders.
struct Halves {
    good: (Vec<RatioUnit>, usize),
    bad: (Vec<RatioUnit>, usize),
}

/// Table 4. As there, shares are of the answers in the right format, `Avg` is the mean of both orders, and
/// the positional bias their difference.
pub fn orders_table(book: &ScoreBook<'_>, declared: &Declared, tasks: [Task; 2]) -> Table {
    let mut rows = Vec::new();
    for who in book.authors_of_tasks(&tasks) {
        let Some(halves) = Halves::split_halves(book, who, tasks, |_| true) else { continue };
        let keys = |task: Option<Task>| keys_of_orders(book, who, tasks, task);
        let half = |(units, n): &(Vec<RatioUnit>, usize), task| {
            Some(Figure::new(book.resamples.estimate_ratio(units, SHARE)?, 100.0, *n, keys(Some(task))))
        };
        let both = |scale: [f64; 2]| halves.weigh_halves(book, scale, keys(None));
        let mut cells = vec![
            half(&halves.good, tasks[0]),
            half(&halves.bad, tasks[1]),
            both([50.0, 50.0]),
            both([100.0, -100.0]),
            book.format_share(who, &tasks, Setting::default()),
        ];
        cells.extend(replies::cells_beside(book, who, &tasks, Setting::default()));
        rows.push(figure_row(&book.who[who].name, cells));
    }
    let columns = ["Good First", "Bad First", "Avg", "Positional Bias", "Format"].map(str::to_string);
    Table::of_figures("Model", columns.into_iter().chain(replies::columns_beside_format("Format")), rows)
        .with_heading(declared)
}

/// Figure 7: by part, relative to chance.
pub fn orders_by_part(
    book: &ScoreBook<'_>,
    declared: &Declared,
    native: &NativeTable,
    tasks: [Task; 2],
) -> Table {
    let mut rows = Vec::new();
    for who in book.authors_of_tasks(&tasks) {
        let cell = |part: Option<&str>| {
            let among = |item: &Item| part.is_none_or(|part| item.is_of(part));
            let mut keys = keys_of_orders(book, who, tasks, None);
            keys.extend(part.map(|part| ("part", part.to_string())));
            let cell =
                Halves::split_halves(book, who, tasks, among)?.weigh_halves(book, [50.0, 50.0], keys)?;
            // 2 (x - 0.5), in percent.
            let against = |x: f64| 2.0 * (x - 50.0);
            let ends = cell.ends.map(|ends| ends.map(against));
            Some(Figure { value: against(cell.value), ends, ..cell })
        };
        let cells = native.parts.iter().map(|part| cell(Some(part))).chain([cell(None)]);
        rows.push(figure_row(&book.who[who].name, cells));
    }
    rows.extend(average_row(book, &rows));
    Table {
        heat: Some(SHADED),
        ..Table::of_figures("Model", part_columns(native), rows).with_heading(declared)
    }
}

/// The last row of figures 4, 7 and 16 to 18: the mean over the models, column by column except for the last.
/// People and baselines are excluded.
pub(super) fn average_row(book: &ScoreBook<'_>, rows: &[Row]) -> Option<Row> {
    let is_model = |row: &&Row| {
        let person = book.who.iter().any(|who| who.person && who.name == name_of(row));
        !person && BuiltIn::find_baseline(name_of(row)).is_none()
    };
    let models: Vec<&Row> = rows.iter().filter(is_model).collect();
    // The mean of a single model would only repeat its row.
    let columns = models.first().filter(|_| models.len() > 1)?.len() - 1;
    let average = |at: usize| {
        let figures = models.iter().filter_map(|row| row[at].figure());
        let values: Vec<f64> = figures.map(|figure| figure.value).collect();
        Some(Figure::without_interval(mean(&values)?, values.len(), Keys::new()))
    };
    Some(figure_row("Average", (1..columns).map(average).chain([None])))
}

/// The columns of parts, followed by the total.
pub(super) fn part_columns(native: &NativeTable) -> Vec<String> {
    native.parts.iter().chain(&native.columns).map(ToString::to_string).collect()
}

/// Models' scores over both orders, from 0 to 100.
pub fn scores_over_orders(book: &ScoreBook<'_>, tasks: [Task; 2]) -> Vec<(String, Figure)> {
    let score = |who: usize| {
        let halves = Halves::split_halves(book, who, tasks, |_| true)?;
        let cell = halves.weigh_halves(book, [50.0, 50.0], keys_of_orders(book, who, tasks, None))?;
        Some((book.who[who].name.clone(), cell))
    };
    book.authors_of_tasks(&tasks).into_iter().filter(|who| !book.who[*who].person).filter_map(score).collect()
}

/// Models' scores by the ratings in three columns of the release, models, judges and numbers from 0 to 4, as a report computes
/// them.
pub fn released_scores(book: &ScoreBook<'_>, columns: [&str; 3]) -> BTreeMap<String, f64> {
    let mut ratings = Vec::new();
    for item in &book.set.items {
        let [models, judges, numbers] = columns.map(|column| item.list_of_column(column));
        for ((model, judge), rating) in models.iter().zip(judges).zip(numbers) {
            let (Some(model), Some(judge), Some(rating)) = (model.as_str(), judge.as_str(), rating.as_u64())
            else {
                continue;
            };
            let (question, response) = (item.id.as_str(), item.id.as_str());
            let rating = u32::try_from(rating).unwrap_or(u32::MAX);
            ratings.push(Rating { question, normal: false, response, model, judge, repeat: 0, rating });
        }
    }
    mean_scores(&ratings, |_| &[]).into_iter().map(|cell| (cell.model, cell.score)).collect()
}

fn keys_of_orders(book: &ScoreBook<'_>, who: usize, tasks: [Task; 2], task: Option<Task>) -> Keys {
    let mut keys = book.keys_of_answers(who, task.unwrap_or(tasks[0]), Setting::default());
    if task.is_none() {
        keys.remove("task");
    }
    keys
}

impl Halves {
    fn split_halves(
        book: &ScoreBook<'_>,
        who: usize,
        tasks: [Task; 2],
        among: impl Fn(&Item) -> bool,
    ) -> Option<Halves> {
        // A format error is not a choice, and counts in neither share.
        let right = |answer: &Answer| answer.correct.filter(|_| answer.format_error.is_none()).map(f64::from);
        let half = |task| {
            book.answers_of_author(who, task, Setting::default())
                .map(|column| book.sum_by_unit(column, &among, right))
        };
        let (good, bad) = (half(tasks[0]), half(tasks[1]));
        (good.is_some() || bad.is_some())
            .then(|| Halves { good: good.unwrap_or_default(), bad: bad.unwrap_or_default() })
    }

    /// The two shares, weighted and added; `None` if one is missing.
    fn weigh_halves(&self, book: &ScoreBook<'_>, scale: [f64; 2], from: Keys) -> Option<Figure> {
        let sum = |good: f64, bad: f64| scale[0] * good + scale[1] * bad;
        let (value, drawn) = book.resamples.combine_ratios(&self.good.0, &self.bad.0, sum)?;
        let mut estimate = book.resamples.settings().interval_about(value, drawn);
        if book.resamples.settings().has_end_at_value(&estimate) {
            // Each share within its own range.
            let ends = |units, scale: f64| {
                let share = book.resamples.estimate_ratio(units, SHARE)?;
                let ends = [scale * share.low, scale * share.high];
                // A negative factor exchanges the ends.
                Some(if scale < 0.0 { [ends[1], ends[0]] } else { ends })
            };
            let (good, bad) = (ends(&self.good.0, scale[0])?, ends(&self.bad.0, scale[1])?);
            (estimate.low, estimate.high) = (good[0] + bad[0], good[1] + bad[1]);
        }
        Some(Figure::new(estimate, 1.0, self.good.1 + self.bad.1, from))
    }
}

/// Keys that only name a model.
pub(super) fn of_model(model: &str) -> Keys {
    Keys::from([("model", model.to_owned())])
}
