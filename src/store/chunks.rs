//! Parquet files of one row group, by the chunks of their columns: a column that does not change passes from file to
//! file as its bytes stand.

use std::io::Cursor;
use std::ops::Range;
use std::sync::Arc;

use blake3::Hash;
use polars::prelude::*;
use polars_parquet::parquet::error::ParquetError;
use polars_parquet::write::{
    CompressionOptions, Compressor, DynIter, DynStreamingIterator, Encoding, FallibleStreamingIterator,
    FileWriter, Page, Version, WriteOptions, array_to_columns, get_dtype_encoding,
};
use polars_parquet_format::thrift::protocol::{TCompactInputProtocol, TCompactOutputProtocol};
use polars_parquet_format::{ColumnChunk, ColumnMetaData, FileMetaData, KeyValue, RowGroup};
use rayon::prelude::*;

use super::frame::{digest, to_frame};
use crate::record::{Column as Described, Record};

/// The key under which a file states the digests of its columns.
const DIGESTS: &str = "riddlemill.digests";
const MAGIC: &[u8; 4] = b"PAR1";

/// A file in memory.
pub(super) struct Chunks {
    bytes: Arc<Vec<u8>>,
    footer: FileMetaData,
}

/// A column on its way into a file.
pub(super) struct Chunk {
    pages: Piece,
    /// What its file says of it; offsets are those among its pages.
    meta: ColumnMetaData,
    /// The digest of its cells.
    pub(super) digest: Hash,
}

impl Chunk {
    /// A column made anew.
    ///
    /// # Errors
    /// What Polars says.
    pub(super) fn of(column: Column, digest: Hash) -> PolarsResult<Chunk> {
        let name = column.name().clone();
        let made = Chunks::encode(&DataFrame::new(column.len(), vec![column])?)?;
        made.chunk(&name, digest)
    }

    /// Columns of a frame made anew, on all cores.
    ///
    /// # Errors
    /// Where the frame has not these columns.
    pub(super) fn all(frame: &DataFrame, columns: &[Described]) -> PolarsResult<Vec<Chunk>> {
        let chunk = |described: &Described| {
            let column = frame.column(described.name)?;
            Chunk::of(column.clone(), digest(column, described.kind)?)
        };
        columns.par_iter().map(chunk).collect()
    }
}

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
    fn encode(frame: &DataFrame) -> PolarsResult<Chunks> {
        let options = WriteOptions {
            statistics: StatisticsOptions::empty(),
            version: Version::V1,
            compression: CompressionOptions::Lz4Raw,
            data_page_size: None,
        };
        // What is compressed is no larger, and room that is not used is not taken.
        let mut bytes = Vec::with_capacity(frame.estimated_size());
        let mut writer =
            FileWriter::try_new(&mut bytes, frame.schema().to_arrow(CompatLevel::newest()), options)?;
        let mut columns = Vec::new();
        for (column, described) in frame.columns().iter().zip(writer.parquet_schema().fields()) {
            let array = column.as_materialized_series().rechunk().to_arrow(0, CompatLevel::newest());
            // Most texts differ, so that a dictionary is tried for nothing; LZ4 sees those that do not.
            let encodings = match column.dtype() {
                DataType::String => vec![Encoding::Plain],
                _ => get_dtype_encoding(array.dtype()),
            };
            columns.extend(array_to_columns(&array, described.clone(), options, &encodings)?);
        }
        if frame.height() > 0 {
            let compressed = |pages: DynIter<'static, PolarsResult<Page>>| {
                let pages =
                    pages.map(|page| page.map_err(|e| ParquetError::FeatureNotSupported(e.to_string())));
                let compressor = Compressor::new_from_vec(pages, options.compression, Vec::new());
                Ok(DynStreamingIterator::new(compressor.map_err(PolarsError::from)))
            };
            // One row group, so that the bytes depend on the rows alone.
            writer.write(frame.height() as u64, DynIter::new(columns.into_iter().map(compressed)))?;
        }
        writer.end(None)?;
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

    /// A column as it stands, whose digest is known.
    ///
    /// # Errors
    /// Where it is not among its columns.
    pub(super) fn chunk(&self, name: &str, digest: Hash) -> PolarsResult<Chunk> {
        let columns = self.footer.row_groups.first().map_or(&[][..], |group| &group.columns);
        let found = columns.iter().filter_map(|chunk| chunk.meta_data.as_ref()).find_map(|meta| {
            let first = meta.dictionary_page_offset.unwrap_or(meta.data_page_offset);
            let start = usize::try_from(first).ok()?;
            let end = start.checked_add(usize::try_from(meta.total_compressed_size).ok()?)?;
            let here = meta.path_in_schema.first().is_some_and(|n| n == name);
            self.bytes.get(start..end).filter(|_| here)?;
            let mut meta = meta.clone();
            meta.data_page_offset -= first;
            meta.dictionary_page_offset = meta.dictionary_page_offset.map(|at| at - first);
            Some(Chunk { pages: Piece { bytes: Arc::clone(&self.bytes), range: start..end }, meta, digest })
        });
        found.ok_or_else(|| polars_err!(ComputeError: "its column {name} has no pages"))
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

/// A file of `rows` rows and these columns. They are those of a record, in their order.
///
/// # Errors
/// What Polars says of an empty file.
pub(super) fn splice<R: Record>(rows: usize, columns: Vec<Chunk>) -> PolarsResult<Vec<Piece>> {
    // The schema of the whole is that of an empty file.
    let Chunks { mut footer, .. } = Chunks::encode(&to_frame::<R>(&[])?)?;
    let digests: Vec<String> = columns.iter().map(|column| column.digest.to_hex().to_string()).collect();
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
    for Chunk { pages, mut meta, .. } in columns {
        meta.data_page_offset += end;
        meta.dictionary_page_offset = meta.dictionary_page_offset.map(|at| at + end);
        end += meta.total_compressed_size;
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
