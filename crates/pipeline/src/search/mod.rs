//! Finds any record of any dump by a piece of its text, by its id or by its place, wherever it ended.
//!
//! [`index`] stores, outside of raw/, where the records of each dump are and which n-grams are in each block
//! of them: places, not texts. A search uses the index to find blocks that may match, and reads these from
//! the dump, so that records set aside by import are found like those it kept. Authors are not shown: names,
//! ids and other personal data are marked as by anonymise. Withdrawn records are never found.

mod grams;
mod index;

use std::path::Path;

use rayon::prelude::*;
use serde::Serialize;

use crate::config::{Config, sections};
use crate::recipe;
use crate::stages::StageError;
pub use crate::stages::import::Recalled;
use crate::stages::import::{Dump, FileRow, Sift, located, read_back};
use crate::stages::withdrawal::Withdrawals;
use grams::{grams, whole};
use index::Index;
use riddlemill_tables::{Error, Filter, StageReader, Workspace, select};
use riddlemill_text::text::anonymise::Kind;
use riddlemill_text::text::normalise::{Fold, fold};

/// Blocks read at a time.
const BATCH: usize = 128;

/// The result of a search.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The records, in the order of the dumps; if some are equal to the words, only those.
    pub records: Vec<Recalled>,
    /// Whether the search stopped before the last dump, having found enough.
    pub more: bool,
    /// Dumps that have changed since they were imported.
    pub changed: Vec<ChangedDump>,
}

/// A dump that has changed since a recipe imported it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChangedDump {
    pub recipe: &'static str,
    /// `source/file`.
    pub dump: String,
}

impl std::fmt::Display for ChangedDump {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ChangedDump { recipe, dump } = self;
        write!(f, "{dump} has changed since {recipe} imported it; places and texts are those of today's file")
    }
}

/// Records whose text contains `words`, ignoring width, case, script, spaces and punctuation; at most about
/// `most`. Words without a letter or digit find nothing.
///
/// # Errors
/// [`StageError`] if a dump or the tombstones cannot be read, or an index not written.
pub fn by_text(config: &Config, text: &str, most: usize) -> Result<Found, StageError> {
    let wanted = fold(text, Fold::KEY);
    let mut found = Found::default();
    if wanted.is_empty() {
        return Ok(found);
    }
    let withdrawn = Withdrawals::load(&Workspace::new(&config.root))?;
    // Unless the words have characters of a mark, a text that contains them when anonymised contains them as
    // it is, too.
    let marks: String = Kind::ALL.iter().map(|kind| fold(kind.mark(), Fold::KEY)).collect();
    let of_marks = wanted.contains(|c| marks.contains(c));
    let holds = |text: &str| of_marks || fold(text, Fold::KEY).contains(&wanted);
    let sift = Sift { withdrawn: Some(&withdrawn), sought: Some(&holds) };
    let indexes = open(config, &withdrawn, &mut found.changed)?;
    let read = |(dump, index): &(Dump, Index), places: &[usize], is_hit: &(dyn Fn(&str) -> bool + Sync)| {
        let records = records(dump, index, places, &sift)?;
        let hit = |record: &Recalled| is_hit(&fold(&record.text, Fold::KEY));
        Ok::<Vec<Recalled>, Error>(records.into_par_iter().filter(hit).collect())
    };
    // Texts equal to the words are returned alone; they are found by their hash.
    let whole = whole(&wanted);
    'same: for of in &indexes {
        for batch in of.1.holding(&whole).chunks(BATCH) {
            found.records.extend(read(of, batch, &|text| text == wanted)?);
            if found.records.len() > most {
                break 'same;
            }
        }
    }
    let sought: Vec<u64> = grams(&wanted).collect();
    let alone = !found.records.is_empty();
    'dumps: for of in indexes.iter().filter(|_| !alone) {
        for batch in of.1.holding(&sought).chunks(BATCH) {
            found.records.extend(read(of, batch, &|text| text.contains(&wanted))?);
            if found.records.len() > most {
                break 'dumps;
            }
        }
    }
    found.more = found.records.len() > most;
    found.records.truncate(most);
    Ok(found)
}

/// Records of an id or a place: `tieba:8370518555`, `source:line`, `source/file:line`.
///
/// # Errors
/// As of [`by_text`].
pub fn by_name(config: &Config, name: &str) -> Result<Found, StageError> {
    let mut found = Found::default();
    let withdrawn = Withdrawals::load(&Workspace::new(&config.root))?;
    let sift = Sift { withdrawn: Some(&withdrawn), sought: None };
    for (dump, index) in &open(config, &withdrawn, &mut found.changed)? {
        let at = position(dump, name);
        let mut places = index.named(name);
        places.extend(at.and_then(|at| index.at(at)));
        places.sort_unstable();
        places.dedup();
        let locator = at.map(|at| dump.locator(at));
        let wanted = |record: &Recalled| {
            let page = || record.locator.split_once('#').map(|(page, _)| page);
            let placed = |locator: &String| record.locator == *locator || page() == Some(locator);
            record.ids.iter().any(|id| id == name)
                || record.locator == name
                || locator.as_ref().is_some_and(placed)
        };
        found.records.extend(records(dump, index, &places, &sift)?.into_iter().filter(wanted));
    }
    Ok(found)
}

/// The record at a place of the import ledger; `None` if its dump is gone, has nothing there, or cannot be
/// shown to be the one that was imported.
///
/// # Errors
/// As of [`by_text`].
pub fn at_place(config: &Config, locator: &str) -> Result<Option<Recalled>, StageError> {
    Ok(by_name(config, locator)?.records.into_iter().next())
}

/// The position that a name gives in a dump, if it names that dump. A post of a page has the page's position.
fn position(dump: &Dump, name: &str) -> Option<u64> {
    let rest = name.strip_prefix(&dump.source)?;
    let rest = rest.strip_prefix('/').and_then(|rest| rest.strip_prefix(&dump.file)).unwrap_or(rest);
    let number = rest.strip_prefix(':')?;
    number.split_once('#').map_or(number, |(page, _)| page).trim_end_matches('+').parse().ok()
}

fn records(dump: &Dump, index: &Index, places: &[usize], sift: &Sift<'_>) -> Result<Vec<Recalled>, Error> {
    if places.is_empty() {
        return Ok(Vec::new());
    }
    let blocks: Vec<_> = places.iter().map(|place| index.block(*place)).collect();
    let read = read_back(dump, index.limit(), &blocks, sift).map_err(Error::io("read", &dump.path))?;
    Ok(read.concat())
}

/// Every dump of the settings that is not withdrawn, with its index, which is rebuilt if the dump has
/// changed.
fn open(
    config: &Config,
    withdrawn: &Withdrawals,
    changed: &mut Vec<ChangedDump>,
) -> Result<Vec<(Dump, Index)>, Error> {
    let limit = config.typed::<sections::Import>(None, "import").max_line_mib << 20;
    let folder = config.root.join(".index").join("dumps");
    let mut indexes = Vec::new();
    for dump in located(config) {
        let index = Index::open(&folder, &dump, limit)?;
        if withdrawn.of_dump(index.sha256()).is_none() {
            indexes.push((dump, index));
        }
    }
    *changed = changes(&config.root, config, &indexes)?;
    Ok(indexes)
}

/// The dumps that differ from those the recipes imported.
fn changes(root: &Path, config: &Config, indexes: &[(Dump, Index)]) -> Result<Vec<ChangedDump>, Error> {
    let workspace = Workspace::new(root);
    let mut changed = Vec::new();
    for recipe in recipe::used(config) {
        let Some(first) = recipe.steps().first() else { continue };
        let Some(stage) = StageReader::open(&workspace.stage(recipe.name, 1, first.name))? else { continue };
        if !stage.manifest().tables.contains_key("files") {
            continue;
        }
        for (dump, index) in indexes {
            let name = format!("{}/{}", dump.source, dump.file);
            let imported = select::<FileRow>(&stage, "files", &Filter::equals("id", &name))?;
            if imported.iter().any(|row| row.sha256 != index.sha256()) {
                changed.push(ChangedDump { recipe: recipe.name, dump: name });
            }
        }
    }
    Ok(changed)
}
