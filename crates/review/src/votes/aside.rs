//! Votes that a manager set aside: raw/votes/aside/set-aside.jsonl, append-only.
//!
//! They stay in the log of votes and do not count. Setting aside is a decision like others: it has an author and a
//! reason, and can be withdrawn.

use std::path::{Path, PathBuf};

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use super::{Vote, unreplaced_votes};
use riddlemill_benchmarks::named_now;
use riddlemill_files::digest::Digest;
use riddlemill_files::log::{LineError, Log, LogError};

/// Whose votes do not count, and which of them: all, those of a ballot, those of a span of time. Only votes cast
/// before the decision are meant, so that somebody may vote again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetAside {
    /// The hash of all fields except the time.
    pub id: Digest,
    /// Whose votes.
    pub annotator: String,
    /// Only those of this recipe.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recipe: Option<String>,
    /// Only those of this step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// Only those cast at this time or later: the beginning of an RFC 3339 time, such as a day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Only those cast at this time or before; a day includes all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Who decided.
    pub by: String,
    /// Why.
    pub why: String,
    /// When, RFC 3339.
    pub at: String,
}

impl SetAside {
    /// All votes of somebody; the narrower fields are filled in afterwards.
    pub fn all_of(annotator: &str, by: &str, why: &str, at: &str) -> SetAside {
        SetAside {
            id: Digest::of_parts("riddlemill set aside v1", [annotator.as_bytes()]),
            annotator: annotator.to_owned(),
            recipe: None,
            step: None,
            from: None,
            until: None,
            by: by.to_owned(),
            why: why.to_owned(),
            at: at.to_owned(),
        }
    }

    /// The id computed from the fields. The time is part of it, because the same decision on later votes is another.
    pub fn compute_id(&self) -> Digest {
        let optional = |text: &Option<String>| match text {
            Some(text) => ["+", text].concat(),
            None => String::new(),
        };
        let [recipe, step, from, until] = [&self.recipe, &self.step, &self.from, &self.until].map(optional);
        let parts = [&self.annotator, &recipe, &step, &from, &until, &self.by, &self.why, &self.at];
        Digest::of_parts("riddlemill set aside v1", parts.map(|part| part.as_bytes()))
    }

    /// The decision with its correct id.
    pub fn with_id(self) -> SetAside {
        SetAside { id: self.compute_id(), ..self }
    }

    /// Whether its span can mean any vote.
    ///
    /// # Errors
    /// [`ReversedSpan`] if it begins after its end.
    pub fn check_span(&self) -> Result<(), ReversedSpan> {
        let (Some(from), Some(until)) = (&self.from, &self.until) else { return Ok(()) };
        // A day is compared with the day of a time.
        let common = from.len().min(until.len());
        match from.get(..common) > until.get(..common) {
            true => Err(ReversedSpan { from: from.clone(), until: until.clone() }),
            false => Ok(()),
        }
    }

    /// Whether it means a vote that was cast at `at`.
    pub fn covers(&self, vote: &Vote, at: &str) -> bool {
        let only = |own: &Option<String>, of: &str| own.as_deref().is_none_or(|own| own == of);
        let cut = |to: &str| at.get(..to.len()).unwrap_or(at).to_owned();
        // Times are RFC 3339 in UTC, whose order as texts is that of time.
        self.annotator == vote.annotator
            && !vote.synthetic
            && only(&self.recipe, &vote.recipe)
            && only(&self.step, &vote.step)
            && self.from.as_deref().is_none_or(|from| cut(from).as_str() >= from)
            && self.until.as_deref().is_none_or(|until| cut(until).as_str() <= until)
            && at <= self.at.as_str()
    }
}

/// A span that begins after its end, and so means no vote.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the span begins after its end: from {from} until {until}")]
pub struct ReversedSpan {
    pub from: String,
    pub until: String,
}

/// The withdrawal of such a decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restored {
    /// The decision.
    pub undoes: Digest,
    /// Who took it back.
    pub by: String,
    /// Why.
    pub why: String,
    /// When, RFC 3339.
    pub at: String,
}

/// A manager's word that somebody whose answers to known items lie below the bound gets work again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Admitted {
    /// Who gets work again.
    pub annotator: String,
    /// Who said so.
    pub by: String,
    /// Why.
    pub why: String,
    /// When, RFC 3339: known items answered before it no longer stop them.
    pub at: String,
}

/// A line of the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum AsideLine {
    /// Votes do not count.
    SetAside(SetAside),
    /// A decision is withdrawn: its votes count again.
    Undo(Restored),
    /// Somebody gets work again.
    Admit(Admitted),
}

/// The decisions of a workspace on votes that do not count.
#[derive(Clone, Debug, Default)]
pub struct Asides {
    all: Vec<SetAside>,
    undone: FxHashMap<Digest, Restored>,
    admitted: Vec<Admitted>,
    /// Of the file that was read, in bytes.
    length: u64,
}

/// The file, under the folder of the votes.
fn aside_path(votes: &Path) -> PathBuf {
    votes.join("aside").join("set-aside.jsonl")
}

impl Asides {
    /// Reads the decisions in `votes`, usually raw/votes; none if the file is missing.
    ///
    /// # Errors
    /// [`LogError`] if the file cannot be read, was changed, or has a line that is none of its own.
    pub fn read_asides(votes: &Path) -> Result<Asides, LogError> {
        let path = aside_path(votes);
        let mut asides = Asides { length: length_of(&path), ..Asides::default() };
        for (at, line) in Log::in_file(&path).read_lines()?.split(|&byte| byte == b'\n').enumerate() {
            if line.trim_ascii().is_empty() {
                continue;
            }
            let unread = |error: &serde_json::Error| LogError::unreadable_line(&path, at + 1, error);
            let line: AsideLine = serde_json::from_slice(line).map_err(|e| unread(&e))?;
            if let AsideLine::SetAside(aside) = &line
                && let Err(edited) = LineError::refuse_edited(aside.id, aside.compute_id())
            {
                let what = format!("line {}: {edited}", at + 1);
                return Err(LogError::Damaged { path, what, is_foreign: false });
            }
            asides.apply_line(line);
        }
        Ok(asides)
    }

    /// Reads what other processes have decided since.
    ///
    /// # Errors
    /// Those of [`Asides::read_asides`].
    pub(super) fn refresh(&mut self, votes: &Path) -> Result<(), LogError> {
        if length_of(&aside_path(votes)) != self.length {
            *self = Asides::read_asides(votes)?;
        }
        Ok(())
    }

    fn apply_line(&mut self, line: AsideLine) {
        match line {
            AsideLine::SetAside(mut aside) => {
                // A renamed benchmark keeps its decisions.
                if let Some(now) = aside.recipe.as_deref().and_then(named_now) {
                    aside.recipe = Some(now.to_owned());
                }
                if !self.all.iter().any(|known| known.id == aside.id) {
                    self.all.push(aside);
                }
            }
            AsideLine::Undo(undo) => {
                // Merged files may have two withdrawals of one decision; the first one counts.
                self.undone.entry(undo.undoes).or_insert(undo);
            }
            AsideLine::Admit(admitted) => self.admitted.push(admitted),
        }
    }

    /// The same decisions with one more, to see what it would do.
    pub fn with_line(mut self, line: AsideLine) -> Asides {
        self.apply_line(line);
        self
    }

    /// Every decision in the order it was made, including withdrawn ones.
    pub fn all_decisions(&self) -> &[SetAside] {
        &self.all
    }

    /// Who withdrew a decision, if somebody did.
    pub fn undo_of(&self, id: Digest) -> Option<&Restored> {
        self.undone.get(&id)
    }

    /// When somebody was last given work again.
    pub fn last_admission(&self, annotator: &str) -> Option<&Admitted> {
        self.admitted.iter().rfind(|admitted| admitted.annotator == annotator)
    }

    fn standing_asides(&self) -> impl Iterator<Item = &SetAside> {
        self.all.iter().filter(|aside| !self.undone.contains_key(&aside.id))
    }

    /// The decision that sets a vote aside. `find` returns a vote by its id: a carried vote was cast when the one
    /// before it was.
    pub fn aside_of_vote<'v>(
        &self,
        vote: &'v Vote,
        find: impl Fn(Digest) -> Option<&'v Vote>,
    ) -> Option<&SetAside> {
        let mut cast = vote;
        // Each vote is carried from an earlier one, so that this ends.
        while let Some(before) = cast.base.filter(|_| cast.carried.is_some()).and_then(&find) {
            cast = before;
        }
        self.standing_asides().find(|aside| aside.covers(vote, &cast.at))
    }

    /// The current votes that do not count, each with the decision.
    pub fn aside_heads<'v>(&self, votes: &[&'v Vote]) -> Vec<(&'v Vote, &SetAside)> {
        let names: FxHashSet<&str> = self.standing_asides().map(|aside| aside.annotator.as_str()).collect();
        let theirs = |vote: &&&Vote| !vote.synthetic && names.contains(vote.annotator.as_str());
        let theirs: Vec<&'v Vote> = votes.iter().filter(theirs).copied().collect();
        if theirs.is_empty() {
            return Vec::new();
        }
        let known: FxHashMap<Digest, &'v Vote> = theirs.iter().map(|vote| (vote.id, *vote)).collect();
        let set_aside = |(_, vote): (usize, &'v Vote)| {
            Some((vote, self.aside_of_vote(vote, |id| known.get(&id).copied())?))
        };
        unreplaced_votes(&theirs).into_iter().filter_map(set_aside).collect()
    }

    /// The votes that count. Where somebody's current vote is set aside, the votes before it on the same item do not
    /// come back: their author has replaced them.
    pub fn counted_votes<'v>(&self, votes: Vec<&'v Vote>) -> Vec<&'v Vote> {
        let heads = self.aside_heads(&votes);
        if heads.is_empty() {
            return votes;
        }
        let known: FxHashMap<Digest, &'v Vote> = votes.iter().map(|vote| (vote.id, *vote)).collect();
        let mut out: FxHashSet<Digest> = FxHashSet::default();
        for (head, _) in heads {
            let seat = head.seat_digest();
            let mut open = vec![head];
            while let Some(vote) = open.pop() {
                if out.insert(vote.id) {
                    let before = vote.supersedes.iter().chain(&vote.settles).filter_map(|id| known.get(id));
                    open.extend(before.copied().filter(|other| other.seat_digest() == seat));
                }
            }
        }
        votes.into_iter().filter(|vote| !out.contains(&vote.id)).collect()
    }
}

fn length_of(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |meta| meta.len())
}

/// Adds a line, which is on disk when this returns.
///
/// # Errors
/// [`LogError`] if it cannot be written, or the file was changed.
pub fn append_line(votes: &Path, line: &AsideLine) -> Result<(), LogError> {
    Log::in_file(aside_path(votes)).add([line])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ballot::Round;
    use crate::votes::{Carried, VoteLog, current_votes};
    use crate::{ballots, testing};

    fn vote(item: &str, annotator: &str, kind: &str, at: &str) -> Vote {
        let step = ballots::find_step("flub", "type").unwrap();
        let item = testing::test_item(&step, item, &[]);
        let vote =
            testing::test_vote(&step, &item, Round::Vote, annotator, testing::one_answer("type", kind));
        Vote { at: at.to_owned(), ..vote }.with_id()
    }

    fn aside(annotator: &str) -> SetAside {
        SetAside::all_of(annotator, "meta-1", "clicked through", "2026-01-31T12:00:00Z").with_id()
    }

    fn with(aside: SetAside) -> Asides {
        Asides::default().with_line(AsideLine::SetAside(aside))
    }

    #[test]
    fn a_span_that_begins_after_its_end_is_none() {
        let check = |from: &str, until: &str| {
            let all = SetAside::all_of("a", "b", "c", "2026-11-29T00:00:00Z");
            SetAside { from: Some(from.into()), until: Some(until.into()), ..all }.check_span()
        };
        assert_eq!(check("2026-11-29", "2026-11-29"), Ok(()));
        assert_eq!(check("2026-11-29T10:00:00Z", "2026-11-29"), Ok(()));
        assert!(check("2026-11-29", "2026-11-28T10:00:00Z").is_err());
        let told = check("2026-11-30", "2026-11-29").unwrap_err().to_string();
        assert!(told.contains("from 2026-11-30 until 2026-11-29"), "{told}");
    }

    #[test]
    fn a_span_and_a_ballot_bound_what_is_set_aside() {
        let days =
            ["2026-01-09T23:59:59Z", "2026-01-10T00:00:00Z", "2026-01-11T23:59:59Z", "2026-01-12T00:00:00Z"];
        let span =
            SetAside { from: Some("2026-01-10".into()), until: Some("2026-01-11".into()), ..aside("a") };
        let covered = days.map(|at| span.covers(&vote("i", "a", "paradox", at), at));
        assert_eq!(covered, [false, true, true, false]);
        let later = "2026-02-01T00:00:00Z";
        assert!(!aside("a").covers(&vote("i", "a", "paradox", later), later), "only what was cast before");
        let cast = vote("i", "a", "paradox", days[0]);
        assert!(!aside("b").covers(&cast, days[0]));
        let of = |recipe: &str, step: &str| SetAside {
            recipe: Some(recipe.into()),
            step: Some(step.into()),
            ..aside("a")
        };
        assert!(of("flub", "type").covers(&cast, days[0]));
        assert!(
            !of("flub", "explanation").covers(&cast, days[0]) && !of("chumor", "type").covers(&cast, days[0])
        );
    }

    #[test]
    fn what_was_replaced_does_not_come_back_and_what_replaces_it_counts() {
        let first = vote("i", "a", "paradox", "2026-01-01T00:00:00Z");
        let second = vote("i", "a", "ambiguity", "2026-01-02T00:00:00Z");
        let second = Vote { supersedes: Some(first.id), base: Some(first.id), ..second }.with_id();
        let other = vote("i", "b", "paradox", "2026-01-02T00:00:00Z");
        let only_the_second = with(SetAside { from: Some("2026-01-02".into()), ..aside("a") }.with_id());
        assert_eq!(only_the_second.counted_votes(vec![&first, &second, &other]), [&other]);
        let third = vote("i", "a", "word_game", "2026-02-02T00:00:00Z");
        let third = Vote { supersedes: Some(second.id), base: Some(second.id), ..third }.with_id();
        let counted = only_the_second.counted_votes(vec![&first, &second, &other, &third]);
        assert_eq!(current_votes(&counted), [&third, &other], "they have voted again since");
    }

    #[test]
    fn a_carried_vote_was_cast_when_the_one_before_it_was() {
        let first = vote("i", "a", "paradox", "2026-01-05T00:00:00Z");
        let carried = Vote {
            base: Some(first.id),
            supersedes: Some(first.id),
            at: "2026-01-20T00:00:00Z".into(),
            carried: Some(Carried { by: "meta-1".into(), why: "a comma".into() }),
            ..first.clone()
        }
        .with_id();
        let early = with(SetAside { until: Some("2026-01-06".into()), ..aside("a") }.with_id());
        assert!(early.counted_votes(vec![&first, &carried]).is_empty());
        let late = with(SetAside { from: Some("2026-01-06".into()), ..aside("a") }.with_id());
        assert_eq!(late.counted_votes(vec![&first, &carried]).len(), 2);
    }

    #[test]
    fn it_is_on_record_and_can_be_withdrawn_and_people_vote_again() {
        let dir = tempfile::tempdir().unwrap();
        let mut log = VoteLog::open(dir.path()).unwrap();
        let sheet = vote("i", "a", "paradox", "2026-01-05T00:00:00Z");
        log.append_sheet(vec![sheet.clone(), vote("i", "b", "paradox", "2026-01-05T00:00:00Z")]).unwrap();
        let decision = aside("a");
        append_line(dir.path(), &AsideLine::SetAside(decision.clone())).unwrap();
        log.refresh().unwrap();
        let names = |log: &VoteLog| -> Vec<String> {
            let on = log.by_item("flub", "type");
            on.get("i").into_iter().flatten().map(|vote| vote.annotator.clone()).collect()
        };
        assert_eq!(names(&log), ["b"]);
        assert_eq!(log.votes().len(), 2, "nothing is deleted");
        // The file that they came from, imported again, brings nothing back.
        let again = log.append_sheet(vec![sheet.clone()]).unwrap();
        assert_eq!((again.added.len(), again.aside), (0, vec!["i".to_owned()]));
        // The same answer, given anew on the page, counts.
        let anew = Vote { at: "2026-02-01T00:00:00Z".into(), source: super::super::PAGE.into(), ..sheet };
        assert_eq!(log.append_votes(vec![anew]).unwrap().added.len(), 1);
        assert_eq!(names(&log).len(), 3, "both of theirs are listed, the later one is current");
        assert_eq!(current_votes(&log.by_item("flub", "type")["i"]).len(), 2);
        let undo = Restored {
            undoes: decision.id,
            by: "meta-1".into(),
            why: "mixed up".into(),
            at: "2026-02-02T00:00:00Z".into(),
        };
        append_line(dir.path(), &AsideLine::Undo(undo)).unwrap();
        log.refresh().unwrap();
        let read = Asides::read_asides(dir.path()).unwrap();
        assert!(read.undo_of(decision.id).is_some() && read.all_decisions().len() == 1);
        assert!(log.asides().aside_heads(&log.votes().iter().collect::<Vec<_>>()).is_empty());
        // A reader that was not told of it comes to the same.
        assert_eq!(VoteLog::open(dir.path()).unwrap().counted_votes().len(), 3);
    }

    proptest! {
        #[test]
        fn setting_aside_takes_only_that_persons_votes(
            cast in prop::collection::vec((0usize..4, 0usize..3, 1u32..28), 0..30),
            of in 0usize..4,
        ) {
            let mut votes: Vec<Vote> = Vec::new();
            for (who, kind, day) in cast {
                let kind = ["paradox", "ambiguity", "word_game"][kind];
                let name = format!("a{who}");
                let before = votes.iter().rev().find(|vote| vote.annotator == name).map(|vote| vote.id);
                let vote = vote("i", &name, kind, &format!("2026-01-{day:02}T00:00:00Z"));
                votes.push(Vote { base: before, supersedes: before, ..vote }.with_id());
            }
            let all: Vec<&Vote> = votes.iter().collect();
            let name = format!("a{of}");
            let asides = with(aside(&name));
            let counted = asides.counted_votes(all.clone());
            let others: Vec<&Vote> = all.iter().copied().filter(|vote| vote.annotator != name).collect();
            prop_assert_eq!(&counted, &others);
            prop_assert_eq!(Asides::default().counted_votes(all.clone()), all);
        }
    }
}
