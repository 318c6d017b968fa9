//! Bounded caches of the stages being viewed.

use std::sync::Arc;

use super::few::SmallCache;
use super::frames::Frames;
use super::index::Index;
use super::names::Names;
use super::pairs::Pairs;
use super::query::Query;
use crate::audit::{Likeness, likeness_of};
use crate::recipe::{Recipe, Step};
use crate::store::{Error, StageReader, Workspace};

/// Most bytes of cached indexes.
pub(super) const INDEXES: usize = 48 << 20;
/// Most bytes of cached names.
const NAMES: usize = 40 << 20;
/// Most bytes of cached pairs.
const PAIRS: usize = 16 << 20;
/// Most bytes of cached query results.
const ANSWERS: usize = 8 << 20;
/// Most stages with cached similarities.
const LIKENESS: usize = 16;

/// The stages being viewed.
#[derive(Default)]
pub(in crate::web) struct Stages {
    pub(super) frames: Frames,
    pub(super) indexes: SmallCache<Index>,
    names: SmallCache<Names>,
    pairs: SmallCache<Pairs>,
    likeness: SmallCache<Option<Likeness>>,
    answers: SmallCache<Vec<u32>>,
}

impl Stages {
    /// The names in a stage's ledger.
    pub(super) fn names(&self, stage: &StageReader) -> Result<Arc<Names>, Error> {
        self.names.get(&stage.table("ledger").hash, Names::bytes, NAMES, || Names::read(stage))
    }

    /// The pairs that a stage compared, ordered by score.
    pub(super) fn pairs(&self, stage: &StageReader) -> Result<Arc<Pairs>, Error> {
        self.pairs.get(&stage.table("pairs").hash, Pairs::bytes, PAIRS, || Pairs::read(stage))
    }

    /// The similarities of a step's pairs, and what other thresholds would merge.
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

    /// The records that match a query in a stage; cached, because paging repeats the query.
    pub(super) fn answer(
        &self,
        stage: &str,
        query: &Query,
        find: impl FnOnce() -> Result<Vec<u32>, Error>,
    ) -> Result<Arc<Vec<u32>>, Error> {
        self.answers.get(&format!("{stage} {query:?}"), |found| found.len() * 4, ANSWERS, find)
    }
}
