//! The released versions that contain a record.

use serde::Serialize;

use super::read_rows::JsonRow;
use super::registry::Registry;
use super::restore::kept_lines;
use super::version::Version;
use crate::recipe::RECIPES;
use crate::store::{Error, Workspace};

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
pub fn holders(workspace: &Workspace, ids: &[&str]) -> Result<Vec<Holder>, Error> {
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
