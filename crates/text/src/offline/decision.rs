//! A stage's decision, in the ledger's terms, for single texts outside a run.

use riddlemill_record::{Outcome, PostKind};

/// A stage's decision on one row, and the row if it is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct RowOutcome<T> {
    /// The kept row; `None` if it was dropped.
    pub row: Option<T>,
    /// The outcome's name in the ledger.
    pub outcome: &'static str,
    /// The code of the rule or reason.
    pub reason: Option<&'static str>,
    /// The evidence; never empty.
    pub evidence: Option<String>,
}

impl<T> From<Outcome<T>> for RowOutcome<T> {
    fn from(outcome: Outcome<T>) -> RowOutcome<T> {
        let (row, outcome, reason, evidence) = match outcome {
            Outcome::Kept(row) => (Some(row), "kept", None, None),
            Outcome::Changed { row, rule, evidence, .. } => {
                (Some(row), "changed", Some(rule), Some(evidence.into_text()))
            }
            Outcome::Dropped { reason, evidence } => (None, "dropped", Some(reason.code()), Some(evidence)),
            Outcome::Held { reason, evidence } => {
                (None, "held", Some(reason.code()), Some(evidence.into_text()))
            }
            Outcome::Failed { reason, evidence } => {
                (None, "failed", Some(reason.code()), Some(evidence.into_text()))
            }
            Outcome::Merged { reason, evidence, .. } => (None, "merged", Some(reason.code()), Some(evidence)),
            // Stages that take single rows neither split nor join them.
            Outcome::Expanded(_) | Outcome::Joined { .. } => (None, "failed", None, None),
        };
        RowOutcome { row, outcome, reason, evidence: evidence.filter(|evidence| !evidence.is_empty()) }
    }
}

/// How title and content of a single text are combined: by `kind` if given, else as a thread if it has a
/// title.
pub fn kind_of(kind: Option<&str>, titled: bool) -> PostKind {
    match (kind, titled) {
        (Some("numbered"), _) => PostKind::Numbered,
        (Some("thread"), _) | (None, true) => PostKind::Thread,
        _ => PostKind::Plain,
    }
}
