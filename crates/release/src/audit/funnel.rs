//! `report`: how many records each stage kept, and why the others are out.

use serde::Serialize;

use crate::recipe::Recipe;
use crate::record::Counts;
use crate::store::{Error, Manifest, Workspace};

/// A recipe's stages, from dump to candidate.
#[derive(Clone, Debug, Serialize)]
pub struct Funnel {
    pub recipe: String,
    pub stages: Vec<FunnelStage>,
}

/// The counts of one stage.
#[derive(Clone, Debug, Serialize)]
pub struct FunnelStage {
    /// The stage's name.
    pub stage: String,
    /// Its counts of records.
    pub counts: Counts,
    /// Number of user names searched for in every text, for the stage that does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub names: Option<u64>,
}

/// The funnel of the stages in staged/.
///
/// # Errors
/// [`Error`] if a manifest cannot be read.
pub fn funnel(workspace: &Workspace, recipe: &'static Recipe) -> Result<Funnel, Error> {
    let mut stages = Vec::new();
    for step in recipe.steps_made(workspace)? {
        match Manifest::read(&workspace.stage(recipe.name, step.number, step.name))? {
            Some(manifest) => {
                let names = manifest.tables.get("names").map(|t| t.parts.iter().map(|part| part.rows).sum());
                stages.push(FunnelStage { stage: step.name.into(), counts: manifest.counts, names });
            }
            None => break,
        }
    }
    Ok(Funnel { recipe: recipe.name.into(), stages })
}
