//! What a salvage that was stopped before its end leaves, by which readers of the log see it.

use std::path::{Path, PathBuf};

/// What is said about a log whose salvage did not come to its end.
pub(super) const STOPPED: &str =
    "a salvage of it was stopped before its end: `riddlemill fsck --salvage` finishes it";

/// Where what is whole of a log in one file is kept while it is salvaged.
pub(super) fn of_log(path: &Path) -> PathBuf {
    path.with_extension("salvage")
}

/// Where what is whole of a log in segments is kept while it is salvaged.
pub(super) fn of_segments(folder: &Path) -> PathBuf {
    folder.join("lines.salvage")
}
