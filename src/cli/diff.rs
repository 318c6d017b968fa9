//! `diff`: what is otherwise in one folder than in another.

use std::path::Path;

use super::args::{Diff, Global};
use super::exit::{Exit, Failure};
use super::output;
use crate::audit;
use crate::config::FILE;
use crate::recipe::{self, Recipe};
use crate::release::{Candidate, diff as differences};
use crate::store::{Error, Workspace};

pub(super) fn diff(args: &Diff, global: &Global) -> Result<Exit, Failure> {
    let recipe = [&args.before, &args.after].into_iter().find_map(|folder| recipe_of(folder));
    let lost = |id: &str| recipe.and_then(|recipe| cause(global, recipe, id));
    let found = differences::diff(&args.before, &args.after, &lost)?;
    if let Some(path) = &args.html {
        std::fs::write(path, found.html()).map_err(Error::io("write", path))?;
    }
    match global.json {
        true => output::json(&found)?,
        false => output::print(&found.text())?,
    }
    Ok(if found.is_empty() { Exit::Done } else { Exit::Gap })
}

fn recipe_of(folder: &Path) -> Option<&'static Recipe> {
    recipe::find(&Candidate::read(folder).ok()??.recipe)
}

/// The stage and rule at which a record left, as the workspace's ledgers tell it now.
pub(super) fn cause(global: &Global, recipe: &'static Recipe, target: &str) -> Option<String> {
    if !global.workspace.join(FILE).exists() {
        return None;
    }
    let workspace = Workspace::new(&global.workspace);
    let id = audit::find(&workspace, recipe, target).ok()?.into_iter().next()?;
    let told = audit::explain(&workspace, recipe, &id).ok()?;
    let last = told.way.last().filter(|_| told.ends != "in")?;
    let reason = last.reason.as_deref().unwrap_or_default();
    let into = last.into.as_deref().map(|into| format!(" into {into}")).unwrap_or_default();
    Some(format!("{} {} {reason}{into}", last.stage, last.outcome))
}
