//! Lengths of puzzles in tokens, and the words that a text of a group keeps of another.

use std::collections::BTreeMap;

use riddlemill_benchmarks::figure::{Kept, Puzzles};
use riddlemill_benchmarks::scope::{text, texts};
use riddlemill_benchmarks::{Expression, Trouble};
use serde_json::json;

use super::Found;
use super::source::Records;
use crate::measures::mean;
use crate::puzzle::reconstruction::overlap;
use crate::puzzle::statistics::{Row, figures};

/// Key statistics of puzzles with their options (BrainTeaser, table 3).
pub(super) fn puzzle_statistics(puzzles: &Puzzles, records: &Records<'_>) -> Result<Found, Trouble> {
    let texts_of = |of: &Expression| -> Result<Vec<String>, Trouble> {
        Ok(records.values(of)?.iter().map(|value| text(value).unwrap_or_default()).collect())
    };
    let (questions, answers) = (texts_of(&puzzles.question)?, texts_of(&puzzles.answer)?);
    let options: Vec<Vec<String>> = records.values(&puzzles.options)?.iter().map(texts).collect();
    let row = |((question, answer), choices)| Row { question, answer, choices };
    let rows = questions.iter().map(String::as_str).zip(answers.iter().map(String::as_str));
    let found = figures(rows.zip(options.iter().map(Vec::as_slice)).map(row));
    let percent = |share: f64| format!("{:.2} %", share * 100.0);
    let number = |number: f64| format!("{number:.2}");
    let cell = |of: &dyn Fn(&_) -> String| found.as_ref().map_or_else(|| "-".to_owned(), of);
    let cells = vec![
        ("puzzles", cell(&|of| of.puzzles.to_string())),
        ("average question tokens", cell(&|of| number(of.question_tokens))),
        ("long questions (over 30 tokens)", cell(&|of| percent(of.long_questions))),
        ("average answer tokens", cell(&|of| number(of.answer_tokens))),
        ("standard deviation of choice tokens", cell(&|of| number(of.choice_tokens_std))),
    ];
    Ok(Found { cells, ..Found::new(found, String::new()) })
}

/// The share of a text's content words that the other text of its group keeps, on average.
pub(super) fn words_kept(kept: &Kept, records: &Records<'_>) -> Result<Found, Trouble> {
    let (all, groups) = (records.values(&kept.text)?, records.values(&kept.group)?);
    let (from, to) = (records.values(&kept.from)?, records.values(&kept.to)?);
    let at = |place: usize| text(&groups[place]).zip(text(&all[place]));
    let mut others: BTreeMap<String, String> = BTreeMap::new();
    for (group, other) in (0..records.len()).filter(|place| to[*place].is_true()).filter_map(at) {
        others.entry(group).or_insert(other);
    }
    let shares: Vec<f64> = (0..records.len())
        .filter(|place| from[*place].is_true())
        .filter_map(at)
        .filter_map(|(group, text)| Some(overlap(&text, others.get(&group)?).kept))
        .collect();
    let share = mean(&shares);
    let cell = share.map_or_else(|| "-".to_owned(), |share| format!("{:.2} %", share * 100.0));
    Ok(Found { value: json!(share), lines: String::new(), cells: vec![(kept.label, cell)] })
}
