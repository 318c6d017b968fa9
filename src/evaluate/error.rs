//! What ends an evaluation.

use std::path::PathBuf;

use crate::stages::StageError;
use crate::store::Error;

/// Why nothing was evaluated.
#[derive(Debug, thiserror::Error)]
pub enum EvaluateError {
    /// A file could not be read or written.
    #[error(transparent)]
    Store(#[from] Error),
    /// Prompts, endpoints or the reply store cannot be used, or the user asked to stop.
    #[error(transparent)]
    Stage(#[from] StageError),
    /// A set, model or task that is asked for is not there.
    #[error("{0}")]
    Unknown(String),
    /// A file is none of the forms that are read.
    #[error("{}: {what}\n  hint: {hint}", path.display())]
    Form {
        /// The file.
        path: PathBuf,
        /// What it is not.
        what: String,
        /// What would help.
        hint: String,
    },
}
