//! BrainTeaser's tables 4 and 8, and the open-ended scores of appendix A.5.

use std::collections::BTreeMap;

use super::book::Book;
use super::table::{Cell, Look, Row, Table};
use crate::evaluate::answer::Answer;
use crate::evaluate::item::{Body, Item, Variant};
use crate::evaluate::metrics::{SHARE, Unit};
use crate::evaluate::task::{Setting, Task};

/// Table 4 of one kind of puzzle, of both where `word` is none; with several numbers of examples table 8.
pub fn puzzles(book: &Book<'_>, word: Option<bool>) -> Table {
    let (name, title) = match word {
        Some(false) => ("sentence-puzzles", "Sentence puzzles"),
        Some(true) => ("word-puzzles", "Word puzzles"),
        None => ("puzzles", "All puzzles"),
    };
    let of_kind =
        |item: &Item| matches!(&item.body, Body::Puzzle { word: own, .. } if word.is_none_or(|w| w == *own));
    let settings = book.settings(Task::Solve);
    let many = settings.len() > 1;
    let mut rows = Vec::new();
    let answered = book.answered(&[Task::Solve]);
    let both = answered.iter().flat_map(|who| settings.iter().map(|setting| (*who, *setting)));
    for (who, setting) in both.filter(|(who, setting)| book.column(*who, Task::Solve, *setting).is_some()) {
        let instance = |variant: Option<Variant>| {
            let among = |item: &Item| {
                let own = matches!(&item.body, Body::Puzzle { variant: own, .. } if variant.is_none_or(|v| v == *own));
                own && of_kind(item)
            };
            let mut parts = Vec::new();
            parts.extend(variant.map(|variant| ("part", variant.name().to_string())));
            parts.extend(word.map(|word| ("kind", if word { "word" } else { "sentence" }.to_string())));
            book.accuracy(who, Task::Solve, setting, among, parts.into_iter().collect())
        };
        let mut cells: Vec<Option<Cell>> = Variant::ALL.map(|variant| instance(Some(variant))).into();
        cells.push(groups(book, who, setting, &Variant::ALL[..2], of_kind));
        cells.push(groups(book, who, setting, &Variant::ALL, of_kind));
        cells.push(instance(None));
        cells.push(book.format(who, &[Task::Solve], setting).filter(|_| word.is_none()));
        let whose = &book.who[who].name;
        rows.push(Row { name: if many { format!("{whose}, {setting}") } else { whose.clone() }, cells });
    }
    let mut columns: Vec<String> =
        ["Original", "Semantic", "Context", "Ori & Sem", "Ori & Sem & Con", "Overall"]
            .map(str::to_string)
            .into();
    match word {
        None => columns.push("Format".into()),
        Some(_) => rows.iter_mut().for_each(|row| _ = row.cells.pop()),
    }
    Table {
        name,
        title: title.into(),
        paper: if many { "BrainTeaser, table 8" } else { "BrainTeaser, table 4" },
        about: "Percent of puzzles solved, by variant; of groups in which the original and its semantic \
                reconstruction are solved, and in which all three are; of all puzzles. A format error is wrong; \
                intervals resample whole groups."
            .into(),
        of: if many { "Model and setting" } else { "Model" },
        columns,
        rows,
        look: Look::Plain,
    }
}

/// The share of groups in which all of some variants are right, among the groups in which all are answered.
fn groups(
    book: &Book<'_>,
    who: usize,
    setting: Setting,
    variants: &[Variant],
    of_kind: impl Fn(&Item) -> bool,
) -> Option<Cell> {
    let column = book.column(who, Task::Solve, setting)?;
    // By group and by who among several people: right so far, and how many were answered.
    let mut groups: BTreeMap<(usize, &str), (bool, usize)> = BTreeMap::new();
    for (at, answers) in column.iter().enumerate() {
        let item = &book.set.items[at];
        let Body::Puzzle { variant, .. } = &item.body else { continue };
        if !of_kind(item) || !variants.contains(variant) {
            continue;
        }
        for answer in answers {
            let group = groups.entry((book.unit(at), &answer.model)).or_insert((true, 0));
            *group = (group.0 && answer.correct == Some(true), group.1 + 1);
        }
    }
    let whole = groups.into_iter().filter(|(_, (_, answered))| *answered == variants.len());
    let units: Vec<Unit> =
        whole.map(|((at, _), (right, _))| Unit { at, sum: f64::from(right), count: 1.0 }).collect();
    let keys = book.keys(who, Task::Solve, setting);
    Some(Cell::new(book.resamples.ratio(&units, SHARE)?, 100.0, units.len(), keys))
}

/// A mean on the scale of appendix A.5.
const SCALE: [f64; 2] = [0.0, 5.0];

/// Appendix A.5: context reconstructions answered freely. Whoever gives no answer scores 0.
pub fn open_ended(book: &Book<'_>) -> Table {
    let setting = Setting::default();
    let cells = |who: usize| {
        let Some(column) = book.column(who, Task::SolveOpen, setting) else { return vec![None; 3] };
        let keys = book.keys(who, Task::SolveOpen, setting);
        let gave_up = |answer: &Answer| answer.format_error.is_some();
        let mean = |person: bool| {
            // Where nobody of a kind has scored anything, giving up is no score of theirs.
            let of_kind = |answer: &&Answer| answer.ratings.iter().any(|rating| rating.person == person);
            column.iter().flatten().any(of_kind).then_some(())?;
            let score = |answer: &Answer| {
                let ratings = answer.ratings.iter().filter(|rating| rating.person == person);
                let given: Vec<f64> = ratings.filter_map(|rating| rating.number()).collect();
                match (gave_up(answer), given.is_empty()) {
                    (true, _) => Some(0.0),
                    (false, true) => None,
                    (false, false) => Some(given.iter().sum::<f64>() / given.len() as f64),
                }
            };
            let (units, n) = book.parts(column, |_| true, score);
            Some(Cell::new(book.resamples.ratio(&units, SCALE)?, 1.0, n, keys.clone()))
        };
        let (units, n) = book.parts(column, |_| true, |answer| Some(f64::from(gave_up(answer))));
        let up = book.resamples.ratio(&units, SHARE).map(|share| Cell::new(share, 100.0, n, keys.clone()));
        vec![mean(true), mean(false), up]
    };
    let answered = book.answered(&[Task::SolveOpen]).into_iter();
    Table {
        name: "open-ended",
        title: "Puzzles answered freely".into(),
        paper: "BrainTeaser, appendix A.5",
        about: "The mean score from 0 to 5 that experts and that judges gave to answers to new situations, and the percent that \
                gave no answer, which scores 0."
            .into(),
        of: "Model",
        columns: ["Experts", "Judges", "Given up"].map(str::to_string).into(),
        rows: answered.map(|who| Row { name: book.who[who].name.clone(), cells: cells(who) }).collect(),
        look: Look::Plain,
    }
}
