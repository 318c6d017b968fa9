//! The exact similarity join: every pair of texts at or over a threshold.
//!
//! # Contract
//!
//! - The unit is the Unicode scalar value. Nothing is normalised here; callers that want
//!   different spellings to match normalise the rows first.
//! - A similarity is a ratio of two integers and is compared as one: a pair exactly at the threshold
//!   is included, without rounding errors. See [`Score`] and [`Threshold`].
//! - [`Metric::Levenshtein`] is 1 − d / max(|a|, |b|); [`Metric::Indel`] is 2·LCS / (|a| + |b|);
//!   [`Metric::Jaccard`] is over *sets* of n-grams, of 2 characters if a user asks for it, and a string
//!   shorter than n is one gram; [`Metric::Reworded`] is over weighted bags of characters and of
//!   bigrams. [`plain_similarity`] computes each of them in the textbook way.
//! - Of bags, rows are a pair only where both hold a bigram that few rows of the join hold, copies counted.
//! - An empty string is in no pair, not even with another empty string.
//! - Pairs are (a, b, score), with the rows' numbers in the input, `a < b`, ascending, each once. Identical
//!   rows are pairs with score 1, which are generated one at a time, so a hundred thousand of them take no memory.
//! - The result depends only on the rows and the query, not on threads, memory or the driver.
//!
//! # How
//!
//! Filters that reject no pair (length, rare tokens that both must contain, how much each skips before them,
//! classes of symbols) leave few candidates, and the measure itself decides about each: see the argument in
//! `keys`. The work is divided into functions whose only state is mergeable corpus statistics:
//!
//! | function | from | to |
//! |---|---|---|
//! | [`Stats`] | rows | how many contain each token; merging is associative and commutative |
//! | [`keys`] | a row and the [`Order`] of the statistics | what a partner must share with it |
//! | [`verify`] | rows that share a key | pairs, with their score |
//! | [`resolve`] | pairs by the rank of their rows | which row is merged into which |
//!
//! [`self_join`] in memory and [`disk_join`] within bounded memory are two drivers of these functions: both index a
//! block of rows by their keys and look up larger rows. Any program that can group rows by a number can be another one.
//!
//! [`find_alike_pairs`] is the join of the default similarity, [`crate::text::sameness`]: one join for each of its
//! predicates, and its comparison on what they find; [`alike_on_disk`] is the same within bounded memory.

mod block;
mod disk;
mod forecast;
mod functions;
mod index;
mod keys;
mod letters;
mod lists;
mod memory;
mod metric;
mod openings;
mod pairs;
mod plan;
mod predicate_joins;
mod rarest_bigram;
mod records;
mod signature;
mod similarity_join;
mod stats;
mod threshold;
mod tokens;
mod verify;
mod watch;

pub use disk::{
    DiskError, DiskJoined, LineSorter, SortedLines, Spill, Working, alike_on_disk, disk_join,
    disk_join_watched,
};
pub(crate) use disk::{Merge, Reader, Sorter, Writer, alike_on_disk_each};
pub use functions::{
    FoundPair, KeyedMember, Role, RowKey, RowSketch, Uncounted, can_meet, compare, keys, verify,
};
pub use metric::{Metric, plain_similarity};
pub use openings::openings_of;
pub use pairs::{Joined, Likeness, Pair, resolve, self_join, self_join_watched};
pub use predicate_joins::{DefaultJoin, default_joins};
pub use signature::{NoSignature, Signature};
pub use similarity_join::{AlikePair, AlikePairs, find_alike_pairs, joined_text, similarity_join_watched};
pub use stats::{Order, Stats};
pub use threshold::{Score, Threshold, ThresholdError};

#[cfg(test)]
pub(crate) use watch::Stopped;
pub use watch::{Expected, Unwatched, Watch};

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
struct Match {
    pub a: u32,
    pub b: u32,
    pub score: Score,
    /// Of bags: what the bigrams weigh that both hold.
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

#[cfg(test)]
mod stress;
