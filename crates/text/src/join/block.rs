//! One block of the join: records that are indexed, and larger ones that look for partners among them.
//!
//! Records are in the order of their sizes, so that a block is a range of sizes. A record looks for
//! partners of its size or less. In one block it needs only the keys for partners of the block's
//! sizes, and most records need none.

use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::index::{FETCHED, Index};
use super::keys::{Cutter, Key};
use super::metric::Linear;
use super::records::Records;
use super::signature::Classes;
use super::stats::Order;
use super::verify::Pattern;
use super::watch::Items;
use super::{Effort, Match};

/// Records that one task probes.
const TASK: usize = 256;

/// Records of a task by which its work is judged.
const SAMPLED: usize = 8;

/// An indexed block of records.
pub(super) struct Block<'a> {
    pub(super) order: &'a Order,
    pub(super) records: &'a Records,
    /// Sizes of its first and last record.
    pub(super) sizes: (u32, u32),
    pub(super) index: Index,
    pub(super) arch: Arch,
}

/// One record against the lists of its keys.
struct Scan<'s, 'a> {
    block: &'s Block<'a>,
    a: u32,
    size: u32,
    classes: Classes,
    keys: &'s [Key],
    buckets: &'s [(u32, Range<u32>)],
    candidates: &'s mut Vec<u32>,
}

impl WithSimd for Scan<'_, '_> {
    type Output = u64;

    /// Nothing here is written in vectors: it is compiled once more for processors that count bits in one step.
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> u64 {
        let Scan { block, a, size, classes, keys, buckets, candidates } = self;
        let mut met = 0;
        // What the two share at least is `small` for each unit of the partner's size, and `large`; all in parts of a unit.
        let query = block.order.query;
        let Linear { small, large, of } = query.metric.linear_bound(query.threshold);
        let (large, own) = (large * u64::from(size), of * u64::from(size));
        for (key, bucket) in buckets {
            let Key { hash, skip, .. } = keys[*key as usize];
            // The largest partner for which this record has enough left. With it two comparisons reject most postings that
            // are read: the partner is too large, or too small for what it passes over.
            let Some(left) = own.checked_sub(large + of * u64::from(skip)) else { continue };
            let most = left.checked_div(small).unwrap_or(u64::MAX);
            for posting in block.index.find_holders(hash, bucket.clone()) {
                // A list ascends by record, and only earlier records are partners.
                if posting.record >= a {
                    break;
                }
                let partner =
                    u64::from(posting.known_size().unwrap_or_else(|| block.records.size(posting.record)));
                let partners_own = (of - small) * partner;
                if (partner > most) | (partners_own < large + of * u64::from(posting.skip)) {
                    continue;
                }
                met += 1;
                let (over, partners_over) = (own - large - small * partner, partners_own - large);
                let theirs = posting.classes();
                if of * u64::from(theirs.missing_from(classes)) <= partners_over
                    && of * u64::from(classes.missing_from(theirs)) <= over
                {
                    candidates.push(posting.record);
                }
            }
        }
        met
    }
}

struct BlockScratch<'a> {
    cutter: Cutter,
    keys: Vec<Key>,
    buckets: Vec<(u32, Range<u32>)>,
    candidates: Vec<u32>,
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
        Self { order, records, sizes, index: Index::new(records, range, order, items), arch: Arch::new() }
    }

    /// Whether records of this size can have a partner here.
    pub fn may_concern(&self, size: u32) -> bool {
        can_concern(self.order, self.sizes.1, size)
    }

    /// Keys of the index.
    pub fn count_keys(&self) -> u64 {
        self.index.len()
    }

    /// Every pair of one of these records with an earlier one of the block, in order, record by record.
    pub(super) fn probe_records(
        &self,
        probes: &Records,
        range: Range<u32>,
        items: Items<'_>,
    ) -> (Vec<Match>, Effort) {
        let all: Vec<u32> = range.collect();
        // A record of common phrases reads more postings than hundreds of others.
        let tasks: Vec<(&[u32], u64)> = all
            .par_chunks(TASK)
            .map_init(
                || self.empty_scratch(),
                |scratch, task| (task, self.estimate_work(probes, task, scratch)),
            )
            .collect();
        let whole: u64 = tasks.iter().map(|(_, work)| work).sum();
        let items = items.weigh_by_work(all.len(), whole);
        let found: Vec<(Vec<Match>, Effort)> = tasks
            .into_par_iter()
            .map_init(
                || self.empty_scratch(),
                |scratch, (task, work)| {
                    let task = if items.may_go_on() { task } else { &[] };
                    let found = self.probe_task(probes, task, scratch);
                    items.report_items(work as usize);
                    found
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

    /// Room for records to compare with.
    pub(super) fn empty_pattern(&self) -> Pattern<'a> {
        let Order { query, weights, weights_of_pairs, .. } = self.order;
        Pattern::new(*query, self.order.alphabet_size(), weights, weights_of_pairs)
    }

    fn empty_scratch(&self) -> BlockScratch<'a> {
        BlockScratch {
            cutter: Cutter::default(),
            keys: Vec::new(),
            buckets: Vec::new(),
            candidates: Vec::new(),
            pattern: self.empty_pattern(),
            effort: Effort::default(),
        }
    }

    /// The work of a task, judging from some of its records, which are alike in size.
    fn estimate_work(&self, probes: &Records, task: &[u32], scratch: &mut BlockScratch) -> u64 {
        let BlockScratch { cutter, keys, .. } = scratch;
        let mut work = 1;
        for &a in task.iter().step_by(task.len().div_ceil(SAMPLED).max(1)) {
            let Some(budget) = self.order.plan.budget_downward(probes.size(a), self.sizes) else { continue };
            keys.clear();
            cutter.cut_keys(probes.symbols(a), budget, self.order, keys);
            work += keys.iter().map(|key| self.index.work_before(key.hash, a)).sum::<u64>();
        }
        work
    }

    fn probe_task(&self, probes: &Records, task: &[u32], scratch: &mut BlockScratch) -> (Vec<Match>, Effort) {
        scratch.effort = Effort::default();
        let mut found = Vec::new();
        for &a in task {
            self.collect_candidates(probes, a, scratch);
            if scratch.candidates.is_empty() {
                continue;
            }
            scratch.candidates.sort_unstable();
            // A record that shares several keys is found several times.
            scratch.candidates.dedup();
            let mut set = false;
            let BlockScratch { candidates, pattern, effort, .. } = scratch;
            for (n, &b) in candidates.iter().enumerate() {
                if n.is_multiple_of(FETCHED) {
                    self.records.fetch_heads(candidates[n..].iter().take(FETCHED).copied());
                }
                if !self.is_plausible(probes, a, b) {
                    continue;
                }
                // Preparing the record is only worth it once a candidate is plausible.
                if !set {
                    pattern.set_record(probes.symbols(a), probes.size(a));
                    set = true;
                }
                effort.compared += 1;
                if let Some(score) = pattern.score_with(self.records.symbols(b), self.records.size(b)) {
                    found.push(Match { a, b, score, shared_pairs: 0 });
                }
            }
        }
        (found, scratch.effort)
    }

    fn collect_candidates(&self, probes: &Records, a: u32, scratch: &mut BlockScratch) {
        let BlockScratch { cutter, keys, buckets, candidates, effort, .. } = scratch;
        keys.clear();
        candidates.clear();
        let (size, classes) = (probes.size(a), probes.signature(a).classes());
        let Some(budget) = self.order.plan.budget_downward(size, self.sizes) else { return };
        cutter.cut_keys(probes.symbols(a), budget, self.order, keys);
        effort.probes += keys.len() as u64;
        // All lookups first, and then a first look at all lists: none waits for another's memory.
        buckets.clear();
        buckets.extend(keys.iter().zip(0..).map(|(key, i)| (i, self.index.holder_range(key.hash))));
        buckets.retain(|(_, bucket)| !bucket.is_empty());
        buckets.retain(|(key, bucket)| self.index.may_have(keys[*key as usize].hash, bucket, a));
        if buckets.is_empty() {
            return;
        }
        let scan = Scan { block: self, a, size, classes, keys, buckets, candidates };
        effort.met += self.arch.dispatch(scan);
    }

    /// What two records of these sizes must share.
    pub(super) fn least_shared(&self, a: u32, b: u32) -> u32 {
        self.order.query.metric.least_shared(self.order.query.threshold, a, b)
    }

    fn is_plausible(&self, probes: &Records, a: u32, b: u32) -> bool {
        let (size_a, size_b) = (probes.size(a), self.records.size(b));
        let need = self.least_shared(size_a, size_b);
        if need > size_b {
            return false;
        }
        let (sig_a, sig_b) = (probes.signature(a), self.records.signature(b));
        sig_a.missing_from(sig_b) <= size_a - need && sig_b.missing_from(sig_a) <= size_b - need
    }
}
