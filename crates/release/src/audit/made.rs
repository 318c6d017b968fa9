//! A step's output and inputs.

use crate::recipe::{Recipe, Step};
use crate::store::{Error, StageReader, Workspace};

/// A step's finished stage and its inputs; `None` if it was not made.
pub struct Made {
    /// Its output.
    pub stage: StageReader,
    /// Its inputs, in the order of the step.
    pub inputs: Vec<StageReader>,
}

impl Made {
    /// Opens them; an input may be in another recipe.
    ///
    /// # Errors
    /// [`Error`] if a manifest is damaged.
    pub fn open(workspace: &Workspace, recipe: &'static Recipe, step: &Step) -> Result<Option<Made>, Error> {
        let open = |name: &str| match recipe.input(name) {
            Some((from, number, step)) => StageReader::open(&workspace.stage(from.name, number, step.name)),
            None => Ok(None),
        };
        let Some(stage) = open(step.name)? else { return Ok(None) };
        let inputs =
            step.inputs.iter().filter_map(|input| open(input).transpose()).collect::<Result<_, _>>()?;
        Ok(Some(Made { stage, inputs }))
    }
}
