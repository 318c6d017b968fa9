//! Where names stand in a ledger, in files of their own that can be made again from it.
//!
//! A file for each part of a ledger, under the hash of the part's bytes: rows of the hash of a name, lowest byte first, and
//! of the place of the entry, in order. A name is looked up by halving, so that nothing is read through.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;

use positioned_io::ReadAt;
use rayon::prelude::*;

use super::explain::Books;
use crate::record::{Entry, Record};
use crate::store::durable::create_folder;
use crate::store::{Error, Filter, StageReader, Workspace, from_frame, part_columns, part_rows, select};

/// Bytes of a row: the hash of a name and a place.
const ROW: usize = 12;
/// Ledgers of fewer entries are read through: that is as quick.
const FEWEST: u64 = 1 << 15;

/// Looks names up in `.index/ledgers`, where they are written down the first time that somebody asks.
pub struct Indexed {
    folder: PathBuf,
    fewest: u64,
}

impl Indexed {
    /// The names of a workspace's ledgers.
    pub fn new(workspace: &Workspace) -> Indexed {
        Indexed { folder: workspace.root().join(".index").join("ledgers"), fewest: FEWEST }
    }

    /// The names in a part of a stage's ledger.
    fn names(&self, stage: &StageReader, part: usize, hash: &str) -> Result<File, Error> {
        let place = stage.place();
        let own: PathBuf = place.components().rev().take(2).collect::<Vec<_>>().into_iter().rev().collect();
        let folder = self.folder.join(own);
        let path = folder.join(format!("{hash}.names"));
        if let Ok(file) = File::open(&path) {
            return Ok(file);
        }
        let bytes = written_down(stage, part)?;
        create_folder(&folder)?;
        // A name of its own: two may write it at once. It can be made again, so that nothing waits for the disk.
        let write = || {
            let mut file = tempfile::NamedTempFile::new_in(&folder)?;
            file.write_all(&bytes)?;
            file.persist(&path).map_err(|e| e.error)?;
            File::open(&path)
        };
        let file = write().map_err(Error::io("write", &path))?;
        // Those of parts that a later run replaced are of no use to anybody.
        let parts: BTreeSet<String> =
            stage.table("ledger").parts.into_iter().map(|part| part.blake3).collect();
        for known in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let name = known.file_name().to_string_lossy().into_owned();
            if name.strip_suffix(".names").is_some_and(|hash| !parts.contains(hash)) {
                // Another one may have removed it just now.
                let _ = fs::remove_file(known.path());
            }
        }
        Ok(file)
    }
}

impl Books for Indexed {
    fn entries(&self, stage: &StageReader, ids: &[&str], into: &[&str]) -> Result<Vec<Entry>, Error> {
        let ledger = stage.table("ledger");
        if ledger.rows < self.fewest {
            let named = |column, names: &[&str]| Filter::any_of(column, names.iter().copied());
            return select::<Entry>(stage, "ledger", &named("id", ids).or(named("into", into)));
        }
        let wanted: BTreeSet<u64> =
            ids.iter().map(|id| hash("id", id)).chain(into.iter().map(|id| hash("into", id))).collect();
        let found = |(number, part): (usize, &crate::store::Part)| -> Result<Vec<Entry>, Error> {
            let names = self.names(stage, number, &part.blake3)?;
            let looked_up = wanted.iter().map(|hash| places(&names, *hash));
            let rows: BTreeSet<usize> = looked_up
                .collect::<std::io::Result<Vec<_>>>()
                .map_err(Error::io("read", &self.folder))?
                .into_iter()
                .flatten()
                .collect();
            if rows.is_empty() {
                return Ok(Vec::new());
            }
            let rows: Vec<usize> = rows.into_iter().collect();
            let columns: Vec<&str> = Entry::COLUMNS.iter().map(|column| column.name).collect();
            let frame = part_rows(stage, "ledger", number, &columns, &rows)?;
            from_frame(&frame).map_err(|e| Error::stale_file(&stage.place().join(&part.file), e))
        };
        let parts: Vec<Vec<Entry>> =
            ledger.parts.par_iter().enumerate().map(found).collect::<Result<_, _>>()?;
        // Two names may have one hash.
        let meant = |entry: &Entry| {
            ids.contains(&entry.id.as_str()) || entry.into.as_deref().is_some_and(|name| into.contains(&name))
        };
        Ok(parts.into_iter().flatten().filter(meant).collect())
    }
}

/// The file of a part's names.
fn written_down(stage: &StageReader, part: usize) -> Result<Vec<u8>, Error> {
    let frame = part_columns(stage, "ledger", part, &["id", "into"])?;
    let damaged = |e| Error::stale_file(&stage.place().join("ledger"), e);
    let mut rows: Vec<(u64, u32)> = Vec::with_capacity(frame.height());
    for column in ["id", "into"] {
        let names = frame.column(column).and_then(|column| column.str()).map_err(damaged)?;
        rows.extend(names.iter().zip(0..).filter_map(|(name, at)| Some((hash(column, name?), at))));
    }
    rows.par_sort_unstable();
    let mut bytes = Vec::with_capacity(rows.len() * ROW);
    for (hash, at) in rows {
        bytes.extend(hash.to_le_bytes());
        bytes.extend(at.to_le_bytes());
    }
    Ok(bytes)
}

/// The places of a name.
fn places(names: &File, wanted: u64) -> std::io::Result<Vec<usize>> {
    let rows = names.metadata()?.len() / ROW as u64;
    let row = |at: u64| -> std::io::Result<(u64, u32)> {
        let mut bytes = [0; ROW];
        names.read_exact_at(at * ROW as u64, &mut bytes)?;
        let (hash, place) = bytes.split_at(8);
        let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte));
        Ok((number(hash), number(place) as u32))
    };
    let (mut low, mut high) = (0, rows);
    while low < high {
        let middle = low + (high - low) / 2;
        if row(middle)?.0 < wanted { low = middle + 1 } else { high = middle }
    }
    let mut found = Vec::new();
    while low < rows {
        let (hash, place) = row(low)?;
        if hash != wanted {
            break;
        }
        found.push(place as usize);
        low += 1;
    }
    Ok(found)
}

/// A name in one of the two columns.
fn hash(column: &str, name: &str) -> u64 {
    let hash =
        blake3::Hasher::new().update(column.as_bytes()).update(b" ").update(name.as_bytes()).finalize();
    hash.as_bytes()[..8].iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::audit::OnDisk;
    use crate::recipe;
    use crate::record::{Outcome, Post, Reason};
    use crate::store::{StageWriter, opening};

    /// A stage that merged each record into one of five.
    fn ledger(place: &std::path::Path, records: usize) {
        let mut writer = StageWriter::<Post>::create(place).unwrap();
        for n in 0..records {
            let into = format!("k{}", n % 5);
            writer.put(
                &format!("r{n}"),
                &Outcome::Merged { into, score: 1.0, reason: Reason::SameId, evidence: String::new() },
            );
        }
        writer.commit(opening("flub", "import", 1, BTreeMap::new(), Vec::new(), BTreeMap::new())).unwrap();
    }

    #[test]
    fn names_are_found_as_they_are_by_reading_through() {
        let dir = tempfile::tempdir().unwrap();
        let workspace = Workspace::new(dir.path());
        let recipe = recipe::find("flub").unwrap();
        let place = workspace.stage(recipe.name, 1, "import");
        ledger(&place, 300);
        let stage = StageReader::open(&place).unwrap().unwrap();
        let indexed = Indexed { fewest: 0, ..Indexed::new(&workspace) };
        for (ids, into) in [
            (vec!["r7"], vec![]),
            (vec![], vec!["k3"]),
            (vec!["r0", "r299", "none"], vec!["k0", "none"]),
            (vec!["none"], vec![]),
        ] {
            let want = OnDisk.entries(&stage, &ids, &into).unwrap();
            assert_eq!(indexed.entries(&stage, &ids, &into).unwrap(), want, "{ids:?} {into:?}");
            assert_eq!(want.is_empty(), ids == ["none"] && into.is_empty());
        }
        // One file a part, and none of what went.
        let folder = dir.path().join(".index/ledgers/flub/01_import");
        let files = || fs::read_dir(&folder).unwrap().count();
        assert_eq!(files(), 1);
        fs::write(folder.join("0000.names"), "of a part that went").unwrap();
        fs::remove_dir_all(&place).unwrap();
        ledger(&place, 301);
        let stage = StageReader::open(&place).unwrap().unwrap();
        assert_eq!(indexed.entries(&stage, &["r300"], &[]).unwrap().len(), 1);
        assert_eq!(files(), 1);
    }
}
