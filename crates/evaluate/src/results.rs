//! The results folder: answers, tables as JSON, CSV and Markdown, and a page.
//!
//! `answers.jsonl` contains every answer with its text, how it was parsed, and its ratings; a cell's `from`
//! identifies the lines it is computed from. The folder only depends on the set, the answers and the seed.

use std::fmt::Write as _;

use serde::Serialize;

use super::answer::{Answer, NoAnswer};
use super::ask::Missing;
use super::error::SetAside;
use super::tables::{Comparison, Report};
use crate::figures::{self, Table, format_plain};
use crate::review::agreement::Bootstrap;
use crate::review::exchange::{CsvFor, csv_table};
use crate::text::{count_with_noun, format_decimals};

/// The results for one set.
pub struct Results<'a> {
    /// Tables, comparisons and charts.
    pub report: &'a Report,
    pub answers: &'a [Answer],
    /// Missing replies.
    pub missing: &'a [Missing],
    /// Lines and rows that were set aside.
    pub skipped: &'a [SetAside],
    /// The settings of the intervals.
    pub bootstrap: Bootstrap,
    /// The seed of random choices.
    pub seed: u64,
    /// The hash of the set's rows.
    pub rows_hash: &'a str,
}

#[derive(Serialize)]
pub(super) struct Summary<'a> {
    riddlemill: &'static str,
    #[serde(flatten)]
    report: &'a Report,
    rows_hash: &'a str,
    seed: u64,
    resamples: usize,
    level: f64,
    answers: usize,
    format_errors: usize,
    cut: usize,
    refused: usize,
    missing: usize,
    set_aside: usize,
}

/// Tables with unique names: repeated names are numbered.
pub(super) fn number_tables(tables: &[Table]) -> Vec<(String, &Table)> {
    let mut names: Vec<(String, &Table)> = Vec::new();
    for table in tables {
        let before = names.iter().filter(|(_, other)| other.name == table.name).count();
        let name = if before == 0 { table.name.clone() } else { format!("{}-{}", table.name, before + 1) };
        names.push((name, table));
    }
    names
}

pub(super) fn summarise_results<'a>(results: &Results<'a>) -> Summary<'a> {
    Summary {
        riddlemill: crate::VERSION,
        report: results.report,
        rows_hash: results.rows_hash,
        seed: results.seed,
        resamples: results.bootstrap.resamples,
        level: results.bootstrap.level,
        answers: results.answers.len(),
        format_errors: format_errors(results.answers),
        cut: without_answer(results.answers, NoAnswer::Cut),
        refused: without_answer(results.answers, NoAnswer::Refused),
        missing: results.missing.len(),
        set_aside: results.skipped.len(),
    }
}

/// Number of answers that cannot be parsed, though they are whole.
pub fn format_errors(answers: &[Answer]) -> usize {
    let is_whole = |answer: &Answer| !matches!(answer.no_answer, Some(NoAnswer::Cut | NoAnswer::Refused));
    answers.iter().filter(|answer| answer.format_error.is_some() && is_whole(answer)).count()
}

/// Number of replies without an answer for this reason.
pub fn without_answer(answers: &[Answer], why: NoAnswer) -> usize {
    answers.iter().filter(|answer| answer.no_answer == Some(why)).count()
}

pub(super) fn json_bytes(value: &impl Serialize) -> Vec<u8> {
    // Strings, numbers and lists of these always serialise.
    let mut bytes = serde_json::to_vec_pretty(value).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

pub(super) fn json_lines(values: &[impl Serialize]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for value in values {
        bytes.extend(serde_json::to_vec(value).unwrap_or_default());
        bytes.push(b'\n');
    }
    bytes
}

pub(super) fn comparisons_csv(comparisons: &[Comparison]) -> Vec<u8> {
    csv_bytes(
        [
            "task",
            "setting",
            "first",
            "second",
            "n",
            "difference",
            "low",
            "high",
            "p",
            "only_first",
            "only_second",
            "mcnemar_exact_p",
            "mcnemar_chi_square",
            "mcnemar_chi_square_p",
            "test",
            "test_p",
            "holm_p",
        ],
        comparisons.iter().map(|one| {
            let apart = one.difference.difference;
            let mcnemar = one.mcnemar.map(|m| {
                let counts = [m.only_first, m.only_second].map(|count| count.to_string());
                let figures = [m.exact_p, m.chi_square, m.chi_square_p].map(|figure| figure.to_string());
                (counts, figures)
            });
            let ([only_first, only_second], [exact_p, chi_square, chi_square_p]) =
                mcnemar.unwrap_or_default();
            [
                one.task.to_string(),
                one.setting.to_string(),
                one.first.clone(),
                one.second.clone(),
                one.n.to_string(),
                apart.value.to_string(),
                apart.low.to_string(),
                apart.high.to_string(),
                one.difference.p.to_string(),
                only_first,
                only_second,
                exact_p,
                chi_square,
                chi_square_p,
                one.test.to_owned(),
                one.test_p.to_string(),
                one.holm_p.to_string(),
            ]
        }),
    )
}

/// The tables as LaTeX and CSV, and the charts as SVG and CSV; every file has another name, which begins with `prefix`.
pub fn figure_files(report: &Report, prefix: &str) -> Vec<figures::File> {
    let stem = |name: &str| figures::stem(&format!("{prefix}-{name}"));
    let tables = number_tables(&report.tables).into_iter().map(|(name, table)| table.with_name(stem(&name)));
    let mut files: Vec<figures::File> = tables.flat_map(|table| table.files()).collect();
    if !report.comparisons.is_empty() {
        let table = every_two(&report.comparisons, &stem("models"));
        files.push((format!("{}.tex", table.name), figures::render_latex(&table).into_bytes()));
        files.push((format!("{}.csv", table.name), comparisons_csv(&report.comparisons)));
    }
    for chart in number_charts(report) {
        files.extend(figures::Chart { name: stem(&chart.name), ..chart }.files());
    }
    files
}

/// The charts as figures with unique names.
pub(super) fn number_charts(report: &Report) -> Vec<figures::Chart> {
    let mut charts: Vec<figures::Chart> = Vec::new();
    let mut seen: std::collections::BTreeMap<String, usize> = std::collections::BTreeMap::new();
    for chart in &report.charts {
        let mut figure = chart.clone();
        let times = seen.entry(figure.name.clone()).or_default();
        *times += 1;
        if *times > 1 {
            figure.name.push_str(&format!("-{times}"));
        }
        charts.push(figure);
    }
    charts
}

fn csv_bytes<const N: usize>(headers: [&str; N], rows: impl Iterator<Item = [String; N]>) -> Vec<u8> {
    // Rows of equal length, written into memory, cannot fail.
    csv_table(CsvFor::Programs, &headers, rows).unwrap_or_default()
}

/// The head of a report: the n of everything, and what is missing.
pub fn report_head(results: &Results<'_>) -> String {
    let Summary { answers, format_errors, cut, refused, missing, set_aside, .. } = summarise_results(results);
    format!(
        "{}, {}, {format_errors} of them not in the form that was asked for, {cut} cut, {refused} \
         refused; {} missing, {} set aside. Intervals hold the middle {:.0} % of {} bootstrap resamples (seed {}).",
        count_with_noun(results.report.items as u64, "item"),
        count_with_noun(answers as u64, "answer"),
        count_with_noun(missing as u64, "reply"),
        count_with_noun(set_aside as u64, "line"),
        100.0 * results.bootstrap.level,
        results.bootstrap.resamples,
        results.seed
    )
}

pub(super) fn render_markdown(results: &Results<'_>) -> String {
    let mut text = format!("# {}\n\n{}\n", results.report.set, report_head(results));
    if !results.report.draft.is_empty() {
        let _ = writeln!(text, "\nThe release is a draft: {}.", results.report.draft.join("; "));
    }
    if let Some(withdrawn) = results.report.describe_withdrawn() {
        let _ = writeln!(text, "\n{withdrawn}.");
    }
    if let Some(sample) = &results.report.sample {
        let _ = writeln!(text, "\n{}.", sample.describe_sample());
    }
    for drawn in &results.report.drawn {
        let _ = writeln!(text, "\n{drawn}.");
    }
    for table in &results.report.tables {
        let _ = write!(text, "\n{}", table.render_markdown());
    }
    if !results.report.comparisons.is_empty() {
        let _ = write!(text, "\n{}", every_two(&results.report.comparisons, "models").render_markdown());
    }
    text
}

/// The comparisons as a table of words.
fn every_two(comparisons: &[Comparison], name: &str) -> figures::Table {
    let row = |one: &Comparison| {
        let apart = one.difference.difference;
        let [value, low, high] =
            [apart.value, apart.low, apart.high].map(|figure| format_decimals(figure, 2));
        let mcnemar = one
            .mcnemar
            .map(|m| format!("{} : {}, p {}", m.only_first, m.only_second, format_plain(m.exact_p, 2)));
        vec![
            format!("{} {}", one.task, one.setting),
            one.first.clone(),
            one.second.clone(),
            format!("{value} [{low}, {high}]"),
            format_plain(one.difference.p, 2),
            mcnemar.unwrap_or_default(),
            format!("{} ({})", format_plain(one.holm_p, 2), one.test),
            one.n.to_string(),
        ]
    };
    let header = ["Task", "First", "Second", "Difference", "p", "McNemar", "Holm's p", "n"];
    let rows = comparisons.iter().map(row).collect();
    figures::Table::of_texts(name.to_owned(), "Every two models".to_owned(), &header, rows)
}
