//! Compares stages with what would be made now, and describes the changes.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use serde::Serialize;
use serde_json::Value;

use riddlemill_tables::{Error, FORMAT, Manifest, StageReader};

/// Whether a stage must be made.
#[derive(Clone, Debug)]
pub enum Freshness {
    /// It equals what a run would make.
    Fresh(Box<Manifest>),
    /// It was made from other inputs.
    Stale(Box<Manifest>, Vec<Change>),
    /// It was never made, or was deleted.
    Missing,
    /// Its tables are of another layout.
    Layout(u32),
    /// Its files are damaged.
    Damaged(String),
}

impl Freshness {
    /// Describes a stage of another layout: whether it is `older` or `newer`, and what a run does.
    pub fn of_layout(layout: u32) -> (&'static str, String) {
        let state = if layout < FORMAT { "older" } else { "newer" };
        (state, format!("layout {layout}, a run writes layout {FORMAT}"))
    }
}

/// One reason why a stage is stale.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Change {
    /// The program's code changed.
    Code {
        /// The version that made it.
        before: u32,
        /// The version of today.
        now: u32,
    },
    Setting {
        key: String,
        /// The value before, as JSON.
        before: String,
        /// The value now, as JSON.
        now: String,
    },
    /// The rows of a stage before it changed.
    Input {
        /// That stage.
        stage: String,
    },
    /// There are new votes, replies, decisions or withdrawals.
    New {
        /// The kind: `votes`, `replies`, `decisions`, `withdrawn`.
        key: String,
        /// How many.
        count: u64,
    },
    /// Something it used has changed.
    Otherwise {
        /// What.
        key: String,
    },
    /// Something it used is missing.
    Gone {
        /// What.
        key: String,
    },
    /// It would use something new.
    Added {
        /// What.
        key: String,
    },
    /// Replies or embeddings are missing and may be asked for.
    Missing {
        /// The kind: `replies`, `embeddings`.
        key: String,
        /// How many.
        count: u64,
    },
    /// Its tables are of another layout.
    Layout,
}

/// `12 new votes`, `threshold 0.80 -> 0.85`.
impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Change::Code { before, now } => write!(f, "its code {before} -> {now}"),
            Change::Setting { key, before, now } => write!(f, "{key} {before} -> {now}"),
            Change::Input { stage } => write!(f, "input {stage} changed"),
            Change::New { key, count } => {
                let (one, several) = match key.as_str() {
                    "votes" => ("vote", "votes"),
                    "decisions" => ("decision", "decisions"),
                    "withdrawn" => ("withdrawal", "withdrawals"),
                    _ => ("reply", "replies"),
                };
                write!(f, "{count} new {}", if *count == 1 { one } else { several })
            }
            Change::Otherwise { key } => write!(f, "{key} changed"),
            Change::Gone { key } if key == "decisions" => write!(f, "decisions were taken back"),
            Change::Gone { key } => write!(f, "{key} is gone"),
            Change::Added { key } => write!(f, "{key} is new"),
            Change::Missing { key, count: 1 } if key == "replies" => write!(f, "1 reply is missing"),
            Change::Missing { key, count } => write!(f, "{count} {key} are missing"),
            Change::Layout => write!(f, "made by another layout"),
        }
    }
}

/// All changes, as text.
pub fn describe_changes(why: &[Change]) -> String {
    why.iter().map(Change::to_string).collect::<Vec<_>>().join("; ")
}

/// Compares an existing stage with what a run would make.
pub(super) fn freshness_of_stage(folder: &Path, expected: &Manifest) -> Freshness {
    let reader = match StageReader::open(folder) {
        Ok(Some(reader)) => reader,
        Ok(None) => match riddlemill_files::find_file_in_the_way(folder) {
            // A run could not put the stage there.
            Some(what) => return Freshness::Damaged(format!("{what}; move it elsewhere")),
            None => return Freshness::Missing,
        },
        Err(Error::Layout { layout, .. }) => return Freshness::Layout(layout),
        Err(e) => return Freshness::Damaged(e.to_string()),
    };
    if let Err(e) = reader.verify_lengths() {
        return Freshness::Damaged(e.to_string());
    }
    let manifest = Box::new(reader.manifest().clone());
    if manifest.fingerprint == expected.fingerprint {
        return Freshness::Fresh(manifest);
    }
    let why = list_changes(&manifest, expected);
    Freshness::Stale(manifest, why)
}

/// The changes since a stage was made.
pub fn list_changes(old: &Manifest, new: &Manifest) -> Vec<Change> {
    let mut why = Vec::new();
    if old.stage_version != new.stage_version {
        why.push(Change::Code { before: old.stage_version, now: new.stage_version });
    }
    let none = Value::Null;
    for key in keys_of_both(&old.settings, &new.settings) {
        let (before, now) = (old.settings.get(key).unwrap_or(&none), new.settings.get(key).unwrap_or(&none));
        if before != now {
            let (before, now) = (before.to_string(), now.to_string());
            why.push(Change::Setting { key: key.clone(), before, now });
        }
    }
    for input in &new.inputs {
        let before = old.inputs.iter().find(|i| i.stage == input.stage);
        if before != Some(input) {
            why.push(Change::Input { stage: input.stage.clone() });
        }
    }
    for key in keys_of_both(&old.evidence, &new.evidence) {
        match (old.evidence.get(key), new.evidence.get(key)) {
            // The evidence has no such key before the first decision or withdrawal, so they count from 0.
            (None, Some(now)) if key == "decisions" || key == "withdrawn" => {
                why.push(change_of_entry(key, "0", now))
            }
            (Some(_), None) => why.push(Change::Gone { key: key.clone() }),
            (None, Some(_)) => why.push(Change::Added { key: key.clone() }),
            (Some(before), Some(now)) if before != now => why.push(change_of_entry(key, before, now)),
            _ => {}
        }
    }
    if why.is_empty() {
        why.push(Change::Layout);
    }
    why
}

/// Votes and replies are only counted.
fn change_of_entry(key: &str, before: &str, now: &str) -> Change {
    let count = |value: &str| value.split(' ').next().and_then(|n| n.parse::<u64>().ok());
    match (key, count(before), count(now)) {
        ("votes" | "replies" | "decisions" | "withdrawn", Some(before), Some(now)) if now > before => {
            Change::New { key: key.to_owned(), count: now - before }
        }
        _ => Change::Otherwise { key: key.to_owned() },
    }
}

fn keys_of_both<'a, V>(
    old: &'a BTreeMap<String, V>,
    new: &'a BTreeMap<String, V>,
) -> std::collections::BTreeSet<&'a String> {
    old.keys().chain(new.keys()).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn new_votes_and_replies_are_counted() {
        let change =
            |key: &str, before: &str, now: &str| super::change_of_entry(key, before, now).to_string();
        assert_eq!(change("votes", "3 aa", "15 bb"), "12 new votes");
        assert_eq!(change("replies", "3 aa", "4 bb"), "1 new reply");
        assert_eq!(change("decisions", "0", "1 bb"), "1 new decision");
        assert_eq!(change("votes", "3 aa", "3 bb"), "votes changed");
        assert_eq!(change("withdrawn", "0", "1 bb"), "1 new withdrawal");
        assert_eq!(change("prompt x", "3 aa", "4 bb"), "prompt x changed");
    }
}
