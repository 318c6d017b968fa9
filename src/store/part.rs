//! One Parquet file: a fixed number of rows, its bytes hashed.

use std::fs;
use std::io::Cursor;
use std::path::Path;

use polars::prelude::*;

use super::{Error, Part, durable, from_frame, to_frame};
use crate::record::{Record, row_digest};

/// Rows in a part; the last part of a table may have fewer. Part of the layout: another number
/// gives other hashes.
pub const PART_ROWS: usize = 1 << 16;

/// Writes blocks of rows as one part of a table.
///
/// # Errors
/// [`Error::Io`] where the file cannot be written whole.
pub(super) fn write<R: Record>(stage: &Path, file: String, blocks: &[&[R]]) -> Result<Part, Error> {
    let path = stage.join(&file);
    let bytes = encode(blocks).map_err(|e| Error::stale_file(&path, e))?;
    durable::write_synced(&path, &bytes)?;
    Ok(Part {
        file,
        rows: blocks.iter().map(|rows| rows.len() as u64).sum(),
        bytes: bytes.len() as u64,
        blake3: blake3::hash(&bytes).to_hex().to_string(),
        hash: row_digest(blocks.iter().copied().flatten()).to_hex().to_string(),
    })
}

/// The bytes of a Parquet file of rows: one row group, so that the bytes depend on the rows alone.
pub(super) fn encode<R: Record>(blocks: &[&[R]]) -> PolarsResult<Vec<u8>> {
    let mut frame = to_frame(blocks)?;
    let mut bytes = Vec::with_capacity(frame.height() * 64);
    ParquetWriter::new(&mut bytes)
        .with_compression(ParquetCompression::Lz4Raw)
        .with_statistics(StatisticsOptions::empty())
        .with_row_group_size(Some(PART_ROWS))
        .set_parallel(false)
        .finish(&mut frame)?;
    Ok(bytes)
}

/// Reads a part back, after checking that the file is the one the manifest names.
///
/// # Errors
/// [`Error::Damaged`] where a byte of it changed.
pub(super) fn read<R: Record>(stage: &Path, part: &Part) -> Result<Vec<R>, Error> {
    let path = stage.join(&part.file);
    let bytes = fs::read(&path).map_err(Error::io("read", &path))?;
    if blake3::hash(&bytes).to_hex().as_str() != part.blake3 {
        return Err(Error::stale_file(&path, "its bytes are not those its manifest names"));
    }
    let frame = ParquetReader::new(Cursor::new(bytes)).read_parallel(ParallelStrategy::None).finish();
    frame.and_then(|f| from_frame(&f)).map_err(|e| Error::stale_file(&path, e))
}

/// Writes a table as one Parquet file with a row group a part, streamed.
///
/// # Errors
/// [`Error`] where a part cannot be read or the file not written.
pub fn write_parquet<R: Record>(
    path: &Path,
    parts: impl Iterator<Item = Result<Vec<R>, Error>>,
) -> Result<(), Error> {
    let damaged = |e: PolarsError| match e {
        PolarsError::IO { error, .. } => {
            Error::io("write", path)(std::io::Error::new(error.kind(), error.to_string()))
        }
        e => Error::stale_file(path, e),
    };
    let file = fs::File::create(path).map_err(Error::io("create", path))?;
    let empty = to_frame::<R>(&[]).map_err(damaged)?;
    let mut writer = ParquetWriter::new(&file)
        .with_compression(ParquetCompression::Zstd(None))
        .set_parallel(false)
        .batched(empty.schema())
        .map_err(damaged)?;
    for rows in parts {
        let frame = to_frame(&[&rows?]).map_err(damaged)?;
        writer.write_batch(&frame).map_err(damaged)?;
    }
    writer.finish().map_err(damaged)?;
    file.sync_data().map_err(Error::io("write", path))
}
