//! Which stages are fresh, why others are not, and which need not be made.
//!
//! Recipes with equal first steps share the work: a stage that another recipe made from the same input, with
//! the same code and settings, is linked instead of remade. Parts are never changed in place, so two folders
//! may share a file.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use riddlemill_tables::{Error, MANIFEST, Manifest, StageReader, Workspace, durable};

use super::RunError;
use super::evidence::RunContext;
use super::freshness::Freshness;
use crate::config::Config;
use crate::recipe::{RECIPES, Recipe};

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
    pub fn existing_manifest(&self) -> Option<&Manifest> {
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
pub fn plan_recipe(config: &Config, recipe: &'static Recipe) -> Result<Vec<Planned>, RunError> {
    plan_of(config, recipe, false)
}

/// [`plan_recipe`]; if `offline`, replies that may not be asked for make no stage stale.
pub(super) fn plan_of(
    config: &Config,
    recipe: &'static Recipe,
    offline: bool,
) -> Result<Vec<Planned>, RunError> {
    let workspace = Workspace::new(&config.root);
    let context = RunContext::new(config, recipe);
    // Missing stages of another recipe are reported for that recipe.
    let mut made = super::read_foreign_manifests(&workspace, recipe).unwrap_or_default();
    let mut unmade: BTreeMap<&'static str, &'static str> = BTreeMap::new();
    let mut planned = Vec::new();
    for step in recipe.steps() {
        let place = workspace.stage_folder(recipe.name, step.number, step.name);
        let after = step.inputs.iter().find_map(|input| unmade.get(input).copied());
        let expected = context.expected_manifest(step, &made)?;
        let freshness = context.freshness_of_step(step, &place, &expected, offline)?;
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
        let asks =
            matches!(&freshness, Freshness::Stale(made, _) if made.fingerprint == expected.fingerprint);
        planned.push(Planned { step: step.name, freshness, after, asks });
    }
    Ok(planned)
}

/// Links another recipe's equal stage in this one's place. `None` if there is none, it `lacks` what this one can have, or it
/// is being written.
pub(super) fn link_twin(
    workspace: &Workspace,
    recipe: &'static Recipe,
    folder: &Path,
    opening: &Manifest,
    lacks: impl Fn(&Manifest) -> bool,
) -> Result<Option<Manifest>, Error> {
    for other in RECIPES.iter().filter(|other| other.name != recipe.name) {
        let Some((number, step)) = other.find_step(&opening.stage) else { continue };
        let twin = workspace.stage_folder(other.name, number, step.name);
        // An unreadable twin is reported when its own recipe runs; here the stage is made instead.
        let Ok(Some(reader)) = StageReader::open(&twin) else { continue };
        // A hard link would spread a damaged part to this recipe, so the twin's bytes are checked first.
        if !same_work(reader.manifest(), opening)
            || lacks(reader.manifest())
            || reader.verify_contents().is_err()
        {
            continue;
        }
        if let Some(manifest) = link_parts(&reader, folder, opening)? {
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

fn link_parts(twin: &StageReader, folder: &Path, opening: &Manifest) -> Result<Option<Manifest>, Error> {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let temp_dir = folder.with_file_name(format!(".making-{name}"));
    durable::remove_folder(&temp_dir)?;
    for table in twin.manifest().tables.keys() {
        durable::create_folder(&temp_dir.join(table))?;
    }
    for part in twin.manifest().tables.values().flat_map(|t| &t.parts) {
        if fs::hard_link(twin.folder().join(&part.file), temp_dir.join(&part.file)).is_err() {
            // Another file system, or the other recipe is being remade: make the stage instead.
            durable::remove_folder(&temp_dir)?;
            return Ok(None);
        }
    }
    // The other recipe is not locked: its run may have replaced the stage while the parts were linked.
    if Manifest::read_from_stage(twin.folder()).ok().flatten().as_ref() != Some(twin.manifest()) {
        durable::remove_folder(&temp_dir)?;
        return Ok(None);
    }
    // Only counts and tables come from the twin; recipe and inputs keep the names of this one.
    let made = Manifest {
        counts: twin.manifest().counts.clone(),
        tables: twin.manifest().tables.clone(),
        ..opening.clone()
    };
    // The manifest is written last and before the swap: a stage in its place is always complete.
    durable::write_synced(&temp_dir.join(MANIFEST), &made.to_bytes())?;
    durable::swap_folder(&temp_dir, folder)?;
    Ok(Some(made))
}
