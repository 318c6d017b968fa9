//! All that is told of one set.

use std::collections::BTreeMap;

use serde::Serialize;

use super::across::{Point, points, together};
use super::book::Book;
use super::compare::{Comparison, comparisons};
use super::table::{Cell, Table};
use super::texts::Texts;
use super::{choices, declared, jokes, known, puzzles, questions, texts};
use crate::evaluate::charts::{Chart, bars, lines, scatter, stacked};
use crate::evaluate::task::{Setting, Task};

/// Tables, comparisons and charts of one set.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// `flub@1.0.0`.
    pub set: String,
    /// How many items it has.
    pub items: usize,
    /// Why the release is a draft; empty where it is none.
    pub draft: Vec<String>,
    /// Rows that were withdrawn since and are left out: the figures are those of the others.
    pub withdrawn: usize,
    /// The tables, in the order of the paper.
    pub tables: Vec<Table>,
    /// Every two models.
    pub comparisons: Vec<Comparison>,
    /// The charts of the page.
    #[serde(skip)]
    pub charts: Vec<Chart>,
}

impl Report {
    /// The sentence on rows that are left out, where there are any.
    pub fn told_withdrawn(&self) -> Option<String> {
        let rows = match self.withdrawn {
            0 => return None,
            1 => "1 row was",
            n => return Some(format!("{n} rows were withdrawn since and are left out")),
        };
        Some(format!("{rows} withdrawn since and is left out"))
    }
}

/// What models reach on Gen, 0 to 100: the other axis of figure 8.
pub fn gen_scores(book: &Book<'_>) -> BTreeMap<String, f64> {
    let score = |who: usize| {
        let cell = questions::score(book, who, Task::Answer, None, None)?;
        Some((book.who[who].name.clone(), cell.value))
    };
    book.answered(&[Task::Answer]).into_iter().filter_map(score).collect()
}

/// Makes everything that the answers give. `generated` are models' scores on Gen, for figure 8.
pub fn report(book: &Book<'_>, generated: &BTreeMap<String, f64>) -> Report {
    let (mut tables, mut charts) = (Vec::new(), Vec::new());
    match book.set.config.as_str() {
        "ruozhibench-gen" => gen_report(book, &mut tables, &mut charts),
        "ruozhibench-mc" => mc_report(book, generated, &mut tables, &mut charts),
        "flub" => flub_report(book, &mut tables, &mut charts),
        "chumor" => {
            tables.extend([jokes::winning(book), jokes::agreement(book)]);
            charts.push(stacked("Whose explanation wins, percent of jokes (Chumor, figure 1)", &tables[0]));
        }
        "brainteaser" => {
            tables.extend([Some(false), Some(true), None].map(|word| puzzles::puzzles(book, word)));
            tables.push(puzzles::open_ended(book));
            charts.push(bars("Puzzles and groups solved, percent", &tables[2].first_columns(6), 100.0));
        }
        _ => {
            for (table, drawn) in declared::tables(book) {
                if drawn {
                    charts.push(bars(&table.title, &table, 100.0));
                }
                tables.push(table);
            }
        }
    }
    tables.retain(|table| table.rows.iter().any(|row| row.cells.iter().any(Option::is_some)));
    tables.extend(known::known(book, &tables));
    charts.retain(|chart| !chart.svg.is_empty());
    Report {
        set: book.set.name(),
        items: book.set.items.len(),
        draft: book.set.draft.clone(),
        withdrawn: book.set.withdrawn,
        tables,
        comparisons: comparisons(book),
        charts,
    }
}

fn gen_report(book: &Book<'_>, tables: &mut Vec<Table>, charts: &mut Vec<Chart>) {
    let judges = book.judges(&[Task::Answer], false);
    tables.push(questions::scores(book, None));
    if judges.len() > 1 {
        tables.extend(judges.iter().map(|judge| questions::scores(book, Some(judge))));
    }
    tables.push(questions::normal(book));
    for task in [Task::Answer, Task::AnswerNormal] {
        let ratings = questions::distributions(book, task);
        let title = format!("{}, percent (RuozhiBench, figures 5 and 19 to 21)", ratings.title);
        charts.push(stacked(&title, &ratings));
        tables.push(ratings);
    }
    let (table, pairs) = questions::judge_pairs(book);
    for (pair, means) in pairs {
        let [a, b] = &pair.judges;
        let r = pair.mean.pearson.map_or_else(|| "undefined".to_string(), |r| format!("{r:.3}"));
        let title = format!("{a} and {b}: mean rating by question, r = {r} (RuozhiBench, figure 6)");
        let unnamed = |(x, y): (f64, f64)| Point { model: String::new(), x, y };
        let points: Vec<Point> = means.into_iter().map(unnamed).collect();
        charts.push(scatter(&title, [a, b], &points, false));
    }
    tables.push(table);
    let scores: Vec<(String, Cell)> = book
        .answered(&[Task::Answer])
        .into_iter()
        .filter_map(|who| {
            Some((book.who[who].name.clone(), questions::score(book, who, Task::Answer, None, None)?))
        })
        .collect();
    sizes(book, "Gen", &scores, tables, charts);
}

fn mc_report(
    book: &Book<'_>,
    generated: &BTreeMap<String, f64>,
    tables: &mut Vec<Table>,
    charts: &mut Vec<Chart>,
) {
    tables.extend([choices::orders(book), choices::categories(book)]);
    charts.push(bars("Good First, Bad First and their mean, percent", &tables[0].first_columns(3), 100.0));
    let scores = choices::scores(book);
    // Where Gen was not evaluated beside it, what the judges of the release say.
    let released: BTreeMap<String, f64> =
        choices::released_scores(book).into_iter().map(|(model, (score, _))| (model, score)).collect();
    let both = points(if generated.is_empty() { &released } else { generated }, &scores);
    if both.len() > 1 {
        let axes = ["Gen score", "MC score"];
        let title = "Generation against multiple choice".to_string();
        let table =
            together("gen-mc", title, "RuozhiBench, figure 8", axes, &both, book.resamples.settings());
        charts.push(scatter(
            "Generation against multiple choice (RuozhiBench, figure 8)",
            axes,
            &both,
            false,
        ));
        tables.push(table);
    }
    sizes(book, "MC", &scores, tables, charts);
}

/// Figure 9, where the sizes of two models or more are known.
fn sizes(
    book: &Book<'_>,
    what: &str,
    scores: &[(String, Cell)],
    tables: &mut Vec<Table>,
    charts: &mut Vec<Chart>,
) {
    let sized = points(&book.sizes, scores);
    if sized.len() < 2 {
        return;
    }
    let axis = format!("{what} score");
    let axes = ["Size in billions of parameters", axis.as_str()];
    // The regression and its correlation are on the logarithm, as in the figure.
    let on_log: Vec<Point> =
        sized.iter().map(|point| Point { x: point.x.log10(), ..point.clone() }).collect();
    let title = format!("{what} score against size");
    let log_axes = ["Size, log10 of billions", axis.as_str()];
    tables.push(together(
        "sizes",
        title.clone(),
        "RuozhiBench, figure 9",
        log_axes,
        &on_log,
        book.resamples.settings(),
    ));
    charts.push(scatter(&format!("{title} (RuozhiBench, figure 9)"), axes, &sized, true));
}

fn flub_report(book: &Book<'_>, tables: &mut Vec<Table>, charts: &mut Vec<Chart>) {
    tables.extend([Texts::All, Texts::Questions, Texts::Statements].map(|of| texts::tasks(book, of)));
    charts.push(bars("Selection and classification, percent", &tables[0].first_columns(2), 100.0));
    let shots: Vec<Setting> =
        book.settings(Task::Select).into_iter().filter(|setting| !setting.cot).collect();
    if shots.len() > 1 {
        let title = "With 0, 1, 2 and 5 solved examples (FLUB, figure 3): selection accuracy, percent";
        charts.push(lines(title, &tables[0], 0, &shots));
    }
    tables.push(texts::people(book));
}

impl Table {
    /// The table without its later columns.
    fn first_columns(&self, count: usize) -> Table {
        let mut table = self.clone();
        table.columns.truncate(count);
        table.rows.iter_mut().for_each(|row| row.cells.truncate(count));
        table
    }
}
