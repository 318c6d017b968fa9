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

use super::column::{Growing, dtype};
use super::known;
use crate::record::{CellKind, Column as Described, Record};

/// The key under which a file states the digests of its columns.
const DIGESTS: &str = "riddlemill.digests";
const MAGIC: &[u8; 4] = b"PAR1";

/// A file in memory.
pub(super) struct Chunks {
    bytes: Arc<Vec<u8>>,
    footer: FileMetaData,
}

/// A column on its way into a file.
#[derive(Clone)]
pub(super) struct Chunk {
    pages: Piece,
    /// What its file says of it; offsets are those among its pages.
    meta: ColumnMetaData,
    /// The digest of its cells.
    pub(super) digest: Hash,
}

impl Chunk {
    /// Columns made anew, on all cores.
    ///
    /// # Errors
    /// What Polars says of their buffers, which their lengths rule out.
    pub(super) fn all(described: &[Described], columns: Vec<Growing>) -> PolarsResult<Vec<Chunk>> {
        let digests: Vec<Option<Hash>> =
            columns.par_iter().map(|c| c.same().is_none().then(|| c.digest())).collect();
        // A post without a title says in two columns the same.
        let twin = |at: usize| {
            let digest = digests[at]?;
            (0..at).find(|before| {
                digests[*before] == Some(digest) && columns[*before].kind() == columns[at].kind()
            })
        };
        let twins: Vec<Option<usize>> = (0..columns.len()).map(twin).collect();
        let made = columns.into_par_iter().enumerate().map(|(at, column)| match (twins[at], digests[at]) {
            (Some(_), _) => Ok(None),
            (None, Some(digest)) => Chunk::encoded(&described[at], column, digest).map(Some),
            (None, None) => Chunk::of(&described[at], column).map(Some),
        });
        let made: Vec<Option<Chunk>> = made.collect::<PolarsResult<_>>()?;
        let chunk = |(at, twin): (usize, &Option<usize>)| match twin {
            Some(twin) => made[*twin].clone().map(|chunk| chunk.named(described[at].name)),
            None => made[at].clone(),
        };
        Ok(twins.iter().enumerate().filter_map(chunk).collect())
    }

    /// A column made anew.
    ///
    /// # Errors
    /// What Polars says of its buffers, which their lengths rule out.
    pub(super) fn of(described: &Described, column: Growing) -> PolarsResult<Chunk> {
        Chunk::unless(described, column, |_| None)
    }

    /// A column made anew, unless there is one of its digest.
    ///
    /// # Errors
    /// What Polars says of its buffers, which their lengths rule out; those of `there`.
    pub(super) fn unless(
        described: &Described,
        column: Growing,
        there: impl FnOnce(Hash) -> Option<PolarsResult<Chunk>>,
    ) -> PolarsResult<Chunk> {
        if let Some(known) = known::find(&column) {
            return Ok(known.named(described.name));
        }
        let digest = column.digest();
        if let Some(chunk) = there(digest) {
            return chunk;
        }
        if column.same().is_none() {
            return Chunk::encoded(described, column, digest);
        }
        let chunk = Chunk::encoded(described, column.clone(), digest)?;
        known::keep(&column, &chunk);
        Ok(chunk)
    }

    /// The same cells in a column of another name.
    fn named(mut self, name: &str) -> Chunk {
        self.meta.path_in_schema.splice(..1, [name.to_string()]);
        self
    }

    fn encoded(described: &Described, column: Growing, digest: Hash) -> PolarsResult<Chunk> {
        let (compression, share) = compression(described, &column)?;
        let room = (column.bytes() as f64 * share) as usize;
        let rows = column.rows();
        Chunks::encode(&[*described], rows, vec![column], compression, room)?.chunk(described.name, digest)
    }
}

/// How a column is compressed, and about which share of its bytes is left then.
fn compression(described: &Described, column: &Growing) -> PolarsResult<(CompressionOptions, f64)> {
    let lz4 = CompressionOptions::Lz4Raw;
    if column.same().is_some() {
        return Ok((lz4, 0.0));
    }
    if column.kind() != CellKind::Text || column.rows() <= SAMPLE {
        return Ok((lz4, 1.0));
    }
    let sample = Growing::of(column.kind(), &[(column, 0..SAMPLE)]);
    let room = sample.bytes();
    let (before, after) = Chunks::encode(&[*described], SAMPLE, vec![sample], lz4, room)?.sizes();
    let share = after as f64 / before as f64;
    Ok(if share > WORTH { (CompressionOptions::Uncompressed, 1.0) } else { (lz4, share * 1.1) })
}

/// Rows by which it is told whether a column of texts is compressed.
const SAMPLE: usize = 2048;
/// What must be left at most. LZ4 finds little in short Chinese posts, and takes its time for it.
const WORTH: f64 = 0.75;
/// A file's footer and the heads of its pages, if there are few.
const END: usize = 4096;

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

    /// Columns as chunks, in a file of their own, of about `room` bytes.
    fn encode(
        described: &[Described],
        rows: usize,
        columns: Vec<Growing>,
        compression: CompressionOptions,
        room: usize,
    ) -> PolarsResult<Chunks> {
        let options = WriteOptions {
            statistics: StatisticsOptions::empty(),
            version: Version::V1,
            compression,
            data_page_size: None,
        };
        let schema: Schema = described.iter().map(|c| Field::new(c.name.into(), dtype(c.kind))).collect();
        let mut bytes = Vec::with_capacity(room + END);
        let mut writer = FileWriter::try_new(&mut bytes, schema.to_arrow(CompatLevel::newest()), options)?;
        let mut pages = Vec::new();
        for (column, described) in columns.into_iter().zip(writer.parquet_schema().fields()) {
            // Most texts differ, so that a dictionary is tried for nothing; LZ4 sees those that do not.
            let encodings = match column.kind() {
                CellKind::Text => vec![Encoding::Plain],
                kind => get_dtype_encoding(&dtype(kind).to_arrow(CompatLevel::newest())),
            };
            pages.extend(array_to_columns(column.array()?, described.clone(), options, &encodings)?);
        }
        if rows > 0 {
            let compressed = |pages: DynIter<'static, PolarsResult<Page>>| {
                let pages =
                    pages.map(|page| page.map_err(|e| ParquetError::FeatureNotSupported(e.to_string())));
                let compressor = Compressor::new_from_vec(pages, options.compression, Vec::new());
                Ok(DynStreamingIterator::new(compressor.map_err(PolarsError::from)))
            };
            // One row group, so that the bytes depend on the rows alone.
            writer.write(rows as u64, DynIter::new(pages.into_iter().map(compressed)))?;
        }
        writer.end(None)?;
        Chunks::read(bytes)
    }

    /// How many bytes its pages have before they are compressed, and afterwards.
    fn sizes(&self) -> (i64, i64) {
        let columns = self.footer.row_groups.iter().flat_map(|group| &group.columns);
        columns.filter_map(|chunk| chunk.meta_data.as_ref()).fold((0, 0), |(before, after), meta| {
            (before + meta.total_uncompressed_size, after + meta.total_compressed_size)
        })
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
#[derive(Clone)]
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
    let Chunks { mut footer, .. } = {
        let columns = R::COLUMNS.iter().map(|c| Growing::with_room(c.kind, 0)).collect();
        Chunks::encode(R::COLUMNS, 0, columns, CompressionOptions::Lz4Raw, 0)?
    };
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Link;
    use crate::store::frame::{Columns, Stack};
    use crate::store::from_frame;
    use crate::store::part::Encoded;
    use crate::store::values::One;
    use polars_parquet_format::CompressionCodec;

    /// A text that nothing in another resembles, or one that every other resembles.
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
        let mut columns = Columns::all(0);
        links.iter().for_each(|link| columns.put(link));
        Chunks::read(Encoded::rows(Stack::of(columns)).unwrap().bytes()).unwrap()
    }

    #[test]
    fn texts_that_do_not_become_smaller_stand_as_they_are() {
        let link = |n| Link { child: text(n, true), parent: text(n, false), role: text(n, true) };
        for (rows, codecs) in [
            (SAMPLE as u64 + 1, [CompressionCodec::UNCOMPRESSED, CompressionCodec::LZ4_RAW]),
            (9, [CompressionCodec::LZ4_RAW; 2]),
        ] {
            let links: Vec<Link> = (0..rows).map(link).collect();
            let part = part(&links);
            let found = part.footer.row_groups[0].columns.iter().map(|c| c.meta_data.as_ref().unwrap().codec);
            assert_eq!(found.collect::<Vec<_>>(), [codecs[0], codecs[1], codecs[0]], "{rows} rows");
            let names = ["child", "parent", "role"].map(str::to_string).to_vec();
            assert_eq!(from_frame::<Link>(&part.frame(names).unwrap()).unwrap(), links);
        }
    }

    #[test]
    fn a_column_that_says_the_same_is_made_once_whatever_its_name() {
        let one = |name, text: &str| {
            let described = Described { name, kind: CellKind::Text };
            Chunk::of(&described, Growing::repeated(CellKind::Text, One::Text(text.into()), 77)).unwrap()
        };
        let (a, b, c) = (one("child", "云"), one("parent", "云"), one("child", "鱼"));
        assert!(Arc::ptr_eq(&a.pages.bytes, &b.pages.bytes) && !Arc::ptr_eq(&a.pages.bytes, &c.pages.bytes));
        assert_eq!((a.digest, b.meta.path_in_schema), (b.digest, vec!["parent".to_string()]));
        assert_ne!(a.digest, c.digest);
    }
}
