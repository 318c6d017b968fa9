//! What is fresh, what is not, and why.

use std::collections::BTreeMap;

use crate::config::Config;
use crate::recipe::Recipe;
use riddlemill_tables::{Manifest, Workspace};

use super::RunError;
use super::evidence::RunContext;
use super::freshness::Freshness;

/// A step and what a run would do with it.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The step's name.
    pub step: &'static str,
    /// Whether it must be made.
    pub freshness: Freshness,
    /// An earlier step that would be made first, so that this one may or may not stay fresh.
    pub after: Option<&'static str>,
    /// Whether it would be made for replies alone, which may be missing for the same cause again.
    pub asks: bool,
}

impl Planned {
    /// What is there, fresh or not.
    pub fn manifest(&self) -> Option<&Manifest> {
        match &self.freshness {
            Freshness::Fresh(manifest) | Freshness::Stale(manifest, _) => Some(manifest),
            Freshness::Missing | Freshness::Layout(_) | Freshness::Damaged(_) => None,
        }
    }

    /// Whether a run would make it, whatever came of asking again.
    pub fn is_due(&self) -> bool {
        !self.asks && !matches!(self.freshness, Freshness::Fresh(_))
    }
}

/// What a run of a recipe would do, without doing it.
///
/// # Errors
/// [`RunError::Settings`] where the sources cannot be read.
pub fn plan(config: &Config, recipe: &'static Recipe) -> Result<Vec<Planned>, RunError> {
    plan_of(config, recipe, false)
}

/// [`plan`]; where it is `offline`, replies that nobody may ask for make no stage stale.
pub(super) fn plan_of(
    config: &Config,
    recipe: &'static Recipe,
    offline: bool,
) -> Result<Vec<Planned>, RunError> {
    let workspace = Workspace::new(&config.root);
    let known = RunContext::new(config, recipe)?;
    // What another recipe has not made yet is told where that recipe stands.
    let mut made = super::foreign(&workspace, recipe).unwrap_or_default();
    let mut unmade: BTreeMap<&'static str, &'static str> = BTreeMap::new();
    let mut planned = Vec::new();
    for (i, step) in recipe.steps.iter().enumerate() {
        let place = workspace.stage(recipe.name, i + 1, step.name);
        let after = step.inputs.iter().find_map(|input| unmade.get(input).copied());
        let opening = known.opening(step, &made)?;
        let freshness = known.freshness(step, &place, &opening, offline)?;
        match &freshness {
            Freshness::Fresh(manifest) | Freshness::Stale(manifest, _) => {
                made.insert(step.name, (**manifest).clone());
            }
            Freshness::Missing | Freshness::Layout(_) | Freshness::Damaged(_) => {}
        }
        if !matches!(freshness, Freshness::Fresh(_)) {
            unmade.insert(step.name, step.name);
        } else if let Some(after) = after {
            unmade.insert(step.name, after);
        }
        let asks = matches!(&freshness, Freshness::Stale(made, _) if made.fingerprint == opening.fingerprint);
        planned.push(Planned { step: step.name, freshness, after, asks });
    }
    Ok(planned)
}
