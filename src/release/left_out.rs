//! Items missing from a set because they wait, failed, or lack required values.

use std::collections::BTreeMap;

use super::manifest::{Ids, LeftOut};
use super::numbered::rowless;
use super::source::CandidateSource;
use crate::record::{Entry, State};
use crate::stages::Stage;
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
        let mut by_reason: BTreeMap<(String, String), Ids> = BTreeMap::new();
        let waiting = Filter::any_of("outcome", states.iter().map(|state| state.code()));
        for entry in select::<Entry>(stage, "ledger", &waiting)? {
            by_reason.entry((entry.outcome, entry.reason.unwrap_or_default())).or_default().add(&entry.id);
        }
        let stage = step.name.to_string();
        left_out.extend(by_reason.into_iter().map(|((state, reason), items)| LeftOut {
            stage: stage.clone(),
            state,
            reason,
            items,
        }));
    }
    if let Some(last) = stages.last() {
        left_out.extend(incomplete(end, last)?);
    }
    Ok(left_out)
}

/// Records of the last stage that did not become rows.
fn incomplete(end: CandidateSource, last: &StageReader) -> Result<Option<LeftOut>, Error> {
    let mut items = Ids::default();
    rowless(end, last)?.iter().for_each(|id| items.add(id));
    let stage = last.manifest().stage.clone();
    let (state, reason) = ("incomplete".to_string(), "a field that every row has is missing".to_string());
    Ok((items.count > 0).then_some(LeftOut { stage, state, reason, items }))
}
