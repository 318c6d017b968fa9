//! Finds the next whole record after a damaged one.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Take};
use std::path::Path;

use flate2::bufread::GzDecoder;

use super::read::{ArchiveReader, Location};
use riddlemill_files::fence;

/// Magic number and the only compression method.
const GZIP: [u8; 3] = [0x1f, 0x8b, 8];

/// How a record of a plain file begins.
const PLAIN: &[u8] = b"WARC/1.";

/// `end`: where the archive ends in its file. A reader at the first whole record after a damaged one: the next gzip member that begins with a WARC
/// header, in a plain file the next line that begins one. `None` if no intact record follows, or the file is
/// compressed as a whole.
///
/// # Errors
/// If the file cannot be read.
pub fn resync_reader(
    path: &Path,
    damaged: Location,
    end: u64,
) -> io::Result<Option<ArchiveReader<BufReader<Take<File>>>>> {
    let opened = |path: &Path, at: u64| open_range(path, at, end);
    let mut head = [0; 5];
    // In a zip the member that is damaged shows the packing, in a file of its own also the first one.
    let from = if end == u64::MAX { 0 } else { damaged.member };
    let read = opened(path, from)?.read(&mut head)?;
    let gzip = head[..read].starts_with(&GZIP[..2]);
    // A plain file whose first record is damaged has no magic number.
    if !gzip && head[..read].starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        return Ok(None);
    }
    // One byte further, because the damaged record itself begins there.
    let mut from = damaged.member + if gzip { 0 } else { damaged.skip } + 1;
    while let Some(found) = next_of(path, from, end, if gzip { &GZIP } else { PLAIN })? {
        if begins_record(path, found, end, gzip)? {
            let inner = opened(path, found)?;
            return ArchiveReader::start_at(inner, Location { member: found, skip: 0 }).map(Some);
        }
        from = found + 1;
    }
    Ok(None)
}

fn open_range(path: &Path, at: u64, end: u64) -> io::Result<BufReader<Take<File>>> {
    let mut file = fence::open_plain(path)?;
    file.seek(SeekFrom::Start(at))?;
    Ok(BufReader::new(file.take(end.saturating_sub(at))))
}

/// Where these bytes occur next. The first one does not occur again among the others.
fn next_of(path: &Path, from: u64, end: u64, bytes: &[u8]) -> io::Result<Option<u64>> {
    let mut reader = open_range(path, from, end)?;
    let (mut at, mut matched) = (from, 0);
    loop {
        let buffer = reader.fill_buf()?;
        if buffer.is_empty() {
            return Ok(None);
        }
        for &byte in buffer {
            at += 1;
            matched = if byte == bytes[matched] { matched + 1 } else { usize::from(byte == bytes[0]) };
            if matched == bytes.len() {
                return Ok(Some(at - bytes.len() as u64));
            }
        }
        let used = buffer.len();
        reader.consume(used);
    }
}

/// The three bytes of gzip occur by chance once in 16 MB of packed data; a header after them does not. In a
/// plain file a text may be about archives: a header begins a line and has a type.
fn begins_record(path: &Path, at: u64, end: u64, gzip: bool) -> io::Result<bool> {
    let opened = |path: &Path, at: u64| open_range(path, at, end);
    if gzip {
        let mut start = [0; 5];
        let read = GzDecoder::new(opened(path, at)?).read_exact(&mut start);
        return Ok(read.is_ok() && &start == b"WARC/");
    }
    let mut before = [b'\n'];
    if at > 0 {
        opened(path, at - 1)?.read_exact(&mut before)?;
    }
    let record = ArchiveReader::start_at(opened(path, at)?, Location { member: at, skip: 0 })?.next_record();
    Ok(before == [b'\n']
        && record.is_ok_and(|record| record.is_some_and(|record| !record.header.kind().is_empty())))
}

#[cfg(test)]
mod tests {
    use super::super::{Archive, ArchiveTrouble, Header, ReadError, RecordLimits, write_record};

    /// Damages each byte of the middle one of five records, one at a time.
    #[test]
    fn a_damaged_record_loses_itself_and_no_other() {
        let block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\nthe body of a page";
        let mut bytes = Vec::new();
        let mut starts = Vec::new();
        for i in 0..5 {
            starts.push(bytes.len());
            let header = Header::new("response").with_field("WARC-Target-URI", format!("http://a/{i}"));
            write_record(&mut bytes, &header, block).unwrap();
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.warc.gz");
        let mut gaps = 0;
        for at in starts[2]..starts[3] {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0xff;
            std::fs::write(&path, &damaged).unwrap();
            let (mut urls, mut places) = (Vec::new(), Vec::new());
            for page in Archive::new(vec![path.clone()], RecordLimits::default()).pages() {
                match page {
                    Ok(page) => urls.push(page.url),
                    Err(error) => match error.trouble {
                        ArchiveTrouble::Read { error: ReadError { at, .. }, .. }
                        | ArchiveTrouble::Body { at, .. } => places.push(at.member),
                        other => panic!("byte {at}: {other}"),
                    },
                }
            }
            for whole in ["http://a/0", "http://a/1", "http://a/3", "http://a/4"] {
                assert!(urls.iter().any(|url| url == whole), "byte {at}: {urls:?} {places:?}");
            }
            // An unreadable block may be reported before its checksum fails, for the same record.
            places.dedup();
            assert!(places.is_empty() || places == [starts[2] as u64], "byte {at}: {places:?}");
            gaps += places.len();
        }
        // Time and system in a member's header do not affect its content.
        assert!(gaps + 8 >= starts[3] - starts[2], "{gaps} gaps of {} bytes", starts[3] - starts[2]);
    }

    /// Damages each byte of the header of the middle one of five records of a plain file, one at a time, and
    /// its end.
    #[test]
    fn a_damaged_record_of_a_plain_file_loses_itself_and_no_other() {
        let record = |i: u32, length: usize| {
            let block =
                "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\nWARC/1.0 is a format\nWARC/1.1 too";
            let length = if length == 0 { block.len() } else { length };
            format!(
                "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a/{i}\r\nContent-Length: {length}\r\n\r\n{block}\r\n\r\n"
            )
        };
        let whole: Vec<String> = (0..5).map(|i| record(i, 0)).collect();
        let start = whole[0].len() * 2;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.warc");
        let read = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            let (mut urls, mut gaps) = (Vec::new(), Vec::new());
            for page in Archive::new(vec![path.clone()], RecordLimits::default()).pages() {
                match page {
                    Ok(page) => urls.push(page.url),
                    Err(error) => gaps.push(error.to_string()),
                }
            }
            (urls, gaps)
        };
        let others = ["http://a/0", "http://a/1", "http://a/3", "http://a/4"];
        let header = whole[2].find("HTTP/").unwrap();
        for at in (0..header).chain(whole[2].len() - 4..whole[2].len()) {
            let mut bytes = whole.concat().into_bytes();
            bytes[start + at] ^= 0x15;
            let (urls, gaps) = read(&bytes);
            for other in others {
                assert!(urls.iter().any(|url| url == other), "byte {at}: {urls:?} {gaps:?}");
            }
            assert!(gaps.len() <= 1, "byte {at}: {gaps:?}");
        }
        // A length that is too small, one that reaches into the next record, and one beyond the file.
        for length in [1, 20, 150, 300, 100_000] {
            let torn =
                [&whole[0], &whole[1], &record(2, length), &whole[3], &whole[4]].map(String::as_str).concat();
            let (urls, gaps) = read(torn.as_bytes());
            assert_eq!(urls, others, "length {length}: {gaps:?}");
            assert!(gaps.len() == 1 && gaps[0].contains(&format!("byte 0+{start}")), "{gaps:?}");
            assert!(gaps[0].contains("reading continues at byte"), "{gaps:?}");
        }
        // Bytes between two records.
        let between = [&whole[0], &whole[1], "torn bytes\n", &whole[3], &whole[4]].concat();
        let (urls, gaps) = read(between.as_bytes());
        assert_eq!((urls.len(), gaps.len()), (4, 1));
        let end = [&whole[0], &whole[1][..80]].concat();
        assert!(read(end.as_bytes()).1[0].contains("no intact record follows"));
    }
}
