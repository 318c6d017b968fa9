//! The report on one set.

use std::collections::BTreeMap;

use riddlemill_benchmarks::figure::Figure as Declared;
use riddlemill_benchmarks::table::{ColumnMeasure, Drawn, Layout, Measures, NativeTable, Shape};
use serde::Serialize;

use super::across::{Point, correlation_table, pair_points};
use super::compare::{Comparison, compare_models};
use super::leaderboard::leaderboard_tables;
use super::scores::ScoreBook;
use super::{declared, free, judged, known, orders, people, preferences};
use crate::charts::{bar_chart, line_chart, scatter_chart, stacked_chart};
use crate::figures::{Chart, Figure, Keys, Table};
use crate::set::Sample;
use crate::task::{Setting, Task};
use crate::text::format_decimals;

/// Tables, comparisons and charts of one set.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// `flub@1.0.0`.
    pub set: String,
    /// How many items it has.
    pub items: usize,
    /// Why the release is a draft; empty if it is not.
    pub draft: Vec<String>,
    /// Number of rows withdrawn since, which are left out of the figures.
    pub withdrawn: usize,
    /// What was drawn of the set; `None` if all of it is evaluated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample: Option<Sample>,
    /// How each endpoint drew several answers to an item, which items have no prompt in their language, and what was assumed of
    /// outputs made elsewhere.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub drawn: Vec<String>,
    /// The tables, in the order of the paper.
    pub tables: Vec<Table>,
    /// Every two models.
    pub comparisons: Vec<Comparison>,
    /// The charts of the page.
    #[serde(skip)]
    pub charts: Vec<Chart>,
}

impl Report {
    /// The sentence on rows that are left out, if there are any.
    pub fn describe_withdrawn(&self) -> Option<String> {
        let rows = match self.withdrawn {
            0 => return None,
            1 => "1 row was",
            n => return Some(format!("{n} rows were withdrawn since and are left out")),
        };
        Some(format!("{rows} withdrawn since and is left out"))
    }
}

/// Models' scores, from 0 to 100, in tasks with judges: the other axis of figures that compare sets.
pub type Scores = BTreeMap<&'static str, BTreeMap<String, f64>>;

/// Adds the scores on a set.
pub fn add_scores(book: &ScoreBook<'_>, scores: &mut Scores) {
    for task in Task::of_config(&book.set.config).into_iter().filter(|task| task.scale_of_judges().is_some())
    {
        for who in book.authors_of_tasks(&[task]) {
            if let Some(cell) = judged::score_of_model(book, who, task, None, None) {
                scores.entry(task.name()).or_default().insert(book.who[who].name.clone(), cell.value);
            }
        }
    }
}

/// Computes the report. `other_scores` are models' scores on the sets evaluated with it.
pub fn compute_report(book: &ScoreBook<'_>, other_scores: &Scores) -> Report {
    let (mut tables, mut charts) = (Vec::new(), Vec::new());
    let declared =
        riddlemill_benchmarks::find_benchmark(&book.set.config).map(|found| found.evaluation.as_slice());
    match declared.unwrap_or_default() {
        [] => {
            let table = declared::of_all_tasks(book);
            charts.push(bar_chart(&table.title, &table, 100.0));
            tables.push((table, None));
        }
        declared => {
            for one in declared {
                for table in tables_of(book, one, other_scores, &mut charts) {
                    charts.extend(
                        one.drawn.iter().filter_map(|drawn| chart_of_table(book, one, drawn, &table)),
                    );
                    tables.push((table, Some(one)));
                }
            }
        }
    }
    tables.retain(|(table, _)| table.has_figures());
    let known = known::baseline_table(book, &tables);
    let mut tables: Vec<Table> = tables.into_iter().map(|(table, _)| table).collect();
    tables.extend(known);
    tables.extend(leaderboard_tables(book));
    charts.retain(|chart| !chart.is_empty());
    Report {
        set: book.set.name(),
        items: book.set.items.len(),
        draft: book.set.draft.clone(),
        withdrawn: book.set.withdrawn,
        sample: book.set.sample.clone(),
        drawn: Vec::new(),
        tables,
        comparisons: compare_models(book),
        charts,
    }
}

/// The tables of one declaration. Points of a scatter plot become charts directly.
fn tables_of(
    book: &ScoreBook<'_>,
    one: &Declared,
    other_scores: &Scores,
    charts: &mut Vec<Chart>,
) -> Vec<Table> {
    let native = match one.of_answers() {
        Some(Measures::Columns { columns, by_setting, part }) => {
            return vec![declared::of_columns(book, one, columns, *by_setting, *part)];
        }
        Some(Measures::Native(native)) => native,
        None => return Vec::new(),
    };
    let tasks: Vec<Task> = native.tasks.iter().filter_map(|name| Task::find_task(name)).collect();
    // The number of tasks was checked with the folder.
    let Some(&task) = tasks.first() else { return Vec::new() };
    let both = [task, tasks.get(1).copied().unwrap_or(task)];
    match native.kind {
        Layout::ScoresByPart => {
            let judges = book.judges_of_tasks(&[task], false);
            let mut tables = vec![judged::scores_table(book, one, native, task, None)];
            if judges.len() > 1 && native.by_judge.is_some() {
                let of_judge = |judge: &&str| judged::scores_table(book, one, native, task, Some(judge));
                tables.extend(judges.iter().map(of_judge));
            }
            tables
        }
        Layout::TwoScores => vec![judged::task_pair_table(book, one, native, both)],
        Layout::Ratings => vec![judged::distribution_table(book, one, task)],
        Layout::JudgePairs => {
            let (table, pairs) = judged::judge_pairs(book, one, task);
            for (pair, means) in pairs {
                let [a, b] = &pair.judges;
                let r = pair.mean.pearson.map_or_else(|| "undefined".to_string(), |r| format_decimals(r, 3));
                let unnamed = |(x, y): (f64, f64)| Point { model: String::new(), x, y };
                let points: Vec<Point> = means.into_iter().map(unnamed).collect();
                for title in scatter_headings(one) {
                    let title = [a.as_str(), b, &r]
                        .iter()
                        .fold(title.to_owned(), |title, word| title.replacen("{}", word, 1));
                    charts.push(scatter_chart(&title, [a, b], &points, false));
                }
            }
            vec![table]
        }
        Layout::Sizes => model_size_table(book, one, native, &tasks, charts).into_iter().collect(),
        Layout::BothOrders => vec![orders::orders_table(book, one, both)],
        Layout::BothOrdersByPart => vec![orders::orders_by_part(book, one, native, both)],
        Layout::Against => {
            compare_with_other_set(book, one, native, &tasks, other_scores, charts).into_iter().collect()
        }
        Layout::PeopleAndJudges => vec![people::people_table(book, one, task)],
        Layout::Wins => vec![preferences::preference_table(book, one, task)],
        Layout::Preferences => vec![preferences::agreement_table(book, one, task)],
        Layout::FreeAnswers => vec![free::free_answers_table(book, one, task)],
    }
}

/// The headings of a table's scatter plots.
fn scatter_headings(declared: &Declared) -> impl Iterator<Item = &'static str> {
    declared.drawn.iter().filter(|drawn| drawn.shape == Shape::Scatter).map(|drawn| drawn.title)
}

/// A chart of a table's rows; `None` without data, or if its points are drawn already.
fn chart_of_table(book: &ScoreBook<'_>, declared: &Declared, drawn: &Drawn, table: &Table) -> Option<Chart> {
    match drawn.shape {
        Shape::Bars(count) => Some(bar_chart(drawn.title, &first_columns(table, count), 100.0)),
        Shape::Stacked => Some(stacked_chart(drawn.title, table)),
        Shape::Lines => {
            let Some(Measures::Columns { columns, .. }) = declared.of_answers() else { return None };
            let ColumnMeasure::Accuracy(name) = columns.first()?.measure else { return None };
            let settings = book.settings_of_task(Task::find_task(name)?).into_iter();
            let shots: Vec<Setting> = settings.filter(|setting| !setting.cot).collect();
            (shots.len() > 1).then(|| line_chart(drawn.title, table, 1, &shots))
        }
        Shape::Scatter => None,
    }
}

/// Models' scores in a task, or in the two with both orders of the same options, from 0 to 100.
fn scores_of_tasks(book: &ScoreBook<'_>, tasks: &[Task]) -> Vec<(String, Figure)> {
    if let [first, second] = tasks {
        return orders::scores_over_orders(book, [*first, *second]);
    }
    let Some(&task) = tasks.first() else { return Vec::new() };
    let score = |who: usize| {
        let cell = match task.scale_of_judges() {
            Some(_) => judged::score_of_model(book, who, task, None, None)?,
            None => book.accuracy_of_author(who, task, Setting::default(), |_| true, Keys::new())?,
        };
        Some((book.who[who].name.clone(), cell))
    };
    book.authors_of_tasks(&[task]).into_iter().filter_map(score).collect()
}

/// RuozhiBench's figure 8: with the other set evaluated together with this one, else by the ratings in the
/// rows.
fn compare_with_other_set(
    book: &ScoreBook<'_>,
    declared: &Declared,
    native: &NativeTable,
    tasks: &[Task],
    other_scores: &Scores,
    charts: &mut Vec<Chart>,
) -> Option<Table> {
    let released = || -> BTreeMap<String, f64> {
        native.ratings.map(|columns| orders::released_scores(book, columns)).unwrap_or_default()
    };
    let other = native.other.and_then(|other| other_scores.get(other)).filter(|scores| !scores.is_empty());
    let both = pair_points(&other.cloned().unwrap_or_else(released), &scores_of_tasks(book, tasks));
    let axes = [*native.columns.first()?, *native.columns.get(1)?];
    if both.len() < 2 {
        return None;
    }
    charts.extend(scatter_headings(declared).map(|title| scatter_chart(title, axes, &both, false)));
    Some(correlation_table(declared, axes, &both, book.resamples.settings()))
}

/// RuozhiBench's figure 9, if the sizes of at least two models are known.
fn model_size_table(
    book: &ScoreBook<'_>,
    declared: &Declared,
    native: &NativeTable,
    tasks: &[Task],
    charts: &mut Vec<Chart>,
) -> Option<Table> {
    let sized = pair_points(&book.sizes, &scores_of_tasks(book, tasks));
    let axis = *native.columns.first()?;
    if sized.len() < 2 {
        return None;
    }
    // Regression and correlation use the logarithm, as in the figure.
    let on_log: Vec<Point> =
        sized.iter().map(|point| Point { x: point.x.log10(), ..point.clone() }).collect();
    let axes = ["Size in billions of parameters", axis];
    charts.extend(scatter_headings(declared).map(|title| scatter_chart(title, axes, &sized, true)));
    Some(correlation_table(declared, ["Size, log10 of billions", axis], &on_log, book.resamples.settings()))
}

/// A table without the columns behind so many figures.
fn first_columns(table: &Table, count: usize) -> Table {
    let (mut table, columns) = (table.clone(), count.saturating_add(1));
    table.columns.truncate(columns);
    table.rows.iter_mut().for_each(|row| row.truncate(columns));
    table
}
