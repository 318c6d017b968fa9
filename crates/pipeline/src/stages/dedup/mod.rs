//! Dedup: one record a joke, as [`riddlemill_text::offline::dedup`] decides it.
//!
//! [`decided`] puts people's decisions over that, [`fates`] says what becomes of each post, [`stage`] writes it; [`room`]
//! knows what fits in memory, and [`posts`] what is held of posts. [`on_disk`] decides on loose rows that do not fit in
//! memory, and [`ledger_record`](parted::ledger_record) records what was decided in parts.

mod decided;
mod fates;
mod ledger;
mod on_disk;
mod posts;
mod room;
mod stage;

pub use on_disk::{OnDiskError, Output, apply_on_disk};
pub use stage::{NearPair, OnDisk, dedup};
pub(super) use stage::{decide_where, unmerged};

/// Dedup in parts, and what is made of the parts.
pub mod parted {
    pub use super::ledger::{MergeTarget, ledger_record, near_pair};
    pub use riddlemill_text::offline::dedup::parted::*;
}
