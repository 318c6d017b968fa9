//! FLUB: table 1, its parts for questions and for statements, figure 3, table 2.

use super::book::{Book, Column};
use super::questions::Judged;
use super::table::{Cell, Keys, Look, Row, Table};
use crate::evaluate::answer::Answer;
use crate::evaluate::item::{Body, Item, types};
use crate::evaluate::metrics::{
    Confusions, Correlation, SHARE, Unit, geometric_mean, pearson, pearson_r, ratio, spearman, spearman_r,
};
use crate::evaluate::task::{Setting, Task};

const TASKS: [Task; 3] = [Task::Select, Task::Classify, Task::Explain];

/// A person's rating, 1 to 5, on the judges' scale (2.3: "we multiply human scores by 2").
const PERSON: f64 = 2.0;

/// The judges' scale (2.3).
const JUDGES: [f64; 2] = [1.0, 10.0];

/// Which texts count.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Texts {
    /// All.
    All,
    /// Those that ask.
    Questions,
    /// Those that do not.
    Statements,
}

impl Texts {
    fn has(self, item: &Item) -> bool {
        match (self, &item.body) {
            (Texts::All, _) => true,
            (Texts::Questions, Body::Text { is_question, .. }) => *is_question,
            (Texts::Statements, Body::Text { is_question, .. }) => !is_question,
            _ => false,
        }
    }

    fn part(self) -> Option<(&'static str, String)> {
        match self {
            Texts::All => None,
            Texts::Questions => Some(("part", "question".into())),
            Texts::Statements => Some(("part", "statement".into())),
        }
    }
}

/// What table 1 says about a model.
const COLUMNS: [&str; 6] = [
    "Selection accuracy",
    "Classification F1",
    "Explanation score",
    "Overall",
    "Format, selection",
    "Format, classification",
];

/// Table 1: the three tasks and their geometric mean, in every setting that was asked for.
pub fn tasks(book: &Book<'_>, texts: Texts) -> Table {
    let (name, title) = match texts {
        Texts::All => ("tasks", "The three tasks"),
        Texts::Questions => ("questions", "The three tasks on questions"),
        Texts::Statements => ("statements", "The three tasks on statements"),
    };
    // The form of an answer has nothing to do with the text, so it is told once.
    let columns = match texts {
        Texts::All => &COLUMNS[..],
        Texts::Questions | Texts::Statements => &COLUMNS[..4],
    };
    let mut settings: Vec<Setting> = TASKS.iter().flat_map(|task| book.settings(*task)).collect();
    settings.sort();
    settings.dedup();
    let many = settings.len() > 1;
    let mut rows = Vec::new();
    for who in book.answered(&TASKS) {
        for &setting in &settings {
            let mut cells = vec![
                book.accuracy(
                    who,
                    Task::Select,
                    setting,
                    |item| texts.has(item),
                    texts.part().into_iter().collect(),
                ),
                f1(book, who, setting, texts),
                judged(book, who, setting, texts, None),
                overall(book, who, setting, texts),
                format(book, who, setting, Task::Select),
                format(book, who, setting, Task::Classify),
            ];
            cells.truncate(columns.len());
            if cells.iter().any(Option::is_some) {
                let whose = &book.who[who].name;
                let name = if many { format!("{whose}, {setting}") } else { whose.clone() };
                rows.push(Row { name, cells });
            }
        }
    }
    Table {
        name,
        title: title.into(),
        paper: "FLUB, table 1; figure 3 for 0, 1, 2 and 5 shots",
        about: "Accuracy of answer selection and macro F1 of type classification in percent, the judges' mean score \
                from 1 to 10, and the geometric mean of the three. A format error is wrong; a text without a type \
                is not classified."
            .into(),
        of: if many { "Model and setting" } else { "Model" },
        columns: columns.iter().map(ToString::to_string).collect(),
        rows,
        look: Look::Plain,
    }
}

fn format(book: &Book<'_>, who: usize, setting: Setting, task: Task) -> Option<Cell> {
    book.column(who, task, setting)?;
    book.format(who, &[task], setting)
}

/// The gold class and the named one of every answer, by unit.
fn classes(book: &Book<'_>, column: &Column<'_>, texts: Texts) -> Vec<(usize, usize, Option<usize>)> {
    let names = types();
    let place = |name: &Option<String>| names.iter().position(|known| Some(*known) == name.as_deref());
    let mut found = Vec::new();
    for (at, answers) in column.iter().enumerate().filter(|(at, _)| texts.has(&book.set.items[*at])) {
        let pairs = answers.iter().filter_map(|answer| Some((place(&answer.gold)?, place(&answer.said))));
        found.extend(pairs.map(|(gold, said)| (book.unit(at), gold, said)));
    }
    found
}

/// Over the same labels whatever part of the texts is looked at, as the authors' script has it: those of the set. One that a
/// part lacks counts as 0.
fn macro_f1(classes: &[(usize, usize, Option<usize>)], labels: &[usize], weights: &[u16]) -> Option<f64> {
    let mut confusions = Confusions::new(types().len());
    for &(at, gold, said) in classes.iter().filter(|(at, ..)| weights[*at] > 0) {
        confusions.add(gold, said, f64::from(weights[at]));
    }
    confusions.macro_f1_of(labels)
}

/// The types that texts of the set have.
fn labels(book: &Book<'_>) -> Vec<usize> {
    let has = |name: &str| {
        let of = |item: &Item| matches!(&item.body, Body::Text { kind: Some(kind), .. } if kind == name);
        book.set.items.iter().any(of)
    };
    types().iter().enumerate().filter(|(_, name)| has(name)).map(|(at, _)| at).collect()
}

fn f1(book: &Book<'_>, who: usize, setting: Setting, texts: Texts) -> Option<Cell> {
    let column = book.column(who, Task::Classify, setting)?;
    let (classes, labels) = (classes(book, column, texts), labels(book));
    let f1 = |weights: &[u16]| macro_f1(&classes, &labels, weights);
    let estimate = book.resamples.estimate(classes.len(), SHARE, f1)?;
    let mut keys = book.keys(who, Task::Classify, setting);
    keys.extend(texts.part());
    Some(Cell::new(estimate, 100.0, classes.len(), keys))
}

/// The mean of the judges' scores.
fn judged(book: &Book<'_>, who: usize, setting: Setting, texts: Texts, judge: Option<&str>) -> Option<Cell> {
    let column = book.column(who, Task::Explain, setting)?;
    let judged = Judged::new(book, column, |item| texts.has(item), judge);
    let mut keys = book.keys(who, Task::Explain, setting);
    keys.extend(texts.part());
    keys.extend(judge.map(|judge| ("judge", judge.to_string())));
    Some(Cell::new(judged.estimate(&book.resamples, JUDGES)?, 1.0, judged.n, keys))
}

/// The geometric mean of the three, as table 1 has it: percent, percent and score.
fn overall(book: &Book<'_>, who: usize, setting: Setting, texts: Texts) -> Option<Cell> {
    let select = book.column(who, Task::Select, setting)?;
    let classify = book.column(who, Task::Classify, setting)?;
    let explain = book.column(who, Task::Explain, setting)?;
    let (right, n) = book.parts(select, |item| texts.has(item), |answer| answer.correct.map(f64::from));
    let (classes, labels) = (classes(book, classify, texts), labels(book));
    let scores = Judged::new(book, explain, |item| texts.has(item), None);
    let of = |weights: &[u16]| {
        let accuracy = 100.0 * ratio(&right, weights)?;
        geometric_mean(&[accuracy, 100.0 * macro_f1(&classes, &labels, weights)?, scores.mean(weights)?])
    };
    // Of nothing right and of everything.
    let range = [0.0, geometric_mean(&[100.0, 100.0, JUDGES[1]])?];
    let estimate = book.resamples.estimate(n.min(classes.len()).min(scores.items()), range, of)?;
    let mut keys = book.keys(who, Task::Select, setting);
    keys.remove("task");
    keys.extend(texts.part());
    Some(Cell::new(estimate, 1.0, n + classes.len() + scores.n, keys))
}

/// One answer that people and judges scored: its unit, people's mean times two, the judges' mean.
struct Scored {
    unit: usize,
    person: f64,
    judge: f64,
}

fn scored(book: &Book<'_>, who: usize, setting: Setting) -> Vec<Scored> {
    let Some(column) = book.column(who, Task::Explain, setting) else { return Vec::new() };
    let mean = |answer: &Answer, person: bool| {
        let of: Vec<f64> =
            answer.ratings.iter().filter(|r| r.person == person).filter_map(|r| r.number()).collect();
        (!of.is_empty()).then(|| of.iter().sum::<f64>() / of.len() as f64)
    };
    let one = |at: usize, answer: &Answer| {
        let (person, judge) = (mean(answer, true)?, mean(answer, false)?);
        Some(Scored { unit: book.unit(at), person: PERSON * person, judge })
    };
    let all = column.iter().enumerate();
    all.flat_map(|(at, answers)| answers.iter().filter_map(move |answer| one(at, answer))).collect()
}

/// Table 2: people's scores, times two, against the judges', on the explanations that both scored.
pub fn people(book: &Book<'_>) -> Table {
    let mut rows = Vec::new();
    let mut all = Vec::new();
    for setting in book.settings(Task::Explain) {
        for who in book.answered(&[Task::Explain]) {
            let scored = scored(book, who, setting);
            if scored.is_empty() {
                continue;
            }
            let keys = book.keys(who, Task::Explain, setting);
            let name = format!("{}, {setting}", book.who[who].name);
            rows.push(Row { name, cells: against(book, &scored, &keys) });
            all.extend(scored);
        }
    }
    if rows.len() > 1 {
        let keys = Keys::from([("task", Task::Explain.to_string())]);
        rows.push(Row { name: "Overall".into(), cells: against(book, &all, &keys) });
    }
    Table {
        name: "people",
        title: "People and judges".into(),
        paper: "FLUB, table 2",
        about: "The mean of people's ratings from 1 to 5 times two, the mean of the judges' from 1 to 10, and how far \
                they go together over the explanations: Spearman's rank correlation, as in the paper, and Pearson's."
            .into(),
        of: "Model and setting",
        columns: ["People", "Judges", "Spearman", "Pearson", "Spearman p", "Pearson p"].map(str::to_string).into(),
        rows,
        look: Look::Plain,
    }
}

fn against(book: &Book<'_>, scored: &[Scored], keys: &Keys) -> Vec<Option<Cell>> {
    let n = scored.len();
    let mean = |value: fn(&Scored) -> f64, range: [f64; 2]| {
        let units: Vec<Unit> =
            scored.iter().map(|one| Unit { at: one.unit, sum: value(one), count: 1.0 }).collect();
        Some(Cell::new(book.resamples.ratio(&units, range)?, 1.0, n, keys.clone()))
    };
    // Repeated as often as their unit is drawn.
    let pairs = |weights: &[u16]| -> Vec<(f64, f64)> {
        let repeated =
            |one: &Scored| std::iter::repeat_n((one.person, one.judge), usize::from(weights[one.unit]));
        scored.iter().flat_map(repeated).collect()
    };
    let once: Vec<(f64, f64)> = scored.iter().map(|one| (one.person, one.judge)).collect();
    let correlation = |of: fn(&[(f64, f64)]) -> Option<f64>| {
        let (r, ends) = book.resamples.correlation(n, |weights| of(&pairs(weights)))?;
        Some(Cell::within(r, ends, n, keys.clone()))
    };
    let p = |of: Option<Correlation>| Some(Cell::plain(of?.p?, n, keys.clone()));
    vec![
        mean(|one| one.person, [PERSON, 5.0 * PERSON]),
        mean(|one| one.judge, JUDGES),
        correlation(spearman_r),
        correlation(pearson_r),
        p(spearman(&once)),
        p(pearson(&once)),
    ]
}
