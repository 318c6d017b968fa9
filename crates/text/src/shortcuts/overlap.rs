//! What options share with their question.

use std::collections::BTreeSet;

use serde::Serialize;

use super::{Item, Share, credit};
use crate::text::normalise::{Fold, fold};

/// Character pairs of the options that are in the question too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Overlap {
    /// The mean share of a right option's pairs.
    pub right: f64,
    /// The mean share of a wrong option's pairs.
    pub wrong: f64,
    /// The rule of taking the option that shares most.
    pub most: Share,
    /// The rule of taking the option that shares least.
    pub least: Share,
}

/// Compares options with their questions, ignoring width, case and punctuation.
pub fn overlap(items: &[Item<'_>]) -> Overlap {
    let options = items.first().map_or(0, |item| item.options.len());
    let (mut right, mut wrong) = (Vec::new(), Vec::new());
    let (mut most, mut least) = (0.0, 0.0);
    for item in items {
        let asked = pairs(item.question);
        let shares: Vec<f64> = item.options.iter().map(|option| shared(&pairs(option), &asked)).collect();
        for (at, share) in shares.iter().enumerate() {
            if at == item.gold { right.push(*share) } else { wrong.push(*share) }
        }
        most += credit(&shares, item.gold);
        least += credit(&shares.iter().map(|share| -share).collect::<Vec<_>>(), item.gold);
    }
    let mean = |shares: &[f64]| shares.iter().sum::<f64>() / shares.len().max(1) as f64;
    let share = |credits| Share::new(credits, items.len(), options);
    Overlap { right: mean(&right), wrong: mean(&wrong), most: share(most), least: share(least) }
}

fn pairs(text: &str) -> BTreeSet<(char, char)> {
    let folded = fold(text, Fold::KEY);
    folded.chars().zip(folded.chars().skip(1)).collect()
}

fn shared(of: &BTreeSet<(char, char)>, with: &BTreeSet<(char, char)>) -> f64 {
    of.intersection(with).count() as f64 / of.len().max(1) as f64
}
