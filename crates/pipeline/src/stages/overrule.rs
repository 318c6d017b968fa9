//! Applies people's decisions to the outcomes of a stage.
//!
//! The stage runs as usual. If somebody decided about the record's current text, their decision replaces the outcome,
//! and the ledger records both the decision and the outcome by rule.

use riddlemill_record::{Outcome, Overruled, Post, Reason, State};
use riddlemill_review::decisions::{Decision, Ruling, Verdict};

/// The title and content that people decided on.
pub(super) fn edit_parts(post: &mut Post, ruling: &Ruling<'_>) {
    let text = |decision: Option<&Decision>| decision.and_then(|decision| decision.text.clone());
    post.title = text(ruling.title).or(post.title.take());
    post.content = text(ruling.answer).or(post.content.take());
}

/// The decisions on a text, as evidence in a ledger.
pub(super) fn describe_ruling(ruling: &Ruling<'_>) -> String {
    let edits = [ruling.text, ruling.title, ruling.answer].into_iter().flatten();
    edits.map(Decision::to_string).collect::<Vec<_>>().join("; ")
}

/// The outcome after a person's decision to keep, drop or hold the record. `passing` gives the record to continue
/// with if the rule would have stopped it; `None` if there is none.
pub(super) fn overrule_outcome<T>(
    outcome: Outcome<T>,
    ruling: &Ruling<'_>,
    passing: impl FnOnce() -> Option<T>,
) -> Outcome<T> {
    let Some(decision) = ruling.outcome else { return outcome };
    let evidence = format!("{decision}; {}", by_rule(&outcome));
    match decision.verdict {
        Verdict::Drop => Outcome::Dropped { reason: Reason::DecidedDrop, evidence },
        Verdict::Hold => Outcome::Held { reason: Reason::DecidedHold, evidence: evidence.into() },
        Verdict::Keep if is_stopped(&outcome) => match passing() {
            Some(row) => Outcome::Changed {
                row,
                rule: Reason::DecidedKeep.code(),
                evidence: evidence.into(),
                before: String::new(),
                after: String::new(),
            },
            None => outcome,
        },
        _ => outcome,
    }
}

/// Whether the record stops at this stage.
pub(super) fn is_stopped<T>(outcome: &Outcome<T>) -> bool {
    matches!(outcome, Outcome::Dropped { .. } | Outcome::Held { .. } | Outcome::Failed { .. })
}

/// The outcome by rule alone, as evidence next to a decision.
pub(super) fn by_rule<T>(outcome: &Outcome<T>) -> String {
    let because = |state: State, reason: &str, evidence: &str| {
        Overruled { reason: Some(reason), evidence, ..Overruled::by_rule(state) }.to_string()
    };
    match outcome {
        Outcome::Kept(_) => Overruled::by_rule(State::Kept).to_string(),
        Outcome::Changed { rule, evidence, .. } => because(State::Changed, rule, evidence),
        Outcome::Dropped { reason, evidence } => because(State::Dropped, reason.code(), evidence),
        Outcome::Merged { into, reason, .. } => {
            let (into, reason) = (Some(into.as_str()), Some(reason.code()));
            Overruled { into, reason, ..Overruled::by_rule(State::Merged) }.to_string()
        }
        Outcome::Expanded(_) => Overruled::by_rule(State::Expanded).to_string(),
        Outcome::Joined { into } => {
            Overruled { into: Some(into.as_str()), ..Overruled::by_rule(State::Joined) }.to_string()
        }
        Outcome::Held { reason, evidence } => because(State::Held, reason.code(), evidence),
        Outcome::Failed { reason, evidence } => because(State::Failed, reason.code(), evidence),
    }
}
