//! Voting: the votes in memory and on disk, the items of every step, and what is open for whom.
//!
//! One thread writes. Casting a vote waits until it is on disk; votes that arrive while one batch is being
//! synced form the next batch, so that fifty people at once need a few syncs instead of fifty. The same
//! thread checks, right before writing, that a vote follows its annotator's latest one, so that two tabs
//! cannot overwrite each other.

mod assignments;
mod items;
mod leases;
mod queue;
mod skips;
mod vote_index;

pub(super) use crate::review::guidance::{Guide, Note, standing};
pub(super) use assignments::Assignments;
pub(super) use items::{BallotItems, Ballots};
pub(super) use leases::Leases;
pub(super) use queue::{Place, ShownItem, far, lacks, own, shown, takes_more, voted, waits};
pub(super) use skips::{Skip, skip};
pub(super) use vote_index::{Cast, VoteIndex, VotingDesk};
