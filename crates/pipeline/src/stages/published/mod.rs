//! Rows of published sets: texts with the annotations that people of another project finished.
//!
//! Such a row has a standing of its own, `published`: it is not a vote and does not count for agreement. Import turns it
//! into a record with an id of its own (`published:flub:…`) and stores the row in a table next to the posts. Each stage
//! processes the record as usual and then lets it through as it was published; the ledger records what the stage would
//! have done. The section `[published]` of the benchmark's folder declares which values the row has at which step. At
//! each step, votes and decisions of this workspace take precedence.

mod index;
mod rated_pair;
mod settle;
mod variant;

pub(super) use index::TABLE;
pub use index::{Published, PublishedRow, PublishedValues};
pub use rated_pair::{published_answers, published_item};
pub use settle::{Publishable, let_through};
pub use variant::published_group;
