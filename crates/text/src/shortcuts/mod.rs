//! How well answers can be guessed without reading the question.
//!
//! A multiple-choice set can be solved in part by the position of the right option, its length, words it
//! shares with the question, or its style. [`measure_shortcuts`] computes the figures; [`findings`] lists those that
//! exceed a limit, with the items; nothing here changes an item.

mod baseline;
mod findings;
mod measures;
mod propose;

pub use baseline::{Baseline, train_baseline};
pub use findings::{Finding, GuessLimits, list_findings};
pub use measures::{
    Cue, Lengths, NearEqual, OptionOverlap, Positions, Reused, count_positions, find_cues, find_reused,
    measure_lengths, measure_overlap, near_equal,
};
pub use propose::{Open, propose_options};

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, Normal};

/// A multiple choice.
#[derive(Clone, Copy, Debug)]
pub struct Item<'a> {
    pub id: &'a str,
    /// The id that it shares with items made of the same record; otherwise its own id.
    pub group: &'a str,
    /// What is asked.
    pub question: &'a str,
    /// The options, in the order shown.
    pub options: &'a [String],
    /// The index of the right one.
    pub gold: usize,
}

/// The figures of a set.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Shortcuts {
    /// How many items.
    pub items: usize,
    /// Number of options per item.
    pub options: usize,
    /// Positions of the right options.
    pub positions: Positions,
    /// Lengths of right options compared with the others.
    pub lengths: Lengths,
    /// What they share with the question.
    pub overlap: OptionOverlap,
    /// Options of one item that are nearly equal.
    pub near_equal: Vec<NearEqual>,
    /// Options that occur in several items.
    pub reused: Vec<Reused>,
    /// A classifier's accuracy from the options alone; `None` for fewer items than folds.
    pub baseline: Option<Baseline>,
}

/// Measures a set whose items all have the same number of options. Options in `apart` (`None of above.`) do
/// not count as reused; if one is at the same index in every item, its position, length and wording are
/// ignored and the rules choose among the others. `None` for an empty set or one with different numbers of
/// options.
pub fn measure_shortcuts(items: &[Item<'_>], apart: &[&str], seed: u64) -> Option<Shortcuts> {
    let options = items.first()?.options.len();
    if options < 2 || items.iter().any(|item| item.options.len() != options || item.gold >= options) {
        return None;
    }
    let fixed = fixed_indices(items, options, apart);
    let open: Vec<(Vec<String>, usize)> = items.iter().map(|item| without_fixed(item, &fixed)).collect();
    let choosing: Vec<Item<'_>> = items
        .iter()
        .zip(&open)
        // If the option set apart is right, no other one is.
        .filter(|(item, _)| !fixed.contains(&item.gold))
        .map(|(item, (options, gold))| Item { options, gold: *gold, ..*item })
        .collect();
    Some(Shortcuts {
        items: items.len(),
        options,
        positions: count_positions(items, &fixed),
        lengths: measure_lengths(&choosing),
        overlap: measure_overlap(&choosing),
        near_equal: near_equal(items),
        reused: find_reused(items, apart),
        baseline: train_baseline(&choosing, seed),
    })
}

/// Indices where every item has the same option from `apart`. At least two others remain.
fn fixed_indices(items: &[Item<'_>], options: usize, apart: &[&str]) -> Vec<usize> {
    let same = |at: &usize| {
        let first = items[0].options[*at].as_str();
        apart.contains(&first) && items.iter().all(|item| item.options[*at] == first)
    };
    let fixed: Vec<usize> = (0..options).filter(same).collect();
    let all_right = items.iter().all(|item| fixed.contains(&item.gold));
    if options - fixed.len() < 2 || all_right { Vec::new() } else { fixed }
}

/// The options of an item without those at the fixed indices, and the index of the right one among them.
fn without_fixed(item: &Item<'_>, fixed: &[usize]) -> (Vec<String>, usize) {
    let open = |at: &usize| !fixed.contains(at);
    let options = (0..item.options.len()).filter(open).map(|at| item.options[at].clone()).collect();
    (options, (0..item.gold).filter(open).count())
}

/// The credit for taking the option with the highest score: 1, a fraction on a tie, or 0.
fn guess_credit(scores: &[f64], gold: usize) -> f64 {
    let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let ties = scores.iter().filter(|score| **score == best).count();
    if scores.get(gold) == Some(&best) { 1.0 / ties as f64 } else { 0.0 }
}

/// How often a rule is right, against chance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct RuleShare {
    /// The share of items it gets right; ties count in parts.
    pub value: f64,
    /// The share by guessing.
    pub chance: f64,
    /// The lower end of the 95 % interval (Wilson's score interval).
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl RuleShare {
    /// `successes` of `items`, each with one right option of `options`.
    pub fn new(successes: f64, items: usize, options: usize) -> RuleShare {
        let chance = if options == 0 { 0.0 } else { 1.0 / options as f64 };
        if items == 0 {
            return RuleShare { chance, high: 1.0, ..RuleShare::default() };
        }
        let n = items as f64;
        let value = successes / n;
        let z = Normal::standard().inverse_cdf(0.975);
        let middle = value + z * z / (2.0 * n);
        let half = z * (value * (1.0 - value) / n + z * z / (4.0 * n * n)).sqrt();
        let scale = 1.0 + z * z / n;
        RuleShare {
            value,
            chance,
            low: ((middle - half) / scale).max(0.0),
            high: ((middle + half) / scale).min(1.0),
        }
    }

    /// Whether the interval lies above chance.
    pub fn above_chance(self) -> bool {
        self.low > self.chance
    }
}

#[cfg(test)]
mod tests;
