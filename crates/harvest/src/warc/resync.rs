//! Finding the next whole record behind a damaged one.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use flate2::bufread::GzDecoder;

use super::read::{Location, Reader};

/// Magic number and the only compression method there is.
const GZIP: [u8; 3] = [0x1f, 0x8b, 8];

/// A reader at the first gzip member after the one at `damaged` that begins with a WARC header;
/// `None` where the file is not packed by members or nothing whole follows.
///
/// # Errors
/// Where the file cannot be read.
pub fn resync(path: &Path, damaged: u64) -> io::Result<Option<Reader<BufReader<File>>>> {
    let mut from = damaged + 1;
    while let Some(found) = next_magic(path, from)? {
        if begins_record(path, found)? {
            let inner = opened(path, found)?;
            return Reader::at(inner, Location { member: found, skip: 0 }).map(Some);
        }
        from = found + 1;
    }
    Ok(None)
}

fn opened(path: &Path, at: u64) -> io::Result<BufReader<File>> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(at))?;
    Ok(BufReader::new(file))
}

fn next_magic(path: &Path, from: u64) -> io::Result<Option<u64>> {
    let mut head = [0; 2];
    if File::open(path)?.read_exact(&mut head).is_err() || head != GZIP[..2] {
        return Ok(None);
    }
    let mut reader = opened(path, from)?;
    let (mut at, mut matched) = (from, 0);
    loop {
        let bytes = reader.fill_buf()?;
        if bytes.is_empty() {
            return Ok(None);
        }
        for &byte in bytes {
            at += 1;
            matched = if byte == GZIP[matched] { matched + 1 } else { usize::from(byte == GZIP[0]) };
            if matched == GZIP.len() {
                return Ok(Some(at - GZIP.len() as u64));
            }
        }
        let used = bytes.len();
        reader.consume(used);
    }
}

/// The three bytes occur by chance once in 16 MB of packed data; a header behind them does not.
fn begins_record(path: &Path, at: u64) -> io::Result<bool> {
    let mut start = [0; 5];
    let read = GzDecoder::new(opened(path, at)?).read_exact(&mut start);
    Ok(read.is_ok() && &start == b"WARC/")
}

#[cfg(test)]
mod tests {
    use super::super::{Archive, ArchiveTrouble, Header, Limits, ReadError, write_record};

    /// Damages one byte of the middle one of five records, every byte of it in turn.
    #[test]
    fn a_damaged_record_loses_itself_and_no_other() {
        let block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\nthe body of a page";
        let mut bytes = Vec::new();
        let mut starts = Vec::new();
        for i in 0..5 {
            starts.push(bytes.len());
            let header = Header::new("response").with("WARC-Target-URI", format!("http://a/{i}"));
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
            for page in Archive::new(vec![path.clone()], Limits::default()).pages() {
                match page {
                    Ok(page) => urls.push(page.url),
                    Err(error) => match error.trouble {
                        ArchiveTrouble::Read(ReadError { at, .. }) | ArchiveTrouble::Body { at, .. } => {
                            places.push(at.member)
                        }
                        other => panic!("byte {at}: {other}"),
                    },
                }
            }
            for whole in ["http://a/0", "http://a/1", "http://a/3", "http://a/4"] {
                assert!(urls.iter().any(|url| url == whole), "byte {at}: {urls:?} {places:?}");
            }
            // A block that cannot be read may be told before its checksum fails, of the same record.
            places.dedup();
            assert!(places.is_empty() || places == [starts[2] as u64], "byte {at}: {places:?}");
            gaps += places.len();
        }
        // Time and system in a member's header say nothing about its content.
        assert!(gaps + 8 >= starts[3] - starts[2], "{gaps} gaps of {} bytes", starts[3] - starts[2]);
    }
}
