//! The log of a workspace's decisions: reading and appending.

use std::path::Path;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use super::stage::StageDecisions;
use super::{Decision, Undo};
use crate::Digest;
use riddlemill_benchmarks::named_now;
use riddlemill_files::log::{LineError, LogError, Segments, read_values, to_lines};

/// A line of the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum DecisionLine {
    /// Somebody decided.
    Decide(Decision),
    /// Somebody withdrew a decision.
    Undo(Undo),
    /// Somebody decided elsewhere, contradicting a decision here without knowing of it. It has no effect: the
    /// next decision on the question settles the dispute.
    Dispute(Decision),
}

impl DecisionLine {
    fn id(&self) -> Digest {
        match self {
            DecisionLine::Decide(decision) | DecisionLine::Dispute(decision) => decision.id,
            DecisionLine::Undo(undo) => undo.id,
        }
    }

    fn compute_id(&self) -> Digest {
        match self {
            DecisionLine::Decide(decision) | DecisionLine::Dispute(decision) => decision.compute_id(),
            DecisionLine::Undo(undo) => undo.compute_id(),
        }
    }
}

/// The result of storing decisions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DecisionReceipt {
    /// Stored and on disk, in order.
    pub added: Vec<Digest>,
    /// Those made before that already count and decide the same.
    pub known: Vec<Digest>,
    /// One made since the person looked that decides otherwise; then nothing was stored.
    pub overtaken: Option<Digest>,
}

/// All decisions of a folder, in the order they were made.
#[derive(Clone, Debug, Default)]
pub struct DecisionLog {
    decisions: Vec<Decision>,
    undone: FxHashMap<Digest, Undo>,
    /// Decisions from elsewhere that contradict one here.
    disputed: FxHashSet<Digest>,
    ids: FxHashSet<Digest>,
    damaged: Vec<String>,
}

impl DecisionLog {
    /// Reads the decisions in `folder`, usually raw/decisions; none if it is missing. Does not create it.
    ///
    /// # Errors
    /// [`LogError`] if a segment cannot be read, was changed, or has a line that only a newer program knows.
    pub fn read_folder(folder: &Path) -> Result<DecisionLog, LogError> {
        let mut log = DecisionLog::default();
        log.take_all(&Segments::in_folder(folder))?;
        Ok(log)
    }

    fn take_all(&mut self, segments: &Segments) -> Result<(), LogError> {
        self.read_lines(segments)?.into_iter().for_each(|line| self.apply_line(line));
        Ok(())
    }

    /// The sound lines of a folder; others are listed in `damaged`.
    fn read_lines(&mut self, segments: &Segments) -> Result<Vec<DecisionLine>, LogError> {
        let mut found = Vec::new();
        for (path, lines) in segments.read_lines()? {
            let check = |line: &DecisionLine| LineError::refuse_edited(line.id(), line.compute_id());
            found.extend(read_values(&path, &lines, "line", check, &mut self.damaged)?);
        }
        Ok(found)
    }

    fn apply_line(&mut self, line: DecisionLine) {
        if !self.ids.insert(line.id()) {
            return;
        }
        // A renamed benchmark keeps its decisions.
        let now = |mut decision: Decision| {
            if let Some(now) = decision.recipe.as_deref().and_then(named_now) {
                decision.recipe = Some(now.to_owned());
            }
            decision
        };
        match line {
            DecisionLine::Decide(decision) => self.decisions.push(now(decision)),
            DecisionLine::Dispute(decision) => {
                self.disputed.insert(decision.id);
                self.decisions.push(now(decision));
            }
            DecisionLine::Undo(undo) => {
                // Merged logs may have two withdrawals of one decision; the first one counts.
                self.undone.entry(undo.undoes).or_insert(undo);
            }
        }
    }

    /// Every decision in the order it was made, including those that no longer count.
    pub fn all_decisions(&self) -> &[Decision] {
        &self.decisions
    }

    /// Whether a decision came from elsewhere, contradicting one here, and so has no effect.
    pub fn is_disputed(&self, id: Digest) -> bool {
        self.disputed.contains(&id)
    }

    /// The decisions from elsewhere that contradict one here and wait for a new decision.
    pub fn open_disputes(&self) -> impl Iterator<Item = &Decision> {
        let is_settled = |decision: &Decision| {
            let settles =
                |d: &Decision| d.question_key() == decision.question_key() && !self.disputed.contains(&d.id);
            self.undone.contains_key(&decision.id) || self.decisions_after(decision).iter().any(settles)
        };
        self.decisions.iter().filter(move |d| self.disputed.contains(&d.id) && !is_settled(d))
    }

    /// Whether a decision is neither disputed nor withdrawn.
    fn is_counted(&self, decision: &Decision) -> bool {
        !self.undone.contains_key(&decision.id) && !self.disputed.contains(&decision.id)
    }

    /// Who withdrew a decision, if somebody did.
    pub fn undo_of(&self, id: Digest) -> Option<&Undo> {
        self.undone.get(&id)
    }

    /// Lines that are not decisions or have another id, each with its file and line. They are ignored.
    pub fn damaged(&self) -> &[String] {
        &self.damaged
    }

    /// The later decision on the same question that overrules this one in a recipe, if there is one.
    pub fn overruling_decision(&self, decision: &Decision, recipe: &str) -> Option<&Decision> {
        let later = self.decisions_after(decision).iter();
        later
            .rev()
            .find(|d| d.question_key() == decision.question_key() && d.is_for(recipe) && self.is_counted(d))
    }

    /// The earlier decision that counted on the same question until this one, which decides otherwise.
    pub fn overruled_decision(&self, decision: &Decision) -> Option<&Decision> {
        let at = self.decisions.iter().position(|d| d.id == decision.id)?;
        let is_for_both =
            |d: &Decision| d.recipe.is_none() || decision.recipe.as_ref().is_none_or(|own| d.is_for(own));
        let before = self.decisions[..at].iter().rev();
        before
            .filter(|d| d.question_key() == decision.question_key() && self.is_counted(d))
            .find(|d| is_for_both(d))
            .filter(|d| (d.verdict, &d.text) != (decision.verdict, &decision.text))
    }

    /// The decisions that count in a recipe's stage: for each question the latest that was not withdrawn.
    pub fn of_stage(&self, recipe: &str, stage: &str) -> StageDecisions {
        let mut latest: FxHashMap<_, usize> = FxHashMap::default();
        for (at, decision) in self.decisions.iter().enumerate() {
            if decision.stage == stage && decision.is_for(recipe) && self.is_counted(decision) {
                latest.insert(decision.question_key(), at);
            }
        }
        let mut places: Vec<usize> = latest.into_values().collect();
        places.sort_unstable();
        StageDecisions::new(places.into_iter().map(|at| self.decisions[at].clone()))
    }

    /// Stores decisions in order, and returns when they are on disk. One that already counts is not stored
    /// again.
    ///
    /// # Errors
    /// [`LogError`] if the log cannot be written; then nothing is stored.
    pub fn append_decisions(folder: &Path, decisions: Vec<Decision>) -> Result<DecisionReceipt, LogError> {
        DecisionLog::append_after(folder, decisions, usize::MAX)
    }

    /// The same by somebody who saw the first `looked` decisions of the log: one made since that counts and decides
    /// otherwise is not overruled unseen.
    ///
    /// # Errors
    /// [`LogError`] if the log cannot be written; then nothing is stored.
    pub fn append_after(
        folder: &Path,
        decisions: Vec<Decision>,
        looked: usize,
    ) -> Result<DecisionReceipt, LogError> {
        DecisionLog::write_lines(folder, |log, lines| {
            let overtaken = decisions.iter().find_map(|new| log.unseen_contrary(new, looked));
            let mut receipt = DecisionReceipt { overtaken, ..DecisionReceipt::default() };
            if receipt.overtaken.is_some() {
                return receipt;
            }
            for decision in decisions {
                let decision = decision.with_id();
                let same = |d: &&Decision| {
                    d.question_key() == decision.question_key() && d.recipe == decision.recipe
                };
                let holds = log.decisions.iter().rfind(|d| same(d) && log.is_counted(d));
                let later = holds.is_some_and(|d| log.is_overruled_anywhere(d))
                    || log.open_disputes().any(|d| d.question_key() == decision.question_key());
                if let Some(holds) = holds.filter(|d| d.same_content(&decision) && !later) {
                    receipt.known.push(holds.id);
                    continue;
                }
                let base = log.last_on(&decision);
                let decision = Decision { base, ..decision }.with_id();
                receipt.added.push(decision.id);
                lines.push(DecisionLine::Decide(decision.clone()));
                log.apply_line(DecisionLine::Decide(decision));
            }
            receipt
        })
    }

    /// Withdraws a decision; false if it was withdrawn before, or does not exist.
    ///
    /// # Errors
    /// [`LogError`] if the log cannot be written.
    pub fn withdraw_decision(
        folder: &Path,
        id: Digest,
        by: &str,
        why: &str,
        at: &str,
    ) -> Result<bool, LogError> {
        DecisionLog::write_lines(folder, |log, lines| {
            if log.undone.contains_key(&id) || !log.decisions.iter().any(|d| d.id == id) {
                return false;
            }
            let (by, why, at) = (by.to_owned(), why.to_owned(), at.to_owned());
            let undo = Undo { id, undoes: id, by, why, at };
            let undo = Undo { id: undo.compute_id(), ..undo };
            lines.push(DecisionLine::Undo(undo));
            true
        })
    }

    /// Merges the decisions made elsewhere since two logs diverged, in their order. One that contradicts a
    /// decision here on the same question, without either knowing of the other, is stored as a dispute.
    /// Returns the new lines; `only_look` stores none.
    ///
    /// # Errors
    /// [`LogError`] if either log is damaged, or this one cannot be written; then nothing is stored.
    pub fn merge(folder: &Path, other: &Path, only_look: bool) -> Result<Vec<DecisionLine>, LogError> {
        let mut theirs = DecisionLog::default();
        let lines = theirs.read_lines(&Segments::in_folder(other))?;
        lines.iter().cloned().for_each(|line| theirs.apply_line(line));
        let mut new = Vec::new();
        let sort_in = |log: &mut DecisionLog, out: &mut Vec<DecisionLine>| {
            // A copy: the lines are compared with the log before the merge, not with each other.
            let mine = log.clone();
            for line in lines {
                if mine.ids.contains(&line.id()) {
                    continue;
                }
                let line = match line {
                    DecisionLine::Decide(decision) if mine.contradicts(&decision, &theirs) => {
                        DecisionLine::Dispute(decision)
                    }
                    other => other,
                };
                log.apply_line(line.clone());
                out.push(line);
            }
        };
        if only_look {
            sort_in(&mut DecisionLog::read_folder(folder)?, &mut new);
        } else {
            DecisionLog::write_lines(folder, |log, out| {
                sort_in(log, out);
                new.clone_from(out);
            })?;
        }
        Ok(new)
    }

    /// Whether there is a different decision here on the question that is unknown to `other`, where the
    /// decision was made, and applies in the same recipes.
    fn contradicts(&self, decision: &Decision, other: &DecisionLog) -> bool {
        let mut unknown = self.decisions.iter().filter(|mine| !other.ids.contains(&mine.id));
        unknown.any(|mine| self.is_counted(mine) && mine.is_contrary_to(decision))
    }

    /// The latest decision that counts, was made after the first `looked` ones, and contradicts a new one.
    fn unseen_contrary(&self, new: &Decision, looked: usize) -> Option<Digest> {
        let mut since = self.decisions.iter().skip(looked);
        since.rfind(|d| self.is_counted(d) && d.is_contrary_to(new)).map(|d| d.id)
    }

    /// Appends what `make` returns for the current log, under the log's lock.
    fn write_lines<T>(
        folder: &Path,
        make: impl FnOnce(&mut DecisionLog, &mut Vec<DecisionLine>) -> T,
    ) -> Result<T, LogError> {
        let segments = Segments::in_folder(folder);
        let writer = segments.open_writer()?;
        let mut log = DecisionLog::default();
        log.take_all(&segments)?;
        let mut lines = Vec::new();
        let made = make(&mut log, &mut lines);
        let bytes = to_lines(&lines)?;
        if !bytes.is_empty() {
            writer.append_blocks(&[bytes])?;
        }
        Ok(made)
    }

    /// The last line on a question, by anybody and for any recipe.
    fn last_on(&self, decision: &Decision) -> Option<Digest> {
        let last = self.decisions.iter().rfind(|d| d.question_key() == decision.question_key())?;
        Some(self.undone.get(&last.id).map_or(last.id, |undo| undo.id))
    }

    /// Whether a later decision on the same question, for other recipes, replaced it somewhere.
    fn is_overruled_anywhere(&self, decision: &Decision) -> bool {
        let mut later = self.decisions_after(decision).iter();
        later.any(|d| d.question_key() == decision.question_key() && self.is_counted(d))
    }

    /// The decisions that were made after one.
    fn decisions_after(&self, decision: &Decision) -> &[Decision] {
        let at = self.decisions.iter().position(|d| d.id == decision.id);
        &self.decisions[at.map_or(self.decisions.len(), |at| at + 1)..]
    }
}

#[cfg(test)]
mod tests {
    use super::super::Verdict;
    use super::super::tests::test_decision;
    use super::*;

    fn outcome(log: &DecisionLog, recipe: &str) -> Option<Verdict> {
        let stage = log.of_stage(recipe, "filter");
        let ruling = stage.ruling_on("tieba:1", || super::super::seen_text("云会恐高吗"))?;
        ruling.outcome.map(|d| d.verdict)
    }

    #[test]
    fn the_later_holds_and_what_is_taken_back_holds_no_more() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("decisions");
        let add = |verdict, recipe: Option<&str>| {
            let one = test_decision("tieba:1", verdict);
            let one = Decision { recipe: recipe.map(str::to_owned), ..one };
            DecisionLog::append_decisions(&folder, vec![one]).unwrap()
        };
        assert!(DecisionLog::read_folder(&folder).unwrap().all_decisions().is_empty());
        assert!(!folder.exists(), "looking makes no folder");
        let keep = add(Verdict::Keep, None).added[0];
        assert_eq!(
            add(Verdict::Keep, None),
            DecisionReceipt { known: vec![keep], ..DecisionReceipt::default() }
        );
        let drop = add(Verdict::Drop, Some("flub")).added[0];
        let read = || DecisionLog::read_folder(&folder).unwrap();
        let overruled = || {
            let log = read();
            log.overruled_decision(log.all_decisions().last().unwrap()).map(|d| d.id)
        };
        assert_eq!(overruled(), Some(keep));
        assert_eq!(outcome(&read(), "flub"), Some(Verdict::Drop));
        assert_eq!(outcome(&read(), "chumor"), Some(Verdict::Keep));
        // For all recipes again, including flub.
        assert_eq!(add(Verdict::Keep, None).added.len(), 1);
        assert_eq!(outcome(&read(), "flub"), Some(Verdict::Keep));
        let last = read().all_decisions()[2].id;
        assert!(
            DecisionLog::withdraw_decision(&folder, last, "meta-1", "a slip", "2026-11-23T00:00:00Z")
                .unwrap()
        );
        assert!(
            !DecisionLog::withdraw_decision(&folder, last, "meta-1", "a slip", "2026-11-23T00:00:00Z")
                .unwrap()
        );
        assert_eq!(outcome(&read(), "flub"), Some(Verdict::Drop));
        assert!(
            DecisionLog::withdraw_decision(&folder, drop, "meta-1", "x", "2026-11-23T00:00:00Z").unwrap()
        );
        assert!(
            DecisionLog::withdraw_decision(&folder, keep, "meta-1", "x", "2026-11-23T00:00:00Z").unwrap()
        );
        assert_eq!(outcome(&read(), "flub"), None);
        // A withdrawn decision can be made again.
        assert_eq!(add(Verdict::Keep, None).added.len(), 1);
        assert_eq!(outcome(&read(), "flub"), Some(Verdict::Keep));
        assert!(read().damaged().is_empty());
    }

    #[test]
    fn what_somebody_decided_since_is_not_overruled_by_one_who_has_not_seen_it() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path();
        let add = |verdict, by: &str, looked| {
            let one = Decision { by: by.into(), ..test_decision("tieba:1", verdict) };
            DecisionLog::append_after(folder, vec![one], looked).unwrap()
        };
        let first = add(Verdict::Keep, "meta-1", 0).added[0];
        let other = add(Verdict::Drop, "senior-1", 0);
        assert_eq!((other.overtaken, other.added.len()), (Some(first), 0));
        assert_eq!(add(Verdict::Keep, "senior-1", 0).known, [first], "they agree");
        assert_eq!(add(Verdict::Drop, "senior-1", 1).added.len(), 1, "it was seen");
        let read = DecisionLog::read_folder(folder).unwrap();
        assert_eq!(read.all_decisions().len(), 2);
        let last = read.all_decisions()[1].id;
        DecisionLog::withdraw_decision(folder, last, "senior-1", "a slip", "2026-11-23T00:00:00Z").unwrap();
        // What was taken back contradicts nothing.
        assert_eq!(add(Verdict::Hold, "meta-1", 1).added.len(), 1);
    }

    #[test]
    fn logs_that_grew_apart_are_put_together_and_what_contradicts_is_a_dispute() {
        let dir = tempfile::tempdir().unwrap();
        let [here, there] = ["here", "there"].map(|name| dir.path().join(name).join("decisions"));
        let add = |folder: &Path, record: &str, verdict| {
            DecisionLog::append_decisions(folder, vec![test_decision(record, verdict)]).unwrap().added
        };
        add(&here, "tieba:1", Verdict::Keep);
        assert_eq!(DecisionLog::merge(&there, &here, false).unwrap().len(), 1);
        assert!(DecisionLog::merge(&there, &here, false).unwrap().is_empty(), "once");
        // Diverged: the same question decided differently, the same question decided alike, and one only
        // there.
        add(&here, "tieba:1", Verdict::Hold);
        add(&there, "tieba:1", Verdict::Drop);
        add(&here, "tieba:2", Verdict::Keep);
        add(&there, "tieba:2", Verdict::Keep);
        add(&there, "tieba:3", Verdict::Drop);
        assert_eq!(DecisionLog::merge(&here, &there, true).unwrap().len(), 2, "a look");
        assert_eq!(DecisionLog::merge(&here, &there, false).unwrap().len(), 2, "the like one has one id");
        assert!(DecisionLog::merge(&here, &there, false).unwrap().is_empty(), "once");
        let read = || DecisionLog::read_folder(&here).unwrap();
        let verdict = |record: &str| {
            read()
                .of_stage("flub", "filter")
                .ruling_on(record, || super::super::seen_text("云会恐高吗"))?
                .outcome
                .map(|d| d.verdict)
        };
        assert_eq!(verdict("tieba:1"), Some(Verdict::Hold), "what was decided here stays");
        assert_eq!(verdict("tieba:3"), Some(Verdict::Drop));
        let log = read();
        let [open] = &log.open_disputes().collect::<Vec<_>>()[..] else { panic!("one") };
        assert_eq!((open.record.as_str(), open.verdict), ("tieba:1", Verdict::Drop));
        // Somebody confirms the decision here.
        assert_eq!(add(&here, "tieba:1", Verdict::Hold).len(), 1);
        assert_eq!(read().open_disputes().count(), 0);
        assert_eq!(verdict("tieba:1"), Some(Verdict::Hold));
        assert!(read().damaged().is_empty());
    }

    #[test]
    fn a_line_that_was_edited_is_kept_out_and_named() {
        let dir = tempfile::tempdir().unwrap();
        DecisionLog::append_decisions(dir.path(), vec![test_decision("tieba:1", Verdict::Keep)]).unwrap();
        let path = dir.path().join("000001.jsonl");
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replace("\"keep\"", "\"drop\"")).unwrap();
        assert!(DecisionLog::read_folder(dir.path()).unwrap_err().to_string().contains("line 1"));
        // From before lines were chained.
        std::fs::remove_file(dir.path().join("heads.jsonl")).unwrap();
        let (bare, _) = text.split_once(",\"chain\"").unwrap();
        std::fs::write(&path, bare.replace("\"keep\"", "\"drop\"") + "}\n").unwrap();
        let log = DecisionLog::read_folder(dir.path()).unwrap();
        assert!(log.all_decisions().is_empty());
        assert!(log.damaged()[0].contains("edited by hand"), "{:?}", log.damaged());
    }
}
