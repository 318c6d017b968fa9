//! The outcome of a record, from the replies about it.

use std::collections::BTreeSet;

use super::{DraftStep, Slot};
use crate::stages::subject::{self, DraftItem, Drafted};
use riddlemill_benchmarks::ExpressionError;
use riddlemill_llm::{Parsed, ReplyOrigin};
use riddlemill_record::{Evidence, Outcome, Reason, Row};
use riddlemill_review::Values;

/// What became of one wanted reply.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplyOutcome {
    /// The place of the element that it is about, where the step asks about those of a list; else 0.
    pub element: usize,
    /// Which of the record's replies it is.
    pub slot: Slot,
    /// The template and the first digits of its hash.
    pub prompt: String,
    /// What came.
    pub parsed: Parsed<Values>,
}

/// The outcome of a record, from its replies; if the step is `optional`, it continues without one.
pub(super) fn outcome_of_record(
    draft: DraftStep,
    mut record: Row,
    replies: Vec<ReplyOutcome>,
    optional: bool,
) -> Outcome<Row> {
    let items = match subject::draft_items(&record, draft) {
        Ok(items) => items,
        Err(trouble) => return no_list(&trouble),
    };
    // Nothing was asked of it.
    if replies.is_empty() {
        return Outcome::Kept(record);
    }
    let (mut drafted, mut evidence) = (Vec::new(), Vec::new());
    let mut reason_made = draft.draft_declaration().reason;
    let mut missing: Option<(Reason, Evidence, bool)> = None;
    let mut lacking = BTreeSet::new();
    for ReplyOutcome { element, slot, prompt, parsed } in replies {
        match draft_outcome(parsed, &prompt) {
            DraftOutcome::Drafted { values, basis, words, is_half } => {
                if is_half {
                    reason_made = Reason::DraftedFromCut;
                }
                let item = items.get(element);
                if let Some(outcome) = item.and_then(|item| not_computed(draft, item, &values)) {
                    return outcome;
                }
                if let Some(says) = item.and_then(|item| not_met(draft, item, &values)) {
                    lacking.insert(element);
                    missing.get_or_insert((
                        Reason::ReplyUnparseable,
                        format!("{says} ({words})").into(),
                        false,
                    ));
                    continue;
                }
                evidence.push(words);
                drafted.push(Drafted { element, slot, values, basis });
            }
            DraftOutcome::Missing { reason, words, held } => {
                lacking.insert(element);
                let words = items
                    .get(element)
                    .map_or_else(|| words.clone(), |item| words.with_text(item.name_finding(&words)));
                missing.get_or_insert((reason, words, held));
            }
        }
    }
    let Some((reason, words, held)) = missing else {
        if let Some(outcome) = outcome_of_tie(draft, &record, &drafted).filter(|_| !optional) {
            return outcome;
        }
        let after = describe_replies(draft, &items, &drafted);
        let findings = subject::write_drafts(&mut record, draft, &drafted);
        record.set_flags(draft.name(), findings);
        return changed_outcome(record, reason_made, evidence.join("; ").into(), after);
    };
    match (optional, held) {
        (true, _) => {
            // Elements that lack nothing have their drafts.
            drafted.retain(|drafted| !lacking.contains(&drafted.element));
            let after = describe_replies(draft, &items, &drafted);
            let mut findings = subject::write_drafts(&mut record, draft, &drafted);
            findings.push(format!("not drafted: {}", reason.code()));
            record.set_flags(draft.name(), findings);
            let lasting = matches!(reason, Reason::RequestRefused | Reason::ReplyUnparseable);
            let rule = if lasting { Reason::Undraftable } else { Reason::NotDrafted };
            changed_outcome(record, rule, Evidence::explain_missing(reason, &words), after)
        }
        (false, true) => Outcome::Held { reason, evidence: words },
        (false, false) => Outcome::Failed { reason, evidence: words },
    }
}

/// The outcome of a record whose replies are tied, where nobody votes on the draft: another reply may decide.
pub(super) fn outcome_of_tie(draft: DraftStep, record: &Row, drafted: &[Drafted]) -> Option<Outcome<Row>> {
    let tie = subject::describe_tie(record, draft, drafted)?;
    let step = draft.draft_declaration().name;
    let evidence =
        format!("{tie}\n  hint: an odd number in `samples` of [step.{step}], or a further endpoint, decides");
    Some(Outcome::Held { reason: Reason::RepliesTied, evidence: evidence.into() })
}

/// The outcome of a record whose list, about whose elements a draft asks, does not exist.
pub(super) fn no_list(trouble: &ExpressionError) -> Outcome<Row> {
    Outcome::Failed { reason: Reason::NotAList, evidence: trouble.to_string().into() }
}

/// The outcome of a record with a reply about an item for which a requirement of the step cannot be computed.
pub(super) fn not_computed(draft: DraftStep, item: &DraftItem, values: &Values) -> Option<Outcome<Row>> {
    let trouble = item.unmet_requirement(draft, values).err()?;
    Some(Outcome::Failed {
        reason: Reason::NotComputed,
        evidence: item.name_finding(&trouble.to_string()).into(),
    })
}

/// The sentence of a requirement that a reply about an item does not meet. A model is asked again for such a reply; one about
/// several records, of which only another takes it, is not.
pub(super) fn not_met(draft: DraftStep, item: &DraftItem, values: &Values) -> Option<String> {
    let says = item.unmet_requirement(draft, values).ok().flatten()?;
    Some(item.name_finding(says.en))
}

/// The replies, as a ledger shows them.
fn describe_replies(draft: DraftStep, items: &[DraftItem], drafted: &[Drafted]) -> String {
    let shown = |drafted: &Drafted| {
        let shown = draft.answer_for_ledger(&drafted.values);
        items.get(drafted.element).map_or_else(|| shown.clone(), |item| item.name_finding(&shown))
    };
    drafted.iter().map(shown).collect::<Vec<_>>().join("; ")
}

/// A reply, in the words of a ledger.
pub(in crate::stages) enum DraftOutcome {
    /// It says this.
    Drafted {
        /// What it says.
        values: Values,
        /// `reply:<key>` or `sample:<key>`.
        basis: String,
        /// The basis and the prompt.
        words: String,
        /// Whether an earlier version took it for whole, though it was cut or refused.
        is_half: bool,
    },
    /// There is none, or it cannot be read.
    Missing {
        /// Why.
        reason: Reason,
        /// What came instead.
        words: Evidence,
        /// Whether it may still come.
        held: bool,
    },
}

pub(in crate::stages) fn draft_outcome(parsed: Parsed<Values>, prompt: &str) -> DraftOutcome {
    match parsed {
        Parsed::Value { value, reply, reasks } => {
            let basis = format!("{}:{}", reply.marks.basis_prefix(), reply.key);
            let again = if reasks > 0 { format!(", asked again {reasks}×") } else { String::new() };
            let cut = match reply.marks {
                ReplyOrigin { withheld: true, .. } => ", refused",
                ReplyOrigin { truncated: true, .. } => ", cut at max_tokens",
                _ => "",
            };
            let words = format!("{basis} to {prompt}{again}{cut}");
            DraftOutcome::Drafted { values: value, basis, words, is_half: reply.marks.before }
        }
        Parsed::Held(held) => DraftOutcome::Missing { reason: held.reason, words: held.what, held: true },
        Parsed::Failed(failed) => {
            let raw =
                if failed.raw.is_empty() { String::new() } else { format!("; it said: {}", failed.raw) };
            let words = failed.error.with_text(format!("{} (reply:{}){raw}", failed.error, failed.key));
            DraftOutcome::Missing { reason: failed.reason, words, held: false }
        }
    }
}

fn changed_outcome<S>(row: S, reason: Reason, evidence: Evidence, after: String) -> Outcome<S> {
    Outcome::Changed { row, rule: reason.code(), evidence, before: String::new(), after }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stages::subject::rows::make_row;
    use riddlemill_record::flags_of;
    use serde_json::json;

    #[test]
    fn what_is_missing_is_held_and_what_is_optional_goes_on() {
        let question = make_row("questions", json!({ "id": "q" }));
        let slot = Slot { model: "m".into(), ..Slot::default() };
        let held = riddlemill_llm::Held { reason: Reason::ReplyMissing, what: "w".into() };
        let waits = || {
            vec![ReplyOutcome {
                element: 0,
                slot: slot.clone(),
                prompt: "p".into(),
                parsed: Parsed::Held(held.clone()),
            }]
        };
        let pair =
            DraftStep::find_draft(riddlemill_benchmarks::find_benchmark("ruozhibench-gen").unwrap(), "pair")
                .unwrap();
        let held = outcome_of_record(pair, question.clone(), waits(), false);
        assert!(matches!(held, Outcome::Held { reason: Reason::ReplyMissing, .. }));
        let Outcome::Changed { row, rule, .. } = outcome_of_record(pair, question, waits(), true) else {
            panic!("an optional draft held its question");
        };
        assert_eq!(
            (rule, flags_of(row.flags(), "pair")),
            ("not_drafted", vec!["not drafted: reply_missing".to_string()])
        );
    }
}
