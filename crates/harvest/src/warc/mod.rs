//! WARC files: a streaming reader for archives from any tool, and a writer.
//!
//! Reading order: [`header`] is the named fields of a record, [`members`] undoes the compression of records
//! (none, gzip in one or many members, zstd), [`read`] iterates over the records, [`resync`] finds the next
//! whole one after damage, [`http`] parses a response, [`archive`] yields whole pages with their revisits
//! resolved, [`write`] writes records of version 1.1, one gzip member each, [`merge`] merges archives of
//! another folder.
//!
//! Own code because the one maintained crate for the format (`warc` 0.4) collects fields in a hash map (so
//! they are written in random order), holds headers and blocks in memory without a limit, writes with `write`
//! where `write_all` is needed, and supports neither the offsets that revisits and crash recovery need nor
//! gzip per record. Only a small part of the format is used.
//!
//! Invariants: no input makes the reader hold more than its [`RecordLimits`]; nothing here uses a clock or random
//! numbers.

mod archive;
mod header;
mod http;
mod members;
mod merge;
mod read;
mod resync;
mod write;

pub use archive::{Archive, ArchiveError, ArchiveTrouble, ArchivedPage, Pages};
pub use header::Header;
pub use http::{Decoded, Head, decode_body, parse_head};
pub use merge::{MergedFile, merge_archives};
pub use read::{ArchiveReader, Location, ReadError, Record, RecordBlock, RecordDamage};
pub use resync::resync_reader;
pub use write::{block_digest, record_id, write_record};

/// Limits on what is held of one record.
#[derive(Clone, Copy, Debug)]
pub struct RecordLimits {
    /// Bytes of a record's block as stored.
    pub stored_bytes: u64,
    /// Bytes of a body after its content-encoding is undone.
    pub decoded_bytes: u64,
}

/// Most decoded bytes of a body for each stored byte: no page is packed tighter than a tenth of this.
const BODY_RATIO: u64 = 256;
/// Decoded bytes that any body may have.
const BODY_FLOOR: u64 = 64 << 10;
/// Most decoded bytes of all bodies of a file for each byte of the file: revisits repeat a page in few bytes.
const FILE_RATIO: u64 = 1000;
/// Decoded bytes that the bodies of any file may have.
const FILE_FLOOR: u64 = 256 << 20;

impl RecordLimits {
    /// The limits of a body stored in `bytes`.
    fn of_body(self, bytes: u64) -> u64 {
        self.decoded_bytes.min(bytes.saturating_mul(BODY_RATIO).max(BODY_FLOOR))
    }

    /// The decoded bytes that the bodies of a file of `bytes` may have.
    pub fn of_file(bytes: u64) -> u64 {
        bytes.saturating_mul(FILE_RATIO).max(FILE_FLOOR)
    }
}

impl Default for RecordLimits {
    fn default() -> Self {
        RecordLimits { stored_bytes: 16 << 20, decoded_bytes: 8 << 20 }
    }
}

/// Totals of an archive that was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Bytes of the bodies, which count against the limit of the files.
    pub bytes: u64,
    /// Records that refer to others for their body.
    pub revisits: u64,
    /// Whether something is not read as records.
    pub damaged: bool,
    /// Whether the bodies exceed the limit.
    pub bomb: bool,
}

/// Why a body is incomplete (`WARC-Truncated`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Truncated {
    /// A limit of bytes was exceeded.
    Length,
    /// A limit of time was exceeded.
    Time,
    /// The connection ended early, or the encoded stream did.
    Disconnect,
    /// Another tool stated another reason or none.
    Unspecified,
}

impl Truncated {
    /// The token of the format.
    pub fn token(self) -> &'static str {
        match self {
            Truncated::Length => "length",
            Truncated::Time => "time",
            Truncated::Disconnect => "disconnect",
            Truncated::Unspecified => "unspecified",
        }
    }

    /// Parses a token; unknown ones are [`Truncated::Unspecified`], as the format requires.
    pub fn from_token(token: &str) -> Truncated {
        match token.trim().to_ascii_lowercase().as_str() {
            "length" => Truncated::Length,
            "time" => Truncated::Time,
            "disconnect" => Truncated::Disconnect,
            _ => Truncated::Unspecified,
        }
    }
}
