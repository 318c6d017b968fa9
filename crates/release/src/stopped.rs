//! Where records stopped that reached a recipe's end and became no row.

use std::collections::{BTreeMap, BTreeSet};

use riddlemill_benchmarks::data::Data;

use super::current_rows::CurrentRows;
use super::item::{NoRow, Seen, error_of_trouble};
use super::layout::{self, Layout};
use super::manifest::{REQUIRES, WHEN};
use super::numbered::{data_of, row_of_record};
use super::registry::Ordinals;
use super::source::CandidateSource;
use crate::audit::{Ending, Explained, StageEntry, last_passages};
use crate::record::{self, Entry, Reason, Record, State};
use crate::stages::StageRows;
use crate::store::{Error, Filter, StageReader, select_of};

/// Where a record at a recipe's end stopped that did not become a row: at the conditions of `[data]`, which are told as steps,
/// or at the last stage, where it lacks something.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Stopped {
    /// Where: a stage of the recipe, or a condition of `[data]`.
    pub stage: String,
    /// `dropped`, `held` or `incomplete`.
    pub state: &'static str,
    /// The reason's code, or what is missing.
    pub reason: &'static str,
    /// What that means, in the folder's words.
    pub says: Option<String>,
}

impl Stopped {
    /// Where a record stopped that no split takes.
    pub(super) fn without_split(stage: &str, reason: &'static str) -> Stopped {
        Stopped { stage: stage.to_owned(), state: INCOMPLETE, reason, says: None }
    }
}

/// The state of a record that reached the end and is no row.
const INCOMPLETE: &str = "incomplete";
const LACKING: &str = "a field that every row has is missing";

/// Where a record stopped, and the evidence.
fn find_stop(no: NoRow, data: &Data, stage: &str) -> (Stopped, Option<String>) {
    let at = |stage: &str, state, reason: Reason, says| Stopped {
        stage: stage.to_owned(),
        state,
        reason: reason.code(),
        says: Some(says),
    };
    match no {
        NoRow::Unwanted { seen } => {
            let reason = data.reason.map_or(Reason::NotWanted, Reason::Own);
            (at(WHEN, State::Dropped.code(), reason, reason.definition().to_owned()), Some(seen))
        }
        NoRow::Unmet { says } => (at(REQUIRES, State::Held.code(), Reason::RequirementBroken, says), None),
        NoRow::Lacking { column } => {
            let (stage, state) = (stage.to_owned(), INCOMPLETE);
            (Stopped { stage, state, reason: LACKING, says: Some(format!("it has no `{column}`")) }, None)
        }
    }
}

/// The ids of records at a recipe's end that did not become rows, each with where it stopped: those that no split takes, too.
pub(super) fn list_rowless(
    end: CandidateSource,
    last: &StageReader,
    numbers: &Ordinals,
) -> Result<Vec<(String, Stopped)>, Error> {
    let stage = &last.manifest().stage;
    let apart = numbers.division().into_iter().flat_map(|division| &division.out);
    let mut all = without_rows(end, last)?;
    all.extend(apart.map(|(id, reason)| (id.clone(), Stopped::without_split(stage, reason))));
    Ok(all)
}

/// What happened last to records: their last passage, or, where that went on, where they stopped behind the last stage.
///
/// # Errors
/// [`Error`] if a ledger or the last stage cannot be read.
pub fn last_stops(rows: &CurrentRows, ids: &BTreeSet<&str>) -> Result<BTreeMap<String, StageEntry>, Error> {
    let mut passages = last_passages(&rows.workspace, rows.recipe(), ids)?;
    // Reading all rows is only worth it where a passage does not say it.
    if passages.values().all(|passage| !record::is_passed_on(&passage.outcome)) {
        return Ok(passages);
    }
    let Some(last) = rows.open_last_stage()? else { return Ok(passages) };
    let mut stopped: BTreeMap<String, Stopped> =
        list_rowless(rows.end, &last, rows.row_numbers(&last)?)?.into_iter().collect();
    for passage in passages.values_mut().filter(|passage| record::is_passed_on(&passage.outcome)) {
        if let Some(at) = stopped.remove(passage.into.as_ref().unwrap_or(&passage.id)) {
            passage.stage = at.stage;
            passage.outcome = at.state.to_owned();
            passage.reason = Some(at.reason.to_owned());
            passage.definition = at.says;
            passage.evidence = None;
        }
    }
    Ok(passages)
}

fn without_rows(end: CandidateSource, last: &StageReader) -> Result<Vec<(String, Stopped)>, Error> {
    let of = |rows: StageRows, data: &Data, layout: &Layout| {
        let mut ids = Vec::new();
        for part in last.parts_of::<record::Row>(rows.columns(), "rows") {
            for record in part? {
                let seen = Seen::new(&record, data).map_err(error_of_trouble)?;
                if let Err(no) = row_of_record(record.id(), seen, data, layout)? {
                    ids.push((record.id().to_owned(), find_stop(no, data, &last.manifest().stage).0));
                }
            }
        }
        Ok(ids)
    };
    let declared = data_of(end.recipe()).zip(layout::find_layout(end.recipe().name));
    match (end.row_kind(), declared) {
        (StageRows::Posts, _) | (_, None) => Ok(Vec::new()),
        (rows, _) if rows != end.recipe().kind_of_rows() => Ok(Vec::new()),
        (rows, Some((data, layout))) => of(rows, data, layout),
    }
}

/// Adds to the path of a record that a recipe has kept to its end where it stopped, if it is no row of the set.
///
/// # Errors
/// [`Error`] if the last stage cannot be read.
pub fn stop_without_row(rows: &CurrentRows, explained: &mut Explained) -> Result<(), Error> {
    if let Some((at, evidence)) = not_an_item(rows, explained)? {
        let Stopped { stage, state, reason, says } = at;
        let id = explained.way.last().map(|last| last.into.as_ref().unwrap_or(&last.id).clone());
        let entry = Entry {
            id: id.unwrap_or_default(),
            outcome: state.to_owned(),
            reason: (reason != LACKING).then(|| reason.to_owned()),
            evidence,
            before: None,
            after: None,
            into: None,
            score: None,
        };
        explained.add_stop(&stage, entry, says);
    }
    Ok(())
}

/// Where a record stopped that a recipe has kept to its end, and the evidence; `None` if it is a row, or none is declared.
fn not_an_item(
    rows: &CurrentRows,
    explained: &Explained,
) -> Result<Option<(Stopped, Option<String>)>, Error> {
    let (end, recipe) = (rows.end, rows.recipe());
    let declared =
        data_of(recipe).zip(layout::find_layout(recipe.name)).filter(|_| end.row_kind() != StageRows::Posts);
    let Some((data, layout)) = declared.filter(|_| explained.ending() == Ending::In) else { return Ok(None) };
    let step = end.step();
    let Some(last) = rows.open_last_stage()? else { return Ok(None) };
    let ids = explained.way.iter().flat_map(|passage| [Some(&passage.id), passage.into.as_ref()]).flatten();
    let wanted = Filter::any_of("id", ids.map(String::as_str));
    let records = select_of::<record::Row>(end.row_kind().columns(), &last, "rows", &wanted)?;
    let numbers = data.splits.is_some().then(|| rows.row_numbers(&last)).transpose()?;
    let apart = |id: &str| {
        let division = numbers.and_then(Ordinals::division);
        division.into_iter().flat_map(|division| &division.out).find(|(out, _)| out == id)
    };
    let mut why = None;
    for record in &records {
        match row_of_record(record.id(), Seen::new(record, data).map_err(error_of_trouble)?, data, layout)? {
            Ok(_) => match apart(record.id()) {
                None => return Ok(None),
                Some((_, reason)) => why = Some((Stopped::without_split(step.name, reason), None)),
            },
            Err(no) => why = Some(find_stop(no, data, step.name)),
        }
    }
    Ok(why)
}
