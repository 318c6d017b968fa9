//! Released versions as the registry keeps them: the rows of a version and of those before it, and which contain a record.

use serde::Serialize;

use super::changes::Changes;
use super::manifest::Yanked;
use super::read_rows::JsonRow;
use super::registry::Registry;
use super::restore::kept_lines;
use super::version::Version;
use crate::recipe::RECIPES;
use crate::store::{Error, Workspace};

/// A registered version with its rows.
#[derive(Clone, Debug)]
pub struct KeptVersion {
    /// The version as text.
    pub version: String,
    /// The day, `YYYY-MM-DD`.
    pub date: String,
    /// What changed since the version before.
    pub changes: Changes,
    /// When it was yanked, if it was.
    pub yanked: Option<Yanked>,
    /// The rows of all configs, in order.
    pub rows: Vec<JsonRow>,
}

/// A version and those that were released before it, oldest first; empty if the registry does not name it.
///
/// # Errors
/// [`Error`] if the registry or its rows cannot be read.
pub fn kept_versions(workspace: &Workspace, recipe: &str, version: &str) -> Result<Vec<KeptVersion>, Error> {
    let registry = Registry::open(workspace, recipe)?;
    let releases = &registry.releases;
    let Some(last) = releases.iter().position(|release| release.version.to_string() == version) else {
        return Ok(Vec::new());
    };
    let mut kept = Vec::new();
    for release in &releases[..=last] {
        let mut rows = Vec::new();
        for config in release.configs.keys() {
            let (path, lines) = kept_lines(&registry, release, config)?;
            for line in lines {
                let line = line.map_err(Error::io("read", &path))?;
                rows.push(serde_json::from_str(&line).map_err(|e| Error::io("read", &path)(e.into()))?);
            }
        }
        kept.push(KeptVersion {
            version: release.version.to_string(),
            date: release.date.clone(),
            changes: release.changes.clone(),
            yanked: registry.yanked.get(&release.version).cloned(),
            rows,
        });
    }
    Ok(kept)
}

/// A row of a released version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Holder {
    pub recipe: &'static str,
    pub version: Version,
    /// The row's id.
    pub row: String,
    /// Whether the version was yanked.
    pub yanked: bool,
}

/// The rows of all releases that were made from one of these records.
///
/// # Errors
/// [`Error`] if a registry or its rows cannot be read.
pub fn find_holders(workspace: &Workspace, ids: &[&str]) -> Result<Vec<Holder>, Error> {
    let mut found = Vec::new();
    for recipe in RECIPES.iter() {
        let registry = Registry::open(workspace, recipe.name)?;
        for release in &registry.releases {
            for config in release.configs.keys() {
                let (path, lines) = kept_lines(&registry, release, config)?;
                for line in lines {
                    let line = line.map_err(Error::io("read", &path))?;
                    // Most lines contain none of them, and are not parsed.
                    if !ids.iter().any(|id| line.contains(id)) {
                        continue;
                    }
                    let row: JsonRow =
                        serde_json::from_str(&line).map_err(|e| Error::io("read", &path)(e.into()))?;
                    let own = row.values().next().and_then(|id| id.as_str()).unwrap_or_default();
                    let source = row.get("source_id").and_then(|id| id.as_str());
                    if ids.iter().any(|id| *id == own || Some(*id) == source) {
                        found.push(Holder {
                            recipe: recipe.name,
                            version: release.version,
                            row: own.to_string(),
                            yanked: registry.yanked.contains_key(&release.version),
                        });
                    }
                }
            }
        }
    }
    Ok(found)
}
