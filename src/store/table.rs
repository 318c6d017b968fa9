//! A table in the making: rows are gathered, cut into parts, encoded and handed to the disk.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use polars::prelude::*;
use rayon::prelude::*;

use super::disk::Disk;
use super::frame::{Columns, stacked};
use super::part::Encoded;
use super::{Error, PART_ROWS, Table, durable};
use crate::record::Record;

/// A table in the making: rows are gathered until a part is full.
pub struct TableWriter<R: Record> {
    stage: PathBuf,
    name: String,
    pub(super) waiting: Waiting<R>,
    /// How many parts there are.
    parts: usize,
    pub(super) disk: Disk,
}

/// Rows that are not written yet, a column each.
pub(super) struct Waiting<R> {
    /// In the blocks they came in.
    blocks: VecDeque<Columns<R>>,
    /// What is left of a block.
    rest: Option<DataFrame>,
    /// How many they are.
    rows: usize,
}

impl<R: Record> Waiting<R> {
    fn new() -> Waiting<R> {
        Waiting { blocks: VecDeque::new(), rest: None, rows: 0 }
    }

    pub(super) fn push(&mut self, rows: Columns<R>) {
        if rows.rows() > 0 {
            self.rows += rows.rows();
            self.blocks.push_back(rows);
        }
    }

    pub(super) fn put(&mut self, row: &R) {
        match self.blocks.back_mut() {
            Some(last) if last.rows() < PART_ROWS => last.put(row),
            _ => {
                let mut block = Columns::all(0);
                block.put(row);
                self.blocks.push_back(block);
            }
        }
        self.rows += 1;
    }

    /// Takes the first rows out, as many as there are at most.
    fn take(&mut self, rows: usize) -> PolarsResult<DataFrame> {
        let (mut frames, mut missing) = (Vec::new(), rows.min(self.rows));
        self.rows -= missing;
        while missing > 0 {
            let frame = match self.rest.take() {
                Some(rest) => rest,
                None => match self.blocks.pop_front() {
                    Some(block) => block.finish()?,
                    None => break,
                },
            };
            if frame.height() > missing {
                self.rest = Some(frame.slice(missing as i64, frame.height() - missing));
            }
            frames.push(frame.head(Some(missing)));
            missing -= frame.height().min(missing);
        }
        stacked::<R>(frames)
    }
}

impl<R: Record> TableWriter<R> {
    pub(super) fn create(stage: &Path, name: &str) -> Result<TableWriter<R>, Error> {
        durable::create_folder(&stage.join(name))?;
        Ok(TableWriter {
            stage: stage.into(),
            name: name.into(),
            waiting: Waiting::new(),
            parts: 0,
            disk: Disk::default(),
        })
    }

    /// Takes a row.
    pub fn put(&mut self, row: &R) {
        self.waiting.put(row);
    }

    /// Writes the parts that are full.
    ///
    /// # Errors
    /// [`Error::Io`] where a part cannot be written whole.
    pub fn flush(&mut self) -> Result<(), Error> {
        self.write(self.waiting.rows / PART_ROWS * PART_ROWS)
    }

    /// Writes what is left, however few rows.
    ///
    /// # Errors
    /// [`Error::Io`] where a part cannot be written whole.
    pub(super) fn rest(&mut self) -> Result<(), Error> {
        self.write(self.waiting.rows)
    }

    /// Writes the first rows.
    fn write(&mut self, mut rows: usize) -> Result<(), Error> {
        let stage = self.stage.clone();
        let wrong = |e| Error::stale_file(&stage, e);
        // No more at once than there are cores for them: parts that wait are in memory twice.
        while rows > 0 {
            let wave = rows.min(PART_ROWS * rayon::current_num_threads().max(1));
            let sizes = (0..wave).step_by(PART_ROWS).map(|first| PART_ROWS.min(wave - first));
            let frames: Vec<DataFrame> =
                sizes.map(|size| self.waiting.take(size)).collect::<PolarsResult<_>>().map_err(wrong)?;
            let encoded: Vec<Encoded> =
                frames.into_par_iter().map(Encoded::rows::<R>).collect::<PolarsResult<_>>().map_err(wrong)?;
            encoded.into_iter().try_for_each(|part| self.part(part))?;
            rows -= wave;
        }
        Ok(())
    }

    /// Writes a part, after those that are written.
    ///
    /// # Errors
    /// [`Error::Io`] where an earlier one could not be written whole.
    pub(super) fn part(&mut self, part: Encoded) -> Result<(), Error> {
        let file = format!("{}/part-{:05}.parquet", self.name, self.parts);
        self.parts += 1;
        self.disk.write(&self.stage, file, part)
    }

    /// The whole table, when it is on the disk.
    ///
    /// # Errors
    /// [`Error::Io`] where a part could not be written whole.
    pub(super) fn sum(&mut self) -> Result<(String, Table), Error> {
        let parts = self.disk.finish()?;
        let rows = parts.iter().map(|p| p.rows).sum();
        Ok((self.name.clone(), Table { rows, hash: Table::hash_of(&parts), parts }))
    }

    pub(super) fn finish(mut self) -> Result<(String, Table), Error> {
        self.rest()?;
        let sum = self.sum()?;
        durable::sync_folder(&self.stage.join(&self.name))?;
        Ok(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Link;
    use crate::store::{from_frame, to_frame};
    use proptest::prelude::*;

    fn link(n: usize) -> Link {
        // Some values stand in the column of views, some in a buffer beside it.
        Link { child: "云".repeat(n % 7) + &n.to_string(), ..Link::default() }
    }

    proptest! {
        #[test]
        fn rows_are_taken_once_and_in_order(
            blocks in prop::collection::vec(0usize..9, 0..12),
            singles in 0usize..5,
            takes in prop::collection::vec(0usize..20, 0..6),
        ) {
            let mut waiting = Waiting::new();
            let mut rows = 0..;
            for block in blocks {
                let mut columns = Columns::all(block);
                rows.by_ref().take(block).for_each(|n| columns.put(&link(n)));
                waiting.push(columns);
            }
            rows.by_ref().take(singles).for_each(|n| waiting.put(&link(n)));
            let all = rows.start;
            let mut taken: Vec<Link> = Vec::new();
            for most in takes.into_iter().chain([all]) {
                let frame = waiting.take(most).unwrap();
                prop_assert_eq!(frame.height(), most.min(all - taken.len()));
                // However they were cut, their part is that of the same rows in one piece.
                let mut again: Vec<Link> = from_frame(&frame).unwrap();
                if again.is_empty() {
                    continue;
                }
                let bytes = |frame| Encoded::rows::<Link>(frame).unwrap().bytes();
                prop_assert_eq!(bytes(frame), bytes(to_frame(&[&again]).unwrap()));
                taken.append(&mut again);
            }
            prop_assert_eq!(taken, (0..all).map(link).collect::<Vec<_>>());
            prop_assert_eq!((waiting.rows, waiting.blocks.len()), (0, 0));
        }
    }
}
