//! The ways of many rows back to their dumps, from a step's output to its inputs, with one pass over each ledger for all.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};

use super::whereabouts::{is_second, select_entries};
use crate::recipe::{Recipe, Step};
use crate::record::{Entry, Link, State};
use crate::store::{Error, Filter, StageReader, Workspace, select_rows};

/// What one stage did, in one manner, with the records that became a row.
#[derive(Clone, Debug)]
pub struct Stretch {
    /// Whose stage it is: the recipe's own, or that of the recipe whose records it continues.
    pub recipe: &'static Recipe,
    pub step: &'static Step,
    /// How the records left.
    pub outcome: String,
    /// The reason's code.
    pub reason: Option<String>,
    /// The records, as they entered.
    pub ids: BTreeSet<String>,
    /// What the row's records were after the stage, whatever it did with each.
    pub became: BTreeSet<String>,
    /// Distinct texts before and after, if the stage changed one.
    pub texts: BTreeSet<(String, String)>,
}

/// The way of one row, from its dumps on.
#[derive(Clone, Debug, Default)]
pub struct RowPath {
    /// What happened, in the order of the stages.
    pub stretches: Vec<Stretch>,
    /// Where the dumps have it: `SOURCE/FILE:LINE`, or the place of its page.
    pub places: BTreeSet<String>,
    /// The ids of its posts after import.
    pub posts: BTreeSet<String>,
    /// Other records that were merged into it.
    pub merged: usize,
    /// Further copies of it in the dumps.
    pub copies: usize,
}

/// The ways of rows, each given by the records of the recipe's end from which it was made. A row without one has an
/// empty way.
///
/// # Errors
/// [`Error`] if a stage cannot be read.
pub fn find_ways(
    workspace: &Workspace,
    recipe: &'static Recipe,
    ends: &[BTreeSet<String>],
) -> Result<Vec<RowPath>, Error> {
    let mut ways: Vec<RowPath> = ends.iter().map(|_| RowPath::default()).collect();
    let mut standing: Vec<BTreeSet<String>> = ends.to_vec();
    for (recipe, step) in chain_of_stages(workspace, recipe)?.into_iter().rev() {
        let place = workspace.stage_folder(recipe.name, step.number, step.name);
        let Some(stage) = StageReader::open(&place)? else { continue };
        let looked = StageEntries::look_up_entries(&stage, &standing)?;
        for (way, now) in ways.iter_mut().zip(&mut standing) {
            *now = looked.trace_back(recipe, step, now, way);
        }
    }
    ways.iter_mut().for_each(|way| way.stretches.reverse());
    Ok(ways)
}

/// A recipe's stages, after those of the recipe whose records it continues, up to where it does.
fn chain_of_stages(
    workspace: &Workspace,
    recipe: &'static Recipe,
) -> Result<Vec<(&'static Recipe, &'static Step)>, Error> {
    let own = recipe.steps_made(workspace)?;
    let first = own.first().and_then(|step| recipe.find_input(step.inputs.first()?));
    let mut all = Vec::new();
    if let Some((from, number, _)) = first.filter(|(from, ..)| from.name != recipe.name) {
        all = chain_of_stages(workspace, from)?;
        all.retain(|(of, step)| of.name != from.name || step.number <= number);
    }
    all.extend(own.iter().map(|step| (recipe, step)));
    Ok(all)
}

/// What one stage says of the records of all rows.
struct StageEntries {
    /// Whether the records that entered are places of dumps.
    of_import: bool,
    entries: Vec<Entry>,
    by_id: FxHashMap<String, Vec<usize>>,
    by_into: FxHashMap<String, Vec<usize>>,
    /// The records in from which a record out was made.
    parents: FxHashMap<String, Vec<String>>,
}

impl StageEntries {
    fn look_up_entries(stage: &StageReader, standing: &[BTreeSet<String>]) -> Result<StageEntries, Error> {
        let of_import = stage.manifest().tables.contains_key("files");
        let here: BTreeSet<&str> = standing.iter().flatten().map(String::as_str).collect();
        let mut looked = StageEntries {
            of_import,
            entries: Vec::new(),
            by_id: FxHashMap::default(),
            by_into: FxHashMap::default(),
            parents: FxHashMap::default(),
        };
        if here.is_empty() {
            return Ok(looked);
        }
        for link in select_rows::<Link>(stage, "links", &Filter::any_of("child", here.iter().copied()))? {
            looked.parents.entry(link.child).or_default().push(link.parent);
        }
        // The ledger of import knows places only; an id may look like one and is none.
        let kept_their_ids = here.iter().copied().filter(|_| !of_import);
        let made_of = looked.parents.values().flatten().map(String::as_str);
        let names: BTreeSet<&str> = kept_their_ids.chain(made_of).collect();
        let (names, here): (Vec<&str>, Vec<&str>) = (names.into_iter().collect(), here.into_iter().collect());
        looked.entries = select_entries(stage, &names, &here)?;
        for (at, entry) in looked.entries.iter().enumerate() {
            looked.by_id.entry(entry.id.clone()).or_default().push(at);
            if let Some(into) = &entry.into {
                looked.by_into.entry(into.clone()).or_default().push(at);
            }
        }
        Ok(looked)
    }

    /// Adds what the stage did to a way, and returns the records that entered.
    fn trace_back(
        &self,
        recipe: &'static Recipe,
        step: &'static Step,
        now: &BTreeSet<String>,
        way: &mut RowPath,
    ) -> BTreeSet<String> {
        let made_of = |id: &String| self.parents.get(id).into_iter().flatten();
        let mut own: BTreeSet<&String> = now.iter().filter(|_| !self.of_import).collect();
        own.extend(now.iter().flat_map(made_of));
        let named = own.iter().filter_map(|id| self.by_id.get(*id)).flatten();
        let became = now.iter().filter_map(|id| self.by_into.get(id)).flatten();
        let (mut before, mut seen) = (BTreeSet::new(), FxHashSet::default());
        let mut passed: BTreeMap<(&str, Option<&str>), Stretch> = BTreeMap::new();
        for at in named.chain(became) {
            let entry = &self.entries[*at];
            if !seen.insert(*at) {
                continue;
            }
            if entry.outcome == State::Merged.code() {
                match self.of_import {
                    true => way.copies += 1,
                    false if !own.contains(&entry.id) => way.merged += 1,
                    false => {}
                }
                continue;
            }
            // What became another record is on that one's way.
            let elsewhere = entry.into.as_ref().is_some_and(|into| !now.contains(into));
            if elsewhere || is_second(entry) {
                continue;
            }
            before.insert(entry.id.clone());
            if self.of_import {
                way.places.insert(entry.id.clone());
            }
            let key = (entry.outcome.as_str(), entry.reason.as_deref());
            let stretch = passed.entry(key).or_insert_with(|| Stretch {
                recipe,
                step,
                outcome: entry.outcome.clone(),
                reason: entry.reason.clone(),
                ids: BTreeSet::new(),
                became: now.clone(),
                texts: BTreeSet::new(),
            });
            stretch.ids.insert(entry.id.clone());
            if let (Some(was), Some(is)) = (&entry.before, &entry.after)
                && was != is
            {
                stretch.texts.insert((was.clone(), is.clone()));
            }
        }
        if self.of_import {
            way.posts.extend(now.iter().cloned());
        } else {
            // A stage that does not know a record is on another branch: the record passes it unchanged.
            let unknown = |id: &&String| {
                !self.by_id.contains_key(*id)
                    && !self.by_into.contains_key(*id)
                    && !made_of(id).any(|parent| self.by_id.contains_key(parent))
            };
            before.extend(now.iter().filter(unknown).cloned());
        }
        // The stages are walked from the last to the first.
        way.stretches.extend(passed.into_values().rev());
        before
    }
}

/// A step's finished stage and its inputs; `None` if it was not made.
pub struct MadeStage {
    /// Its output.
    pub stage: StageReader,
    /// Its inputs, in the order of the step.
    pub inputs: Vec<StageReader>,
}

impl MadeStage {
    /// Opens them; an input may be in another recipe.
    ///
    /// # Errors
    /// [`Error`] if a manifest is damaged.
    pub fn open(
        workspace: &Workspace,
        recipe: &'static Recipe,
        step: &Step,
    ) -> Result<Option<MadeStage>, Error> {
        let open = |name: &str| match recipe.find_input(name) {
            Some((from, number, step)) => {
                StageReader::open(&workspace.stage_folder(from.name, number, step.name))
            }
            None => Ok(None),
        };
        let Some(stage) = open(step.name)? else { return Ok(None) };
        let inputs =
            step.inputs.iter().filter_map(|input| open(input).transpose()).collect::<Result<_, _>>()?;
        Ok(Some(MadeStage { stage, inputs }))
    }
}
