//! The current state of released rows: which of them people or rules would no longer release unchanged, and
//! why.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use serde::Serialize;

use super::causes::{Causes, describe_passage};
use super::current_rows::CurrentRows;
use super::diff::CauseOf;
use super::manifest::Yanked;
use super::numbered::released_rows;
use super::read_rows::JsonRow;
use super::registry::{Registry, Release};
use super::restore::kept_lines;
use super::version::Version;
use crate::audit::{StageEntry, last_passages};
use crate::recipe::Recipe;
use crate::record::State;
use crate::stages::withdrawal::Withdrawals;
use crate::stages::{StageError, StageRows};
use crate::store::{Error, StageReader, Workspace};

/// Number of edited rows whose cause is looked up, because each reads through all ledgers.
const EXPLAINED: usize = 20;

/// The current state of a released version's rows, by the stages as they are now.
#[derive(Clone, Debug, Serialize)]
pub struct Since {
    pub version: Version,
    /// The day it was released.
    pub date: String,
    pub rows: u64,
    /// When it was yanked, if it was.
    pub yanked: Option<Yanked>,
    /// Rows that differ now, removed ones first.
    pub otherwise: Vec<ChangedRow>,
}

/// A released row that would not be released unchanged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChangedRow {
    /// Its current state.
    pub fate: RowState,
    /// The row's id.
    pub id: String,
    /// The record from which it was made.
    pub record: String,
    /// The decision, or the columns that differ with their decisions.
    pub why: String,
}

/// The current state of a released row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RowState {
    /// Its removal was requested.
    Withdrawn,
    /// People voted it out.
    Rejected,
    /// It waits for a person or a reply, or its draft failed.
    Held,
    /// It was merged into another record.
    Merged,
    /// A rule drops it, or no dump contains it any longer.
    Gone,
    /// Its texts or labels changed.
    Edited,
}

impl RowState {
    /// Its name in JSON and in the change log.
    pub fn name(self) -> &'static str {
        match self {
            RowState::Withdrawn => "withdrawn",
            RowState::Rejected => "rejected",
            RowState::Held => "held",
            RowState::Merged => "merged",
            RowState::Gone => "gone",
            RowState::Edited => "edited",
        }
    }
}

impl Since {
    /// Number of rows by state.
    pub fn count_by_state(&self) -> BTreeMap<RowState, usize> {
        let mut counts = BTreeMap::new();
        self.otherwise.iter().for_each(|row| *counts.entry(row.fate).or_default() += 1);
        counts
    }

    /// `2 rejected, 1 held`; empty if all rows are unchanged.
    pub fn describe(&self) -> String {
        let counts = self.count_by_state();
        let parts: Vec<String> = counts.iter().map(|(fate, n)| format!("{n} {}", fate.name())).collect();
        parts.join(", ")
    }
}

/// Compares every released version of a recipe with its current stages. Empty if nothing was released, or not
/// all stages are made.
///
/// # Errors
/// [`StageError`] if a registry, a ledger or rows cannot be read.
pub fn compare_releases(rows: &CurrentRows) -> Result<Vec<Since>, StageError> {
    let (workspace, recipe) = (&rows.workspace, rows.recipe());
    let registry = Registry::open(workspace, recipe.name)?;
    if registry.releases.is_empty() {
        return Ok(Vec::new());
    }
    let Some(last) = rows.open_last_stage()? else { return Ok(Vec::new()) };
    let now = rows_of_today(rows, &last)?;
    let withdrawn = Withdrawals::load(workspace)?;
    let causes = Causes::of_workspace(workspace, recipe);
    let released = registry.releases.iter();
    released
        .map(|release| of_release(workspace, recipe, &registry, release, &now, &withdrawn, &causes))
        .collect()
}

/// The rows that would be released now, by id.
fn rows_of_today(current: &CurrentRows, last: &StageReader) -> Result<FxHashMap<String, JsonRow>, Error> {
    let (end, numbers) = (current.end, current.row_numbers(last)?);
    let mut found = FxHashMap::default();
    if end.row_kind() != end.recipe().kind_of_rows() && end.row_kind() != StageRows::Posts {
        return Ok(found);
    }
    for layout in end.published_layouts(last)? {
        for batch in released_rows(end, last, numbers) {
            for row in batch? {
                let named = layout.columns.iter().zip(&row.0).map(|(c, v)| (c.name.to_string(), v.to_json()));
                found.insert(row.id().to_string(), named.collect());
            }
        }
    }
    Ok(found)
}

fn of_release(
    workspace: &Workspace,
    recipe: &'static Recipe,
    registry: &Registry,
    release: &Release,
    now: &FxHashMap<String, JsonRow>,
    withdrawn: &Withdrawals,
    causes: &Causes,
) -> Result<Since, StageError> {
    let (mut gone, mut edited, mut rows) = (Vec::new(), Vec::new(), 0);
    for config in release.configs.keys() {
        let (path, lines) = kept_lines(registry, release, config)?;
        for line in lines {
            let line = line.map_err(Error::io("read", &path))?;
            let row: JsonRow = serde_json::from_str(&line).map_err(|e| Error::io("read", &path)(e.into()))?;
            let id = row.values().next().and_then(|id| id.as_str()).unwrap_or_default().to_string();
            let source = row.get("source_id").and_then(|id| id.as_str()).filter(|id| !id.is_empty());
            let record = source.unwrap_or(&id).to_string();
            rows += 1;
            match now.get(&id) {
                None => gone.push((id, record)),
                Some(today) => {
                    let columns = differing_columns(&row, today);
                    if !columns.is_empty() {
                        edited.push((id, record, columns));
                    }
                }
            }
        }
    }
    let records: BTreeSet<&str> = gone.iter().map(|(_, record)| record.as_str()).collect();
    let last_by_record = last_passages(workspace, recipe, &records)?;
    let mut otherwise: Vec<ChangedRow> = gone
        .into_iter()
        .map(|(id, record)| {
            let (fate, why) = match withdrawn.of_id(&record) {
                Some(tombstone) => {
                    (RowState::Withdrawn, tombstone.at.get(..10).unwrap_or_default().to_string())
                }
                None => row_state(last_by_record.get(record.as_str())),
            };
            ChangedRow { fate, id, record, why }
        })
        .collect();
    otherwise.sort_by_key(|row| row.fate);
    otherwise.extend(edited.into_iter().enumerate().map(|(i, (id, record, columns))| {
        let cause = columns.first().filter(|_| i < EXPLAINED);
        let cause = cause.and_then(|column| causes.explain_difference(CauseOf::Changed(&record, column)));
        let why = match cause {
            Some(cause) => format!("{}: {cause}", columns.join(", ")),
            None => columns.join(", "),
        };
        ChangedRow { fate: RowState::Edited, id, record, why }
    }));
    let yanked = registry.yanked.get(&release.version).cloned();
    Ok(Since { version: release.version, date: release.date.clone(), rows, yanked, otherwise })
}

/// Columns of both rows that differ. The standing is not compared.
fn differing_columns(row: &JsonRow, today: &JsonRow) -> Vec<String> {
    let is_content = |column: &&String| !column.ends_with("_status") && *column != "standing";
    let columns = row.keys().filter(is_content);
    columns.filter(|column| today.get(*column).is_some_and(|now| *now != row[*column])).cloned().collect()
}

fn row_state(last: Option<&StageEntry>) -> (RowState, String) {
    let Some(last) = last else { return (RowState::Gone, "no dump holds it any longer".into()) };
    let fate = match State::from_code(&last.outcome) {
        Some(State::Dropped) if last.stage.starts_with("review:") => RowState::Rejected,
        Some(State::Held | State::Failed) => RowState::Held,
        Some(State::Merged) => RowState::Merged,
        // It went on but is not a row: an answer it had is being asked for again.
        Some(State::Kept | State::Changed) => {
            return (RowState::Held, "it lacks what every row has: an answer was outdated".into());
        }
        _ => RowState::Gone,
    };
    (fate, describe_passage(last))
}
