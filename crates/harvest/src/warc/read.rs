//! Iterates over the records of one archive file.

use std::io::{self, BufRead, Read};

use super::header::Header;
use super::members::Members;

/// Far more than any real header; otherwise it is not a WARC file.
const HEADER_BYTES: u64 = 64 << 10;

/// Where a record starts: enough to read it again without those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Location {
    /// Offset of the gzip member in the file (0 for plain and zstd files).
    pub member: u64,
    /// Decoded bytes of that member before the record.
    pub skip: u64,
}

/// Damage in an archive, and where.
#[derive(Debug, thiserror::Error)]
#[error("record at byte {}+{}: {trouble}", at.member, at.skip)]
pub struct ReadError {
    /// Start of the record.
    pub at: Location,
    /// The damage.
    #[source]
    pub trouble: RecordDamage,
}

/// The kinds of damage.
#[derive(Debug, thiserror::Error)]
pub enum RecordDamage {
    /// The bytes there are not a record header.
    #[error("no WARC header (is the file another format, or damaged?)")]
    NoHeader,
    /// `Content-Length` is missing or not a number.
    #[error("no usable content-length")]
    NoLength,
    /// The file ends inside the record.
    #[error("the file ends inside the record (a torn tail, or a partial download)")]
    Torn,
    /// After the record's length there is neither the end of a block nor another record.
    #[error("its content-length does not end at a record")]
    Overrun,
    /// The compressed stream is damaged, or the file cannot be read.
    #[error("cannot read: {0}")]
    Io(io::Error),
}

impl From<io::Error> for RecordDamage {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::UnexpectedEof {
            RecordDamage::Torn
        } else {
            RecordDamage::Io(error)
        }
    }
}

/// One record's header; its block is read through the [`ArchiveReader`] before the next record.
#[derive(Clone, Debug)]
pub struct Record {
    /// The named fields.
    pub header: Header,
    /// Bytes of the block.
    pub length: u64,
    /// Where the record starts.
    pub at: Location,
}

/// A block, possibly truncated by a limit.
#[derive(Clone, Debug)]
pub struct RecordBlock {
    pub bytes: Vec<u8>,
    /// Whether the limit cut it.
    pub cut: bool,
}

/// Reads one archive file from start to end, holding one buffer.
pub struct ArchiveReader<R: BufRead> {
    members: Members<R>,
    left: u64,
    at: Location,
    /// Bytes of line ends after the last block.
    blank: usize,
    /// Damage at the head of a member that was found while finishing the record before it.
    next_fails: Option<ReadError>,
}

impl<R: BufRead> ArchiveReader<R> {
    /// Starts at the beginning of a file.
    pub fn new(inner: R) -> io::Result<Self> {
        Self::start_at(inner, Location::default())
    }

    /// Starts at a record; `inner` must be at `location.member`.
    pub fn start_at(inner: R, location: Location) -> io::Result<Self> {
        let mut members = Members::new(inner, location.member)?;
        skip_bytes(&mut members, location.skip)?;
        Ok(ArchiveReader { members, left: 0, at: location, blank: 0, next_fails: None })
    }

    /// Where the current record starts; before the first, where the reader started.
    pub fn location(&self) -> Location {
        self.at
    }

    /// The next record, skipping the rest of the one before; `None` at the end.
    ///
    /// # Errors
    /// A torn or damaged record. Later records are not searched for.
    pub fn next_record(&mut self) -> Result<Option<Record>, ReadError> {
        if let Some(error) = self.next_fails.take() {
            return Err(error);
        }
        self.read_header().map_err(|trouble| ReadError { at: self.damage_location(), trouble })
    }

    /// The place of damage: the current record, or the next member once that has begun.
    fn damage_location(&self) -> Location {
        let (member, skip) = self.members.position();
        if member > self.at.member { Location { member, skip } } else { self.at }
    }

    fn read_header(&mut self) -> Result<Option<Record>, RecordDamage> {
        self.skip_block()?;
        if self.members.fill_buf()?.is_empty() {
            return Ok(None);
        }
        let (member, skip) = self.members.position();
        self.at = Location { member, skip };
        let mut bytes = Vec::new();
        loop {
            let before = bytes.len();
            let room = HEADER_BYTES - before as u64;
            let read = (&mut self.members).take(room).read_until(b'\n', &mut bytes)?;
            if read == 0 {
                return Err(if room == 0 { RecordDamage::NoHeader } else { RecordDamage::Torn });
            }
            if !b"WARC/".starts_with(&bytes[..bytes.len().min(5)]) {
                return Err(RecordDamage::NoHeader);
            }
            // The standard requires both characters; some tools write only the second.
            if matches!(&bytes[before..], b"\r\n" | b"\n") {
                bytes.truncate(before);
                break;
            }
        }
        let header = Header::parse_header(&bytes).ok_or(RecordDamage::NoHeader)?;
        let length =
            header.get("Content-Length").and_then(|n| n.parse().ok()).ok_or(RecordDamage::NoLength)?;
        self.left = length;
        Ok(Some(Record { header, length, at: self.at }))
    }

    /// The block of the current record, at most `limit` bytes of it.
    ///
    /// # Errors
    /// The file ends early or is damaged.
    pub fn read_block(&mut self, limit: u64) -> Result<RecordBlock, ReadError> {
        let want = self.left.min(limit);
        // The capacity grows with the data: a header may claim any length.
        let mut bytes = Vec::with_capacity(want.min(1 << 16) as usize);
        let read = (&mut self.members).take(want).read_to_end(&mut bytes);
        let outcome = match read {
            Ok(n) if (n as u64) < want => Err(RecordDamage::Torn),
            Ok(n) => {
                self.left -= n as u64;
                Ok(RecordBlock { bytes, cut: self.left > 0 })
            }
            Err(error) => Err(error.into()),
        };
        outcome.map_err(|trouble| ReadError { at: self.at, trouble })
    }

    /// Skips the rest of the current record and returns the offset in the file after it, if the record ends
    /// its gzip member; `None` for other layouts.
    ///
    /// # Errors
    /// The file ends early or is damaged.
    pub fn finish_record(&mut self) -> Result<Option<u64>, ReadError> {
        let ended = self.skip_block().and_then(|()| self.leads_on());
        let ended = ended.and_then(|()| self.members.member_boundary().map_err(RecordDamage::from));
        let Err(trouble) = ended else { return ended.map_err(|trouble| ReadError { at: self.at, trouble }) };
        let error = ReadError { at: self.damage_location(), trouble };
        if error.at == self.at {
            return Err(error);
        }
        // This record is whole, including its checksum: the damage is in the next one.
        let end = error.at.member;
        self.next_fails = Some(error);
        Ok(Some(end))
    }

    /// Checks that the block ends where a record may end. Packed files have checksums for that.
    fn leads_on(&mut self) -> Result<(), RecordDamage> {
        // Two whole line ends show that the block ended where it should.
        if !self.members.is_plain() || self.blank >= 4 {
            return Ok(());
        }
        let next = self.members.fill_buf()?;
        if b"WARC/".starts_with(&next[..next.len().min(5)]) { Ok(()) } else { Err(RecordDamage::Overrun) }
    }

    fn skip_block(&mut self) -> Result<(), RecordDamage> {
        skip_bytes(&mut self.members, std::mem::take(&mut self.left))?;
        self.blank = 0;
        // Two line ends follow a block; some tools write one, or none.
        loop {
            let available = self.members.fill_buf()?;
            let blank = available.iter().take_while(|b| matches!(b, b'\r' | b'\n')).count();
            if blank == 0 {
                return Ok(());
            }
            self.blank += blank;
            self.members.consume(blank);
        }
    }
}

fn skip_bytes(reader: &mut impl BufRead, mut count: u64) -> io::Result<()> {
    while count > 0 {
        let n = (reader.fill_buf()?.len() as u64).min(count);
        if n == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        reader.consume(n as usize);
        count -= n;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::write_record;
    use super::*;

    fn archive(blocks: &[&[u8]]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for block in blocks {
            write_record(
                &mut bytes,
                &Header::new("resource").with_field("WARC-Target-URI", "http://a/"),
                block,
            )
            .unwrap();
        }
        bytes
    }

    fn blocks(bytes: &[u8]) -> (Vec<Vec<u8>>, Option<ReadError>) {
        let mut reader = ArchiveReader::new(bytes).unwrap();
        let mut found = Vec::new();
        loop {
            let block = match reader.next_record() {
                Ok(None) => return (found, None),
                Ok(Some(_)) => reader.read_block(1 << 20),
                Err(error) => return (found, Some(error)),
            };
            match block {
                Ok(block) => found.push(block.bytes),
                Err(error) => return (found, Some(error)),
            }
        }
    }

    #[test]
    fn what_is_written_is_read_back_plain_gzip_and_zstd() {
        let gzip = archive(&[b"one", b"", b"\r\n\r\n three"]);
        let mut plain = Vec::new();
        flate2::read::MultiGzDecoder::new(&gzip[..]).read_to_end(&mut plain).unwrap();
        let zstd = zstd::encode_all(&plain[..], 1).unwrap();
        let mut one_member = Vec::new();
        flate2::read::GzEncoder::new(&plain[..], flate2::Compression::fast())
            .read_to_end(&mut one_member)
            .unwrap();
        for bytes in [&gzip, &plain, &zstd, &one_member] {
            let (found, error) = blocks(bytes);
            assert!(error.is_none(), "{error:?}");
            assert_eq!(found, [b"one".to_vec(), vec![], b"\r\n\r\n three".to_vec()]);
        }
    }

    #[test]
    fn every_torn_tail_is_an_error_after_the_whole_records() {
        let whole = archive(&[b"first block", b"second block"]);
        let first = archive(&[b"first block"]).len();
        for cut in first + 1..whole.len() {
            let (found, error) = blocks(&whole[..cut]);
            assert_eq!(found[0], b"first block", "cut at {cut}");
            let torn = matches!(error, Some(ReadError { trouble: RecordDamage::Torn, .. }));
            assert!(torn || found.len() == 2, "cut at {cut}: {error:?}");
        }
    }

    #[test]
    fn records_are_found_again_by_location() {
        let gzip = archive(&[b"one", b"two", b"three"]);
        let mut reader = ArchiveReader::new(&gzip[..]).unwrap();
        let mut places = Vec::new();
        while let Some(record) = reader.next_record().unwrap() {
            places.push((record.at, reader.read_block(10).unwrap().bytes));
        }
        for (at, block) in places {
            let mut again = ArchiveReader::start_at(&gzip[at.member as usize..], at).unwrap();
            assert_eq!(again.next_record().unwrap().unwrap().at, at);
            assert_eq!(again.read_block(10).unwrap().bytes, block);
        }
    }

    #[test]
    fn a_claimed_length_reserves_no_memory_and_a_limit_cuts() {
        let huge = b"WARC/1.1\r\nWARC-Type: resource\r\nContent-Length: 99999999999999\r\n\r\nshort";
        let mut reader = ArchiveReader::new(&huge[..]).unwrap();
        assert_eq!(reader.next_record().unwrap().unwrap().length, 99_999_999_999_999);
        assert!(matches!(reader.read_block(u64::MAX).unwrap_err().trouble, RecordDamage::Torn));

        let bytes = archive(&[b"0123456789", b"next"]);
        let mut reader = ArchiveReader::new(&bytes[..]).unwrap();
        reader.next_record().unwrap();
        let block = reader.read_block(4).unwrap();
        assert_eq!((block.bytes.as_slice(), block.cut), (&b"0123"[..], true));
        reader.next_record().unwrap();
        assert_eq!(reader.read_block(9).unwrap().bytes, b"next");
    }

    #[test]
    fn other_formats_are_refused() {
        for bytes in [&b"[{\"title\": 1}]"[..], b"<html>", &[0x1f, 0x8b, 8, 0]] {
            assert!(
                ArchiveReader::new(bytes)
                    .and_then(|mut r| r.next_record().map_err(io::Error::other))
                    .is_err()
            );
        }
    }
}
