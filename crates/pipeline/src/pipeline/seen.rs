//! What people's votes rest on, kept before a run changes it: raw/seen, only appended to.

use super::{RunError, rows};
use crate::config::Config;
use crate::recipe::Recipe;
use crate::stages::StageError;
use crate::stages::review::Votes;
use riddlemill_review::carry::{SeenLog, rested_on};
use riddlemill_tables::Workspace;

/// Keeps what was shown in the reviews after step number `made`, of items that people's votes count on. Called before the
/// first stage of a run is written: afterwards nobody could say what the votes are about.
///
/// # Errors
/// [`RunError`] where votes cannot be read or the texts not be written.
pub(super) fn keep(config: &Config, recipe: &'static Recipe, made: usize) -> Result<(), RunError> {
    let raw = Workspace::new(&config.root).raw();
    if !raw.join("votes").exists() {
        return Ok(());
    }
    let votes = Votes::load(config, recipe.name)?;
    let mut texts = Vec::new();
    for review in recipe.reviews() {
        let (of, ballot) = review.place();
        let by_item = votes.by_item(of, ballot);
        let voted = by_item.values().flatten().any(|vote| !vote.synthetic);
        let later = recipe.step(&format!("review:{ballot}")).is_none_or(|(number, _)| number > made + 1);
        if !voted || !later {
            continue;
        }
        // Of rows that were never made, or cannot be read, nobody can be shown anything either.
        if let Ok(Some((step, items))) = rows::review_items(config, recipe, ballot) {
            texts.extend(rested_on(&step, &items, &by_item));
        }
    }
    SeenLog::append(&raw.join("seen"), texts).map_err(StageError::from)?;
    Ok(())
}
