//! What a join searches for, what it finds, and what it took.

use super::{Metric, Score, Threshold};

/// What to find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Query {
    /// How two rows are compared.
    pub metric: Metric,
    /// All pairs at or over it are found.
    pub threshold: Threshold,
}

/// Two records at or over the threshold, by record number, `b < a`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Match {
    pub a: u32,
    pub b: u32,
    pub score: Score,
    /// Of bags: what the pairs of neighbours weigh that both hold.
    pub shared_pairs: u32,
}

/// What a join did, for measures that do not depend on the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// Keys put in an index.
    pub keys: u64,
    /// Keys looked up.
    pub probes: u64,
    /// Pairs that share a key and may be of the sizes of a pair, each as often as it was found.
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
