//! What a model may guess an answer from without reading the question.
//!
//! A set of multiple choices can be solved in part by the place of the right option, its length, words it
//! shares with the question, or the way it is written. [`measure`] gives the figures; [`findings`] says
//! which of them pass a limit, with the items; nothing here changes an item.

mod baseline;
mod findings;
mod length;
mod near;
mod overlap;
mod position;
mod propose;
mod reuse;
mod share;
mod tells;

use serde::Serialize;

pub use baseline::{Baseline, baseline};
pub use findings::{Finding, Limits, findings};
pub use length::{Lengths, lengths};
pub use near::{NearEqual, near_equal};
pub use overlap::{Overlap, overlap};
pub use position::{Positions, positions};
pub use propose::{Open, propose};
pub use reuse::{Reused, reused};
pub use share::Share;
pub use tells::{Tell, tells};

/// A multiple choice.
#[derive(Clone, Copy, Debug)]
pub struct Item<'a> {
    /// Its id.
    pub id: &'a str,
    /// The id that it shares with items made of the same record; else its own.
    pub group: &'a str,
    /// What is asked.
    pub question: &'a str,
    /// The options, in the order shown.
    pub options: &'a [String],
    /// The place of the right one, from 0.
    pub gold: usize,
}

/// The figures of a set.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Shortcuts {
    /// How many items.
    pub items: usize,
    /// Options an item.
    pub options: usize,
    /// Where the right options stand.
    pub positions: Positions,
    /// How long they are beside the others.
    pub lengths: Lengths,
    /// What they share with the question.
    pub overlap: Overlap,
    /// Options of one item that hardly differ.
    pub near_equal: Vec<NearEqual>,
    /// Options that occur in several items.
    pub reused: Vec<Reused>,
    /// What a classifier makes of the options alone; none of fewer items than folds.
    pub baseline: Option<Baseline>,
}

/// Measures a set whose items have the same number of options. Options in `apart` (`None of above.`) are no
/// reuse; where one is in the same place of every item it is no place, length or wording to guess from either, and
/// the rules choose among the others. `None` of an empty set or one whose items differ in their number of options.
pub fn measure(items: &[Item<'_>], apart: &[&str], seed: u64) -> Option<Shortcuts> {
    let options = items.first()?.options.len();
    if options < 2 || items.iter().any(|item| item.options.len() != options || item.gold >= options) {
        return None;
    }
    let fixed = fixed(items, options, apart);
    let open: Vec<(Vec<String>, usize)> = items.iter().map(|item| without(item, &fixed)).collect();
    let choosing: Vec<Item<'_>> = items
        .iter()
        .zip(&open)
        // Where the option that stands apart is right, there is nothing else to find.
        .filter(|(item, _)| !fixed.contains(&item.gold))
        .map(|(item, (options, gold))| Item { options, gold: *gold, ..*item })
        .collect();
    Some(Shortcuts {
        items: items.len(),
        options,
        positions: positions(items, &fixed),
        lengths: lengths(&choosing),
        overlap: overlap(&choosing),
        near_equal: near_equal(items),
        reused: reused(items, apart),
        baseline: baseline(&choosing, seed),
    })
}

/// The places where every item has the same option, one that stands apart. Two others are left at least.
fn fixed(items: &[Item<'_>], options: usize, apart: &[&str]) -> Vec<usize> {
    let same = |at: &usize| {
        let first = items[0].options[*at].as_str();
        apart.contains(&first) && items.iter().all(|item| item.options[*at] == first)
    };
    let fixed: Vec<usize> = (0..options).filter(same).collect();
    let all_right = items.iter().all(|item| fixed.contains(&item.gold));
    if options - fixed.len() < 2 || all_right { Vec::new() } else { fixed }
}

/// The options of an item but those at the fixed places, and the place of the right one among them.
fn without(item: &Item<'_>, fixed: &[usize]) -> (Vec<String>, usize) {
    let open = |at: &usize| !fixed.contains(at);
    let options = (0..item.options.len()).filter(open).map(|at| item.options[at].clone()).collect();
    (options, (0..item.gold).filter(open).count())
}

/// The credit of whoever takes the option with the highest score: 1, a part where several tie, or 0.
fn credit(scores: &[f64], gold: usize) -> f64 {
    let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let ties = scores.iter().filter(|score| **score == best).count();
    if scores.get(gold) == Some(&best) { 1.0 / ties as f64 } else { 0.0 }
}

#[cfg(test)]
mod tests;
