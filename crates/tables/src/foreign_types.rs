//! Reads foreign files by Parquet's own types: integers of 8 and 16 bits as 32-bit ones, and categories as
//! texts. Code for the small types would cost every build of Polars a minute.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use polars::prelude::{PolarsError, PolarsResult, polars_err};
use polars_parquet::parquet::metadata::FileMetadata;
use polars_parquet::parquet::read::deserialize_metadata;
use polars_parquet_format::thrift::protocol::{TCompactInputProtocol, TCompactOutputProtocol};
use polars_parquet_format::{ConvertedType, FileMetaData, KeyValue, LogicalType, SchemaElement};
use riddlemill_files::fence;

/// What follows a footer: its length and four letters.
const TAIL: u64 = 8;
/// The key under which writers repeat the schema as Arrow's.
const ARROW: &str = "ARROW:schema";

/// The footer of a file without the small types and without its writer's Arrow schema; `None` if it has
/// neither, or if there is no footer, which the file's reader will report.
///
/// # Errors
/// If the file cannot be read or the footer cannot be rewritten.
pub(super) fn widen_footer(path: &Path) -> PolarsResult<Option<FileMetadata>> {
    let Some(bytes) = read_footer(&mut fence::open(path)?)? else { return Ok(None) };
    // The limit keeps a damaged footer from allocating any amount of memory.
    let mut protocol = TCompactInputProtocol::new(bytes.as_slice(), bytes.len().saturating_mul(64));
    let Ok(mut footer) = FileMetaData::read_from_in_protocol(&mut protocol) else { return Ok(None) };
    let says_arrow = |pairs: &Vec<_>| pairs.iter().any(|pair: &KeyValue| pair.key == ARROW);
    if !footer.schema.iter().any(is_small) && !footer.key_value_metadata.as_ref().is_some_and(says_arrow) {
        return Ok(None);
    }
    for element in footer.schema.iter_mut().filter(|element| is_small(element)) {
        (element.converted_type, element.logical_type) = (None, None);
    }
    if let Some(pairs) = &mut footer.key_value_metadata {
        // Readers prefer the Arrow schema, which would bring the small types back.
        pairs.retain(|pair| pair.key != ARROW);
    }
    let mut serialised = Vec::new();
    footer
        .write_to_out_protocol(&mut TCompactOutputProtocol::new(&mut serialised))
        .map_err(|e| polars_err!(ComputeError: "its Parquet footer: {e}"))?;
    Ok(Some(deserialize_metadata(serialised.into()).map_err(PolarsError::from)?))
}

fn is_small(element: &SchemaElement) -> bool {
    let small = [ConvertedType::INT_8, ConvertedType::INT_16, ConvertedType::UINT_8, ConvertedType::UINT_16];
    let logical =
        matches!(&element.logical_type, Some(LogicalType::INTEGER(integer)) if integer.bit_width < 32);
    logical || element.converted_type.is_some_and(|converted| small.contains(&converted))
}

/// The bytes of a footer; `None` if the file does not end like Parquet.
fn read_footer(file: &mut File) -> PolarsResult<Option<Vec<u8>>> {
    let length = file.metadata()?.len();
    let mut tail = [0; TAIL as usize];
    if length < TAIL {
        return Ok(None);
    }
    file.seek(SeekFrom::Start(length - TAIL))?;
    file.read_exact(&mut tail)?;
    let [a, b, c, d, magic @ ..] = tail;
    let footer = u64::from(u32::from_le_bytes([a, b, c, d]));
    if magic != *b"PAR1" || footer > length - TAIL {
        return Ok(None);
    }
    file.seek(SeekFrom::Start(length - TAIL - footer))?;
    let mut bytes = vec![0; footer as usize];
    file.read_exact(&mut bytes)?;
    Ok(Some(bytes))
}
