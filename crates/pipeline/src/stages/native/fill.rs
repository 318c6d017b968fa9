//! Operations that read one record at a time and find fields for it, as a draft does. The step declares what they read of a
//! record (`with`), and where the fields go: into columns (`keeps`), the draft of a ballot (`for`), or a group of their own.

use std::fmt::Display;

use riddlemill_benchmarks::Expression;
use riddlemill_benchmarks::scope::Scope;
use riddlemill_record::{Outcome, Reason, Record, Row};
use riddlemill_review::Values;

use super::{Declared, Job, NewRows, subjects_of};
use crate::stages::context::StageError;
use crate::stages::rule::Plain;
use crate::stages::subject::{self, in_scope};

/// What an operation finds of one record.
pub(super) struct Found {
    /// The fields, by the operation's names.
    pub values: Values,
    pub basis: Vec<String>,
    /// What the ledger calls it.
    pub rule: Reason,
    /// What speaks for it.
    pub evidence: String,
    /// The record's text before.
    pub before: String,
    /// The text, or the fields, behind it.
    pub after: String,
}

/// A record as an operation sees it: what the step's table names.
pub(super) struct Taken<'r> {
    /// The record's id.
    pub id: &'r str,
    step: &'static Declared,
    scope: Scope<'static>,
}

impl<'r> Taken<'r> {
    /// What a step takes of a record.
    pub(super) fn from_record(step: &'static Declared, record: &'r Row) -> Taken<'r> {
        Taken { id: record.id(), step, scope: in_scope(record, step.benchmark) }
    }

    /// A text; `None` if the step names none, or if it is empty, null, or cannot be computed.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        let text = self.scope.text(self.step.takes(name)?).ok().flatten();
        text.filter(|text| !text.is_empty())
    }

    /// A list of texts.
    pub(super) fn texts(&self, name: &str) -> Vec<String> {
        let list = self.step.takes(name).and_then(|is| self.scope.texts(is).ok());
        list.unwrap_or_default()
    }

    /// Whether the step applies to the record.
    fn is_asked(&self) -> bool {
        let when: Option<&Expression> = self.step.when.as_ref();
        self.scope.holds(when).unwrap_or(true)
    }
}

/// Applies an operation to every record. A record without a finding is kept unchanged; one that it cannot judge fails with its
/// words.
///
/// # Errors
/// [`StageError`] where stages cannot be read or written, or the user stopped.
pub(super) fn fill<E: Display>(
    job: &Job<'_>,
    step: &'static Declared,
    find: impl Fn(&Taken<'_>) -> Result<Option<Found>, E> + Sync,
) -> Result<NewRows, StageError> {
    job.each_subject(subjects_of(step), &Plain(|record: Row| filled(record, step, &find)))
}

/// The outcome of one record.
pub(super) fn filled<E: Display>(
    mut record: Row,
    step: &'static Declared,
    find: &impl Fn(&Taken<'_>) -> Result<Option<Found>, E>,
) -> Outcome<Row> {
    let taken = Taken::from_record(step, &record);
    let found = if taken.is_asked() { find(&taken) } else { Ok(None) };
    match found {
        Ok(None) => Outcome::Kept(record),
        Err(error) => Outcome::Failed { reason: Reason::Unreadable, evidence: error.to_string().into() },
        Ok(Some(found)) => {
            let troubles = subject::found(&mut record, step, &found.values, &found.basis);
            let flags = troubles.into_iter().map(|trouble| format!("{}: {trouble}", step.name));
            record.add_flags(flags);
            Outcome::Changed {
                row: record,
                rule: found.rule.code(),
                evidence: found.evidence.into(),
                before: found.before,
                after: found.after,
            }
        }
    }
}
