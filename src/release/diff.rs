//! `diff`: what is otherwise in one folder than in another, row by row and field by field, with the
//! decision that caused it where the ledgers know it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

use rustc_hash::FxHashMap;
use serde::Serialize;
use serde_json::Value as Json;

use super::layout;
use super::rows_of::{JsonRow, of_folder};
use crate::store::Error;

/// What differs between two folders.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Diff {
    /// The configs, or stages, that were compared.
    pub configs: Vec<ConfigDiff>,
}

/// What differs in one config.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ConfigDiff {
    /// Its name.
    pub config: String,
    /// Rows before and after.
    pub rows: (u64, u64),
    /// Columns that are new.
    pub columns_added: Vec<String>,
    /// Columns that are gone.
    pub columns_removed: Vec<String>,
    /// Rows that are new.
    pub added: Vec<Side>,
    /// Rows that are gone.
    pub removed: Vec<Side>,
    /// Rows that say something else.
    pub changed: Vec<Changed>,
    /// Rows that stayed stand in another order.
    pub moved: bool,
    /// How often a label went from one value to another, by column: before, after, count.
    pub labels: BTreeMap<String, Vec<(String, String, u64)>>,
}

/// A row on one side only.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Side {
    /// Its id.
    pub id: String,
    /// Its text, or whatever its second column holds.
    pub text: String,
    /// The stage and reason that let it in or out, where they are known.
    pub cause: Option<String>,
}

/// A row on both sides with other values.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Changed {
    /// Its id.
    pub id: String,
    /// Column, before, after.
    pub fields: Vec<(String, Json, Json)>,
}

/// Compares two folders: releases, candidates or stages. `cause` is asked why a row is out of the side
/// that lacks it.
///
/// # Errors
/// [`Error`] where a folder cannot be read.
pub fn diff(before: &Path, after: &Path, cause: &dyn Fn(&str) -> Option<String>) -> Result<Diff, Error> {
    let (old, mut new) = (of_folder(before)?, of_folder(after)?);
    let mut configs = Vec::new();
    let alone = old.len() == 1 && new.len() == 1;
    for (config, rows) in old {
        // Two stages, or a stage and a candidate, are compared whatever they are called.
        let place = new.iter().position(|(name, _)| *name == config || alone);
        let (name, other) = place.map(|i| new.remove(i)).unwrap_or((config, Vec::new()));
        configs.push(of_rows(name, &rows, &other, cause));
    }
    configs.extend(new.into_iter().map(|(config, rows)| of_rows(config, &[], &rows, cause)));
    Ok(Diff { configs })
}

fn id(row: &JsonRow) -> &str {
    row.get("id").or_else(|| row.values().next()).and_then(Json::as_str).unwrap_or_default()
}

/// Compares two lists of rows by their ids.
pub fn of_rows(
    config: String,
    old: &[JsonRow],
    new: &[JsonRow],
    cause: &dyn Fn(&str) -> Option<String>,
) -> ConfigDiff {
    let places: FxHashMap<&str, usize> = old.iter().enumerate().map(|(i, row)| (id(row), i)).collect();
    let here: FxHashMap<&str, usize> = new.iter().enumerate().map(|(i, row)| (id(row), i)).collect();
    let columns = |rows: &[JsonRow]| rows.first().map(|row| row.keys().cloned().collect::<BTreeSet<_>>());
    let (was, is) = (columns(old).unwrap_or_default(), columns(new).unwrap_or_default());
    let both = !old.is_empty() && !new.is_empty();
    let mut diff = ConfigDiff {
        rows: (old.len() as u64, new.len() as u64),
        columns_added: is.difference(&was).filter(|_| both).cloned().collect(),
        columns_removed: was.difference(&is).filter(|_| both).cloned().collect(),
        ..ConfigDiff::default()
    };
    let labels = labels_of(&config);
    let mut moves: BTreeMap<(String, String, String), u64> = BTreeMap::new();
    let mut last = None;
    for row in new {
        let Some(&place) = places.get(id(row)) else {
            diff.added.push(side(row, cause));
            continue;
        };
        diff.moved |= last.is_some_and(|last| place < last);
        last = Some(place);
        let mut fields = Vec::new();
        for key in was.intersection(&is) {
            let (before, after) = (&old[place][key.as_str()], &row[key.as_str()]);
            if before != after {
                fields.push((key.clone(), before.clone(), after.clone()));
                if labels.contains(&key.as_str()) {
                    *moves.entry((key.clone(), words(before), words(after))).or_default() += 1;
                }
            }
        }
        if !fields.is_empty() {
            diff.changed.push(Changed { id: id(row).into(), fields });
        }
    }
    diff.removed = old.iter().filter(|row| !here.contains_key(id(row))).map(|row| side(row, cause)).collect();
    for ((column, before, after), n) in moves {
        diff.labels.entry(column).or_default().push((before, after, n));
    }
    diff.config = config;
    diff
}

fn labels_of(config: &str) -> Vec<&'static str> {
    layout::find(config).map_or_else(|| vec!["kind"], |layout| layout.labels.to_vec())
}

fn side(row: &JsonRow, cause: &dyn Fn(&str) -> Option<String>) -> Side {
    let text = row.get("text").or_else(|| row.values().nth(1)).map(words).unwrap_or_default();
    Side { id: id(row).into(), text, cause: cause(id(row)) }
}

fn words(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
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

    /// The differences for a terminal.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for config in &self.configs {
            // Writing into a string cannot fail.
            let _ = writeln!(
                out,
                "{}: {} rows, {} before; {} added, {} removed, {} changed{}",
                config.config,
                config.rows.1,
                config.rows.0,
                config.added.len(),
                config.removed.len(),
                config.changed.len(),
                if config.moved { ", order changed" } else { "" },
            );
            for (sign, columns) in [("+", &config.columns_added), ("-", &config.columns_removed)] {
                for column in columns {
                    let _ = writeln!(out, "  {sign} column {column}");
                }
            }
            for (sign, sides) in [("+", &config.added), ("-", &config.removed)] {
                for side in sides {
                    let cause = side.cause.as_deref().map(|c| format!("  ({c})")).unwrap_or_default();
                    let _ = writeln!(out, "  {sign} {}  {}{cause}", side.id, side.text.replace('\n', " "));
                }
            }
            for changed in &config.changed {
                for (column, before, after) in &changed.fields {
                    let _ =
                        writeln!(out, "  ~ {} {column}: {} -> {}", changed.id, words(before), words(after));
                }
            }
            for (column, moves) in &config.labels {
                for (before, after, n) in moves {
                    let _ = writeln!(out, "  {column}: {before} -> {after} in {n}");
                }
            }
        }
        out
    }
}

impl Diff {
    /// The differences as a page of its own.
    pub fn html(&self) -> String {
        let escaped: String = self
            .text()
            .chars()
            .map(|c| match c {
                '&' => "&amp;".into(),
                '<' => "&lt;".into(),
                '>' => "&gt;".into(),
                c => c.to_string(),
            })
            .collect();
        let mark = |line: &str| match line.trim_start().chars().next() {
            Some('+') => format!("<ins>{line}</ins>\n"),
            Some('-') => format!("<del>{line}</del>\n"),
            _ => format!("{line}\n"),
        };
        let body: String = escaped.lines().map(mark).collect();
        format!(
            "<!doctype html>\n<meta charset=\"utf-8\">\n<title>diff</title>\n\
             <style>ins{{background:#e3f4e3;text-decoration:none}}del{{background:#f8e2e2;text-decoration:none}}\
             pre{{white-space:pre-wrap}}</style>\n<pre>\n{body}</pre>\n"
        )
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
    fn every_edit_is_told_once() {
        let old = rows(&[("a", "1", "plain"), ("b", "2", "plain"), ("c", "3", "thread")]);
        let new = rows(&[("a", "1", "plain"), ("c", "x", "plain"), ("d", "4", "plain")]);
        let diff = of_rows("flub-posts".into(), &old, &new, &|id| {
            (id == "b").then(|| "dedup near_duplicate".into())
        });
        assert_eq!(diff.added.iter().map(|s| s.id.as_str()).collect::<Vec<_>>(), ["d"]);
        assert_eq!(diff.removed[0].cause.as_deref(), Some("dedup near_duplicate"));
        assert_eq!(diff.changed[0].fields.iter().map(|f| f.0.as_str()).collect::<Vec<_>>(), ["kind", "text"]);
        assert_eq!(diff.labels["kind"], [("thread".to_string(), "plain".to_string(), 1)]);
        assert!(!diff.moved);
        assert!(Diff { configs: vec![of_rows("x".into(), &old, &old, &|_| None)] }.is_empty());
    }
}
