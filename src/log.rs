//! The append-only logs of raw/, and which of them there are: each crate registers its own by name.

use std::path::{Path, PathBuf};

pub use riddlemill_files::log::*;

/// Those of the pages' tokens, and of the releases.
const LOGS: &[LogName] = &[LogName::Private("access.jsonl"), LogName::InEach("releases", "registry.jsonl")];

fn every_log() -> Vec<LogName> {
    let mut names = riddlemill_pipeline::registered_logs();
    names.extend_from_slice(LOGS);
    names
}

/// The damaged logs of a raw/ folder: name, and what does not match.
///
/// # Errors
/// [`LogError`] if one cannot be read at all.
pub fn check(raw: &Path) -> Result<Vec<(String, String)>, LogError> {
    Logs::new(raw, &every_log()).check()
}

/// Replaces every damaged log by its intact lines, and moves the damaged files to raw/damaged. Nothing is
/// deleted.
///
/// # Errors
/// [`LogError`] if something cannot be read or written; finished steps remain, and it can be called again.
pub fn salvage(raw: &Path) -> Result<Vec<Salvaged>, LogError> {
    Logs::new(raw, &every_log()).salvage()
}

/// Files among the segments of raw/ that are not segments and that no writer leaves there.
///
/// # Errors
/// [`LogError`] if a folder cannot be listed.
pub fn strays(raw: &Path) -> Result<Vec<PathBuf>, LogError> {
    Logs::new(raw, &every_log()).strays()
}
