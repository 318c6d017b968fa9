//! Opens the workspace's store of replies, even if it is damaged, or only if nothing is lost.

use riddlemill_files::Workspace;
use riddlemill_llm::Store;

use crate::config::Config;
use crate::stages::StageError;

/// Refuses to continue if replies are damaged or missing. A missing store is not created by this check.
///
/// # Errors
/// [`StageError::Replies`] naming the segments.
pub fn refuse_lost_replies(config: &Config) -> Result<(), StageError> {
    let replies = Workspace::new(&config.root).raw_folder().join("replies");
    Ok(if replies.exists() { Store::refuse_damage_at(&replies) } else { Ok(()) }?)
}

/// The workspace's reply store; its index is outside raw/ and may be deleted.
///
/// # Errors
/// [`StageError::Replies`] where it cannot be opened, or if replies are lost and the loss was not accepted.
pub fn open_store(config: &Config) -> Result<Store, StageError> {
    let store = open_damaged_store(config)?;
    store.refuse_damage()?;
    Ok(store)
}

/// The workspace's reply store in any state; its intact parts can be read.
///
/// # Errors
/// [`StageError::Replies`] where it cannot be opened.
pub fn open_damaged_store(config: &Config) -> Result<Store, StageError> {
    let replies = Workspace::new(&config.root).raw_folder().join("replies");
    Ok(Store::open(&replies, &config.root.join(".index").join("replies.sqlite"))?)
}
