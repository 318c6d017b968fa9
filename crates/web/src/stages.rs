//! The stages being viewed, and the similarities of their pairs.

use std::sync::Arc;

use crate::audit::{Likeness, Made, likeness_of};
use crate::recipe::{Recipe, Step};
use crate::store::view::{SmallCache, StageView, Views};
use crate::store::{Error, StageReader, Workspace};

/// Most stages with cached similarities.
const LIKENESS: usize = 16;

/// The stages being viewed.
#[derive(Default)]
pub(crate) struct Stages {
    views: Views,
    likeness: SmallCache<Option<Likeness>>,
}

impl Stages {
    /// Opens a stage; `None` where it was not made.
    pub(crate) fn open(
        &self,
        workspace: &Workspace,
        recipe: &'static Recipe,
        step: &Step,
    ) -> Result<Option<StageView<'_>>, Error> {
        let Some(Made { stage, inputs }) = Made::open(workspace, recipe, step)? else { return Ok(None) };
        Ok(Some(self.views.open(stage, inputs)?))
    }

    /// The similarities of a step's pairs, and what other thresholds would merge.
    pub(crate) fn likeness(
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
}
