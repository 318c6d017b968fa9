//! Dedup: one record a joke. A record goes only into one that is itself kept and directly similar, so
//! a chain of likenesses never carries a joke into one that it does not resemble.
//!
//! Which record of a pair stays does not depend on the order of the input: records are ranked by the
//! keeper policy, then by id. In that order each one goes into the kept record that it resembles most,
//! or is kept itself.
//!
//! [`similar_pairs()`] says what is alike, [`ranks()`] in which order records would be kept, [`keepers()`] what goes
//! where, [`decide`] all of it; [`resemblances`] looks into another set of records; [`parted`] is the same in
//! parts, for rows that are spread over many machines.

mod against;
mod keepers;
pub mod parted;
mod ranks;
mod similar_pairs;
mod whole;

pub use against::{Resemblance, resemblances};
pub use keepers::{Keeper, best, keepers};
pub use ranks::{Standing, ranks};
pub use similar_pairs::{SimilarPair, decimal, name, query, row_pairs, similar_pairs, similar_pairs_on_disk};
pub use whole::{Found, decide, merged, merged_text, standing, witness};
