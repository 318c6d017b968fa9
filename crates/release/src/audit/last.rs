//! Where many records stopped, with one pass over each ledger for all of them.

use std::collections::{BTreeMap, BTreeSet};

use super::explain::{Passage, passage};
use crate::recipe::Recipe;
use crate::record::Entry;
use crate::store::{Error, Filter, StageReader, Workspace, select};

/// The last thing that happened to each of these records, from the import of the recipe's posts on; `None` if
/// no stage has it.
///
/// # Errors
/// [`Error`] if a ledger cannot be read.
pub fn last_passages(
    workspace: &Workspace,
    recipe: &'static Recipe,
    ids: &BTreeSet<&str>,
) -> Result<BTreeMap<String, Passage>, Error> {
    let mut last = BTreeMap::new();
    if ids.is_empty() {
        return Ok(last);
    }
    let origin = Some(recipe.origin()).filter(|origin| origin.name != recipe.name);
    for recipe in origin.into_iter().chain([recipe]) {
        for step in recipe.steps_made(workspace)? {
            let Some(stage) = StageReader::open(&workspace.stage(recipe.name, step.number, step.name))?
            else {
                break;
            };
            let these = |column| Filter::any_of(column, ids.iter().copied());
            // Import identifies records by their place in a dump.
            let (named, by_place) = match step.inputs.is_empty() {
                true => (these("id").or(these("into")), true),
                false => (these("id"), false),
            };
            for entry in select::<Entry>(&stage, "ledger", &named)? {
                let id = match &entry.into {
                    Some(into) if by_place => into.clone(),
                    _ => entry.id.clone(),
                };
                // A second copy in the dumps says nothing of the first.
                if by_place && entry.outcome == "merged" {
                    continue;
                }
                last.insert(id, passage(step.name, entry));
            }
        }
    }
    Ok(last)
}
