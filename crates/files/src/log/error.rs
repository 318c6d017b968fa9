//! What keeps a log from being read or written.

use std::io;
use std::path::{Path, PathBuf};

use crate::Error;

/// What keeps a log from being read or written.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The file system said no.
    #[error("{}: cannot {what}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was tried.
        what: &'static str,
        /// Why not.
        source: io::Error,
    },
    /// A line cannot be written as JSON.
    #[error("a line cannot be written as JSON: {source}")]
    Unwritable {
        /// Why not.
        source: serde_json::Error,
    },
    /// A log is not what was written.
    #[error("{} is damaged: {what}\n  hint: {HINT}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What does not fit.
        what: String,
    },
}

const HINT: &str = "bring it back from a backup, or `riddlemill fsck --salvage` takes over what is whole and keeps the \
                    damaged file beside it; until then nothing is built on it";

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
