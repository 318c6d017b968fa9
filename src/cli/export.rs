//! `export`: rows for annotation tools and spreadsheets.

use std::fs;
use std::path::Path;

use super::args::{Export, ExportForm, Global};
use super::exit::{Exit, Failure};
use super::output::{self, count};
use crate::config::FILE;
use crate::pipeline::Withheld;
use crate::recipe::{self, Recipe};
use crate::release::export::{ExportFormat, export_rows as write};
use crate::release::read_rows::JsonRow;
use crate::release::{self, CandidateManifest, ReleaseError, read_rows};
use crate::store::Workspace;

pub(super) fn export_release(args: &Export, global: &Global) -> Result<Exit, Failure> {
    check_candidate(args, global)?;
    let mut configs = read_rows::of_folder(&args.folder)?;
    for (_, rows) in &mut configs {
        // The folder may be older than a withdrawal.
        let hidden = hide_withdrawn(&args.folder, global, rows)?;
        if hidden > 0 && !global.quiet {
            eprintln!("{} left out: withdrawn", count(hidden as u64, "row"));
        }
    }
    if let Some(config) = &args.config {
        configs.retain(|(name, _)| name == config);
    }
    let [(_, rows)] = &configs[..] else {
        return Err(Failure::usage(
            "the folder does not have exactly one such config\n  hint: --config \
                                   names it",
        ));
    };
    let form = match args.form {
        ExportForm::LabelStudio => ExportFormat::LabelStudio,
        ExportForm::Argilla => ExportFormat::Argilla,
        ExportForm::Csv => ExportFormat::Csv,
        ExportForm::Xlsx => ExportFormat::Xlsx,
    };
    write(rows, form, &args.to)?;
    if !global.quiet {
        eprintln!("{} in {}", count(rows.len() as u64, "row"), args.to.display());
    }
    Ok(Exit::Done)
}

/// Removes the rows withdrawn from the workspace, and returns how many.
pub(super) fn hide_withdrawn(
    folder: &Path,
    global: &Global,
    rows: &mut Vec<JsonRow>,
) -> Result<usize, Failure> {
    read_rows::recipe_of_folder(folder)?.map_or(Ok(0), |recipe| hide_of(recipe, global, rows))
}

/// The same for rows that are not from a folder.
pub(super) fn hide_of(
    recipe: &'static Recipe,
    global: &Global,
    rows: &mut Vec<JsonRow>,
) -> Result<usize, Failure> {
    if !global.workspace.join(FILE).exists() {
        return Ok(0);
    }
    let before = rows.len();
    let mut withdrawn =
        Withheld::open(&Workspace::new(&global.workspace), recipe)?.withdrawn_rows(rows)?.into_iter();
    rows.retain(|_| !withdrawn.next().unwrap_or_default());
    Ok(before - rows.len())
}

/// A candidate of the workspace can be exported if it is up to date; a draft may be older, with a note.
fn check_candidate(args: &Export, global: &Global) -> Result<(), Failure> {
    let Some(candidate) =
        CandidateManifest::read_manifest(&args.folder)?.filter(CandidateManifest::is_no_release)
    else {
        return Ok(());
    };
    let Some(recipe) = recipe::find_recipe(&candidate.recipe) else { return Ok(()) };
    let own = Workspace::new(&global.workspace).candidate_folder(recipe.name);
    // The candidate may be given by another path, or by a link.
    let same = |path: &Path| fs::canonicalize(path).ok();
    if same(&own).is_none() || same(&own) != same(&args.folder) {
        return Ok(());
    }
    match release::require_fresh_candidate(&output::load_config(global)?, recipe) {
        Err(e @ (ReleaseError::Outdated { .. } | ReleaseError::StaleCandidate { .. })) if args.draft => {
            eprintln!("warning: a draft: {e}");
            Ok(())
        }
        checked => Ok(checked?),
    }
}
