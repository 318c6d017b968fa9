//! Tables with one figure per column: one row per model, or per setting in which it was asked. Without
//! `[[table]]` there is one of all tasks, with the usual figure of each kind.

use std::collections::{BTreeMap, BTreeSet};

use riddlemill_benchmarks::figure::Figure as Declared;
use riddlemill_benchmarks::table::{self as declared, ClassScore, ColumnMeasure, Part};
use riddlemill_benchmarks::task::AnswerParsing;
use serde_json::Value as Json;

use super::classed::{
    Labelled, class_score, covered_answers, labels_of_answers, macro_f1, of_attempted, of_set_labels,
    units_of,
};
use super::judged::{Judged, rating_range};
use super::replies;
use super::sampled::{self, SampleOwner};
use super::scores::ScoreBook;
use crate::answer::Answer;
use crate::figures::{Figure, Keys, Table, figure_row};
use crate::item::Item;
use crate::measures::mean;
use crate::measures::{RatioUnit, SHARE, count_units, geometric_mean, pearson_r, weighted_ratio};
use crate::task::{Setting, Task};

mod difference;

/// The data from which a table's columns are computed.
struct Measured<'b, 'a> {
    book: &'b ScoreBook<'a>,
    columns: &'b [declared::TableColumn],
    part: Option<Part>,
    who: usize,
    setting: Setting,
    /// Only these items, by their ids.
    only: Option<&'b BTreeSet<&'b str>>,
}

/// A table with these declared columns.
pub fn of_columns(
    book: &ScoreBook<'_>,
    table: &Declared,
    columns: &[declared::TableColumn],
    by_setting: bool,
    part: Option<Part>,
) -> Table {
    let tasks: Vec<Task> = columns.iter().flat_map(|column| tasks_of_measure(&column.measure)).collect();
    let mut settings: Vec<Setting> = tasks.iter().flat_map(|task| book.settings_of_task(*task)).collect();
    settings.sort();
    settings.dedup();
    // What was asked in other settings alone has its rows, whatever the table is of: nothing else would show it.
    let by_setting = by_setting || !settings.is_empty() && !settings.contains(&Setting::default());
    if !by_setting {
        settings = vec![Setting::default()];
    }
    let many = settings.len() > 1 || settings != [Setting::default()];
    let parted: Vec<Vec<Option<String>>> = columns
        .iter()
        .map(|column| column.each.map_or(vec![None], |each| values_of_column(book, each)))
        .collect();
    let mut headings = Vec::new();
    for (column, parts) in columns.iter().zip(&parted) {
        headings.extend(parts.iter().map(|part| match part {
            None => column.title.to_owned(),
            Some(value) => format!("{}: {value}", column.title),
        }));
        if matches!(column.measure, ColumnMeasure::Format(_)) {
            headings.extend(replies::columns_beside_format(column.title));
        }
    }
    let mut rows = Vec::new();
    for who in book.authors_of_tasks(&tasks) {
        for &setting in &settings {
            let measured = Measured { book, columns, part, who, setting, only: None };
            let mut by_column: Vec<Vec<Option<Figure>>> = Vec::new();
            for (column, parts) in columns.iter().zip(&parted) {
                let made = parts
                    .iter()
                    .map(|part| measured.measure_cell(column, part.as_deref(), &by_column))
                    .collect();
                by_column.push(made);
            }
            // Beside the share in the right form, because derived columns name their places.
            let mut cells = Vec::new();
            for (column, made) in columns.iter().zip(by_column) {
                cells.extend(made);
                if let ColumnMeasure::Format(names) = &column.measure {
                    let tasks: Vec<Task> = names.iter().filter_map(|name| task_of(name)).collect();
                    cells.extend(replies::cells_beside(book, who, &tasks, setting));
                }
            }
            // A setting without any answers has no row.
            if !by_setting || cells.iter().any(Option::is_some) {
                let whose = &book.who[who].name;
                let name = if many { format!("{whose}, {setting}") } else { whose.clone() };
                rows.push(figure_row(name, cells));
            }
        }
    }
    let says_so = table.about.contains("format error");
    let about = match says_so {
        true => " A reply that was cut or refused is wrong.",
        false => " A format error is wrong, and so is a reply that was cut or refused.",
    };
    Table {
        paper: if many { table.paper_of_settings } else { table.paper }.to_owned(),
        about: format!("{}{about}", table.about).trim().to_owned(),
        ..Table::of_figures(if many { "Model and setting" } else { "Model" }, headings, rows)
            .with_heading(table)
    }
}

/// The task with a qualified name.
pub(super) fn task_of(name: &str) -> Option<Task> {
    Task::find_task(name)
}

/// The tasks whose answers a measure uses.
fn tasks_of_measure(measure: &ColumnMeasure) -> Vec<Task> {
    match measure {
        ColumnMeasure::Accuracy(name)
        | ColumnMeasure::OfAttempted(name)
        | ColumnMeasure::F1 { task: name, .. }
        | ColumnMeasure::Classes { task: name, .. }
        | ColumnMeasure::Answers { task: name, .. }
        | ColumnMeasure::Correlation(name)
        | ColumnMeasure::Score(name)
        | ColumnMeasure::Failed { task: name, .. }
        | ColumnMeasure::Groups(name, _) => task_of(name).into_iter().collect(),
        ColumnMeasure::Format(names) => names.iter().filter_map(|name| task_of(name)).collect(),
        ColumnMeasure::Difference(..) | ColumnMeasure::Mean(_) | ColumnMeasure::Geometric(_) => Vec::new(),
    }
}

/// The values of a column of the set, sorted; for lists, each element.
fn values_of_column(book: &ScoreBook<'_>, column: &str) -> Vec<Option<String>> {
    let all = book.set.items.iter().flat_map(|item| of_row(item, column));
    all.collect::<BTreeSet<String>>().into_iter().map(Some).collect()
}

fn of_row(item: &Item, column: &str) -> Vec<String> {
    let word = |value: &Json| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match item.row().get(column) {
        None | Some(Json::Null) => Vec::new(),
        Some(Json::Array(list)) => list.iter().map(word).collect(),
        Some(value) => vec![word(value)],
    }
}

/// A figure with these weights of units.
type Weighed<'f> = dyn Fn(&[u16]) -> Option<f64> + Sync + 'f;

/// The components of a figure, so that others can be derived on the same resamples: its value by weights, the
/// number of answers, the number of units of the task with fewest, and the maximum.
struct Derivable<'f> {
    of: Box<Weighed<'f>>,
    n: usize,
    units: usize,
    most: f64,
}

impl Measured<'_, '_> {
    fn measure_cell(
        &self,
        column: &declared::TableColumn,
        value: Option<&str>,
        before: &[Vec<Option<Figure>>],
    ) -> Option<Figure> {
        let Measured { book, who, setting, .. } = *self;
        let among = |item: &Item| {
            let in_part = || match (value, column.each) {
                (Some(value), Some(each)) => of_row(item, each).iter().any(|own| own == value),
                _ => true,
            };
            self.is_item_covered(column, item) && in_part()
        };
        let first = |place: usize| before.get(place)?.first()?.as_ref();
        match &column.measure {
            ColumnMeasure::Accuracy(name) => {
                book.accuracy_of_author(who, task_of(name)?, setting, among, self.parts_of_column(column))
            }
            ColumnMeasure::F1 { task, of_set } => {
                let task = task_of(task)?;
                let answers = self.labels_of_units(task, among)?;
                let of_set = of_set.then(|| of_set_labels(book, task));
                let f1 = |weights: &[u16]| macro_f1(task, &answers, of_set.as_deref(), weights);
                let estimate = book.resamples.estimate_statistic(units_of(&answers), SHARE, f1)?;
                Some(Figure::new(estimate, 100.0, answers.len(), self.keys_of_column(task, column)))
            }
            ColumnMeasure::Classes { task, score, over } => {
                let (score, over, task) = (*score, *over, task_of(task)?);
                let answers = self.labels_of_units(task, among)?;
                let figure = |weights: &[u16]| class_score(task, &answers, score, over, weights);
                let range = if score == ClassScore::Mcc { [-1.0, 1.0] } else { SHARE };
                let estimate = book.resamples.estimate_statistic(units_of(&answers), range, figure)?;
                Some(Figure::new(estimate, 100.0, answers.len(), self.keys_of_column(task, column)))
            }
            ColumnMeasure::OfAttempted(name) => {
                let task = task_of(name)?;
                let (units, n) =
                    book.sum_by_unit(book.answers_of_author(who, task, setting)?, among, of_attempted);
                Some(Figure::new(
                    book.resamples.estimate_ratio(&units, SHARE)?,
                    100.0,
                    n,
                    self.keys_of_column(task, column),
                ))
            }
            ColumnMeasure::Answers { task, score } => {
                let task = task_of(task)?;
                sampled::figure_of_author(
                    book,
                    SampleOwner { who, task, setting },
                    *score,
                    among,
                    self.keys_of_column(task, column),
                )
            }
            ColumnMeasure::Correlation(name) => {
                correlation_with_gold(book, who, task_of(name)?, setting, among)
            }
            ColumnMeasure::Score(name) => {
                let task = task_of(name)?;
                let judged = Judged::new(book, book.answers_of_author(who, task, setting)?, among, None);
                let estimate = judged.estimate_mean(&book.resamples, rating_range(task))?;
                Some(Figure::new(estimate, 1.0, judged.n, self.keys_of_column(task, column)))
            }
            ColumnMeasure::Groups(name, parts) => self.share_of_solved_groups(task_of(name)?, parts, &[]),
            ColumnMeasure::Failed { task, failed, solved } => {
                self.share_of_solved_groups(task_of(task)?, failed, solved)
            }
            ColumnMeasure::Format(names) => {
                let tasks: Vec<Task> = names.iter().filter_map(|name| task_of(name)).collect();
                book.format_share(who, &tasks, setting)
            }
            ColumnMeasure::Difference(one, other) => {
                self.difference_of_columns([*one, *other], [first(*one)?, first(*other)?])
            }
            ColumnMeasure::Mean(places) => {
                let cells: Option<Vec<&Figure>> = places.iter().map(|place| first(*place)).collect();
                let cells = cells?;
                let values: Vec<f64> = cells.iter().map(|cell| cell.value).collect();
                let n = cells.iter().map(|cell| cell.n).min()?;
                Some(Figure { value: mean(&values)?, ends: None, n, from: Keys::new(), unit: None })
            }
            ColumnMeasure::Geometric(places) => self.geometric_of_columns(places),
        }
    }

    /// The parts of the set that a column covers, as keys of the figures' origin.
    fn parts_of_column(&self, column: &declared::TableColumn) -> Keys {
        let of_table = self.part.map(|part| (part.key, part.is.to_owned()));
        let of_column = column.part.map(|part| ("part", part.to_owned()));
        of_table.into_iter().chain(of_column).collect()
    }

    fn keys_of_column(&self, task: Task, column: &declared::TableColumn) -> Keys {
        let mut keys = self.book.keys_of_answers(self.who, task, self.setting);
        keys.extend(self.parts_of_column(column));
        keys
    }

    fn in_part(&self, item: &Item) -> bool {
        self.only.is_none_or(|only| only.contains(item.id.as_str()))
            && self.part.is_none_or(|part| item.is_of(part.is))
    }

    /// Whether a column covers an item; not if its condition cannot be computed for it.
    fn is_item_covered(&self, column: &declared::TableColumn, item: &Item) -> bool {
        let of_column = column.part.is_none_or(|part| item.is_of(part));
        let among =
            |among: &riddlemill_benchmarks::Expression| among.is_true(&item.column_values()).unwrap_or(false);
        of_column && self.in_part(item) && column.among.as_ref().is_none_or(among)
    }

    /// The components of an earlier column; `None` for one derived from others.
    fn derivable_figure(&self, column: &declared::TableColumn) -> Option<Derivable<'_>> {
        let column_of = |task: Task| self.book.answers_of_author(self.who, task, self.setting);
        let among = |item: &Item| self.is_item_covered(column, item);
        match &column.measure {
            ColumnMeasure::Accuracy(name) => {
                let right = |answer: &Answer| answer.correct.map(f64::from);
                let (parts, n) = self.book.sum_by_unit(column_of(task_of(name)?)?, among, right);
                let units = count_units(&parts);
                let of = move |weights: &[u16]| Some(100.0 * weighted_ratio(&parts, weights)?);
                Some(Derivable { of: Box::new(of), n, units, most: 100.0 })
            }
            ColumnMeasure::F1 { task, of_set } => {
                let task = task_of(task)?;
                let answers = self.labels_of_units(task, among)?;
                let of_set = of_set.then(|| of_set_labels(self.book, task));
                let (n, units) = (answers.len(), units_of(&answers));
                let of = move |weights: &[u16]| {
                    Some(100.0 * macro_f1(task, &answers, of_set.as_deref(), weights)?)
                };
                Some(Derivable { of: Box::new(of), n, units, most: 100.0 })
            }
            // A correlation may be negative, and has no geometric mean.
            ColumnMeasure::Classes { task, score, over } if *score != ClassScore::Mcc => {
                let (score, over, task) = (*score, *over, task_of(task)?);
                let answers = self.labels_of_units(task, among)?;
                let (n, units) = (answers.len(), units_of(&answers));
                let of =
                    move |weights: &[u16]| Some(100.0 * class_score(task, &answers, score, over, weights)?);
                Some(Derivable { of: Box::new(of), n, units, most: 100.0 })
            }
            ColumnMeasure::OfAttempted(name) => {
                let (parts, n) = self.book.sum_by_unit(column_of(task_of(name)?)?, among, of_attempted);
                let units = count_units(&parts);
                let of = move |weights: &[u16]| Some(100.0 * weighted_ratio(&parts, weights)?);
                Some(Derivable { of: Box::new(of), n, units, most: 100.0 })
            }
            ColumnMeasure::Score(name) => {
                let task = task_of(name)?;
                let judged = Judged::new(self.book, column_of(task)?, among, None);
                let (n, units) = (judged.n, judged.count_rated_items());
                let of = move |weights: &[u16]| judged.weighted_mean(weights);
                Some(Derivable { of: Box::new(of), n, units, most: rating_range(task)[1] })
            }
            _ => None,
        }
    }

    /// The geometric mean of earlier columns, on the same resamples.
    fn geometric_of_columns(&self, places: &[usize]) -> Option<Figure> {
        let figures: Option<Vec<Derivable<'_>>> =
            places.iter().map(|place| self.derivable_figure(&self.columns[*place])).collect();
        let figures = figures?;
        let of = |weights: &[u16]| {
            let values: Option<Vec<f64>> = figures.iter().map(|figure| (figure.of)(weights)).collect();
            geometric_mean(&values?)
        };
        // From nothing correct to everything.
        let most: Vec<f64> = figures.iter().map(|figure| figure.most).collect();
        let least = figures.iter().map(|figure| figure.units).min()?;
        let estimate = self.book.resamples.estimate_statistic(least, [0.0, geometric_mean(&most)?], of)?;
        let first = tasks_of_measure(&self.columns[*places.first()?].measure).into_iter().next()?;
        let mut keys = self.book.keys_of_answers(self.who, first, self.setting);
        keys.remove("task");
        keys.extend(self.part.map(|part| (part.key, part.is.to_owned())));
        Some(Figure::new(estimate, 1.0, figures.iter().map(|figure| figure.n).sum(), keys))
    }

    /// The share of groups in which all of some parts are correct, among the groups in which all are answered; with parts that
    /// are `solved`, the share in which some are not, among the groups in which those are correct.
    fn share_of_solved_groups(&self, task: Task, parts: &[&str], solved: &[&str]) -> Option<Figure> {
        let Measured { book, who, setting, .. } = *self;
        let column = book.answers_of_author(who, task, setting)?;
        // By group, and person or sample, if there are several: whether either parts are correct so far, and the number answered.
        let mut groups: BTreeMap<(usize, &str, u32), ([bool; 2], usize)> = BTreeMap::new();
        for (at, answers) in column.iter().enumerate() {
            let item = &book.set.items[at];
            let is_of = |parts: &[&str]| self.in_part(item) && parts.iter().any(|part| item.is_of(part));
            let Some(side) = [parts, solved].into_iter().position(is_of) else { continue };
            for answer in answers {
                let group = groups
                    .entry((book.unit_of_item(at), &answer.model, answer.sample))
                    .or_insert(([true; 2], 0));
                group.0[side] &= answer.correct == Some(true);
                group.1 += 1;
            }
        }
        let wanted = parts.len() + solved.len();
        let whole = groups.into_iter().filter(|(_, ([_, given], answered))| *given && *answered == wanted);
        let sum = |right: bool| f64::from(right == solved.is_empty());
        let units: Vec<RatioUnit> =
            whole.map(|((at, ..), ([right, _], _))| RatioUnit { at, sum: sum(right), count: 1.0 }).collect();
        let keys = book.keys_of_answers(who, task, setting);
        Some(Figure::new(book.resamples.estimate_ratio(&units, SHARE)?, 100.0, units.len(), keys))
    }

    /// The right and the named labels of every answer, by unit.
    fn labels_of_units(&self, task: Task, among: impl Fn(&Item) -> bool) -> Option<Vec<Labelled>> {
        labels_of_answers(self.book, self.who, task, self.setting, among)
    }
}

/// Percent of correct choices; for labels the share named exactly and macro F1; for ratings the correlation
/// with people's; for conversations the share that is solved, because how one ends is no class of a row.
pub fn of_all_tasks(book: &ScoreBook<'_>) -> Table {
    let tasks: Vec<(Task, &riddlemill_benchmarks::task::Task)> =
        Task::of_config(&book.set.config).into_iter().map(|task| (task, task.task_declaration())).collect();
    let mut columns = Vec::new();
    for (task, declared) in &tasks {
        if task.conversation().is_some() {
            columns.push(format!("{} solved", declared.title));
            continue;
        }
        match declared.wants {
            AnswerParsing::Choice { .. } | AnswerParsing::Tag { .. } => {
                columns.push(declared.title.to_owned())
            }
            AnswerParsing::Labels { .. } => {
                columns.extend([format!("{} exact", declared.title), format!("{} macro F1", declared.title)]);
            }
            AnswerParsing::Rating { .. } => columns.push(format!("{} r × 100", declared.title)),
            AnswerParsing::Words { .. } => columns.push(format!("{} score", declared.title)),
        }
    }
    columns.push("Format".into());
    columns.extend(replies::columns_beside_format("Format"));
    let all: Vec<Task> = tasks.iter().map(|(task, _)| *task).collect();
    let mut rows = Vec::new();
    for who in book.authors_of_tasks(&all) {
        let mut cells = Vec::new();
        for (task, declared) in &tasks {
            let exact =
                || book.accuracy_of_author(who, *task, Setting::default(), |_| true, Default::default());
            match &declared.wants {
                _ if task.conversation().is_some() => cells.push(exact()),
                AnswerParsing::Choice { .. } | AnswerParsing::Tag { .. } => cells.push(exact()),
                AnswerParsing::Labels { .. } => {
                    let f1 = || {
                        let answers = labels_of_answers(book, who, *task, Setting::default(), |_| true)?;
                        let f1 = |weights: &[u16]| macro_f1(*task, &answers, None, weights);
                        let estimate = book.resamples.estimate_statistic(units_of(&answers), SHARE, f1)?;
                        let keys = book.keys_of_answers(who, *task, Setting::default());
                        Some(Figure::new(estimate, 100.0, answers.len(), keys))
                    };
                    cells.extend([exact(), f1()]);
                }
                AnswerParsing::Rating { .. } => {
                    cells.push(correlation_with_gold(book, who, *task, Setting::default(), |_| true));
                }
                AnswerParsing::Words { .. } => cells.push(mean_judge_score(book, who, *task)),
            }
        }
        cells.push(book.format_share(who, &all, Setting::default()));
        cells.extend(replies::cells_beside(book, who, &all, Setting::default()));
        rows.push(figure_row(&book.who[who].name, cells));
    }
    let about: Vec<&str> =
        tasks.iter().map(|(_, task)| task.about).filter(|about| !about.is_empty()).collect();
    Table {
        name: "tasks".into(),
        title: "Tasks, percent".into(),
        about: format!(
            "{} A format error is wrong, and so is a reply that was cut or refused.",
            about.join(" ")
        ),
        ..Table::of_figures("Model", columns, rows)
    }
}

/// The mean of the judges' means; `None` without ratings.
fn mean_judge_score(book: &ScoreBook<'_>, who: usize, task: Task) -> Option<Figure> {
    task.scale_of_judges()?;
    let judged = Judged::new(book, book.answers_of_author(who, task, Setting::default())?, |_| true, None);
    let estimate = judged.estimate_mean(&book.resamples, rating_range(task))?;
    Some(Figure::new(estimate, 1.0, judged.n, book.keys_of_answers(who, task, Setting::default())))
}

fn correlation_with_gold(
    book: &ScoreBook<'_>,
    who: usize,
    task: Task,
    setting: Setting,
    among: impl Fn(&Item) -> bool,
) -> Option<Figure> {
    let column = book.answers_of_author(who, task, setting)?;
    let number = |text: &Option<String>| text.as_deref()?.parse::<f64>().ok();
    let pairs: Vec<(f64, f64)> = covered_answers(book, column, among)
        .filter_map(|(_, answer)| Some((number(&answer.chosen)?, number(&answer.gold)?)))
        .collect();
    let r = pearson_r(&pairs)?;
    Some(Figure::without_interval(100.0 * r, pairs.len(), book.keys_of_answers(who, task, setting)))
}
