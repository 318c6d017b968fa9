//! The votes of a log in memory, and appending to it.

use std::path::{Path, PathBuf};

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::Vote;
use super::aside::{Asides, SetAside};
use crate::ballot::Round;
use riddlemill_benchmarks::named_now;
use riddlemill_files::digest::Digest;
use riddlemill_files::log::{self, LineError, LogError, Position, Segments, take_value};
use riddlemill_files::par_map::{map_ahead, split_batches};

/// Votes that one core serialises at a time.
const CHUNK: usize = 1 << 12;

/// Votes that are read or checked together on all cores: a million votes are in memory only once.
const BATCH: usize = 1 << 14;

/// All votes of a folder of segments, in the order they were stored.
#[derive(Debug)]
pub struct VoteLog {
    segments: Segments,
    folder: PathBuf,
    position: Position,
    votes: Vec<Vote>,
    /// Which votes do not count.
    asides: Asides,
    ids: FxHashMap<Digest, u32>,
    /// The latest vote of each annotator, item and round.
    heads: FxHashMap<Digest, u32>,
    /// Whether votes on a renamed benchmark are listed under its old name.
    as_cast: bool,
    /// Other unreplaced votes of a seat: logs of two machines were merged.
    contradicting: FxHashMap<Digest, Vec<u32>>,
    damaged: Vec<String>,
}

/// The result of storing votes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VoteReceipt {
    /// Stored and on disk.
    pub added: Vec<Digest>,
    /// Those of them that replace another vote of the same annotator.
    pub changed: usize,
    /// Already stored and current.
    pub known: usize,
    /// Already stored, but changed by the annotator since: an old file was imported again. Their ids.
    pub outdated: Vec<Digest>,
    /// Not stored: from a sheet older than its annotator's current vote. Their items.
    pub late: Vec<String>,
    /// Not stored: from a sheet whose votes were imported before and set aside since. Their items.
    pub aside: Vec<String>,
}

impl VoteLog {
    /// Loads the votes in `dir`, usually `raw/votes`. Does not create it.
    ///
    /// # Errors
    /// [`LogError`] if they cannot be read, were changed, or one has what only a newer program knows.
    pub fn open(dir: impl Into<PathBuf>) -> Result<VoteLog, LogError> {
        VoteLog::read_folder(dir.into(), false)
    }

    /// Loads the votes in `dir` as they were cast: those on a renamed benchmark under its old name.
    ///
    /// # Errors
    /// Those of [`VoteLog::open`].
    pub fn as_cast(dir: impl Into<PathBuf>) -> Result<VoteLog, LogError> {
        VoteLog::read_folder(dir.into(), true)
    }

    fn read_folder(folder: PathBuf, as_cast: bool) -> Result<VoteLog, LogError> {
        let mut log = VoteLog {
            as_cast,
            segments: Segments::in_folder(&folder),
            // Also without a file, so that one that is gone is noticed.
            asides: Asides::read_asides(&folder)?,
            folder,
            position: Position::default(),
            votes: Vec::new(),
            ids: FxHashMap::default(),
            heads: FxHashMap::default(),
            contradicting: FxHashMap::default(),
            damaged: Vec::new(),
        };
        log.refresh()?;
        Ok(log)
    }

    /// Every vote, including superseded ones.
    pub fn votes(&self) -> &[Vote] {
        &self.votes
    }

    /// The votes that count, including superseded ones.
    pub fn counted_votes(&self) -> Vec<&Vote> {
        self.asides.counted_votes(self.votes.iter().collect())
    }

    /// What was decided on votes that do not count.
    pub fn asides(&self) -> &Asides {
        &self.asides
    }

    /// The decision that sets a vote of this log aside.
    pub fn set_aside(&self, vote: &Vote) -> Option<&SetAside> {
        let find = |id: Digest| self.ids.get(&id).map(|&at| &self.votes[at as usize]);
        self.asides.aside_of_vote(vote, find)
    }

    /// The folder that it was read from.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The votes of one step that count, by item.
    pub fn by_item(&self, recipe: &str, step: &str) -> FxHashMap<&str, Vec<&Vote>> {
        let mut items: FxHashMap<&str, Vec<&Vote>> = FxHashMap::default();
        for vote in self.votes.iter().filter(|vote| vote.step == step && vote.recipe == recipe) {
            items.entry(&vote.item).or_default().push(vote);
        }
        if !self.asides.all_decisions().is_empty() {
            items.values_mut().for_each(|votes| *votes = self.asides.counted_votes(std::mem::take(votes)));
            items.retain(|_, votes| !votes.is_empty());
        }
        items
    }

    /// The latest vote of the seat of `vote`.
    pub fn latest_of_seat(&self, vote: &Vote) -> Option<&Vote> {
        self.heads.get(&vote.seat_digest()).map(|&at| &self.votes[at as usize])
    }

    /// Lines that are not votes or have another id, each with its file and line. They are ignored.
    pub fn damaged(&self) -> &[String] {
        &self.damaged
    }

    /// Loads what other processes have stored since.
    pub fn refresh(&mut self) -> Result<(), LogError> {
        self.asides.refresh(&self.folder)?;
        let (mut position, known) = (self.position, self.damaged.len());
        for (path, lines) in self.segments.read_after(&mut position)? {
            let lines: Vec<&[u8]> = log::filled_lines(&lines).collect();
            self.reserve(lines.len());
            let as_cast = self.as_cast;
            let parse = |lines: &[&[u8]]| -> Vec<_> {
                lines.par_iter().map(|line| read_line(line, as_cast)).collect()
            };
            let (mut number, mut newer) = (0, None);
            map_ahead(lines.chunks(BATCH), parse, |votes| {
                for vote in votes {
                    number += 1;
                    match take_value(&path, ("vote", number), vote, &mut self.damaged) {
                        Ok(vote) => vote.into_iter().for_each(|(vote, seat)| self.add_vote(vote, seat)),
                        Err(error) => newer = newer.take().or(Some(error)),
                    }
                }
            });
            if let Some(newer) = newer {
                // The position stays: whoever asks again is refused again.
                self.damaged.truncate(known);
                return Err(newer);
            }
        }
        self.position = position;
        Ok(())
    }

    fn reserve(&mut self, votes: usize) {
        self.votes.reserve(votes);
        self.ids.reserve(votes);
        self.heads.reserve(votes);
    }

    fn add_vote(&mut self, vote: Vote, seat: Digest) {
        let at = self.votes.len() as u32;
        if self.ids.insert(vote.id, at).is_some() {
            return;
        }
        let before = self.heads.insert(seat, at);
        let replaces = |at: u32| vote.supersedes == Some(self.votes[at as usize].id);
        if let Some(before) = before.filter(|&before| !replaces(before)) {
            self.contradicting.entry(seat).or_default().push(before);
        }
        if !vote.settles.is_empty()
            && let Some(contradicting) = self.contradicting.get_mut(&seat)
        {
            contradicting.retain(|&at| !vote.settles.contains(&self.votes[at as usize].id));
        }
        self.votes.push(vote);
    }

    /// Merges the votes of a log that diverged from this one, as they were cast there. If somebody answered
    /// differently on both sides, both votes remain until they vote again
    /// ([`contradictions`](super::find_contradictions)). Returns the new ones; `only_look` stores none.
    ///
    /// # Errors
    /// [`LogError`] if they cannot be written; then none is stored.
    pub fn merge(&mut self, other: &VoteLog, only_look: bool) -> Result<Vec<Vote>, LogError> {
        let segments = self.segments.clone();
        // The lock before the refresh, so that no other process stores the same votes in between.
        let writer = if only_look { None } else { Some(segments.open_writer()?) };
        self.refresh()?;
        let is_new = |vote: &&Vote| !self.ids.contains_key(&vote.id);
        let mut new: Vec<Vote> = other.votes.iter().filter(is_new).cloned().collect();
        let of_here = |vote: &&Vote| vote.round == Round::Adjudication && !other.ids.contains_key(&vote.id);
        let of_here: Vec<&Vote> = self.votes.iter().filter(of_here).collect();
        // Neither adjudicator knew of the other, so the later decision must not silently replace the earlier.
        for vote in new.iter_mut().filter(|vote| vote.round == Round::Adjudication) {
            let against = of_here.iter().filter(|mine| mine.is_about(vote) && !mine.same_content(vote));
            vote.contradicts = against.map(|mine| mine.id).collect();
        }
        if let Some(writer) = writer.filter(|_| !new.is_empty()) {
            let blocks: Vec<Vec<u8>> = new.par_chunks(CHUNK).map(vote_lines).collect::<Result<_, _>>()?;
            writer.append_blocks(&blocks)?;
            self.refresh()?;
        }
        Ok(new)
    }

    /// Stores new votes, and returns when they are on disk. Every vote gets its id and the vote it supersedes
    /// here, under the lock, so that concurrent processes add nothing twice.
    pub fn append_votes(&mut self, votes: Vec<Vote>) -> Result<VoteReceipt, LogError> {
        self.store_votes(votes, false)
    }

    /// [`append`](VoteLog::append_votes) for votes from a sheet, which may be older than the annotator's current
    /// vote: such votes are not stored but reported.
    ///
    /// # Errors
    /// Those of [`append`](VoteLog::append_votes).
    pub fn append_sheet(&mut self, votes: Vec<Vote>) -> Result<VoteReceipt, LogError> {
        self.store_votes(votes, true)
    }

    fn store_votes(&mut self, votes: Vec<Vote>, from_sheet: bool) -> Result<VoteReceipt, LogError> {
        // A copy, because the writer borrows it while `self` changes.
        let segments = self.segments.clone();
        let writer = segments.open_writer()?;
        self.refresh()?;
        let (receipt, lines) = match self.sort_in(votes, from_sheet) {
            Ok(sorted) => sorted,
            Err(error) => return self.revert_to_disk(error),
        };
        if !lines.is_empty() {
            match writer.append_blocks(&lines) {
                // The new votes are in memory already, and the next refresh must not read them again.
                Ok(position) => self.position = position,
                Err(error) => return self.revert_to_disk(error),
            }
        }
        Ok(receipt)
    }

    /// Adds new votes to memory, and returns the lines to store. Of two equal ones in one batch the second
    /// counts as known.
    fn sort_in(
        &mut self,
        votes: Vec<Vote>,
        from_sheet: bool,
    ) -> Result<(VoteReceipt, Vec<Vec<u8>>), LogError> {
        let mut receipt = VoteReceipt::default();
        let stored = self.votes.len();
        self.reserve(votes.len());
        let seated = |vote: Vote| {
            let vote = vote.with_id();
            let seat = vote.seat_digest();
            (vote, seat)
        };
        let seat_all = |votes: Vec<Vote>| -> Vec<_> { votes.into_par_iter().map(seated).collect() };
        map_ahead(split_batches(votes, BATCH), seat_all, |batch| {
            for (vote, seat) in batch {
                self.sort_one_in(vote, seat, from_sheet, &mut receipt);
            }
        });
        let lines = self.votes[stored..].par_chunks(CHUNK).map(vote_lines).collect::<Result<_, _>>()?;
        Ok((receipt, lines))
    }

    fn sort_one_in(&mut self, mut vote: Vote, seat: Digest, from_sheet: bool, receipt: &mut VoteReceipt) {
        let head = self.heads.get(&seat).map(|&at| &self.votes[at as usize]);
        let contradicting = self.contradicting.get(&seat).map_or(&[][..], Vec::as_slice);
        let aside = head.filter(|head| self.set_aside(head).is_some());
        if let Some(aside) = aside {
            if from_sheet && self.ids.contains_key(&vote.id) {
                receipt.aside.push(vote.item);
                return;
            }
            // Whoever votes again after their vote was set aside gives a new answer, even if it is the same one.
            if !from_sheet && vote.base != Some(aside.id) {
                vote = Vote { base: Some(aside.id), ..vote }.with_id();
            }
        }
        // The same answer again settles a contradiction, so it is stored then.
        let is_known = |head: &Vote| {
            head.id == vote.id || (head.same_content(&vote) && contradicting.is_empty() && aside.is_none())
        };
        if head.is_some_and(is_known) {
            receipt.known += 1;
        } else if self.ids.contains_key(&vote.id) {
            receipt.outdated.push(vote.id);
        } else if from_sheet && aside.is_none() && head.is_some_and(|head| vote.is_late(head)) {
            receipt.late.push(vote.item);
        } else {
            vote.supersedes = head.map(|head| head.id);
            vote.settles.extend(contradicting.iter().map(|&at| self.votes[at as usize].id));
            receipt.changed += usize::from(vote.supersedes.is_some());
            receipt.added.push(vote.id);
            self.add_vote(vote, seat);
        }
    }

    /// Reverts to what is on disk after a failed write.
    fn revert_to_disk(&mut self, error: LogError) -> Result<VoteReceipt, LogError> {
        *self = VoteLog::read_folder(self.folder.clone(), self.as_cast)?;
        Err(error)
    }
}

/// Votes as stored, one per line.
fn vote_lines(votes: &[Vote]) -> Result<Vec<u8>, LogError> {
    let mut lines = Vec::with_capacity(votes.len() * 512);
    for vote in votes {
        serde_json::to_writer(&mut lines, vote).map_err(|source| LogError::Unwritable { source })?;
        lines.push(b'\n');
    }
    Ok(lines)
}

fn read_line(line: &[u8], as_cast: bool) -> Result<(Vote, Digest), LineError> {
    let mut vote: Vote = serde_json::from_slice(line)?;
    LineError::refuse_edited(vote.id, vote.compute_id())?;
    if let Some(now) = named_now(&vote.recipe).filter(|_| !as_cast) {
        now.clone_into(&mut vote.recipe);
    }
    let seat = vote.seat_digest();
    Ok((vote, seat))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ballot::Role;
    use crate::value::Values;
    use crate::votes::current_votes;
    use crate::{ballots, testing};

    fn vote(item: &str, annotator: &str, kind: &str, base: Option<Digest>) -> Vote {
        let step = ballots::find_step("flub", "type").unwrap();
        let item = testing::test_item(&step, item, &[]);
        Vote {
            annotator: annotator.into(),
            role: Role::Junior,
            values: [("type", kind)].into_iter().collect::<Values>(),
            at: "2026-01-01T00:00:00Z".into(),
            source: "a.csv".into(),
            base,
            ..Vote::on_item(&step, &item)
        }
    }

    #[test]
    fn logs_that_grew_apart_are_put_together_once_and_contradictions_stand() {
        use crate::votes::find_contradictions;
        let [here, there] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let mut mine = VoteLog::open(here.path()).unwrap();
        let shared = mine.append_votes(vec![vote("i", "a", "paradox", None)]).unwrap().added[0];
        let mut theirs = VoteLog::open(there.path()).unwrap();
        assert_eq!(theirs.merge(&mine, false).unwrap().len(), 1);
        // The same annotator changes the shared vote on both sides, and somebody else votes only there.
        mine.append_votes(vec![vote("i", "a", "ambiguity", Some(shared))]).unwrap();
        let other = vote("i", "a", "word_game", Some(shared));
        theirs.append_votes(vec![other, vote("j", "b", "paradox", None)]).unwrap();
        assert_eq!(mine.merge(&theirs, true).unwrap().len(), 2);
        assert_eq!(mine.votes().len(), 2, "a look stores nothing");
        assert_eq!(mine.merge(&theirs, false).unwrap().len(), 2);
        assert_eq!(mine.merge(&theirs, false).unwrap().len(), 0, "once");
        assert_eq!(theirs.merge(&mine, false).unwrap().len(), 1);
        for log in [&mine, &theirs, &VoteLog::open(here.path()).unwrap()] {
            let all: Vec<&Vote> = log.votes().iter().collect();
            let [(_, beside)] = &find_contradictions(&all)[..] else { panic!("one") };
            assert_eq!((all.len(), beside.len()), (4, 1));
        }
        // The same answer again settles it.
        let head = mine.latest_of_seat(&vote("i", "a", "", None)).unwrap().clone();
        let again = Vote { base: Some(head.id), ..head };
        assert_eq!(mine.append_votes(vec![again]).unwrap().added.len(), 1);
        for log in [&mine, &VoteLog::open(here.path()).unwrap()] {
            assert!(find_contradictions(&log.votes().iter().collect::<Vec<_>>()).is_empty());
        }
        assert!(VoteLog::open(here.path()).unwrap().damaged().is_empty());
    }

    #[test]
    fn twice_the_same_adds_nothing_and_a_changed_mind_supersedes() {
        let dir = tempfile::tempdir().unwrap();
        let mut log = VoteLog::open(dir.path()).unwrap();
        let first =
            log.append_votes(vec![vote("i", "a", "paradox", None), vote("i", "a", "paradox", None)]).unwrap();
        assert_eq!((first.added.len(), first.known), (1, 1));

        let second = log.append_votes(vec![vote("i", "a", "ambiguity", Some(first.added[0]))]).unwrap();
        assert_eq!((second.added.len(), second.changed), (1, 1));
        // The old file is imported again: no changed vote.
        let again = log.append_votes(vec![vote("i", "a", "paradox", None)]).unwrap();
        assert_eq!(again.outdated, first.added);
        // Back to the first answer after the second vote.
        let back = log.append_votes(vec![vote("i", "a", "paradox", Some(second.added[0]))]).unwrap();
        assert_eq!(back.added.len(), 1);

        let reopened = VoteLog::open(dir.path()).unwrap();
        assert_eq!(reopened.votes(), log.votes());
        let all: Vec<&Vote> = reopened.votes().iter().collect();
        let heads = current_votes(&all);
        assert_eq!(heads.len(), 1);
        assert_eq!(heads[0].id, back.added[0]);
    }

    #[test]
    fn a_sheet_that_was_filled_in_before_is_reported_and_not_stored() {
        use crate::votes::PAGE;
        let dir = tempfile::tempdir().unwrap();
        let mut log = VoteLog::open(dir.path()).unwrap();
        let on_page = |vote: Vote| Vote { source: PAGE.into(), ..vote };
        // The sheet was exported before the page was used, and is imported after.
        log.append_votes(vec![on_page(vote("i", "a", "paradox", None))]).unwrap();
        let late = log.append_sheet(vec![vote("i", "a", "ambiguity", None)]).unwrap();
        assert_eq!((late.added.len(), late.late), (0, vec!["i".to_string()]));
        // A sheet that is corrected and imported again is a changed vote.
        let first = log.append_sheet(vec![vote("j", "a", "paradox", None)]).unwrap().added[0];
        let second = log.append_sheet(vec![vote("j", "a", "ambiguity", None)]).unwrap().added[0];
        // So is one that was exported from the current votes; then the older one is late.
        let third = log.append_sheet(vec![vote("j", "a", "word_game", Some(second))]).unwrap();
        assert_eq!((third.added.len(), third.changed), (1, 1));
        for base in [None, Some(first)] {
            let late = log.append_sheet(vec![vote("j", "a", "other", base)]).unwrap();
            assert_eq!((late.added.len(), late.late.len()), (0, 1), "{base:?}");
        }
        assert_eq!(VoteLog::open(dir.path()).unwrap().votes().len(), 4);
    }

    #[test]
    fn two_writers_at_once_add_nothing_twice() {
        let dir = tempfile::tempdir().unwrap();
        let mut logs: Vec<VoteLog> = (0..4).map(|_| VoteLog::open(dir.path()).unwrap()).collect();
        std::thread::scope(|scope| {
            for log in &mut logs {
                scope.spawn(|| {
                    for item in 0..25 {
                        log.append_votes(vec![vote(&item.to_string(), "a", "paradox", None)]).unwrap();
                    }
                });
            }
        });
        let log = VoteLog::open(dir.path()).unwrap();
        assert_eq!(log.votes().len(), 25);
        assert!(log.damaged().is_empty());
        for log in &mut logs {
            log.refresh().unwrap();
            assert_eq!(log.votes().len(), 25);
        }
    }

    /// Files from before lines were chained.
    #[test]
    fn edited_and_broken_lines_are_named_and_kept_out() {
        let dir = tempfile::tempdir().unwrap();
        let votes = [vote("i", "a", "paradox", None), vote("j", "a", "paradox", None)].map(Vote::with_id);
        let text =
            String::from_utf8(vote_lines(&votes).unwrap()).unwrap().replacen("paradox", "ambiguity", 1);
        std::fs::write(dir.path().join("000001.jsonl"), text + "not json\n{\"torn\":").unwrap();
        let log = VoteLog::open(dir.path()).unwrap();
        assert_eq!(log.votes().len(), 1);
        assert_eq!(log.damaged().len(), 2, "{:?}", log.damaged());
        assert!(log.damaged()[0].contains("edited by hand"));
    }

    #[test]
    fn an_edited_line_behind_others_stops_everything() {
        let dir = tempfile::tempdir().unwrap();
        let mut log = VoteLog::open(dir.path()).unwrap();
        let first = log.append_votes(vec![vote("i", "a", "paradox", None)]).unwrap().added[0];
        log.append_votes(vec![vote("i", "a", "ambiguity", Some(first)), vote("j", "b", "paradox", None)])
            .unwrap();
        let path = dir.path().join("000001.jsonl");
        let text = std::fs::read_to_string(&path).unwrap();
        // Not part of a vote's id.
        let other = log.votes()[2].id.to_string();
        let superseded = format!("\"supersedes\":\"{first}\"");
        std::fs::write(&path, text.replace(&superseded, &format!("\"supersedes\":\"{other}\""))).unwrap();
        let error = VoteLog::open(dir.path()).unwrap_err().to_string();
        assert!(error.contains("line 2") && error.contains("fsck"), "{error}");
    }
}
