//! Recipes with equal first steps share the work: a stage that another recipe made from the same input, with
//! the same code and settings, is linked instead of remade. Parts are never changed in place, so two folders
//! may share a file.

use std::fs;
use std::path::Path;

use crate::recipe::{RECIPES, Recipe};
use riddlemill_tables::{Error, MANIFEST, Manifest, StageReader, Workspace, durable};

/// Links another recipe's equal stage in this one's place. `None` if there is none, it `lacks` what this one can have, or it
/// is being written.
pub(super) fn link(
    workspace: &Workspace,
    recipe: &'static Recipe,
    place: &Path,
    opening: &Manifest,
    lacks: impl Fn(&Manifest) -> bool,
) -> Result<Option<Manifest>, Error> {
    for other in RECIPES.iter().filter(|other| other.name != recipe.name) {
        let Some((number, step)) = other.step(&opening.stage) else { continue };
        let twin = workspace.stage(other.name, number, step.name);
        // An unreadable twin is reported when its own recipe runs; here the stage is made instead.
        let Ok(Some(reader)) = StageReader::open(&twin) else { continue };
        // A hard link would spread a damaged part to this recipe, so the twin's bytes are checked first.
        if !same_work(reader.manifest(), opening) || lacks(reader.manifest()) || reader.whole().is_err() {
            continue;
        }
        if let Some(manifest) = link_parts(&reader, place, opening)? {
            return Ok(Some(manifest));
        }
    }
    Ok(None)
}

/// Whether two stages were determined by the same things, whatever their recipes' names.
pub fn same_work(twin: &Manifest, opening: &Manifest) -> bool {
    let inputs =
        |m: &Manifest| m.inputs.iter().map(|i| (i.stage.clone(), i.rows.clone())).collect::<Vec<_>>();
    twin.stage == opening.stage
        && twin.stage_version == opening.stage_version
        && twin.settings == opening.settings
        && twin.evidence == opening.evidence
        && inputs(twin) == inputs(opening)
}

fn link_parts(twin: &StageReader, place: &Path, opening: &Manifest) -> Result<Option<Manifest>, Error> {
    let name = place.file_name().unwrap_or_default().to_string_lossy();
    let making = place.with_file_name(format!(".making-{name}"));
    durable::remove_folder(&making)?;
    for table in twin.manifest().tables.keys() {
        durable::create_folder(&making.join(table))?;
    }
    for part in twin.manifest().tables.values().flat_map(|t| &t.parts) {
        if fs::hard_link(twin.place().join(&part.file), making.join(&part.file)).is_err() {
            // Another file system, or the other recipe is being remade: make the stage instead.
            durable::remove_folder(&making)?;
            return Ok(None);
        }
    }
    // The other recipe is not locked: its run may have replaced the stage while the parts were linked.
    if Manifest::read(twin.place()).ok().flatten().as_ref() != Some(twin.manifest()) {
        durable::remove_folder(&making)?;
        return Ok(None);
    }
    // Only counts and tables come from the twin; recipe and inputs keep the names of this one.
    let made = Manifest {
        counts: twin.manifest().counts.clone(),
        tables: twin.manifest().tables.clone(),
        ..opening.clone()
    };
    // The manifest is written last and before the swap: a stage in its place is always complete.
    durable::write_synced(&making.join(MANIFEST), &made.to_bytes())?;
    durable::swap_folder(&making, place)?;
    Ok(Some(made))
}
