//! The records of a stage, and close pairs.

use serde::Serialize;

use crate::audit::{NearTexts, Query, Shown, borderline_pairs, show_records};
use crate::recipe::{Recipe, Step};
use crate::store::{Error, Workspace};
use riddlemill_release::{AlikePair, alike_pairs};

/// What a stage has of what was asked for.
#[derive(Clone, Debug, Serialize)]
pub struct ShownStage {
    pub recipe: &'static str,
    pub stage: &'static str,
    /// How many there are, shown or not.
    pub all: u64,
    pub rows: ShownRows,
    /// Rows that are alike since people rewrote their texts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub alike: Vec<AlikePair>,
}

/// What is shown.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum ShownRows {
    Records(Vec<Shown>),
    Pairs(Vec<NearTexts>),
}

impl ShownRows {
    /// How many.
    pub fn count_rows(&self) -> usize {
        match self {
            ShownRows::Records(shown) => shown.len(),
            ShownRows::Pairs(near) => near.len(),
        }
    }
}

/// At most `limit` of the records of a stage, or if `pairs` of its close pairs; `None` if it is not made, or has no pairs.
///
/// # Errors
/// [`Error`] if the stage, the candidate or the withdrawals cannot be read.
pub fn show_stage(
    workspace: &Workspace,
    recipe: &'static Recipe,
    step: &'static Step,
    query: &Query,
    (pairs, limit): (bool, usize),
) -> Result<Option<ShownStage>, Error> {
    let stage = |rows, all, alike| ShownStage { recipe: recipe.name, stage: step.name, all, rows, alike };
    if !pairs {
        let found = show_records(workspace, recipe, step, query)?;
        return Ok(found.map(|(mut shown, all)| {
            shown.truncate(limit);
            stage(ShownRows::Records(shown), all, Vec::new())
        }));
    }
    let Some((mut near, all)) = borderline_pairs(workspace, recipe, step, query)? else { return Ok(None) };
    near.truncate(limit);
    let alike = match step.stage.merges_posts() {
        true => find_rewritten_pairs(workspace, recipe, query)?,
        false => Vec::new(),
    };
    Ok(Some(stage(ShownRows::Pairs(near), all, alike)))
}

/// The pairs of rows that are alike since people rewrote their texts.
fn find_rewritten_pairs(
    workspace: &Workspace,
    recipe: &'static Recipe,
    query: &Query,
) -> Result<Vec<AlikePair>, Error> {
    let fits = |pair: &AlikePair| {
        let matches = |re: &regex::Regex| re.is_match(&pair.text_a) || re.is_match(&pair.text_b);
        query.grep.as_ref().is_none_or(matches)
    };
    Ok(alike_pairs(workspace, recipe)?.into_iter().filter(fits).collect())
}
