//! Encodes columns, reusing earlier chunks of columns with a single value: a stage has a dozen of these in
//! part after part.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use blake3::Hash;
use polars::prelude::PolarsResult;
use rayon::prelude::*;
use rustc_hash::FxBuildHasher;

use super::chunks::Chunk;
use super::column::ColumnSlices;
use super::values::Scalar;
use riddlemill_record::{CellKind, Column as Described};

impl Chunk {
    /// Encodes columns, on all cores.
    ///
    /// # Errors
    /// Polars' errors about the buffers, which cannot happen because the lengths are right.
    pub(super) fn encode_columns(
        described: &[Described],
        columns: &[ColumnSlices<'_>],
    ) -> PolarsResult<Vec<Chunk>> {
        // A post without a title has two equal columns.
        let twin = |at: usize| {
            // A column with a single value is found in the cache anyway.
            let differs = columns[at].single_value().is_none();
            (0..at).filter(|_| differs).find(|before| columns[*before].has_same_cells(&columns[at]))
        };
        let twins: Vec<Option<usize>> = (0..columns.len()).map(twin).collect();
        let made = columns.par_iter().enumerate().map(|(at, column)| match twins[at] {
            Some(_) => Ok(None),
            None => Chunk::cached_or_encoded(&described[at], column).map(Some),
        });
        let made: Vec<Option<Chunk>> = made.collect::<PolarsResult<_>>()?;
        let chunk = |(at, twin): (usize, &Option<usize>)| match twin {
            Some(twin) => made[*twin].clone().map(|chunk| chunk.with_name(described[at].name)),
            None => made[at].clone(),
        };
        Ok(twins.iter().enumerate().filter_map(chunk).collect())
    }

    /// Encodes a column.
    ///
    /// # Errors
    /// Polars' errors about the buffers, which cannot happen because the lengths are right.
    pub(super) fn cached_or_encoded(described: &Described, column: &ColumnSlices<'_>) -> PolarsResult<Chunk> {
        Chunk::encode_unless_known(described, column, |_| None)
    }

    /// Encodes a column, unless there is a chunk with its digest.
    ///
    /// # Errors
    /// Polars' errors about the buffers, which cannot happen because the lengths are right; those of `there`.
    pub(super) fn encode_unless_known(
        described: &Described,
        column: &ColumnSlices<'_>,
        there: impl FnOnce(Hash) -> Option<PolarsResult<Chunk>>,
    ) -> PolarsResult<Chunk> {
        if let Some(known) = find_cached(column) {
            return Ok(known.with_name(described.name));
        }
        let digest = column.compute_digest();
        if let Some(chunk) = there(digest) {
            return chunk;
        }
        let chunk = Chunk::encode_column(described, column, digest)?;
        cache_column(column, &chunk);
        Ok(chunk)
    }
}

#[derive(Default)]
struct Cache {
    /// By value and number of rows. The column's name is not part of its pages.
    chunks: HashMap<(CellKind, Scalar, usize), Chunk, FxBuildHasher>,
    /// The single value, by the digest of its cells.
    constants: HashMap<Hash, Scalar>,
}

static CACHE: LazyLock<Mutex<Cache>> = LazyLock::new(Mutex::default);

/// Most entries, of some kilobytes each.
const MOST: usize = 1 << 10;

/// The column if it was encoded before.
fn find_cached(column: &ColumnSlices<'_>) -> Option<Chunk> {
    let key = cache_key(column)?;
    CACHE.lock().unwrap_or_else(PoisonError::into_inner).chunks.get(&key).cloned()
}

/// The single value of the column with this digest.
pub(super) fn constant_of_digest(digest: &Hash) -> Option<Scalar> {
    CACHE.lock().unwrap_or_else(PoisonError::into_inner).constants.get(digest).cloned()
}

/// Caches the column if it has a single value.
fn cache_column(column: &ColumnSlices<'_>, chunk: &Chunk) {
    let Some(key) = cache_key(column) else { return };
    let mut known = CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    if known.chunks.len() == MOST {
        // Parts that lost rows have many lengths, which rarely recur.
        *known = Cache::default();
    }
    known.constants.insert(chunk.digest, key.1.clone());
    known.chunks.insert(key, chunk.clone());
}

fn cache_key(column: &ColumnSlices<'_>) -> Option<(CellKind, Scalar, usize)> {
    let one = column.single_value().filter(|one| match one {
        // The keys stay small, or the cache would grow with the texts.
        Scalar::Text(text) => text.len() <= 128,
        Scalar::Texts(texts) => texts.is_empty(),
        _ => true,
    });
    Some((column.kind(), one?, column.count_rows()))
}
