//! Ballots, votes, agreement: where people decide.

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
