//! A record that is kept back, and what its like do meanwhile.

use crate::recipe::Step;
use crate::stages::{Embeds, reason_of_code as reason_of};
use riddlemill_record::{Cause as Fact, Reason, State};
use riddlemill_review::ballot::Round;

/// Reasons of records that went on without what a model was asked for.
pub(super) const WITHOUT: [Reason; 6] = [
    Reason::NotDrafted,
    Reason::Undraftable,
    Reason::NotEmbedded,
    Reason::Unembeddable,
    Reason::NotJudged,
    Reason::Unjudgeable,
];

/// The state of a cause's records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CauseState {
    /// They wait for a model's reply.
    Model,
    /// They failed.
    Failed,
    /// They wait for votes in a round.
    Votes(Round),
    /// They continue provisionally, and their votes are still missing.
    Provisional(Round),
    /// They wait for a person's decision.
    Person,
    /// They wait for something else.
    Other,
    /// They continued without a draft.
    Undrafted,
    /// They continued without an embedding.
    Unembedded,
    /// They continued although a pair that they are in was not judged.
    Unjudged,
    /// They continued with a draft from a reply that was cut or refused.
    HalfDrafted,
}

/// A record that is kept back: the first of those with the same cause.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    /// Its id in the ledger.
    pub(super) id: String,
    /// Its state in the ledger.
    pub(super) state: Option<State>,
    /// The reason in the ledger.
    pub(super) reason: Option<Reason>,
    /// The cause as fields, if it has some.
    pub(super) fact: Option<Fact>,
    /// The evidence in the ledger, where there are no fields.
    pub(super) text: String,
}

impl Kept {
    /// Why something is missing: the reason, or that of a record that went on without it.
    pub(super) fn reason_of_missing(&self) -> Option<Reason> {
        match &self.fact {
            Some(Fact::Without { reason, .. }) => reason_of(reason),
            _ => self.reason,
        }
    }

    /// `source/file`, of an entry of import.
    pub(super) fn source_file(&self) -> &str {
        self.id.rsplit_once(':').map_or(self.id.as_str(), |(file, _)| file)
    }

    /// The source, of an entry of import.
    pub(super) fn source(&self) -> &str {
        self.id.split(['/', ':']).next().unwrap_or_default()
    }

    /// What its records do, as far as it is decided by what they wait for.
    pub(super) fn cause_state(&self, step: &Step) -> CauseState {
        if self.reason.is_some_and(|reason| WITHOUT.contains(&reason)) {
            return match (step.stage.embedding_task(), step.stage.is_pair_judge()) {
                (Some(Embeds::Posts), _) => CauseState::Unembedded,
                (_, true) => CauseState::Unjudged,
                _ => CauseState::Undrafted,
            };
        }
        let round = match &self.fact {
            Some(Fact::Votes { review: true, .. }) => Round::Review,
            Some(Fact::Decision { .. }) => Round::Adjudication,
            _ => Round::Vote,
        };
        match (self.state, self.reason) {
            (_, Some(Reason::DraftedFromCut)) => CauseState::HalfDrafted,
            (Some(State::Changed), _) => CauseState::Provisional(round),
            // Requests skipped because an endpoint was left alone would have failed like those before.
            (Some(State::Failed), _) | (_, Some(Reason::EndpointLeft)) => CauseState::Failed,
            // Whatever the record lacks, votes give it.
            (_, Some(Reason::VotesMissing)) => CauseState::Votes(round),
            (Some(State::Held), _)
                if matches!(self.fact, Some(Fact::Votes { .. } | Fact::Decision { .. })) =>
            {
                CauseState::Votes(round)
            }
            (_, Some(Reason::Disputed)) => CauseState::Votes(Round::Adjudication),
            (
                _,
                Some(Reason::ListedTerm | Reason::DecidedHold | Reason::Own(_) | Reason::RequirementBroken),
            ) => CauseState::Person,
            (
                _,
                Some(
                    Reason::ReplyMissing
                    | Reason::BudgetReached
                    | Reason::NoPrice
                    | Reason::KeyMissing
                    | Reason::AnswerCut
                    | Reason::Interrupted,
                ),
            ) => CauseState::Model,
            _ => CauseState::Other,
        }
    }
}
