//! Ballots, votes, agreement and decisions.
//!
//! # In reading order
//!
//! - [`ballot`]: what a ballot asks; [`ballots`]: the ballots of the benchmarks. [`item`]: what an annotator is shown, and its
//!   hash; `blinding`: in which order.
//! - [`answers`]: what an annotator typed or clicked, parsed into checked values, and back.
//! - [`votes`]: votes and their log. [`guidance`]: comments on votes and edited guidelines.
//! - [`mod@assign`]: who votes on which item; [`qualify`]: trials with items whose answers are known (`gold`), which decide who
//!   may vote; [`grades`]: their results.
//! - `resolve`: from the votes on an item to its result; [`mod@adjudicate`]: disputes and their settlement; [`carry`]: votes
//!   carried over to a text that has changed.
//! - [`mod@agreement`]: agreement between annotators; [`voted`] and [`mod@status`]: the result and the progress of a ballot.
//! - [`people`]: each person's votes beside everybody's, and how unlikely they are to be honest work.
//! - [`exchange`]: ballots exported and votes imported, as sheets and for Label Studio.
//! - [`decisions`]: people's decisions about single records and pairs.

pub mod adjudicate;
pub mod agreement;
pub mod answers;
pub mod assign;
pub use riddlemill_benchmarks::ballot;
pub mod ballots;
mod blinding;
pub mod carry;
pub mod decisions;
pub mod exchange;
mod gold;
pub mod grades;
pub mod guidance;
pub mod item;
pub mod people;
pub mod qualify;
mod resolve;
pub mod status;
mod value;
pub mod voted;
pub mod votes;

use riddlemill_files::log::LogName;
pub use riddlemill_files::{Digest, NotADigest};

pub use adjudicate::{decide_dispute, find_disputes, reopen_item};
pub use agreement::measure_agreement;
pub use assign::{
    Annotator, AssignError, AssignSettings, LastTrial, Task, assign_items, hand_on, kept_off,
    missing_requirement, reassign_tasks,
};
pub use ballot::{Ballot, Role, Round};
pub use blinding::Blinding;
pub use exchange::{
    BallotSheet, Format, Import, ImportSettings, ItemIndex, Problem, VoteTable, export_ballot, import_tables,
    import_votes,
};
pub use gold::{Gold, GoldProblem, GoldTrouble, read_gold};
pub use item::{Content, HandedHash, Item};
pub use resolve::{
    Outcome, Pending, Resolution, UndecidedReason, dispute_item, majority_answer, resolve_item, review_item,
};
pub use status::{Status, count_outcomes, resolve_all};
pub use value::{Value, Values};
pub use voted::Voted;
pub use votes::{Vote, VoteLog, VoteReceipt, find_contradictions};

/// Whether a line of one of these logs is one that this version reads: of a vote, a decision, or a text that voters saw.
pub fn is_readable_line(log: &str, line: &[u8]) -> bool {
    match log {
        "votes" => serde_json::from_slice::<Vote>(line).is_ok(),
        "decisions" => serde_json::from_slice::<decisions::DecisionLine>(line).is_ok(),
        "seen" => serde_json::from_slice::<carry::Seen>(line).is_ok(),
        _ => true,
    }
}

/// The logs of raw/ that are written here.
pub const LOGS: &[LogName] = &[
    LogName::Segments("votes"),
    LogName::Segments("decisions"),
    LogName::Segments("seen"),
    LogName::Files("votes/notes"),
    LogName::Files("votes/guidelines"),
    LogName::Files("votes/trials"),
    LogName::Files("votes/aside"),
];

#[cfg(test)]
mod newer;
#[cfg(test)]
mod testing;
