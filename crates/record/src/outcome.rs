//! What a stage did with a record: always exactly one of eight outcomes.

use super::{Cause, Evidence, Reason};

/// Similarity figures of a merge that any string library can reproduce, in addition to the score that
/// decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Witness {
    /// strsim's normalized Levenshtein similarity, 0 to 1, over Unicode scalar values.
    pub levenshtein: f64,
    /// strsim's Jaro-Winkler similarity, 0 to 1.
    pub jaro_winkler: f64,
    /// strsim's Sørensen-Dice coefficient over character pairs, 0 to 1.
    pub sorensen_dice: f64,
}

/// What a stage did with one record that entered it.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome<T> {
    /// Kept unchanged.
    Kept(T),
    /// Kept with another text.
    Changed {
        /// The kept record.
        row: T,
        /// The code of the text rule that changed it; the first one where several did.
        rule: &'static str,
        /// Every rule that was applied, separated by commas.
        evidence: Evidence,
        /// The text before; empty if it must not be repeated.
        before: String,
        /// The text after.
        after: String,
    },
    /// Left out.
    Dropped {
        /// The rule.
        reason: Reason,
        /// What in the record made the rule fire.
        evidence: String,
    },
    /// Merged into another record, which is itself kept.
    Merged {
        /// The other record's id.
        into: String,
        /// Why the two are one.
        reason: Reason,
        /// The score that decided, 0 to 1.
        score: f64,
        /// The predicate, and the figures to check it with.
        evidence: String,
    },
    /// Split into several records, each with its role.
    Expanded(Vec<(T, &'static str)>),
    /// Joined with others into a record that belongs to another entry.
    Joined {
        /// The id of the record that it was joined into.
        into: String,
    },
    /// Waits for a person or a reply.
    Held {
        /// What it waits for.
        reason: Reason,
        /// The vote it waits for, or what was found.
        evidence: Evidence,
    },
    /// Could not be processed.
    Failed {
        /// The kind of failure.
        reason: Reason,
        /// The error, with what could be read of the input.
        evidence: Evidence,
    },
}

impl<T> Outcome<T> {
    /// Why it waits, failed or went on without something, as fields.
    pub fn cause(&self) -> Option<&Cause> {
        match self {
            Outcome::Changed { evidence, .. }
            | Outcome::Held { evidence, .. }
            | Outcome::Failed { evidence, .. } => evidence.cause(),
            _ => None,
        }
    }

    /// The same outcome with `change` applied to its rows.
    pub fn map<U>(self, mut change: impl FnMut(T) -> U) -> Outcome<U> {
        match self {
            Outcome::Kept(row) => Outcome::Kept(change(row)),
            Outcome::Changed { row, rule, evidence, before, after } => {
                Outcome::Changed { row: change(row), rule, evidence, before, after }
            }
            Outcome::Dropped { reason, evidence } => Outcome::Dropped { reason, evidence },
            Outcome::Merged { into, reason, score, evidence } => {
                Outcome::Merged { into, reason, score, evidence }
            }
            Outcome::Expanded(rows) => {
                Outcome::Expanded(rows.into_iter().map(|(row, role)| (change(row), role)).collect())
            }
            Outcome::Joined { into } => Outcome::Joined { into },
            Outcome::Held { reason, evidence } => Outcome::Held { reason, evidence },
            Outcome::Failed { reason, evidence } => Outcome::Failed { reason, evidence },
        }
    }
}

/// The eight states, as written in ledgers and counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum State {
    /// Kept unchanged.
    Kept,
    /// Kept with another text.
    Changed,
    /// Left out, by a rule.
    Dropped,
    /// Merged into another record.
    Merged,
    /// Split into several records.
    Expanded,
    /// Joined with other records into one.
    Joined,
    /// Waits for a person or a reply.
    Held,
    /// Could not be processed.
    Failed,
}

/// Whether a record with an outcome of this code goes on to the next stage, by itself or as what it became.
pub fn goes_on(outcome: &str) -> bool {
    [State::Kept, State::Changed, State::Expanded, State::Joined].iter().any(|state| state.code() == outcome)
}

impl State {
    /// All states, in the order reports print them.
    pub const ALL: [State; 8] = [
        State::Kept,
        State::Changed,
        State::Expanded,
        State::Joined,
        State::Merged,
        State::Dropped,
        State::Held,
        State::Failed,
    ];

    /// The name in ledgers.
    pub const fn code(self) -> &'static str {
        match self {
            State::Kept => "kept",
            State::Changed => "changed",
            State::Dropped => "dropped",
            State::Merged => "merged",
            State::Expanded => "expanded",
            State::Joined => "joined",
            State::Held => "held",
            State::Failed => "failed",
        }
    }

    /// One sentence that a reader of a ledger understands without the source.
    pub const fn definition(self) -> &'static str {
        match self {
            State::Kept => "Kept unchanged.",
            State::Changed => "Kept with another text, or with what a draft or a ballot added.",
            State::Dropped => "Left out, by a rule or by people.",
            State::Merged => "Merged into another record, which is itself kept.",
            State::Expanded => "Split into several records.",
            State::Joined => "Joined with other records into one.",
            State::Held => "Waits for a person or a reply.",
            State::Failed => "Could not be processed; the evidence is the error.",
        }
    }

    /// The state of a code, or `None` for an unknown one.
    pub fn from_code(code: &str) -> Option<State> {
        State::ALL.into_iter().find(|s| s.code() == code)
    }
}
