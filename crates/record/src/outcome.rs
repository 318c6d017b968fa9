//! What a stage did with a record: always exactly one of eight outcomes. Beside them are the rows of a ledger and of its links,
//! and evidence that is read again from a ledger: written and read in one place, so that nobody else takes its words apart.

use std::fmt;

use super::cell::record;
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
pub fn is_passed_on(outcome: &str) -> bool {
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

record! {
    /// What one stage did with one record that entered it. A ledger has exactly one entry a record.
    pub struct Entry {
        /// The record that entered. In the import stage it is `source/file:position`.
        id: String,
        /// One of the eight states ([`super::State`]).
        outcome: String,
        /// The code of a [`super::Reason`], or of the text rule that changed it; null where it was kept.
        reason: Option<String>,
        /// What made the rule fire, or the error.
        evidence: Option<String>,
        /// The text before, where it changed.
        before: Option<String>,
        /// The text after, where it changed.
        after: Option<String>,
        /// The record it was merged or joined into; in the import stage also the post it became.
        into: Option<String>,
        /// The score of a merge, 0 to 1.
        score: Option<f64>,
    }
}

record! {
    /// A record out, and a record in that it was made of. A record that kept its id has no link:
    /// it is its own parent.
    pub struct Link {
        /// The record out.
        child: String,
        /// The record in.
        parent: String,
        /// What the parent is to the child: `question`, `response`, `original` …
        role: String,
    }
}

record! {
    /// Why a record of a stage waits, failed, or went on without something, as fields. Its entry in the ledger says the same
    /// in words. Stages that earlier versions wrote have none.
    pub struct Caused {
        /// The record that entered, as in the ledger.
        id: String,
        /// Its state, as in the ledger.
        outcome: String,
        /// The code of its reason, as in the ledger.
        reason: String,
        /// A [`super::Cause`] as JSON.
        cause: String,
    }
}

/// What a stage would have done with a record, where a person's decision or a publication decided instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overruled<'e> {
    /// Whether votes would have decided, and no rule.
    pub by_votes: bool,
    /// The code of the state it would have left the stage in.
    pub state: &'e str,
    /// The record that it would have become part of.
    pub into: Option<&'e str>,
    /// The code of the reason.
    pub reason: Option<&'e str>,
    /// The evidence of the rule; empty if it has none.
    pub evidence: &'e str,
}

impl<'e> Overruled<'e> {
    /// By a rule, into this state.
    pub fn by_rule(state: State) -> Overruled<'e> {
        Overruled { by_votes: false, state: state.code(), into: None, reason: None, evidence: "" }
    }

    /// What is read from evidence, and what stands before it there; `None` if it says nothing of the kind.
    ///
    /// ```
    /// # use riddlemill_record::Overruled;
    /// let (decision, overruled) = Overruled::parse_evidence("decision:ab; by rule dropped (too_short): 2 of 4").unwrap();
    /// assert_eq!((decision, overruled.state, overruled.reason), ("decision:ab; ", "dropped", Some("too_short")));
    /// assert_eq!(overruled.to_string(), "by rule dropped (too_short): 2 of 4");
    /// ```
    pub fn parse_evidence(evidence: &'e str) -> Option<(&'e str, Overruled<'e>)> {
        let (before, by_votes, rest) = match evidence.split_once("by rule ") {
            Some((before, rest)) => (before, false, rest),
            None => evidence.split_once("by votes ").map(|(before, rest)| (before, true, rest))?,
        };
        let (head, evidence) = rest.split_once(": ").unwrap_or((rest, ""));
        let (head, reason) = match head.strip_suffix(')').and_then(|head| head.rsplit_once(" (")) {
            Some((head, reason)) => (head, Some(reason)),
            None => (head, None),
        };
        let (state, into) = match head.split_once(" into ") {
            Some((state, into)) => (state, Some(into)),
            None => (head, None),
        };
        Some((before, Overruled { by_votes, state, into, reason, evidence }))
    }
}

impl fmt::Display for Overruled<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "by {} {}", if self.by_votes { "votes" } else { "rule" }, self.state)?;
        self.into.map_or(Ok(()), |into| write!(f, " into {into}"))?;
        self.reason.map_or(Ok(()), |reason| write!(f, " ({reason})"))?;
        if self.evidence.is_empty() { Ok(()) } else { write!(f, ": {}", self.evidence) }
    }
}

/// Before the text of a later copy of an id, where it differs from that of the first.
const OTHER_TEXT: &str = "other text: ";

/// The evidence of a record whose id was read before with another text.
pub fn other_text(text: &str) -> String {
    format!("{OTHER_TEXT}{text}")
}

/// The text in such evidence; `None` for any other.
pub fn read_other_text(evidence: &str) -> Option<&str> {
    evidence.strip_prefix(OTHER_TEXT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let by_rule = Overruled::by_rule(State::Dropped);
        let all = [
            Overruled::by_rule(State::Kept),
            Overruled {
                reason: Some("too_short"),
                evidence: "2 of at least 4 characters",
                ..by_rule.clone()
            },
            Overruled {
                reason: Some("not_a_question"), evidence: "embedded: 他为什么来", ..by_rule.clone()
            },
            Overruled {
                into: Some("tieba:1:2"),
                reason: Some("same_id"),
                ..Overruled::by_rule(State::Merged)
            },
            Overruled { into: Some("text:ab"), ..Overruled::by_rule(State::Joined) },
            Overruled { by_votes: true, reason: Some("rejected"), ..by_rule },
        ];
        for one in all {
            let evidence = format!("decision:ab by meta: keep (so); {one}");
            assert_eq!(Overruled::parse_evidence(&evidence), Some(("decision:ab by meta: keep (so); ", one)));
        }
        assert_eq!(Overruled::parse_evidence("same text"), None);
        assert_eq!(read_other_text(&other_text("云 会")), Some("云 会"));
        assert_eq!(read_other_text("same text"), None);
    }
}
