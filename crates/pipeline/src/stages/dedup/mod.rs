//! Dedup: one record a joke. A record goes only into one that is itself kept and directly similar, so
//! a chain of likenesses never carries a joke into one that it does not resemble.
//!
//! Which record of a pair stays does not depend on the order of the input: records are ranked by the
//! keeper policy, then by id. In that order each one goes into the kept record that it resembles most,
//! or is kept itself.
//!
//! [`likes`] says what is alike, [`ranks`] in which order records would be kept, [`keepers`] what goes
//! where; [`decided`] puts people's decisions over it; [`against`] looks into another set of records.

mod against;
mod decided;
mod keepers;
mod likes;
mod on_disk;
pub mod parted;
mod ranks;
mod stage;

pub(super) use against::resemblances;
pub use likes::{Like, likes};
pub use on_disk::{OnDiskError, Output, apply_on_disk};
pub use stage::{NearPair, dedup, witness};
pub(super) use stage::{decide, decide_where};
