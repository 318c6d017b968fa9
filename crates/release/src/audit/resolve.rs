//! Which records a name means: the one reading of names for every verb and page.
//!
//! A name is read in this order, and the first reading that finds something counts: an exact id, of a post or of a
//! released row; a place, `SOURCE:LINE`; a text. Some names have two readings, because a source may be called like the
//! namespace of its ids: the other one is told, so that nobody decides about a post that they did not mean.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Serialize;

use super::explain::raw_post;
use super::texts::find_by_text;
use super::whereabouts::{RecordEnding, find_whereabouts, open_stages, select_entries};
use crate::config::Config;
use crate::find_origin_record;
use crate::pipeline::Withheld;
use crate::recipe::Recipe;
use crate::record::{Entry, Link, Locator, Post, State};
use crate::search::{ChangedDump, Search};
use crate::stages::StageError;
use crate::stages::import::{DumpRecord, FileRow};
use crate::stages::withdrawal::{Tombstone, Withdrawals};
use crate::store::{Error, Filter, StageReader, Workspace, select_rows};

/// How a name was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Reading {
    /// As the id of a record.
    Id,
    /// As the id of a released row.
    Row,
    /// As a place in a dump.
    Place,
    /// As a text.
    Text,
}

/// A record that a name means.
#[derive(Clone, Debug, Default)]
pub struct NamedRecord {
    /// Its id or its place in each recipe that has it.
    pub at: Vec<NamedAt>,
    /// Where it ended in each recipe, if it was found in a dump.
    pub ended: Vec<RecordEnding>,
    /// The record as it is in its dump, if it was looked up there.
    pub recalled: Option<DumpRecord>,
}

/// What a recipe calls a record.
#[derive(Clone, Debug)]
pub struct NamedAt {
    pub recipe: &'static Recipe,
    /// Its id; its place if import set it aside.
    pub id: String,
}

impl PartialEq for NamedAt {
    fn eq(&self, other: &NamedAt) -> bool {
        (self.recipe.name, &self.id) == (other.recipe.name, &other.id)
    }
}

impl NamedRecord {
    /// What it is called: as in the first recipe, else as in its dump.
    pub fn name(&self) -> String {
        let at = self.at.first().map(|at| at.id.clone());
        let in_dump = || {
            self.recalled.as_ref().map(|record| match record.ids.first() {
                Some(id) => id.clone(),
                None => record.locator.to_string(),
            })
        };
        at.or_else(in_dump).unwrap_or_default()
    }

    fn of_recipe(recipe: &'static Recipe, id: impl Into<String>) -> NamedRecord {
        NamedRecord { at: vec![NamedAt { recipe, id: id.into() }], ..NamedRecord::default() }
    }
}

/// Another record that the same name could mean.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OtherReading {
    pub reading: Reading,
    /// What the name says in this reading: `line 2 of forum`.
    pub what: String,
    /// The record that is meant then.
    pub record: String,
}

impl fmt::Display for OtherReading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "also {}: {}", self.what, self.record)
    }
}

/// What a name means.
#[derive(Clone, Debug, Default)]
pub struct Resolution {
    /// How it was read; `None` if nothing has this name.
    pub reading: Option<Reading>,
    /// The records, without withdrawn ones.
    pub records: Vec<NamedRecord>,
    /// The withdrawn records that it names, by what they are called.
    pub withdrawn: BTreeMap<String, Tombstone>,
    /// What else it could mean.
    pub others: Vec<OtherReading>,
    /// Whether there are more records than were asked for.
    pub more: bool,
    /// Dumps that changed since they were imported, if dumps were searched.
    pub changed: Vec<ChangedDump>,
}

impl Resolution {
    /// Every id and place of the records, each once, in order.
    pub fn ids(&self) -> BTreeSet<String> {
        self.records.iter().flat_map(|record| &record.at).map(|at| at.id.clone()).collect()
    }
}

/// Most other records that are told.
const OTHERS: usize = 3;

/// Reads names in the stages, releases and dumps of a workspace.
pub struct Resolver<'c> {
    config: &'c Config,
    workspace: Workspace,
    recipes: Vec<&'static Recipe>,
    withheld: Vec<Withheld>,
    withdrawals: Withdrawals,
    search: OnceCell<Search>,
}

impl<'c> Resolver<'c> {
    /// Reads names as these recipes do.
    ///
    /// # Errors
    /// [`StageError`] if withdrawals or imports cannot be read.
    pub fn open(config: &'c Config, recipes: &[&'static Recipe]) -> Result<Resolver<'c>, StageError> {
        let workspace = Workspace::new(&config.root);
        let withheld =
            recipes.iter().map(|recipe| Withheld::open(&workspace, recipe)).collect::<Result<_, _>>()?;
        let withdrawals = Withdrawals::load(&workspace)?;
        let search = OnceCell::new();
        Ok(Resolver { config, workspace, recipes: recipes.to_vec(), withheld, withdrawals, search })
    }

    /// The records that a name means. Of a text, at most `most` are found.
    ///
    /// # Errors
    /// [`StageError`] if stages, releases or dumps cannot be read.
    pub fn resolve_name(&self, name: &str, most: usize) -> Result<Resolution, StageError> {
        self.resolve_behind(name, 0, most)
    }

    /// [`Resolver::resolve_name`], without the first `skipped` records of a text.
    ///
    /// # Errors
    /// As of [`Resolver::resolve_name`].
    pub fn resolve_behind(&self, name: &str, skipped: usize, most: usize) -> Result<Resolution, StageError> {
        let place = name.parse::<Locator>().ok();
        let mut found = Resolution::default();
        for reading in [Reading::Id, Reading::Row, Reading::Place, Reading::Text] {
            let read = match (reading, &place) {
                (Reading::Id, _) => self.by_id(name)?,
                (Reading::Row, _) => self.by_row(name)?,
                (Reading::Place, Some(place)) => self.by_place(name, place)?,
                (Reading::Place, None) => continue,
                (Reading::Text, _) if found.reading.is_none() => self.by_text(name, skipped, most)?,
                // A search reads whole dumps, and what contains a name is not called by it.
                (Reading::Text, _) => self.equal_to(name)?,
            };
            if read.records.is_empty() && read.withdrawn.is_empty() {
                continue;
            }
            if found.reading.is_none() {
                found = Resolution { reading: Some(reading), ..self.without_withdrawn(read)? };
                continue;
            }
            let records = self.without_withdrawn(read)?.records;
            let what = describe_reading(reading, name, place.as_ref());
            let known = found.ids();
            let others =
                records.iter().map(NamedRecord::name).filter(|other| !known.contains(other)).take(OTHERS);
            found.others.extend(others.map(|record| OtherReading { reading, what: what.clone(), record }));
        }
        if let Some(search) = self.search.get() {
            found.changed.clone_from(&search.changed);
        }
        Ok(found)
    }

    /// The dumps with their indexes, opened at most once: only what no stage knows is looked up in them.
    ///
    /// # Errors
    /// [`StageError`] if a dump cannot be read, or an index not written.
    pub fn open_search(&self) -> Result<&Search, StageError> {
        if let Some(search) = self.search.get() {
            return Ok(search);
        }
        let search = Search::open(self.config)?;
        Ok(self.search.get_or_init(|| search))
    }

    /// The place in its dump of a record that import merged into an earlier one with its id; `None` for any other.
    ///
    /// # Errors
    /// [`StageError`] if an import cannot be read.
    pub fn merged_at_import(&self, record: &NamedRecord) -> Result<Option<String>, StageError> {
        let Some(recalled) = &record.recalled else { return Ok(None) };
        let place = recalled.locator.to_string();
        let is_merged = |entry: &Entry| State::from_code(&entry.outcome) == Some(State::Merged);
        for recipe in &self.recipes {
            let Some(import) = open_import(&self.workspace, recipe)? else { continue };
            if select_entries(&import, &[place.as_str()], &[])?.iter().any(is_merged) {
                return Ok(Some(place));
            }
        }
        Ok(None)
    }

    /// The record with this id.
    fn by_id(&self, id: &str) -> Result<Resolution, StageError> {
        let mut found = Resolution::default();
        let tombstone = match self.withdrawals.of_id(id) {
            Some(tombstone) => Some(tombstone),
            None => self.common_tombstone(|withheld| withheld.of_withdrawn_dump(id))?,
        };
        if let Some(tombstone) = tombstone {
            found.withdrawn.insert(id.to_owned(), tombstone.clone());
            return Ok(found);
        }
        let mut record = NamedRecord::default();
        for recipe in &self.recipes {
            if self.has_record(recipe, id)? {
                record.at.push(NamedAt { recipe, id: id.to_owned() });
            }
        }
        if !record.at.is_empty() {
            found.records.push(record);
        } else if id.contains(':') {
            // What import set aside is in a dump alone. Every id contains a colon.
            found.records = self.name_records(self.open_search()?.by_id(id, true)?)?;
        }
        Ok(found)
    }

    /// The record behind the id of a released row.
    fn by_row(&self, id: &str) -> Result<Resolution, StageError> {
        let mut found = Resolution::default();
        for recipe in &self.recipes {
            if let Some(record) = find_origin_record(&self.workspace, recipe, id)? {
                let of_record = self.by_id(&record)?;
                found.records.extend(of_record.records.into_iter().map(|mut record| {
                    record.at.retain(|at| at.recipe.name == recipe.name);
                    record
                }));
                found.withdrawn.extend(of_record.withdrawn);
            }
        }
        found.records = merge_records(found.records);
        Ok(found)
    }

    /// The records at a place: one, or the posts of a page.
    fn by_place(&self, name: &str, place: &Locator) -> Result<Resolution, StageError> {
        let mut found = Resolution::default();
        if let Some(tombstone) = self.common_tombstone(|withheld| Ok(withheld.of_place(place)))? {
            found.withdrawn.insert(name.to_owned(), tombstone.clone());
            return Ok(found);
        }
        let (mut of_pages, mut dumps) = (false, false);
        for recipe in &self.recipes {
            let Some(import) = open_import(&self.workspace, recipe)? else { continue };
            for file in import.read_table::<FileRow>("files")? {
                if !place.is_in_file(&file.source, &file.file) {
                    continue;
                }
                dumps = true;
                let here = place.with_dump(file.id).to_string();
                for entry in select_entries(&import, &[here.as_str()], &[])? {
                    of_pages |= State::from_code(&entry.outcome) == Some(State::Expanded);
                    found.records.push(NamedRecord::of_recipe(recipe, entry.into.unwrap_or(entry.id)));
                }
            }
        }
        // A post of a page has no entry of its own if it was kept: which one it is, only the dump says.
        let of_pages = of_pages || found.records.is_empty() && (place.is_of_page() || !dumps);
        if of_pages || found.records.is_empty() && self.is_dump(place) {
            let recalled = self.name_records(self.open_search()?.by_place(place, true)?)?;
            if !recalled.is_empty() {
                found.records = recalled;
            }
        }
        found.records = merge_records(found.records);
        Ok(found)
    }

    /// Whether the settings have a dump of this name: otherwise no index has to be opened.
    fn is_dump(&self, place: &Locator) -> bool {
        let named = |source: &crate::config::Source| {
            place
                .dump()
                .strip_prefix(&source.name)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.config.sources.iter().any(named)
    }

    /// The records with this text: in dumps, else in stages.
    fn by_text(&self, text: &str, skipped: usize, most: usize) -> Result<Resolution, StageError> {
        let mut found = Resolution::default();
        if let Some(tombstone) = self.withdrawals.of_text(text) {
            found.withdrawn.insert(text.to_owned(), tombstone.clone());
            return Ok(found);
        }
        let hits = self.open_search()?.by_text(text, skipped, most)?;
        found.more = hits.more;
        found.records = self.name_records(hits.records)?;
        let in_dumps = !found.records.is_empty()
            || skipped > 0 && !self.open_search()?.by_text(text, 0, 1)?.records.is_empty();
        if !in_dumps {
            // A text that a stage changed is in no dump, and a dump may be gone since it was imported.
            for recipe in &self.recipes {
                let ids = find_by_text(&self.workspace, recipe, text)?;
                found.records.extend(ids.into_iter().map(|id| NamedRecord::of_recipe(recipe, id)));
            }
            found.records = merge_records(found.records).into_iter().skip(skipped).collect();
        }
        Ok(found)
    }

    /// The imported posts that are nothing but this text.
    fn equal_to(&self, text: &str) -> Result<Resolution, StageError> {
        let mut found = Resolution::default();
        for recipe in &self.recipes {
            let Some(import) = open_import(&self.workspace, recipe)? else { continue };
            let posts = select_rows::<Post>(&import, "rows", &Filter::equals("text", text))?;
            found.records.extend(posts.into_iter().map(|post| NamedRecord::of_recipe(recipe, post.id)));
        }
        found.records = merge_records(found.records);
        Ok(found)
    }

    /// Records of dumps, with what each recipe calls them.
    fn name_records(&self, records: Vec<DumpRecord>) -> Result<Vec<NamedRecord>, StageError> {
        let mut named: Vec<NamedRecord> = records.iter().map(|_| NamedRecord::default()).collect();
        for recipe in &self.recipes {
            let ended = find_whereabouts(&self.workspace, recipe, &records)?;
            for (record, ended) in named.iter_mut().zip(ended) {
                if let Some(ended) = ended {
                    record.at.push(NamedAt { recipe, id: ended.id.clone() });
                    record.ended.push(ended);
                }
            }
        }
        for (named, record) in named.iter_mut().zip(records) {
            named.recalled = Some(record);
        }
        Ok(named)
    }

    /// Whether a recipe has a record of this id: import's or a later stage's. Import's own names are places.
    fn has_record(&self, recipe: &'static Recipe, id: &str) -> Result<bool, Error> {
        for (number, stage) in open_stages(&self.workspace, recipe)?.iter().enumerate() {
            let is_import = number == 0 && stage.manifest().tables.contains_key("files");
            let ids: &[&str] = if is_import { &[] } else { &[id] };
            if !select_entries(stage, ids, &[id])?.is_empty()
                || !select_rows::<Link>(stage, "links", &Filter::equals("child", id))?.is_empty()
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Moves the withdrawn records out, also those that no run has removed yet.
    fn without_withdrawn(&self, mut found: Resolution) -> Result<Resolution, StageError> {
        if self.withdrawals.is_empty() {
            return Ok(found);
        }
        let mut kept = Vec::new();
        for mut record in std::mem::take(&mut found.records) {
            let name = record.name();
            let of_dump = record.recalled.as_ref().and_then(|record| self.tombstone_of(record));
            if let Some(tombstone) = of_dump {
                found.withdrawn.insert(name, tombstone.clone());
                continue;
            }
            let mut standing = Vec::new();
            for at in std::mem::take(&mut record.at) {
                match self.find_tombstone(at.recipe, &at.id)? {
                    Some(tombstone) => drop(found.withdrawn.insert(at.id, tombstone)),
                    None => standing.push(at),
                }
            }
            if !standing.is_empty() || record.recalled.is_some() && !found.withdrawn.contains_key(&name) {
                record.at = standing;
                kept.push(record);
            }
        }
        found.records = kept;
        Ok(found)
    }

    /// The tombstone of a record of a dump.
    fn tombstone_of(&self, record: &DumpRecord) -> Option<&Tombstone> {
        let by_id = record.ids.iter().find_map(|id| self.withdrawals.of_id(id));
        by_id.or_else(|| self.withdrawals.of_text(&record.verbatim))
    }

    /// The tombstone of a record of a recipe. It is withdrawn unless a recipe has it from another dump.
    fn find_tombstone(&self, recipe: &'static Recipe, id: &str) -> Result<Option<Tombstone>, StageError> {
        if let Some(tombstone) = self.common_tombstone(|withheld| withheld.find_tombstone(id))? {
            return Ok(Some(tombstone.clone()));
        }
        if let Some(post) = raw_post(&self.workspace, recipe, id)? {
            return Ok(self.withdrawals.of_text(&post.text).cloned());
        }
        // What import set aside is called by its place: its id and its text are in its dump.
        let Ok(place) = id.parse::<Locator>() else { return Ok(None) };
        let records = self.open_search()?.by_place(&place, true)?;
        Ok(records.iter().find_map(|record| self.tombstone_of(record)).cloned())
    }

    /// A tombstone that every recipe knows.
    fn common_tombstone<'w>(
        &'w self,
        of: impl Fn(&'w Withheld) -> Result<Option<&'w Tombstone>, Error>,
    ) -> Result<Option<&'w Tombstone>, Error> {
        let found: Vec<Option<&Tombstone>> = self.withheld.iter().map(of).collect::<Result<_, _>>()?;
        let all: Option<Vec<&Tombstone>> = found.into_iter().collect();
        Ok(all.and_then(|found| found.first().copied()))
    }

    /// The withdrawals as one of the recipes knows them.
    pub fn withheld_in_recipe(&self, recipe: &'static Recipe) -> Option<&Withheld> {
        self.recipes.iter().position(|own| own.name == recipe.name).map(|at| &self.withheld[at])
    }
}

/// What a name says in a reading.
fn describe_reading(reading: Reading, name: &str, place: Option<&Locator>) -> String {
    match (reading, place) {
        (Reading::Place, Some(place)) => format!("line {} of {}", place.position(), place.dump()),
        (Reading::Row, _) => format!("the released row {name}"),
        (Reading::Text, _) => "the text of a post".into(),
        _ => format!("the id {name}"),
    }
}

/// Records that have one name in a recipe are one: the same line in two recipes, or one that was read twice.
fn merge_records(records: Vec<NamedRecord>) -> Vec<NamedRecord> {
    let mut one: Vec<NamedRecord> = Vec::new();
    for record in records {
        let known = one
            .iter()
            .position(|known| known.at.iter().any(|at| record.at.iter().any(|own| own.id == at.id)));
        match known {
            None => one.push(record),
            Some(known) => {
                for at in record.at {
                    if !one[known].at.contains(&at) {
                        one[known].at.push(at);
                    }
                }
            }
        }
    }
    one
}

/// The import of a recipe that reads dumps itself.
fn open_import(workspace: &Workspace, recipe: &'static Recipe) -> Result<Option<StageReader>, Error> {
    let Some(first) = recipe.steps().first() else { return Ok(None) };
    let stage = StageReader::open(&workspace.stage_folder(recipe.name, 1, first.name))?;
    Ok(stage.filter(|stage| stage.manifest().tables.contains_key("files")))
}
