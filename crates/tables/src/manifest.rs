//! The description of a stage folder.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::Error;
use riddlemill_files::fence;
use riddlemill_record::Counts;

/// The version of the folder layout and of the row hashes. Other versions are rewritten.
pub const FORMAT: u32 = 3;
/// The manifest's file name.
pub const MANIFEST: &str = "manifest.json";

/// Everything that determined what a stage wrote, and the hashes of what it wrote. No times, no paths of a
/// machine: the same inputs give the same bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The layout's version.
    pub format: u32,
    pub recipe: String,
    /// The stage's name in it.
    pub stage: String,
    /// The version of the stage's code: it grows when the same input would give another output.
    pub stage_version: u32,
    /// The settings the stage read, resolved.
    pub settings: BTreeMap<String, serde_json::Value>,
    /// The tables it read.
    pub inputs: Vec<InputRef>,
    /// What it read from raw/ (dumps, replies, votes): name and hash.
    pub evidence: BTreeMap<String, String>,
    /// The hash of all of the above: the stage is fresh while it is unchanged.
    pub fingerprint: String,
    /// The counts of records by state and reason.
    pub counts: Counts,
    /// What it wrote: `rows`, `ledger`, `links` and further tables.
    pub tables: BTreeMap<String, Table>,
}

/// A table that a stage read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputRef {
    /// The recipe it belongs to.
    pub recipe: String,
    /// The stage that wrote it.
    pub stage: String,
    /// The logical hash of its rows.
    pub rows: String,
}

/// A table of a stage folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Table {
    /// How many rows it has.
    pub rows: u64,
    /// The logical hash of all of them, independent of the files.
    pub hash: String,
    /// Its files.
    pub parts: Vec<Part>,
}

/// A Parquet file of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Relative to the stage folder.
    pub file: String,
    /// How many rows it has.
    pub rows: u64,
    /// Its length.
    pub bytes: u64,
    /// BLAKE3 of the file.
    pub blake3: String,
    /// The logical hash of its rows.
    pub hash: String,
}

impl Manifest {
    /// Reads a stage's manifest, or `None` if the stage has not been made.
    ///
    /// # Errors
    /// [`Error::Damaged`] if the file is truncated or edited, [`Error::Layout`] if it is of another layout.
    pub fn read_from_stage(stage: &Path) -> Result<Option<Manifest>, Error> {
        let path = stage.join(MANIFEST);
        let bytes = match fence::read(&path) {
            Ok(bytes) => bytes,
            Err(e)
                if matches!(e.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) =>
            {
                return Ok(None);
            }
            Err(e) => return Err(Error::io("read", &path)(e)),
        };
        let manifest: Manifest = serde_json::from_slice(&bytes).map_err(|e| Error::stale_file(&path, e))?;
        if manifest.format != FORMAT {
            return Err(Error::Layout { path, layout: manifest.format, reads: FORMAT });
        }
        for part in manifest.tables.values().flat_map(|table| &table.parts) {
            // An edited manifest could name a file outside of the stage.
            super::path_inside(stage, &part.file)?;
        }
        Ok(Some(manifest))
    }

    /// The manifest's bytes, as written.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(self).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    /// The hash that decides whether a stage is fresh.
    pub fn fingerprint_of(&self) -> String {
        let decides = serde_json::json!({
            "format": self.format, "recipe": self.recipe, "stage": self.stage,
            "stage_version": self.stage_version, "settings": self.settings,
            "inputs": self.inputs, "evidence": self.evidence,
        });
        blake3::hash(decides.to_string().as_bytes()).to_hex().to_string()
    }
}

impl Table {
    /// The hash of a table from its parts' hashes.
    pub fn hash_of(parts: &[Part]) -> String {
        let mut hasher = blake3::Hasher::new();
        for part in parts {
            hasher.update(part.hash.as_bytes());
        }
        hasher.finalize().to_hex().to_string()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A workspace may come from somebody else: the names in its manifest are joined to the stage's folder.
    #[test]
    fn a_part_in_somebodys_manifest_lies_nowhere_else() {
        let dir = tempfile::tempdir().unwrap();
        let read = |file: &str| {
            let part = serde_json::json!({ "file": file, "rows": 1, "bytes": 1, "blake3": "", "hash": "" });
            let manifest = serde_json::json!({
                "format": FORMAT, "recipe": "flub", "stage": "clean", "stage_version": 1, "settings": {},
                "inputs": [], "evidence": {}, "fingerprint": "",
                "counts": { "records_in": 1, "records_out": 1, "states": {}, "reasons": {} },
                "tables": { "rows": { "rows": 1, "hash": "", "parts": [part] } },
            });
            fs::write(dir.path().join(MANIFEST), manifest.to_string()).unwrap();
            Manifest::read_from_stage(dir.path())
                .map(|manifest| manifest.is_some())
                .map_err(|e| e.to_string())
        };
        assert_eq!(read("rows/00000.parquet"), Ok(true));
        for file in ["../../x.parquet", "/etc/passwd", "rows/../../../x"] {
            assert!(read(file).unwrap_err().contains("it names the file"), "{file}");
        }
    }
}
