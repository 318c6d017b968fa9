//! The join in memory, over all cores.

use rayon::prelude::*;

use super::index::Index;
use super::keys::{Key, Plan, Token, cut};
use super::rows::Records;
use super::signature::Signature;
use super::verify::Pattern;
use super::{Metric, Score, Threshold};

/// Records that one task probes.
const TASK: usize = 512;

/// Two records at or over the threshold, by record number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Match {
    pub a: u32,
    pub b: u32,
    pub score: Score,
}

/// Every pair of distinct records at or over the threshold, each once, `b < a`, in order.
pub(super) fn matches(records: &Records, metric: Metric, threshold: Threshold) -> Vec<Match> {
    let plan = Plan::new(metric, threshold);
    let index = Index::new(records, &plan);
    let all: Vec<u32> = (0..records.len() as u32).collect();
    let signatures: Vec<Signature> = all.par_iter().map(|&r| Signature::of(records.symbols(r))).collect();
    let sizes: Vec<u32> = all.iter().map(|&r| records.size(r)).collect();
    let join = Join { records, metric, threshold, plan, index, signatures, sizes };
    let found: Vec<Vec<Match>> = all
        .par_chunks(TASK)
        .map_init(|| Scratch::new(&join), |scratch, task| join.probe(task, scratch))
        .collect();
    found.concat()
}

struct Join<'a> {
    records: &'a Records,
    metric: Metric,
    threshold: Threshold,
    plan: Plan,
    index: Index,
    signatures: Vec<Signature>,
    sizes: Vec<u32>,
}

struct Scratch {
    tokens: Vec<Token>,
    keys: Vec<Key>,
    candidates: Vec<u32>,
    pattern: Pattern,
}

impl Scratch {
    fn new(join: &Join) -> Self {
        let pattern = Pattern::new(join.metric, join.threshold, join.records.chance.len());
        Self { tokens: Vec::new(), keys: Vec::new(), candidates: Vec::new(), pattern }
    }
}

/// Which partners a key with a given skip can lead to, for probes of one size.
struct Reach {
    size: u32,
    /// By the partner's skip: its least record number.
    first: Vec<u32>,
    /// By the probe's skip: one past its greatest record number.
    end: Vec<u32>,
}

impl Join<'_> {
    fn probe(&self, task: &[u32], scratch: &mut Scratch) -> Vec<Match> {
        let mut found = Vec::new();
        let mut reach = Reach { size: 0, first: Vec::new(), end: Vec::new() };
        for &a in task {
            let size = self.sizes[a as usize];
            if reach.size != size {
                reach = self.reach(size);
            }
            self.candidates(a, &reach, scratch);
            if scratch.candidates.is_empty() {
                continue;
            }
            scratch.candidates.sort_unstable();
            scratch.candidates.dedup();
            let mut set = false;
            for &b in &scratch.candidates {
                if !self.plausible(a, b) {
                    continue;
                }
                if !set {
                    scratch.pattern.set(self.records.symbols(a));
                    set = true;
                }
                if let Some(score) = scratch.pattern.score(self.records.symbols(b)) {
                    found.push(Match { a, b, score });
                }
            }
        }
        found
    }

    fn candidates(&self, a: u32, reach: &Reach, scratch: &mut Scratch) {
        let Scratch { tokens, keys, candidates, .. } = scratch;
        self.records.tokens(a, tokens);
        keys.clear();
        candidates.clear();
        let records = self.records.len() as f64;
        cut(tokens, self.plan.downward(reach.size), records, &self.records.chance, keys);
        for key in keys.iter() {
            let end = a.min(reach.end[key.skip as usize]);
            if end <= reach.first[0] {
                continue;
            }
            for posting in self.index.holders(key.hash) {
                if posting.record < end && posting.record >= reach.first[usize::from(posting.skip)] {
                    candidates.push(posting.record);
                }
            }
        }
    }

    fn plausible(&self, a: u32, b: u32) -> bool {
        let (size_a, size_b) = (self.sizes[a as usize], self.sizes[b as usize]);
        let need = self.metric.need(self.threshold, size_a, size_b);
        let (sig_a, sig_b) = (self.signatures[a as usize], self.signatures[b as usize]);
        need <= size_b
            && sig_a.missing_from(sig_b) <= size_a - need
            && sig_b.missing_from(sig_a) <= size_b - need
    }

    fn reach(&self, size: u32) -> Reach {
        let need = |partner| self.metric.need(self.threshold, size, partner);
        let least = self.metric.least_partner(self.threshold, size);
        let from = |partner: u32| self.sizes.partition_point(|&s| s < partner) as u32;
        let mut first = Vec::with_capacity(256);
        let mut partner = least;
        for skip in 0..=255 {
            while partner <= size && partner - need(partner) < skip {
                partner += 1;
            }
            first.push(if partner <= size { from(partner) } else { u32::MAX });
        }
        let mut end = Vec::new();
        let mut partner = size;
        for skip in 0..=size - need(least) {
            while need(partner) > size - skip {
                partner -= 1;
            }
            end.push(from(partner + 1));
        }
        Reach { size, first, end }
    }
}
