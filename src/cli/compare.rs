//! `compare`: compares a set with a published one.

use std::collections::BTreeMap;

use super::args::{Compare, Global};
use super::exit::{Exit, Failure};
use super::export::hide_of;
use super::output;
use super::progress::TaskProgress;
use crate::config::FILE;
use crate::recipe;
use crate::release::compare as comparing;
use crate::release::layout;
use crate::release::read_rows::JsonRow;
use crate::release::{CandidateManifest, read_rows};
use crate::stages::{JoinProgress, Stop};
use crate::store::{Error, Manifest, durable};

pub(super) fn compare_reference(args: &Compare, global: &Global) -> Result<Exit, Failure> {
    let mut rows: Vec<JsonRow> = read_rows::of_path(&args.set)?;
    let mut reference = read_rows::of_path(&args.reference)?;
    let types: BTreeMap<String, String> = match &args.map {
        Some(path) => {
            let map = std::fs::read_to_string(path).map_err(Error::io("read", path))?;
            serde_json::from_str(&map).map_err(|e| {
                Failure::usage(format!("{e}\n  hint: --map takes a JSON object, published label to label"))
            })?
        }
        None => layout::renamed_labels(),
    };
    // A wrong name is an error, not a comparison without a recipe.
    args.recipe.as_deref().map(output::find_recipe).transpose()?;
    let named =
        args.recipe.clone().or_else(|| Some(CandidateManifest::read_manifest(&args.set).ok()??.recipe));
    let of_stage = || Some(Manifest::read_from_stage(&args.set).ok()??.recipe);
    if let Some(problems) = named.clone().or_else(of_stage).as_deref().and_then(recipe::problems_of) {
        return Err(problems.into());
    }
    let recipe = match named {
        Some(name) => recipe::find_recipe(&name),
        None if args.set.is_dir() => read_rows::recipe_of_folder(&args.set)?,
        None => None,
    };
    // The recipe only matters for withdrawn dumps; files without a recipe are checked by id and text.
    if let Some(own) = recipe.or_else(|| recipe::RECIPES.iter().next()) {
        for (path, rows) in [(&args.set, &mut rows), (&args.reference, &mut reference)] {
            let hidden = hide_of(own, global, rows)?;
            if hidden > 0 && !global.quiet {
                eprintln!("{}: {} left out: withdrawn", path.display(), output::count(hidden as u64, "row"));
            }
        }
    }
    comparing::same_form(&mut rows, &mut reference);
    let records = (rows.len() + reference.len()) as u64;
    let (stop, bar) = (Stop::default(), TaskProgress::of_verb("compare", records, global));
    // The settings of dedup, so that similar rows here are similar there, too.
    let likeness = output::load_or_default(global)?.typed_settings(recipe.map(|recipe| recipe.name), "dedup");
    let watch = JoinProgress::new(&stop, &bar, records);
    let mut found = comparing::compare(&rows, &reference, &types, &likeness, &watch);
    bar.clear_bar();
    if let Some(recipe) = recipe.filter(|_| global.workspace.join(FILE).exists()) {
        found.follow(&output::load_config(global)?, recipe)?;
    }
    if let Some(path) = &args.html {
        let page = found.html(&args.set.display().to_string(), &args.reference.display().to_string());
        let page = page.map_err(|e| Failure { exit: Exit::Io, message: e.to_string() })?;
        durable::replace_file(path, page.as_bytes())?;
    }
    match global.json {
        true => output::print_json(&found)?,
        false => output::print_text(&found.text())?,
    }
    Ok(if found.is_perfect() { Exit::Done } else { Exit::Gap })
}
