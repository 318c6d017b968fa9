//! Where many records ended: whether they are in, out or waiting.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::recipe::Recipe;
use crate::record::{Entry, Link, Reason, State};
use crate::stages::import::DumpRecord;
use crate::store::{Error, Filter, InputRef, StageReader, Workspace, select_rows};

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
pub struct RecordEnding {
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
    /// Whether the stage that it waits for was made before the record was there.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub outdated: bool,
}

impl RecordEnding {
    /// It waits for this stage.
    fn mark_waiting(&mut self, stage: &str) {
        self.ending = Ending::Waiting;
        self.stage = stage.to_owned();
        (self.outcome, self.reason, self.into) = (None, None, None);
    }
}

/// Which of a recipe's stages were made from other rows than the stages before them hold now.
pub(super) fn find_outdated(recipe: &Recipe, stages: &[StageReader]) -> Vec<bool> {
    let mut outdated: Vec<bool> = Vec::new();
    for (at, stage) in stages.iter().enumerate() {
        let is_other = |input: &InputRef| {
            let before = stages[..at].iter().position(|before| before.manifest().stage == input.stage);
            let before = before.filter(|_| input.recipe == recipe.name);
            before.is_some_and(|before| outdated[before] || stages[before].table("rows").hash != input.rows)
        };
        outdated.push(stage.manifest().inputs.iter().any(is_other));
    }
    outdated
}

/// Where each of these records ended; `None` if the recipe has not read it.
///
/// # Errors
/// [`Error`] if a stage cannot be read.
pub fn find_whereabouts(
    workspace: &Workspace,
    recipe: &'static Recipe,
    records: &[DumpRecord],
) -> Result<Vec<Option<RecordEnding>>, Error> {
    walk_stages(workspace, recipe, records, false, &mut |_, _, _| {})
}

/// Where the jokes of these records ended: [`find_whereabouts`] through merges, to the end of what they were merged into.
/// Everything that happened on the way beyond being kept is handed to `passed`, with the record's place among `records`
/// and the stage.
///
/// # Errors
/// [`Error`] if a stage cannot be read.
pub fn follow_fates(
    workspace: &Workspace,
    recipe: &'static Recipe,
    records: &[DumpRecord],
    passed: &mut dyn FnMut(usize, &str, &Entry),
) -> Result<Vec<Option<RecordEnding>>, Error> {
    walk_stages(workspace, recipe, records, true, passed)
}

fn walk_stages(
    workspace: &Workspace,
    recipe: &'static Recipe,
    records: &[DumpRecord],
    through_merges: bool,
    passed: &mut dyn FnMut(usize, &str, &Entry),
) -> Result<Vec<Option<RecordEnding>>, Error> {
    let stages = open_stages(workspace, recipe)?;
    let mut found: Vec<Option<RecordEnding>> = records.iter().map(|_| None).collect();
    let Some(first) = stages.first().filter(|_| !records.is_empty()) else { return Ok(found) };

    // The current ids of kept records.
    let mut alive: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
    // The ledger of import knows places only; an id may look like one and is none.
    let of_import = first.manifest().tables.contains_key("files");
    let page =
        |record: &DumpRecord| record.locator.is_of_page().then(|| record.locator.page_locator().to_string());
    let mut names: BTreeSet<String> = BTreeSet::new();
    for record in records {
        names.extend(page(record).into_iter().chain([record.locator.to_string()]));
        names.extend(record.ids.iter().filter(|_| !of_import).cloned());
    }
    let entries = by_id(first, &names)?;
    for (at, record) in records.iter().enumerate() {
        // The ledger of import has either the post's own place or only that of its page.
        let place = record.locator.to_string();
        let page = page(record).filter(|_| !entries.contains_key(&place));
        let ids = record.ids.iter().filter(|_| !of_import);
        let known = [Some(&place), page.as_ref()].into_iter().flatten().chain(ids);
        let Some(entry) = known.filter_map(|name| entries.get(name)).next() else { continue };
        let of_page = match &page {
            // Of the ids that a post of a page may have, the page has one.
            Some(page) => find_children(first, page)?.into_iter().find(|child| record.ids.contains(child)),
            None => None,
        };
        let own = entry.into.clone().or(of_page);
        let name = own.clone().or_else(|| record.ids.first().cloned()).unwrap_or(place);
        let here = |id: String| whereabouts_of_entry(recipe, first, id, entry);
        if entry.outcome != State::Kept.code() && page.is_none() {
            passed(at, &first.manifest().stage, entry);
        }
        match State::from_code(&entry.outcome) {
            // A record read twice continues as the first one.
            Some(State::Kept | State::Changed | State::Expanded | State::Merged) => {
                found[at] = Some(here(name.clone()));
                let posts = match own {
                    Some(own) => BTreeSet::from([own]),
                    None if entry.outcome == State::Expanded.code() && page.is_none() => {
                        find_children(first, &entry.id)?
                    }
                    None => record.ids.iter().cloned().collect(),
                };
                alive.insert(at, posts);
            }
            _ => found[at] = Some(here(entry.id.clone())),
        }
    }
    let outdated = find_outdated(recipe, &stages);
    for (stage, outdated) in stages.iter().zip(outdated).skip(1) {
        let names: BTreeSet<String> = alive.values().flatten().cloned().collect();
        if names.is_empty() {
            break;
        }
        let entries = by_id(stage, &names)?;
        for (at, names) in std::mem::take(&mut alive) {
            let mut next = BTreeSet::new();
            if outdated && !names.iter().any(|name| entries.contains_key(name)) {
                // The stage was made before the record was there.
                if let Some(known) = &mut found[at] {
                    known.mark_waiting(&stage.manifest().stage);
                    known.outdated = true;
                }
                continue;
            }
            for entry in names.iter().filter_map(|name| entries.get(name)) {
                let state = State::from_code(&entry.outcome);
                if state != Some(State::Kept) {
                    passed(at, &stage.manifest().stage, entry);
                }
                match state {
                    Some(State::Kept | State::Changed) => {
                        next.insert(entry.into.clone().unwrap_or_else(|| entry.id.clone()));
                    }
                    // The joke goes on as the record that was kept.
                    Some(State::Merged) if through_merges && entry.into.is_some() => {
                        next.extend(entry.into.clone());
                    }
                    Some(State::Expanded) => next.extend(find_children(stage, &entry.id)?),
                    Some(State::Joined) => next.extend(entry.into.clone()),
                    _ => {
                        // The id by which it was found; `entry` may be one of several records made from it.
                        let id =
                            found[at].as_ref().map_or_else(|| entry.id.clone(), |known| known.id.clone());
                        found[at] = Some(whereabouts_of_entry(recipe, stage, id, entry));
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
            known.mark_waiting(next.or(recipe.steps().last().map(|step| step.name)).unwrap_or_default());
            known.ending = if next.is_some() { Ending::Waiting } else { Ending::In };
        }
    }
    Ok(found)
}

fn whereabouts_of_entry(
    recipe: &'static Recipe,
    stage: &StageReader,
    id: String,
    entry: &Entry,
) -> RecordEnding {
    RecordEnding {
        recipe: recipe.name,
        id,
        ending: Ending::from_state(&entry.outcome),
        stage: stage.manifest().stage.clone(),
        outcome: Some(entry.outcome.clone()),
        reason: entry.reason.clone(),
        into: entry.into.clone(),
        outdated: false,
    }
}

fn by_id(stage: &StageReader, names: &BTreeSet<String>) -> Result<BTreeMap<String, Entry>, Error> {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut found: BTreeMap<String, Entry> = BTreeMap::new();
    for entry in select_entries(stage, &names, &[])? {
        // A record that came from two recipes has two entries: it goes on as the first one.
        if !found.contains_key(&entry.id) || !is_second(&entry) {
            found.insert(entry.id.clone(), entry);
        }
    }
    Ok(found)
}

/// Whether an entry is the second of a record that reached a stage twice.
pub(super) fn is_second(entry: &Entry) -> bool {
    entry.reason.as_deref() == Some(Reason::SameId.code())
}

fn find_children(stage: &StageReader, parent: &str) -> Result<BTreeSet<String>, Error> {
    let links = select_rows::<Link>(stage, "links", &Filter::equals("parent", parent))?;
    Ok(links.into_iter().map(|link| link.child).collect())
}

/// The entries of these ids, and those of records that became or were merged into one of `into`, in the
/// ledger's order.
pub(super) fn select_entries(stage: &StageReader, ids: &[&str], into: &[&str]) -> Result<Vec<Entry>, Error> {
    let named = |column, names: &[&str]| Filter::any_of(column, names.iter().copied());
    select_rows::<Entry>(stage, "ledger", &named("id", ids).or(named("into", into)))
}

/// The existing stages, in order, up to the first missing one.
pub(super) fn open_stages(workspace: &Workspace, recipe: &'static Recipe) -> Result<Vec<StageReader>, Error> {
    let mut stages = Vec::new();
    for step in recipe.steps_made(workspace)? {
        match StageReader::open(&workspace.stage_folder(recipe.name, step.number, step.name))? {
            Some(stage) => stages.push(stage),
            None => break,
        }
    }
    Ok(stages)
}
