//! Parquet files of one row group as column chunks: the bytes of an unchanged column are copied from file to
//! file.

use std::io::Cursor;
use std::ops::Range;
use std::slice;
use std::sync::Arc;

use blake3::Hash;
use polars::prelude::*;
use polars_io::SerReader;
use polars_io::prelude::{ParallelStrategy, ParquetReader};
use polars_parquet::parquet::error::ParquetError;
use polars_parquet::write::{
    Compressor, DynIter, DynStreamingIterator, FallibleStreamingIterator, Page, array_to_columns,
    get_dtype_encoding,
};
use polars_parquet_format::thrift::protocol::{TCompactInputProtocol, TCompactOutputProtocol};
use polars_parquet_format::{ColumnChunk, ColumnMetaData, FileMetaData, KeyValue, RowGroup};

use super::arrow_metadata::schema_entry;
use super::column::{ColumnSlices, data_type_of};
use super::pages::{self, LZ4};
use riddlemill_record::Column as Described;

/// The metadata key of the columns' digests.
const DIGESTS: &str = "riddlemill.digests";
const MAGIC: &[u8; 4] = b"PAR1";

/// A file in memory.
pub(super) struct Chunks {
    bytes: Arc<Vec<u8>>,
    footer: FileMetaData,
}

/// A column before it is written to a file.
#[derive(Clone)]
pub(super) struct Chunk {
    /// In consecutive pieces.
    pages: Vec<Piece>,
    /// Its metadata; offsets are relative to its pages.
    meta: ColumnMetaData,
    /// The digest of its cells.
    pub(super) digest: Hash,
}

impl Chunk {
    /// The same cells under another column name.
    pub(super) fn with_name(mut self, name: &str) -> Chunk {
        // The further names of a list's path belong to its elements.
        self.meta.path_in_schema.splice(..1, [name.to_string()]);
        self
    }

    pub(super) fn encode_column(
        described: &Described,
        column: &ColumnSlices<'_>,
        digest: Hash,
    ) -> PolarsResult<Chunk> {
        if let Some((pieces, meta)) = pages::encode_pages(described, column)? {
            return Ok(Chunk { pages: pieces.into_iter().map(Piece::from_bytes).collect(), meta, digest });
        }
        Chunks::encode_by_polars(slice::from_ref(described), slice::from_ref(column))?
            .find_chunk(described.name, digest)
    }
}

impl Chunks {
    /// Parses the chunks of a file.
    ///
    /// # Errors
    /// [`PolarsError`] if it is not such a file.
    pub(super) fn parse_file(bytes: Vec<u8>) -> PolarsResult<Chunks> {
        let footer =
            find_footer(&bytes).ok_or_else(|| polars_err!(ComputeError: "it has no Parquet footer"))?;
        // The limit keeps a damaged footer from allocating any amount of memory.
        let mut protocol = TCompactInputProtocol::new(footer, footer.len().saturating_mul(64));
        let footer = FileMetaData::read_from_in_protocol(&mut protocol)
            .map_err(|e| polars_err!(ComputeError: "its Parquet footer: {e}"))?;
        Ok(Chunks { bytes: Arc::new(bytes), footer })
    }

    /// Columns as Polars encodes them, in a file of their own; only the schema if there are none.
    pub(super) fn encode_by_polars(
        described: &[Described],
        columns: &[ColumnSlices<'_>],
    ) -> PolarsResult<Chunks> {
        let mut bytes = Vec::new();
        let mut writer = pages::start_file(described, &mut bytes)?;
        let mut encoded = Vec::new();
        for (column, described) in columns.iter().zip(writer.parquet_schema().fields()) {
            let encodings = get_dtype_encoding(&data_type_of(column.kind()).to_arrow(CompatLevel::newest()));
            encoded.extend(array_to_columns(
                column.to_arrow_array()?,
                described.clone(),
                pages::write_options(),
                &encodings,
            )?);
        }
        let rows = columns.first().map_or(0, ColumnSlices::count_rows);
        if rows > 0 {
            let compressed = |pages: DynIter<'static, PolarsResult<Page>>| {
                let pages =
                    pages.map(|page| page.map_err(|e| ParquetError::FeatureNotSupported(e.to_string())));
                let compressor = Compressor::new_from_vec(pages, LZ4, Vec::new());
                Ok(DynStreamingIterator::new(compressor.map_err(PolarsError::from)))
            };
            // One row group, so that the bytes depend on the rows alone.
            writer.write(rows as u64, DynIter::new(encoded.into_iter().map(compressed)))?;
        }
        writer.end(Some(vec![schema_entry(&pages::schema_of_columns(described))]))?;
        Chunks::parse_file(bytes)
    }

    /// The digests stated in the file, in the order of its columns.
    pub(super) fn stated_digests(&self) -> Option<Vec<Hash>> {
        let stated = self.footer.key_value_metadata.iter().flatten().find(|pair| pair.key == DIGESTS)?;
        stated.value.as_ref()?.split(' ').map(|hex| Hash::from_hex(hex).ok()).collect()
    }

    /// Some of its columns, decoded.
    ///
    /// # Errors
    /// If they are damaged, or missing.
    pub(super) fn decode_columns(&self, columns: Vec<String>) -> PolarsResult<DataFrame> {
        ParquetReader::new(Cursor::new(self.bytes.as_slice()))
            .with_columns(Some(columns))
            .read_parallel(ParallelStrategy::None)
            .finish()
    }

    /// A column as stored, with its known digest.
    ///
    /// # Errors
    /// If it is missing.
    pub(super) fn find_chunk(&self, name: &str, digest: Hash) -> PolarsResult<Chunk> {
        let columns = self.footer.row_groups.first().map_or(&[][..], |group| &group.columns);
        let found = columns.iter().filter_map(|chunk| chunk.meta_data.as_ref()).find_map(|meta| {
            // A dictionary is stored before the pages that use it.
            let first = meta.dictionary_page_offset.unwrap_or(meta.data_page_offset);
            let start = usize::try_from(first).ok()?;
            let end = start.checked_add(usize::try_from(meta.total_compressed_size).ok()?)?;
            let here = meta.path_in_schema.first().is_some_and(|n| n == name);
            // A damaged footer may name bytes behind the end of the file.
            self.bytes.get(start..end).filter(|_| here)?;
            let mut meta = meta.clone();
            meta.data_page_offset -= first;
            meta.dictionary_page_offset = meta.dictionary_page_offset.map(|at| at - first);
            let pages = vec![Piece { bytes: Arc::clone(&self.bytes), range: start..end }];
            Some(Chunk { pages, meta, digest })
        });
        found.ok_or_else(|| polars_err!(ComputeError: "its column {name} has no pages"))
    }
}

/// The footer: the bytes between the pages and the footer's length.
fn find_footer(bytes: &[u8]) -> Option<&[u8]> {
    let (rest, magic) = bytes.split_last_chunk::<4>()?;
    let (rest, length) = rest.split_last_chunk::<4>()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    (magic == MAGIC).then(|| rest.len().checked_sub(length).map(|at| &rest[at..])).flatten()
}

/// A range of a file's bytes.
#[derive(Clone)]
pub(super) struct Piece {
    bytes: Arc<Vec<u8>>,
    range: Range<usize>,
}

impl Piece {
    fn from_bytes(bytes: Vec<u8>) -> Piece {
        Piece { range: 0..bytes.len(), bytes: Arc::new(bytes) }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[self.range.clone()]
    }
}

/// Whether pieces have the same bytes, however they are cut: a column copied from a file is one piece.
fn is_same_content(a: &[Piece], b: &[Piece]) -> bool {
    fn iterate_bytes(pieces: &[Piece]) -> impl Iterator<Item = &u8> {
        pieces.iter().flat_map(Piece::bytes)
    }
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.bytes() == b.bytes())
        || iterate_bytes(a).eq(iterate_bytes(b))
}

/// A file of `rows` rows and these columns, which are those of a record, in order.
///
/// # Errors
/// Polars' errors about an empty file.
pub(super) fn splice_columns(
    described: &[Described],
    rows: usize,
    columns: Vec<Chunk>,
) -> PolarsResult<Vec<Piece>> {
    // The schema of the whole is that of an empty file.
    let Chunks { mut footer, .. } = Chunks::encode_by_polars(described, &[])?;
    let digests: Vec<String> = columns.iter().map(|column| column.digest.to_hex().to_string()).collect();
    let mut pieces = vec![Piece::from_bytes(MAGIC.to_vec())];
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
    let mut written: Vec<(Hash, i64, Vec<Piece>)> = Vec::new();
    for Chunk { pages, mut meta, digest } in columns {
        // Equal pages are stored once: the text of a post without a title equals its content.
        let twin = written
            .iter()
            .find(|(twin, _, pages_of_twin)| *twin == digest && is_same_content(pages_of_twin, &pages));
        let start = match twin {
            Some((_, start, _)) => *start,
            None => {
                written.push((digest, end, pages));
                end += meta.total_compressed_size;
                written[written.len() - 1].1
            }
        };
        meta.data_page_offset += start;
        meta.dictionary_page_offset = meta.dictionary_page_offset.map(|at| at + start);
        group.total_byte_size += meta.total_uncompressed_size;
        group.total_compressed_size =
            group.total_compressed_size.map(|size| size + meta.total_compressed_size);
        // Metadata is only in the footer, and page indexes are not copied.
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
    }
    pieces.extend(written.into_iter().flat_map(|(.., pages)| pages));
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
    pieces.push(Piece::from_bytes(bytes));
    Ok(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::column::ColumnBuilder;
    use crate::frame::{FrameColumns, RowChunks};
    use crate::from_frame;
    use crate::pages::SAMPLE;
    use crate::part::Encoded;
    use crate::values::Scalar;
    use polars_parquet_format::CompressionCodec;
    use proptest::prelude::*;
    use riddlemill_record::{CellKind, Link, Typed, record};

    /// A text that no other resembles, or one that every other resembles.
    fn text(n: u64, own: bool) -> String {
        let digest = blake3::hash(&n.to_le_bytes());
        let chars =
            digest.as_bytes().chunks(2).map(|two| 0x4e00 + u32::from(two[0]) * 80 + u32::from(two[1]));
        match own {
            true => chars.filter_map(char::from_u32).collect(),
            false => format!("云会恐高吗，第{n}朵云说它不会，别的云都不信"),
        }
    }

    fn part(links: &[Link]) -> Chunks {
        let mut columns = FrameColumns::with_all_columns((), 0);
        links.iter().for_each(|link| columns.append(link));
        Chunks::parse_file(Encoded::encode_rows(&RowChunks::from_block(columns)).unwrap().file_bytes())
            .unwrap()
    }

    #[test]
    fn texts_that_do_not_become_smaller_stay_as_they_are() {
        let link = |n| Link { child: text(n, true), parent: text(n, false), role: text(n, true) };
        for (rows, codecs) in [
            (SAMPLE as u64 + 1, [CompressionCodec::UNCOMPRESSED, CompressionCodec::LZ4_RAW]),
            (9, [CompressionCodec::LZ4_RAW; 2]),
        ] {
            let links: Vec<Link> = (0..rows).map(link).collect();
            let part = part(&links);
            let found = part.footer.row_groups[0].columns.iter().map(|c| c.meta_data.as_ref().unwrap().codec);
            assert_eq!(found.collect::<Vec<_>>(), [codecs[0], codecs[1], codecs[0]], "{rows} rows");
            // Two equal columns are stored once.
            let places = part.footer.row_groups[0].columns.iter();
            let places: Vec<i64> = places.map(|c| c.meta_data.as_ref().unwrap().data_page_offset).collect();
            assert!(places[0] == places[2] && places[0] != places[1]);
            let names = ["child", "parent", "role"].map(str::to_string).to_vec();
            assert_eq!(from_frame::<Link>((), &part.decode_columns(names).unwrap()).unwrap(), links);
        }
    }

    record! {
        /// A column of every kind.
        pub struct Every {
            /// Its id.
            id: String,
            /// A text.
            text: Option<String>,
            /// A count.
            count: Option<u64>,
            /// A score.
            real: Option<f64>,
            /// A flag.
            flag: Option<bool>,
            /// A list.
            texts: Option<Vec<String>>,
        }
    }

    fn every() -> impl Strategy<Value = Every> {
        // Some are so long that there are several pages.
        let long = || Just("鱼".repeat(150_000));
        let text = move || prop_oneof![30 => Just(String::new()), 9 => "[云鱼a]{0,3}", 1 => long()];
        let some = |odds: u32| prop::option::weighted(f64::from(odds) / 10.0, Just(()));
        let list = prop_oneof![4 => Just(Vec::new()), 1 => prop::collection::vec(text(), 0..3)];
        let cells = (text(), 0u64..3, -1.0f64..1.0, any::<bool>(), list);
        let given = (some(9), some(1), some(5), some(9), some(9));
        (text(), cells, given).prop_map(|(id, (text, count, real, flag, texts), given)| Every {
            id,
            text: given.0.map(|()| text),
            count: given.1.map(|()| count),
            real: given.2.map(|()| real),
            flag: given.3.map(|()| flag),
            texts: given.4.map(|()| texts),
        })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(rows in prop::collection::vec(every(), 1..60)) {
            let mut columns = FrameColumns::with_all_columns((), 0);
            rows.iter().for_each(|row| columns.append(row));
            let part = Chunks::parse_file(Encoded::encode_rows(&RowChunks::from_block(columns)).unwrap().file_bytes()).unwrap();
            let names = Every::COLUMNS.iter().map(|c| c.name.to_string()).collect();
            prop_assert_eq!(from_frame::<Every>((), &part.decode_columns(names).unwrap()).unwrap(), rows);
        }
    }

    #[test]
    fn a_column_that_says_the_same_is_made_once_whatever_its_name() {
        let one = |name, text: &str| {
            let described = Described { name, kind: CellKind::Text, filled: true, about: "" };
            let column = ColumnBuilder::repeat_value(CellKind::Text, Scalar::Text(text.into()), 77);
            Chunk::cached_or_encoded(&described, &ColumnSlices::from_column(&column)).unwrap()
        };
        let (a, b, c) = (one("child", "云"), one("parent", "云"), one("child", "鱼"));
        assert!(
            Arc::ptr_eq(&a.pages[1].bytes, &b.pages[1].bytes)
                && !Arc::ptr_eq(&a.pages[1].bytes, &c.pages[1].bytes)
        );
        assert_eq!((a.digest, b.meta.path_in_schema), (b.digest, vec!["parent".to_string()]));
        assert_ne!(a.digest, c.digest);
    }
}
