//! Votes and their storage: append-only segments of JSON lines under `raw/votes`.

mod index;
mod vote;

pub use index::{Receipt, VoteLog};
pub use riddlemill_files::log::LogError;
pub use vote::{Carried, PAGE, Vote, contradictions, current};
