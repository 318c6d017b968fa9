//! Dedup in parts, for rows that are spread over many machines: each function takes lines and gives lines,
//! and whoever runs them sorts, groups and joins in between.
//!
//! | function | lines in | lines out |
//! |---|---|---|
//! | [`Keyer::same`] | rows | the key that rows which compare alike share |
//! | [`verify()`] | those, by key | copies: all but the first by rank |
//! | [`PartStats`] | the other rows | how many hold each token; several outputs are an input |
//! | [`Keyer::keys`] | the same rows | keys: two rows that are alike share one |
//! | [`verify()`] | those, by key | pairs that may be alike; with texts, pairs that are, with figures |
//! | [`decisions`] | copies and pairs that are one | which row goes into which |
//!
//! Where what lies between holds bytes, as the columns of a data frame do, [`Keyer::blocks`] gives the keys of many rows
//! in blocks and [`pairs_of_blocks`] takes them: a key has 8 bytes there where its line has 170.
//!
//! # Why this is not the join on disk
//!
//! [`alike_on_disk`](crate::join::alike_on_disk) finds the same pairs on one machine, and shares all that decides with
//! these functions: statistics, order, keys, and the comparison. What lies between is another job. There, one index
//! stands in memory and whole records pass by it, so that a key is written nowhere, lists are searched by what else
//! their records share, and a record is beside its key when it is looked at. Here nobody holds more than one group of
//! rows: every key is written, sorted and brought to its group by somebody else's shuffle, and a sketch is all that is
//! known of a row there. Run on one machine in place of the join on disk these functions give the same pairs, but of
//! 250,000 posts they write 352 MB of keys, name 1,497,081 pairs to compare where the join compares 346,111, and take 28
//! CPU seconds in place of 21.
//!
//! A row is known by its [rank](rank_of), which says at once which of two rows is kept. All of it is made of
//! the functions of [`crate::join`]; what comes out is what [`super::decide`] decides over the whole.

mod blocks;
mod keyer;
mod line;
mod measure;
mod rank;
mod resolve;
mod share;
mod stats;
mod verify;

pub use blocks::{BlockError, Heavy, KeyBlocks, heavy_of_blocks, pairs_of_blocks};
pub use keyer::Keyer;
pub use line::{Decision, KeyLine, PairLine, StatLine};
pub use measure::{Compared, Measure};
pub use rank::{id_of, rank_of};
pub use resolve::{ResolveError, decisions};
pub use share::{NoShare, Share};
pub use stats::{PartStats, StatError};
pub use verify::{Group, VerifyError, verify};
