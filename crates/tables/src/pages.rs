//! Pages that are written by this crate and not by Polars: texts, and columns without values.
//!
//! For texts Polars tries a dictionary, although most texts differ; it joins them into one buffer first, and
//! makes a separate file of them.

use std::io::{self, Write};
use std::slice;

use polars::prelude::*;
use polars_parquet::parquet::compression::compress;
use polars_parquet::parquet::encoding::hybrid_rle::Encoder;
use polars_parquet::parquet::metadata::ColumnDescriptor;
use polars_parquet::write::{
    CompressionOptions, FileWriter, StatisticsOptions, Version, WriteOptions, write_def_levels,
};
use polars_parquet_format::thrift::protocol::TCompactOutputProtocol;
use polars_parquet_format::{ColumnMetaData, DataPageHeader, Encoding, PageHeader, PageType, Type};

use super::column::{ColumnSlices, data_type_of};
use super::values::Scalar;
use riddlemill_record::{CellKind, Column as Described};

/// The pages of a column, each as header and body, and the footer's metadata; `None` if Polars should encode
/// it.
///
/// # Errors
/// If a page is too large for the format.
pub(super) fn encode_pages(
    described: &Described,
    column: &ColumnSlices<'_>,
) -> PolarsResult<Option<(Vec<Vec<u8>>, ColumnMetaData)>> {
    let leaf = describe_column(described)?;
    let mut pages = Pages { pieces: Vec::new(), size: 0, plain_size: 0 };
    let rows = column.count_rows();
    let compression = match column.single_value() {
        Some(Scalar::Null) => {
            pages.push(without_values(&leaf, rows, 0)?, rows, LZ4)?;
            LZ4
        }
        Some(Scalar::Texts(texts)) if texts.is_empty() => {
            pages.push(without_values(&leaf, rows, 1)?, rows, LZ4)?;
            LZ4
        }
        _ if column.kind() == CellKind::Text => {
            let compression = if is_compressible(column)? { LZ4 } else { CompressionOptions::Uncompressed };
            // At least one row, even if it is longer than a page.
            let step = (PAGE / (column.estimate_bytes() / rows.max(1) + 1)).max(1);
            for first in (0..rows).step_by(step) {
                let page = column.slice_rows(first..rows.min(first + step));
                let mut body = Vec::with_capacity(page.estimate_bytes());
                write_def_levels(
                    &mut body,
                    true,
                    page.validity_bitmap().as_ref(),
                    page.count_rows(),
                    Version::V1,
                )?;
                page.append_plain_texts(&mut body);
                pages.push(body, page.count_rows(), compression)?;
            }
            compression
        }
        _ => return Ok(None),
    };
    let (type_, _): (Type, Option<i32>) = leaf.descriptor.primitive_type.physical_type.into();
    let meta = ColumnMetaData {
        type_,
        encodings: vec![Encoding::PLAIN, Encoding::RLE],
        path_in_schema: leaf.path_in_schema.iter().map(ToString::to_string).collect(),
        codec: compression.into(),
        num_values: rows as i64,
        total_uncompressed_size: pages.plain_size,
        total_compressed_size: pages.size,
        key_value_metadata: None,
        data_page_offset: 0,
        index_page_offset: None,
        dictionary_page_offset: None,
        statistics: None,
        encoding_stats: None,
        bloom_filter_offset: None,
        bloom_filter_length: None,
        size_statistics: None,
    };
    Ok(Some((pages.pieces, meta)))
}

/// The compression of columns, if they are compressed.
pub(super) const LZ4: CompressionOptions = CompressionOptions::Lz4Raw;
/// Bytes per page.
const PAGE: usize = 1 << 20;

/// Whether compressing a text column is worth its time. LZ4 gains little on short Chinese posts.
fn is_compressible(column: &ColumnSlices<'_>) -> PolarsResult<bool> {
    if column.count_rows() <= SAMPLE {
        return Ok(true);
    }
    let (mut before, mut after) = (Vec::new(), Vec::new());
    column.slice_rows(0..SAMPLE).append_plain_texts(&mut before);
    compress(LZ4, &before, &mut after)?;
    Ok(after.len() as f64 <= WORTH * before.len() as f64)
}

/// Number of rows used to decide whether a text column is compressed.
pub(super) const SAMPLE: usize = 2048;
/// Largest worthwhile ratio of compressed to plain size.
const WORTH: f64 = 0.75;

/// A column's description in the schema.
fn describe_column(described: &Described) -> PolarsResult<ColumnDescriptor> {
    let file = start_file(slice::from_ref(described), io::sink())?;
    let leaf = file.parquet_schema().columns().first().cloned();
    leaf.ok_or_else(|| polars_err!(ComputeError: "a column without a leaf"))
}

/// A file of these columns, written by Polars.
///
/// # Errors
/// If it cannot be started.
pub(super) fn start_file<W: Write>(described: &[Described], to: W) -> PolarsResult<FileWriter<W>> {
    FileWriter::try_new(to, schema_of_columns(described).to_arrow(CompatLevel::newest()), write_options())
}

/// The types of columns.
pub(super) fn schema_of_columns(described: &[Described]) -> Schema {
    described.iter().map(|c| Field::new(c.name.into(), data_type_of(c.kind))).collect()
}

/// Polars' options for writing a file.
pub(super) fn write_options() -> WriteOptions {
    WriteOptions {
        statistics: StatisticsOptions::empty(),
        version: Version::V1,
        compression: LZ4,
        data_page_size: None,
    }
}

/// The body of a page of rows that are all null (level 0) or all empty lists (level 1).
fn without_values(leaf: &ColumnDescriptor, rows: usize, level: u32) -> PolarsResult<Vec<u8>> {
    let descriptor = &leaf.descriptor;
    let mut body = Vec::new();
    // Every row begins a list of its own.
    for (most, level) in [(descriptor.max_rep_level, 0), (descriptor.max_def_level, level)] {
        let bits = u32::BITS - u32::from(most.unsigned_abs()).leading_zeros();
        if bits > 0 {
            let mut run = Vec::new();
            u32::run_length_encode(&mut run, rows, level, bits)?;
            body.extend_from_slice(&(run.len() as u32).to_le_bytes());
            body.extend_from_slice(&run);
        }
    }
    Ok(body)
}

struct Pages {
    /// Headers and bodies, alternating.
    pieces: Vec<Vec<u8>>,
    size: i64,
    /// Before compression.
    plain_size: i64,
}

impl Pages {
    fn push(&mut self, body: Vec<u8>, rows: usize, compression: CompressionOptions) -> PolarsResult<()> {
        let length =
            |bytes: usize| i32::try_from(bytes).map_err(|e| polars_err!(ComputeError: "a page: {e}"));
        let plain = length(body.len())?;
        let body = match compression {
            CompressionOptions::Uncompressed => body,
            _ => {
                let mut smaller = Vec::new();
                compress(compression, &body, &mut smaller)?;
                // It may be kept for long, and the buffer was allocated for the uncompressed size.
                smaller.shrink_to_fit();
                smaller
            }
        };
        let header = PageHeader {
            type_: PageType::DATA_PAGE,
            uncompressed_page_size: plain,
            compressed_page_size: length(body.len())?,
            crc: None,
            data_page_header: Some(DataPageHeader {
                num_values: length(rows)?,
                encoding: Encoding::PLAIN,
                definition_level_encoding: Encoding::RLE,
                repetition_level_encoding: Encoding::RLE,
                statistics: None,
            }),
            index_page_header: None,
            dictionary_page_header: None,
            data_page_header_v2: None,
        };
        let mut head = Vec::new();
        header
            .write_to_out_protocol(&mut TCompactOutputProtocol::new(&mut head))
            .map_err(|e| polars_err!(ComputeError: "a page's header: {e}"))?;
        // The format counts the headers of pages in both sizes.
        self.size += (head.len() + body.len()) as i64;
        self.plain_size += head.len() as i64 + i64::from(plain);
        self.pieces.extend([head, body]);
        Ok(())
    }
}
