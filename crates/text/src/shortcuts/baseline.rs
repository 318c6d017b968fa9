//! A classifier that never sees the question.
//!
//! Linear, over hashed n-grams of one to three characters of an option and its rank by length among its
//! item's options, trained so that the softmax over an item's options prefers the right one. Every item is
//! judged by a classifier that was trained without the item and its group.

use rayon::prelude::*;
use serde::Serialize;

use super::{Item, RuleShare, guess_credit};
use crate::options::DrawStream;
use crate::text::normalise::{Fold, fold};

/// Number of cross-validation folds.
pub(super) const FOLDS: usize = 10;
/// Passes over the training items.
const EPOCHS: usize = 4;
/// Number of weights; n-grams with the same hash disturb each other a little.
const WEIGHTS: usize = 1 << 18;
const LONGEST_GRAM: usize = 3;
const RATE: f32 = 0.5;

/// The classifier's results.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Baseline {
    pub accuracy: RuleShare,
    /// The items that it got right, in order.
    pub guessed: Vec<String>,
    /// Number of folds.
    pub folds: usize,
}

/// Trains and judges. `None` for fewer items than folds.
pub fn train_baseline(items: &[Item<'_>], seed: u64) -> Option<Baseline> {
    if items.len() < FOLDS {
        return None;
    }
    let features: Vec<Vec<Vec<u32>>> = items.par_iter().map(option_features).collect();
    // By id and not by index: an item keeps its fold when others are added or removed. By group: a puzzle and
    // its semantic reconstruction share their options, and one would give the other away.
    let fold_of: Vec<usize> = items
        .iter()
        .map(|item| DrawStream::new(seed, "shortcut fold", item.group).draw_below(FOLDS))
        .collect();
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by(|&a, &b| items[a].id.cmp(items[b].id));
    let judged: Vec<(usize, f64)> = (0..FOLDS)
        .into_par_iter()
        .flat_map_iter(|fold| {
            let others: Vec<usize> = order.iter().copied().filter(|&at| fold_of[at] != fold).collect();
            let weights = train_weights(&features, |at| items[at].gold, &others, seed);
            let judge = |at: usize| {
                let scores: Vec<f64> =
                    features[at].iter().map(|grams| f64::from(score_option(&weights, grams))).collect();
                (at, guess_credit(&scores, items[at].gold))
            };
            order.iter().copied().filter(|&at| fold_of[at] == fold).map(judge).collect::<Vec<_>>()
        })
        .collect();
    let mut credits = vec![0.0; items.len()];
    for (at, credit) in judged {
        credits[at] = credit;
    }
    let guessed = items.iter().zip(&credits).filter(|(_, credit)| **credit == 1.0);
    Some(Baseline {
        accuracy: RuleShare::new(credits.iter().sum(), items.len(), items[0].options.len()),
        guessed: guessed.map(|(item, _)| item.id.to_owned()).collect(),
        folds: FOLDS,
    })
}

/// Weights learned from the items in `others`: `features` are those of their options, `gold` is the index of
/// the right one.
pub(super) fn train_weights(
    features: &[Vec<Vec<u32>>],
    gold: impl Fn(usize) -> usize,
    others: &[usize],
    seed: u64,
) -> Vec<f32> {
    let mut weights = vec![0.0_f32; WEIGHTS];
    // Not 0, because a gradient of 0 would divide 0 by 0.
    let mut squares = vec![1e-6_f32; WEIGHTS];
    let mut order = others.to_vec();
    for epoch in 0..EPOCHS {
        let mut draw = DrawStream::new(seed, "shortcut epoch", &epoch.to_string());
        for last in (1..order.len()).rev() {
            order.swap(last, draw.draw_below(last + 1));
        }
        for &at in &order {
            let scores: Vec<f32> = features[at].iter().map(|grams| score_option(&weights, grams)).collect();
            let best = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            // Without the subtraction, the exponential of a high score overflows.
            let odds: Vec<f32> = scores.iter().map(|score| (score - best).exp()).collect();
            let sum: f32 = odds.iter().sum();
            for (option, grams) in features[at].iter().enumerate() {
                let wanted = if option == gold(at) { 1.0 } else { 0.0 };
                let gradient = (odds[option] / sum - wanted) * length_scale(grams);
                for &gram in grams {
                    let gram = gram as usize;
                    squares[gram] += gradient * gradient;
                    weights[gram] -= RATE * gradient / squares[gram].sqrt();
                }
            }
        }
    }
    weights
}

pub(super) fn score_option(weights: &[f32], grams: &[u32]) -> f32 {
    grams.iter().map(|&gram| weights[gram as usize]).sum::<f32>() * length_scale(grams)
}

/// Normalises by length: long options must not weigh more for their length alone, whose rank is a feature of
/// its own.
fn length_scale(grams: &[u32]) -> f32 {
    1.0 / (grams.len().max(1) as f32).sqrt()
}

/// The features of one option that do not depend on the other options.
#[derive(Clone, Debug)]
pub(super) struct Written {
    grams: Vec<u32>,
    chars: usize,
}

pub(super) fn written_form(text: &str) -> Written {
    let folded = fold(text, Fold::KEY);
    let chars: Vec<char> = std::iter::once('\u{2}').chain(folded.chars()).chain(['\u{3}']).collect();
    let grams = (1..=LONGEST_GRAM).flat_map(|length| chars.windows(length).map(hash_gram)).collect();
    Written { grams, chars: text.chars().count() }
}

/// The hashed features of the options of one item, each once: each option's own, and its rank by length.
pub(super) fn ranked_features(options: &[&Written]) -> Vec<Vec<u32>> {
    let of = |option: &&Written| {
        let rank = options.iter().filter(|other| other.chars > option.chars).count();
        let mut grams = vec![hash_gram(&['\u{1}', char::from_digit(rank as u32 % 36, 36).unwrap_or('z')])];
        grams.extend(&option.grams);
        grams.sort_unstable();
        grams.dedup();
        grams
    };
    options.iter().map(of).collect()
}

fn option_features(item: &Item<'_>) -> Vec<Vec<u32>> {
    let written: Vec<Written> = item.options.iter().map(|text| written_form(text)).collect();
    ranked_features(&written.iter().collect::<Vec<_>>())
}

/// FNV-1a over the characters: the same on every machine.
fn hash_gram(gram: &[char]) -> u32 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in gram.iter().flat_map(|&c| (c as u32).to_le_bytes()) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    (hash ^ (hash >> 32)) as u32 % WEIGHTS as u32
}
