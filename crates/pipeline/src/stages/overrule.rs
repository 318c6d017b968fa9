//! Applies people's decisions to the outcomes of a stage.
//!
//! The stage runs as usual. If somebody decided about the record's current text, their decision replaces the outcome,
//! and the ledger records both the decision and the outcome by rule.

use super::{Anonymise, clean, filter};
use crate::config::sections;
use riddlemill_review::decisions::{Decision, Ruling, StageDecisions, Verdict, seen_text};
use riddlemill_text::record::{Outcome, Overruled, Post, Reason, State};

/// Clean, with people's decisions on a post's text.
pub fn clean_decided(
    mut post: Post,
    settings: &sections::Clean,
    decisions: &StageDecisions,
) -> Outcome<Post> {
    let written = || Post::written(post.title.as_deref(), post.content.as_deref());
    let Some(ruling) = decisions.ruling(&post.id, || seen_text(&written())) else {
        return clean(post, settings);
    };
    let before = written();
    edit_parts(&mut post, &ruling);
    let edits = edits(&ruling);
    let whole = Post { text: Post::written(post.title.as_deref(), post.content.as_deref()), ..post.clone() };
    let outcome = clean(post, settings);
    let by_rule = by_rule(&outcome);
    let outcome = match (outcome, ruling.text) {
        (outcome, None) if edits.is_empty() => outcome,
        (Outcome::Kept(row) | Outcome::Changed { row, .. }, text) => {
            changed_text(row, text, before, &edits, &by_rule)
        }
        // The rule would stop it, but a person wrote its text, with which it continues.
        (_, Some(text)) => changed_text(bare(whole.clone()), Some(text), before, &edits, &by_rule),
        (Outcome::Dropped { reason, evidence }, None) => {
            Outcome::Dropped { reason, evidence: format!("{evidence}; {edits}") }
        }
        (outcome, None) => outcome,
    };
    overruled(outcome, &ruling, || Some(bare(whole)))
}

/// The title and content that people decided on.
pub(super) fn edit_parts(post: &mut Post, ruling: &Ruling<'_>) {
    let text = |decision: Option<&Decision>| decision.and_then(|decision| decision.text.clone());
    post.title = text(ruling.title).or(post.title.take());
    post.content = text(ruling.answer).or(post.content.take());
}

/// The decisions on a text, as evidence in a ledger.
pub(super) fn edits(ruling: &Ruling<'_>) -> String {
    let edits = [ruling.text, ruling.title, ruling.answer].into_iter().flatten();
    edits.map(Decision::to_string).collect::<Vec<_>>().join("; ")
}

fn changed_text(
    mut row: Post,
    text: Option<&Decision>,
    before: String,
    edits: &str,
    by_rule: &str,
) -> Outcome<Post> {
    if let Some(text) = text.and_then(|decision| decision.text.as_ref()) {
        row.text.clone_from(text);
    }
    let after = row.text.clone();
    let evidence = format!("{edits}; {by_rule}").into();
    Outcome::Changed { row, rule: Reason::DecidedText.code(), evidence, before, after }
}

/// A post without title and content, so that the rules have nothing to change.
fn bare(mut post: Post) -> Post {
    (post.title, post.content) = (None, None);
    post
}

/// Anonymise, with decisions. A post that somebody lets through still has its personal data marked.
pub fn anonymise_decided(post: Post, stage: &Anonymise, decisions: &StageDecisions) -> Outcome<Post> {
    let Some(ruling) = decisions.ruling(&post.id, || seen_text(&post.text)) else {
        return stage.post(post);
    };
    let marked = || Some(stage.marked(post.clone()));
    overruled(stage.post(post.clone()), &ruling, marked)
}

/// Filter, with decisions.
pub fn filter_decided(post: Post, settings: &sections::Filter, decisions: &StageDecisions) -> Outcome<Post> {
    let Some(ruling) = decisions.ruling(&post.id, || seen_text(&post.text)) else {
        return filter(post, settings);
    };
    overruled(filter(post.clone(), settings), &ruling, || Some(post))
}

/// The outcome after a person's decision to keep, drop or hold the record. `passing` gives the record to continue
/// with if the rule would have stopped it; `None` if there is none.
pub(super) fn overruled<T>(
    outcome: Outcome<T>,
    ruling: &Ruling<'_>,
    passing: impl FnOnce() -> Option<T>,
) -> Outcome<T> {
    let Some(decision) = ruling.outcome else { return outcome };
    let evidence = format!("{decision}; {}", by_rule(&outcome));
    match decision.verdict {
        Verdict::Drop => Outcome::Dropped { reason: Reason::DecidedDrop, evidence },
        Verdict::Hold => Outcome::Held { reason: Reason::DecidedHold, evidence: evidence.into() },
        Verdict::Keep if stops(&outcome) => match passing() {
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
pub(super) fn stops<T>(outcome: &Outcome<T>) -> bool {
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
