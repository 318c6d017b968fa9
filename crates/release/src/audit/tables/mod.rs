//! `report`: the tables and figures of a benchmark below its funnel, as its folder declares them in `report.toml`.
//!
//! [`Source`] reads the records at a recipe's end, or at another step, and the votes; a figure is computed by its kind, a file a
//! few kinds: `numbers`, `counts`, `wins`, `votes` (agreement and reviews), `judged`, `choice`, `columns`. It comes to tables,
//! from which its value in JSON and its lines follow; `describe` puts these together, and `named` names the tables for files
//! and pages.

mod choice;
mod columns;
mod counts;
mod describe;
mod judged;
mod named;
mod numbers;
mod source;
#[cfg(test)]
mod tests;
mod votes;
mod wins;

use riddlemill_benchmarks::ExpressionError;
use riddlemill_benchmarks::figure::{Figure, FigureKind};
use serde_json::Value as Json;

use crate::config::Config;
use crate::error_of_trouble;
use crate::figures::Table;
use crate::pipeline::RunError;
use crate::recipe::Recipe;

pub use describe::Report;
use source::{Records, Source};
pub use votes::{Reviewed, voted_lines};

/// Blanks before the lines of a table.
const INDENT: usize = 4;

/// What a figure comes to.
#[derive(Clone, Debug, Default)]
struct Found {
    /// Its value in JSON; of several numbers an object with a key for each.
    value: Json,
    /// The lines of its kind, unless the folder declares others.
    lines: String,
    /// Single numbers, which stand in one table with those of other figures.
    numbers: Option<Table>,
    /// Its tables; one that is not the only one has a name of its own.
    tables: Vec<Table>,
}

impl Found {
    /// A table: as a list of objects, and as lines.
    fn of_table(table: Table) -> Found {
        Found { tables: vec![table.clone()], ..Found::new(table.row_objects(), table.render_lines(INDENT)) }
    }

    fn new(value: impl serde::Serialize, lines: String) -> Found {
        Found { value: serde_json::to_value(value).unwrap_or_default(), lines, ..Found::default() }
    }
}

/// The figures of what is at a recipe's end; `None` where it makes posts or did not get there.
///
/// # Errors
/// [`RunError`] where a stage or the votes cannot be read.
pub fn tables(config: &Config, recipe: &'static Recipe) -> Result<Option<Report>, RunError> {
    Source::open(config, recipe)?.map(|source| report(&source)).transpose()
}

fn report(source: &Source<'_>) -> Result<Report, RunError> {
    let declared = &source.benchmark.report;
    let mut found = Vec::with_capacity(declared.figures.len());
    for figure in &declared.figures {
        let rows = source.rows_of_step(figure.step)?;
        let records = Records::new(&rows, source.benchmark.fields());
        let records = records.filter_by(figure.among.as_ref()).map_err(error_of_trouble)?;
        let mut values = Vec::new();
        match figure.part.and_then(|place| declared.parts.get(place)) {
            None => values.push(compute(figure, &records, source)?),
            Some(division) => {
                for part in &division.values {
                    let records = records.of_part(&division.of, part).map_err(error_of_trouble)?;
                    values.push(compute(figure, &records, source)?);
                }
            }
        }
        found.push(values);
    }
    Ok(Report::put_together(source.benchmark, &found).map_err(error_of_trouble)?)
}

fn compute(figure: &Figure, records: &Records<'_>, source: &Source<'_>) -> Result<Found, RunError> {
    let or_damaged = |found: Result<Found, ExpressionError>| found.map_err(error_of_trouble);
    let mut found = match &figure.kind {
        FigureKind::Numbers(numbers) => numbers::compute_numbers(numbers, records, source)?,
        FigureKind::Counts(counts) => or_damaged(counts::count_values(counts, source.data(), records))?,
        FigureKind::Bars(bars) => or_damaged(counts::count_bars(bars, records))?,
        FigureKind::Votes { of, options } => or_damaged(counts::count_votes(of, options, records))?,
        FigureKind::Wins(wins) => {
            or_damaged(wins::count_wins(wins, records, |code| source.name_of_code(None, code)))?
        }
        FigureKind::Shortcuts(Some(posed)) => {
            or_damaged(choice::find_shortcuts(posed, records, source.seed))?
        }
        FigureKind::Shortcuts(None) => {
            choice::of_items(source.data(), &source.released_items()?, source.seed)
        }
        FigureKind::Agreement { ballot, fields, listed } => {
            votes::measure_agreement(source, ballot, fields, *listed)?
        }
        FigureKind::PooledAgreement(ballot) => votes::pooled_agreement(source, ballot)?,
        FigureKind::Reviews => votes::count_reviews(source)?,
        FigureKind::JudgePairs(judged) => or_damaged(judged::judge_pairs(judged, records))?,
        FigureKind::Ratings(judged) => or_damaged(judged::count_ratings(judged, records))?,
        FigureKind::ScoresByPart { judged, parts, questions } => {
            let rows = source.rows_of_questions(*questions)?;
            let last = Records::new(&rows, source.benchmark.fields());
            let items = source.items_of_questions(*questions)?;
            let name = |code: &str| source.name_of_code(*questions, code);
            or_damaged(judged::scores_by_part(judged, records, parts, &last, items.as_ref(), name))?
        }
        FigureKind::PuzzleStatistics(puzzles) => or_damaged(wins::puzzle_statistics(puzzles, records))?,
        FigureKind::WordsKept(kept) => or_damaged(wins::words_kept(kept, records))?,
        FigureKind::Labels => columns::count_labels(source.data(), &source.released_items()?),
        FigureKind::Columns => columns::measure_columns(source.data(), &source.released_items()?),
        FigureKind::Lines(_) | FigureKind::OfAnswers(_) => Found::default(),
    };
    if !figure.keys.is_empty() {
        found.value = describe::rename_keys(found.value, &figure.keys).map_err(error_of_trouble)?;
    }
    Ok(found)
}
