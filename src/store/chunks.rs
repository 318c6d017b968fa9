//! Parquet files of one row group, by the chunks of their columns: a column that does not change passes from file to
//! file as its bytes stand.

use std::io::Cursor;
use std::ops::Range;
use std::sync::Arc;

use blake3::Hash;
use polars::prelude::*;
use polars_parquet_format::thrift::protocol::{TCompactInputProtocol, TCompactOutputProtocol};
use polars_parquet_format::{ColumnChunk, FileMetaData, KeyValue, RowGroup};

use super::frame::to_frame;
use crate::record::Record;

/// The key under which a file states the digests of its columns.
const DIGESTS: &str = "riddlemill.digests";
const MAGIC: &[u8; 4] = b"PAR1";

/// A file in memory.
pub(super) struct Chunks {
    bytes: Arc<Vec<u8>>,
    footer: FileMetaData,
}

/// A column on its way into a file: where it stands, and its digest.
pub(super) type Chosen<'a> = (&'a Chunks, &'static str, Hash);

impl Chunks {
    /// Finds the chunks of a file.
    ///
    /// # Errors
    /// [`PolarsError`] where it is no such file.
    pub(super) fn read(bytes: Vec<u8>) -> PolarsResult<Chunks> {
        let footer = footer(&bytes).ok_or_else(|| polars_err!(ComputeError: "it has no Parquet footer"))?;
        let mut protocol = TCompactInputProtocol::new(footer, footer.len().saturating_mul(64));
        let footer = FileMetaData::read_from_in_protocol(&mut protocol)
            .map_err(|e| polars_err!(ComputeError: "its Parquet footer: {e}"))?;
        Ok(Chunks { bytes: Arc::new(bytes), footer })
    }

    /// Columns as chunks, in a file of their own.
    ///
    /// # Errors
    /// What Polars says; equal lengths rule it out.
    pub(super) fn encode(frame: &mut DataFrame) -> PolarsResult<Chunks> {
        // What is compressed is no larger, and room that is not used is not taken.
        let mut bytes = Vec::with_capacity(frame.estimated_size());
        ParquetWriter::new(&mut bytes)
            .with_compression(ParquetCompression::Lz4Raw)
            .with_statistics(StatisticsOptions::empty())
            // One row group, so that the bytes depend on the rows alone.
            .with_row_group_size(Some(frame.height().max(1)))
            .set_parallel(false)
            .finish(frame)?;
        Chunks::read(bytes)
    }

    /// The digests that it states, in the order of its columns.
    pub(super) fn digests(&self) -> Option<Vec<Hash>> {
        let stated = self.footer.key_value_metadata.iter().flatten().find(|pair| pair.key == DIGESTS)?;
        stated.value.as_ref()?.split(' ').map(|hex| Hash::from_hex(hex).ok()).collect()
    }

    /// Some of its columns, decoded.
    ///
    /// # Errors
    /// Where they are damaged, or not among its columns.
    pub(super) fn frame(&self, columns: Vec<String>) -> PolarsResult<DataFrame> {
        ParquetReader::new(Cursor::new(self.bytes.as_slice()))
            .with_columns(Some(columns))
            .read_parallel(ParallelStrategy::None)
            .finish()
    }

    /// Where a column's pages stand, and what its file says of them.
    fn chunk(&self, name: &str) -> Option<(Piece, &ColumnChunk)> {
        let columns = self.footer.row_groups.first().map_or(&[][..], |group| &group.columns);
        let chunk = columns.iter().find(|chunk| {
            chunk.meta_data.as_ref().and_then(|meta| meta.path_in_schema.first()).is_some_and(|n| n == name)
        })?;
        let meta = chunk.meta_data.as_ref()?;
        let start = usize::try_from(meta.dictionary_page_offset.unwrap_or(meta.data_page_offset)).ok()?;
        let end = start.checked_add(usize::try_from(meta.total_compressed_size).ok()?)?;
        self.bytes.get(start..end)?;
        Some((Piece { bytes: Arc::clone(&self.bytes), range: start..end }, chunk))
    }
}

/// What stands between the pages and the length of the footer.
fn footer(bytes: &[u8]) -> Option<&[u8]> {
    let (rest, magic) = bytes.split_last_chunk::<4>()?;
    let (rest, length) = rest.split_last_chunk::<4>()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    (magic == MAGIC).then(|| rest.len().checked_sub(length).map(|at| &rest[at..])).flatten()
}

/// Bytes of a file, where they are.
pub(super) struct Piece {
    bytes: Arc<Vec<u8>>,
    range: Range<usize>,
}

impl Piece {
    fn all(bytes: Vec<u8>) -> Piece {
        Piece { range: 0..bytes.len(), bytes: Arc::new(bytes) }
    }

    /// The bytes.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[self.range.clone()]
    }
}

/// A file of `rows` rows, its columns taken from wherever they stand. They are those of a record, in
/// their order.
///
/// # Errors
/// Where a column does not stand where it is said to.
pub(super) fn splice<R: Record>(rows: usize, columns: &[Chosen<'_>]) -> PolarsResult<Vec<Piece>> {
    // The schema of the whole is that of an empty file.
    let Chunks { mut footer, .. } = Chunks::encode(&mut to_frame::<R>(&[])?)?;
    let mut pieces = vec![Piece::all(MAGIC.to_vec())];
    let mut end = MAGIC.len() as i64;
    let mut group = RowGroup {
        columns: Vec::with_capacity(columns.len()),
        total_byte_size: 0,
        num_rows: rows as i64,
        sorting_columns: None,
        file_offset: Some(end),
        total_compressed_size: Some(0),
        ordinal: Some(0),
    };
    for (from, name, _) in columns {
        let missing = || polars_err!(ComputeError: "its column {name} has no pages");
        let (pages, chunk) = from.chunk(name).ok_or_else(missing)?;
        let mut meta = chunk.meta_data.clone().ok_or_else(missing)?;
        let moved = end - meta.dictionary_page_offset.unwrap_or(meta.data_page_offset);
        end += meta.total_compressed_size;
        meta.data_page_offset += moved;
        meta.dictionary_page_offset = meta.dictionary_page_offset.map(|at| at + moved);
        group.total_byte_size += meta.total_uncompressed_size;
        group.total_compressed_size =
            group.total_compressed_size.map(|size| size + meta.total_compressed_size);
        // Nothing is said of it outside of the footer, and the indexes of pages stay behind.
        group.columns.push(ColumnChunk {
            file_path: None,
            file_offset: 0,
            meta_data: Some(meta),
            offset_index_offset: None,
            offset_index_length: None,
            column_index_offset: None,
            column_index_length: None,
            crypto_metadata: None,
            encrypted_column_metadata: None,
        });
        pieces.push(pages);
    }
    let digests: Vec<String> = columns.iter().map(|(.., digest)| digest.to_hex().to_string()).collect();
    let stated = KeyValue { key: DIGESTS.into(), value: Some(digests.join(" ")) };
    footer.key_value_metadata.get_or_insert_default().push(stated);
    footer.num_rows = rows as i64;
    footer.row_groups = vec![group];
    let mut bytes = Vec::new();
    footer
        .write_to_out_protocol(&mut TCompactOutputProtocol::new(&mut bytes))
        .map_err(|e| polars_err!(ComputeError: "a Parquet footer: {e}"))?;
    let length = u32::try_from(bytes.len()).map_err(|e| polars_err!(ComputeError: "{e}"))?;
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(MAGIC);
    pieces.push(Piece::all(bytes));
    Ok(pieces)
}
