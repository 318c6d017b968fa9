//! Chooses wrong options that do not give the right one away, from several candidates, over a whole set.
//!
//! A reader is misled by wrong options that are about the question; a classifier that never reads the
//! question is misled by wrong options written like right ones. Candidates about their question are chosen
//! first, and are replaced only if the classifier would pick out the right option among them: then the
//! candidate that it takes for right, at the least loss for the reader, replaces the one that it trusts
//! least. The classifier is retrained on each choice, until nothing changes that it would not undo.
//!
//! A text is used for one item only. The classifier memorises what occurs in two items, and a text that is
//! right in one item and wrong in another says nothing about how right options are written: it makes the
//! figure look better than the set is.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use super::baseline::{FOLDS, Written, ranked_features, score_option, train_weights, written_form};
use crate::options::DrawStream;
use crate::text::normalise::{Fold, fold};

/// Rounds of training and choosing.
const ROUNDS: usize = 12;
/// Number of classifiers that judge a round, each with its own folds. A single one varies by several percent
/// with its seed, and the minimum of twelve rounds would just be the luckiest one.
const JUDGES: u64 = 3;

/// An item whose wrong options are to be chosen.
#[derive(Clone, Copy, Debug)]
pub struct Open<'a> {
    pub id: &'a str,
    pub question: &'a str,
    /// The right option.
    pub right: &'a str,
    /// Candidates for its wrong options.
    pub candidates: &'a [String],
}

/// The indices of the candidates that are proposed for each item, ascending: `k` of each, or all if there are
/// fewer. Candidates that repeat another one, the right option, or an option of another item are used only if
/// there are no others.
///
/// `above_chance` is how far above chance the classifier may be before options are exchanged.
pub fn propose_options(items: &[Open<'_>], k: usize, above_chance: f64, seed: u64) -> Vec<Vec<usize>> {
    let prepared: Vec<PreparedItem> = items.par_iter().map(|item| prepare_item(item)).collect();
    let mut order: Vec<usize> = (0..items.len()).collect();
    // By id, so that the result does not depend on the order in which items come.
    order.sort_by(|&a, &b| items[a].id.cmp(items[b].id));
    let mut taken = Taken::default();
    prepared.iter().for_each(|item| taken.add(&item.right_key));
    let mut chosen: Vec<Vec<usize>> = vec![Vec::new(); items.len()];
    for &at in &order {
        chosen[at] = first_candidates(&prepared[at], k, &mut taken);
    }
    if items.len() < FOLDS || k == 0 {
        return sort_each(chosen);
    }
    let bar = 1.0 / (k + 1) as f64 + above_chance;
    let mut best: Option<(f64, Vec<Vec<usize>>)> = None;
    for round in 0..ROUNDS {
        let judged = judge_items(items, &prepared, &chosen, &order, |at| {
            DrawStream::new(seed, "proposal round", &format!("{round} {at}")).draw_below(1 << 30) as u64
        });
        let right = judged.iter().map(|item| item.found).sum::<f64>() / items.len() as f64;
        // An exchange can also make the set worse, so the best round is kept and not the last.
        if best.as_ref().is_none_or(|(least, _)| right < *least) {
            best = Some((right, chosen.clone()));
        }
        if right <= bar {
            break;
        }
        // Exchanges only as many items as exceed the limit, the surest first.
        let mut found: Vec<usize> = (0..items.len()).filter(|&at| judged[at].found > 0.5).collect();
        found.sort_by(|&a, &b| {
            judged[b].margin.total_cmp(&judged[a].margin).then(items[a].id.cmp(items[b].id))
        });
        let excess = ((right - bar) * items.len() as f64).ceil() as usize;
        let mut exchanged = 0;
        for at in found {
            if exchanged >= excess {
                break;
            }
            exchanged += usize::from(exchange_worst(&prepared[at], &judged[at], &mut chosen[at], &mut taken));
        }
        if exchanged == 0 {
            break;
        }
    }
    sort_each(best.map_or(chosen, |(_, chosen)| chosen))
}

fn sort_each(mut chosen: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
    chosen.iter_mut().for_each(|places| places.sort_unstable());
    chosen
}

/// An item's initial candidates, those about the question first. Texts that another item has come after those
/// that none has, and repetitions within the item last.
fn first_candidates<'a>(item: &'a PreparedItem, k: usize, taken: &mut Taken<'a>) -> Vec<usize> {
    let (free, of_others): (Vec<usize>, Vec<usize>) =
        item.about.iter().copied().partition(|&place| taken.is_free(&item.keys[place]));
    let chosen: Vec<usize> =
        free.into_iter().chain(of_others).chain(item.again.iter().copied()).take(k).collect();
    chosen.iter().for_each(|&place| taken.add(&item.keys[place]));
    chosen
}

/// How many items have a text among their options.
#[derive(Default)]
struct Taken<'a>(BTreeMap<&'a str, usize>);

impl<'a> Taken<'a> {
    fn is_free(&self, key: &str) -> bool {
        self.0.get(key).is_none_or(|items| *items == 0)
    }

    fn add(&mut self, key: &'a str) {
        *self.0.entry(key).or_default() += 1;
    }

    fn remove(&mut self, key: &str) {
        if let Some(items) = self.0.get_mut(key) {
            *items = items.saturating_sub(1);
        }
    }
}

/// The properties of an item that do not depend on the choice.
struct PreparedItem {
    right: Written,
    /// The folded text of the right option, to which those of the candidates are compared.
    right_key: String,
    keys: Vec<String>,
    candidates: Vec<Written>,
    /// How much each candidate shares with the question and its right option.
    shares: Vec<f64>,
    /// Candidates that repeat nothing, those about the question first.
    about: Vec<usize>,
    /// The others: they repeat the right option or one of `about`.
    again: Vec<usize>,
}

fn prepare_item(item: &Open<'_>) -> PreparedItem {
    let key = |text: &str| fold(text, Fold::KEY);
    let asked: BTreeSet<(char, char)> = char_pairs(&format!("{}\n{}", item.question, item.right));
    let shares: Vec<f64> = item
        .candidates
        .iter()
        .map(|text| {
            let of = char_pairs(text);
            of.intersection(&asked).count() as f64 / of.len().max(1) as f64
        })
        .collect();
    let right_key = key(item.right);
    let keys: Vec<String> = item.candidates.iter().map(|text| key(text)).collect();
    let mut seen = BTreeSet::from([&right_key]);
    let (mut about, mut again) = (Vec::new(), Vec::new());
    for (at, key) in keys.iter().enumerate() {
        if seen.insert(key) { about.push(at) } else { again.push(at) }
    }
    about.sort_by(|&a, &b| shares[b].total_cmp(&shares[a]).then(a.cmp(&b)));
    PreparedItem {
        right: written_form(item.right),
        right_key,
        keys,
        candidates: item.candidates.iter().map(|text| written_form(text)).collect(),
        shares,
        about,
        again,
    }
}

fn char_pairs(text: &str) -> BTreeSet<(char, char)> {
    let folded: Vec<char> = fold(text, Fold::KEY).chars().collect();
    folded.windows(2).map(|pair| (pair[0], pair[1])).collect()
}

/// The judgement of an item by classifiers that were trained on other items: means over them.
#[derive(Clone, Default)]
struct Judged {
    /// The share of them that take the right option, 0 to 1.
    found: f64,
    /// How far the right option scores above the best of the chosen ones.
    margin: f32,
    right: f32,
    candidates: Vec<f32>,
}

/// Judges each item by [`JUDGES`] classifiers; `seed_of` gives the seed of each.
fn judge_items(
    items: &[Open<'_>],
    prepared: &[PreparedItem],
    chosen: &[Vec<usize>],
    order: &[usize],
    seed_of: impl Fn(u64) -> u64,
) -> Vec<Judged> {
    let sets: Vec<Vec<&Written>> = prepared
        .iter()
        .zip(chosen)
        .map(|(item, places)| {
            let wrong = places.iter().map(|&place| &item.candidates[place]);
            std::iter::once(&item.right).chain(wrong).collect()
        })
        .collect();
    let features: Vec<Vec<Vec<u32>>> = sets.par_iter().map(|set| ranked_features(set)).collect();
    // A candidate is scored as if it replaced the last chosen one.
    let other_sets: Vec<Vec<Vec<u32>>> = prepared
        .par_iter()
        .zip(&sets)
        .map(|(item, set)| {
            let others = &set[..set.len().saturating_sub(1)];
            let with =
                |candidate| ranked_features(&[others, &[candidate]].concat()).pop().unwrap_or_default();
            item.candidates.iter().map(with).collect()
        })
        .collect();
    let mut means: Vec<Judged> = prepared
        .iter()
        .map(|item| Judged { candidates: vec![0.0; item.candidates.len()], ..Judged::default() })
        .collect();
    for seed in (0..JUDGES).map(seed_of) {
        let fold_of: Vec<usize> = items
            .iter()
            .map(|item| DrawStream::new(seed, "proposal fold", item.id).draw_below(FOLDS))
            .collect();
        let scored: Vec<(usize, Vec<f32>, Vec<f32>)> = (0..FOLDS)
            .into_par_iter()
            .flat_map_iter(|fold| {
                let (own, others): (Vec<usize>, Vec<usize>) =
                    order.iter().partition(|&&at| fold_of[at] == fold);
                let weights = train_weights(&features, |_| 0, &others, seed);
                let of = |options: &[Vec<u32>]| {
                    options.iter().map(|grams| score_option(&weights, grams)).collect()
                };
                own.into_iter().map(|at| (at, of(&features[at]), of(&other_sets[at]))).collect::<Vec<_>>()
            })
            .collect();
        for (at, options, candidates) in scored {
            let best = options[1..].iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let mean = &mut means[at];
            mean.found += f64::from(u8::from(options[0] > best)) / JUDGES as f64;
            mean.margin += (options[0] - best) / JUDGES as f32;
            mean.right += options[0] / JUDGES as f32;
            mean.candidates.iter_mut().zip(candidates).for_each(|(sum, one)| *sum += one / JUDGES as f32);
        }
    }
    means
}

/// Replaces the chosen candidate that the classifier trusts least by one that it takes for right, of several
/// the one that shares most with the question. Returns whether there was one whose text no item has.
fn exchange_worst<'a>(
    item: &'a PreparedItem,
    judged: &Judged,
    chosen: &mut [usize],
    taken: &mut Taken<'a>,
) -> bool {
    let free = item.about.iter().copied().filter(|&place| taken.is_free(&item.keys[place]));
    let over = free.filter(|&place| judged.candidates[place] > judged.right);
    let Some(new) = over.max_by(|&a, &b| item.shares[a].total_cmp(&item.shares[b]).then(b.cmp(&a))) else {
        return false;
    };
    let least = chosen.iter_mut().min_by(|a, b| judged.candidates[**a].total_cmp(&judged.candidates[**b]));
    match least {
        Some(place) => {
            taken.remove(&item.keys[*place]);
            taken.add(&item.keys[new]);
            *place = new;
            true
        }
        None => false,
    }
}
