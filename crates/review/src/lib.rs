//! Ballots, votes, agreement: where people decide.
//!
//! # In reading order
//!
//! - [`ballot`]: what a ballot asks; [`ballots`]: those that benchmarks declare. [`item`]: what an annotator is shown, and
//!   its hash; `blinding`: in which order.
//! - [`answers`]: what somebody typed or clicked, read into checked values, and back.
//! - [`votes`]: votes and the log that keeps them. [`beside`]: remarks on votes and edited guidelines.
//! - [`mod@assign`]: who votes on what; [`qualify`]: trials that say who may, with items whose answers are known (`gold`),
//!   and [`grades`], how they went.
//! - `resolve`: from the votes on an item to what holds of it; [`mod@adjudicate`]: disputes and their decision;
//!   [`carry`]: votes brought over to a text that reads otherwise since.
//! - [`mod@agreement`]: how far people agree; [`voted`] and [`mod@status`]: what a step comes to, and how far it is.
//! - [`exchange`]: ballots out and votes back in, as sheets and for Label Studio.
//! - [`decisions`]: what people overruled, record by record and pair by pair.

pub mod adjudicate;
pub mod agreement;
pub mod answers;
pub mod assign;
pub use riddlemill_benchmarks::ballot;
pub mod ballots;
pub mod beside;
mod blinding;
pub mod carry;
pub mod decisions;
pub mod exchange;
mod gold;
pub mod grades;
pub mod item;
pub mod qualify;
mod resolve;
pub mod status;
mod value;
pub mod voted;
pub mod votes;

pub use riddlemill_files::{Digest, NotADigest};

pub use adjudicate::{adjudicate, disputes, overruled};
pub use agreement::agreement;
pub use assign::{Annotator, AssignError, AssignSettings, Passed, Task, assign, replace, written_by};
pub use ballot::{Role, Round, Step};
pub use blinding::Blinding;
pub use exchange::{Ballot, Format, Import, ImportSettings, Problem, export, import};
pub use gold::{Gold, GoldProblem, GoldTrouble, read_gold};
pub use item::{Content, Item};
pub use resolve::{Outcome, Pending, Resolution, Why, dispute_item, majority, resolve, review_item};
pub use status::{Status, resolve_all, status};
pub use value::{Value, Values};
pub use voted::Voted;
pub use votes::{Receipt, Vote, VoteLog, contradictions};

#[cfg(test)]
mod testing;
