//! What an item without a result still waits for, and why. As text it is the evidence in a stage's ledger, for people.

use std::fmt;

use crate::ballot::{REASON, Role, Round};
use crate::votes::Vote;

/// What an item waits for.
#[derive(Clone, Debug, PartialEq)]
pub enum Pending {
    /// More votes are needed.
    Waiting {
        round: Round,
        /// The roles that may vote.
        on: Vec<Role>,
        /// How many.
        votes: usize,
    },
    /// A decision is needed.
    Adjudicate {
        /// The deciding role.
        by: Role,
        /// What has to be decided; never empty.
        why: Vec<UndecidedReason>,
    },
}

/// Why the votes do not decide.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum UndecidedReason {
    /// The voters disagree.
    #[error("{field}: the voters differ ({})", .answers.join(" / "))]
    Differ {
        field: &'static str,
        /// The different answers, sorted.
        answers: Vec<String>,
    },
    /// One annotator answered differently on two machines, or two people decided without knowing of each
    /// other.
    #[error("{} gave two different answers independently ({})", who_votes(*.round), .answers.join(" / "))]
    Twice { round: Round, answers: Vec<String> },
    /// A voter requested it.
    #[error("{field}: answered `{answer}`")]
    Asked { field: &'static str, answer: &'static str },
}

fn who_votes(round: Round) -> &'static str {
    match round {
        Round::Vote => "one voter",
        Round::Review => "one reviewer",
        Round::Adjudication => "adjudicators",
    }
}

impl UndecidedReason {
    pub(super) fn answered_twice(round: Round, vote: &Vote, others: &[&Vote]) -> UndecidedReason {
        let answers = |vote: &Vote| {
            let answers_given = vote.values.iter().filter(|(field, _)| *field != REASON);
            answers_given.map(|(field, value)| format!("{field}: {value}")).collect::<Vec<_>>().join(", ")
        };
        let mut answers: Vec<String> =
            std::iter::once(vote).chain(others.iter().copied()).map(answers).collect();
        answers.sort();
        UndecidedReason::Twice { round, answers }
    }
}

impl fmt::Display for Pending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pending::Waiting { round, on, votes } => {
                let roles: Vec<&str> = on.iter().map(|role| role.name()).collect();
                let votes_word = if *votes == 1 { "vote" } else { "votes" };
                let round = if *round == Round::Vote { "first-round" } else { round.name() };
                write!(f, "{votes} {round} {votes_word} still needed from {}", roles.join(" or "))
            }
            Pending::Adjudicate { by, why } => {
                let why: Vec<String> = why.iter().map(UndecidedReason::to_string).collect();
                write!(f, "waits for a decision by {}: {}", by.name(), why.join("; "))
            }
        }
    }
}
