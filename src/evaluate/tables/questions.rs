//! RuozhiBench-Gen: figures 4 to 6 and 16 to 21, table 3.

use super::book::{Book, Column};
use super::choices::category_names;
use super::choices::columns;
use super::table::{Cell, Keys, Look, Row, Table};
use crate::evaluate::answer::Answer;
use crate::evaluate::item::Item;
use crate::evaluate::metrics::{Resamples, Unit};
use crate::evaluate::task::{Setting, Task};
use crate::judges::{self, JudgePair, Measures, SCALE};

const TASKS: [Task; 2] = [Task::Answer, Task::AnswerNormal];

/// Points of a rating on the scale from 0 to 100.
const POINTS: f64 = 25.0;

/// Figure 4, or of one judge figures 16 to 18: 0 to 100 by category.
pub fn scores(book: &Book<'_>, judge: Option<&str>) -> Table {
    let mut rows: Vec<Row> = book
        .answered(&[Task::Answer])
        .into_iter()
        .map(|who| {
            let cell = |category: Option<&str>| score(book, who, Task::Answer, judge, category);
            let cells = category_names().into_iter().map(|c| cell(Some(c))).chain([cell(None)]).collect();
            Row { name: book.who[who].name.clone(), cells }
        })
        .collect();
    rows.retain(|row| row.cells.iter().any(Option::is_some));
    // The best first, as in the figures.
    let whole = |row: &Row| row.cells.last().cloned().flatten().map_or(f64::MIN, |cell| cell.value);
    rows.sort_by(|a, b| whole(b).total_cmp(&whole(a)));
    Table {
        name: if judge.is_some() { "scores-by-judge" } else { "scores" },
        title: judge.map_or("Scores, the mean of all judges".into(), |judge| format!("Scores by {judge}")),
        paper: if judge.is_some() { "RuozhiBench, figures 16 to 18" } else { "RuozhiBench, figure 4" },
        about: "The mean rating of answers to tricky questions, 0 to 4, times 25. A question counts in each of its \
                categories; the micro average counts it once."
            .into(),
        of: "Model",
        columns: columns("Micro average"),
        rows,
        look: Look::Heat { low: 0.0, high: 100.0 },
    }
}

/// A model's score, 0 to 100.
pub fn score(
    book: &Book<'_>,
    who: usize,
    task: Task,
    judge: Option<&str>,
    category: Option<&str>,
) -> Option<Cell> {
    let column = book.column(who, task, Setting::default())?;
    let among = |item: &Item| category.is_none_or(|c| item.parts().iter().any(|part| part == c));
    let (units, n) = ratings(book, column, among, judge);
    let mut keys = book.keys(who, task, Setting::default());
    keys.extend(judge.map(|judge| ("judge", judge.to_string())));
    keys.extend(category.map(|category| ("part", category.to_string())));
    Some(Cell::of(book.resamples.ratio(&units)?, POINTS, n, keys))
}

/// Ratings of a column's answers, summed by item, and how many they are.
pub(super) fn ratings(
    book: &Book<'_>,
    column: &Column<'_>,
    among: impl Fn(&Item) -> bool,
    judge: Option<&str>,
) -> (Vec<Unit>, usize) {
    let (mut units, mut n) = (Vec::new(), 0);
    for (at, answers) in column.iter().enumerate().filter(|(at, _)| among(&book.set.items[*at])) {
        let of_judge = |answer: &&&Answer| numbers(answer, judge).collect::<Vec<_>>();
        let values: Vec<f64> = answers.iter().flat_map(|answer| of_judge(&answer)).collect();
        if !values.is_empty() {
            n += values.len();
            units.push(Unit { at: book.unit(at), sum: values.iter().sum(), count: values.len() as f64 });
        }
    }
    (units, n)
}

fn numbers<'a>(answer: &'a Answer, judge: Option<&'a str>) -> impl Iterator<Item = f64> + 'a {
    let of_judge = move |judged: &str| judge.is_none_or(|judge| judge == judged);
    let ratings = answer.ratings.iter().filter(move |r| !r.person && of_judge(&r.judge));
    ratings.filter_map(super::super::answer::Rating::number)
}

/// Figure 5: tricky questions against the normal ones beside them, on the questions that have one.
pub fn normal(book: &Book<'_>) -> Table {
    let mut rows = Vec::new();
    for who in book.answered(&[Task::AnswerNormal]) {
        for judge in book.judges(&TASKS, false) {
            let side = |task| {
                let column = book.column(who, task, Setting::default())?;
                let (units, n) = ratings(book, column, |item| item.takes(Task::AnswerNormal), Some(judge));
                (n > 0).then_some((units, n))
            };
            let (Some(tricky), Some(normal)) = (side(Task::Answer), side(Task::AnswerNormal)) else {
                continue;
            };
            let mean = |(units, n): &(Vec<Unit>, usize), task| {
                let mut keys = book.keys(who, task, Setting::default());
                keys.insert("judge", judge.to_string());
                Some(Cell::of(book.resamples.ratio(units)?, POINTS, *n, keys))
            };
            let gap = crate::evaluate::metrics::difference(&book.resamples, &normal.0, &tricky.0);
            let gap = gap.map(|gap| Cell::of(gap.difference, POINTS, tricky.1 + normal.1, Keys::new()));
            let cells = vec![mean(&tricky, Task::Answer), mean(&normal, Task::AnswerNormal), gap];
            rows.push(Row { name: format!("{}, {judge}", book.who[who].name), cells });
        }
    }
    Table {
        name: "normal",
        title: "Tricky against normal questions".into(),
        paper: "RuozhiBench, figure 5",
        about: "Mean ratings times 25 of the answers to tricky questions and to the normal questions of the same \
                form, and how much higher the normal ones are."
            .into(),
        of: "Model and judge",
        columns: ["Tricky", "Normal", "Difference"].map(str::to_string).into(),
        rows,
        look: Look::Plain,
    }
}

/// Figures 5 and 19 to 21: how often a judge gives each rating, in percent.
pub fn distributions(book: &Book<'_>, task: Task) -> Table {
    let normal = task == Task::AnswerNormal;
    let mut rows = Vec::new();
    for judge in book.judges(&[task], false) {
        for who in book.answered(&[task]) {
            let Some(column) = book.column(who, task, Setting::default()) else { continue };
            let share = |rating: u32| {
                let (mut units, mut n) = (Vec::new(), 0);
                for (at, answers) in column.iter().enumerate() {
                    let given: Vec<f64> =
                        answers.iter().flat_map(|answer| numbers(answer, Some(judge))).collect();
                    let same = given.iter().filter(|value| **value == f64::from(rating)).count();
                    if !given.is_empty() {
                        n += same;
                        units.push(Unit { at: book.unit(at), sum: same as f64, count: given.len() as f64 });
                    }
                }
                let mut keys = book.keys(who, task, Setting::default());
                keys.insert("judge", judge.to_string());
                keys.insert("rating", rating.to_string());
                Some(Cell::of(book.resamples.ratio(&units)?, 100.0, n, keys))
            };
            let cells: Vec<Option<Cell>> = SCALE.map(share).collect();
            if cells.iter().any(Option::is_some) {
                rows.push(Row { name: format!("{judge}, {}", book.who[who].name), cells });
            }
        }
    }
    Table {
        name: if normal { "ratings-normal" } else { "ratings" },
        title: format!("Ratings of answers to {} questions", if normal { "normal" } else { "tricky" }),
        paper: if normal { "RuozhiBench, figure 5" } else { "RuozhiBench, figures 5 and 19 to 21" },
        about: "Percent of answers that a judge gave each rating; n is how many.".into(),
        of: "Judge and model",
        columns: SCALE.map(|rating| rating.to_string()).collect(),
        rows,
        look: Look::Heat { low: 0.0, high: 100.0 },
    }
}

/// All ratings of answers to tricky questions, as the room `judges` takes them.
fn all_ratings<'a>(book: &Book<'a>, responses: &'a [(usize, &'a Answer, String)]) -> Vec<judges::Rating<'a>> {
    let mut ratings = Vec::new();
    for (item, answer, name) in responses {
        let mut repeats: std::collections::BTreeMap<&str, u32> = std::collections::BTreeMap::new();
        for rating in answer.ratings.iter().filter(|rating| !rating.person) {
            let Some(value) = rating.number() else { continue };
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

fn responses<'a>(book: &Book<'a>) -> Vec<(usize, &'a Answer, String)> {
    let mut responses = Vec::new();
    for who in book.answered(&[Task::Answer]) {
        let Some(column) = book.column(who, Task::Answer, Setting::default()) else { continue };
        for (at, answers) in column.iter().enumerate() {
            let name = |answer: &Answer| format!("{} {}", answer.item, answer.model);
            responses.extend(answers.iter().map(|answer| (at, *answer, name(answer))));
        }
    }
    responses
}

/// Two judges, with their means of every question: a row of table 3, and a plot of figure 6.
type Judged = (JudgePair, Vec<(f64, f64)>);

/// Table 3, with the pairs of means by question that figure 6 plots.
pub fn judge_pairs(book: &Book<'_>) -> (Table, Vec<Judged>) {
    let responses = responses(book);
    let ratings = all_ratings(book, &responses);
    let mut rows = Vec::new();
    let mut plots = Vec::new();
    for pair in judges::judge_pairs(&ratings) {
        let [a, b] = [0, 1].map(|i| pair.judges[i].as_str());
        let single = moments(book, &ratings, a, b, false);
        let mean = moments(book, &ratings, a, b, true);
        let name = format!("{a} and {b}");
        let cells = |value: fn(&Measures) -> Option<f64>, of: fn(&Moments) -> Option<f64>| {
            [(&pair.individual, &single), (&pair.mean, &mean)].map(|(measures, units)| {
                let interval = interval(&book.resamples, units, of)?;
                let keys = Keys::from([("task", Task::Answer.to_string())]);
                let cell = Cell::of(interval, 1.0, measures.pairs, keys);
                Some(Cell { value: value(measures)?, ..cell })
            })
        };
        let mut row = Vec::new();
        row.extend(cells(|m| m.pearson, Moments::pearson));
        row.extend(cells(|m| m.difference, Moments::difference));
        row.extend(cells(|m| m.large_percent, Moments::large_percent));
        rows.push(Row { name, cells: row });
        let points = mean.iter().map(|(_, of)| (of.a, of.b)).collect();
        plots.push((pair, points));
    }
    let columns = ["Pearson", "Mean difference", "Large disagreement %"];
    let table = Table {
        name: "judges",
        title: "How far judges agree".into(),
        paper: "RuozhiBench, table 3 and figure 6",
        about: "On single ratings, and on the means of each judge's ratings of all answers to one question. A large \
                disagreement is 2 points or more; shares are percent throughout."
            .into(),
        of: "Judges",
        columns: columns
            .iter()
            .flat_map(|name| [format!("{name}, individual"), format!("{name}, mean")])
            .collect(),
        rows,
        look: Look::Plain,
    };
    (table, plots)
}

/// Sums over some pairs of ratings; of one pair `a` and `b` are the ratings.
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
    fn of(a: f64, b: f64) -> Moments {
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

    fn pearson(&self) -> Option<f64> {
        let spread = |square: f64, sum: f64| square - sum * sum / self.n;
        let alone = spread(self.aa, self.a) * spread(self.bb, self.b);
        (alone > 1e-12).then(|| ((self.ab - self.a * self.b / self.n) / alone.sqrt()).clamp(-1.0, 1.0))
    }

    fn difference(&self) -> Option<f64> {
        (self.n > 0.0).then(|| (self.a - self.b) / self.n)
    }

    fn large_percent(&self) -> Option<f64> {
        (self.n > 0.0).then(|| 100.0 * self.large / self.n)
    }
}

/// By question what its pairs of ratings add: every rating by itself, or the two judges' means.
fn moments(
    book: &Book<'_>,
    ratings: &[judges::Rating<'_>],
    a: &str,
    b: &str,
    means: bool,
) -> Vec<(usize, Moments)> {
    use std::collections::BTreeMap;
    let places = book.set.places();
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
            by_unit.entry(book.unit(at)).or_default().add(&Moments::of(a, b), 1.0);
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

fn interval(
    resamples: &Resamples,
    units: &[(usize, Moments)],
    of: fn(&Moments) -> Option<f64>,
) -> Option<crate::review::agreement::Estimate> {
    resamples.estimate(|weights| {
        let mut sum = Moments::default();
        units.iter().for_each(|(at, moments)| sum.add(moments, f64::from(weights[*at])));
        of(&sum)
    })
}
