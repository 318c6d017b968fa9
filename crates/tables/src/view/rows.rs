//! Reads single rows of a stage's tables, from as little of its files as possible.

use std::collections::BTreeMap;
use std::sync::Arc;

use polars::prelude::{DataFrame, PolarsResult};
use rayon::prelude::*;

use super::small_cache::{Frames, LEDGER, TEXT, texts_of_frame};
use crate::{Error, StageReader, from_frame};
use riddlemill_record::{Entry, Typed};

/// The columns of pairs.
pub(super) const NEAR: &[&str] =
    &["a", "b", "score", "levenshtein", "jaro_winkler", "sorensen_dice", "predicate", "veto", "verdict"];

/// The entries at these indices of a ledger, in the given order.
pub(super) fn read_entries(
    frames: &Frames,
    stage: &StageReader,
    places: &[u32],
) -> Result<Vec<Entry>, Error> {
    read_rows(frames, stage, "ledger", LEDGER, places)
}

/// The rows at these indices of a table, in the given order.
pub(super) fn read_rows<R: Typed + Default + Send>(
    frames: &Frames,
    stage: &StageReader,
    table: &str,
    columns: &'static [&'static str],
    places: &[u32],
) -> Result<Vec<R>, Error> {
    let wanted: Vec<Option<u32>> = places.iter().map(|place| Some(*place)).collect();
    let read = |frame: &DataFrame, row: usize| {
        let rows: Vec<R> = from_frame((), &frame.slice(row as i64, 1))?;
        Ok(rows.into_iter().next())
    };
    let found = gather_rows(frames, stage, table, columns, &wanted, read)?;
    Ok(found.into_iter().map(Option::unwrap_or_default).collect())
}

/// The texts of these rows of a stage, in the given order.
pub(super) fn texts_of(
    frames: &Frames,
    stage: &StageReader,
    rows: &[Option<u32>],
) -> Result<Vec<Option<String>>, Error> {
    gather_rows(frames, stage, "rows", TEXT, rows, |frame, row| {
        Ok(texts_of_frame(frame)?.get(row).map(str::to_string))
    })
}

/// Values of rows, by their position in the request.
type Found<T> = Vec<(usize, Option<T>)>;

/// The result of `read` for each row; `None` for missing ones. Parts are read in parallel.
fn gather_rows<T: Send>(
    frames: &Frames,
    stage: &StageReader,
    table: &str,
    columns: &'static [&'static str],
    wanted: &[Option<u32>],
    read: impl Fn(&DataFrame, usize) -> PolarsResult<Option<T>> + Sync,
) -> Result<Vec<Option<T>>, Error> {
    let mut by_part: BTreeMap<usize, BTreeMap<usize, Vec<usize>>> = BTreeMap::new();
    for (at, row) in wanted.iter().enumerate().filter_map(|(at, row)| Some((at, (*row)?))) {
        let (part, row) = locate_row(stage, table, row as usize);
        by_part.entry(part).or_default().entry(row).or_default().push(at);
    }
    let damaged = |e| Error::stale_file(&stage.folder().join(table), e);
    let part = |(part, rows): (&usize, &BTreeMap<usize, Vec<usize>>)| {
        let numbers: Vec<usize> = rows.keys().copied().collect();
        let (frame, standing): (Arc<DataFrame>, _) =
            frames.frame_with_rows(stage, table, *part, columns, &numbers)?;
        let mut found = Vec::new();
        for (row, places) in standing.into_iter().zip(rows.values()) {
            for at in places {
                found.push((*at, read(&frame, row).map_err(damaged)?));
            }
        }
        Ok(found)
    };
    let parts: Vec<Result<Found<T>, Error>> = by_part.par_iter().map(part).collect();
    let mut found: Vec<Option<T>> = wanted.iter().map(|_| None).collect();
    for part in parts {
        for (at, made) in part? {
            found[at] = made;
        }
    }
    Ok(found)
}

/// The part of a table that contains a row, and the row's index in it.
fn locate_row(stage: &StageReader, table: &str, mut row: usize) -> (usize, usize) {
    let parts = stage.manifest().tables.get(table).map(|t| t.parts.as_slice()).unwrap_or_default();
    for (number, part) in parts.iter().enumerate() {
        if row < part.rows as usize {
            return (number, row);
        }
        row -= part.rows as usize;
    }
    (parts.len(), row)
}
