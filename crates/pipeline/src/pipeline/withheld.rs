//! Withdrawals since the stages were made: stages contain the texts until the next run, but they are not
//! shown.

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Map, Value as Json};

use crate::recipe::Recipe;
use crate::stages::import::FileRow;
use crate::stages::withdrawal::{Tombstone, Withdrawals};
use riddlemill_record::{Entry, Link, Locator};
use riddlemill_review::{Item, Value};
use riddlemill_tables::{Error, Filter, StageReader, Workspace, select_rows};

/// The withdrawals of a workspace, with a recipe's import.
pub struct Withheld {
    withdrawals: Withdrawals,
    /// Which dumps contain a post.
    import: Option<StageReader>,
    /// The dumps that it read, `source/file`, with their SHA-256.
    files: FxHashMap<String, String>,
}

impl Withheld {
    /// Reads the tombstones.
    ///
    /// # Errors
    /// [`Error`] if they or the import stage cannot be read.
    pub fn open(workspace: &Workspace, recipe: &'static Recipe) -> Result<Withheld, Error> {
        let withdrawals = Withdrawals::load(workspace)?;
        let origin = recipe.origin_recipe();
        // Without withdrawals nothing is looked up, so the import stage is not opened either.
        let first = origin.steps().first().filter(|_| !withdrawals.is_empty());
        let import =
            first.map(|first| StageReader::open(&workspace.stage_folder(origin.name, 1, first.name)));
        let import = import.transpose()?.flatten();
        let files = match &import {
            Some(stage) if stage.manifest().tables.contains_key("files") => {
                stage.read_table::<FileRow>("files")?
            }
            _ => Vec::new(),
        };
        let files = files.into_iter().map(|row| (row.id, row.sha256)).collect();
        Ok(Withheld { withdrawals, import, files })
    }

    /// The tombstone of a line or page of a withdrawn dump, by its place: `source/file:line`. Another dump
    /// may have the name of a withdrawn one.
    pub fn of_place(&self, place: &Locator) -> Option<&Tombstone> {
        match self.files.get(place.dump()) {
            Some(sha256) => self.withdrawals.of_dump(sha256),
            // A dump that import no longer read has no hash here, and is known by its name only.
            None => self.withdrawals.of_file(place.dump()),
        }
    }

    /// [`Withheld::of_place`] of what may be a place or an id.
    fn of_placed(&self, name: &str) -> Option<&Tombstone> {
        self.of_place(&name.parse().ok()?)
    }

    /// The tombstone of a record that was in withdrawn dumps alone, by its id.
    ///
    /// # Errors
    /// [`Error`] if the import stage cannot be read.
    pub fn of_withdrawn_dump(&self, id: &str) -> Result<Option<&Tombstone>, Error> {
        let Some(of_dump) = self.withdrawals.of_dump_with(id) else { return Ok(None) };
        let elsewhere = self.posts_in_other_dumps(&FxHashSet::from_iter([id]))?;
        Ok((!elsewhere.contains(id)).then_some(of_dump))
    }

    /// Those of these records' ids and places that are withdrawn.
    ///
    /// # Errors
    /// [`Error`] if the import stage cannot be read.
    pub fn withdrawn_among<'i>(
        &self,
        ids: impl IntoIterator<Item = &'i str>,
    ) -> Result<FxHashSet<&'i str>, Error> {
        let mut withdrawn = FxHashSet::default();
        if self.withdrawals.is_empty() {
            return Ok(withdrawn);
        }
        let mut of_dumps = FxHashSet::default();
        for id in ids {
            if self.withdrawals.of_id(id).or_else(|| self.of_placed(id)).is_some() {
                withdrawn.insert(id);
            } else if self.withdrawals.of_dump_with(id).is_some() {
                of_dumps.insert(id);
            }
        }
        if !of_dumps.is_empty() {
            let elsewhere = self.posts_in_other_dumps(&of_dumps)?;
            withdrawn.extend(of_dumps.into_iter().filter(|id| !elsewhere.contains(*id)));
        }
        Ok(withdrawn)
    }

    /// Whether a text is withdrawn, in any record.
    pub fn is_withdrawn_text(&self, text: &str) -> bool {
        self.withdrawals.of_text(text).is_some()
    }

    /// Whether one of a row's values is a withdrawn text, including in lists.
    fn contains_withdrawn(&self, value: &Json) -> bool {
        match value {
            Json::String(text) => self.is_withdrawn_text(text),
            Json::Array(values) => values.iter().any(|value| self.contains_withdrawn(value)),
            Json::Object(values) => values.values().any(|value| self.contains_withdrawn(value)),
            _ => false,
        }
    }

    /// Which of these rows, of a stage or of a release, are withdrawn.
    ///
    /// # Errors
    /// [`Error`] if the import stage cannot be read.
    pub fn withdrawn_rows<'r>(&self, rows: &'r [Map<String, Json>]) -> Result<Vec<bool>, Error> {
        if self.withdrawals.is_empty() {
            return Ok(vec![false; rows.len()]);
        }
        // Any column may name the record from which a row was made: a benchmark calls it what it likes.
        let both = |name: &'r str| [name, name.split('#').next().unwrap_or(name)];
        let texts = |row: &'r Map<String, Json>| row.values().filter_map(Json::as_str);
        let names: Vec<Vec<&str>> = rows.iter().map(|row| texts(row).flat_map(both).collect()).collect();
        let withdrawn = self.withdrawn_among(names.iter().flatten().copied())?;
        let is_gone = |(row, names): (&Map<String, Json>, &Vec<&str>)| {
            names.iter().any(|name| withdrawn.contains(name))
                || row.values().any(|value| self.contains_withdrawn(value))
        };
        Ok(rows.iter().zip(&names).map(is_gone).collect())
    }

    /// Removes withdrawn items of a ballot.
    ///
    /// # Errors
    /// [`Error`] if the import stage cannot be read.
    pub fn retain_items(&self, items: &mut Vec<Item>) -> Result<(), Error> {
        if self.withdrawals.is_empty() {
            return Ok(());
        }
        // An item about a part of a record has the record's id before `#`.
        let record = |item: &Item| item.id.split('#').next().unwrap_or(&item.id).to_owned();
        let records: Vec<String> = items.iter().map(record).collect();
        let named = items.iter().map(|item| item.id.as_str()).chain(records.iter().map(String::as_str));
        let withdrawn: FxHashSet<String> =
            self.withdrawn_among(named)?.into_iter().map(str::to_owned).collect();
        let is_withdrawn = |value: &Value| match value {
            Value::Text(text) => self.is_withdrawn_text(text),
            Value::List(texts) => texts.iter().any(|text| self.is_withdrawn_text(text)),
            Value::Number(_) => false,
        };
        items.retain(|item| {
            !withdrawn.contains(&item.id)
                && !withdrawn.contains(&record(item))
                && !item.content.values().any(is_withdrawn)
                && !item.draft.iter().any(|(_, value)| is_withdrawn(value))
        });
        Ok(())
    }

    /// The tombstone of a record, by its id or its place in a dump; if it was in several dumps, only if all
    /// of these are withdrawn.
    ///
    /// # Errors
    /// [`Error`] if the import stage cannot be read.
    pub fn find_tombstone(&self, id: &str) -> Result<Option<&Tombstone>, Error> {
        let own = self.withdrawals.of_id(id).or_else(|| self.of_placed(id));
        match (own, self.withdrawals.of_dump_with(id)) {
            (None, Some(of_dump)) => Ok(self.withdrawn_among([id])?.contains(id).then_some(of_dump)),
            (own, _) => Ok(own),
        }
    }

    /// Of posts in a withdrawn dump, those that another one contains too.
    fn posts_in_other_dumps(&self, ids: &FxHashSet<&str>) -> Result<FxHashSet<String>, Error> {
        let Some(import) = &self.import else { return Ok(FxHashSet::default()) };
        let wanted = |column| Filter::any_of(column, ids.iter().copied());
        let entries = select_rows::<Entry>(import, "ledger", &wanted("into").or(wanted("id")))?;
        let places =
            entries.into_iter().map(|entry| (entry.into.unwrap_or_else(|| entry.id.clone()), entry.id));
        // A page is in the ledger, its posts are in the links.
        let links = select_rows::<Link>(import, "links", &wanted("child"))?;
        let pages = links.into_iter().map(|link| (link.child, link.parent));
        let standing =
            |place: &str| place.parse::<Locator>().is_ok_and(|place| self.of_place(&place).is_none());
        Ok(places
            .chain(pages)
            .filter(|(id, place)| id != place && standing(place))
            .map(|(id, _)| id)
            .collect())
    }
}
