//! Yanking: a released version that nobody is to use any longer says so, wherever it lies.
//!
//! The registry keeps the version, its numbers and its rows: nothing is ever given twice. Its folder in output/ is
//! written anew with the notice in the card, in YANKED.md and in MANIFEST.json, and proves itself as before.

use super::error::ReleaseError;
use super::manifest::Yanked;
use super::numbered::numbering;
use super::publish::check_date;
use super::registry::Registry;
use super::restore::{Restored, restore};
use super::version::Version;
use crate::recipe::Recipe;
use crate::store::Workspace;

/// Marks a version as yanked, in the registry and in output/. Gives back what was written anew.
///
/// # Errors
/// [`ReleaseError`] where there is no such version, it was yanked before, or a file cannot be written.
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
    registry.yank(version, yanked)?;
    restore(workspace, recipe)
}
