//! One Parquet file of a table, its bytes hashed.

use std::io::Cursor;
use std::path::Path;

use polars::prelude::{PolarsError, PolarsResult};
use polars_io::SerReader;
use polars_io::prelude::{ParallelStrategy, ParquetCompression, ParquetReader, ParquetWriter};

use super::chunks::{Chunk, Piece, splice_columns};
use super::frame::RowChunks;
use super::{Error, Part, durable, from_frame, stated_types, to_frame};
use riddlemill_files::fence;
use riddlemill_record::{Column, Record, Typed, digest_of};

/// Most rows of a part. The last part of a table may have fewer, and so may those that a stage makes from
/// parts of its input. Part of the layout: another number gives other hashes.
pub const PART_ROWS: usize = 1 << 16;

/// The bytes of a part before they are written.
pub(super) struct Encoded {
    pieces: Vec<Piece>,
    /// How many rows it has.
    pub(super) count: u64,
    hash: String,
    /// Hash of its bytes.
    blake3: String,
}

impl Encoded {
    /// Encodes rows as one part, its columns on all cores.
    ///
    /// # Errors
    /// Polars' errors about the buffers, which cannot happen because the lengths are right.
    pub(super) fn encode_rows<R: Record>(rows: &RowChunks<R>) -> PolarsResult<Encoded> {
        let described = R::described(rows.of);
        let columns: Vec<_> = (0..described.len()).map(|at| rows.column_at(at)).collect();
        Encoded::new(described, rows.count_rows(), Chunk::encode_columns(described, &columns)?)
    }

    /// Combines columns into one part.
    ///
    /// # Errors
    /// Polars' errors about an empty file.
    pub(super) fn new(described: &[Column], rows: usize, columns: Vec<Chunk>) -> PolarsResult<Encoded> {
        let hash = digest_of(columns.iter().map(|column| column.digest)).to_hex().to_string();
        let pieces = splice_columns(described, rows, columns)?;
        let mut hasher = blake3::Hasher::new();
        pieces.iter().for_each(|piece| {
            hasher.update(piece.bytes());
        });
        Ok(Encoded { pieces, count: rows as u64, hash, blake3: hasher.finalize().to_hex().to_string() })
    }

    /// The bytes of its file.
    #[cfg(test)]
    pub(super) fn file_bytes(&self) -> Vec<u8> {
        self.pieces.iter().flat_map(|piece| piece.bytes().iter().copied()).collect()
    }

    /// Writes it as a file of a stage.
    ///
    /// # Errors
    /// [`Error::Io`] if it cannot be written completely.
    pub(super) fn write(&self, stage: &Path, file: String) -> Result<Part, Error> {
        let pieces: Vec<&[u8]> = self.pieces.iter().map(Piece::bytes).collect();
        durable::write_pieces(&stage.join(&file), &pieces)?;
        Ok(Part {
            file,
            rows: self.count,
            bytes: pieces.iter().map(|piece| piece.len() as u64).sum(),
            blake3: self.blake3.clone(),
            hash: self.hash.clone(),
        })
    }
}

/// The bytes of a part's file, checked against the manifest.
///
/// # Errors
/// [`Error::Damaged`] if they differ.
pub(super) fn read_part_bytes(stage: &Path, part: &Part) -> Result<Vec<u8>, Error> {
    let path = stage.join(&part.file);
    let bytes = fence::read(&path).map_err(Error::io("read", &path))?;
    if blake3::hash(&bytes).to_hex().as_str() == part.blake3 {
        return Ok(bytes);
    }
    Err(Error::stale_file(&path, "its bytes are not those its manifest names"))
}

/// Reads a part back, checked against the manifest.
///
/// # Errors
/// [`Error::Damaged`] if the file differs.
pub(super) fn read_part<R: Record>(columns: R::Columns, stage: &Path, part: &Part) -> Result<Vec<R>, Error> {
    let (path, bytes) = (stage.join(&part.file), read_part_bytes(stage, part)?);
    from_bytes(columns, bytes).map_err(|e| Error::stale_file(&path, e))
}

/// The rows of a part's file.
///
/// # Errors
/// Polars' errors about a file that is invalid or has other columns.
pub(super) fn from_bytes<R: Record>(columns: R::Columns, bytes: Vec<u8>) -> PolarsResult<Vec<R>> {
    let read = ParquetReader::new(Cursor::new(bytes)).read_parallel(ParallelStrategy::None).finish()?;
    from_frame(columns, &read)
}

/// Writes a table as one Parquet file with one row group per part, streamed.
///
/// # Errors
/// [`Error`] if a part cannot be read or the file not written.
pub fn write_parquet<R: Typed>(
    path: &Path,
    parts: impl Iterator<Item = Result<Vec<R>, Error>>,
) -> Result<(), Error> {
    let damaged = |e: PolarsError| match e {
        PolarsError::IO { error, .. } => {
            Error::io("write", path)(std::io::Error::new(error.kind(), error.to_string()))
        }
        e => Error::stale_file(path, e),
    };
    let file = fence::create(path).map_err(Error::io("create", path))?;
    let empty = to_frame::<R>((), &[]).map_err(damaged)?;
    let mut writer = ParquetWriter::new(&file)
        .with_compression(ParquetCompression::Zstd(None))
        .set_parallel(false)
        .with_key_value_metadata(Some(stated_types(empty.schema())))
        .batched(empty.schema())
        .map_err(damaged)?;
    for rows in parts {
        let frame = to_frame((), &[&rows?]).map_err(damaged)?;
        writer.write_batch(&frame).map_err(damaged)?;
    }
    writer.finish().map_err(damaged)?;
    file.sync_data().map_err(Error::io("write", path))
}
