//! Errors of reading or writing a log.

use std::io;
use std::path::{Path, PathBuf};

use crate::Error;
use crate::digest::Digest;

/// Why a log cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The file system reported an error.
    #[error("{}: cannot {what}: {source}", path.display())]
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
    #[error("{} is damaged: {what}\n  hint: {HINT}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What does not match.
        what: String,
    },
}

/// Why a line of a log is set aside.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// It cannot be read.
    #[error(transparent)]
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

impl LogError {
    pub(super) fn io<'p>(path: &'p Path, what: &'static str) -> impl FnOnce(io::Error) -> LogError + 'p {
        move |source| LogError::Io { path: path.to_owned(), what, source }
    }

    pub(super) fn damaged(path: &Path, what: impl Into<String>) -> LogError {
        LogError::Damaged { path: path.to_owned(), what: what.into() }
    }
}

impl From<LogError> for Error {
    fn from(error: LogError) -> Error {
        match error {
            LogError::Io { path, what, source } => Error::Io { action: what, path, source },
            LogError::Unwritable { source } => {
                Error::Io { action: "write", path: PathBuf::new(), source: source.into() }
            }
            LogError::Damaged { path, what } => Error::Damaged { path, what, hint: HINT.into() },
        }
    }
}
