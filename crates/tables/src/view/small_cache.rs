//! Bounded caches.
//!
//! That of the last values is keyed by a hash of everything they were made from, so that entries never become stale. It is not
//! for contents of files that may change. Another holds recently used decoded parts.

use std::sync::{Arc, Mutex, PoisonError};

use polars::prelude::{DataFrame, PolarsResult, StringChunked};

use crate::{Error, StageReader, part_columns, part_rows};

/// The last values, by the hash of their inputs.
pub struct SmallCache<T> {
    slots: Mutex<Vec<(String, Arc<CacheSlot<T>>)>>,
}

/// A value, possibly still being made.
type CacheSlot<T> = Mutex<Option<Arc<T>>>;

impl<T> Default for SmallCache<T> {
    fn default() -> SmallCache<T> {
        SmallCache { slots: Mutex::default() }
    }
}

impl<T> SmallCache<T> {
    /// Whether there is an entry for a key, finished or being made.
    pub(super) fn has_key(&self, key: &str) -> bool {
        let slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        slots.iter().any(|(known, _)| known == key)
    }

    /// The value of a key, made now if necessary; concurrent requests wait for it. The oldest are removed
    /// while the total size exceeds `budget`.
    ///
    /// # Errors
    /// Those of `make`.
    pub fn get(
        &self,
        key: &str,
        weigh: impl Fn(&T) -> usize,
        budget: usize,
        make: impl FnOnce() -> Result<T, Error>,
    ) -> Result<Arc<T>, Error> {
        let slots = || self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        // The list is unlocked before the value is made, so that only requests for the same key wait.
        let slot = {
            let mut slots = slots();
            let known = slots.iter().position(|(known, _)| known == key).map(|at| slots.remove(at));
            let entry = known.unwrap_or_else(|| (key.to_string(), Arc::default()));
            // At the end, because those at the front are removed first.
            slots.push(entry.clone());
            entry.1
        };
        let made = {
            let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(made) = &*slot {
                return Ok(made.clone());
            }
            let made = Arc::new(make()?);
            *slot = Some(made.clone());
            made
        };
        let weight =
            // A value that is still being made is not waited for: that would block every request.
            |slot: &CacheSlot<T>| slot.try_lock().ok().and_then(|made| made.as_ref().map(|made| weigh(made)));
        let mut slots = slots();
        // The newest stays, even if it exceeds the budget alone.
        while slots.len() > 1 && slots.iter().filter_map(|(_, slot)| weight(slot)).sum::<usize>() > budget {
            slots.remove(0);
        }
        Ok(made)
    }
}

/// Most bytes of cached parts.
const BUDGET: usize = 24 << 20;

/// Up to this many runs of rows are read separately instead of their whole part.
const FEW: usize = 4;

/// The columns of a ledger.
pub(super) const LEDGER: &[&str] =
    &["id", "outcome", "reason", "evidence", "before", "after", "into", "score"];

/// The text column of any stage's rows: puzzles have a question instead.
pub(super) const TEXT: &[&str] = &["text", "question"];

/// The texts of a part's rows.
pub(super) fn texts_of_frame(frame: &DataFrame) -> PolarsResult<&StringChunked> {
    frame.column("text").or_else(|_| frame.column("question"))?.str()
}

/// Decoded parts by the hash of their file and their columns.
#[derive(Default)]
pub struct Frames(SmallCache<DataFrame>);

impl Frames {
    /// Some columns of a part.
    pub(super) fn get(
        &self,
        stage: &StageReader,
        table: &str,
        part: usize,
        columns: &'static [&'static str],
    ) -> Result<Arc<DataFrame>, Error> {
        let Some(key) = cache_key(stage, table, part, columns) else { return Ok(Arc::default()) };
        self.0.get(&key, DataFrame::estimated_size, BUDGET, || part_columns(stage, table, part, columns))
    }

    /// A frame that contains these rows of a part, and their indices in it. `rows` ascends.
    pub(super) fn frame_with_rows(
        &self,
        stage: &StageReader,
        table: &str,
        part: usize,
        columns: &'static [&'static str],
        rows: &[usize],
    ) -> Result<(Arc<DataFrame>, Vec<usize>), Error> {
        let is_cached = cache_key(stage, table, part, columns).is_some_and(|key| self.0.has_key(&key));
        if is_cached || rows.chunk_by(|row, next| row + 1 == *next).count() > FEW {
            return Ok((self.get(stage, table, part, columns)?, rows.to_vec()));
        }
        let frame = part_rows(stage, table, part, columns, rows)?;
        Ok((Arc::new(frame), (0..rows.len()).collect()))
    }
}

fn cache_key(stage: &StageReader, table: &str, part: usize, columns: &[&str]) -> Option<String> {
    let known = stage.manifest().tables.get(table)?.parts.get(part)?;
    Some(format!("{} {}", known.blake3, columns.join(" ")))
}
