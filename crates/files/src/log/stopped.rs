//! The traces of a stopped salvage, which show readers that a log is incomplete.

use std::path::{Path, PathBuf};

/// What is wrong with a log whose salvage was not finished.
pub(super) const STOPPED: &str =
    "a salvage of it was stopped before its end: `riddlemill fsck --salvage` finishes it";

/// Where the intact lines of a log in one file are kept during a salvage.
pub(super) fn of_log(path: &Path) -> PathBuf {
    path.with_extension("salvage")
}

/// Where the intact lines of a log in segments are kept during a salvage.
pub(super) fn of_segments(folder: &Path) -> PathBuf {
    folder.join("lines.salvage")
}
