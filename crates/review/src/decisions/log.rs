//! The decisions of a workspace, read from their log, and adding to it.

use std::path::Path;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use super::decision::{Decision, Undo};
use super::stage::StageDecisions;
use crate::Digest;
use riddlemill_files::log::{LogError, Segments};

/// A line of the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum Line {
    /// Somebody decided.
    Decide(Decision),
    /// Somebody took a decision back.
    Undo(Undo),
}

impl Line {
    fn id(&self) -> Digest {
        match self {
            Line::Decide(decision) => decision.id,
            Line::Undo(undo) => undo.id,
        }
    }

    fn identity(&self) -> Digest {
        match self {
            Line::Decide(decision) => decision.identity(),
            Line::Undo(undo) => undo.identity(),
        }
    }
}

/// What became of decisions that were handed in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Receipt {
    /// Stored and on disk, in the order they came.
    pub added: Vec<Digest>,
    /// Those that hold already.
    pub known: usize,
}

/// All decisions of a folder, in the order they were made.
#[derive(Clone, Debug, Default)]
pub struct DecisionLog {
    decisions: Vec<Decision>,
    undone: FxHashMap<Digest, Undo>,
    ids: FxHashSet<Digest>,
    damaged: Vec<String>,
}

impl DecisionLog {
    /// Reads the decisions in `folder`, usually raw/decisions; none where it is missing. Looking makes no folder.
    ///
    /// # Errors
    /// [`LogError`] where a segment cannot be read, or is not what was stored.
    pub fn read(folder: &Path) -> Result<DecisionLog, LogError> {
        let mut log = DecisionLog::default();
        log.take_all(&Segments::at(folder))?;
        Ok(log)
    }

    fn take_all(&mut self, segments: &Segments) -> Result<(), LogError> {
        for (path, lines) in segments.lines()? {
            let lines = lines.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
            for (at, line) in lines.enumerate() {
                let read = serde_json::from_slice::<Line>(line).map_err(|e| e.to_string());
                let sound = read.and_then(|line| match line.identity() == line.id() {
                    true => Ok(line),
                    false => {
                        Err(format!("its id {} is not that of its content; it was edited by hand", line.id()))
                    }
                });
                match sound {
                    Ok(line) => self.take(line),
                    Err(why) => self.damaged.push(format!("{}: line {}: {why}", path.display(), at + 1)),
                }
            }
        }
        Ok(())
    }

    fn take(&mut self, line: Line) {
        if !self.ids.insert(line.id()) {
            return;
        }
        match line {
            Line::Decide(decision) => self.decisions.push(decision),
            Line::Undo(undo) => {
                self.undone.entry(undo.undoes).or_insert(undo);
            }
        }
    }

    /// Every decision in the order it was made, those that hold no more among them.
    pub fn all(&self) -> &[Decision] {
        &self.decisions
    }

    /// Who took a decision back, where somebody did.
    pub fn undone(&self, id: Digest) -> Option<&Undo> {
        self.undone.get(&id)
    }

    /// Lines that are no decisions or not under their own id, each with its file and line. They are kept out.
    pub fn damaged(&self) -> &[String] {
        &self.damaged
    }

    /// The decision that a later one on the same question overrules in a recipe, if one does.
    pub fn overruled(&self, decision: &Decision, recipe: &str) -> Option<&Decision> {
        let later = self.after(decision).iter();
        later
            .rev()
            .find(|d| d.key() == decision.key() && d.is_for(recipe) && !self.undone.contains_key(&d.id))
    }

    /// What holds in a recipe's stage: of each question the latest decision that was not taken back.
    pub fn of_stage(&self, recipe: &str, stage: &str) -> StageDecisions {
        let mut latest: FxHashMap<_, usize> = FxHashMap::default();
        for (at, decision) in self.decisions.iter().enumerate() {
            if decision.stage == stage && decision.is_for(recipe) && !self.undone.contains_key(&decision.id) {
                latest.insert(decision.key(), at);
            }
        }
        let mut places: Vec<usize> = latest.into_values().collect();
        places.sort_unstable();
        StageDecisions::new(places.into_iter().map(|at| self.decisions[at].clone()))
    }

    /// Stores decisions, each after those before it, and returns when they are on disk. One that holds already is
    /// not stored again.
    ///
    /// # Errors
    /// [`LogError`] where the log cannot be written; then nothing is stored.
    pub fn append(folder: &Path, decisions: Vec<Decision>) -> Result<Receipt, LogError> {
        DecisionLog::write(folder, |log, lines| {
            let mut receipt = Receipt::default();
            for decision in decisions {
                let decision = decision.sealed();
                let same = |d: &&Decision| d.key() == decision.key() && d.recipe == decision.recipe;
                let holds = log.decisions.iter().rfind(|d| same(d) && !log.undone.contains_key(&d.id));
                let later = holds.is_some_and(|d| log.is_overruled_anywhere(d));
                if holds.is_some_and(|d| d.says_as(&decision)) && !later {
                    receipt.known += 1;
                    continue;
                }
                let base = log.last_on(&decision);
                let decision = Decision { base, ..decision }.sealed();
                receipt.added.push(decision.id);
                lines.push(Line::Decide(decision.clone()));
                log.take(Line::Decide(decision));
            }
            receipt
        })
    }

    /// Takes a decision back; false where it was taken back before, or is none.
    ///
    /// # Errors
    /// [`LogError`] where the log cannot be written.
    pub fn undo(folder: &Path, id: Digest, by: &str, why: &str, at: &str) -> Result<bool, LogError> {
        DecisionLog::write(folder, |log, lines| {
            if log.undone.contains_key(&id) || !log.decisions.iter().any(|d| d.id == id) {
                return false;
            }
            let (by, why, at) = (by.to_owned(), why.to_owned(), at.to_owned());
            let undo = Undo { id, undoes: id, by, why, at };
            let undo = Undo { id: undo.identity(), ..undo };
            lines.push(Line::Undo(undo));
            true
        })
    }

    /// Lets `make` say what is to be added to the log as it stands, under the log's lock.
    fn write<T>(
        folder: &Path,
        make: impl FnOnce(&mut DecisionLog, &mut Vec<Line>) -> T,
    ) -> Result<T, LogError> {
        let segments = Segments::at(folder);
        let writer = segments.writer()?;
        let mut log = DecisionLog::default();
        log.take_all(&segments)?;
        let mut lines = Vec::new();
        let made = make(&mut log, &mut lines);
        let mut bytes = Vec::new();
        for line in &lines {
            serde_json::to_writer(&mut bytes, line).map_err(|source| LogError::Unwritable { source })?;
            bytes.push(b'\n');
        }
        if !bytes.is_empty() {
            writer.append(&[bytes])?;
        }
        Ok(made)
    }

    /// The last line on a question, whoever's and for whichever recipe.
    fn last_on(&self, decision: &Decision) -> Option<Digest> {
        let last = self.decisions.iter().rfind(|d| d.key() == decision.key())?;
        Some(self.undone.get(&last.id).map_or(last.id, |undo| undo.id))
    }

    /// Whether a later decision on the same question, for other recipes, took its place somewhere.
    fn is_overruled_anywhere(&self, decision: &Decision) -> bool {
        let mut later = self.after(decision).iter();
        later.any(|d| d.key() == decision.key() && !self.undone.contains_key(&d.id))
    }

    /// The decisions that were made after one.
    fn after(&self, decision: &Decision) -> &[Decision] {
        let at = self.decisions.iter().position(|d| d.id == decision.id);
        &self.decisions[at.map_or(self.decisions.len(), |at| at + 1)..]
    }
}

#[cfg(test)]
mod tests {
    use super::super::Verdict;
    use super::super::decision::tests::decision;
    use super::*;

    fn fate(log: &DecisionLog, recipe: &str) -> Option<Verdict> {
        let stage = log.of_stage(recipe, "filter");
        let ruling = stage.ruling("tieba:1", || super::super::seen_text("云会恐高吗"))?;
        ruling.fate.map(|d| d.verdict)
    }

    #[test]
    fn the_later_holds_and_what_is_taken_back_holds_no_more() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("decisions");
        let add = |verdict, recipe: Option<&str>| {
            let one = decision("tieba:1", verdict);
            let one = Decision { recipe: recipe.map(str::to_owned), ..one };
            DecisionLog::append(&folder, vec![one]).unwrap()
        };
        assert!(DecisionLog::read(&folder).unwrap().all().is_empty());
        assert!(!folder.exists(), "looking makes no folder");
        let keep = add(Verdict::Keep, None).added[0];
        assert_eq!(add(Verdict::Keep, None), Receipt { added: vec![], known: 1 });
        let drop = add(Verdict::Drop, Some("flub")).added[0];
        let read = || DecisionLog::read(&folder).unwrap();
        assert_eq!(fate(&read(), "flub"), Some(Verdict::Drop));
        assert_eq!(fate(&read(), "chumor"), Some(Verdict::Keep));
        // For all again: flub, too.
        assert_eq!(add(Verdict::Keep, None).added.len(), 1);
        assert_eq!(fate(&read(), "flub"), Some(Verdict::Keep));
        let last = read().all()[2].id;
        assert!(DecisionLog::undo(&folder, last, "meta-1", "a slip", "2026-11-23T00:00:00Z").unwrap());
        assert!(!DecisionLog::undo(&folder, last, "meta-1", "a slip", "2026-11-23T00:00:00Z").unwrap());
        assert_eq!(fate(&read(), "flub"), Some(Verdict::Drop));
        assert!(DecisionLog::undo(&folder, drop, "meta-1", "x", "2026-11-23T00:00:00Z").unwrap());
        assert!(DecisionLog::undo(&folder, keep, "meta-1", "x", "2026-11-23T00:00:00Z").unwrap());
        assert_eq!(fate(&read(), "flub"), None);
        // What was taken back can be decided again.
        assert_eq!(add(Verdict::Keep, None).added.len(), 1);
        assert_eq!(fate(&read(), "flub"), Some(Verdict::Keep));
        assert!(read().damaged().is_empty());
    }

    #[test]
    fn a_line_that_was_edited_is_kept_out_and_named() {
        let dir = tempfile::tempdir().unwrap();
        DecisionLog::append(dir.path(), vec![decision("tieba:1", Verdict::Keep)]).unwrap();
        let path = dir.path().join("000001.jsonl");
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replace("\"keep\"", "\"drop\"")).unwrap();
        assert!(DecisionLog::read(dir.path()).unwrap_err().to_string().contains("line 1"));
        // From before lines had a chain.
        std::fs::remove_file(dir.path().join("heads.jsonl")).unwrap();
        let (bare, _) = text.split_once(",\"chain\"").unwrap();
        std::fs::write(&path, bare.replace("\"keep\"", "\"drop\"") + "}\n").unwrap();
        let log = DecisionLog::read(dir.path()).unwrap();
        assert!(log.all().is_empty());
        assert!(log.damaged()[0].contains("edited by hand"), "{:?}", log.damaged());
    }
}
