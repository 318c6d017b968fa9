//! Assignments, for queries item by item, and skipped items with reasons: raw/votes/skipped/<recipe>.<step>.jsonl, append-only.
//!
//! A skip is not a vote. It puts an item after the others for that person and informs the curator.

use std::path::PathBuf;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use crate::pipeline::Tasks;
use crate::review::ballot::Round;
use crate::review::{Item, guidance};
use crate::store::{Error, Workspace};

/// The tasks of a step by round and annotator.
pub(crate) struct Assignments {
    tasks: Tasks,
    /// By round, then by annotator: their items. Rounds without assignments are missing.
    rounds: FxHashMap<Round, FxHashMap<String, FxHashSet<String>>>,
}

impl Assignments {
    pub(super) fn new(tasks: Tasks) -> Assignments {
        let mut rounds: FxHashMap<Round, FxHashMap<String, FxHashSet<String>>> = FxHashMap::default();
        for round in Round::ALL {
            for task in tasks.current_tasks(round) {
                let people = rounds.entry(round).or_default();
                people.entry(task.annotator.clone()).or_default().insert(task.item.clone());
            }
        }
        Assignments { tasks, rounds }
    }

    /// The tasks as stored.
    pub(crate) fn tasks(&self) -> &Tasks {
        &self.tasks
    }

    /// Whether items were assigned in a round at all.
    pub(crate) fn is_round_assigned(&self, round: Round) -> bool {
        self.rounds.contains_key(&round)
    }

    /// The items that were assigned to somebody in a round; `None` if nothing was.
    pub(super) fn items_of_person(&self, round: Round, person: &str) -> Option<&FxHashSet<String>> {
        self.rounds.get(&round).and_then(|people| people.get(person))
    }

    /// Whether anything was assigned to somebody in a round.
    pub(crate) fn has_items(&self, round: Round, person: &str) -> bool {
        self.items_of_person(round, person).is_some_and(|items| !items.is_empty())
    }

    /// The first day by which one of these items is wanted of somebody.
    pub(crate) fn first_due_day(&self, round: Round, person: &str, items: &[&Item]) -> Option<String> {
        let dated = self.tasks.all_tasks().iter().filter(|task| task.until.is_some());
        let mine: Vec<_> = dated.filter(|task| task.round == round && task.annotator == person).collect();
        if mine.is_empty() {
            return None;
        }
        let open: FxHashSet<&str> = items.iter().map(|item| item.id.as_str()).collect();
        mine.into_iter()
            .filter(|task| open.contains(task.item.as_str()))
            .filter_map(|task| task.until.clone())
            .min()
    }

    /// Whether an item was assigned to somebody.
    pub(crate) fn is_assigned(&self, round: Round, person: &str, item: &str) -> bool {
        let items = self.rounds.get(&round).and_then(|people| people.get(person));
        items.is_some_and(|items| items.contains(item))
    }
}

/// A skipped item.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Skip {
    pub(crate) item: String,
    pub(crate) annotator: String,
    pub(crate) round: Round,
    /// Why.
    pub(crate) reason: String,
    /// When, RFC 3339.
    pub(crate) at: String,
}

pub(super) fn skips_path(workspace: &Workspace, recipe: &str, step: &str) -> PathBuf {
    workspace.raw_folder().join("votes").join("skipped").join(format!("{recipe}.{step}.jsonl"))
}

/// The skipped items of a step, in order. Lines that are no JSON are ignored, because they contain no votes.
pub(crate) fn read_skips(workspace: &Workspace, recipe: &str, step: &str) -> Result<Vec<Skip>, Error> {
    Ok(guidance::read_entries(skips_path(workspace, recipe, step))?)
}

/// Records a skip, which is on disk when this returns.
pub(crate) fn record_skip(workspace: &Workspace, recipe: &str, step: &str, new: &Skip) -> Result<(), Error> {
    Ok(guidance::add(skips_path(workspace, recipe, step), new)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::OpenOptions;
    use std::io::Write;

    #[test]
    fn what_was_passed_over_is_kept_with_its_reason() {
        let dir = tempfile::tempdir().unwrap();
        let workspace = Workspace::new(dir.path());
        let one = Skip {
            item: "1".into(),
            annotator: "a".into(),
            round: Round::Vote,
            reason: "I know who wrote it".into(),
            at: "2026-01-01T00:00:00Z".into(),
        };
        assert!(read_skips(&workspace, "r", "s").unwrap().is_empty());
        record_skip(&workspace, "r", "s", &one).unwrap();
        let file = dir.path().join("raw/votes/skipped/r.s.jsonl");
        OpenOptions::new().append(true).open(file).unwrap().write_all(b"{\"item\":").unwrap();
        record_skip(&workspace, "r", "s", &one).unwrap();
        assert_eq!(read_skips(&workspace, "r", "s").unwrap(), [one.clone(), one]);
    }
}
