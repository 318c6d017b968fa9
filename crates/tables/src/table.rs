//! Writes a table: rows are collected, cut into parts, encoded and written to disk.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use polars::prelude::*;
use rayon::prelude::*;

use super::disk::Disk;
use super::frame::{FrameColumns, RowChunks};
use super::part::Encoded;
use super::{Error, PART_ROWS, Table, durable};
use riddlemill_record::Record;

/// Writes a table: rows are collected until a part is full.
pub struct TableWriter<R: Record> {
    stage: PathBuf,
    name: String,
    pub(super) waiting: WaitingRows<R>,
    /// Number of parts.
    parts: usize,
    pub(super) disk: Disk,
}

/// Rows that are not written yet, by column.
pub(super) struct WaitingRows<R: Record> {
    of: R::Columns,
    /// In the blocks they came in.
    blocks: VecDeque<Arc<FrameColumns<R>>>,
    /// How many rows of the first block are taken.
    taken: usize,
    /// How many rows are not taken yet.
    rows: usize,
}

impl<R: Record> WaitingRows<R> {
    fn new(of: R::Columns) -> WaitingRows<R> {
        WaitingRows { of, blocks: VecDeque::new(), taken: 0, rows: 0 }
    }

    pub(super) fn push(&mut self, rows: FrameColumns<R>) {
        if rows.count_rows() > 0 {
            self.rows += rows.count_rows();
            self.blocks.push_back(Arc::new(rows));
        }
    }

    pub(super) fn append(&mut self, row: &R) {
        // A block that was partly taken is shared with the part being written, and cannot grow.
        match self.blocks.back_mut().and_then(Arc::get_mut) {
            Some(last) if last.count_rows() < PART_ROWS => last.append(row),
            _ => {
                let mut block = FrameColumns::with_all_columns(self.of, 0);
                block.append(row);
                self.blocks.push_back(Arc::new(block));
            }
        }
        self.rows += 1;
    }

    /// Removes and returns the first rows, as many as there are at most.
    fn take_rows(&mut self, rows: usize) -> RowChunks<R> {
        let (mut blocks, mut missing) = (Vec::new(), rows.min(self.rows));
        self.rows -= missing;
        while missing > 0 {
            let Some(block) = self.blocks.pop_front() else { break };
            let first = std::mem::take(&mut self.taken);
            let last = block.count_rows().min(first + missing);
            missing -= last - first;
            if last < block.count_rows() {
                self.taken = last;
                self.blocks.push_front(Arc::clone(&block));
            }
            blocks.push((block, first..last));
        }
        RowChunks { of: self.of, blocks }
    }
}

impl<R: Record> TableWriter<R> {
    pub(super) fn create(of: R::Columns, stage: &Path, name: &str) -> Result<TableWriter<R>, Error> {
        durable::create_folder(&stage.join(name))?;
        Ok(TableWriter {
            stage: stage.into(),
            name: name.into(),
            waiting: WaitingRows::new(of),
            parts: 0,
            disk: Disk::default(),
        })
    }

    /// Appends a row.
    pub fn append(&mut self, row: &R) {
        self.waiting.append(row);
    }

    /// Writes the full parts.
    ///
    /// # Errors
    /// [`Error::Io`] if a part cannot be written completely.
    pub fn flush(&mut self) -> Result<(), Error> {
        self.write_rows(self.waiting.rows / PART_ROWS * PART_ROWS)
    }

    /// Writes the remaining rows, however few.
    ///
    /// # Errors
    /// [`Error::Io`] if a part cannot be written completely.
    pub(super) fn write_remaining(&mut self) -> Result<(), Error> {
        self.write_rows(self.waiting.rows)
    }

    /// Writes the first rows.
    fn write_rows(&mut self, mut rows: usize) -> Result<(), Error> {
        let stage = self.stage.clone();
        let wrong = |e| Error::stale_file(&stage, e);
        // At most one per core at once: parts that wait are in memory twice.
        while rows > 0 {
            let wave = rows.min(PART_ROWS * rayon::current_num_threads().max(1));
            let sizes = (0..wave).step_by(PART_ROWS).map(|first| PART_ROWS.min(wave - first));
            let stacks: Vec<RowChunks<R>> = sizes.map(|size| self.waiting.take_rows(size)).collect();
            let encoded: Vec<Encoded> =
                stacks.par_iter().map(Encoded::encode_rows).collect::<PolarsResult<_>>().map_err(wrong)?;
            encoded.into_iter().try_for_each(|part| self.write_part(part))?;
            rows -= wave;
        }
        Ok(())
    }

    /// Writes a part, after those already written.
    ///
    /// # Errors
    /// [`Error::Io`] if an earlier one could not be written completely.
    pub(super) fn write_part(&mut self, part: Encoded) -> Result<(), Error> {
        let file = format!("{}/part-{:05}.parquet", self.name, self.parts);
        self.parts += 1;
        self.disk.write(&self.stage, file, part)
    }

    /// The whole table, when it is on disk.
    ///
    /// # Errors
    /// [`Error::Io`] if a part could not be written completely.
    pub(super) fn sum(&mut self) -> Result<(String, Table), Error> {
        let parts = self.disk.finish()?;
        let rows = parts.iter().map(|p| p.rows).sum();
        Ok((self.name.clone(), Table { rows, hash: Table::hash_of(&parts), parts }))
    }

    pub(super) fn finish(mut self) -> Result<(String, Table), Error> {
        self.write_remaining()?;
        let sum = self.sum()?;
        // The bytes of the files are synced, but not yet their names.
        durable::sync_folder(&self.stage.join(&self.name))?;
        Ok(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::from_frame;
    use polars_io::SerReader;
    use polars_io::prelude::ParquetReader;
    use proptest::prelude::*;
    use riddlemill_record::Link;
    use std::io::Cursor;

    fn link(n: usize) -> Link {
        // Some values are inline in the column of views, some in its buffer.
        Link { child: "云".repeat(n % 7) + &n.to_string(), ..Link::default() }
    }

    fn read(part: Vec<u8>) -> PolarsResult<Vec<Link>> {
        from_frame((), &ParquetReader::new(Cursor::new(part)).finish()?)
    }

    proptest! {
        #[test]
        fn rows_are_taken_once_and_in_order(
            blocks in prop::collection::vec(0usize..9, 0..12),
            singles in 0usize..5,
            takes in prop::collection::vec(0usize..20, 0..6),
        ) {
            let mut waiting = WaitingRows::new(());
            let mut rows = 0..;
            for block in blocks {
                let mut columns = FrameColumns::with_all_columns((), 0);
                rows.by_ref().take(block).for_each(|n| columns.append(&link(n)));
                waiting.push(columns);
            }
            rows.by_ref().take(singles).for_each(|n| waiting.append(&link(n)));
            let all = rows.start;
            let mut taken: Vec<Link> = Vec::new();
            for most in takes.into_iter().chain([all]) {
                let stack = waiting.take_rows(most);
                prop_assert_eq!(stack.count_rows(), most.min(all - taken.len()));
                if stack.count_rows() == 0 {
                    continue;
                }
                let part = Encoded::encode_rows(&stack).unwrap().file_bytes();
                let mut again: Vec<Link> = read(part.clone()).unwrap();
                // However the blocks were cut, the part equals that of the same rows in one block.
                let mut whole = WaitingRows::new(());
                again.iter().for_each(|link| whole.append(link));
                prop_assert_eq!(part, Encoded::encode_rows(&whole.take_rows(again.len())).unwrap().file_bytes());
                taken.append(&mut again);
            }
            prop_assert_eq!(taken, (0..all).map(link).collect::<Vec<_>>());
            prop_assert_eq!((waiting.rows, waiting.blocks.len()), (0, 0));
        }
    }
}
