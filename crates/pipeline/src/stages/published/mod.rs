//! Rows of published sets: texts with the annotations that people of another project finished.
//!
//! Such a row is evidence of a standing of its own, `published`: no vote, and no agreement is counted of it. Import makes a
//! record of it whose id says so (`published:flub:…`) and keeps the row in a table beside its posts. Every stage goes over
//! the record as ever, and then lets it through as it was published: what it would have done is in the ledger. What
//! the row says at a step is what its benchmark's folder declares (`[published]`); votes and decisions of people here
//! are above it, step by step.

mod index;
mod rated_pair;
mod settle;
mod variant;

pub(super) use index::TABLE;
pub use index::{Published, PublishedRow, PublishedValues};
pub use rated_pair::{answers, choice};
pub use settle::{let_through, settled};
pub use variant::group;
