//! Items missing from a set because they wait, failed, or lack required values.

use std::collections::BTreeMap;

use super::manifest::{Ids, LeftOut};
use super::numbered::{UNWANTED, rowless};
use super::source::CandidateSource;
use crate::recipe::Step;
use crate::record::{Entry, State};
use crate::stages::native::BESIDE;
use crate::stages::{Rows, Stage};
use crate::store::{Error, Filter, StageReader, select};

/// The items that a recipe's stages left out. Unreadable lines of dumps are not items yet.
///
/// # Errors
/// [`Error`] if a ledger or the last rows cannot be read.
pub(super) fn list(end: CandidateSource, stages: &[StageReader]) -> Result<Vec<LeftOut>, Error> {
    let mut left_out = Vec::new();
    let states = [State::Held, State::Failed];
    for (step, stage) in end.recipe().steps().iter().zip(stages) {
        let counts = &stage.manifest().counts;
        if step.stage == Stage::Import || states.iter().all(|state| counts.state(*state) == 0) {
            continue;
        }
        let mut by_reason: BTreeMap<(String, String), (Ids, u64)> = BTreeMap::new();
        let waiting = Filter::any_of("outcome", states.iter().map(|state| state.code()));
        for entry in select::<Entry>(stage, "ledger", &waiting)? {
            let (items, beside) =
                by_reason.entry((entry.outcome, entry.reason.unwrap_or_default())).or_default();
            match entry.evidence.is_some_and(|evidence| evidence.starts_with(BESIDE)) {
                true => *beside += 1,
                false => items.add(&entry.id),
            }
        }
        let stage = step.name.to_string();
        left_out.extend(by_reason.into_iter().map(|((state, reason), (items, beside))| LeftOut {
            stage: stage.clone(),
            state,
            reason,
            items,
            beside,
        }));
    }
    if let Some(last) = stages.last() {
        left_out.extend(incomplete(end, last)?);
    }
    Ok(left_out)
}

/// How many items these are that could be rows. Records of the kind that models' answers have are none: what waits there are
/// parts of items that wait at a later step, or stand. What the folder does not want is not waited for either.
pub(super) fn waiting(end: CandidateSource, left_out: &[LeftOut]) -> u64 {
    let recipe = end.recipe();
    let gives = |step: &Step| matches!(step.stage, Stage::Draft(draft) if draft.declared().made.is_some());
    let of_answers = |rows: Rows| {
        rows != end.rows() && recipe.steps().iter().any(|step| step.stage.rows() == rows && gives(step))
    };
    let of_items = |left: &&LeftOut| {
        if left.is_incomplete() {
            return left.reason != UNWANTED;
        }
        let Some((_, step)) = recipe.step(&left.stage) else { return true };
        let mut read = step.inputs.iter().filter_map(|input| Some(recipe.input(input)?.2.stage.rows()));
        read.any(|rows| !of_answers(rows))
    };
    left_out.iter().filter(of_items).map(|left| left.items.count).sum()
}

/// Records of the last stage that did not become rows, by the reason.
fn incomplete(end: CandidateSource, last: &StageReader) -> Result<Vec<LeftOut>, Error> {
    let mut by_reason: BTreeMap<&'static str, Ids> = BTreeMap::new();
    for (id, reason) in rowless(end, last)? {
        by_reason.entry(reason).or_default().add(&id);
    }
    let left = |(reason, items): (&str, Ids)| LeftOut {
        stage: last.manifest().stage.clone(),
        state: "incomplete".to_owned(),
        reason: reason.to_owned(),
        items,
        beside: 0,
    };
    Ok(by_reason.into_iter().map(left).collect())
}
