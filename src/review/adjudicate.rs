//! Disputes side by side, and their decision.

use super::answers::{self, Answers, Fault};
use super::assign::Annotator;
use super::ballot::{REASON, Round, Step};
use super::item::Item;
use super::resolve::{Pending, Resolution, Why, dispute_item};
use super::value::Value;
use super::votes::{Vote, current};

/// An item whose votes do not decide.
#[derive(Clone, Debug, PartialEq)]
pub struct Dispute {
    /// The item with the votes on it shown: what the adjudicator's ballot holds.
    pub item: Item,
    /// What has to be decided.
    pub why: Vec<Why>,
    /// Who said what, ordered by name; curators see names, ballots do not.
    pub votes: Vec<Vote>,
}

/// The disputes among `resolved` items.
pub fn disputes<'v>(
    step: &Step,
    resolved: impl IntoIterator<Item = (&'v Item, &'v Resolution)>,
    votes_on: impl Fn(&str) -> Vec<&'v Vote>,
) -> Vec<Dispute> {
    let dispute = |(item, resolution): (&Item, &Resolution)| {
        let Some(Pending::Adjudicate { why, .. }) = resolution.pending() else { return None };
        let votes = votes_on(&item.id);
        let of_step = |vote: &&&Vote| vote.step == step.name && vote.recipe == step.recipe;
        let mine: Vec<&Vote> = votes.iter().filter(of_step).copied().collect();
        Some(Dispute {
            item: dispute_item(step, item, &mine),
            why: why.clone(),
            votes: current(&mine).into_iter().cloned().collect(),
        })
    };
    resolved.into_iter().filter_map(dispute).collect()
}

/// Why a decision is none.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DecisionError {
    /// Not an adjudicator of this step.
    #[error("{0} may not decide here")]
    NotEntitled(String),
    /// No reason.
    #[error("a decision needs a reason")]
    NoReason,
    /// An answer is missing or is none.
    #[error("{}", .0.iter().map(|(field, fault)| format!("{field}: {fault}")).collect::<Vec<_>>().join("; "))]
    Answers(Vec<(&'static str, Fault)>),
}

/// The vote that decides a dispute. `given` holds what stands in each field, `reason` among them; `at` is
/// the time, RFC 3339. Store it with [`VoteLog::append`](crate::review::VoteLog::append).
pub fn adjudicate(
    step: &Step,
    dispute: &Dispute,
    by: &Annotator,
    given: impl Fn(&str) -> Option<Value>,
    at: &str,
    source: &str,
) -> Result<Vote, DecisionError> {
    if !by.may_vote(step, Round::Adjudication) {
        return Err(DecisionError::NotEntitled(by.name.clone()));
    }
    let item = &dispute.item;
    let values = match answers::read(&step.form(Round::Adjudication), item, given) {
        Answers::Given(values) => values,
        Answers::Blank => return Err(DecisionError::NoReason),
        Answers::Faulty(faults) if faults.iter().any(|(field, _)| *field == REASON) => {
            return Err(DecisionError::NoReason);
        }
        Answers::Faulty(faults) => return Err(DecisionError::Answers(faults)),
    };
    let own =
        dispute.votes.iter().find(|vote| vote.annotator == by.name && vote.round == Round::Adjudication);
    let vote = Vote {
        id: item.content_hash,
        recipe: step.recipe.to_owned(),
        step: step.name.to_owned(),
        item: item.id.clone(),
        content_hash: item.content_hash,
        annotator: by.name.clone(),
        role: by.role,
        round: Round::Adjudication,
        values,
        at: at.to_owned(),
        source: source.to_owned(),
        synthetic: false,
        seconds: None,
        base: own.map(|vote| vote.id),
        supersedes: None,
    };
    Ok(vote.sealed())
}
