//! The bytes of an archive without the compression of its records.

use std::io::{self, BufRead, Read};

use flate2::bufread::GzDecoder;

const BUFFER: usize = 64 << 10;

/// A reader over plain, gzip (any number of members) or zstd bytes that tracks its position.
///
/// A position is the offset of the member in the file plus the decoded bytes read in that member, so that one
/// record can be read again without those before it. A plain file is one member, a zstd file is treated as
/// one.
pub(super) struct Members<R: BufRead> {
    source: MemberSource<R>,
    buffer: Vec<u8>,
    at: usize,
    /// Offset of the current member in the file.
    member: u64,
    /// Decoded bytes of the current member that left the buffer or are before `at`.
    passed: u64,
}

enum MemberSource<R: BufRead> {
    Plain(Counting<R>),
    Gzip(Box<GzDecoder<Counting<R>>>),
    Zstd(Box<zstd::stream::read::Decoder<'static, Counting<R>>>),
    Ended,
}

impl<R: BufRead> Members<R> {
    /// Detects the compression from the first bytes. `offset` is the position of `inner` in its file.
    pub fn new(inner: R, offset: u64) -> io::Result<Self> {
        let mut inner = Counting { inner, count: offset };
        let head = inner.fill_buf()?;
        let source = if head.starts_with(&[0x1f, 0x8b]) {
            MemberSource::Gzip(Box::new(GzDecoder::new(inner)))
        } else if head.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
            MemberSource::Zstd(Box::new(zstd::stream::read::Decoder::with_buffer(inner)?))
        } else {
            MemberSource::Plain(inner)
        };
        Ok(Members { source, buffer: Vec::new(), at: 0, member: offset, passed: 0 })
    }

    /// Member offset and the number of its decoded bytes that were read.
    pub fn position(&self) -> (u64, u64) {
        (self.member, self.passed)
    }

    /// Whether there is no compression.
    pub fn is_plain(&self) -> bool {
        matches!(self.source, MemberSource::Plain(_))
    }

    /// Offset in the file after the last complete gzip member, if the reader is between two members or at the
    /// end.
    pub fn member_boundary(&mut self) -> io::Result<Option<u64>> {
        let more = !self.fill_buf()?.is_empty();
        match (&self.source, more) {
            (MemberSource::Ended, _) => Ok(Some(self.member)),
            (_, true) if self.passed == 0 => Ok(Some(self.member)),
            _ => Ok(None),
        }
    }

    fn refill_buffer(&mut self) -> io::Result<()> {
        self.buffer.resize(BUFFER, 0);
        self.at = 0;
        let mut filled = 0;
        while filled == 0 {
            let read = match &mut self.source {
                MemberSource::Plain(inner) => inner.read(&mut self.buffer),
                MemberSource::Gzip(inner) => inner.read(&mut self.buffer),
                MemberSource::Zstd(inner) => inner.read(&mut self.buffer),
                MemberSource::Ended => break,
            };
            match read {
                Ok(0) => self.next_member()?,
                Ok(n) => filled = n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    // Otherwise the zeros in it would be read as data after the error.
                    self.buffer.clear();
                    return Err(error);
                }
            }
        }
        self.buffer.truncate(filled);
        Ok(())
    }

    fn next_member(&mut self) -> io::Result<()> {
        if let MemberSource::Gzip(decoder) = std::mem::replace(&mut self.source, MemberSource::Ended) {
            let mut inner = decoder.into_inner();
            self.member = inner.count;
            self.passed = 0;
            if !inner.fill_buf()?.is_empty() {
                self.source = MemberSource::Gzip(Box::new(GzDecoder::new(inner)));
            }
        }
        Ok(())
    }
}

impl<R: BufRead> BufRead for Members<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at >= self.buffer.len() {
            self.refill_buffer()?;
        }
        Ok(&self.buffer[self.at..])
    }

    fn consume(&mut self, amount: usize) {
        self.at += amount;
        self.passed += amount as u64;
    }
}

impl<R: BufRead> Read for Members<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let n = available.len().min(out.len());
        out[..n].copy_from_slice(&available[..n]);
        self.consume(n);
        Ok(n)
    }
}

/// Counts the bytes consumed, so that a member's offset is known.
struct Counting<R> {
    inner: R,
    count: u64,
}

impl<R: BufRead> BufRead for Counting<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.count += amount as u64;
        self.inner.consume(amount);
    }
}

impl<R: BufRead> Read for Counting<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(out)?;
        self.count += n as u64;
        Ok(n)
    }
}
