//! What is kept of the stages that somebody looked at, each under a bound.

use std::sync::Arc;

use super::few::Few;
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
