//! What is fresh, what is not, and why.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::config::Config;
use crate::recipe::Recipe;
use riddlemill_tables::{Error, FORMAT, Manifest, StageReader, Workspace};

use super::RunError;
use super::evidence::Known;

/// Whether a stage must be made.
#[derive(Clone, Debug)]
pub enum Freshness {
    /// It is what a run would make.
    Fresh(Box<Manifest>),
    /// It was made from something else; each difference in words.
    Stale(Box<Manifest>, Vec<String>),
    /// It was never made, or was deleted.
    Missing,
    /// Its tables are of another layout.
    Layout(u32),
    /// Its files are not whole.
    Damaged(String),
}

impl Freshness {
    /// What is said of a stage of another layout: whether it is `older` or `newer`, and what a run does.
    pub fn of_layout(layout: u32) -> (&'static str, String) {
        let state = if layout < FORMAT { "older" } else { "newer" };
        (state, format!("layout {layout}, a run writes layout {FORMAT}"))
    }
}

/// A step and what a run would do with it.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The step's name.
    pub step: &'static str,
    /// Whether it must be made.
    pub freshness: Freshness,
    /// An earlier step that would be made first, so that this one may or may not stay fresh.
    pub after: Option<&'static str>,
    /// Whether it would be made for replies alone, which may be missing for the same cause again.
    pub asks: bool,
}

impl Planned {
    /// What stands there, fresh or not.
    pub fn manifest(&self) -> Option<&Manifest> {
        match &self.freshness {
            Freshness::Fresh(manifest) | Freshness::Stale(manifest, _) => Some(manifest),
            Freshness::Missing | Freshness::Layout(_) | Freshness::Damaged(_) => None,
        }
    }

    /// Whether a run would make it, whatever came of asking again.
    pub fn is_due(&self) -> bool {
        !self.asks && !matches!(self.freshness, Freshness::Fresh(_))
    }
}

/// What a run of a recipe would do, without doing it.
///
/// # Errors
/// [`RunError::Settings`] where the sources cannot be read.
pub fn plan(config: &Config, recipe: &'static Recipe) -> Result<Vec<Planned>, RunError> {
    plan_of(config, recipe, false)
}

/// [`plan`]; where it is `offline`, replies that nobody may ask for make no stage stale.
pub(super) fn plan_of(
    config: &Config,
    recipe: &'static Recipe,
    offline: bool,
) -> Result<Vec<Planned>, RunError> {
    let workspace = Workspace::new(&config.root);
    let known = Known::new(config, recipe)?;
    // What another recipe has not made yet is told where that recipe stands.
    let mut made = super::foreign(&workspace, recipe).unwrap_or_default();
    let mut unmade: BTreeMap<&'static str, &'static str> = BTreeMap::new();
    let mut planned = Vec::new();
    for (i, step) in recipe.steps.iter().enumerate() {
        let place = workspace.stage(recipe.name, i + 1, step.name);
        let after = step.inputs.iter().find_map(|input| unmade.get(input).copied());
        let opening = known.opening(step, &made)?;
        let freshness = known.freshness(step, &place, &opening, offline)?;
        match &freshness {
            Freshness::Fresh(manifest) | Freshness::Stale(manifest, _) => {
                made.insert(step.name, (**manifest).clone());
            }
            Freshness::Missing | Freshness::Layout(_) | Freshness::Damaged(_) => {}
        }
        if !matches!(freshness, Freshness::Fresh(_)) {
            unmade.insert(step.name, step.name);
        } else if let Some(after) = after {
            unmade.insert(step.name, after);
        }
        let asks = matches!(&freshness, Freshness::Stale(made, _) if made.fingerprint == opening.fingerprint);
        planned.push(Planned { step: step.name, freshness, after, asks });
    }
    Ok(planned)
}

/// Compares what stands in a stage's place with what a run would make.
pub(super) fn freshness(place: &Path, opening: &Manifest) -> Freshness {
    let reader = match StageReader::open(place) {
        Ok(Some(reader)) => reader,
        Ok(None) => return Freshness::Missing,
        Err(Error::Layout { layout, .. }) => return Freshness::Layout(layout),
        Err(e) => return Freshness::Damaged(e.to_string()),
    };
    if let Err(e) = reader.complete() {
        return Freshness::Damaged(e.to_string());
    }
    let manifest = Box::new(reader.manifest().clone());
    if manifest.fingerprint == opening.fingerprint {
        return Freshness::Fresh(manifest);
    }
    let why = differences(&manifest, opening);
    Freshness::Stale(manifest, why)
}

/// What changed since a stage was made, each in words: `threshold 0.80 -> 0.85`.
pub fn differences(old: &Manifest, new: &Manifest) -> Vec<String> {
    let mut why = Vec::new();
    if old.stage_version != new.stage_version {
        why.push(format!("its code {} -> {}", old.stage_version, new.stage_version));
    }
    let none = Value::Null;
    for key in keys(&old.settings, &new.settings) {
        let (before, now) = (old.settings.get(key).unwrap_or(&none), new.settings.get(key).unwrap_or(&none));
        if before != now {
            why.push(format!("{key} {before} -> {now}"));
        }
    }
    for input in &new.inputs {
        let before = old.inputs.iter().find(|i| i.stage == input.stage);
        if before != Some(input) {
            why.push(format!("input {} changed", input.stage));
        }
    }
    for key in keys(&old.evidence, &new.evidence) {
        match (old.evidence.get(key), new.evidence.get(key)) {
            (Some(_), None) if key == "decisions" => why.push("decisions were taken back".into()),
            (None, Some(now)) if key == "decisions" || key == "withdrawn" => why.push(change(key, "0", now)),
            (Some(_), None) => why.push(format!("{key} is gone")),
            (None, Some(_)) => why.push(format!("{key} is new")),
            (Some(before), Some(now)) if before != now => why.push(change(key, before, now)),
            _ => {}
        }
    }
    if why.is_empty() {
        why.push("made by another layout".into());
    }
    why
}

/// Votes and replies are counted: `12 new votes`.
fn change(key: &str, before: &str, now: &str) -> String {
    let count = |value: &str| value.split(' ').next().and_then(|n| n.parse::<u64>().ok());
    match (key, count(before), count(now)) {
        ("votes" | "replies" | "decisions" | "withdrawn", Some(before), Some(now)) if now > before => {
            let (one, several) = match key {
                "votes" => ("vote", key),
                "decisions" => ("decision", key),
                "withdrawn" => ("withdrawal", "withdrawals"),
                _ => ("reply", key),
            };
            format!("{} new {}", now - before, if now - before == 1 { one } else { several })
        }
        _ => format!("{key} changed"),
    }
}

fn keys<'a, V>(
    old: &'a BTreeMap<String, V>,
    new: &'a BTreeMap<String, V>,
) -> std::collections::BTreeSet<&'a String> {
    old.keys().chain(new.keys()).collect()
}

#[cfg(test)]
mod tests {
    use super::change;

    #[test]
    fn new_votes_and_replies_are_counted() {
        assert_eq!(change("votes", "3 aa", "15 bb"), "12 new votes");
        assert_eq!(change("replies", "3 aa", "4 bb"), "1 new reply");
        assert_eq!(change("decisions", "0", "1 bb"), "1 new decision");
        assert_eq!(change("votes", "3 aa", "3 bb"), "votes changed");
        assert_eq!(change("withdrawn", "0", "1 bb"), "1 new withdrawal");
        assert_eq!(change("prompt x", "3 aa", "4 bb"), "prompt x changed");
    }
}
