//! Keeps the texts on which people voted before a run changes them: raw/seen, append-only.

use super::{RunError, rows};
use crate::config::Config;
use crate::recipe::Recipe;
use crate::stages::StageError;
use crate::stages::review::Votes;
use riddlemill_review::carry::{SeenLog, rested_on};
use riddlemill_tables::Workspace;

/// Keeps the content of reviews after the step in place `made`, from 0, for items with people's votes. Called before the
/// first stage of a run is written: afterwards the content of the votes' items would be lost.
///
/// # Errors
/// [`RunError`] if votes cannot be read or the texts not be written.
pub(super) fn keep(config: &Config, recipe: &'static Recipe, made: usize) -> Result<(), RunError> {
    let raw = Workspace::new(&config.root).raw();
    if !raw.join("votes").exists() {
        return Ok(());
    }
    let votes = Votes::load(config, recipe.name)?;
    let mut texts = Vec::new();
    for review in recipe.reviews() {
        let (of, ballot) = review.place();
        let by_item = votes.stored(of, ballot);
        let voted = by_item.values().flatten().any(|vote| !vote.synthetic);
        let later = recipe.place_of(&format!("review:{ballot}")).is_none_or(|place| place > made);
        // A review up to the first remade stage keeps its input, and with it the texts.
        if !voted || !later {
            continue;
        }
        // Rows that were never built, or cannot be read, were not shown to anybody.
        if let Ok(Some((step, items))) = rows::review_items(config, recipe, ballot) {
            texts.extend(rested_on(&step, &items, &by_item));
        }
    }
    SeenLog::append(&raw.join("seen"), texts).map_err(StageError::from)?;
    Ok(())
}
