//! Answers rated by judges (RuozhiBench, figures 4 to 6 and 16 to 21, table 3).

use std::collections::BTreeSet;

use riddlemill_benchmarks::figure::Figure as Declared;
use riddlemill_benchmarks::table::NativeTable;

use super::SHADED;
use super::orders::{average_row, part_columns};
use super::scores::{Column, ScoreBook};
use crate::answer::Answer;
use crate::figures::{Cell, Figure, Keys, Row, Table, figure_row, figures_of};
use crate::item::Item;
use crate::measures::judges::{self, JudgePair, PairFigure};
use crate::measures::{RatioUnit, Resamples, SHARE, weighted_ratio};
use crate::review::agreement::Estimate;
use crate::task::{Setting, Task};

/// The range of a mean of ratings.
pub(super) fn rating_range(task: Task) -> [f64; 2] {
    task.scale_of_judges().map_or(SHARE, |scale| scale.map(f64::from))
}

/// Factor from a rating to the scale from 0 to 100.
fn points_per_rating(task: Task) -> f64 {
    100.0 / rating_range(task)[1]
}

/// RuozhiBench's figure 4, or for one judge figures 16 to 18: 0 to 100 by part.
pub fn scores_table(
    book: &ScoreBook<'_>,
    declared: &Declared,
    native: &NativeTable,
    task: Task,
    judge: Option<&str>,
) -> Table {
    let mut rows: Vec<Row> = book
        .authors_of_tasks(&[task])
        .into_iter()
        .map(|who| {
            let cell = |part: Option<&str>| score_of_model(book, who, task, judge, part);
            let cells = native.parts.iter().map(|part| cell(Some(part))).chain([cell(None)]);
            figure_row(&book.who[who].name, cells)
        })
        .collect();
    rows.retain(|row| figures_of(row).flatten().next().is_some());
    // Best first, as in the figures.
    let whole = |row: &Row| row.last().and_then(Cell::figure).map_or(f64::MIN, |figure| figure.value);
    rows.sort_by(|a, b| whole(b).total_cmp(&whole(a)));
    rows.extend(average_row(book, &rows));
    let mut table = Table::of_figures("Model", part_columns(native), rows).with_heading(declared);
    table.heat = Some(SHADED);
    match (judge, native.by_judge) {
        (Some(judge), Some(of_one)) => {
            table.name = of_one.name.to_owned();
            table.title = of_one.title.replacen("{}", judge, 1);
            table.paper = of_one.paper.to_owned();
        }
        _ => table.about.push_str(&describe_missing_judges(book, task)),
    }
    table
}

/// A model's score, 0 to 100.
pub fn score_of_model(
    book: &ScoreBook<'_>,
    who: usize,
    task: Task,
    judge: Option<&str>,
    part: Option<&str>,
) -> Option<Figure> {
    let column = book.answers_of_author(who, task, Setting::default())?;
    let among = |item: &Item| part.is_none_or(|part| item.is_of(part));
    let judged = Judged::new(book, column, among, judge);
    let mut keys = book.keys_of_answers(who, task, Setting::default());
    keys.extend(judge.map(|judge| ("judge", judge.to_string())));
    keys.extend(part.map(|part| ("part", part.to_string())));
    Some(Figure::new(
        judged.estimate_mean(&book.resamples, rating_range(task))?,
        points_per_rating(task),
        judged.n,
        keys,
    ))
}

/// Ratings of a column's answers, by judge. Their mean is that of the judges' means, as figure 4 relates to
/// figures 16 to 18: judges count equally, however many answers they rated.
pub(super) struct Judged {
    judges: Vec<Vec<RatioUnit>>,
    /// Number of ratings.
    pub(super) n: usize,
}

impl Judged {
    /// For all judges, or for one.
    pub(super) fn new(
        book: &ScoreBook<'_>,
        column: &Column<'_>,
        among: impl Fn(&Item) -> bool,
        judge: Option<&str>,
    ) -> Judged {
        let names = judge.map_or_else(|| judges_of(column), |judge| vec![judge]);
        let (mut judges, mut n) = (Vec::new(), 0);
        for name in names {
            let (units, count) = sum_ratings(book, column, &among, Some(name));
            n += count;
            judges.extend(Some(units).filter(|units| !units.is_empty()));
        }
        Judged { judges, n }
    }

    /// Number of items rated by the judge who rated fewest.
    pub(super) fn count_rated_items(&self) -> usize {
        self.judges.iter().map(Vec::len).min().unwrap_or(0)
    }

    /// The mean of the judges' means with these weights of units; `None` if one of them has no rating.
    pub(super) fn weighted_mean(&self, weights: &[u16]) -> Option<f64> {
        judges::mean_of_judges(self.judges.iter().map(|units| weighted_ratio(units, weights)))
    }

    /// The mean with its interval.
    pub(super) fn estimate_mean(&self, resamples: &Resamples, range: [f64; 2]) -> Option<Estimate> {
        match &self.judges[..] {
            [only] => resamples.estimate_ratio(only, range),
            _ => resamples
                .estimate_statistic(self.count_rated_items(), range, |weights| self.weighted_mean(weights)),
        }
    }
}

/// The judges who rated any answer of a column, by name.
fn judges_of<'a>(column: &Column<'a>) -> Vec<&'a str> {
    let ratings = column.iter().flatten().flat_map(|answer| &answer.ratings);
    let mut judges: Vec<&str> =
        ratings.filter(|rating| !rating.person).map(|rating| rating.judge.as_str()).collect();
    judges.sort_unstable();
    judges.dedup();
    judges
}

/// Sentences naming models whose mean does not include all judges.
fn describe_missing_judges(book: &ScoreBook<'_>, task: Task) -> String {
    let all = book.judges_of_tasks(&[task], false);
    let lacking = |who: usize| {
        let there = judges_of(book.answers_of_author(who, task, Setting::default())?);
        let none: Vec<&str> = all.iter().filter(|judge| !there.contains(judge)).copied().collect();
        let name = &book.who[who].name;
        (!none.is_empty() && !there.is_empty())
            .then(|| format!(" {name} was not rated by {}: its mean is of other judges.", none.join(", ")))
    };
    book.authors_of_tasks(&[task]).into_iter().filter_map(lacking).collect()
}

/// Sums and numbers of a column's ratings by item.
pub(super) fn sum_ratings(
    book: &ScoreBook<'_>,
    column: &Column<'_>,
    among: impl Fn(&Item) -> bool,
    judge: Option<&str>,
) -> (Vec<RatioUnit>, usize) {
    let (mut units, mut n) = (Vec::new(), 0);
    for (at, answers) in column.iter().enumerate().filter(|(at, _)| among(&book.set.items[*at])) {
        let of_judge = |answer: &&&Answer| numbers_of_judge(answer, judge).collect::<Vec<_>>();
        let values: Vec<f64> = answers.iter().flat_map(|answer| of_judge(&answer)).collect();
        if !values.is_empty() {
            n += values.len();
            units.push(RatioUnit {
                at: book.unit_of_item(at),
                sum: values.iter().sum(),
                count: values.len() as f64,
            });
        }
    }
    (units, n)
}

fn numbers_of_judge<'a>(answer: &'a Answer, judge: Option<&'a str>) -> impl Iterator<Item = f64> + 'a {
    let of_judge = move |judged: &str| judge.is_none_or(|judge| judge == judged);
    let ratings = answer.ratings.iter().filter(move |r| !r.person && of_judge(&r.judge));
    ratings.filter_map(super::super::answer::Rating::numeric_value)
}

/// RuozhiBench's figure 5: one task compared with another, on the items that have both.
pub fn task_pair_table(
    book: &ScoreBook<'_>,
    declared: &Declared,
    native: &NativeTable,
    tasks: [Task; 2],
) -> Table {
    let [tricky_task, normal_task] = tasks;
    let points = points_per_rating(tricky_task);
    let mut rows = Vec::new();
    for who in book.authors_of_tasks(&[normal_task]) {
        for judge in book.judges_of_tasks(&tasks, false) {
            let side = |task| {
                let column = book.answers_of_author(who, task, Setting::default())?;
                let (units, n) = sum_ratings(
                    book,
                    column,
                    |item| item.has_task(tricky_task) && item.has_task(normal_task),
                    Some(judge),
                );
                (n > 0).then_some((units, n))
            };
            let (Some(tricky), Some(normal)) = (side(tricky_task), side(normal_task)) else {
                continue;
            };
            let mean = |(units, n): &(Vec<RatioUnit>, usize), task| {
                let mut keys = book.keys_of_answers(who, task, Setting::default());
                keys.insert("judge", judge.to_string());
                Some(Figure::new(book.resamples.estimate_ratio(units, rating_range(task))?, points, *n, keys))
            };
            // Over the items that were rated in both tasks, so that it is no difference between items.
            let of_both = |side: &[RatioUnit], other: &[RatioUnit]| -> Vec<RatioUnit> {
                let known: BTreeSet<usize> = other.iter().map(|unit| unit.at).collect();
                side.iter().filter(|unit| known.contains(&unit.at)).copied().collect()
            };
            let (of_normal, of_tricky) = (of_both(&normal.0, &tricky.0), of_both(&tricky.0, &normal.0));
            let gap = crate::measures::paired_difference(
                &book.resamples,
                &of_normal,
                &of_tricky,
                rating_range(tricky_task)[1],
            );
            let n = of_normal.iter().chain(&of_tricky).map(|unit| unit.count).sum::<f64>() as usize;
            let gap = gap.map(|gap| Figure::new(gap.difference, points, n, Keys::new()));
            let cells = vec![mean(&tricky, tricky_task), mean(&normal, normal_task), gap];
            rows.push(figure_row(format!("{}, {judge}", book.who[who].name), cells));
        }
    }
    Table::of_figures("Model and judge", native.columns.iter().copied(), rows).with_heading(declared)
}

/// Figures 5 and 19 to 21: how often a judge gives each rating, in percent.
pub fn distribution_table(book: &ScoreBook<'_>, declared: &Declared, task: Task) -> Table {
    let [min, max] = task.scale_of_judges().unwrap_or_default();
    let mut rows = Vec::new();
    for judge in book.judges_of_tasks(&[task], false) {
        for who in book.authors_of_tasks(&[task]) {
            let Some(column) = book.answers_of_author(who, task, Setting::default()) else { continue };
            let share = |rating: u32| {
                let (mut units, mut n) = (Vec::new(), 0);
                for (at, answers) in column.iter().enumerate() {
                    let given: Vec<f64> =
                        answers.iter().flat_map(|answer| numbers_of_judge(answer, Some(judge))).collect();
                    let same = given.iter().filter(|value| **value == f64::from(rating)).count();
                    if !given.is_empty() {
                        n += same;
                        units.push(RatioUnit {
                            at: book.unit_of_item(at),
                            sum: same as f64,
                            count: given.len() as f64,
                        });
                    }
                }
                let mut keys = book.keys_of_answers(who, task, Setting::default());
                keys.insert("judge", judge.to_string());
                keys.insert("rating", rating.to_string());
                Some(Figure::new(book.resamples.estimate_ratio(&units, SHARE)?, 100.0, n, keys))
            };
            let cells: Vec<Option<Figure>> = (min..=max).map(share).collect();
            if cells.iter().any(Option::is_some) {
                rows.push(figure_row(format!("{judge}, {}", book.who[who].name), cells));
            }
        }
    }
    let columns = (min..=max).map(|rating| rating.to_string());
    Table { heat: Some(SHADED), ..Table::of_figures("Judge and model", columns, rows).with_heading(declared) }
}

/// All ratings of answers to tricky questions, for the module `judges`.
fn all_ratings<'a>(
    book: &ScoreBook<'a>,
    responses: &'a [(usize, &'a Answer, String)],
) -> Vec<judges::Rating<'a>> {
    let mut ratings = Vec::new();
    for (item, answer, name) in responses {
        let mut repeats: std::collections::BTreeMap<&str, u32> = std::collections::BTreeMap::new();
        for rating in answer.ratings.iter().filter(|rating| !rating.person) {
            let Some(value) = rating.numeric_value() else { continue };
            let repeat = repeats.entry(&rating.judge).or_default();
            ratings.push(judges::Rating {
                question: &book.set.items[*item].id,
                normal: false,
                response: name,
                model: &answer.model,
                judge: &rating.judge,
                repeat: *repeat,
                rating: value as u32,
            });
            *repeat += 1;
        }
    }
    ratings
}

fn list_responses<'a>(book: &ScoreBook<'a>, task: Task) -> Vec<(usize, &'a Answer, String)> {
    let mut responses = Vec::new();
    for who in book.authors_of_tasks(&[task]) {
        let Some(column) = book.answers_of_author(who, task, Setting::default()) else { continue };
        for (at, answers) in column.iter().enumerate() {
            let name = |answer: &Answer| match answer.sample {
                0 => format!("{} {}", answer.item, answer.model),
                sample => format!("{} {} {sample}", answer.item, answer.model),
            };
            responses.extend(answers.iter().map(|answer| (at, *answer, name(answer))));
        }
    }
    responses
}

/// Two judges, with their means for every question: a row of table 3, and a plot of figure 6.
type Paired = (JudgePair, Vec<(f64, f64)>);

/// Table 3, with the pairs of means by question that figure 6 plots.
pub fn judge_pairs(book: &ScoreBook<'_>, declared: &Declared, task: Task) -> (Table, Vec<Paired>) {
    let responses = list_responses(book, task);
    let [low, high] = rating_range(task);
    let ratings = all_ratings(book, &responses);
    let mut rows = Vec::new();
    let mut plots = Vec::new();
    for pair in judges::judge_pairs(&ratings) {
        let [a, b] = [0, 1].map(|i| pair.judges[i].as_str());
        let single = moments_by_question(book, &ratings, a, b, false);
        let mean = moments_by_question(book, &ratings, a, b, true);
        let name = format!("{a} and {b}");
        let cells = |value: PairFigure, of: OfPair| {
            [(&pair.individual, &single), (&pair.mean, &mean)].map(|(measures, units)| {
                let ends = of.interval_ends(&book.resamples, units, measures.pairs)?;
                let keys = Keys::from([("task", task.to_string())]);
                Some(Figure::with_ends(value(measures)?, ends, measures.pairs, keys))
            })
        };
        let of_pair = [
            OfPair::Correlation,
            OfPair::Mean(Moments::mean_difference, [low - high, high - low]),
            OfPair::Mean(Moments::large_percent, [0.0, 100.0]),
        ];
        let figures = judges::PAIR_FIGURES.iter().zip(of_pair);
        rows.push(figure_row(name, figures.flat_map(|((_, value), of)| cells(*value, of))));
        let points = mean.iter().map(|(_, of)| (of.a, of.b)).collect();
        plots.push((pair, points));
    }
    let table = Table::of_figures("Judges", judges::pair_titles(), rows).with_heading(declared);
    (table, plots)
}

/// Sums over pairs of ratings `a` and `b`.
#[derive(Clone, Copy, Debug, Default)]
struct Moments {
    n: f64,
    a: f64,
    b: f64,
    aa: f64,
    bb: f64,
    ab: f64,
    large: f64,
}

impl Moments {
    fn new(a: f64, b: f64) -> Moments {
        let large = f64::from((a - b).abs() >= 2.0 - 1e-9);
        Moments { n: 1.0, a, b, aa: a * a, bb: b * b, ab: a * b, large }
    }

    fn add(&mut self, other: &Moments, weight: f64) {
        self.n += weight * other.n;
        self.a += weight * other.a;
        self.b += weight * other.b;
        self.aa += weight * other.aa;
        self.bb += weight * other.bb;
        self.ab += weight * other.ab;
        self.large += weight * other.large;
    }

    fn pearson_coefficient(&self) -> Option<f64> {
        let spread = |square: f64, sum: f64| square - sum * sum / self.n;
        let alone = spread(self.aa, self.a) * spread(self.bb, self.b);
        (alone > 1e-12).then(|| ((self.ab - self.a * self.b / self.n) / alone.sqrt()).clamp(-1.0, 1.0))
    }

    fn mean_difference(&self) -> Option<f64> {
        (self.n > 0.0).then(|| (self.a - self.b) / self.n)
    }

    fn large_percent(&self) -> Option<f64> {
        (self.n > 0.0).then(|| 100.0 * self.large / self.n)
    }
}

/// The moments by question: of every rating, or of the two judges' means.
fn moments_by_question(
    book: &ScoreBook<'_>,
    ratings: &[judges::Rating<'_>],
    a: &str,
    b: &str,
    means: bool,
) -> Vec<(usize, Moments)> {
    use std::collections::BTreeMap;
    let places = book.set.index_by_id();
    let mut singles: BTreeMap<(&str, &str, u32), [Option<f64>; 2]> = BTreeMap::new();
    let mut sums: BTreeMap<&str, [(f64, f64); 2]> = BTreeMap::new();
    for rating in ratings {
        let Some(side) = [a, b].iter().position(|judge| *judge == rating.judge) else { continue };
        let value = f64::from(rating.rating);
        singles.entry((rating.question, rating.response, rating.repeat)).or_default()[side] = Some(value);
        let sum = &mut sums.entry(rating.question).or_default()[side];
        *sum = (sum.0 + value, sum.1 + 1.0);
    }
    let mut by_unit: BTreeMap<usize, Moments> = BTreeMap::new();
    let mut add = |question: &str, a: f64, b: f64| {
        if let Some(&at) = places.get(question) {
            by_unit.entry(book.unit_of_item(at)).or_default().add(&Moments::new(a, b), 1.0);
        }
    };
    if means {
        for (question, [(a, n), (b, m)]) in sums {
            if n > 0.0 && m > 0.0 {
                add(question, a / n, b / m);
            }
        }
    } else {
        for ((question, _, _), pair) in singles {
            if let [Some(a), Some(b)] = pair {
                add(question, a, b);
            }
        }
    }
    by_unit.into_iter().collect()
}

/// A figure of two judges, with the range of its means.
#[derive(Clone, Copy)]
enum OfPair {
    Correlation,
    Mean(fn(&Moments) -> Option<f64>, [f64; 2]),
}

impl OfPair {
    /// The ends of its interval, empty if it has none; `None` if the figure is undefined.
    #[allow(clippy::option_option)]
    fn interval_ends(
        self,
        resamples: &Resamples,
        units: &[(usize, Moments)],
        pairs: usize,
    ) -> Option<Option<[f64; 2]>> {
        let sum = |weights: &[u16]| {
            let mut sum = Moments::default();
            units.iter().for_each(|(at, moments)| sum.add(moments, f64::from(weights[*at])));
            sum
        };
        match self {
            OfPair::Correlation => {
                Some(resamples.estimate_correlation(pairs, |weights| sum(weights).pearson_coefficient())?.1)
            }
            OfPair::Mean(of, range) => {
                let estimate =
                    resamples.estimate_statistic(units.len(), range, |weights| of(&sum(weights)))?;
                Some(Some([estimate.low, estimate.high]))
            }
        }
    }
}
