//! Dedup: one record per joke, as decided by [`riddlemill_text::offline::dedup`].
//!
//! [`decided`] applies people's decisions, [`outcomes`] determines the outcome of each post, and [`stage`] writes it. [`room`]
//! estimates what fits in memory, and [`posts`] contains what is in memory of posts. [`on_disk`] handles loose rows that do
//! not fit in memory, and [`ledger_record`](parted::ledger_record) records decisions that were made in parts.

mod decided;
mod ledger;
mod on_disk;
mod outcomes;
mod pairs;
mod posts;
mod room;
mod stage;
pub(super) mod step;

pub use on_disk::{OnDiskError, Output, apply_on_disk};
pub use pairs::{NearPair, OnDisk};
pub use stage::dedup;
pub(super) use stage::{decide_where, of_over_length, unmerged};

/// Dedup in parts, and the combination of the parts.
pub mod parted {
    pub use super::ledger::{MergeTarget, ledger_record, near_pair};
    pub use riddlemill_text::offline::dedup::parted::*;
}
