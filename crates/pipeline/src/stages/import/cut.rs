//! Where a dump can be cut into pieces that are read separately.
//!
//! A cut is made at the next place after a byte that looks like a beginning: a line feed, the first bytes of a gzip
//! member, the header of a record. It may not be one, because texts can mention archives, and packed bytes are arbitrary. The
//! census of a piece states whether the piece ends at the end of a record; from the first piece on, this proves every cut.

use std::io::Read;

use serde::Serialize;

use super::files::Dump;
use super::shape::{self, Shape};
use super::{dump, rows, warc};
use crate::config::SourceKind;
use riddlemill_files::fence;
use riddlemill_files::reading::{Packing, encoding_of};

/// Bytes that identify the kind of a file.
const HEAD: u64 = 64 << 10;

/// What begins where a dump may be cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cut {
    Line,
    /// A gzip member, which begins a line or a record.
    Member,
    /// A record of an archive that is not packed.
    Record,
}

/// Whether dumps of a kind can be cut at all.
pub fn is_divisible(kind: SourceKind) -> bool {
    of_lines(kind) || of_pages(kind)
}

/// Of these each line is a record, if they are not one array. Notes of annual threads are on jokes above them,
/// anywhere in the file; rows of published files are grouped.
fn of_lines(kind: SourceKind) -> bool {
    use SourceKind::{Aiotieba, Cqia, LeymoreTitles, Puzzles, Reddit, Table, ThreadDump};
    matches!(kind, Aiotieba | Cqia | LeymoreTitles | Puzzles | Reddit | Table | ThreadDump)
}

pub(super) fn of_pages(kind: SourceKind) -> bool {
    matches!(kind, SourceKind::Warc | SourceKind::Profile)
}

/// Where a dump may be cut; nowhere, if it is an array, a table of another format, packed as a whole, or cannot be
/// read.
pub fn find_cut(dump: &Dump) -> Option<Cut> {
    let mut head = [0; 4];
    fence::open_plain(&dump.path).ok()?.read_exact(&mut head).ok()?;
    let (plain, fits) = if of_pages(dump.kind) {
        (Cut::Record, warc::is_archive(dump))
    } else {
        (Cut::Line, of_lines(dump.kind) && is_of_lines(dump))
    };
    match head {
        _ if !fits => None,
        [0x1f, 0x8b, ..] => Some(Cut::Member),
        // Any other packing is that of the whole dump.
        _ if Packing::of_file(&dump.path) != Packing::Plain || head == *b"PK\x03\x04" => None,
        _ => Some(plain),
    }
}

/// Whether a file begins with a line, and not with an array. A file that begins with blanks beyond measure is not cut.
fn is_of_lines(dump: &Dump) -> bool {
    if !matches!(rows::detect_format(dump), rows::RowFormat::Json) || shape::of_dump(dump) != Ok(Shape::Lines)
    {
        return false;
    }
    let mut head = Vec::new();
    // The bytes before the damage decide.
    let _ = dump::open_unpacked(&dump.path).and_then(|file| file.take(HEAD).read_to_end(&mut head));
    encoding_of(&head).0 == encoding_rs::UTF_8 && !head.trim_ascii_start().is_empty()
}
