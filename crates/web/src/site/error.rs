//! Why a site is not written.

use std::path::PathBuf;

use crate::pipeline::RunError;
use crate::store::Error;
use riddlemill_pipeline::stages::StageError;

/// Why a site is not written. What was in its folder before is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum SiteError {
    /// A file cannot be read or written.
    #[error(transparent)]
    Store(#[from] Error),
    /// Votes, replies or stages cannot be read.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A page cannot be rendered.
    #[error("a page cannot be rendered: {0:#}")]
    Page(#[from] minijinja::Error),
    /// The folder is no released version.
    #[error("{} is no released version\n  hint: a version is made by `riddlemill release RECIPE`, in output/RECIPE/VERSION", .0.display())]
    NoRelease(PathBuf),
    /// The release fails its own verification.
    #[error("{} does not verify:\n{}\n  hint: `riddlemill verify` says what differs; a version in output/ that was removed is made again by `riddlemill release`", folder.display(), findings.iter().map(|f| format!("  {f}")).collect::<Vec<_>>().join("\n"))]
    Findings {
        /// The release's folder.
        folder: PathBuf,
        /// What does not hold.
        findings: Vec<String>,
    },
    /// The workspace never released it.
    #[error(
        "the registry of this workspace names no {recipe} {version}\n  hint: a site is made where the version was released; name that workspace with -C"
    )]
    Unregistered { recipe: String, version: String },
    /// The folder to write holds something else.
    #[error("{} is not empty, and {what}; nothing was written\n  hint: give an empty folder, or one that has a site of the same set: --out DIR", folder.display())]
    Occupied {
        /// The folder to write.
        folder: PathBuf,
        /// What is in it.
        what: String,
    },
    /// The folder to write is one that other verbs write or read.
    #[error("{} belongs to the workspace or to the release itself; nothing was written\n  hint: give a folder beside them, such as --out site", .0.display())]
    Inside(PathBuf),
}

impl From<StageError> for SiteError {
    fn from(error: StageError) -> SiteError {
        SiteError::Run(error.into())
    }
}
