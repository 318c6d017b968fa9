//! The workspace's store of replies, opened: as it is, or only where nothing of it is lost.

use riddlemill_files::Workspace;
use riddlemill_llm::Store;

use crate::config::Config;
use crate::stages::StageError;

/// Refuses to go on where replies are damaged or gone. A store that is not there is not made by looking.
///
/// # Errors
/// [`StageError::Replies`] naming the segments.
pub fn refuse_lost_replies(config: &Config) -> Result<(), StageError> {
    let replies = Workspace::new(&config.root).raw().join("replies");
    Ok(if replies.exists() { Store::refuse_damage_at(&replies) } else { Ok(()) }?)
}

/// The workspace's reply store; its index lies outside raw/ and may be deleted.
///
/// # Errors
/// [`StageError::Replies`] where it cannot be opened, or lost replies that nobody has accepted to be gone.
pub fn open_store(config: &Config) -> Result<Store, StageError> {
    let store = open_damaged_store(config)?;
    store.refuse_damage()?;
    Ok(store)
}

/// The workspace's reply store whatever happened to it: what is whole of it is found.
///
/// # Errors
/// [`StageError::Replies`] where it cannot be opened.
pub fn open_damaged_store(config: &Config) -> Result<Store, StageError> {
    let replies = Workspace::new(&config.root).raw().join("replies");
    Ok(Store::open(&replies, &config.root.join(".index").join("replies.sqlite"))?)
}
