//! Bytes without compression.

use crate::fence;
use crate::trust::shell_path;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::{MultiGzDecoder, ZlibDecoder};
use serde::{Deserialize, Serialize};

use super::zipped;

/// Bytes of one read.
const PIECE: usize = 1 << 20;
/// More layers than anybody packs by accident.
pub(super) const LAYERS: usize = 4;
/// Most memory of an xz decoder, in KiB: that of `xz -9e`, and as much again.
const XZ_KIB: u32 = 128 << 10;

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
    /// Of several streams, too.
    Bzip2,
    /// Of several streams, too.
    Xz,
    /// Of several frames, too.
    Lz4,
    /// Without the header of gzip, as programs keep pages.
    Zlib,
    /// One file in a zip.
    Zip,
}

impl Packing {
    /// That of bytes that begin so. A zip is only packing if it holds one file, which these bytes do not show.
    pub fn of_head(head: &[u8]) -> Packing {
        const MAGIC: [(&[u8], Packing); 10] = [
            (b"\x1f\x8b", Packing::Gzip),
            (b"\x28\xb5\x2f\xfd", Packing::Zstd),
            (b"\x50\x2a\x4d\x18", Packing::Zstd),
            (b"BZh", Packing::Bzip2),
            (b"\xfd7zXZ\0", Packing::Xz),
            (b"\x04\x22\x4d\x18", Packing::Lz4),
            (b"x\x01", Packing::Zlib),
            (b"x\x9c", Packing::Zlib),
            (b"x\xda", Packing::Zlib),
            (b"PK\x03\x04", Packing::Zip),
        ];
        let found = MAGIC.iter().find(|(magic, _)| head.starts_with(magic)).map(|(_, packing)| *packing);
        match found {
            // So may a text in GBK; a stream can be unpacked.
            Some(Packing::Zlib) if !is_zlib(head) => Packing::Plain,
            // A text may begin with these letters; a stream has its block size and the first block behind them.
            Some(Packing::Bzip2) if !is_bzip2(head) => Packing::Plain,
            found => found.unwrap_or(Packing::Plain),
        }
    }

    /// What packs so.
    pub fn name(self) -> &'static str {
        match self {
            Packing::Plain => "nothing",
            Packing::Gzip => "gzip",
            Packing::Zstd => "zstd",
            Packing::Bzip2 => "bzip2",
            Packing::Xz => "xz",
            Packing::Lz4 => "lz4",
            Packing::Zlib => "zlib",
            Packing::Zip => "zip",
        }
    }

    /// What stands before and behind a command that reads such a file: what is packed is unpacked first.
    pub fn feed_command(self, path: &Path) -> (String, String) {
        let file = shell_path(path);
        match self {
            Packing::Plain => (String::new(), format!(" {file}")),
            packing => (format!("{} {file} | ", packing.unpacks_by()), String::new()),
        }
    }

    /// The command that writes such a file without its packing to its output.
    pub fn unpacks_by(self) -> &'static str {
        match self {
            Packing::Plain => "cat",
            Packing::Gzip => "gzip -dc",
            Packing::Zstd => "zstd -dc --long=31",
            Packing::Bzip2 => "bzip2 -dc",
            Packing::Xz => "xz -dc",
            Packing::Lz4 => "lz4 -dc",
            Packing::Zlib => "pigz -dc",
            Packing::Zip => "unzip -p",
        }
    }

    /// That of a file; one that cannot be read has none.
    pub fn of_file(path: &Path) -> Packing {
        let mut head = Vec::new();
        let _ = fence::open_plain(path).and_then(|file| file.take(16).read_to_end(&mut head));
        match Packing::of_head(&head) {
            Packing::Zip if zipped::single_entry(path).is_none() => Packing::Plain,
            packing => packing,
        }
    }
}

/// Whether the first block of a zlib stream can be unpacked, as far as it is here.
fn is_zlib(head: &[u8]) -> bool {
    let mut out = [0; 1 << 10];
    let read = ZlibDecoder::new(head).read(&mut out);
    read.map_or_else(|error| error.kind() == io::ErrorKind::UnexpectedEof, |read| read > 0)
}

fn is_bzip2(head: &[u8]) -> bool {
    let block = head.get(4..10);
    head.get(3).is_some_and(u8::is_ascii_digit)
        && block
            .is_none_or(|block| block == b"\x31\x41\x59\x26\x53\x59" || block == b"\x17\x72\x45\x38\x50\x90")
}

/// The bytes of a file without its compression. Of a zip that holds one file: the bytes of that; any other zip is read
/// as it is.
///
/// # Errors
/// The system's error.
pub fn open_unpacked(path: &Path) -> io::Result<Box<dyn Read + Send>> {
    let file = BufReader::with_capacity(PIECE, fence::open_plain(path)?);
    let mut reader: Box<dyn BufRead + Send> = match Packing::of_file(path) {
        Packing::Zip => match zipped::single_entry(path) {
            Some(entry) => Box::new(BufReader::new(entry.open_entry(path)?)),
            None => return Ok(Box::new(file)),
        },
        _ => Box::new(file),
    };
    for _ in 0..LAYERS {
        let packing = Packing::of_head(reader.fill_buf()?);
        if matches!(packing, Packing::Plain | Packing::Zip) {
            break;
        }
        reader = Box::new(BufReader::with_capacity(PIECE, unpack_reader(packing, reader)?));
    }
    Ok(Box::new(reader))
}

fn unpack_reader(packing: Packing, reader: Box<dyn BufRead + Send>) -> io::Result<Box<dyn Read + Send>> {
    Ok(match packing {
        // A decoder of one member would take the end of the first for the end of the file.
        Packing::Gzip => Box::new(MultiGzDecoder::new(reader)),
        Packing::Bzip2 => Box::new(MultiBzDecoder::new(reader)),
        Packing::Xz => Box::new(lzma_rust2::XzReader::new_mem_limit(reader, true, XZ_KIB)),
        Packing::Zlib => Box::new(Streams(ZlibDecoder::new(reader))),
        Packing::Lz4 => Box::new(Frames(lz4_flex::frame::FrameDecoder::new(Tail::new(reader)))),
        Packing::Zstd => {
            let mut decoder = zstd::Decoder::with_buffer(reader)?;
            // The default limit of 128 MiB refuses the archives of Pushshift.
            decoder.window_log_max(31)?;
            Box::new(decoder)
        }
        Packing::Plain | Packing::Zip => Box::new(reader),
    })
}

/// All streams of zlib, one behind the other: the decoder reads one.
struct Streams(ZlibDecoder<Box<dyn BufRead + Send>>);

impl Read for Streams {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.0.read(buffer)? {
                0 if !buffer.is_empty() && !self.0.get_mut().fill_buf()?.is_empty() => {
                    let rest = self.0.reset(Box::new(io::empty()));
                    self.0.reset(rest);
                }
                read => return Ok(read),
            }
        }
    }
}

/// All frames of an LZ4 stream, one behind the other: its decoder ends each of them with an empty read.
struct Frames<R: BufRead>(lz4_flex::frame::FrameDecoder<Tail<R>>);

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.0.read(buffer)? {
                0 if !buffer.is_empty() && !self.0.get_mut().fill_buf()?.is_empty() => {}
                // The decoder takes the end of the file for that of a frame.
                0 if !buffer.is_empty() && !self.0.get_ref().ends_a_frame() => {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                read => return Ok(read),
            }
        }
    }
}

/// A reader that knows its last bytes.
struct Tail<R> {
    reader: R,
    last: [u8; 8],
}

impl<R: BufRead> Tail<R> {
    fn new(reader: R) -> Tail<R> {
        Tail { reader, last: [1; 8] }
    }

    /// Whether the last bytes are the mark that ends a frame, or that and a checksum.
    fn ends_a_frame(&self) -> bool {
        self.last[4..] == [0; 4] || self.last[..4] == [0; 4]
    }
}

impl<R: BufRead> Read for Tail<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(buffer)?;
        self.consume(read);
        Ok(read)
    }
}

impl<R: BufRead> BufRead for Tail<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.reader.fill_buf()
    }

    fn consume(&mut self, bytes: usize) {
        // What is consumed was filled: this reads nothing.
        if let Ok(filled) = self.reader.fill_buf() {
            for byte in &filled[bytes.saturating_sub(8)..bytes] {
                self.last.rotate_left(1);
                self.last[7] = *byte;
            }
        }
        self.reader.consume(bytes);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn read(bytes: &[u8]) -> io::Result<Vec<u8>> {
        let file = tempfile::NamedTempFile::new()?;
        file.as_file().write_all(bytes)?;
        let mut all = Vec::new();
        open_unpacked(file.path())?.read_to_end(&mut all).map(|_| all)
    }

    fn packed(packing: Packing, bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        match packing {
            Packing::Gzip => {
                drop(flate2::read::GzEncoder::new(bytes, flate2::Compression::fast()).read_to_end(&mut out))
            }
            Packing::Zstd => out = zstd::encode_all(bytes, 1).unwrap(),
            Packing::Bzip2 => {
                drop(bzip2::read::BzEncoder::new(bytes, bzip2::Compression::fast()).read_to_end(&mut out))
            }
            Packing::Lz4 => {
                let mut encoder = lz4_flex::frame::FrameEncoder::new(Vec::new());
                encoder.write_all(bytes).unwrap();
                out = encoder.finish().unwrap();
            }
            Packing::Zlib => {
                drop(flate2::read::ZlibEncoder::new(bytes, flate2::Compression::fast()).read_to_end(&mut out))
            }
            // `printf hello | xz`, by liblzma.
            Packing::Xz => out.extend_from_slice(XZ),
            Packing::Zip => {
                let mut zip = zip::ZipWriter::new(io::Cursor::new(Vec::new()));
                zip.start_file("a.txt", zip::write::SimpleFileOptions::default()).unwrap();
                zip.write_all(bytes).unwrap();
                out = zip.finish().unwrap().into_inner();
            }
            Packing::Plain => out.extend_from_slice(bytes),
        }
        out
    }

    const XZ: &[u8] = b"\xfd7zXZ\0\0\x04\xe6\xd6\xb4F\x02\0!\x01\x16\0\0\0t/\xe5\xa3\x01\0\x04hello\0\0\0\0\xb17\xb9\xdb\xe5\xda\x1e\x9b\0\x01\x1d\x05\xb8-\x80\xaf\x1f\xb6\xf3}\x01\0\0\0\0\x04YZ";

    const ALL: [Packing; 8] = [
        Packing::Plain,
        Packing::Gzip,
        Packing::Zstd,
        Packing::Bzip2,
        Packing::Xz,
        Packing::Lz4,
        Packing::Zlib,
        Packing::Zip,
    ];

    #[test]
    fn every_usual_compression_is_undone_in_several_streams_and_layers() {
        for packing in ALL {
            let one = packed(packing, b"hello");
            assert_eq!(read(&one).unwrap(), b"hello", "{packing:?}");
            if packing != Packing::Zip {
                assert_eq!(read(&[&one[..], &one].concat()).unwrap(), b"hellohello", "{packing:?} twice");
            }
            assert_eq!(
                read(&packed(Packing::Gzip, &one)).unwrap(),
                match packing {
                    Packing::Zip => one.clone(),
                    _ => b"hello".to_vec(),
                }
            );
            if !matches!(packing, Packing::Plain | Packing::Zip) {
                assert!(read(&one[..one.len() - 3]).is_err(), "{packing:?} cut");
            }
        }
        assert_eq!(read(b"BZhello").unwrap(), b"BZhello");
        // A text in GBK may begin as a stream of zlib.
        assert_eq!(read(b"x\x9cy, \xd4\xc6").unwrap(), b"x\x9cy, \xd4\xc6");
    }
}
