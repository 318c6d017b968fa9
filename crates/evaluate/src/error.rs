//! Errors that end an evaluation, and lines that it sets aside.

use std::path::PathBuf;

use crate::stages::StageError;
use crate::store::Error;

/// Why nothing was evaluated.
#[derive(Debug, thiserror::Error)]
pub enum EvaluateError {
    /// A file could not be read or written.
    #[error(transparent)]
    Store(#[from] Error),
    /// Prompts, endpoints or the reply store cannot be used, or the user requested a stop.
    #[error(transparent)]
    Stage(#[from] StageError),
    /// A requested set, model or task does not exist.
    #[error("{0}")]
    Unknown(String),
    /// A file has none of the known formats.
    #[error("{}: {what}\n  hint: {hint}", path.display())]
    Form {
        /// The file.
        path: PathBuf,
        /// The expected format.
        what: String,
        hint: String,
    },
}

/// A line that was set aside: the evaluation continues without it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct SetAside {
    /// File and line, or file and sample.
    pub place: String,
    /// What is wrong, with a hint.
    pub what: String,
}
