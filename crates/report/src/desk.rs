//! What those who curate look through: disputes, outdated votes, decisions and trials.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::decisions::{Decision, Undo};
use crate::pipeline::decide::DecisionState;
use riddlemill_review::adjudicate::Dispute;
use riddlemill_review::carry::{Carryable, Outdated};
use riddlemill_review::qualify::{Trial, TrialLevel};
use riddlemill_review::{Content, Item, Values, Vote};

/// An item that its votes do not decide.
#[derive(Clone, Debug, Serialize)]
pub struct DisputeRow<'d> {
    item: &'d Item,
    /// What has to be decided.
    why: Vec<String>,
    votes: &'d [Vote],
}

/// Items whose votes may be carried over to their present texts.
#[derive(Clone, Debug, Serialize)]
pub struct CarryReport<'c> {
    items: Vec<CarryRow<'c>>,
    /// Outdated votes on a text that was not kept.
    unknown: usize,
}

/// An item with its text of then and of today.
#[derive(Clone, Debug, Serialize)]
struct CarryRow<'c> {
    item: &'c str,
    old: &'c Content,
    new: &'c Content,
    old_draft: &'c Values,
    new_draft: &'c Values,
    votes: &'c [&'c Vote],
}

/// A decision, and what became of it in a recipe.
#[derive(Clone, Debug, Serialize)]
pub struct DecisionRow<'d> {
    pub recipe: &'static str,
    pub state: DecisionState,
    pub decision: &'d Decision,
    pub undone: Option<&'d Undo>,
}

/// What became of the rows of a table that somebody filled in.
#[derive(Clone, Debug, Serialize)]
pub struct TableReceipt<'r> {
    pub file: &'r Path,
    pub added: usize,
    /// What had been handed in before.
    pub known: usize,
    pub blank: usize,
    /// What was decided before and counts no more.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub overruled: Vec<String>,
    pub problems: Vec<String>,
}

/// What became of the rows of a ballot that somebody filled in.
#[derive(Clone, Debug, Serialize)]
pub struct BallotReceipt {
    pub file: PathBuf,
    pub rows: usize,
    pub blank: usize,
    pub added: usize,
    /// Those of them that replace another vote of the same annotator.
    pub changed: usize,
    pub known: usize,
    pub outdated: usize,
    /// Items whose annotator has voted since.
    pub late: Vec<String>,
    /// Items whose votes were set aside.
    pub set_aside: Vec<String>,
    pub problems: Vec<String>,
}

/// The result of a trial.
#[derive(Clone, Debug, Serialize)]
pub struct TrialRow<'t> {
    annotator: &'t str,
    right: usize,
    of: usize,
    level: TrialLevel,
    /// How many trials they have made, if it is not the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    attempts: Option<usize>,
    /// How many of the items they had answered before.
    #[serde(skip_serializing_if = "Option::is_none")]
    seen_before: Option<usize>,
}

impl<'d> From<&'d Dispute> for DisputeRow<'d> {
    fn from(dispute: &'d Dispute) -> DisputeRow<'d> {
        let why = dispute.why.iter().map(ToString::to_string).collect();
        DisputeRow { item: &dispute.item, why, votes: &dispute.votes }
    }
}

impl<'c> From<&'c Carryable<'c>> for CarryReport<'c> {
    fn from(found: &'c Carryable<'c>) -> CarryReport<'c> {
        let row = |one: &'c Outdated<'c>| CarryRow {
            item: &one.item.id,
            old: &one.old,
            new: &one.new,
            old_draft: &one.old_draft,
            new_draft: &one.item.draft,
            votes: &one.votes,
        };
        CarryReport { items: found.items.iter().map(row).collect(), unknown: found.unknown }
    }
}

impl<'t> TrialRow<'t> {
    /// A result, with how many trials there were and how many of its items were answered before.
    pub fn new(trial: &'t Trial, (attempts, seen_before): (usize, usize)) -> TrialRow<'t> {
        let again = attempts > 1;
        TrialRow {
            annotator: &trial.annotator,
            right: trial.right,
            of: trial.of,
            level: trial.level,
            attempts: again.then_some(attempts),
            seen_before: again.then_some(seen_before),
        }
    }
}
