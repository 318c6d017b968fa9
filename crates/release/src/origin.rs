//! From a released id (`RB-12`) back to the record it was made from.

use std::io::{BufRead, BufReader};

use super::layout;
use super::manifest::CandidateManifest;
use super::registry::Registry;
use super::restore::kept_lines;
use crate::recipe::Recipe;
use crate::store::{Error, Workspace};
use riddlemill_files::fence;

/// The record behind a released id: in the candidate, else in the latest release that had it. `None` if no
/// row of this recipe has the id, or rows are identified by their records.
///
/// # Errors
/// [`Error`] if the registry or its rows cannot be read.
pub fn find_origin_record(workspace: &Workspace, recipe: &Recipe, id: &str) -> Result<Option<String>, Error> {
    for layout in layout::layouts_of_recipe(recipe, recipe.kind_of_rows()) {
        if layout.place_of_column("source_id").is_none() {
            continue;
        }
        let candidate = workspace.candidate_folder(recipe.name);
        // A candidate that cannot be read is no error, because the releases are searched next.
        let manifest = CandidateManifest::read_manifest(&candidate).ok().flatten();
        let files = manifest.map(|manifest| manifest.files_of(layout.config)).unwrap_or_default();
        let files = files.into_iter().filter_map(|file| fence::open(candidate.join(file)).ok());
        let lines = files.flat_map(|file| BufReader::new(file).lines());
        if let Some(found) = lines.map_while(Result::ok).find_map(|line| source(&line, id)) {
            return Ok(Some(found));
        }
        let registry = Registry::open(workspace, recipe.name)?;
        for release in registry.releases.iter().rev().filter(|r| r.configs.contains_key(layout.config)) {
            let (path, lines) = kept_lines(&registry, release, layout.config)?;
            for line in lines {
                let line = line.map_err(Error::io("read", &path))?;
                if let Some(found) = source(&line, id) {
                    return Ok(Some(found));
                }
            }
        }
    }
    Ok(None)
}

/// The record from which the row with this id was made.
fn source(line: &str, id: &str) -> Option<String> {
    // Most lines do not contain the id, and need not be parsed.
    if !line.contains(id) {
        return None;
    }
    let row: serde_json::Map<String, serde_json::Value> = serde_json::from_str(line).ok()?;
    let source = row.get("source_id")?.as_str().filter(|source| !source.is_empty())?;
    (row.values().next()?.as_str()? == id).then(|| source.to_string())
}
