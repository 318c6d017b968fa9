//! Who answered what in the tables of one import, so that two different answers to one question are noticed.

use rustc_hash::FxHashMap;

use riddlemill_files::digest::Digest;

use super::problem::{Problem, VoteProblem};
use crate::votes::Vote;

/// The votes of all tables, each once.
#[derive(Default)]
pub(super) struct Seats {
    /// The names of the tables.
    files: Vec<String>,
    votes: Vec<Seated>,
    /// The first vote of each person on each item, that knows of the same earlier vote: a sheet that was written after
    /// an earlier vote was imported names it, and the log knows which of the two is later.
    first: FxHashMap<(Digest, Option<Digest>), usize>,
}

struct Seated {
    /// `None` once it was contradicted.
    vote: Option<Vote>,
    table: usize,
    place: String,
}

impl Seats {
    /// The votes that follow are of this file.
    pub(super) fn begin_table(&mut self, file: &str) {
        self.files.push(file.to_owned());
    }

    /// Adds a vote of the last table, unless the same is there. A problem if another answer of the same person to the
    /// same item is there: neither is stored then.
    pub(super) fn add_vote(
        &mut self,
        vote: Vote,
        seat: Digest,
        place: impl Fn() -> String,
    ) -> Option<Problem> {
        let table = self.files.len().saturating_sub(1);
        let Some(&slot) = self.first.get(&(seat, vote.base)) else {
            self.first.insert((seat, vote.base), self.votes.len());
            self.votes.push(Seated { vote: Some(vote), table, place: place() });
            return None;
        };
        let first = &mut self.votes[slot];
        if first.vote.as_ref().is_some_and(|earlier| earlier.same_content(&vote)) {
            return None;
        }
        // Nobody knows which of two different answers is meant, so neither is stored.
        first.vote = None;
        let other = match first.table == table {
            true => first.place.clone(),
            false => format!("{}, {}", self.files[first.table], first.place),
        };
        let (annotator, item) = (vote.annotator, vote.item);
        let trouble = VoteProblem::Conflict { annotator, item, other };
        Some(Problem { file: self.files[table].clone(), place: place(), trouble })
    }

    /// The votes that nothing contradicts, each with the number of its table.
    pub(super) fn take_votes(self) -> impl Iterator<Item = (usize, Vote)> {
        self.votes.into_iter().filter_map(|Seated { vote, table, .. }| Some((table, vote?)))
    }
}
