//! What leaves the workspace: candidates that a run builds, and releases with versions.

mod candidate;
mod question;

pub use candidate::{Candidate, build, rows_sha256};
pub use question::{CATEGORIES, Published, QuestionRow, published, question_row};
