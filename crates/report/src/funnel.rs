//! How many records each stage of a recipe kept, and why the others are out.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use crate::audit::{Funnel, Report, Shown, examples, funnel, tables};
use crate::config::Config;
use crate::pipeline::RunError;
use crate::recipe::Recipe;
use crate::store::Workspace;
use riddlemill_release::{Candidate, LeftOut};

/// Examples by stage, then by `state/reason`.
pub type Examples = BTreeMap<String, BTreeMap<String, Vec<Shown>>>;

/// What `report` tells of a recipe.
#[derive(Clone, Debug, Serialize)]
pub struct RecipeReport {
    #[serde(flatten)]
    pub funnel: Funnel,
    /// What the conditions of `[data]` stopped of the records at the end.
    #[serde(rename = "conditions", skip_serializing_if = "Vec::is_empty")]
    pub stopped: Vec<LeftOut>,
    /// The figures that the benchmark's folder declares.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "figures")]
    pub tables: Option<Report>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub examples: Option<Examples>,
}

fn figures<S: Serializer>(tables: &Option<Report>, serializer: S) -> Result<S::Ok, S::Error> {
    tables.as_ref().map(|tables| &tables.figures).serialize(serializer)
}

/// The report of a recipe, with at most `size` examples of each reason, and without any if it is 0.
///
/// # Errors
/// [`RunError`] if a stage, votes or the candidate cannot be read.
pub fn recipe_report(
    config: &Config,
    recipe: &'static Recipe,
    size: usize,
) -> Result<RecipeReport, RunError> {
    let workspace = Workspace::new(&config.root);
    let funnel = funnel(&workspace, recipe)?;
    let mut all = Examples::new();
    for step in recipe.steps().iter().filter(|_| size > 0) {
        all.insert(step.name.into(), examples(&workspace, recipe, step, size)?);
    }
    let tables = tables(config, recipe)?;
    let candidate = Candidate::read(&workspace.candidate(recipe.name))?;
    let stopped = candidate.iter().flat_map(Candidate::stopped).cloned().collect();
    Ok(RecipeReport { funnel, stopped, tables, examples: (size > 0).then_some(all) })
}
