//! What is kept of the stages that somebody looked at, each under a bound.

use std::sync::{Arc, Mutex, PoisonError};

use super::frames::Frames;
use super::index::Index;
use super::names::Names;
use super::pairs::Pairs;
use super::query::Query;
use crate::audit::{Likeness, likeness_of};
use crate::recipe::{Recipe, Step};
use crate::store::{Error, StageReader, Workspace};

/// Bytes of indexes that are kept.
pub(super) const INDEXES: usize = 48 << 20;
/// Bytes of names that are kept.
const NAMES: usize = 40 << 20;
/// Bytes of pairs that are kept.
const PAIRS: usize = 16 << 20;
/// Bytes of answers to queries that are kept.
const ANSWERS: usize = 8 << 20;
/// Stages whose likeness is kept.
const LIKENESS: usize = 16;

/// Stages that were looked at.
#[derive(Default)]
pub(in crate::web) struct Stages {
    pub(super) frames: Frames,
    pub(super) indexes: Few<Index>,
    names: Few<Names>,
    pairs: Few<Pairs>,
    likeness: Few<Option<Likeness>>,
    answers: Few<Vec<u32>>,
}

/// The last things that were made, by what they were made of.
pub(super) struct Few<T> {
    held: Mutex<Vec<(String, Arc<Slot<T>>)>>,
}

/// Something made, or being made.
type Slot<T> = Mutex<Option<Arc<T>>>;

impl<T> Default for Few<T> {
    fn default() -> Few<T> {
        Few { held: Mutex::default() }
    }
}

impl<T> Few<T> {
    /// What is known by a key, or made now; whoever asks while it is being made waits for it. The oldest go
    /// while all together weigh more than `budget`.
    pub(super) fn get(
        &self,
        key: &str,
        weigh: impl Fn(&T) -> usize,
        budget: usize,
        make: impl FnOnce() -> Result<T, Error>,
    ) -> Result<Arc<T>, Error> {
        let held = || self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = {
            let mut held = held();
            let known = held.iter().position(|(known, _)| known == key).map(|at| held.remove(at));
            let entry = known.unwrap_or_else(|| (key.to_string(), Arc::default()));
            held.push(entry.clone());
            entry.1
        };
        let made = {
            let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(made) = &*slot {
                return Ok(made.clone());
            }
            let made = Arc::new(make()?);
            *slot = Some(made.clone());
            made
        };
        let weight =
            |slot: &Slot<T>| slot.try_lock().ok().and_then(|made| made.as_ref().map(|made| weigh(made)));
        let mut held = held();
        while held.len() > 1 && held.iter().filter_map(|(_, slot)| weight(slot)).sum::<usize>() > budget {
            held.remove(0);
        }
        Ok(made)
    }
}

impl Stages {
    /// The names in a stage's ledger.
    pub(super) fn names(&self, stage: &StageReader) -> Result<Arc<Names>, Error> {
        self.names.get(&stage.table("ledger").hash, Names::bytes, NAMES, || Names::read(stage))
    }

    /// The pairs that a stage compared, in the order of their scores.
    pub(super) fn pairs(&self, stage: &StageReader) -> Result<Arc<Pairs>, Error> {
        self.pairs.get(&stage.table("pairs").hash, Pairs::bytes, PAIRS, || Pairs::read(stage))
    }

    /// How like the pairs of a step are, and what other thresholds would merge.
    pub(in crate::web) fn likeness(
        &self,
        workspace: &Workspace,
        recipe: &'static Recipe,
        step: &Step,
    ) -> Result<Arc<Option<Likeness>>, Error> {
        let Some((number, _)) = recipe.step(step.name) else { return Ok(Arc::default()) };
        let Some(stage) = StageReader::open(&workspace.stage(recipe.name, number, step.name))? else {
            return Ok(Arc::default());
        };
        let key = format!("{} {}", stage.table("pairs").hash, stage.table("ledger").hash);
        self.likeness.get(&key, |_| 1, LIKENESS, || likeness_of(workspace, recipe, step))
    }

    /// The places that a query finds in a stage; paging asks the same again.
    pub(super) fn answer(
        &self,
        stage: &str,
        query: &Query,
        find: impl FnOnce() -> Result<Vec<u32>, Error>,
    ) -> Result<Arc<Vec<u32>>, Error> {
        self.answers.get(&format!("{stage} {query:?}"), |found| found.len() * 4, ANSWERS, find)
    }
}
