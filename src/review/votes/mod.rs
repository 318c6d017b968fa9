//! Votes and where they are kept: append-only segments of JSON lines under `raw/votes`.

mod index;
mod log;
mod vote;

pub use index::{Receipt, VoteLog};
pub use log::{LogError, Segments};
pub use vote::{PAGE, Vote, current};
