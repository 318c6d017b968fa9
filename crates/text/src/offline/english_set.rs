//! The labelled English posts in `fixtures`: figures below which no change may fall.
//!
//! The rules were written on the fit part alone; docs/quality.md has the figures, and the example `quality` prints them.

use super::asks_in;
use crate::text::language::{Language, detect, tag_language};
use crate::text::sameness::{Verdict, compare};

/// Whether a text is in the part that rules were not written on.
fn is_held_out(text: &str) -> bool {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&[0]).update(text.as_bytes());
    hasher.finalize().as_bytes()[0] % 2 == 1
}

fn fixture_rows(text: &'static str) -> Vec<Vec<&'static str>> {
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split('\t').collect()).collect();
    assert!(lines.len() >= 300 || text.len() < 5000, "{} rows", lines.len());
    lines
}

/// F1, recall and specificity of what was wanted and got.
fn measure_rates(rows: impl Iterator<Item = (bool, bool)>) -> [f64; 3] {
    let mut counts = [[0u32; 2]; 2];
    rows.for_each(|(want, got)| counts[usize::from(want)][usize::from(got)] += 1);
    let [[tn, fp], [missed, tp]] = counts;
    let ratio = |a: u32, b: u32| f64::from(a) / f64::from(b.max(1));
    [ratio(2 * tp, 2 * tp + fp + missed), ratio(tp, tp + missed), ratio(tn, tn + fp)]
}

#[test]
fn english_questions_are_found() {
    let rows = fixture_rows(include_str!("../../fixtures/english-questions.tsv"));
    let held = rows.iter().filter(|row| is_held_out(row[2]));
    let [f1, ..] = measure_rates(held.map(|row| (row[0] == "1", asks_in(row[2], Language::En).0)));
    assert!(f1 >= 0.95, "{f1}");
}

#[test]
fn english_jokes_are_one_where_they_are_told_again() {
    let rows = fixture_rows(include_str!("../../fixtures/english-pairs.tsv"));
    let held = rows.iter().filter(|row| is_held_out(&[row[2], "\n", row[3]].concat()));
    let same = |a, b| {
        compare(&tag_language(a, Language::En), &tag_language(b, Language::En)).verdict == Verdict::Same
    };
    let [f1, recall, specificity] = measure_rates(held.map(|row| (row[0] == "1", same(row[2], row[3]))));
    assert!(f1 >= 0.87 && recall >= 0.80 && specificity >= 0.95, "{f1} {recall} {specificity}");
}

#[test]
fn english_is_told_from_other_languages() {
    let english = fixture_rows(include_str!("../../fixtures/english-questions.tsv"));
    let foreign = fixture_rows(include_str!("../../fixtures/foreign.tsv"));
    let is_english = |text: &str| detect(text).language == Language::En;
    let found = english.iter().filter(|row| is_english(row[2])).count();
    assert!(found * 100 >= english.len() * 98, "{found} of {}", english.len());
    let wrong: Vec<&str> = foreign.iter().map(|row| row[1]).filter(|text| is_english(text)).collect();
    assert!(wrong.len() <= 2, "{wrong:?}");
    let chinese = foreign.iter().filter(|row| detect(row[1]).language == Language::Zh).count();
    assert_eq!(chinese, 0);
}
