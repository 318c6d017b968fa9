//! What leaves the workspace: candidates that a run builds, and releases with versions.

mod candidate;

pub use candidate::{Candidate, build, rows_sha256};
