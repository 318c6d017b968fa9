//! What the steps of a join will take of it, so that whoever waits is told what is left by the work that is left.
//!
//! A sample of the texts is joined first. What it meets and compares grows with the square of the texts, all else with
//! their number. Which step is the longest differs: among short posts it is reading, among thousands of edits of one
//! joke it is comparing. A wrong forecast has no effect but on the time that is shown.

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
    /// A pair that is compared in full, by bytes of its texts.
    pub const COMPARED: f64 = 25.0;
    /// The figures of a pair that is found.
    pub const FIGURES: f64 = 4_000.0;
    /// Each product of two characters of a found pair.
    pub const CELL: f64 = 5.0;
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
    /// Bytes of the pairs that are compared in full.
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
        let (read, compared) = (self.bytes * cost::READ, self.compared * cost::COMPARED);
        std::iter::once(read).chain(joins).chain([compared]).collect()
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
            compare: self.compared * cost::COMPARED / rest,
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
