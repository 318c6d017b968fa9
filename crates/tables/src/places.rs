//! Indexes from names to rows of a table, in separate files that can be rebuilt from it.
//!
//! One file for each part of a table and column of names, named by the hash of the part's bytes: sorted
//! entries of the hash of a name, lowest byte first, and its row. A name is found by binary search, without
//! reading the file through. The files are in `.index/places` of the workspace and are written on first use.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::PathBuf;

use polars::prelude::*;
use positioned_io::ReadAt;
use rayon::prelude::*;

use super::part_columns::{part_columns, part_rows};
use super::{Error, Filter, Part, StageReader};
use riddlemill_files::durable::create_folder;

/// Bytes of an entry: the hash of a name and a row.
const ROW: usize = 12;
/// Tables of fewer rows are read through, which is as fast.
const FEWEST: u64 = 1 << 15;

/// Up to this many runs of rows are read separately instead of their whole part.
const SOME_RUNS: usize = 32;

/// The rows of a long table that contain names, by index; `None` if the table has to be read through.
pub(super) fn named_rows(
    stage: &StageReader,
    table: &str,
    columns: &[&str],
    filter: &Filter,
) -> Option<Result<Vec<DataFrame>, Error>> {
    let names = filter.required_names()?;
    let places = Places::open(stage, table)?;
    // The filter is applied again to the rows found, because hashes may collide.
    let more = filter.used_columns().into_iter().filter(|column| !columns.contains(column));
    let all: Vec<&str> = columns.iter().copied().chain(more).collect();
    let read = |(number, part): (usize, &Part)| -> Result<Option<DataFrame>, Error> {
        let rows = places.find_rows(number, part, &names)?;
        if rows.is_empty() {
            return Ok(None);
        }
        let runs = rows.chunk_by(|row, next| row + 1 == *next).count();
        let frame = match runs <= SOME_RUNS {
            true => part_rows(stage, table, number, &all, &rows)?,
            false => part_columns(stage, table, number, &all)?,
        };
        let fits = filter.compute_mask(&frame).and_then(|mask| {
            let mask = BooleanChunked::from_slice(PlSmallStr::EMPTY, &mask);
            frame.filter(&mask)
        });
        fits.map(Some).map_err(|e| Error::stale_file(&stage.folder().join(&part.file), e))
    };
    let parts = stage.table(table).parts;
    let frames: Result<Vec<Option<DataFrame>>, Error> = parts.par_iter().enumerate().map(read).collect();
    match frames {
        Ok(frames) => Some(Ok(frames.into_iter().flatten().collect())),
        // Without permission to write next to the stages, the table is read through.
        Err(Error::Io { .. }) => None,
        Err(other) => Some(Err(other)),
    }
}

/// The indexes of one table of one stage.
struct Places<'s> {
    stage: &'s StageReader,
    table: &'s str,
    folder: PathBuf,
}

impl<'s> Places<'s> {
    /// Opens them for a table that is long enough, in a stage of a workspace: others are read through.
    fn open(stage: &'s StageReader, table: &'s str) -> Option<Places<'s>> {
        let is_long = stage.manifest().tables.get(table).is_some_and(|table| table.rows >= FEWEST);
        Places::locate_index(stage, table).filter(|_| is_long)
    }

    fn locate_index(stage: &'s StageReader, table: &'s str) -> Option<Places<'s>> {
        let recipe = stage.folder().parent()?;
        let staged = recipe.parent().filter(|folder| folder.ends_with("staged"))?;
        let own = stage.folder().strip_prefix(staged).ok()?;
        let folder = staged.parent()?.join(".index").join("places").join(own);
        Some(Places { stage, table, folder })
    }

    /// The rows of a part where one of these columns may contain one of its texts, ascending. Hashes may
    /// collide, so the caller has to check the rows.
    ///
    /// # Errors
    /// [`Error`] if the part cannot be read, or the index not be written.
    fn find_rows(
        &self,
        number: usize,
        part: &Part,
        wanted: &[(&'static str, &[String])],
    ) -> Result<Vec<usize>, Error> {
        let mut rows = BTreeSet::new();
        for (column, names) in wanted.iter().filter(|(_, names)| !names.is_empty()) {
            let file = self.open_index_file(number, &part.blake3, column)?;
            for name in *names {
                let found = rows_of_name(&file, hash(name)).map_err(Error::io("read", &self.folder))?;
                rows.extend(found);
            }
        }
        Ok(rows.into_iter().collect())
    }

    /// The index of a column of a part.
    fn open_index_file(&self, part: usize, hash: &str, column: &'static str) -> Result<File, Error> {
        let folder = self.folder.join(format!("{}.{column}", self.table));
        let path = folder.join(format!("{hash}.names"));
        // The name contains the hash of the part, so an existing index is never outdated.
        if let Ok(file) = File::open(&path) {
            return Ok(file);
        }
        let bytes = self.written_down(part, column)?;
        create_folder(&folder)?;
        // A temporary name, because two processes may write it at once. Not synced, because it can be
        // rebuilt.
        let write = || {
            let mut file = tempfile::NamedTempFile::new_in(&folder)?;
            file.write_all(&bytes)?;
            file.persist(&path).map_err(|e| e.error)?;
            File::open(&path)
        };
        let file = write().map_err(Error::io("write", &path))?;
        // Indexes of parts that a later run replaced are removed.
        let parts: BTreeSet<String> =
            self.stage.table(self.table).parts.into_iter().map(|part| part.blake3).collect();
        for known in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let name = known.file_name().to_string_lossy().into_owned();
            if name.strip_suffix(".names").is_some_and(|hash| !parts.contains(hash)) {
                // Another process may have removed it just now.
                let _ = fs::remove_file(known.path());
            }
        }
        Ok(file)
    }

    /// Builds the index of a part.
    fn written_down(&self, part: usize, column: &'static str) -> Result<Vec<u8>, Error> {
        let frame = part_columns(self.stage, self.table, part, &[column])?;
        let damaged = |e| Error::stale_file(&self.stage.folder().join(self.table), e);
        let names = frame.column(column).and_then(|column| column.str()).map_err(damaged)?;
        let mut rows: Vec<(u64, u32)> =
            names.iter().zip(0..).filter_map(|(name, at)| Some((hash(name?), at))).collect();
        rows.par_sort_unstable();
        let mut bytes = Vec::with_capacity(rows.len() * ROW);
        for (hash, at) in rows {
            bytes.extend(hash.to_le_bytes());
            bytes.extend(at.to_le_bytes());
        }
        Ok(bytes)
    }
}

/// The rows of a name.
fn rows_of_name(index: &File, wanted_hash: u64) -> io::Result<Vec<usize>> {
    let rows = index.metadata()?.len() / ROW as u64;
    let row = |at: u64| -> io::Result<(u64, u32)> {
        let mut bytes = [0; ROW];
        index.read_exact_at(at * ROW as u64, &mut bytes)?;
        let (hash, place) = bytes.split_at(8);
        let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte));
        Ok((number(hash), number(place) as u32))
    };
    let (mut low, mut high) = (0, rows);
    while low < high {
        let middle = low + (high - low) / 2;
        // The first of equal hashes is searched, because several rows may have one name.
        if row(middle)?.0 < wanted_hash { low = middle + 1 } else { high = middle }
    }
    let mut found = Vec::new();
    while low < rows {
        let (hash, place) = row(low)?;
        if hash != wanted_hash {
            break;
        }
        found.push(place as usize);
        low += 1;
    }
    Ok(found)
}

fn hash(name: &str) -> u64 {
    let hash = blake3::hash(name.as_bytes());
    hash.as_bytes()[..8].iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use super::*;
    use crate::{Filter, StageWriter, expected_manifest, select_rows};
    use riddlemill_record::{Entry, Outcome, Post, Reason};

    /// A stage that merged each record into one of five.
    fn ledger(place: &Path, records: usize) -> StageReader {
        let mut writer = StageWriter::<Post>::create(place).unwrap();
        for n in 0..records {
            let into = format!("k{}", n % 5);
            writer.append(
                &format!("r{n}"),
                &Outcome::Merged { into, score: 1.0, reason: Reason::SameId, evidence: String::new() },
            );
        }
        writer
            .commit(expected_manifest("flub", "import", 1, BTreeMap::new(), Vec::new(), BTreeMap::new()))
            .unwrap();
        StageReader::open(place).unwrap().unwrap()
    }

    fn own(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn names_are_found_as_they_are_by_reading_through() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("staged/flub/01_import");
        let stage = ledger(&place, 300);
        let named = |stage: &StageReader, ids: &[&str], into: &[&str]| -> Vec<usize> {
            let places = Places::locate_index(stage, "ledger").unwrap();
            let [ids, into] = [own(ids), own(into)];
            let wanted = [("id", ids.as_slice()), ("into", into.as_slice())];
            let parts = stage.table("ledger").parts;
            parts
                .iter()
                .enumerate()
                .flat_map(|(n, part)| places.find_rows(n, part, &wanted).unwrap())
                .collect()
        };
        for (ids, into) in [
            (vec!["r7"], vec![]),
            (vec![], vec!["k3"]),
            (vec!["r0", "r299", "none"], vec!["k0", "none"]),
            (vec!["none"], vec![]),
        ] {
            let filter = |column, names: &[&str]| Filter::any_of(column, names.iter().copied());
            // Tables this small are read through.
            let want: Vec<Entry> =
                select_rows(&stage, "ledger", &filter("id", &ids).or(filter("into", &into))).unwrap();
            let rows: Vec<String> = named(&stage, &ids, &into).iter().map(|row| format!("r{row}")).collect();
            assert_eq!(rows, want.into_iter().map(|entry| entry.id).collect::<Vec<_>>(), "{ids:?} {into:?}");
        }
        // One file per part, and none for removed parts.
        let folder = dir.path().join(".index/places/flub/01_import/ledger.id");
        let files = || fs::read_dir(&folder).unwrap().count();
        assert_eq!(files(), 1);
        fs::write(folder.join("0000.names"), "of a part that went").unwrap();
        fs::remove_dir_all(&place).unwrap();
        let stage = ledger(&place, 301);
        assert_eq!(named(&stage, &["r300"], &[]), [300]);
        assert_eq!(files(), 1);
    }

    #[test]
    fn a_long_table_is_looked_up_and_says_the_same() {
        let dir = tempfile::tempdir().unwrap();
        let stage = ledger(&dir.path().join("staged/flub/01_import"), 40_000);
        let by = |filter: Filter| -> Vec<String> {
            select_rows::<Entry>(&stage, "ledger", &filter)
                .unwrap()
                .into_iter()
                .map(|entry| entry.id)
                .collect()
        };
        assert_eq!(by(Filter::any_of("id", ["r39999", "r5", "none"])), ["r5", "r39999"]);
        assert!(dir.path().join(".index/places/flub/01_import/ledger.id").is_dir());
        assert_eq!(by(Filter::equals("into", "k3").and(Filter::equals("id", "r8"))), ["r8"]);
        assert_eq!(by(Filter::equals("into", "k3")).len(), 8_000);
        assert_eq!(by(Filter::equals("id", "r7").or(Filter::equals("into", "none"))), ["r7"]);
        // If nothing can be written, the table is read through.
        fs::remove_dir_all(dir.path().join(".index")).unwrap();
        fs::write(dir.path().join(".index"), "no folder").unwrap();
        assert_eq!(by(Filter::equals("id", "r7")), ["r7"]);
    }
}
