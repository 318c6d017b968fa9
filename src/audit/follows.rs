//! Checks that a candidate matches the present files of raw/, which the accounting alone cannot prove.

use super::prove::{Gap, Proof};
use crate::config::Config;
use crate::pipeline::{RunError, stale_stages};
use crate::recipe::Recipe;
use crate::store::Workspace;

/// Compares every stage under a recipe's candidate with today's dumps, replies, votes and settings. Without a
/// candidate there is nothing to check.
///
/// # Errors
/// [`RunError`] if sources, votes or replies cannot be read.
pub fn follows(config: &Config, recipe: &'static Recipe, proof: &mut Proof) -> Result<(), RunError> {
    if !Workspace::new(&config.root).candidate(recipe.name).exists() {
        return Ok(());
    }
    let gap = |what| Gap { recipe: recipe.name.into(), stage: "candidate".into(), what };
    for stage in stale_stages(config, recipe)? {
        proof.gaps.push(gap(format!("it does not match raw/ and the settings: {stage}")));
    }
    Ok(())
}
