//! Posts by their texts in the stages: as imported, and as a stage changed them.

use std::collections::BTreeSet;

use rayon::prelude::*;

use super::whereabouts::stages;
use crate::recipe::Recipe;
use crate::record::{Entry, Post};
use crate::stages::Rows;
use crate::store::{Error, Filter, Workspace, select_parts};
use crate::text::normalise::{Fold, fold};

/// Posts with this text, as imported or else as a stage left them.
pub(super) fn find_by_text(
    workspace: &Workspace,
    recipe: &'static Recipe,
    target: &str,
) -> Result<Vec<String>, Error> {
    let wanted = fold(target, Fold::KEY);
    let mut found = TextMatches::default();
    let import = recipe.steps().first().filter(|step| step.stage.rows() == Rows::Posts);
    for stage in stages(workspace, recipe)?.iter().take(import.into_iter().count()) {
        for part in stage.parts::<Post>("rows") {
            found.take(&wanted, part?.into_iter().map(|post| (post.id, post.text)).collect());
        }
    }
    match found.ids() {
        ids if ids.is_empty() => find_changed(workspace, recipe, target),
        ids => Ok(ids),
    }
}

/// Posts with this text after a stage changed them, ignoring width, script, spaces and punctuation: no dump
/// contains it like that. If some are equal to the target, only these.
fn find_changed(workspace: &Workspace, recipe: &'static Recipe, target: &str) -> Result<Vec<String>, Error> {
    let wanted = fold(target, Fold::KEY);
    let mut found = TextMatches::default();
    for stage in stages(workspace, recipe)? {
        for part in select_parts::<Entry>(&stage, "ledger", Some(Filter::Present("after"))) {
            let texts = part?.into_iter().filter_map(|entry| Some((entry.id, entry.after?)));
            found.take(&wanted, texts.collect());
        }
    }
    Ok(found.ids())
}

/// Records equal to a text, and those that contain it.
#[derive(Default)]
struct TextMatches {
    equal: BTreeSet<String>,
    holding: BTreeSet<String>,
}

impl TextMatches {
    /// Searches texts of records for a folded text; an empty one is never found.
    fn take(&mut self, wanted: &str, texts: Vec<(String, String)>) {
        let hit = |(id, text): (String, String)| {
            let text = fold(&text, Fold::KEY);
            (!wanted.is_empty() && text.contains(wanted)).then_some((text == wanted, id))
        };
        let hits: Vec<(bool, String)> = texts.into_par_iter().filter_map(hit).collect();
        for (same, id) in hits {
            let ids = if same { &mut self.equal } else { &mut self.holding };
            ids.insert(id);
        }
    }

    fn ids(self) -> Vec<String> {
        if self.equal.is_empty() { self.holding } else { self.equal }.into_iter().collect()
    }
}
