//! Wrong options that do not give the right one away: which of several candidates to take, over a whole set.
//!
//! A reader is misled by wrong options that are about the question; a classifier that never reads the question is misled by
//! wrong options that are written as right ones are. The candidates that are about their question come first, and are
//! given up only where the classifier would pick out the right option among them: then the candidate that it takes for
//! right with the least loss for the reader is in place of the one that it trusts least. The classifier is trained
//! anew on what was chosen, until nothing changes that it would not undo.

use std::collections::BTreeSet;

use rayon::prelude::*;

use super::baseline::{FOLDS, Written, ranked, score, train, written};
use crate::options::Draw;
use crate::text::normalise::{Fold, fold};

/// Rounds of training and choosing.
const ROUNDS: usize = 12;

/// An item whose wrong options are to be chosen.
#[derive(Clone, Copy, Debug)]
pub struct Open<'a> {
    /// Its id.
    pub id: &'a str,
    /// What is asked.
    pub question: &'a str,
    /// The right option.
    pub right: &'a str,
    /// What may be beside it.
    pub candidates: &'a [String],
}

/// The places of the candidates that are proposed for each item, ascending: `k` of each, or all where there are fewer.
/// Candidates that say what another one or the right option says are left out while there are others.
///
/// `above_chance` is how far the classifier may be right beyond chance before options are exchanged.
pub fn propose(items: &[Open<'_>], k: usize, above_chance: f64, seed: u64) -> Vec<Vec<usize>> {
    let prepared: Vec<Prepared> = items.par_iter().map(|item| prepare(item)).collect();
    let mut chosen: Vec<Vec<usize>> =
        prepared.iter().map(|item| item.about.iter().copied().take(k).collect()).collect();
    let fold_of: Vec<usize> =
        items.iter().map(|item| Draw::new(seed, "proposal fold", item.id).below(FOLDS)).collect();
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by(|&a, &b| items[a].id.cmp(items[b].id));
    if items.len() < FOLDS || k == 0 {
        return sorted(chosen);
    }
    let bar = 1.0 / (k + 1) as f64 + above_chance;
    let mut best: Option<(f64, Vec<Vec<usize>>)> = None;
    for round in 0..ROUNDS {
        let judged = judge(items, &prepared, &chosen, &fold_of, &order, seed ^ round as u64);
        let right = judged.iter().filter(|scores| scores.found).count() as f64 / items.len() as f64;
        if best.as_ref().is_none_or(|(least, _)| right < *least) {
            best = Some((right, chosen.clone()));
        }
        if right <= bar {
            break;
        }
        // As many as are found too often, the surest first.
        let mut found: Vec<usize> = (0..items.len()).filter(|&at| judged[at].found).collect();
        found.sort_by(|&a, &b| {
            judged[b].margin.total_cmp(&judged[a].margin).then(items[a].id.cmp(items[b].id))
        });
        let excess = ((right - bar) * items.len() as f64).ceil() as usize;
        let mut exchanged = 0;
        for at in found {
            if exchanged >= excess {
                break;
            }
            exchanged += usize::from(exchange(&prepared[at], &judged[at], &mut chosen[at]));
        }
        if exchanged == 0 {
            break;
        }
    }
    sorted(best.map_or(chosen, |(_, chosen)| chosen))
}

fn sorted(mut chosen: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
    chosen.iter_mut().for_each(|places| places.sort_unstable());
    chosen
}

/// What is known of an item before anything is chosen.
struct Prepared {
    right: Written,
    candidates: Vec<Written>,
    /// How much each candidate shares with the question and its right option.
    shares: Vec<f64>,
    /// The candidates that may be taken, those that are about the question first.
    about: Vec<usize>,
}

fn prepare(item: &Open<'_>) -> Prepared {
    let key = |text: &str| fold(text, Fold::KEY);
    let asked: BTreeSet<(char, char)> = pairs(&format!("{}\n{}", item.question, item.right));
    let shares: Vec<f64> = item
        .candidates
        .iter()
        .map(|text| {
            let of = pairs(text);
            of.intersection(&asked).count() as f64 / of.len().max(1) as f64
        })
        .collect();
    let mut seen = BTreeSet::from([key(item.right)]);
    let (mut about, mut again) = (Vec::new(), Vec::new());
    for (at, text) in item.candidates.iter().enumerate() {
        if seen.insert(key(text)) { about.push(at) } else { again.push(at) }
    }
    about.sort_by(|&a, &b| shares[b].total_cmp(&shares[a]).then(a.cmp(&b)));
    about.extend(again);
    Prepared {
        right: written(item.right),
        candidates: item.candidates.iter().map(|text| written(text)).collect(),
        shares,
        about,
    }
}

fn pairs(text: &str) -> BTreeSet<(char, char)> {
    let folded: Vec<char> = fold(text, Fold::KEY).chars().collect();
    folded.windows(2).map(|pair| (pair[0], pair[1])).collect()
}

/// What a classifier that was trained on other items makes of one.
struct Judged {
    /// Whether it takes the right option.
    found: bool,
    /// How far the right option lies above the best of the chosen ones.
    margin: f32,
    right: f32,
    candidates: Vec<f32>,
}

fn judge(
    items: &[Open<'_>],
    prepared: &[Prepared],
    chosen: &[Vec<usize>],
    fold_of: &[usize],
    order: &[usize],
    seed: u64,
) -> Vec<Judged> {
    let sets: Vec<Vec<&Written>> = prepared
        .iter()
        .zip(chosen)
        .map(|(item, places)| {
            let wrong = places.iter().map(|&place| &item.candidates[place]);
            std::iter::once(&item.right).chain(wrong).collect()
        })
        .collect();
    let features: Vec<Vec<Vec<u32>>> = sets.par_iter().map(|set| ranked(set)).collect();
    let judged: Vec<(usize, Judged)> = (0..FOLDS)
        .into_par_iter()
        .flat_map_iter(|fold| {
            let others: Vec<usize> = order.iter().copied().filter(|&at| fold_of[at] != fold).collect();
            let weights = train(&features, |_| 0, &others, seed);
            let own: Vec<usize> = order.iter().copied().filter(|&at| fold_of[at] == fold).collect();
            own.into_iter()
                .map(|at| {
                    let scores: Vec<f32> = features[at].iter().map(|grams| score(&weights, grams)).collect();
                    let best = scores[1..].iter().copied().fold(f32::NEG_INFINITY, f32::max);
                    // A candidate is scored as it would be in place of the one that is trusted least.
                    let candidates = prepared[at]
                        .candidates
                        .iter()
                        .map(|candidate| {
                            let mut set = sets[at].clone();
                            if let Some(last) = set.last_mut() {
                                *last = candidate;
                            }
                            ranked(&set).last().map_or(0.0, |grams| score(&weights, grams))
                        })
                        .collect();
                    (
                        at,
                        Judged {
                            found: scores[0] > best,
                            margin: scores[0] - best,
                            right: scores[0],
                            candidates,
                        },
                    )
                })
                .collect::<Vec<_>>()
        })
        .collect();
    let mut in_order: Vec<Option<Judged>> = items.iter().map(|_| None).collect();
    for (at, one) in judged {
        in_order[at] = Some(one);
    }
    in_order.into_iter().flatten().collect()
}

/// Puts a candidate that the classifier takes for right in place of the chosen one that it trusts least; whether there
/// is one. Of several the one that shares most with the question.
fn exchange(item: &Prepared, judged: &Judged, chosen: &mut [usize]) -> bool {
    let free = item.about.iter().copied().filter(|place| !chosen.contains(place));
    let over = free.filter(|&place| judged.candidates[place] > judged.right);
    let Some(new) = over.max_by(|&a, &b| item.shares[a].total_cmp(&item.shares[b]).then(b.cmp(&a))) else {
        return false;
    };
    let least = chosen.iter_mut().min_by(|a, b| judged.candidates[**a].total_cmp(&judged.candidates[**b]));
    match least {
        Some(place) => {
            *place = new;
            true
        }
        None => false,
    }
}
