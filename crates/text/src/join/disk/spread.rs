//! First pass: rows go to parts by the hash of their text, so that copies meet.

use std::fs::File;
use std::hash::{Hash, Hasher};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use rustc_hash::FxHasher;

use super::DiskError;
use crate::join::watch;

/// A part: rows with their numbers, in the order of the input.
pub(super) struct RowPart(PathBuf);

/// After so many rows it is looked whether anybody still waits.
const OFTEN: usize = 1 << 12;

/// Spreads rows over parts; empty rows are left out.
pub(super) fn spread_rows<T: AsRef<str>>(
    rows: impl IntoIterator<Item = T>,
    folder: &Path,
    parts: usize,
    waiting: watch::WorkPart<'_>,
) -> Result<Vec<RowPart>, DiskError> {
    let paths = (0..parts).map(|part| folder.join(format!("rows-{part}")));
    let mut parts = paths.map(PartWriter::create).collect::<Result<Vec<_>, _>>()?;
    for (n, row) in rows.into_iter().enumerate() {
        if n.is_multiple_of(OFTEN) {
            DiskError::unless_stopped(waiting)?;
        }
        let row = row.as_ref();
        if row.is_empty() {
            continue;
        }
        let n = u32::try_from(n).ok().filter(|&n| n < u32::MAX).ok_or(DiskError::TooMany)?;
        let mut hasher = FxHasher::default();
        row.hash(&mut hasher);
        let part = (hasher.finish() >> 32) as usize % parts.len();
        parts[part].push(n, row)?;
    }
    parts.into_iter().map(PartWriter::finish).collect()
}

pub(super) struct PartWriter {
    path: PathBuf,
    out: BufWriter<File>,
}

impl PartWriter {
    pub fn create(path: PathBuf) -> Result<Self, DiskError> {
        let file = File::create(&path).map_err(DiskError::io_error("create", &path))?;
        Ok(Self { path, out: BufWriter::with_capacity(1 << 16, file) })
    }

    pub fn push(&mut self, n: u32, text: &str) -> Result<(), DiskError> {
        let put = |out: &mut BufWriter<File>| {
            out.write_all(&n.to_le_bytes())?;
            out.write_all(&(text.len() as u32).to_le_bytes())?;
            out.write_all(text.as_bytes())
        };
        put(&mut self.out).map_err(DiskError::io_error("write", &self.path))
    }

    pub fn finish(mut self) -> Result<RowPart, DiskError> {
        self.out.flush().map_err(DiskError::io_error("write", &self.path))?;
        Ok(RowPart(self.path))
    }
}

impl RowPart {
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The whole part.
    pub fn read_bytes(&self) -> Result<Vec<u8>, DiskError> {
        std::fs::read(&self.0).map_err(DiskError::io_error("read", &self.0))
    }

    /// Deletes its file.
    pub fn remove_file(self) -> Result<(), DiskError> {
        std::fs::remove_file(&self.0).map_err(DiskError::io_error("remove", &self.0))
    }
}

/// The rows in the bytes of a part.
pub(super) fn rows_of_part(mut bytes: &[u8]) -> impl Iterator<Item = (u32, &str)> {
    std::iter::from_fn(move || {
        let (n, rest) = bytes.split_first_chunk()?;
        let (len, rest) = rest.split_first_chunk()?;
        let (text, rest) = rest.split_at_checked(u32::from_le_bytes(*len) as usize)?;
        bytes = rest;
        Some((u32::from_le_bytes(*n), std::str::from_utf8(text).ok()?))
    })
}
