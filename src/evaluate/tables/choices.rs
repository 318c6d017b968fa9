//! RuozhiBench-MC: table 4 and figure 7, and what figures 8 and 9 are drawn from.

use std::collections::BTreeMap;

use super::book::Book;
use super::table::{Cell, Keys, Look, Row, Table, keys_of};
use crate::evaluate::answer::Answer;
use crate::evaluate::builtin::BuiltIn;
use crate::evaluate::item::{Body, Item};
use crate::evaluate::metrics::{SHARE, Unit};
use crate::evaluate::task::{Setting, Task};
use crate::review::ballots;

const ORDERS: [Task; 2] = [Task::GoodFirst, Task::BadFirst];

/// What a row of figure 7 holds: shares in both orders.
struct Halves {
    good: (Vec<Unit>, usize),
    bad: (Vec<Unit>, usize),
}

/// Table 4. As there, shares are of the answers in the right form, `Avg` is the mean of both orders, and the
/// positional bias their difference.
pub fn orders(book: &Book<'_>) -> Table {
    let mut rows = Vec::new();
    for who in book.answered(&ORDERS) {
        let Some(halves) = Halves::split(book, who, |_| true) else { continue };
        let keys = |task: Option<Task>| keys(book, who, task);
        let half = |(units, n): &(Vec<Unit>, usize), task| {
            Some(Cell::new(book.resamples.ratio(units, SHARE)?, 100.0, *n, keys(Some(task))))
        };
        let both = |scale: [f64; 2]| halves.cell(book, scale, keys(None));
        rows.push(Row {
            name: book.who[who].name.clone(),
            cells: vec![
                half(&halves.good, Task::GoodFirst),
                half(&halves.bad, Task::BadFirst),
                both([50.0, 50.0]),
                both([100.0, -100.0]),
                book.format(who, &ORDERS, Setting::default()),
            ],
        });
    }
    Table {
        name: "orders",
        title: "Both orders of the two answers".into(),
        paper: "RuozhiBench, table 4",
        about: "Percent of right choices among the answers in the right form, where the good answer stands first and \
                where it stands second; their mean (chance is 50), their difference (a bias to the first answer), \
                and the percent of answers in the right form."
            .into(),
        of: "Model",
        columns: ["Good First", "Bad First", "Avg", "Positional Bias", "Format"].map(str::to_string).into(),
        rows,
        look: Look::Plain,
    }
}

/// Figure 7: by category, set against chance.
pub fn categories(book: &Book<'_>) -> Table {
    let mut rows = Vec::new();
    for who in book.answered(&ORDERS) {
        let cell = |category: Option<&str>| {
            let among = |item: &Item| category.is_none_or(|c| item.parts().iter().any(|part| part == c));
            let mut keys = keys(book, who, None);
            keys.extend(category.map(|category| ("part", category.to_string())));
            let cell = Halves::split(book, who, among)?.cell(book, [50.0, 50.0], keys)?;
            // 2 (x - 0.5), in percent.
            let against = |x: f64| 2.0 * (x - 50.0);
            let (low, high) = (cell.low.map(against), cell.high.map(against));
            Some(Cell { value: against(cell.value), low, high, ..cell })
        };
        let cells = category_names().into_iter().map(|c| cell(Some(c))).chain([cell(None)]).collect();
        rows.push(Row { name: book.who[who].name.clone(), cells });
    }
    rows.extend(average(book, &rows));
    Table {
        name: "categories",
        title: "By category".into(),
        paper: "RuozhiBench, figure 7",
        about: "The mean of both orders set against chance: 2 (x - 0.5), in percent. 0 is chance, 100 is all right. \
                A question counts in each of its categories; the micro average counts it once."
            .into(),
        of: "Model",
        columns: columns("Micro average"),
        rows,
        look: Look::Heat { low: 0.0, high: 100.0 },
    }
}

/// The row that closes figures 4, 7 and 16 to 18: the mean over the models, column by column but for the last. People and
/// built-in models are no part of it.
pub(super) fn average(book: &Book<'_>, rows: &[Row]) -> Option<Row> {
    let is_model = |row: &&Row| {
        let person = book.who.iter().any(|who| who.person && who.name == row.name);
        !person && BuiltIn::find(&row.name).is_none()
    };
    let models: Vec<&Row> = rows.iter().filter(is_model).collect();
    let columns = models.first().filter(|_| models.len() > 1)?.cells.len();
    let mean = |at: usize| {
        let values: Vec<f64> =
            models.iter().filter_map(|row| row.cells[at].as_ref()).map(|cell| cell.value).collect();
        let n = values.len();
        (n > 0).then(|| Cell::plain(values.iter().sum::<f64>() / n as f64, n, Keys::new()))
    };
    let cells = (0..columns - 1).map(mean).chain([None]).collect();
    Some(Row { name: "Average".into(), cells })
}

/// The six categories (RuozhiBench 2.4, figure 11).
pub(super) fn category_names() -> Vec<&'static str> {
    ballots::names("ruozhibench-gen", "categories")
}

/// The categories and what closes the row.
pub(super) fn columns(last: &str) -> Vec<String> {
    category_names().into_iter().chain([last]).map(str::to_string).collect()
}

/// What models reach on MC, from 0 to 100 (figure 8's other axis).
pub fn scores(book: &Book<'_>) -> Vec<(String, Cell)> {
    let score = |who: usize| {
        let cell = Halves::split(book, who, |_| true)?.cell(book, [50.0, 50.0], keys(book, who, None))?;
        Some((book.who[who].name.clone(), cell))
    };
    book.answered(&ORDERS).into_iter().filter(|who| !book.who[*who].person).filter_map(score).collect()
}

/// What models reach on Gen by the ratings that the release holds: the mean of the judges' means times 25.
pub fn released_scores(book: &Book<'_>) -> BTreeMap<String, (f64, usize)> {
    let mut sums: BTreeMap<&str, BTreeMap<&str, (f64, usize)>> = BTreeMap::new();
    for item in &book.set.items {
        let Body::Pair { rated, .. } = &item.body else { continue };
        for (model, judge, rating) in rated {
            let sum = sums.entry(model).or_default().entry(judge).or_default();
            *sum = (sum.0 + f64::from(*rating), sum.1 + 1);
        }
    }
    let score = |judges: &BTreeMap<&str, (f64, usize)>| {
        let means = judges.values().map(|(sum, n)| sum / *n as f64);
        (25.0 * means.sum::<f64>() / judges.len() as f64, judges.values().map(|(_, n)| n).sum())
    };
    sums.iter().map(|(model, judges)| ((*model).to_owned(), score(judges))).collect()
}

fn keys(book: &Book<'_>, who: usize, task: Option<Task>) -> Keys {
    let mut keys = book.keys(who, task.unwrap_or(Task::GoodFirst), Setting::default());
    if task.is_none() {
        keys.remove("task");
    }
    keys
}

impl Halves {
    fn split(book: &Book<'_>, who: usize, among: impl Fn(&Item) -> bool) -> Option<Halves> {
        // A format error is no choice, and counts in neither share.
        let right = |answer: &Answer| answer.correct.filter(|_| answer.format_error.is_none()).map(f64::from);
        let half =
            |task| book.column(who, task, Setting::default()).map(|column| book.parts(column, &among, right));
        let (good, bad) = (half(Task::GoodFirst), half(Task::BadFirst));
        (good.is_some() || bad.is_some())
            .then(|| Halves { good: good.unwrap_or_default(), bad: bad.unwrap_or_default() })
    }

    /// The two shares, weighted and added; none where one is missing.
    fn cell(&self, book: &Book<'_>, scale: [f64; 2], from: Keys) -> Option<Cell> {
        let sum = |good: f64, bad: f64| scale[0] * good + scale[1] * bad;
        let (value, drawn) = book.resamples.both(&self.good.0, &self.bad.0, sum)?;
        let mut estimate = book.resamples.settings().estimate(value, drawn);
        if book.resamples.settings().met(&estimate) {
            // Each share as far as it may go by itself.
            let ends = |units, scale: f64| {
                let share = book.resamples.ratio(units, SHARE)?;
                let ends = [scale * share.low, scale * share.high];
                Some(if scale < 0.0 { [ends[1], ends[0]] } else { ends })
            };
            let (good, bad) = (ends(&self.good.0, scale[0])?, ends(&self.bad.0, scale[1])?);
            (estimate.low, estimate.high) = (good[0] + bad[0], good[1] + bad[1]);
        }
        Some(Cell::new(estimate, 1.0, self.good.1 + self.bad.1, from))
    }
}

/// A table row of one name and plain numbers, for figures over models.
pub(super) fn plain_row(name: &str, cells: Vec<Option<Cell>>) -> Row {
    Row { name: name.into(), cells }
}

/// Keys that name a model alone.
pub(super) fn of_model(model: &str) -> Keys {
    keys_of([("model", model)])
}
