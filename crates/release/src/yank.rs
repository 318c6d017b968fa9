//! Yanking: marks a released version as not to be used any longer, wherever it is.
//!
//! The registry keeps the version, its numbers and its rows, so that nothing is reused. Its folder in output/
//! is rewritten with the notice on the card, in YANKED.md and in MANIFEST.json, and can still be verified.

use super::error::ReleaseError;
use super::manifest::Yanked;
use super::numbered::numbering;
use super::publish::check_date;
use super::registry::Registry;
use super::restore::{Restored, restore};
use super::version::Version;
use crate::recipe::Recipe;
use crate::store::Workspace;

/// Marks a version as yanked, in the registry and in output/. Returns what was rewritten.
///
/// # Errors
/// [`ReleaseError`] if there is no such version, it was yanked before, or a file cannot be written.
pub fn yank(
    workspace: &Workspace,
    recipe: &'static Recipe,
    version: Version,
    yanked: Yanked,
) -> Result<Vec<Restored>, ReleaseError> {
    check_date(&yanked.date)?;
    let _locks = numbering(workspace, recipe)?;
    let mut registry = Registry::open(workspace, recipe.name)?;
    if registry.find(version).is_none() {
        let known = registry.releases.iter().map(|release| release.version.to_string()).collect();
        return Err(ReleaseError::NoRelease { recipe: recipe.name.into(), version, known });
    }
    if let Some(before) = registry.yanked.get(&version) {
        let date = before.date.clone();
        return Err(ReleaseError::YankedBefore { recipe: recipe.name.into(), version, date });
    }
    // First, because `restore` follows the registry: after a stop in between it marks the folder later.
    registry.yank(version, yanked)?;
    restore(workspace, recipe)
}
