//! Reads a stage, a part at a time.

use std::path::{Path, PathBuf};

use super::{Error, Manifest, Part, Table, part};
use riddlemill_record::{Record, Typed};

/// A finished stage.
#[derive(Clone, Debug)]
pub struct StageReader {
    place: PathBuf,
    manifest: Manifest,
}

impl StageReader {
    /// Opens a stage, or `None` if it has not been made.
    ///
    /// # Errors
    /// [`Error::Damaged`] if its manifest cannot be read.
    pub fn open(place: &Path) -> Result<Option<StageReader>, Error> {
        Ok(Manifest::read_from_stage(place)?.map(|manifest| StageReader { place: place.into(), manifest }))
    }

    /// What the stage was made from, and the rows, bytes and hashes of its files.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The stage folder.
    pub fn folder(&self) -> &Path {
        &self.place
    }

    /// A table's description; an absent table has no parts.
    pub fn table(&self, name: &str) -> Table {
        self.manifest.tables.get(name).cloned().unwrap_or_default()
    }

    /// The rows of a table, a part at a time, each checked against the manifest when it is read.
    pub fn read_parts<R: Typed>(
        &self,
        table: &str,
    ) -> impl Iterator<Item = Result<Vec<R>, Error>> + Send + use<R> {
        self.parts_of((), table)
    }

    /// [`StageReader::read_parts`] of these columns.
    pub fn parts_of<R: Record>(
        &self,
        columns: R::Columns,
        table: &str,
    ) -> impl Iterator<Item = Result<Vec<R>, Error>> + Send + use<R> {
        let place = self.place.clone();
        self.table(table).parts.into_iter().map(move |p| part::read_part(columns, &place, &p))
    }

    /// The rows of one part, checked against the manifest.
    ///
    /// # Errors
    /// [`Error`] if the part is missing or damaged.
    pub fn read_part<R: Record>(&self, columns: R::Columns, part: &Part) -> Result<Vec<R>, Error> {
        part::read_part(columns, &self.place, part)
    }

    /// All rows of a table.
    ///
    /// # Errors
    /// [`Error`] if a part is missing or damaged.
    pub fn read_table<R: Typed>(&self, table: &str) -> Result<Vec<R>, Error> {
        self.all_of((), table)
    }

    /// [`StageReader::read_table`] of these columns.
    ///
    /// # Errors
    /// [`Error`] if a part is missing or damaged.
    pub fn all_of<R: Record>(&self, columns: R::Columns, table: &str) -> Result<Vec<R>, Error> {
        let mut rows = Vec::with_capacity(self.table(table).rows as usize);
        for part in self.parts_of(columns, table) {
            rows.append(&mut part?);
        }
        Ok(rows)
    }

    /// Checks that every file of the stage is, byte for byte, the one in its manifest. On all cores.
    ///
    /// # Errors
    /// [`Error::Damaged`] naming a file that differs, [`Error::Io`] if one cannot be read.
    pub fn verify_contents(&self) -> Result<(), Error> {
        use rayon::prelude::*;
        // An edited manifest could otherwise pass for that of other settings.
        if self.manifest.fingerprint_of() != self.manifest.fingerprint {
            let path = self.place.join(super::MANIFEST);
            return Err(Error::stale_file(&path, "its fingerprint is not that of its settings and inputs"));
        }
        for (name, table) in &self.manifest.tables {
            if Table::hash_of(&table.parts) != table.hash {
                let path = self.place.join(super::MANIFEST);
                return Err(Error::stale_file(&path, format!("the hash of {name} is not that of its parts")));
            }
        }
        let parts: Vec<&Part> = self.manifest.tables.values().flat_map(|table| &table.parts).collect();
        parts.into_par_iter().try_for_each(|part| part::read_part_bytes(&self.place, part).map(drop))
    }

    /// Checks that every file of the stage exists with its length. Cheap; [`StageReader::verify_contents`] reads them.
    pub fn verify_lengths(&self) -> Result<(), Error> {
        for part in self.manifest.tables.values().flat_map(|t| &t.parts) {
            let path = self.place.join(&part.file);
            let length = std::fs::metadata(&path).map_err(Error::io("read", &path))?.len();
            if length != part.bytes {
                return Err(Error::stale_file(&path, format!("{length} bytes, not {}", part.bytes)));
            }
        }
        Ok(())
    }
}
