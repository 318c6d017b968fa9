//! What a stage decided, in the words of ledgers, for texts that come by themselves.

use crate::record::{Outcome, PostKind};

/// What a stage decided on one row, and the row where it goes on.
#[derive(Clone, Debug, PartialEq)]
pub struct RowOutcome<T> {
    /// The row as it goes on; none where it does not.
    pub row: Option<T>,
    /// The word for the outcome.
    pub outcome: &'static str,
    /// The code of the rule or reason.
    pub reason: Option<&'static str>,
    /// What speaks for it; never empty.
    pub evidence: Option<String>,
}

impl<T> From<Outcome<T>> for RowOutcome<T> {
    fn from(outcome: Outcome<T>) -> RowOutcome<T> {
        let (row, outcome, reason, evidence) = match outcome {
            Outcome::Kept(row) => (Some(row), "kept", None, None),
            Outcome::Changed { row, rule, evidence, .. } => {
                (Some(row), "changed", Some(rule), Some(evidence))
            }
            Outcome::Dropped { reason, evidence } => (None, "dropped", Some(reason.code()), Some(evidence)),
            Outcome::Held { reason, evidence } => (None, "held", Some(reason.code()), Some(evidence)),
            Outcome::Failed { reason, evidence } => (None, "failed", Some(reason.code()), Some(evidence)),
            Outcome::Merged { reason, evidence, .. } => (None, "merged", Some(reason.code()), Some(evidence)),
            // No stage that takes loose rows makes several of one, or one of several.
            Outcome::Expanded(_) | Outcome::Joined { .. } => (None, "failed", None, None),
        };
        RowOutcome { row, outcome, reason, evidence: evidence.filter(|evidence| !evidence.is_empty()) }
    }
}

/// How a loose text is put together: as `kind` says, or else a thread where it has a title.
pub fn kind_of(kind: Option<&str>, titled: bool) -> PostKind {
    match (kind, titled) {
        (Some("numbered"), _) => PostKind::Numbered,
        (Some("thread"), _) | (None, true) => PostKind::Thread,
        _ => PostKind::Plain,
    }
}
