//! Reads some columns of a part, or of a few of its rows: only the necessary pages are decoded.

use std::fs::File;
use std::path::Path;

use polars::prelude::*;
use polars_io::SerReader;
use polars_io::prelude::{ParallelStrategy, ParquetReader};

use super::{Error, StageReader};
use riddlemill_files::fence;

/// Some columns of one part of a table, for reading a few rows of it; missing columns are left out.
///
/// # Errors
/// [`Error::Damaged`] if the part is not a Parquet file.
pub fn part_columns(
    stage: &StageReader,
    table: &str,
    part: usize,
    columns: &[&str],
) -> Result<DataFrame, Error> {
    part_slices(stage, table, part, columns, std::iter::once((0, usize::MAX)))
}

/// Some columns of a few rows of one part. `rows` ascends. Only the pages that contain them are decoded, run
/// by run: cheap if they are few, or adjacent.
///
/// # Errors
/// [`Error::Damaged`] if the part is not a Parquet file.
pub fn part_rows(
    stage: &StageReader,
    table: &str,
    part: usize,
    columns: &[&str],
    rows: &[usize],
) -> Result<DataFrame, Error> {
    let runs = rows.chunk_by(|row, next| row + 1 == *next).filter_map(|run| Some((*run.first()?, run.len())));
    part_slices(stage, table, part, columns, runs)
}

/// The slices, `(first row, rows)`, concatenated.
fn part_slices(
    stage: &StageReader,
    table: &str,
    part: usize,
    columns: &[&str],
    slices: impl Iterator<Item = (usize, usize)>,
) -> Result<DataFrame, Error> {
    let parts = stage.manifest().tables.get(table).map(|table| table.parts.as_slice()).unwrap_or_default();
    let Some(part) = parts.get(part) else { return Ok(DataFrame::default()) };
    slices_of(&stage.folder().join(&part.file), columns, slices)
}

/// Some columns of a file, if it has them, on all cores.
pub(super) fn columns_of(path: &Path, columns: &[&str]) -> Result<DataFrame, Error> {
    let damaged = |e: PolarsError| Error::stale_file(path, e);
    let mut reader = open_parquet(path)?;
    let known = known_columns(&mut reader, columns).map_err(damaged)?;
    reader.with_columns(Some(known)).finish().map_err(damaged)
}

/// Some columns of a file, if it has them, restricted to the slices `(first row, rows)`, concatenated.
pub(super) fn slices_of(
    path: &Path,
    columns: &[&str],
    slices: impl Iterator<Item = (usize, usize)>,
) -> Result<DataFrame, Error> {
    let damaged = |e: PolarsError| Error::stale_file(path, e);
    let mut whole: Option<DataFrame> = None;
    for slice in slices {
        let mut reader = open_parquet(path)?;
        let known = known_columns(&mut reader, columns).map_err(damaged)?;
        let reader = reader.with_columns(Some(known)).with_slice(Some(slice));
        // Most callers read several parts in parallel already.
        let frame = reader.read_parallel(ParallelStrategy::None).finish().map_err(damaged)?;
        whole = Some(match whole {
            Some(above) => above.vstack(&frame).map_err(damaged)?,
            None => frame,
        });
    }
    Ok(whole.unwrap_or_default())
}

pub(super) fn open_parquet(path: &Path) -> Result<ParquetReader<File>, Error> {
    Ok(ParquetReader::new(fence::open(path).map_err(Error::io("read", path))?))
}

fn known_columns(reader: &mut ParquetReader<File>, columns: &[&str]) -> PolarsResult<Vec<String>> {
    let schema = reader.schema()?;
    Ok(columns.iter().filter(|column| schema.contains(column)).map(|column| (*column).to_string()).collect())
}
