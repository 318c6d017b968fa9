//! Statistics of a release's config: labels, lengths, and how well its options can be guessed.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use crate::audit::LENGTH_BIN;
use crate::config::Config;
use crate::recipe::Recipe;
use crate::release::read_rows::JsonRow;
use crate::release::{Guessed, layout, shortcuts};
use crate::text::format_decimals;

/// One config.
#[derive(Serialize)]
pub(crate) struct Counted {
    config: String,
    about: &'static str,
    rows: usize,
    /// Column, and how often each value occurs, most frequent first.
    labels: Vec<(&'static str, Vec<(String, u64)>)>,
    /// Columns of numbers other than labels: value or range, rows, thousandths of the highest bar.
    numbers: Vec<(String, Vec<CountedBar>)>,
    /// Rows by the length of their text.
    lengths: Vec<u64>,
    /// Characters per element of the lengths.
    bin: usize,
    first: Vec<Value>,
    /// How well answers can be guessed without the question, for a multiple-choice config.
    guessed: Option<Guessed>,
}

/// A value or range, its rows, and thousandths of the highest bar.
type CountedBar = (String, u64, u64);

/// Most bars for a column of numbers.
const BARS: usize = 12;

/// The distribution of the numbers in each column: scores, ratings, shares. Ids and names are excluded.
fn number_bars(rows: &[JsonRow], labels: &[&str]) -> Vec<(String, Vec<CountedBar>)> {
    let Some(first) = rows.first() else { return Vec::new() };
    let counted = |name: &&String| {
        let is_number = |row: &JsonRow| row.get(*name).is_none_or(|v| v.is_number() || v.is_null());
        !labels.contains(&name.as_str())
            && !matches!(name.as_str(), "id" | "index")
            && rows.iter().all(is_number)
    };
    let spread = |name: &String| {
        let mut values: Vec<f64> = rows.iter().filter_map(|row| row.get(name)?.as_f64()).collect();
        values.sort_by(f64::total_cmp);
        let (low, high) = (*values.first()?, *values.last()?);
        let short = |x: f64| format_decimals(x, 2).trim_end_matches('0').trim_end_matches('.').to_string();
        // Means of ratings differ in their last digits; values that print alike share a bar.
        let mut distinct: Vec<String> = values.iter().map(|value| short(*value)).collect();
        distinct.dedup();
        let mut bars: Vec<(String, u64)> = if distinct.len() <= BARS {
            distinct.iter().map(|value| (value.clone(), 0)).collect()
        } else {
            let step = (high - low) / BARS as f64;
            let range = |at: usize| {
                format!("{} – {}", short(low + step * at as f64), short(low + step * (at + 1) as f64))
            };
            (0..BARS).map(|at| (range(at), 0)).collect()
        };
        for value in &values {
            let at = if distinct.len() <= BARS {
                let value = short(*value);
                distinct.iter().position(|known| *known == value).unwrap_or(0)
            } else {
                // The greatest value would otherwise fall behind the last bar.
                (((value - low) / (high - low) * BARS as f64) as usize).min(BARS - 1)
            };
            bars[at].1 += 1;
        }
        let tallest = bars.iter().map(|(_, n)| *n).max().unwrap_or(1).max(1);
        Some((name.clone(), bars.into_iter().map(|(label, n)| (label, n, n * 1000 / tallest)).collect()))
    };
    first.keys().filter(counted).filter_map(spread).collect()
}

/// Computes the statistics of one config.
pub(crate) fn count_config(
    config: &Config,
    recipe: &'static Recipe,
    name: &str,
    rows: &[JsonRow],
) -> Counted {
    let layout = layout::find_layout(name);
    let labels = layout.map_or(&[][..], |layout| layout.labels);
    let as_text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_string);
    let count = |column: &&'static str| {
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for value in rows.iter().filter_map(|row| row.get(*column)) {
            match value {
                Value::Array(several) => {
                    several.iter().for_each(|v| *counts.entry(as_text(v)).or_default() += 1)
                }
                one => *counts.entry(as_text(one)).or_default() += 1,
            }
        }
        let mut counts: Vec<(String, u64)> = counts.into_iter().collect();
        counts.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
        (*column, counts)
    };
    let mut lengths = vec![0; 31];
    for row in rows {
        let text = layout::text_of(name, row).and_then(Value::as_str);
        let chars = text.map_or(0, |text| text.chars().count());
        lengths[(chars / LENGTH_BIN).min(30)] += 1;
    }
    Counted {
        config: name.into(),
        about: layout.map_or("", |layout| layout.about),
        rows: rows.len(),
        labels: labels.iter().map(count).collect(),
        numbers: number_bars(rows, labels),
        lengths,
        bin: LENGTH_BIN,
        first: rows.iter().take(3).cloned().map(Value::Object).collect(),
        guessed: shortcuts::of_rows(config, recipe, name, rows),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_read_alike_are_one_bar() {
        let row = |gap: f64| serde_json::json!({ "id": "a", "gap": gap }).as_object().cloned().unwrap();
        let found = number_bars(&[row(7.0 / 3.0), row(2.333_333_333_333_333), row(4.0)], &[]);
        assert_eq!(
            found,
            [("gap".to_string(), vec![("2.33".to_string(), 2, 1000), ("4".to_string(), 1, 500)])]
        );
    }
}
