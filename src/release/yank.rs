//! Yanking: a released version that nobody is to use any longer says so, wherever it lies.
//!
//! The registry keeps the version, its numbers and its rows: nothing is ever given twice. Its folder in output/ is
//! written anew with the notice in the card, in YANKED.md and in MANIFEST.json, and proves itself as before.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::error::ReleaseError;
use super::manifest::{Candidate, MANIFEST, SUMS};
use super::numbered::numbering;
use super::publish::check_date;
use super::registry::Registry;
use super::restore::{Restored, restore};
use super::version::Version;
use crate::recipe::Recipe;
use crate::store::{Error, Workspace, durable, sha256};

/// The notice's file name.
const NOTICE: &str = "YANKED.md";

/// When a version was yanked, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Yanked {
    /// The day, `YYYY-MM-DD`.
    pub date: String,
    /// Why, as whoever yanked it wrote.
    pub reason: String,
}

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

/// Writes the notice into a release's folder, which stands there as it was released.
///
/// # Errors
/// [`Error`] where a file cannot be read or written.
pub(super) fn mark(folder: &Path, yanked: &Yanked) -> Result<(), Error> {
    let Some(mut manifest) = Candidate::read(folder)? else { return Ok(()) };
    let date = &yanked.date;
    let reason = yanked.reason.replace(['\n', '\r'], " ");
    let notice = format!(
        "# Yanked\n\n{} {} was yanked on {date}: {reason}\n\nDo not use it. A later version takes its place.\n",
        manifest.recipe, manifest.version
    );
    let card = folder.join("README.md");
    let text = fs::read_to_string(&card).map_err(Error::io("read", &card))?;
    let stated = format!("Version {}, ", manifest.version);
    let line =
        format!("> **Yanked on {date}:** {}. Do not use this version.\n\n", reason.trim_end_matches('.'));
    let at = text.find(&stated).unwrap_or(text.len());
    let text = [&text[..at], &line, &text[at..]].concat();
    for (name, text) in [("README.md", text), (NOTICE, notice)] {
        let path = folder.join(name);
        durable::write_synced(&path, text.as_bytes())?;
        manifest.files.insert(name.into(), sha256(&path)?);
    }
    manifest.yanked = Some(yanked.clone());
    durable::write_synced(&folder.join(MANIFEST), &manifest.to_bytes())?;
    let mut sums: BTreeMap<String, String> = manifest.files;
    sums.insert(MANIFEST.into(), sha256(&folder.join(MANIFEST))?);
    let text: String = sums.iter().map(|(path, sum)| format!("{sum}  {path}\n")).collect();
    durable::write_synced(&folder.join(SUMS), text.as_bytes())
}

/// Whether a yanked version's folder is whole and says so.
pub(super) fn stands_marked(folder: &Path, yanked: &Yanked) -> bool {
    let Ok(Some(manifest)) = Candidate::read(folder) else { return false };
    manifest.yanked.as_ref() == Some(yanked)
        && folder.join(SUMS).is_file()
        && manifest.files.keys().all(|file| folder.join(file).is_file())
}
