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
use super::signature::Signature;
use super::stats::Order;
use super::verify::Pattern;

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
    range: Range<u32>,
    /// Sizes of its first and last record.
    sizes: (u32, u32),
    index: Index,
}

struct Scratch<'a> {
    tokens: Vec<Placed>,
    keys: Vec<Key>,
    buckets: Vec<(u32, Range<u32>)>,
    candidates: Vec<u32>,
    pattern: Pattern<'a>,
    effort: Effort,
}

/// Which partners a key with a given skip can lead to, for probes of one size.
struct Reach {
    size: u32,
    /// By the partner's skip: its least record number.
    first: Vec<u32>,
    /// By the probe's skip: one past its greatest record number.
    end: Vec<u32>,
}

impl<'a> Block<'a> {
    /// Indexes records of this range, which must not be empty.
    pub fn new(records: &'a Records, range: Range<u32>, order: &'a Order) -> Self {
        let sizes = (records.size(range.start), records.size(range.end - 1));
        let index = Index::new(records, range.clone(), order);
        Self { order, records, range, sizes, index }
    }

    /// Whether records of this size can have a partner here.
    pub fn concerns(&self, size: u32) -> bool {
        self.order.query.metric.least_partner(self.order.query.threshold, size) <= self.sizes.1
    }

    /// Keys of the index.
    pub fn keys(&self) -> u64 {
        self.index.len()
    }

    /// Every pair of one of these records with an earlier one of the block, in order.
    pub fn matches(&self, probes: &Records, range: Range<u32>) -> (Vec<Match>, Effort) {
        let all: Vec<u32> = range.collect();
        let found: Vec<(Vec<Match>, Effort)> = all
            .par_chunks(TASK)
            .map_init(|| self.scratch(), |scratch, task| self.probe(probes, task, scratch))
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
        let Order { query, weights, .. } = self.order;
        Scratch {
            tokens: Vec::new(),
            keys: Vec::new(),
            buckets: Vec::new(),
            candidates: Vec::new(),
            pattern: Pattern::new(*query, self.order.alphabet(), weights),
            effort: Effort::default(),
        }
    }

    fn probe(&self, probes: &Records, task: &[u32], scratch: &mut Scratch) -> (Vec<Match>, Effort) {
        scratch.effort = Effort::default();
        let mut found = Vec::new();
        let mut reach = None;
        for &a in task {
            self.candidates(probes, a, &mut reach, scratch);
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

    fn candidates(&self, probes: &Records, a: u32, reach: &mut Option<Reach>, scratch: &mut Scratch) {
        let Scratch { tokens, keys, buckets, candidates, effort, .. } = scratch;
        keys.clear();
        candidates.clear();
        let size = probes.size(a);
        let Some(budget) = self.order.plan.downward(size, self.sizes) else { return };
        placed(probes.symbols(a), self.order, tokens);
        cut(tokens, budget, self.order, keys);
        effort.probes += keys.len() as u64;
        // All lookups first: none waits for another's memory.
        buckets.clear();
        buckets.extend(keys.iter().zip(0..).map(|(key, i)| (i, self.index.bucket(key.hash))));
        buckets.retain(|(_, bucket)| !bucket.is_empty());
        if self.order.weights.is_empty() {
            if reach.as_ref().is_none_or(|reach| reach.size != size) {
                *reach = Some(self.reach(size));
            }
            let Some(Reach { first, end, .. }) = reach else { return };
            for (key, bucket) in buckets.drain(..) {
                let Key { hash, skip } = keys[key as usize];
                let end = a.min(end.get(skip as usize).copied().unwrap_or(0));
                let reached = self.index.holders(hash, bucket).filter(|posting| {
                    posting.record < end
                        && posting.record >= first.get(usize::from(posting.skip)).copied().unwrap_or(u32::MAX)
                });
                candidates.extend(reached.map(|posting| posting.record));
            }
        } else {
            // What both may pass over, solved for the partner's size; no division in the inner loop.
            let Linear { small, large, of } = self.order.query.metric.linear(self.order.query.threshold);
            for (key, bucket) in buckets.drain(..) {
                let Key { hash, skip } = keys[key as usize];
                let room = of * u64::from(size.saturating_sub(skip));
                let reached = self.index.holders(hash, bucket).filter(|posting| {
                    let partner = u64::from(self.records.size(posting.record));
                    posting.record < a
                        && small * partner + large * u64::from(size) <= room
                        && (of - small) * partner >= large * u64::from(size) + of * u64::from(posting.skip)
                });
                candidates.extend(reached.map(|posting| posting.record));
            }
        }
        effort.met += candidates.len() as u64;
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
            Metric::Overlap => {
                let held = |symbols: &[u32], other: Signature| -> u32 {
                    symbols.iter().filter(|&&s| other.holds(s)).map(|&s| self.order.weight(s)).sum()
                };
                held(probes.symbols(a), sig_b) >= need && held(self.records.symbols(b), sig_a) >= need
            }
            _ => sig_a.missing_from(sig_b) <= size_a - need && sig_b.missing_from(sig_a) <= size_b - need,
        }
    }

    fn reach(&self, size: u32) -> Reach {
        let need = |partner| self.need(size, partner);
        let (from, to) = (self.range.start, self.range.end);
        let least = self.order.query.metric.least_partner(self.order.query.threshold, size).max(self.sizes.0);
        let most = size.min(self.sizes.1);
        let place = |partner: u32| self.records.at_size(partner).clamp(from, to);
        let mut first = Vec::new();
        let mut partner = least;
        while partner <= most {
            // Partners from here on may leave this many unshared.
            while partner <= most && partner - need(partner) < first.len() as u32 {
                partner += 1;
            }
            if partner <= most {
                first.push(place(partner));
            }
        }
        let mut end = Vec::new();
        let mut partner = most;
        for skip in 0..=size - need(least) {
            while need(partner) > size - skip {
                partner -= 1;
            }
            end.push(place(partner + 1));
        }
        Reach { size, first, end }
    }
}
