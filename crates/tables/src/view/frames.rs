//! A bounded cache of recently used decoded parts.

use std::sync::Arc;

use polars::prelude::{DataFrame, PolarsResult, StringChunked};

use super::small_cache::SmallCache;
use crate::{Error, StageReader, part_columns, part_rows};

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
pub(super) fn texts(frame: &DataFrame) -> PolarsResult<&StringChunked> {
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
        let Some(key) = key(stage, table, part, columns) else { return Ok(Arc::default()) };
        self.0.get(&key, DataFrame::estimated_size, BUDGET, || part_columns(stage, table, part, columns))
    }

    /// A frame that contains these rows of a part, and their indices in it. `rows` ascends.
    pub(super) fn rows(
        &self,
        stage: &StageReader,
        table: &str,
        part: usize,
        columns: &'static [&'static str],
        rows: &[usize],
    ) -> Result<(Arc<DataFrame>, Vec<usize>), Error> {
        let is_cached = key(stage, table, part, columns).is_some_and(|key| self.0.holds(&key));
        if is_cached || rows.chunk_by(|row, next| row + 1 == *next).count() > FEW {
            return Ok((self.get(stage, table, part, columns)?, rows.to_vec()));
        }
        let frame = part_rows(stage, table, part, columns, rows)?;
        Ok((Arc::new(frame), (0..rows.len()).collect()))
    }
}

fn key(stage: &StageReader, table: &str, part: usize, columns: &[&str]) -> Option<String> {
    let known = stage.manifest().tables.get(table)?.parts.get(part)?;
    Some(format!("{} {}", known.blake3, columns.join(" ")))
}
