//! Columns that say one thing in every row, as they were made before: a stage has a dozen of them in part after part.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use blake3::Hash;
use rustc_hash::FxBuildHasher;

use super::chunks::Chunk;
use super::column::ColumnSlices;
use super::values::Scalar;
use riddlemill_text::record::CellKind;

#[derive(Default)]
struct Cache {
    /// By what it says and how often. Under which name does not show in its pages.
    chunks: HashMap<(CellKind, Scalar, usize), Chunk, FxBuildHasher>,
    /// What it says, by the digest of its cells.
    said: HashMap<Hash, Scalar>,
}

static CACHE: LazyLock<Mutex<Cache>> = LazyLock::new(Mutex::default);

/// How many are kept, some kilobytes each.
const MOST: usize = 1 << 10;

/// The column as it was made before.
pub(super) fn find(column: &ColumnSlices<'_>) -> Option<Chunk> {
    let key = key(column)?;
    CACHE.lock().unwrap_or_else(PoisonError::into_inner).chunks.get(&key).cloned()
}

/// What every row says of the column that has this digest.
pub(super) fn said(digest: &Hash) -> Option<Scalar> {
    CACHE.lock().unwrap_or_else(PoisonError::into_inner).said.get(digest).cloned()
}

/// Keeps the column, if it says one thing, for those that say the same.
pub(super) fn keep(column: &ColumnSlices<'_>, chunk: &Chunk) {
    let Some(key) = key(column) else { return };
    let mut known = CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    if known.chunks.len() == MOST {
        // Parts that lost rows are of many lengths, and none of them comes again soon.
        *known = Cache::default();
    }
    known.said.insert(chunk.digest, key.1.clone());
    known.chunks.insert(key, chunk.clone());
}

fn key(column: &ColumnSlices<'_>) -> Option<(CellKind, Scalar, usize)> {
    let one = column.same().filter(|one| match one {
        Scalar::Text(text) => text.len() <= 128,
        Scalar::Texts(texts) => texts.is_empty(),
        _ => true,
    });
    Some((column.kind(), one?, column.rows()))
}
