//! The word lists of anonymise, from the files that settings name.

use std::fs;
use std::path::Path;

use super::{StageError, Unusable};
use crate::config::sections;
use riddlemill_text::offline::{Anonymise, Lists};
use riddlemill_text::text::policy::ListError;

/// Reads the word lists that the settings name.
///
/// # Errors
/// [`StageError::Settings`] naming the list that cannot be read.
pub fn policy_lists(root: &Path, settings: &sections::Anonymise) -> Result<Lists, StageError> {
    Lists::read(&settings.policy, |name| {
        fs::read_to_string(root.join(name)).map_err(|e| {
            let unreadable = Unusable::at("anonymise.policy", format!("cannot read the list {name:?}: {e}"));
            unreadable.hint("\"builtin\", or a path relative to pipeline.toml").into()
        })
    })
}

impl From<ListError> for StageError {
    fn from(error: ListError) -> StageError {
        Unusable::at("anonymise.policy", error).into()
    }
}

/// The anonymise stage of settings, with its lists read relative to a folder.
///
/// # Errors
/// [`StageError`] naming the list that cannot be used.
pub fn anonymise_stage(root: &Path, settings: &sections::Anonymise) -> Result<Anonymise, StageError> {
    Ok(Anonymise::new(settings, &policy_lists(root, settings)?)?)
}
