//! Dedup in parts, for rows that are spread over many machines: each function reads lines and writes lines,
//! and the caller sorts, groups and joins them in between.
//!
//! | function | lines in | lines out |
//! |---|---|---|
//! | [`Keyer::same`] | rows | a key that is shared by rows which are equal in every comparison |
//! | [`verify()`] | these keys, sorted | copies: all rows of a key but the first by rank |
//! | [`PartStats`] | the other rows | how many rows contain each token; outputs can be combined by another call |
//! | [`Keyer::keys`] | the same rows | keys: two similar rows share one |
//! | [`verify()`] | these keys, sorted | pairs that may be similar; with texts, pairs that are, with figures |
//! | [`decisions`] | copies and pairs of duplicates | which row is merged into which |
//!
//! If the caller can transport bytes, for example in the columns of a data frame, [`Keyer::blocks`] returns the keys of many
//! rows in blocks and [`pairs_of_blocks`] reads them: a key has 8 bytes there, and 170 as a line.
//!
//! # Why this is not the join on disk
//!
//! [`alike_on_disk`](crate::join::alike_on_disk) finds the same pairs on one machine, and shares everything that decides with
//! these functions: statistics, order, keys, and the comparison. The rest differs. The join on disk keeps one index in
//! memory and streams whole records past it, so it writes no keys, searches lists by what else their records share, and
//! has a record at hand when it reads its key. Here each process has only one group of rows in memory: every key is
//! written, sorted and brought to its group by the caller's shuffle, and only a sketch of each row is available there.
//! Used on one machine instead of the join on disk, these functions find the same pairs, but for 250,000 posts they
//! write 352 MB of keys, yield 1,497,081 candidate pairs instead of 346,111, and take 28 CPU seconds instead of 21.
//!
//! Whether two texts are reworded copies depends on how many rows hold what they share: whoever compares texts needs the
//! [`CommonPairs`] of the statistics.
//!
//! A row is identified by its [rank](rank_of), which also determines which of two rows is kept. All of this uses the
//! functions of [`crate::join`]; the result is what [`super::decide`] decides over all rows at once.

mod blocks;
mod common;
mod keyer;
mod line;
mod measure;
mod rank;
mod resolve;
mod share;
mod stats;
mod verify;

pub use blocks::{BlockError, Heavy, KeyBlocks, heavy_of_blocks, pairs_of_blocks};
pub use common::{CommonPairs, NoCommonPairs};
pub use keyer::Keyer;
pub use line::{Decision, KeyLine, PairLine, StatLine};
pub use measure::{Compared, Measure};
pub use rank::{id_of, rank_of};
pub use resolve::{ResolveError, decisions};
pub use share::{NoShare, Share};
pub use stats::{PartStats, StatError};
pub use verify::{Group, VerifyError, verify};
