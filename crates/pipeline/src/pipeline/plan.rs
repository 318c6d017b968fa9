//! Which stages are fresh, and why others are not.

use std::collections::BTreeMap;

use crate::config::Config;
use crate::recipe::Recipe;
use riddlemill_tables::{Manifest, Workspace};

use super::RunError;
use super::evidence::RunContext;
use super::freshness::Freshness;

/// A step in the plan of a run.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The step's name.
    pub step: &'static str,
    /// Whether it has to be made.
    pub freshness: Freshness,
    /// An earlier step that would be made first, after which this one may stay fresh.
    pub after: Option<&'static str>,
    /// Whether it would only be made to ask for missing replies, which may fail for the same reason.
    pub asks: bool,
}

impl Planned {
    /// The existing manifest, fresh or not.
    pub fn manifest(&self) -> Option<&Manifest> {
        match &self.freshness {
            Freshness::Fresh(manifest) | Freshness::Stale(manifest, _) => Some(manifest),
            Freshness::Missing | Freshness::Layout(_) | Freshness::Damaged(_) => None,
        }
    }

    /// Whether a run would make it, whatever the result of asking again.
    pub fn is_due(&self) -> bool {
        !self.asks && !matches!(self.freshness, Freshness::Fresh(_))
    }
}

/// Plans a run of a recipe, without running it.
///
/// # Errors
/// [`RunError::Settings`] if the sources cannot be read.
pub fn plan(config: &Config, recipe: &'static Recipe) -> Result<Vec<Planned>, RunError> {
    plan_of(config, recipe, false)
}

/// [`plan`]; if `offline`, replies that may not be asked for make no stage stale.
pub(super) fn plan_of(
    config: &Config,
    recipe: &'static Recipe,
    offline: bool,
) -> Result<Vec<Planned>, RunError> {
    let workspace = Workspace::new(&config.root);
    let known = RunContext::new(config, recipe);
    // Missing stages of another recipe are reported for that recipe.
    let mut made = super::foreign(&workspace, recipe).unwrap_or_default();
    let mut unmade: BTreeMap<&'static str, &'static str> = BTreeMap::new();
    let mut planned = Vec::new();
    for step in recipe.steps() {
        let place = workspace.stage(recipe.name, step.number, step.name);
        let after = step.inputs.iter().find_map(|input| unmade.get(input).copied());
        let opening = known.opening(step, &made)?;
        let freshness = known.freshness(step, &place, &opening, offline)?;
        match &freshness {
            Freshness::Fresh(manifest) | Freshness::Stale(manifest, _) => {
                // A remade stage may have the same rows, so later steps are compared with the old ones.
                made.insert(step.name, (**manifest).clone());
            }
            Freshness::Missing | Freshness::Layout(_) | Freshness::Damaged(_) => {}
        }
        if !matches!(freshness, Freshness::Fresh(_)) {
            unmade.insert(step.name, step.name);
        } else if let Some(after) = after {
            unmade.insert(step.name, after);
        }
        // With an equal fingerprint only missing replies or embeddings can make a stage stale.
        let asks = matches!(&freshness, Freshness::Stale(made, _) if made.fingerprint == opening.fingerprint);
        planned.push(Planned { step: step.name, freshness, after, asks });
    }
    Ok(planned)
}
