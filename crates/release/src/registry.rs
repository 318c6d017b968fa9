//! raw/releases: the existing versions, and everything needed to restore their bytes.
//!
//! `raw/releases/<recipe>/registry.jsonl` is append-only, one event per line; next to it is a folder for each
//! version, with files sealed with zstd: `rows-<config>.jsonl.zst` are the rows as released,
//! `texts.jsonl.zst` all other files except the Parquet ones and the published forms, which are derived from
//! the rows with the benchmark's folder of that time, which is among these files. So a release does not
//! depend on any stage, template or later edit of its benchmark.
//!
//! A version's folder gets its name after its entry is on disk. So a folder of a version without an event is
//! one whose event was lost: then the registry is not read, nothing is numbered, and nothing is removed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::changes::Changes;
use super::division::{Allotted, Division};
use super::manifest::{MANIFEST, Yanked};
use super::version::Version;
use crate::store::{Error, Workspace, durable, open_frames};
use riddlemill_files::fence;
use riddlemill_files::log::Log;

/// The sealed file of every version.
pub(super) const TEXTS: &str = "texts.jsonl.zst";

/// An event of the registry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum Event {
    /// The canary was drawn, once per recipe.
    Canary { guid: String },
    /// A version was released.
    Release(Box<Release>),
    /// A version was yanked.
    Yanked {
        version: Version,
        /// When and why.
        #[serde(flatten)]
        yanked: Yanked,
    },
    /// Numbers of a set published elsewhere were adopted.
    Adopted {
        /// SHA-256 of the published file.
        sha256: String,
        /// Series, key, number.
        numbers: Vec<(String, String, u64)>,
    },
}

/// A released version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Release {
    /// The version, never reused.
    pub version: Version,
    /// The day, `YYYY-MM-DD`.
    pub date: String,
    /// The program's version: Parquet bytes depend on its library.
    pub riddlemill: String,
    /// Configs and their rows.
    pub configs: BTreeMap<String, u64>,
    /// SHA-256 of SHA256SUMS, which identifies the release.
    pub sums: String,
    /// SHA-256 of each sealed file.
    pub sealed: BTreeMap<String, String>,
    /// Number of stages of its rows, from which their kind follows.
    pub stages: usize,
    /// The changes since the release before.
    pub changes: Changes,
    /// Numbers assigned by this release: series, key, number.
    pub allotted: Vec<(String, String, u64)>,
    /// Rows that this release put into splits: the row's id, its record's, the split.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub split: Vec<(String, String, String)>,
    /// Ids that no later row may reuse.
    pub retired: Vec<String>,
}

/// The registry of a recipe.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    place: PathBuf,
    /// The canary, if it was drawn.
    pub canary: Option<String>,
    /// The releases, in the order they were made.
    pub releases: Vec<Release>,
    /// Numbers adopted from sets published elsewhere: series, key, number.
    pub adopted: Vec<(String, String, u64)>,
    /// Versions that were yanked.
    pub yanked: BTreeMap<Version, Yanked>,
}

impl Registry {
    /// Reads a recipe's registry; one that does not exist is empty. A torn last line, left by a stopped
    /// program, is ignored; the next event overwrites it.
    ///
    /// # Errors
    /// [`Error::Damaged`] if a whole line is not an event, or raw/ or output/ contains a version without an
    /// event.
    pub fn open(workspace: &Workspace, recipe: &str) -> Result<Registry, Error> {
        let place = workspace.raw_folder().join("releases").join(recipe);
        let mut registry = Registry { place, ..Registry::default() };
        // Listed before reading: other processes register a release before they name its folder.
        let output = workspace.root().join("output").join(recipe);
        let mut standing = find_versions(&registry.place, |folder| folder.join(TEXTS).exists())?;
        standing.extend(find_versions(&output, |folder| folder.join(MANIFEST).exists())?);
        registry.read_events()?;
        standing.retain(|(version, _)| registry.find_release(*version).is_none());
        match standing.first() {
            None => Ok(registry),
            Some((version, folder)) => Err(Error::Damaged {
                path: registry.registry_path(),
                what: format!("it does not name {version}, which is in {}", folder.display()),
                hint: format!(
                    "a release was lost from it; restore it from a backup, or move {} away if it was never \
                     passed on. Nothing was written",
                    folder.display()
                ),
            }),
        }
    }

    fn read_events(&mut self) -> Result<(), Error> {
        for event in Log::in_file(self.registry_path()).read_entries::<Event>()? {
            match event {
                Event::Canary { guid } => self.canary = Some(guid),
                Event::Release(release) => self.releases.push(*release),
                Event::Yanked { version, yanked } => drop(self.yanked.insert(version, yanked)),
                Event::Adopted { mut numbers, .. } => self.adopted.append(&mut numbers),
            }
        }
        Ok(())
    }

    fn registry_path(&self) -> PathBuf {
        self.place.join("registry.jsonl")
    }

    /// The folder of a version's sealed files.
    pub fn version_folder(&self, version: Version) -> PathBuf {
        self.place.join(version.to_string())
    }

    /// The release of a version.
    pub fn find_release(&self, version: Version) -> Option<&Release> {
        self.releases.iter().find(|r| r.version == version)
    }

    /// The greatest version.
    pub fn latest_release(&self) -> Option<&Release> {
        self.releases.iter().max_by_key(|r| r.version)
    }

    /// The greatest stable version.
    pub fn latest_stable(&self) -> Option<&Release> {
        self.releases.iter().filter(|r| r.version.draft.is_none()).max_by_key(|r| r.version)
    }

    /// The canary, drawn now if this recipe has none.
    ///
    /// # Errors
    /// [`Error`] if there are no random numbers or the registry cannot be written.
    pub fn ensure_canary(&mut self) -> Result<String, Error> {
        if let Some(guid) = &self.canary {
            return Ok(guid.clone());
        }
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)
            .map_err(|e| Error::io("draw a canary for", &self.place)(std::io::Error::other(e.to_string())))?;
        let guid = format_guid(bytes);
        // On the disk before it is used, so that a published canary is never drawn again.
        self.append_event(&Event::Canary { guid: guid.clone() })?;
        self.canary = Some(guid.clone());
        Ok(guid)
    }

    /// Registers a release. Its sealed files must be on disk before.
    ///
    /// # Errors
    /// [`Error`] if the registry cannot be written.
    pub fn record_release(&mut self, release: Release) -> Result<(), Error> {
        self.append_event(&Event::Release(Box::new(release.clone())))?;
        self.releases.push(release);
        Ok(())
    }

    /// Records that a version was yanked.
    ///
    /// # Errors
    /// [`Error`] if the registry cannot be written.
    pub fn record_yank(&mut self, version: Version, yanked: Yanked) -> Result<(), Error> {
        self.append_event(&Event::Yanked { version, yanked: yanked.clone() })?;
        self.yanked.insert(version, yanked);
        Ok(())
    }

    /// Registers numbers of a set published elsewhere.
    ///
    /// # Errors
    /// [`Error`] if the registry cannot be written.
    pub fn record_adoption(
        &mut self,
        sha256: String,
        numbers: Vec<(String, String, u64)>,
    ) -> Result<(), Error> {
        self.append_event(&Event::Adopted { sha256, numbers: numbers.clone() })?;
        self.adopted.extend(numbers);
        Ok(())
    }

    fn append_event(&mut self, event: &Event) -> Result<(), Error> {
        Ok(Log::in_file(self.registry_path()).add([event])?)
    }

    /// Numbers by series and key, over all releases: a key keeps its number permanently.
    pub fn collect_ordinals(&self) -> Ordinals {
        let mut ordinals = Ordinals::default();
        for (series, key, number) in self.adopted.iter().chain(self.releases.iter().flat_map(|r| &r.allotted))
        {
            ordinals.add_known(series, key, *number);
        }
        ordinals
    }
}

impl Registry {
    /// The rows that releases put into splits: a row keeps its split permanently.
    pub(super) fn allotted_splits(&self) -> Vec<Allotted> {
        self.releases.iter().flat_map(|release| release.split.iter().cloned()).collect()
    }
}

/// Permanent numbers of rows (`index`, `SP-0`): known ones, and new ones after the greatest ever assigned.
#[derive(Clone, Debug, Default)]
pub struct Ordinals {
    known: BTreeMap<String, BTreeMap<String, u64>>,
    borne: Vec<(String, String, u64)>,
    new: Vec<(String, String, u64)>,
    /// The splits of the rows, if the set is divided.
    division: Option<Division>,
}

impl Ordinals {
    /// The splits of the rows; `None` if they are in one file.
    pub(super) fn division(&self) -> Option<&Division> {
        self.division.as_ref()
    }

    /// Divides the rows.
    pub(super) fn set_division(&mut self, division: Division) {
        self.division = Some(division);
    }

    /// The number of a key in a series, assigned now if it has none; a series begins with `first`.
    pub fn assign_number(&mut self, series: &str, first: u64, key: &str) -> u64 {
        let numbers = self.known.entry(series.into()).or_default();
        let (number, new) = match numbers.get(key) {
            Some(number) => (*number, false),
            None => (numbers.values().max().map_or(first, |last| last + 1), true),
        };
        let ordinal = (series.to_string(), key.to_string(), number);
        if new {
            numbers.insert(key.into(), number);
            self.new.push(ordinal.clone());
        }
        self.borne.push(ordinal);
        number
    }

    /// Assigns a key its number in a published set, unless either has another.
    pub(super) fn assign_published(&mut self, series: &str, key: &str, number: u64) {
        if self.number_of_key(series, key).is_none() && self.key_of_number(series, number).is_none() {
            self.add_known(series, key, number);
            self.new.push((series.to_owned(), key.to_owned(), number));
        }
    }

    /// Adds a known number.
    pub(super) fn add_known(&mut self, series: &str, key: &str, number: u64) {
        self.known.entry(series.into()).or_default().insert(key.into(), number);
    }

    /// Adds numbers known to another registry and not to this one.
    pub(super) fn merge_known(&mut self, other: &Ordinals) {
        for (series, numbers) in &other.known {
            let own = self.known.entry(series.clone()).or_default();
            for (key, number) in numbers {
                own.entry(key.clone()).or_insert(*number);
            }
        }
    }

    /// The key with a number.
    pub fn key_of_number(&self, series: &str, number: u64) -> Option<&str> {
        self.known.get(series)?.iter().find(|(_, n)| **n == number).map(|(key, _)| key.as_str())
    }

    /// The number of a key.
    pub fn number_of_key(&self, series: &str, key: &str) -> Option<u64> {
        self.known.get(series)?.get(key).copied()
    }

    /// The numbers requested since the registry was read: series, key, number.
    pub fn requested_numbers(&self) -> &[(String, String, u64)] {
        &self.borne
    }

    /// The new ones of these.
    pub fn new_numbers(&self) -> &[(String, String, u64)] {
        &self.new
    }
}

/// A random GUID of version 4.
fn format_guid(mut bytes: [u8; 16]) -> String {
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex = hex::encode(bytes);
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

/// Seals files, one behind the other: their bytes as zstd, on disk. A sealed file is never overwritten.
///
/// # Errors
/// [`Error`] if either cannot be read or written, or the sealed file exists.
pub(super) fn seal_files(from: &[PathBuf], to: &Path) -> Result<(), Error> {
    let mut source: Box<dyn Read> = Box::new(std::io::empty());
    for path in from {
        let file = fence::open(path).map_err(Error::io("read", path))?;
        source = Box::new(source.chain(file));
    }
    let target = fence::open_with(to, File::options().write(true).create_new(true))
        .map_err(Error::io("create", to))?;
    zstd::stream::copy_encode(source, &target, 9).map_err(Error::io("write", to))?;
    target.sync_data().map_err(Error::io("write", to))
}

/// Opens a sealed file.
///
/// # Errors
/// [`Error`] if it cannot be read.
pub(super) fn open_sealed(path: &Path) -> Result<impl BufRead + use<>, Error> {
    Ok(BufReader::new(open_frames(path).map_err(Error::io("read", path))?))
}

/// An empty folder for a version's sealed files, until the version is registered.
///
/// # Errors
/// [`Error`] if a folder of the version exists already, or none can be created.
pub(super) fn create_sealing_folder(registry: &Registry, version: Version) -> Result<PathBuf, Error> {
    let place = registry.version_folder(version);
    if place.exists() {
        return Err(Error::Damaged {
            path: place,
            what: format!("it exists, but the registry does not list {version}"),
            hint: "sealed files are never overwritten; check what is in it, and move it away".into(),
        });
    }
    let temp_dir = durable::name_while_making(&place);
    // `name_sealed` ran before, so this is left of a release that was never registered.
    durable::remove_folder(&temp_dir)?;
    durable::create_folder(&temp_dir)?;
    Ok(temp_dir)
}

impl Registry {
    /// Names the folders of registered versions whose process was stopped before it did so.
    ///
    /// # Errors
    /// [`Error`] if a folder cannot be renamed.
    pub(super) fn name_sealed(&self) -> Result<(), Error> {
        for release in &self.releases {
            let place = self.version_folder(release.version);
            let temp_dir = durable::name_while_making(&place);
            if place.exists() || !temp_dir.exists() {
                continue;
            }
            match fence::rename(&temp_dir, &place) {
                // Another process was first.
                Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                    return Err(Error::io("rename to", &place)(e));
                }
                _ => durable::sync_folder(&self.place)?,
            }
        }
        Ok(())
    }
}

/// The folders in a folder whose names are versions and that contain files of one.
fn find_versions(
    folder: &Path,
    is_one: impl Fn(&Path) -> bool,
) -> Result<BTreeSet<(Version, PathBuf)>, Error> {
    let entries = match fence::list(folder) {
        Ok(entries) => entries,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(BTreeSet::new()),
        Err(e) => return Err(Error::io("list", folder)(e)),
    };
    let mut found = BTreeSet::new();
    for entry in entries {
        let path = entry.map_err(Error::io("list", folder))?.path();
        let version = path.file_name().and_then(|name| name.to_str()?.parse().ok());
        if let Some(version) = version.filter(|_| is_one(&path)) {
            found.insert((version, path));
        }
    }
    Ok(found)
}

#[cfg(test)]
#[path = "registry_tests.rs"]
mod tests;
