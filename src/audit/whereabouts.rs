//! Where many records ended: whether they are in, out or waiting.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::recipe::Recipe;
use crate::record::{Entry, Link, State};
use crate::stages::import::Recalled;
use crate::store::{Error, Filter, StageReader, Workspace, select};

/// How a record's path through a recipe ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Ending {
    /// It is in the output of the recipe's last stage.
    In,
    /// A stage dropped it.
    Out,
    /// It waits for a person, a reply, or a stage that has not been run.
    Waiting,
}

impl Ending {
    /// Its name.
    pub fn word(self) -> &'static str {
        match self {
            Ending::In => "in",
            Ending::Out => "out",
            Ending::Waiting => "waiting",
        }
    }

    /// The ending of a record that left its last stage in this state.
    pub(super) fn from_state(state: &str) -> Ending {
        if state == State::Held.code() { Ending::Waiting } else { Ending::Out }
    }
}

/// Where a record of a dump ended in one recipe.
#[derive(Clone, Debug, Serialize)]
pub struct Whereabouts {
    pub recipe: &'static str,
    /// The record's id in the recipe, or its place in the dump if import set it aside.
    pub id: String,
    /// How it ended.
    pub ending: Ending,
    /// The stage at which it ended, or the next one that has not been run.
    pub stage: String,
    /// Its outcome there; null if it is in, or the stage has not been run.
    pub outcome: Option<String>,
    pub reason: Option<String>,
    /// What it was merged into.
    pub into: Option<String>,
}

/// Where each of these records ended; `None` if the recipe has not read it.
///
/// # Errors
/// [`Error`] if a stage cannot be read.
pub fn whereabouts(
    workspace: &Workspace,
    recipe: &'static Recipe,
    records: &[Recalled],
) -> Result<Vec<Option<Whereabouts>>, Error> {
    let stages = stages(workspace, recipe)?;
    let mut found: Vec<Option<Whereabouts>> = records.iter().map(|_| None).collect();
    let Some(first) = stages.first().filter(|_| !records.is_empty()) else { return Ok(found) };

    // The current ids of kept records.
    let mut alive: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
    let page = |record: &Recalled| record.locator.split_once('#').map(|(page, _)| page.to_string());
    let mut names: BTreeSet<String> = BTreeSet::new();
    for record in records {
        names.extend(
            page(record).into_iter().chain([record.locator.clone()]).chain(record.ids.iter().cloned()),
        );
    }
    let entries = by_id(first, &names)?;
    for (at, record) in records.iter().enumerate() {
        // The ledger of import has either the post's own place or only that of its page.
        let page = page(record).filter(|_| !entries.contains_key(&record.locator));
        let known = [Some(&record.locator), page.as_ref()].into_iter().flatten().chain(&record.ids);
        let Some(entry) = known.filter_map(|name| entries.get(name)).next() else { continue };
        let own = entry.into.clone().or_else(|| record.ids.first().cloned());
        let name = own.clone().unwrap_or_else(|| record.locator.clone());
        let here = |id: String| departed(recipe, first, id, entry);
        match State::from_code(&entry.outcome) {
            // A record read twice continues as the first one.
            Some(State::Kept | State::Changed | State::Expanded | State::Merged) => {
                found[at] = Some(here(name.clone()));
                let posts = match entry.outcome == State::Expanded.code() && page.is_none() {
                    true => children(first, &entry.id)?,
                    false => own.into_iter().chain(record.ids.iter().cloned()).collect(),
                };
                alive.insert(at, posts);
            }
            _ => found[at] = Some(here(entry.id.clone())),
        }
    }
    for stage in &stages[1..] {
        let names: BTreeSet<String> = alive.values().flatten().cloned().collect();
        if names.is_empty() {
            break;
        }
        let entries = by_id(stage, &names)?;
        for (at, names) in std::mem::take(&mut alive) {
            let mut next = BTreeSet::new();
            for entry in names.iter().filter_map(|name| entries.get(name)) {
                match State::from_code(&entry.outcome) {
                    Some(State::Kept | State::Changed) => {
                        next.insert(entry.into.clone().unwrap_or_else(|| entry.id.clone()));
                    }
                    Some(State::Expanded) => next.extend(children(stage, &entry.id)?),
                    Some(State::Joined) => next.extend(entry.into.clone()),
                    _ => {
                        // The id by which it was found; `entry` may be one of several records made from it.
                        let id =
                            found[at].as_ref().map_or_else(|| entry.id.clone(), |known| known.id.clone());
                        found[at] = Some(departed(recipe, stage, id, entry));
                    }
                }
            }
            // Of several records made from one, some may be kept and others not.
            if !next.is_empty() {
                alive.insert(at, next);
            }
        }
    }
    let next = recipe.steps_made(workspace)?.get(stages.len()).map(|step| step.name);
    for at in alive.into_keys() {
        if let Some(known) = &mut found[at] {
            known.ending = if next.is_some() { Ending::Waiting } else { Ending::In };
            known.stage =
                next.or(recipe.steps().last().map(|step| step.name)).unwrap_or_default().to_string();
            (known.outcome, known.reason, known.into) = (None, None, None);
        }
    }
    Ok(found)
}

fn departed(recipe: &'static Recipe, stage: &StageReader, id: String, entry: &Entry) -> Whereabouts {
    Whereabouts {
        recipe: recipe.name,
        id,
        ending: Ending::from_state(&entry.outcome),
        stage: stage.manifest().stage.clone(),
        outcome: Some(entry.outcome.clone()),
        reason: entry.reason.clone(),
        into: entry.into.clone(),
    }
}

fn by_id(stage: &StageReader, names: &BTreeSet<String>) -> Result<BTreeMap<String, Entry>, Error> {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let found = entries(stage, &names, &[])?;
    Ok(found.into_iter().map(|entry| (entry.id.clone(), entry)).collect())
}

fn children(stage: &StageReader, parent: &str) -> Result<BTreeSet<String>, Error> {
    let links = select::<Link>(stage, "links", &Filter::equals("parent", parent))?;
    Ok(links.into_iter().map(|link| link.child).collect())
}

/// The entries of these ids, and those of records that became or were merged into one of `into`, in the
/// ledger's order.
pub(super) fn entries(stage: &StageReader, ids: &[&str], into: &[&str]) -> Result<Vec<Entry>, Error> {
    let named = |column, names: &[&str]| Filter::any_of(column, names.iter().copied());
    select::<Entry>(stage, "ledger", &named("id", ids).or(named("into", into)))
}

/// The existing stages, in order, up to the first missing one.
pub(super) fn stages(workspace: &Workspace, recipe: &'static Recipe) -> Result<Vec<StageReader>, Error> {
    let mut stages = Vec::new();
    for step in recipe.steps_made(workspace)? {
        match StageReader::open(&workspace.stage(recipe.name, step.number, step.name))? {
            Some(stage) => stages.push(stage),
            None => break,
        }
    }
    Ok(stages)
}
