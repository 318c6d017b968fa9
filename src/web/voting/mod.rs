//! The desk at which people vote: the votes in memory and on disk, the items of every step, and what is
//! open for whom.
//!
//! One thread writes. Whoever casts a vote waits until it is on disk; votes that come in while one batch is
//! being synced go into the next batch together, so that fifty people at once cost a few syncs and not
//! fifty. The check that a vote answers what its annotator last said is made by that thread too, right
//! before it writes: two tabs cannot slip past each other.

mod assignments;
mod items;
mod queue;
mod skips;
mod vote_index;

pub(super) use crate::review::beside::{Guide, Note, standing};
pub(super) use assignments::Assignments;
pub(super) use items::{BallotItems, Ballots};
pub(super) use queue::{Place, Seen, far, own, shown, voted, waits};
pub(super) use skips::{Skip, skip};
pub(super) use vote_index::{Cast, VoteIndex, VotingDesk};
