//! Writing a stage: outcomes in, parts out, books kept.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::{Batch, Error, InputRef, MANIFEST, Manifest, PART_ROWS, Part, Table, durable, part};
use crate::record::{Counts, Entry, Link, Outcome, Record, Unbalanced};

/// A stage in the making. Nothing of it is visible before [`StageWriter::commit`]; dropped without
/// it, the half-made folder is removed.
pub struct StageWriter<R: Record> {
    place: PathBuf,
    making: PathBuf,
    batch: Batch<R>,
    records_out: u64,
    joins: u64,
    rows: TableWriter<R>,
    ledger: TableWriter<Entry>,
    links: TableWriter<Link>,
    tables: BTreeMap<String, Table>,
    committed: bool,
}

/// Why a stage could not be committed.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    /// A file could not be written.
    #[error(transparent)]
    Store(#[from] Error),
    /// The books do not close, and nothing was written.
    #[error("{place}: {source}")]
    Unbalanced {
        /// The stage folder.
        place: String,
        /// Which side is off.
        source: Unbalanced,
    },
}

impl<R: Record> StageWriter<R> {
    /// Starts a stage that will stand in `place`.
    ///
    /// # Errors
    /// [`Error::Io`] where the folder beside it cannot be made.
    pub fn create(place: &Path) -> Result<StageWriter<R>, Error> {
        let making = durable::making(place);
        durable::remove_folder(&making)?;
        durable::create_folder(&making)?;
        Ok(StageWriter {
            rows: TableWriter::create(&making, "rows")?,
            ledger: TableWriter::create(&making, "ledger")?,
            links: TableWriter::create(&making, "links")?,
            place: place.to_path_buf(),
            making,
            batch: Batch::default(),
            records_out: 0,
            joins: 0,
            tables: BTreeMap::new(),
            committed: false,
        })
    }

    /// Takes what happened to one record that entered under `id`.
    pub fn put(&mut self, id: String, outcome: Outcome<R>) {
        self.batch.put(id, outcome);
    }

    /// Takes what happened to the records of a batch.
    pub fn append(&mut self, mut batch: Batch<R>) {
        self.hand_over();
        self.batch.count_as(&mut batch);
        let Batch { rows, ledger, links, .. } = batch;
        self.give(rows, ledger, links);
    }

    /// Takes a record that several others were joined into, with each parent and its role.
    pub fn join(&mut self, row: R, parents: impl IntoIterator<Item = (String, &'static str)>) {
        self.joins += 1;
        for (parent, role) in parents {
            self.batch.links.push(Link { child: row.id().into(), parent, role: role.into() });
        }
        self.batch.rows.push(row);
    }

    /// Adds a link of a record out to a record of another input.
    pub fn link(&mut self, child: &str, parent: &str, role: &str) {
        self.batch.links.push(Link { child: child.into(), parent: parent.into(), role: role.into() });
    }

    /// Writes the parts that are full, on all cores.
    ///
    /// # Errors
    /// [`Error::Io`] where a part cannot be written whole.
    pub fn flush(&mut self) -> Result<(), Error> {
        self.hand_over();
        let (rows, ledger) = (&mut self.rows, &mut self.ledger);
        let (a, b) = rayon::join(|| rows.flush(), || ledger.flush());
        a?;
        b?;
        self.links.flush()
    }

    /// Gives what was put to the tables.
    fn hand_over(&mut self) {
        let Batch { rows, ledger, links, .. } = &mut self.batch;
        let given = (emptied(rows), emptied(ledger), emptied(links));
        self.give(given.0, given.1, given.2);
    }

    fn give(&mut self, rows: Vec<R>, ledger: Vec<Entry>, links: Vec<Link>) {
        self.records_out += rows.len() as u64;
        self.rows.waiting.push(rows);
        self.ledger.waiting.push(ledger);
        self.links.waiting.push(links);
    }

    /// Starts a further table of the stage; give it back with [`StageWriter::keep`].
    ///
    /// # Errors
    /// [`Error::Io`] where its folder cannot be made.
    pub fn table<T: Record>(&self, name: &str) -> Result<TableWriter<T>, Error> {
        TableWriter::create(&self.making, name)
    }

    /// Takes a finished further table.
    ///
    /// # Errors
    /// [`Error::Io`] where its last part cannot be written.
    pub fn keep<T: Record>(&mut self, table: TableWriter<T>) -> Result<(), Error> {
        let (name, table) = table.finish()?;
        self.tables.insert(name, table);
        Ok(())
    }

    /// Closes the books, writes the manifest and puts the stage in its place.
    ///
    /// # Errors
    /// [`CommitError::Unbalanced`] where a record is not accounted for; the old stage still stands.
    pub fn commit(mut self, mut manifest: Manifest) -> Result<Manifest, CommitError> {
        self.hand_over();
        let counts = Counts { records_out: self.records_out, ..self.batch.counts() };
        counts
            .close(self.batch.children, self.joins)
            .map_err(|source| CommitError::Unbalanced { place: self.place.display().to_string(), source })?;
        let (rows, ledger, links) = (&mut self.rows, &mut self.ledger, &mut self.links);
        let (a, b) = rayon::join(|| rows.rest(), || ledger.rest().and_then(|()| links.rest()));
        a?;
        b?;
        for (name, table) in [self.rows.sum(), self.ledger.sum(), self.links.sum()] {
            self.tables.insert(name, table);
        }
        manifest.counts = counts;
        manifest.tables = std::mem::take(&mut self.tables);
        durable::write_synced(&self.making.join(MANIFEST), &manifest.to_bytes())?;
        durable::swap_folder(&self.making, &self.place)?;
        self.committed = true;
        Ok(manifest)
    }
}

impl<R: Record> Drop for StageWriter<R> {
    fn drop(&mut self) {
        if !self.committed {
            // Left over, it would only be removed by the next run.
            let _ = durable::remove_folder(&self.making);
        }
    }
}

/// A table in the making: rows are gathered until a part is full.
pub struct TableWriter<R: Record> {
    stage: PathBuf,
    name: String,
    waiting: Waiting<R>,
    parts: Vec<Part>,
}

/// Takes all rows out, and leaves room for as many.
fn emptied<R>(rows: &mut Vec<R>) -> Vec<R> {
    let room = Vec::with_capacity(rows.len());
    std::mem::replace(rows, room)
}

/// Rows that come one by one are put into blocks of this size.
const BLOCK: usize = 1024;

/// Rows that are not written yet, in the blocks they came in: rows are large, and none is moved to be written.
struct Waiting<R> {
    blocks: VecDeque<Vec<R>>,
    /// Rows of the first block that are written.
    written: usize,
    /// Rows that are not.
    rows: usize,
}

impl<R: Record> Waiting<R> {
    fn push(&mut self, rows: Vec<R>) {
        if !rows.is_empty() {
            self.rows += rows.len();
            self.blocks.push_back(rows);
        }
    }

    fn put(&mut self, row: R) {
        match self.blocks.back_mut() {
            Some(last) if last.len() < last.capacity() => last.push(row),
            _ => {
                let mut block = Vec::with_capacity(BLOCK);
                block.push(row);
                self.blocks.push_back(block);
            }
        }
        self.rows += 1;
    }

    /// The first rows, cut into parts of a size.
    fn parts(&self, mut rows: usize, size: usize) -> Vec<Vec<&[R]>> {
        let mut parts = vec![Vec::new()];
        let (mut room, mut skip) = (size, self.written);
        for block in &self.blocks {
            let mut block = &block[skip..];
            skip = 0;
            while rows > 0 && !block.is_empty() {
                if room == 0 {
                    parts.push(Vec::new());
                    room = size;
                }
                let (head, rest) = block.split_at(block.len().min(room).min(rows));
                if let Some(part) = parts.last_mut() {
                    part.push(head);
                }
                (room, rows) = (room - head.len(), rows - head.len());
                block = rest;
            }
        }
        parts
    }

    /// Lets go of the first rows.
    fn forget(&mut self, mut rows: usize) {
        self.rows -= rows;
        let mut gone = Vec::new();
        while let Some(first) = self.blocks.front() {
            let left = first.len() - self.written;
            if left > rows {
                self.written += rows;
                break;
            }
            (self.written, rows) = (0, rows - left);
            gone.extend(self.blocks.pop_front());
        }
        gone.into_par_iter().for_each(drop);
    }
}

impl<R: Record> TableWriter<R> {
    fn create(stage: &Path, name: &str) -> Result<TableWriter<R>, Error> {
        durable::create_folder(&stage.join(name))?;
        let waiting = Waiting { blocks: VecDeque::new(), written: 0, rows: 0 };
        Ok(TableWriter { stage: stage.into(), name: name.into(), waiting, parts: Vec::new() })
    }

    /// Takes a row.
    pub fn put(&mut self, row: R) {
        self.waiting.put(row);
    }

    /// Writes the parts that are full.
    ///
    /// # Errors
    /// [`Error::Io`] where a part cannot be written whole.
    pub fn flush(&mut self) -> Result<(), Error> {
        self.write(self.waiting.rows / PART_ROWS * PART_ROWS)
    }

    fn rest(&mut self) -> Result<(), Error> {
        self.write(self.waiting.rows)
    }

    /// Writes the first rows.
    fn write(&mut self, rows: usize) -> Result<(), Error> {
        if rows == 0 {
            return Ok(());
        }
        let first = self.parts.len();
        let written: Vec<Part> = self
            .waiting
            .parts(rows, PART_ROWS)
            .into_par_iter()
            .enumerate()
            .map(|(i, blocks)| {
                part::write(&self.stage, format!("{}/part-{:05}.parquet", self.name, first + i), &blocks)
            })
            .collect::<Result<_, _>>()?;
        self.parts.extend(written);
        self.waiting.forget(rows);
        Ok(())
    }

    fn sum(&mut self) -> (String, Table) {
        let parts = std::mem::take(&mut self.parts);
        let rows = parts.iter().map(|p| p.rows).sum();
        (self.name.clone(), Table { rows, hash: Table::hash_of(&parts), parts })
    }

    fn finish(mut self) -> Result<(String, Table), Error> {
        self.rest()?;
        durable::sync_folder(&self.stage.join(&self.name))?;
        Ok(self.sum())
    }
}

/// The manifest of a stage that is about to be made: what decides it, without what it will hold.
pub fn opening(
    recipe: &str,
    stage: &str,
    stage_version: u32,
    settings: BTreeMap<String, serde_json::Value>,
    inputs: Vec<InputRef>,
    evidence: BTreeMap<String, String>,
) -> Manifest {
    let mut manifest = Manifest {
        format: super::FORMAT,
        recipe: recipe.into(),
        stage: stage.into(),
        stage_version,
        settings,
        inputs,
        evidence,
        fingerprint: String::new(),
        counts: Counts::default(),
        tables: BTreeMap::new(),
    };
    manifest.fingerprint = manifest.fingerprint_of();
    manifest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Link;
    use proptest::prelude::*;

    fn link(n: usize) -> Link {
        Link { child: n.to_string(), ..Link::default() }
    }

    proptest! {
        #[test]
        fn parts_hold_every_row_once_and_in_order(
            blocks in prop::collection::vec(0usize..9, 0..12),
            singles in 0usize..5,
            size in 1usize..7,
            rounds in prop::collection::vec(0usize..20, 0..6),
        ) {
            let mut waiting = Waiting { blocks: VecDeque::new(), written: 0, rows: 0 };
            let mut rows = 0..;
            for block in blocks {
                waiting.push(rows.by_ref().take(block).map(link).collect());
            }
            rows.by_ref().take(singles).for_each(|n| waiting.put(link(n)));
            let all = rows.start;
            let mut written = Vec::new();
            for most in rounds.into_iter().chain([all]) {
                let count = most.min(waiting.rows);
                let parts = waiting.parts(count, size);
                let lens: Vec<usize> = parts.iter().map(|part| part.iter().map(|rows| rows.len()).sum()).collect();
                prop_assert_eq!(lens.iter().sum::<usize>(), count);
                prop_assert!(lens.iter().rev().skip(1).all(|&len| len == size), "{:?}", lens);
                written.extend(parts.concat().concat());
                waiting.forget(count);
            }
            prop_assert_eq!(written, (0..all).map(link).collect::<Vec<_>>());
            prop_assert_eq!((waiting.rows, waiting.blocks.len()), (0, 0));
        }
    }
}
