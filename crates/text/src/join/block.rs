//! One block of the join: records that are indexed, and larger ones that look for partners among them.
//!
//! Records are in the order of their sizes, so that a block is a range of sizes. A record looks for
//! partners of its size or less. In one block it needs only the keys that partners of the block's sizes
//! call for, and most records need none.

use std::ops::Range;

use rayon::prelude::*;

use super::Score;
use super::index::Index;
use super::keys::{Key, Placed, cut, placed};
use super::metric::{Linear, Metric};
use super::records::Records;
use super::signature::{Signature, Worth};
use super::stats::Order;
use super::tokens::parted;
use super::verify::Pattern;
use super::watch::Items;

/// Records that one task probes.
const TASK: usize = 256;

/// Two records at or over the threshold, by record number, `b < a`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Match {
    pub a: u32,
    pub b: u32,
    pub score: Score,
}

/// What a join did, for measures that do not depend on the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// Keys put in an index.
    pub keys: u64,
    /// Keys looked up.
    pub probes: u64,
    /// Pairs that share a key and may be of the sizes of a pair, each as often as it was met.
    pub met: u64,
    /// Pairs compared in full.
    pub compared: u64,
}

impl std::ops::AddAssign for Effort {
    fn add_assign(&mut self, other: Self) {
        self.keys += other.keys;
        self.probes += other.probes;
        self.met += other.met;
        self.compared += other.compared;
    }
}

/// An indexed block of records.
pub(super) struct Block<'a> {
    order: &'a Order,
    records: &'a Records,
    /// Sizes of its first and last record.
    sizes: (u32, u32),
    index: Index,
}

struct Scratch<'a> {
    tokens: Vec<Placed>,
    keys: Vec<Key>,
    buckets: Vec<(u32, Range<u32>)>,
    candidates: Vec<u32>,
    worth: Worth,
    pattern: Pattern<'a>,
    effort: Effort,
}

/// Whether records of a size can have a partner in a block whose largest is of that one.
pub(super) fn can_concern(order: &Order, largest: u32, size: u32) -> bool {
    order.query.metric.least_partner(order.query.threshold, size) <= largest
}

impl<'a> Block<'a> {
    /// Indexes records of this range, which must not be empty.
    pub fn new(records: &'a Records, range: Range<u32>, order: &'a Order, items: Items<'_>) -> Self {
        let sizes = (records.size(range.start), records.size(range.end - 1));
        Self { order, records, sizes, index: Index::new(records, range, order, items) }
    }

    /// Whether records of this size can have a partner here.
    pub fn concerns(&self, size: u32) -> bool {
        can_concern(self.order, self.sizes.1, size)
    }

    /// Keys of the index.
    pub fn keys(&self) -> u64 {
        self.index.len()
    }

    /// Every pair of one of these records with an earlier one of the block, in order.
    pub fn matches(&self, probes: &Records, range: Range<u32>, items: Items<'_>) -> (Vec<Match>, Effort) {
        let all: Vec<u32> = range.collect();
        let found: Vec<(Vec<Match>, Effort)> = all
            .par_chunks(TASK)
            .map_init(
                || self.scratch(),
                |scratch, task| {
                    let task = if items.go(task.len()) { task } else { &[] };
                    self.probe(probes, task, scratch)
                },
            )
            .collect();
        let mut matches = Vec::with_capacity(found.iter().map(|(found, _)| found.len()).sum());
        let mut effort = Effort::default();
        for (found, spent) in found {
            matches.extend(found);
            effort += spent;
        }
        (matches, effort)
    }

    fn scratch(&self) -> Scratch<'a> {
        let Order { query, weights, weights_of_pairs, .. } = self.order;
        Scratch {
            tokens: Vec::new(),
            keys: Vec::new(),
            buckets: Vec::new(),
            candidates: Vec::new(),
            worth: Worth::NOTHING,
            pattern: Pattern::new(*query, self.order.alphabet(), weights, weights_of_pairs),
            effort: Effort::default(),
        }
    }

    fn probe(&self, probes: &Records, task: &[u32], scratch: &mut Scratch) -> (Vec<Match>, Effort) {
        scratch.effort = Effort::default();
        let mut found = Vec::new();
        for &a in task {
            self.candidates(probes, a, scratch);
            if scratch.candidates.is_empty() {
                continue;
            }
            scratch.candidates.sort_unstable();
            scratch.candidates.dedup();
            let mut set = false;
            let Scratch { candidates, pattern, effort, .. } = scratch;
            for &b in candidates.iter() {
                if !self.plausible(probes, a, b) {
                    continue;
                }
                if !set {
                    pattern.set(probes.symbols(a), probes.size(a));
                    set = true;
                }
                effort.compared += 1;
                if let Some(score) = pattern.score(self.records.symbols(b), self.records.size(b)) {
                    found.push(Match { a, b, score });
                }
            }
        }
        (found, scratch.effort)
    }

    fn candidates(&self, probes: &Records, a: u32, scratch: &mut Scratch) {
        let Scratch { tokens, keys, buckets, candidates, worth, effort, .. } = scratch;
        keys.clear();
        candidates.clear();
        let (size, classes) = (probes.size(a), probes.signature(a).classes());
        let Some(budget) = self.order.plan.downward(size, self.sizes) else { return };
        placed(probes.symbols(a), self.order, tokens);
        cut(tokens, parted(probes.symbols(a)).1, budget, self.order, keys);
        effort.probes += keys.len() as u64;
        // All lookups first, and then a first look at all lists: none waits for another's memory.
        buckets.clear();
        buckets.extend(keys.iter().zip(0..).map(|(key, i)| (i, self.index.bucket(key.hash))));
        buckets.retain(|(_, bucket)| !bucket.is_empty());
        buckets.retain(|(key, bucket)| self.index.may_have(keys[*key as usize].hash, bucket, a));
        let weighted = !self.order.weights.is_empty();
        if weighted && !buckets.is_empty() {
            worth.set(probes.symbols(a), self.order);
        }
        // What both may leave unshared, solved for the partner's size: no division in the inner loop.
        let Linear { small, large, of } = self.order.query.metric.linear(self.order.query.threshold);
        let (large, own) = (large * u64::from(size), of * u64::from(size));
        for (key, bucket) in buckets.drain(..) {
            let Key { hash, skip } = keys[key as usize];
            for posting in self.index.holders(hash, bucket) {
                if posting.record >= a {
                    break;
                }
                let partner = u64::from(posting.size().unwrap_or_else(|| self.records.size(posting.record)));
                // How far each is over its need, in parts of a unit of size.
                let need = small * partner + large;
                let (Some(over), Some(partners_over)) =
                    (own.checked_sub(need), (of * partner).checked_sub(need))
                else {
                    continue;
                };
                if of * u64::from(skip) > over || of * u64::from(posting.skip) > partners_over {
                    continue;
                }
                effort.met += 1;
                let theirs = posting.classes();
                let may_be = if weighted {
                    of * u64::from(theirs.weight_missing_from(classes)) <= partners_over
                        && of * u64::from(classes.weight_missing_from(theirs)) <= over
                        && !worth.is_over(over / of, classes, theirs)
                } else {
                    of * u64::from(theirs.missing_from(classes)) <= partners_over
                        && of * u64::from(classes.missing_from(theirs)) <= over
                };
                if may_be {
                    candidates.push(posting.record);
                }
            }
        }
    }

    fn need(&self, a: u32, b: u32) -> u32 {
        self.order.query.metric.need(self.order.query.threshold, a, b)
    }

    fn plausible(&self, probes: &Records, a: u32, b: u32) -> bool {
        let (size_a, size_b) = (probes.size(a), self.records.size(b));
        let need = self.need(size_a, size_b);
        if need > size_b {
            return false;
        }
        let (sig_a, sig_b) = (probes.signature(a), self.records.signature(b));
        match self.order.query.metric {
            Metric::Reworded => {
                let held = |symbols: &[u32], other: Signature| -> u32 {
                    let held = parted(symbols).0.iter().filter(|&&symbol| other.holds(symbol, self.order));
                    held.map(|&symbol| self.order.weight(symbol)).sum()
                };
                held(probes.symbols(a), sig_b) >= need && held(self.records.symbols(b), sig_a) >= need
            }
            _ => sig_a.missing_from(sig_b) <= size_a - need && sig_b.missing_from(sig_a) <= size_b - need,
        }
    }
}
