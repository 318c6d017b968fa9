//! Items missing from a set because they wait, failed, lack required values, or are not wanted.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use super::division::is_apart;
use super::layout::Layout;
use super::manifest::{IdSample, LeftOut};
use super::registry::Ordinals;
use super::row::Row;
use super::source::CandidateSource;
use super::stopped::{Stopped, list_rowless};
use crate::recipe::Step;
use crate::record::{Cause, Caused, Entry, State};
use crate::stages::StageRows;
use crate::store::{CAUSES, Error, Filter, StageReader, select_rows};

/// The items that a recipe's stages left out. Unreadable lines of dumps are not items yet.
///
/// # Errors
/// [`Error`] if a ledger or the last rows cannot be read.
pub(super) fn list_left_out(
    end: CandidateSource,
    stages: &[StageReader],
    numbers: &Ordinals,
) -> Result<Vec<LeftOut>, Error> {
    let mut left_out = Vec::new();
    let states = [State::Held, State::Failed];
    for (step, stage) in end.recipe().steps().iter().zip(stages) {
        let counts = &stage.manifest().counts;
        if step.stage.is_import() || states.iter().all(|state| counts.records_in_state(*state) == 0) {
            continue;
        }
        let belongs = records_beside_items(stage)?;
        let mut by_reason: BTreeMap<(String, String), (IdSample, u64)> = BTreeMap::new();
        let waiting = Filter::any_of("outcome", states.iter().map(|state| state.code()));
        for entry in select_rows::<Entry>(stage, "ledger", &waiting)? {
            let (items, beside) =
                by_reason.entry((entry.outcome, entry.reason.unwrap_or_default())).or_default();
            match belongs.contains(&entry.id) {
                true => *beside += 1,
                false => items.add(&entry.id),
            }
        }
        let stage = step.name.to_string();
        left_out.extend(by_reason.into_iter().map(|((state, reason), (items, beside))| LeftOut {
            stage: stage.clone(),
            state,
            says: riddlemill_benchmarks::find_reason(&reason).map(|own| own.definition.to_owned()),
            reason,
            items,
            beside,
        }));
    }
    if let Some(last) = stages.last() {
        left_out.extend(list_incomplete(end, last, numbers)?);
    }
    Ok(left_out)
}

/// The records of a stage that wait with the item that they belong to.
fn records_beside_items(stage: &StageReader) -> Result<FxHashSet<String>, Error> {
    let wanted = serde_json::to_string(&Cause::Beside).unwrap_or_default();
    let mut found = FxHashSet::default();
    for part in stage.read_parts::<Caused>(CAUSES) {
        found.extend(part?.into_iter().filter(|caused| caused.cause == wanted).map(|caused| caused.id));
    }
    Ok(found)
}

/// How many rows an item of an earlier step becomes: three a puzzle, where the set's rows are in groups.
#[derive(Debug, Default)]
pub(super) struct RowsPerItem {
    rows: u64,
    groups: FxHashSet<[u8; 16]>,
}

impl RowsPerItem {
    /// Notes rows of the set.
    pub(super) fn look_at(&mut self, layout: &Layout, rows: &[Row]) {
        for group in rows.iter().filter_map(|row| layout.group_of(row)) {
            self.rows += 1;
            let mut key = [0; 16];
            key.copy_from_slice(&blake3::hash(group.as_bytes()).as_bytes()[..16]);
            self.groups.insert(key);
        }
    }

    /// How many rows so many items become, by those that have become some.
    fn estimate_rows(&self, items: u64) -> u64 {
        match self.groups.len() as u64 {
            0 => items,
            groups => (items * self.rows).div_ceil(groups),
        }
    }

    /// How many rows what was left out could have become. Records of the kind that models' answers have are none: what
    /// waits there are parts of items that wait at a later step, or stand. What the folder does not want is not waited for
    /// either. An item from which several rows are made counts as these.
    pub(super) fn count_waiting_rows(&self, end: CandidateSource, left_out: &[LeftOut]) -> u64 {
        let recipe = end.recipe();
        let gives = |step: &Step| {
            step.stage.declared_draft().is_some_and(|draft| draft.draft_declaration().made.is_some())
        };
        let of_answers = |rows: StageRows| {
            rows != end.row_kind()
                && recipe.steps().iter().any(|step| step.stage.rows() == rows && gives(step))
        };
        let rows_of = |left: &LeftOut| {
            if left.is_incomplete() {
                let is_out = left.state == State::Dropped.code() || is_apart(&left.reason);
                return if is_out { 0 } else { left.items.count };
            }
            let Some((_, step)) = recipe.find_step(&left.stage) else { return left.items.count };
            let read: Vec<StageRows> = step
                .inputs
                .iter()
                .filter_map(|input| Some(recipe.find_input(input)?.2.stage.rows()))
                .filter(|rows| !of_answers(*rows))
                .collect();
            match read.is_empty() {
                true => 0,
                false if read.contains(&end.row_kind()) => left.items.count,
                false => self.estimate_rows(left.items.count),
            }
        };
        left_out.iter().map(rows_of).sum()
    }
}

/// Records of the last stage that did not become rows, by where they stopped.
fn list_incomplete(
    end: CandidateSource,
    last: &StageReader,
    numbers: &Ordinals,
) -> Result<Vec<LeftOut>, Error> {
    let mut stopped: BTreeMap<Stopped, IdSample> = BTreeMap::new();
    for (id, at) in list_rowless(end, last, numbers)? {
        stopped.entry(at).or_default().add(&id);
    }
    let left = |(at, items): (Stopped, IdSample)| LeftOut {
        stage: at.stage,
        state: at.state.to_owned(),
        reason: at.reason.to_owned(),
        says: at.says,
        items,
        beside: 0,
    };
    Ok(stopped.into_iter().map(left).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_puzzle_that_waits_counts_as_the_rows_that_it_becomes() {
        let recipe = crate::recipe::find_recipe("brainteaser").unwrap();
        let end = CandidateSource::new(recipe);
        let left = |stage: &str, count| LeftOut {
            stage: stage.into(),
            state: "held".into(),
            reason: "votes_missing".into(),
            says: None,
            items: IdSample { count, first: Vec::new() },
            beside: 0,
        };
        let puzzles = [left("review:kind", 2)];
        let before = RowsPerItem::default().count_waiting_rows(end, &puzzles);
        assert_eq!(before, 2, "nothing says yet how many rows a puzzle becomes");
        let per_item = RowsPerItem { rows: 6, groups: [[0; 16], [1; 16]].into_iter().collect() };
        assert_eq!(per_item.count_waiting_rows(end, &puzzles), 6);
        let gen_end = CandidateSource::new(crate::recipe::find_recipe("ruozhibench-gen").unwrap());
        assert_eq!(RowsPerItem::default().count_waiting_rows(gen_end, &[left("review:screen", 5)]), 5);
    }
}
