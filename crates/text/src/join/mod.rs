//! The exact similarity join: every pair of texts at or over a threshold, none lost.
//!
//! # Contract
//!
//! - The unit is the Unicode scalar value. Nothing is folded here; whoever wants spellings to meet folds
//!   the rows first.
//! - A similarity is a ratio of two integers and is compared as one: a pair at the threshold is in, whatever
//!   a double would say. See [`Score`] and [`Threshold`].
//! - [`Metric::Levenshtein`] is 1 − d / max(|a|, |b|); [`Metric::Indel`] is 2·LCS / (|a| + |b|);
//!   [`Metric::Jaccard`] is over *sets* of n-grams, 2 characters each where a user asks, and a string shorter
//!   than n is one gram; [`Metric::Reworded`] is over weighted bags of characters and of pairs of
//!   neighbours. [`similarity`] is the
//!   textbook computation of each.
//! - Two empty strings are no pair, and an empty string is in none.
//! - Pairs come as (a, b, score), rows by their number in the input, `a < b`, ascending, each once. Identical
//!   rows are pairs at 1, made one at a time: a hundred thousand of them take no memory.
//! - The answer depends on the rows and the query alone; threads, memory and which driver ran do not show.
//!
//! # How
//!
//! Filters that no pair can fail (length, rare tokens that both must hold, how much each has passed over
//! before them, classes of symbols) leave few candidates, and the measure itself decides on each: see the
//! argument in `keys`. The work is cut into three functions without state but for mergeable corpus
//! statistics:
//!
//! | function | from | to |
//! |---|---|---|
//! | [`Stats`] | rows | how many hold each token; merging is associative and commutative |
//! | [`keys`] | a row and the [`Order`] of the statistics | what a partner must share with it |
//! | [`verify`] | rows that share a key | pairs, with their score |
//! | [`resolve`] | pairs by the rank of their rows | which row goes into which |
//!
//! [`self_join`] in memory and [`disk_join`] within bounded memory are two drivers of them: both index a block
//! of rows by their keys and let larger rows look for partners. Anything that can group rows by a number is
//! a third.
//!
//! [`alike`] is the join of the default similarity, [`crate::text::sameness`]: one join for each of its
//! predicates, and its comparison on what they find; [`alike_on_disk`] is the same within bounded memory.

mod block;
mod classes;
mod disk;
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
mod query;
mod rarer;
mod records;
mod resolve;
mod signature;
mod similarity_join;
mod stats;
#[cfg(test)]
mod stress;
mod threshold;
mod tokens;
mod verify;
mod watch;

pub use disk::{
    DiskError, DiskJoined, LineSorter, SortedLines, Spill, Working, alike_on_disk, disk_join,
    disk_join_watched,
};
pub(crate) use disk::{Merge, Reader, Sorter, Writer, alike_on_disk_each};
pub use functions::{Found, Member, Role, RowKey, Sketch, Uncounted, can_meet, compare, keys, verify};
pub use metric::{Metric, similarity};
pub use openings::openings_of;
pub use pairs::{Joined, Pair, self_join, self_join_watched};
pub use query::{Effort, Query};
pub use resolve::{Likeness, resolve};
pub use signature::{NoSignature, Signature};
pub use similarity_join::{
    AlikePair, AlikePairs, DefaultJoin, alike, default_joins, similarity_join_watched,
};
pub use stats::{Order, Stats};
pub use threshold::{Score, Threshold, ThresholdError};
pub use watch::{Unwatched, Watch};
