//! Parts outside of the workspace that later steps need and that are not there: told while nobody has voted for
//! nothing yet, and not by the step itself, which comes after the votes.

use crate::config::Config;
use crate::recipe::Recipe;
use riddlemill_tables::{Error, Manifest, Workspace};

/// Something that a step will need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lacking {
    /// The step that needs it.
    pub step: &'static str,
    /// What is not there, and what helps.
    pub what: String,
}

/// What the steps of a recipe that are not made yet lack, in their order.
///
/// # Errors
/// [`Error`] if a stage's manifest cannot be read.
pub fn lacking(config: &Config, recipe: &'static Recipe) -> Result<Vec<Lacking>, Error> {
    let workspace = Workspace::new(&config.root);
    let mut lacking = Vec::new();
    for step in recipe.steps() {
        let Some(what) = step.stage.lacks(config, recipe.name) else { continue };
        // What was made without it needed it for no record.
        if Manifest::read(&workspace.stage(recipe.name, step.number, step.name))?.is_none() {
            lacking.push(Lacking { step: step.name, what });
        }
    }
    Ok(lacking)
}
