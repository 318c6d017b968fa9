//! Published records pass each stage as they were published; the ledger records what the rule would have done.

use super::super::overrule::by_rule;
use super::Published;
use riddlemill_text::record::{Outcome, Reason, Record, is_published, row_digest};

/// The outcome of a stage that decides by rule. `passing` gives the record unchanged by the rule. Decisions of people
/// in this workspace take precedence.
pub fn settled<R: Record, T: Record>(
    published: &Published,
    step: &str,
    record: &R,
    outcome: Outcome<T>,
    passing: impl FnOnce() -> Option<T>,
) -> Outcome<T> {
    if !is_published(record.id()) || of_people(&outcome) {
        return outcome;
    }
    match passing() {
        Some(passing) => let_through(published, step, &passing, &outcome),
        None => outcome,
    }
}

/// Lets a record through with the values of its published row at a step; the evidence names the outcome by rule.
pub fn let_through<T: Record>(
    published: &Published,
    step: &str,
    record: &T,
    rule: &Outcome<T>,
) -> Outcome<T> {
    let row = published.with(record, step);
    let evidence = match rule {
        // The rule may still add a drawn order, a draft or a correction if nothing is published.
        Outcome::Kept(_) => published.basis(record.id()),
        rule => format!("{}; {}", published.basis(record.id()), by_rule(rule)),
    };
    // No evidence where the rule would have kept it and the row adds nothing new.
    if matches!(rule, Outcome::Kept(_))
        && row_digest(row.columns(), [&row]) == row_digest(record.columns(), [record])
    {
        return Outcome::Kept(row);
    }
    let (before, after) = (String::new(), String::new());
    Outcome::Changed { row, rule: Reason::Published.code(), evidence: evidence.into(), before, after }
}

/// Whether a person of this workspace decided it.
fn of_people<T>(outcome: &Outcome<T>) -> bool {
    let decided = |code: &str| {
        [Reason::DecidedKeep, Reason::DecidedText, Reason::DecidedTwo]
            .iter()
            .any(|reason| reason.code() == code)
    };
    match outcome {
        Outcome::Changed { rule, .. } => decided(rule),
        Outcome::Dropped { reason, .. } => *reason == Reason::DecidedDrop,
        Outcome::Held { reason, .. } => *reason == Reason::DecidedHold,
        Outcome::Merged { reason, .. } => *reason == Reason::DecidedOne,
        _ => false,
    }
}
