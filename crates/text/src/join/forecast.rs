//! What the steps of a join will take of it, so that whoever waits is told what is left by the work that is left.
//!
//! A sample of the texts is joined first. What it meets and compares grows with the square of the texts, all else with
//! their number. Which step is the longest differs: among short posts it is reading, among thousands of edits of one
//! joke it is comparing. A wrong forecast has no effect but on the time that is shown.

use std::time::Duration;

use super::predicate_joins::DefaultJoin;
use super::{Effort, Expected, Metric, Query};

/// Texts from which on a join is forecast: fewer are joined in a second.
pub(super) const FORECAST_FROM: usize = if cfg!(test) { 1 << 12 } else { 1 << 14 };

/// One text in so many is in the sample, and at least so many are.
const ONE_IN: usize = 32;
const SAMPLE: usize = 1 << 11;

/// What the units of work take, in nanoseconds of a core, by estimate: they are needed only in proportion.
mod cost {
    /// A byte of a text that is read.
    pub const READ: f64 = 90.0;
    /// A byte of a text that is counted, spelled and indexed.
    pub const INDEXED: f64 = 45.0;
    /// A key that is looked up.
    pub const LOOKED_UP: f64 = 60.0;
    /// Two texts that meet at a key.
    pub const MET: f64 = 8.0;
    /// Two texts that a join compares.
    pub const VERIFIED: f64 = 250.0;
    /// The figures of a pair that is found.
    pub const FIGURES: f64 = 4_000.0;
    /// Each product of two characters of a found pair.
    pub const CELL: f64 = 5.0;
}

/// How long it took to compare so many pairs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timed {
    pub pairs: f64,
    pub took: Duration,
}

/// What such pairs usually take in all, in nanoseconds. A pair that took ten times as long as half of them waited: for a
/// dictionary that is read once, or for another process.
pub(super) fn usual_time(times: Vec<Timed>) -> f64 {
    let of_pair = |timed: &Timed| timed.took.as_nanos() as f64 / timed.pairs.max(1.0);
    let mut sorted: Vec<f64> = times.iter().map(of_pair).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let most = sorted.get(sorted.len() / 2).map_or(0.0, |median| median * 10.0);
    times.iter().map(|timed| of_pair(timed).min(most) * timed.pairs).sum()
}

/// The work of one join.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct JoinWork {
    /// Bytes of what is joined.
    pub bytes: f64,
    pub looked_up: f64,
    pub met: f64,
    pub verified: f64,
}

/// The work of all steps.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Work {
    /// Bytes of the texts.
    pub bytes: f64,
    pub joins: Vec<JoinWork>,
    /// What comparing the pairs takes in full, in nanoseconds of a core.
    pub compared: f64,
    /// Pairs that are found.
    pub found: f64,
    /// Products of the lengths of their texts, in characters.
    pub cells: f64,
}

/// A step that joins: its share, and how much of it is spent on looking records up.
#[derive(Clone, Copy, Debug)]
pub(super) struct JoinStep {
    pub share: f64,
    pub probing: f64,
}

/// The shares of the steps; those of the joins and of the comparison sum to 1.
#[derive(Clone, Debug)]
pub(super) struct Steps {
    /// Of the whole.
    pub read: f64,
    pub joins: Vec<JoinStep>,
    pub compare: f64,
}

impl JoinWork {
    pub fn of_effort(bytes: usize, effort: &Effort) -> JoinWork {
        JoinWork {
            bytes: bytes as f64,
            looked_up: effort.probes as f64,
            met: effort.met as f64,
            verified: effort.compared as f64,
        }
    }

    /// That of so many times as many texts.
    fn scaled_by(self, by: f64) -> JoinWork {
        let pairs = by * by;
        JoinWork {
            bytes: self.bytes * by,
            looked_up: self.looked_up * by,
            met: self.met * pairs,
            verified: self.verified * pairs,
        }
    }

    fn indexing_cost(self) -> f64 {
        self.bytes * cost::INDEXED
    }

    fn probing_cost(self) -> f64 {
        self.looked_up * cost::LOOKED_UP + self.met * cost::MET + self.verified * cost::VERIFIED
    }
}

impl Work {
    /// That of so many times as many texts.
    pub fn scaled_by(&self, by: f64) -> Work {
        Work {
            bytes: self.bytes * by,
            joins: self.joins.iter().map(|join| join.scaled_by(by)).collect(),
            compared: self.compared * by * by,
            found: self.found * by * by,
            cells: self.cells * by * by,
        }
    }

    /// What each step takes: reading, the joins, comparing.
    pub fn step_costs(&self) -> Vec<f64> {
        let joins = self.joins.iter().map(|join| join.indexing_cost() + join.probing_cost());
        std::iter::once(self.bytes * cost::READ).chain(joins).chain([self.compared]).collect()
    }

    /// What is foretold of the whole, and of what its callers do with the pairs.
    pub fn expected_work(&self) -> Expected {
        let figures = self.found * cost::FIGURES + self.cells * cost::CELL;
        Expected { join: self.step_costs().iter().sum(), figures }
    }

    pub fn step_shares(&self) -> Steps {
        let costs = self.step_costs();
        let all: f64 = costs.iter().sum::<f64>().max(1.0);
        let rest = (all - costs[0]).max(1.0);
        let step = |join: &JoinWork| {
            let (indexing, probing) = (join.indexing_cost(), join.probing_cost());
            JoinStep { share: (indexing + probing) / rest, probing: probing / (indexing + probing).max(1.0) }
        };
        Steps {
            read: costs[0] / all,
            joins: self.joins.iter().map(step).collect(),
            compare: self.compared / rest,
        }
    }
}

impl Steps {
    /// Those of too few texts for a forecast.
    pub fn without_forecast(joins: &[DefaultJoin]) -> Steps {
        let (read, compare) = (0.10, 0.10);
        let step = |join: &DefaultJoin| JoinStep { share: join.share * (1.0 - compare), probing: 0.70 };
        Steps { read, joins: joins.iter().map(step).collect(), compare }
    }
}

/// Which of so many texts are in the sample: neighbours in a dump are often copies, so that none is taken by its turn.
pub(super) fn draw_sample(texts: usize) -> Vec<usize> {
    let one_in = (texts / SAMPLE).clamp(1, ONE_IN) as u64;
    let drawn = |at: &usize| {
        let mixed = (*at as u64).wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        ((mixed ^ mixed >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 32).is_multiple_of(one_in)
    };
    (0..texts).filter(drawn).collect()
}

/// A query that finds in a sample what it would find among so many times as many texts: what few rows hold, fewer of a
/// sample do.
pub(super) fn query_of_sample(query: &Query, by: f64) -> Query {
    let metric = match query.metric {
        Metric::Reworded { most_rows } => {
            Metric::Reworded { most_rows: ((f64::from(most_rows) / by).round() as u32).max(1) }
        }
        metric => metric,
    };
    Query { metric, ..*query }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_that_waited_counts_as_others_do() {
        let timed = |pairs: f64, nanos: u64| Timed { pairs, took: Duration::from_nanos(nanos) };
        assert!((usual_time(vec![timed(2.0, 200), timed(1.0, 100), timed(1.0, 300)]) - 600.0).abs() < 1e-9);
        // A dictionary that the first pair read.
        let first = timed(1.0, 300_000_000);
        assert!((usual_time(vec![first, timed(1.0, 100), timed(3.0, 300)]) - 1_400.0).abs() < 1e-9);
        assert!(usual_time(Vec::new()).abs() < 1e-9);
    }
}
