//! Errors of reading or writing a log, and the traces of a stopped salvage, which show readers that it is incomplete.

use std::io;
use std::path::{Path, PathBuf};

use crate::Error;
use crate::digest::Digest;

/// Why a log cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The file system reported an error.
    #[error("{}: cannot {what}: {source}{}", path.display(), crate::hint_for(path, source))]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The operation.
        what: &'static str,
        /// The reason.
        source: io::Error,
    },
    /// A line cannot be written as JSON.
    #[error("a line cannot be written as JSON: {source}")]
    Unwritable {
        /// The reason.
        source: serde_json::Error,
    },
    /// A log was changed since it was written.
    #[error("{} is damaged: {what}\n  hint: {}", path.display(), hint_of_damage(*is_foreign))]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What does not match.
        what: String,
        /// Whether it is a file that was put among those of the log, which are whole without it.
        is_foreign: bool,
    },
    /// A line follows from those before it, and its content is not known: nothing is damaged.
    #[error("{} was written by a newer riddlemill: {what}\n  hint: {NEWER}", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// The line and what is not known.
        what: String,
    },
}

/// Why a line of a log is set aside.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// It cannot be read.
    #[error("{}", why_unread(.0))]
    Unreadable(#[from] serde_json::Error),
    /// An id is a hash of the line's content.
    #[error("its id {0} is not that of its content; it was edited by hand")]
    Edited(Digest),
}

impl LineError {
    /// Compares the id that a line states with that of its content.
    ///
    /// # Errors
    /// [`LineError::Edited`] if they differ.
    pub fn refuse_edited(stated: Digest, identity: Digest) -> Result<(), LineError> {
        if stated == identity { Ok(()) } else { Err(LineError::Edited(stated)) }
    }
}

const HINT: &str = "restore it from a backup, or run `riddlemill fsck --salvage`, which keeps the intact \
                    lines and moves the damaged file aside; until then nothing reads it";

const FOREIGN: &str = "move it elsewhere, out of raw/; `riddlemill fsck --salvage` moves it to raw/damaged and takes none \
                       of its lines over; until then nothing reads the log";

fn hint_of_damage(is_foreign: bool) -> &'static str {
    if is_foreign { FOREIGN } else { HINT }
}

const NEWER: &str = "use that version or a later one; this one neither reads nor changes it";

/// Why a line whose chain is right cannot be read: it is no JSON, or it says what only a newer program knows.
fn why_unread(error: &serde_json::Error) -> String {
    match error.is_data() {
        true => format!("a newer riddlemill wrote it ({error}); {NEWER}"),
        false => error.to_string(),
    }
}

impl LogError {
    /// The line of this number, from 1, follows from those before it and cannot be read.
    pub fn unreadable_line(path: &Path, number: usize, error: &serde_json::Error) -> LogError {
        let (path, what) = (path.to_owned(), format!("line {number}: {error}"));
        match error.is_data() {
            true => LogError::Newer { path, what },
            false => LogError::Damaged { path, what, is_foreign: false },
        }
    }

    pub(super) fn io<'p>(path: &'p Path, what: &'static str) -> impl FnOnce(io::Error) -> LogError + 'p {
        move |source| LogError::Io { path: path.to_owned(), what, source }
    }

    pub(super) fn damaged_file(path: &Path, what: impl Into<String>) -> LogError {
        LogError::Damaged { path: path.to_owned(), what: what.into(), is_foreign: false }
    }
}

impl From<LogError> for Error {
    fn from(error: LogError) -> Error {
        match error {
            LogError::Io { path, what, source } => Error::Io { action: what, path, source },
            LogError::Unwritable { source } => {
                Error::Io { action: "write", path: PathBuf::new(), source: source.into() }
            }
            LogError::Damaged { path, what, is_foreign } => {
                Error::Damaged { path, what, hint: hint_of_damage(is_foreign).into() }
            }
            LogError::Newer { path, what } => Error::Newer { path, what, hint: NEWER },
        }
    }
}

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
