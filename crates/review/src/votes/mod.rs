//! Votes and their storage: append-only segments of JSON lines under `raw/votes`.

pub mod aside;
mod index;
mod vote;

pub use aside::{Admitted, AsideLine, Asides, Restored, SetAside};
pub use index::{Receipt, VoteLog};
pub use riddlemill_files::log::LogError;
pub use vote::{Carried, PAGE, Vote, contradictions, current};
