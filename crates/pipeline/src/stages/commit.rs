//! Commits written rows of any type.

use riddlemill_tables::{CommitError, Manifest, StageWriter};
use riddlemill_text::record::Record;

/// Rows that were written but are not in place yet.
pub trait Commit {
    /// Moves them into place.
    ///
    /// # Errors
    /// [`CommitError`] where they cannot be written, or their accounting does not close.
    fn commit(self: Box<Self>, opening: Manifest) -> Result<Manifest, CommitError>;
}

impl<R: Record> Commit for StageWriter<R> {
    fn commit(self: Box<Self>, opening: Manifest) -> Result<Manifest, CommitError> {
        StageWriter::commit(*self, opening)
    }
}
