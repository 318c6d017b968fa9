//! Decoded parts, the last ones used, under a bound.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use polars::prelude::{DataFrame, PolarsResult, StringChunked};

use crate::store::{Error, StageReader, part_columns, part_rows};

/// Bytes of decoded parts that are kept.
const BUDGET: usize = 24 << 20;
/// Runs of rows that are sooner read by themselves than with their whole part.
const FEW: usize = 4;

/// The columns of a ledger.
pub(super) const LEDGER: &[&str] =
    &["id", "outcome", "reason", "evidence", "before", "after", "into", "score"];
/// What a row of any stage says: puzzles have a question and no text.
pub(super) const TEXT: &[&str] = &["text", "question"];

/// What the rows of a part say.
pub(super) fn texts(frame: &DataFrame) -> PolarsResult<&StringChunked> {
    frame.column("text").or_else(|_| frame.column("question"))?.str()
}

type Key = (String, &'static [&'static str]);

/// Decoded parts by the hash of their file and their columns.
#[derive(Default)]
pub(in crate::web) struct Frames {
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    frames: HashMap<Key, (Arc<DataFrame>, usize, u64)>,
    bytes: usize,
    clock: u64,
}

impl Frames {
    /// Some columns of a part.
    pub(super) fn get(
        &self,
        stage: &StageReader,
        table: &str,
        part: usize,
        columns: &'static [&'static str],
    ) -> Result<Arc<DataFrame>, Error> {
        let Some(key) = key(stage, table, part, columns) else { return Ok(Arc::default()) };
        if let Some(frame) = self.known(&key) {
            return Ok(frame);
        }
        // Two that ask for one part at once decode it twice; holding the lock would make all others wait.
        let frame = Arc::new(part_columns(stage, table, part, columns)?);
        self.held().put(key, frame.clone());
        Ok(frame)
    }

    /// A frame that holds these rows of a part, and where in it each of them stands. `rows` ascends.
    pub(super) fn rows(
        &self,
        stage: &StageReader,
        table: &str,
        part: usize,
        columns: &'static [&'static str],
        rows: &[usize],
    ) -> Result<(Arc<DataFrame>, Vec<usize>), Error> {
        let held = key(stage, table, part, columns).is_some_and(|key| self.known(&key).is_some());
        if held || rows.chunk_by(|row, next| row + 1 == *next).count() > FEW {
            return Ok((self.get(stage, table, part, columns)?, rows.to_vec()));
        }
        let frame = part_rows(stage, table, part, columns, rows)?;
        Ok((Arc::new(frame), (0..rows.len()).collect()))
    }

    fn known(&self, key: &Key) -> Option<Arc<DataFrame>> {
        let mut held = self.held();
        held.clock += 1;
        let now = held.clock;
        let (frame, _, used) = held.frames.get_mut(key)?;
        *used = now;
        Some(frame.clone())
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn key(stage: &StageReader, table: &str, part: usize, columns: &'static [&'static str]) -> Option<Key> {
    let known = stage.manifest().tables.get(table)?.parts.get(part)?;
    Some((known.blake3.clone(), columns))
}

impl Held {
    fn put(&mut self, key: Key, frame: Arc<DataFrame>) {
        let bytes = frame.estimated_size();
        self.clock += 1;
        if let Some((_, old, _)) = self.frames.insert(key, (frame, bytes, self.clock)) {
            self.bytes -= old;
        }
        self.bytes += bytes;
        while self.bytes > BUDGET && self.frames.len() > 1 {
            let oldest = self.frames.iter().min_by_key(|(_, (_, _, used))| *used).map(|(key, _)| key.clone());
            let Some((_, bytes, _)) = oldest.and_then(|key| self.frames.remove(&key)) else { break };
            self.bytes -= bytes;
        }
    }
}
