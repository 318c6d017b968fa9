//! The votes, and the one thread that adds to them.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, RwLock, RwLockReadGuard};

use rustc_hash::FxHashMap;
use tokio::sync::oneshot;

use super::assignments::{self, Assignments, Skip};
use crate::file_cache::FileCache;
use crate::pipeline::Tasks;
use crate::review::guidance::{self, BallotGuideline, Note};
use crate::review::votes::Asides;
use crate::review::{Ballot, Digest, Vote, VoteLog};
use crate::store::{Error, Workspace};
use riddlemill_files::log::{LogError, receive_batch};

/// Most votes written in one batch.
const BATCH: usize = 256;

/// The result of casting a vote.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum CastResult {
    /// It is on disk, now or from before: equal votes are stored once.
    Saved(Digest),
    /// Its annotator has voted differently on the item since the page was made: that vote's id.
    Overtaken(Option<Digest>),
    /// It is not on disk.
    Failed(String),
}

/// All votes of the log, by step and item.
pub(crate) struct VoteIndex {
    log: Option<VoteLog>,
    taken: usize,
    /// By recipe, by step, then by item.
    places: FxHashMap<String, FxHashMap<String, FxHashMap<String, Vec<u32>>>>,
}

/// The votes, and the channel to their writer.
pub(crate) struct VoteService {
    index: Arc<RwLock<VoteIndex>>,
    workspace: Workspace,
    writer: Sender<Message>,
    given: FileCache<Assignments>,
    skips: FileCache<Vec<Skip>>,
    notes: FileCache<Vec<Note>>,
    guides: FileCache<Vec<BallotGuideline>>,
}

struct Message {
    vote: Vote,
    done: oneshot::Sender<CastResult>,
}

impl VoteIndex {
    /// The votes on an item that count, including superseded ones.
    pub(crate) fn counted_votes(&self, recipe: &str, step: &str, item: &str) -> Vec<&Vote> {
        let votes = self.stored_votes(recipe, step, item);
        match &self.log {
            Some(log) if !votes.is_empty() => log.asides().counted_votes(votes),
            _ => votes,
        }
    }

    /// What was decided on votes that do not count.
    pub(crate) fn asides(&self) -> Asides {
        self.log.as_ref().map(|log| log.asides().clone()).unwrap_or_default()
    }

    /// The votes on an item, including those that do not count.
    pub(crate) fn stored_votes(&self, recipe: &str, step: &str, item: &str) -> Vec<&Vote> {
        let Some(log) = &self.log else { return Vec::new() };
        let places = self.places.get(recipe).and_then(|steps| steps.get(step));
        let places = places.and_then(|items| items.get(item)).map(Vec::as_slice).unwrap_or_default();
        places.iter().map(|at| &log.votes()[*at as usize]).collect()
    }

    /// The items of a step with votes; `None` if it has no votes.
    pub(crate) fn voted_items(&self, recipe: &str, step: &str) -> Option<&FxHashMap<String, Vec<u32>>> {
        self.places.get(recipe).and_then(|steps| steps.get(step))
    }

    /// Every vote of a step by item.
    pub(crate) fn by_item(&self, recipe: &str, step: &str) -> FxHashMap<&str, Vec<&Vote>> {
        self.log.as_ref().map(|log| log.by_item(recipe, step)).unwrap_or_default()
    }

    /// Indexes what is new in the log.
    fn index(&mut self) {
        let Some(log) = &self.log else { return };
        // After a failure the log was reloaded, and may be shorter.
        if log.votes().len() < self.taken {
            (self.taken, self.places) = (0, FxHashMap::default());
        }
        for (at, vote) in log.votes().iter().enumerate().skip(self.taken) {
            let step =
                self.places.entry(vote.recipe.clone()).or_default().entry(vote.step.clone()).or_default();
            step.entry(vote.item.clone()).or_default().push(at as u32);
        }
        self.taken = log.votes().len();
    }

    /// Loads what other processes wrote. Does not create the folder.
    fn refresh_index(&mut self, folder: &PathBuf) -> Result<(), LogError> {
        match &mut self.log {
            Some(log) => log.refresh()?,
            None => self.log = Some(VoteLog::open(folder)?),
        }
        self.index();
        Ok(())
    }
}

fn votes_folder(workspace: &Workspace) -> PathBuf {
    workspace.raw_folder().join("votes")
}

impl VoteService {
    /// Opens a workspace's votes.
    pub(crate) fn open(workspace: &Workspace) -> VoteService {
        let folder = votes_folder(workspace);
        let vote_index =
            Arc::new(RwLock::new(VoteIndex { log: None, taken: 0, places: FxHashMap::default() }));
        let (writer, messages) = channel();
        let own = vote_index.clone();
        std::thread::spawn(move || write_votes(&messages, &own, &folder));
        let workspace = workspace.clone();
        let (given, skips, notes, guides) = Default::default();
        VoteService { index: vote_index, workspace, writer, given, skips, notes, guides }
    }

    /// The assignments of a step.
    pub(crate) fn read_assignments(&self, recipe: &str, step: &str) -> Result<Arc<Assignments>, Error> {
        let read = || Tasks::open(&self.workspace, recipe, step).map(Assignments::new);
        self.given.get(&Tasks::path_of_step(&self.workspace, recipe, step), read)
    }

    /// The skipped items of a step, in order.
    pub(crate) fn read_skips(&self, recipe: &str, step: &str) -> Result<Arc<Vec<Skip>>, Error> {
        let path = assignments::skips_path(&self.workspace, recipe, step);
        self.skips.get(&path, || assignments::read_skips(&self.workspace, recipe, step))
    }

    /// The remarks on votes of a step, in order.
    pub(crate) fn read_remarks(&self, recipe: &str, step: &str) -> Result<Arc<Vec<Note>>, Error> {
        let path = guidance::path_of_notes(&votes_folder(&self.workspace), recipe, step);
        Ok(self.notes.get(&path, || guidance::read_entries(path.clone()))?)
    }

    /// Records a remark on a vote, which is on disk when this returns.
    pub(crate) fn record_remark(&self, recipe: &str, step: &str, new: &Note) -> Result<(), Error> {
        Ok(guidance::add(guidance::path_of_notes(&votes_folder(&self.workspace), recipe, step), new)?)
    }

    /// A step's guideline in all versions, from the benchmark's own to the current one.
    pub(crate) fn read_guidelines(
        &self,
        recipe: &str,
        ballot: &Ballot,
    ) -> Result<Vec<BallotGuideline>, Error> {
        let kept = self.kept_guides(recipe, ballot.name)?;
        // An earlier text of the benchmark is kept for votes cast under it, but is no longer in use.
        let (came_with, edits): (Vec<BallotGuideline>, Vec<BallotGuideline>) =
            kept.iter().cloned().partition(|guide| guide.by.is_empty());
        Ok(came_with.into_iter().chain([BallotGuideline::of_ballot(ballot)]).chain(edits).collect())
    }

    /// The stored lines of a step's guidelines.
    pub(crate) fn kept_guides(&self, recipe: &str, step: &str) -> Result<Arc<Vec<BallotGuideline>>, Error> {
        let path = guidance::path_of_guides(&votes_folder(&self.workspace), recipe, step);
        Ok(self.guides.get(&path, || guidance::read_entries(path.clone()))?)
    }

    /// Stores an edited guideline, which is on disk when this returns.
    pub(crate) fn store_guideline(
        &self,
        recipe: &str,
        step: &str,
        new: &BallotGuideline,
    ) -> Result<(), Error> {
        Ok(guidance::add(guidance::path_of_guides(&votes_folder(&self.workspace), recipe, step), new)?)
    }

    /// The current votes on disk.
    pub(crate) fn current_votes(&self) -> Result<RwLockReadGuard<'_, VoteIndex>, LogError> {
        {
            // Only the refresh needs the exclusive lock; pages read concurrently.
            let mut vote_index = self.index.write().unwrap_or_else(std::sync::PoisonError::into_inner);
            vote_index.refresh_index(&votes_folder(&self.workspace))?;
        }
        Ok(self.index.read().unwrap_or_else(std::sync::PoisonError::into_inner))
    }

    /// Casts a vote; returns once it is on disk.
    pub(crate) async fn cast_vote(&self, vote: Vote) -> CastResult {
        let (done, answer) = oneshot::channel();
        let no_writer = || CastResult::Failed("the writer is gone; start the server again".to_string());
        if self.writer.send(Message { vote: vote.with_id(), done }).is_err() {
            return no_writer();
        }
        answer.await.unwrap_or_else(|_| no_writer())
    }
}

/// Writes votes until the channel is closed.
fn write_votes(messages: &Receiver<Message>, board: &RwLock<VoteIndex>, folder: &PathBuf) {
    while let Some(batch) = receive_batch(messages, BATCH) {
        let mut vote_index = board.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        let answers = match vote_index.refresh_index(folder) {
            Ok(()) => store_batch(&mut vote_index, &batch),
            Err(e) => batch.iter().map(|_| CastResult::Failed(e.to_string())).collect(),
        };
        // Released before the answers are sent, so that pages can read again.
        drop(vote_index);
        for (message, answer) in batch.into_iter().zip(answers) {
            // If nobody waits any more, the vote will be found next time.
            let _ = message.done.send(answer);
        }
    }
}

fn store_batch(board: &mut VoteIndex, batch: &[Message]) -> Vec<CastResult> {
    let Some(log) = &mut board.log else { return Vec::new() };
    // Whoever votes again after their vote was set aside gives a new answer, even if it is the same one.
    let anew = |vote: &Vote| match log.latest_of_seat(vote).filter(|head| log.set_aside(head).is_some()) {
        Some(aside) => (Vote { base: Some(aside.id), ..vote.clone() }.with_id(), true),
        None => (vote.clone(), false),
    };
    let batch: Vec<(Vote, bool)> = batch.iter().map(|message| anew(&message.vote)).collect();
    let mut taken: Vec<&Vote> = Vec::new();
    let mut answers: Vec<CastResult> = Vec::new();
    let mut new = Vec::new();
    for (vote, is_anew) in &batch {
        // Two tabs in one batch: the later vote has to follow the earlier one.
        let same_seat = |other: &&&Vote| {
            (&other.item, &other.annotator, other.round, &other.step, &other.recipe)
                == (&vote.item, &vote.annotator, vote.round, &vote.step, &vote.recipe)
        };
        let earlier = taken.iter().rev().find(same_seat).copied();
        let says_as = |head: &Vote| head.values == vote.values && head.content_hash == vote.content_hash;
        // What was set aside is not saved already.
        let counts = earlier.is_some() || !is_anew;
        let head = earlier.or_else(|| log.latest_of_seat(vote));
        answers.push(match head {
            // Checked before the base: the second of two clicks sends the same vote and base as the first.
            Some(head) if counts && (head.id == vote.id || says_as(head)) => CastResult::Saved(head.id),
            head if head.map(|head| head.id) != vote.base => CastResult::Overtaken(head.map(|head| head.id)),
            _ => {
                taken.push(vote);
                new.push(vote.clone());
                CastResult::Saved(vote.id)
            }
        });
    }
    if let Err(e) = log.append_votes(new) {
        let why = e.to_string();
        answers.iter_mut().for_each(|answer| *answer = CastResult::Failed(why.clone()));
    }
    board.index();
    answers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::review::Values;
    use crate::review::ballot::Role;

    fn vote(item: usize, annotator: &str, kind: &str, base: Option<Digest>) -> Vote {
        let step = crate::review::ballots::find_step("flub", "type").unwrap();
        let item =
            crate::review::Item::new(&step, item.to_string(), crate::review::Content::new(), Values::new());
        Vote {
            annotator: annotator.into(),
            role: Role::Junior,
            values: [("type", kind)].into_iter().collect(),
            at: "2026-01-01T00:00:00Z".into(),
            source: "page".into(),
            base,
            ..Vote::on_item(&step, &item)
        }
    }

    fn wait<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
    }

    #[test]
    fn a_double_click_is_one_vote_and_another_tab_is_informed() {
        let dir = tempfile::tempdir().unwrap();
        let desk = VoteService::open(&Workspace::new(dir.path()));
        assert!(desk.current_votes().unwrap().counted_votes("flub", "type", "1").is_empty());
        assert!(!dir.path().join("raw").exists(), "looking makes no folder");
        let CastResult::Saved(first) = wait(desk.cast_vote(vote(1, "a", "paradox", None))) else { panic!() };
        assert_eq!(wait(desk.cast_vote(vote(1, "a", "paradox", None))), CastResult::Saved(first));
        assert_eq!(wait(desk.cast_vote(vote(1, "a", "ambiguity", None))), CastResult::Overtaken(Some(first)));
        let CastResult::Saved(second) = wait(desk.cast_vote(vote(1, "a", "ambiguity", Some(first)))) else {
            panic!()
        };
        assert_ne!(first, second);
        assert_eq!(desk.current_votes().unwrap().counted_votes("flub", "type", "1").len(), 2);
        assert_eq!(VoteLog::open(dir.path().join("raw/votes")).unwrap().votes().len(), 2);
    }

    #[test]
    fn fifty_people_at_once_lose_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let desk = VoteService::open(&Workspace::new(dir.path()));
        std::thread::scope(|scope| {
            for person in 0..50 {
                let desk = &desk;
                scope.spawn(move || {
                    for item in 0..20 {
                        let cast = wait(desk.cast_vote(vote(item, &format!("p{person}"), "paradox", None)));
                        assert!(matches!(cast, CastResult::Saved(_)), "{cast:?}");
                    }
                });
            }
        });
        assert_eq!(VoteLog::open(dir.path().join("raw/votes")).unwrap().votes().len(), 1000);
    }
}
