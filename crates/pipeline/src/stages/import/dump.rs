//! Reading a file in batches of items; its content determines the decompression.

use std::io::{self, BufRead, BufReader, Read};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use serde::{Deserialize, Serialize};

use super::files::Dump;
use super::split::{Items, Splitter, Unread};
use riddlemill_files::fence;

/// Items of a batch.
pub(super) const BATCH: usize = 1 << 14;
/// Most bytes of a batch: lines may be long.
const BATCH_BYTES: usize = 16 << 20;
/// Bytes of one read.
const PIECE: usize = 1 << 20;

/// The items of a dump, read ahead by a thread of their own: at most two batches wait.
pub(super) fn batches(dump: &Dump, limit: u64) -> Receiver<Items> {
    let (sender, receiver) = sync_channel(2);
    let (path, piece) = (dump.path.clone(), dump.piece);
    thread::spawn(move || {
        let mut splitter = match piece.is_first() {
            true => Splitter::new(limit),
            // Only files of lines are cut.
            false => Splitter::resumed(limit, false, piece.lines + 1),
        };
        let cut = read(&path, piece.is_first(), |piece| {
            splitter.feed(piece);
            // The receiver is gone if the run was stopped; then the rest is not read.
            let (items, bytes) = splitter.ready();
            items < BATCH && bytes < BATCH_BYTES || sender.send(splitter.take()).is_ok()
        });
        let items = match cut {
            Err(e) if e.kind() == io::ErrorKind::InvalidData && e.to_string() == UTF16 => {
                let mut items = Items::default();
                items.push(1, Err(Unread::Utf16));
                items
            }
            cut => {
                splitter.finish(cut.err().as_ref().map(describe));
                splitter.take()
            }
        };
        // The receiver is gone if the run was stopped.
        let _ = sender.send(items);
    });
    receiver
}

const UTF16: &str = "utf-16";

/// Feeds the decompressed bytes of a file to `take` until it has enough. `first`: whether it is the beginning of a file.
fn read(path: &std::path::Path, mut first: bool, mut take: impl FnMut(&[u8]) -> bool) -> io::Result<()> {
    let mut reader = open(path)?;
    let mut buffer = vec![0; PIECE];
    loop {
        let read = fill(&mut reader, &mut buffer);
        let (read, error) = match read {
            Ok(read) => (read, None),
            Err((read, e)) => (read, Some(e)),
        };
        let mut piece = &buffer[..read];
        if std::mem::take(&mut first) {
            if piece.starts_with(b"\xff\xfe") || piece.starts_with(b"\xfe\xff") {
                return Err(io::Error::new(io::ErrorKind::InvalidData, UTF16));
            }
            piece = piece.strip_prefix(b"\xef\xbb\xbf").unwrap_or(piece);
        }
        if !take(piece) {
            return Ok(());
        }
        match error {
            Some(e) => return Err(e),
            None if read < buffer.len() => return Ok(()),
            None => {}
        }
    }
}

/// Reads until the buffer is full or the stream ends; what was read before an error is not lost.
fn fill(reader: &mut dyn Read, buffer: &mut [u8]) -> Result<usize, (usize, io::Error)> {
    let mut read = 0;
    while read < buffer.len() {
        match reader.read(&mut buffer[read..]) {
            Ok(0) => break,
            Ok(n) => read += n,
            // A signal came during the read, which is repeated.
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err((read, e)),
        }
    }
    Ok(read)
}

/// The compression of a file, from its first bytes and not from its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Packing {
    /// Not at all.
    Plain,
    /// Of several members, too.
    Gzip,
    /// With windows up to 2 GiB, as the archives of Pushshift have.
    Zstd,
}

impl Packing {
    fn detect(head: &[u8]) -> Packing {
        if head.starts_with(b"\x1f\x8b") {
            Packing::Gzip
        } else if head.starts_with(b"\x28\xb5\x2f\xfd") || head.starts_with(b"\x50\x2a\x4d\x18") {
            Packing::Zstd
        } else {
            Packing::Plain
        }
    }

    /// That of a file; one that cannot be read has none.
    pub(super) fn of_file(path: &std::path::Path) -> Packing {
        let mut head = Vec::new();
        let _ = fence::open_plain(path).and_then(|file| file.take(4).read_to_end(&mut head));
        Packing::detect(&head)
    }
}

/// The decompressed bytes of a file.
///
/// # Errors
/// The system's error.
pub fn open(path: &std::path::Path) -> io::Result<Box<dyn Read>> {
    let mut file = BufReader::with_capacity(PIECE, fence::open_plain(path)?);
    Ok(match Packing::detect(file.fill_buf()?) {
        // A decoder of one member would take the end of the first for the end of the file.
        Packing::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(file)),
        Packing::Zstd => {
            let mut decoder = zstd::Decoder::with_buffer(file)?;
            // The default limit of 128 MiB refuses the archives of Pushshift.
            decoder.window_log_max(31)?;
            Box::new(decoder)
        }
        Packing::Plain => Box::new(file),
    })
}

pub(super) fn describe(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => "the compressed stream is cut off",
        io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput | io::ErrorKind::Other => {
            "the compressed stream is damaged"
        }
        io::ErrorKind::PermissionDenied => "permission denied",
        io::ErrorKind::NotFound => "the file is gone",
        _ => "the disk returned an error",
    }
}
