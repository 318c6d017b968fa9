//! Commits written rows of any type.

use std::collections::BTreeMap;

use riddlemill_record::Record;
use riddlemill_tables::{CommitError, Manifest, StageWriter};

/// Rows that were written but are not in place yet.
pub struct NewRows {
    rows: Box<dyn Commit>,
    evidence: BTreeMap<String, String>,
}

impl NewRows {
    /// With evidence that only making them gave.
    pub fn with_evidence(self, evidence: BTreeMap<String, String>) -> NewRows {
        NewRows { evidence, ..self }
    }

    /// Moves them into place.
    ///
    /// # Errors
    /// [`CommitError`] where they cannot be written, or their accounting does not close.
    pub fn commit(self, mut opening: Manifest) -> Result<Manifest, CommitError> {
        if !self.evidence.is_empty() {
            opening.evidence.extend(self.evidence);
            opening.fingerprint = opening.fingerprint_of();
        }
        self.rows.commit(opening)
    }
}

impl<R: Record> From<StageWriter<R>> for NewRows {
    fn from(writer: StageWriter<R>) -> NewRows {
        NewRows { rows: Box::new(writer), evidence: BTreeMap::new() }
    }
}

trait Commit {
    fn commit(self: Box<Self>, opening: Manifest) -> Result<Manifest, CommitError>;
}

impl<R: Record> Commit for StageWriter<R> {
    fn commit(self: Box<Self>, opening: Manifest) -> Result<Manifest, CommitError> {
        StageWriter::commit(*self, opening)
    }
}
