//! A config of a release in figures: labels, lengths, and what may be guessed of its options.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use crate::config::Config;
use crate::recipe::Recipe;
use crate::release::rows_of::JsonRow;
use crate::release::{Guessed, layout, shortcuts};

/// Characters to a bar of the lengths.
const BIN: usize = 10;

/// One config.
#[derive(Serialize)]
pub(super) struct Counted {
    config: String,
    about: &'static str,
    rows: usize,
    /// Column, and how often it holds each value, the most frequent first.
    labels: Vec<(&'static str, Vec<(String, u64)>)>,
    /// Rows by the length of their text, [`BIN`] characters to a place.
    lengths: Vec<u64>,
    first: Vec<Value>,
    /// What may be guessed without the question, of a config that poses a choice.
    guessed: Option<Guessed>,
}

/// Counts the rows of one config.
pub(super) fn counted(config: &Config, recipe: &'static Recipe, name: &str, rows: &[JsonRow]) -> Counted {
    let layout = layout::find(name);
    let labels = layout.map_or(&[][..], |layout| layout.labels);
    let words = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_string);
    let count = |column: &&'static str| {
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for value in rows.iter().filter_map(|row| row.get(*column)) {
            match value {
                Value::Array(several) => {
                    several.iter().for_each(|v| *counts.entry(words(v)).or_default() += 1)
                }
                one => *counts.entry(words(one)).or_default() += 1,
            }
        }
        let mut counts: Vec<(String, u64)> = counts.into_iter().collect();
        counts.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
        (*column, counts)
    };
    let mut lengths = vec![0; 31];
    for row in rows {
        let text =
            ["text", "question_zh", "joke", "question"].into_iter().find_map(|key| row.get(key)?.as_str());
        let chars = text.map_or(0, |text| text.chars().count());
        lengths[(chars / BIN).min(30)] += 1;
    }
    Counted {
        config: name.into(),
        about: layout.map_or("", |layout| layout.about),
        rows: rows.len(),
        labels: labels.iter().map(count).collect(),
        lengths,
        first: rows.iter().take(3).cloned().map(Value::Object).collect(),
        guessed: shortcuts::of_rows(config, recipe, name, rows),
    }
}
