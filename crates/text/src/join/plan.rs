//! How long keys are, and what a record's keys must cover.

use super::metric::Metric;
use super::{Query, Threshold};
use crate::text::sameness::{MOST_WEIGHT, PAIRS};

/// The most subsets a record enumerates for one required overlap; it bounds their length.
const MOST_SUBSETS: u64 = 1000;

/// Required overlaps from here on use single tokens as keys.
const LONG: u32 = 1024;

/// No key has more tokens.
pub(super) const DEEPEST: u32 = 7;

/// What a record's keys must cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Budget {
    /// The record's size.
    pub(super) size: u32,
    /// The least that a pair shares.
    pub(super) least: u32,
    /// Bit k: some pair stops at keys of k tokens whatever their rarity. None of a bag, whose keys are all of one pair of
    /// neighbours.
    pub(super) stops: u32,
    /// The least size of a partner.
    pub(super) partner: u32,
}

impl Budget {
    /// The least that a pair shares of the bigrams of a bag, which weigh so much here.
    pub(super) fn least_of_pairs(&self, weight: u32) -> u32 {
        Metric::need_of_pairs(weight, least_of_size(self.partner))
    }
}

/// What the bigrams of a bag of this size weigh at least: a letter that is neither the first nor the last is
/// in two of them.
fn least_of_size(size: u32) -> u32 {
    (2 * size).saturating_sub(2 * MOST_WEIGHT)
}

/// The largest bag for which shared bigrams of this weight may be enough, where its pairs are the lighter.
pub(super) fn largest_partner(shared: u32) -> u32 {
    let lightest = u64::from(shared) * PAIRS.den / PAIRS.num;
    u32::try_from(lightest / 2 + u64::from(MOST_WEIGHT)).unwrap_or(u32::MAX)
}

/// How keys are cut for one metric and threshold. Depends on nothing else.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    metric: Metric,
    threshold: Threshold,
    /// By required overlap, below [`LONG`]: most tokens a key. Empty of bags.
    stop: Vec<u8>,
}

impl Plan {
    pub fn for_query(query: &Query) -> Self {
        let Query { metric, threshold } = *query;
        if metric.is_of_bags() {
            return Self { metric, threshold, stop: Vec::new() };
        }
        let need = |a| metric.least_shared(threshold, a, metric.least_partner(threshold, a));
        let mut stop = vec![0];
        for overlap in 1..LONG {
            // The largest record that can be in a pair with this overlap.
            let (mut largest, mut above) = (overlap, 2 * LONG);
            while largest + 1 < above {
                let middle = largest + (above - largest) / 2;
                if need(middle) <= overlap { largest = middle } else { above = middle }
            }
            let skips = u64::from(largest.saturating_sub(overlap));
            let deep = |k: u32| largest + 1 < 2 * LONG && count_subsets(skips, k) <= MOST_SUBSETS;
            let k = (1..=DEEPEST.min(overlap)).take_while(|&k| k == 1 || deep(k)).count();
            stop.push(k as u8);
        }
        Self { metric, threshold, stop }
    }

    /// For pairs of a record of this size with smaller ones, or as large ones, of these sizes.
    pub fn budget_downward(&self, size: u32, partners: (u32, u32)) -> Option<Budget> {
        let least = self.metric.least_partner(self.threshold, size).max(partners.0);
        let most = size.min(partners.1);
        (least <= most).then(|| {
            let need = |partner| self.metric.least_shared(self.threshold, size, partner);
            Budget { partner: least, ..self.budget_between(size, need(least), need(most)) }
        })
    }

    /// For pairs of a record of this size with records of at least its size.
    pub fn budget_upward(&self, size: u32) -> Budget {
        self.budget_between(size, self.metric.least_shared(self.threshold, size, size), size)
    }

    /// Of pairs that share from `least` to `most`.
    fn budget_between(&self, size: u32, least: u32, most: u32) -> Budget {
        let overlaps =
            if self.metric.is_of_bags() { 0..0 } else { least.clamp(1, LONG)..most.clamp(1, LONG) + 1 };
        let stops = overlaps.fold(0, |stops, overlap| stops | 1 << self.stop_of_overlap(overlap));
        Budget { size, least, stops, partner: size }
    }

    fn stop_of_overlap(&self, overlap: u32) -> u8 {
        self.stop.get(overlap as usize).copied().unwrap_or(1)
    }
}

/// Ways to choose k tokens of which the last passes over at most `skips`.
fn count_subsets(skips: u64, k: u32) -> u64 {
    (1..=u64::from(k)).fold(1, |ways, i| (ways * (skips + i) / i).min(u64::from(u32::MAX)))
}
