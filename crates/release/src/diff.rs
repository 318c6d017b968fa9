//! `diff`: the differences between two folders, row by row and field by field, with the decision that caused
//! each, if ledgers and manifests show it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rustc_hash::FxHashMap;
use serde::Serialize;
use serde_json::Value as Json;

use super::layout;
use super::manifest::{CandidateManifest, LeftOut};
use super::read_rows::{JsonRow, of_folder};
use crate::pipeline::Withheld;
use crate::store::Error;

/// What differs between two folders.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Diff {
    /// The configs or stages that were compared.
    pub configs: Vec<ConfigDiff>,
    /// Items that the rows before lacked because they waited or failed.
    pub left_out_before: Vec<LeftOut>,
    /// Items that the rows after lack.
    pub left_out: Vec<LeftOut>,
}

/// What differs in one config.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ConfigDiff {
    /// Its name.
    pub config: String,
    /// Rows before and after.
    pub rows: (u64, u64),
    /// Added columns.
    pub columns_added: Vec<String>,
    /// Removed columns.
    pub columns_removed: Vec<String>,
    /// Added rows.
    pub added: Vec<OneSidedRow>,
    /// Removed rows.
    pub removed: Vec<OneSidedRow>,
    /// Rows with other values.
    pub changed: Vec<Changed>,
    /// Whether rows on both sides are in another order.
    pub moved: bool,
    /// How labels changed, by column.
    pub labels: BTreeMap<String, Moves>,
}

/// How often a label changed from one value to another, in rows on both sides. Values without any change are
/// left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Moves {
    /// The values, sorted.
    pub values: Vec<String>,
    /// Rows by value before, then by value after.
    pub counts: Vec<Vec<u64>>,
}

/// A row on one side only.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct OneSidedRow {
    pub id: String,
    /// Its text, or the value of its second column.
    pub text: String,
    /// The stage and reason that added or removed it, if known.
    pub cause: Option<String>,
}

/// A row on both sides with other values.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Changed {
    pub id: String,
    /// The fields that differ.
    pub fields: Vec<ChangedField>,
}

/// A value that differs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChangedField {
    pub column: String,
    /// The value before.
    pub before: Json,
    /// The value after.
    pub after: Json,
    /// The decision that caused it, if known.
    pub cause: Option<String>,
}

/// What a cause is asked for; records are named as in `explain`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CauseOf<'a> {
    /// Why this record was added.
    Added(&'a str),
    /// Why it was removed.
    Removed(&'a str),
    /// Why this column of it changed.
    Changed(&'a str, &'a str),
}

/// Returns the cause of a difference.
pub type Cause<'a> = &'a dyn Fn(CauseOf<'_>) -> Option<String>;

/// Compares two folders: releases, candidates or stages.
///
/// Texts of withdrawn rows are not shown.
///
/// # Errors
/// [`Error`] if a folder cannot be read.
pub fn diff_folders(
    before: &Path,
    after: &Path,
    withheld: Option<&Withheld>,
    cause: Cause<'_>,
) -> Result<Diff, Error> {
    let (mut old, mut new) = (of_folder(before)?, of_folder(after)?);
    for (_, rows) in old.iter_mut().chain(&mut new) {
        let withdrawn =
            withheld.map(|withheld| withheld.withdrawn_rows(rows)).transpose()?.unwrap_or_default();
        rows.iter_mut().zip(withdrawn).filter(|(_, gone)| *gone).for_each(|(row, _)| hide_row_texts(row));
    }
    let mut configs = Vec::new();
    let alone = old.len() == 1 && new.len() == 1;
    for (config, rows) in old {
        // A single stage or config is compared with the other side's whatever their names.
        let place = new.iter().position(|(name, _)| *name == config || alone);
        let (name, other) = place.map(|i| new.remove(i)).unwrap_or((config, Vec::new()));
        configs.push(of_rows(name, &rows, &other, cause));
    }
    configs.extend(new.into_iter().map(|(config, rows)| of_rows(config, &[], &rows, cause)));
    let left_out = |folder: &Path| -> Result<Vec<LeftOut>, Error> {
        Ok(CandidateManifest::read_manifest(folder)?.map(|found| found.left_out).unwrap_or_default())
    };
    Ok(Diff { configs, left_out_before: left_out(before)?, left_out: left_out(after)? })
}

/// Stands for a withdrawn text.
pub const WITHDRAWN: &str = "(withdrawn)";

/// Removes the texts of a withdrawn row; its names stay.
fn hide_row_texts(row: &mut JsonRow) {
    let first = row.keys().next().cloned();
    for (column, value) in row.iter_mut() {
        if ["id", "source_id"].contains(&column.as_str()) || Some(column) == first.as_ref() {
            continue;
        }
        *value = match value {
            Json::String(_) => WITHDRAWN.into(),
            Json::Array(_) | Json::Object(_) => Json::Null,
            _ => continue,
        };
    }
}

fn id_of_row(row: &JsonRow) -> &str {
    row.get("id").or_else(|| row.values().next()).and_then(Json::as_str).unwrap_or_default()
}

/// The record from which a row was made.
fn record_of_row(row: &JsonRow) -> &str {
    row.get("source_id")
        .and_then(Json::as_str)
        .filter(|source| !source.is_empty())
        .unwrap_or_else(|| id_of_row(row))
}

/// Compares two lists of rows by their ids.
pub fn of_rows(config: String, old: &[JsonRow], new: &[JsonRow], cause: Cause<'_>) -> ConfigDiff {
    let places: FxHashMap<&str, usize> = old.iter().enumerate().map(|(i, row)| (id_of_row(row), i)).collect();
    let here: FxHashMap<&str, usize> = new.iter().enumerate().map(|(i, row)| (id_of_row(row), i)).collect();
    let columns = |rows: &[JsonRow]| rows.first().map(|row| row.keys().cloned().collect::<BTreeSet<_>>());
    let (was, is) = (columns(old).unwrap_or_default(), columns(new).unwrap_or_default());
    // The columns of a side without rows are unknown.
    let both = !old.is_empty() && !new.is_empty();
    let mut diff = ConfigDiff {
        rows: (old.len() as u64, new.len() as u64),
        columns_added: is.difference(&was).filter(|_| both).cloned().collect(),
        columns_removed: was.difference(&is).filter(|_| both).cloned().collect(),
        ..ConfigDiff::default()
    };
    let mut last = None;
    let mut kept: Vec<(&JsonRow, &JsonRow)> = Vec::new();
    for row in new {
        let Some(&place) = places.get(id_of_row(row)) else {
            diff.added.push(side_of_row(&config, row, cause(CauseOf::Added(record_of_row(row)))));
            continue;
        };
        diff.moved |= last.is_some_and(|last| place < last);
        last = Some(place);
        kept.push((&old[place], row));
        let otherwise = was.intersection(&is).filter(|key| old[place][key.as_str()] != row[key.as_str()]);
        let fields: Vec<ChangedField> = otherwise
            .map(|key| ChangedField {
                column: key.clone(),
                before: old[place][key.as_str()].clone(),
                after: row[key.as_str()].clone(),
                cause: cause(CauseOf::Changed(record_of_row(row), key)),
            })
            .collect();
        if !fields.is_empty() {
            diff.changed.push(Changed { id: id_of_row(row).into(), fields });
        }
    }
    let removed = old.iter().filter(|row| !here.contains_key(id_of_row(row)));
    diff.removed =
        removed.map(|row| side_of_row(&config, row, cause(CauseOf::Removed(record_of_row(row))))).collect();
    for label in labels_of(&config).into_iter().filter(|l| was.contains(*l) && is.contains(*l)) {
        let moves = Moves::count_moves(
            kept.iter().map(|(before, after)| (as_text(&before[label]), as_text(&after[label]))),
        );
        diff.labels.extend(moves.map(|moves| (label.to_string(), moves)));
    }
    diff.config = config;
    diff
}

impl Moves {
    /// The matrix of pairs before and after; `None` without changes.
    fn count_moves(pairs: impl Iterator<Item = (String, String)>) -> Option<Moves> {
        let mut counts: BTreeMap<(String, String), u64> = BTreeMap::new();
        pairs.for_each(|pair| *counts.entry(pair).or_default() += 1);
        let moved: BTreeSet<&String> =
            counts.keys().filter(|(before, after)| before != after).flat_map(|(a, b)| [a, b]).collect();
        let values: Vec<String> = moved.into_iter().cloned().collect();
        let count = |before: &String, after: &String| {
            counts.get(&(before.clone(), after.clone())).copied().unwrap_or_default()
        };
        let row = |before: &String| values.iter().map(|after| count(before, after)).collect();
        let counts = values.iter().map(row).collect();
        (!values.is_empty()).then_some(Moves { values, counts })
    }
}

fn labels_of(config: &str) -> Vec<&'static str> {
    layout::find_layout(config).map_or_else(|| vec!["kind"], |layout| layout.labels.to_vec())
}

fn side_of_row(config: &str, row: &JsonRow, cause: Option<String>) -> OneSidedRow {
    let text = layout::text_of(config, row).or_else(|| row.values().nth(1)).map(as_text).unwrap_or_default();
    OneSidedRow { id: id_of_row(row).into(), text, cause }
}

/// A value for people: a text without quotes, the items of a list separated by commas.
pub(super) fn as_text(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        Json::Array(list) => list.iter().map(as_text).collect::<Vec<_>>().join(" | "),
        other => other.to_string(),
    }
}

impl Diff {
    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        self.configs.iter().all(|c| {
            c.added.is_empty()
                && c.removed.is_empty()
                && c.changed.is_empty()
                && !c.moved
                && c.columns_added.is_empty()
                && c.columns_removed.is_empty()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(rows: &[(&str, &str, &str)]) -> Vec<JsonRow> {
        let row = |(id, text, kind): &(&str, &str, &str)| {
            serde_json::json!({ "id": id, "text": text, "kind": kind }).as_object().cloned().unwrap()
        };
        rows.iter().map(row).collect()
    }

    #[test]
    fn every_edit_is_counted_once() {
        let old =
            rows(&[("a", "1", "plain"), ("b", "2", "plain"), ("c", "3", "thread"), ("e", "5", "plain")]);
        let new = rows(&[("a", "1", "plain"), ("c", "x", "plain"), ("d", "4", "plain"), ("e", "5", "plain")]);
        let diff = of_rows("flub-posts".into(), &old, &new, &|asked| match asked {
            CauseOf::Removed("b") => Some("dedup merged near_duplicate".into()),
            CauseOf::Changed("c", "text") => Some("clean changed".into()),
            _ => None,
        });
        assert_eq!(diff.added.iter().map(|s| s.id.as_str()).collect::<Vec<_>>(), ["d"]);
        assert_eq!(diff.removed[0].cause.as_deref(), Some("dedup merged near_duplicate"));
        let fields: Vec<_> =
            diff.changed[0].fields.iter().map(|f| (&f.column[..], f.cause.as_deref())).collect();
        assert_eq!(fields, [("kind", None), ("text", Some("clean changed"))]);
        let moves =
            Moves { values: vec!["plain".into(), "thread".into()], counts: vec![vec![2, 0], vec![1, 0]] };
        assert_eq!(diff.labels["kind"], moves);
        assert!(!diff.moved);
        let diff = Diff { configs: vec![diff], ..Diff::default() };
        for text in [diff.render_text(), diff.render_html().unwrap()] {
            for expected in ["near_duplicate", "clean changed", "thread", "flub-posts"] {
                assert!(text.contains(expected), "{expected}: {text}");
            }
        }
        assert!(
            Diff { configs: vec![of_rows("x".into(), &old, &old, &|_| None)], ..Diff::default() }.is_empty()
        );
    }

    #[test]
    fn a_row_is_asked_for_by_its_record() {
        let row = serde_json::json!({ "id": "RB-7", "source_id": "tieba:7", "text": "1" });
        let row = [row.as_object().cloned().unwrap()];
        let diff = of_rows("x".into(), &[], &row, &|asked| Some(format!("{asked:?}")));
        assert_eq!(diff.added[0].cause.as_deref(), Some("Added(\"tieba:7\")"));
    }
}
