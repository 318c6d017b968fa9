//! Sealed segments as sequences of zstd frames: any zstd tool reads such a file, one line is read without the
//! rest, and damage to a frame leaves the others. Inside are lines of bytes, or values as JSON lines.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use serde::Serialize;

use super::LogError;
use crate::fence;
use crate::unpacked::Unpacked;

/// The bytes with which a frame begins.
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// One zstd frame of a sealed segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Offset of its first byte in the uncompressed segment.
    pub raw_start: u64,
    /// Uncompressed length.
    pub raw_len: u64,
    /// Offset in the compressed file.
    pub start: u64,
    /// Compressed length.
    pub len: u64,
}

/// The frames of a sealed segment, from the file alone.
///
/// # Errors
/// If it cannot be read, or a frame is damaged or implausibly large.
pub fn read_frames(path: &Path) -> io::Result<Vec<Frame>> {
    let packed = fence::read(path)?;
    let (mut frames, mut start, mut raw_start) = (Vec::new(), 0, 0);
    while start < packed.len() {
        let len = zstd::zstd_safe::find_frame_compressed_size(&packed[start..]).map_err(|_| {
            io::Error::new(io::ErrorKind::InvalidData, format!("not a zstd frame at byte {start}"))
        })?;
        let raw_len = Unpacked::new(&packed[start..start + len], len as u64)?.read_whole()?.len() as u64;
        frames.push(Frame { raw_start, raw_len, start: start as u64, len: len as u64 });
        start += len;
        raw_start += raw_len;
    }
    Ok(frames)
}

/// The uncompressed bytes of one frame.
///
/// # Errors
/// If it cannot be read, or is damaged.
pub fn read_frame(file: &mut File, frame: Frame) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(frame.start))?;
    let mut packed = vec![0; frame.len as usize];
    file.read_exact(&mut packed)?;
    zstd::bulk::decompress(&packed, frame.raw_len as usize)
}

/// What a salvage finds of one frame, or of one line of an open segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Offset of its first byte among the unpacked bytes of the intact ones.
    pub at: u64,
    /// What it unpacks to before its damage.
    pub bytes: Vec<u8>,
    /// Whether it unpacks completely.
    pub is_whole: bool,
    /// Whether it has a checksum, which is right if it unpacks completely.
    pub has_checksum: bool,
}

/// The parts of a segment's file that are damaged one by one: the frames of a sealed one, the lines of an open one,
/// whose last may lack its end.
pub fn pieces_of_file(path: &Path, bytes: &[u8]) -> Vec<Piece> {
    if path.extension().is_some_and(|extension| extension == "zst") {
        return read_pieces(bytes);
    }
    let piece =
        |(at, line): (u64, &[u8])| Piece { at, bytes: line.to_vec(), is_whole: true, has_checksum: false };
    placed_lines(bytes).map(piece).collect()
}

/// The frames of a sealed segment, whatever is damaged: after a damaged frame, reading continues at the next one.
pub(super) fn read_pieces(packed: &[u8]) -> Vec<Piece> {
    let (mut pieces, mut start, mut at) = (Vec::new(), 0, 0);
    while let Some(rest) = packed.get(start..).filter(|rest| !rest.is_empty()) {
        let len = zstd::zstd_safe::find_frame_compressed_size(rest).ok();
        let frame = len.and_then(|len| rest.get(..len));
        let mut bytes = Vec::new();
        let unpacked = frame.unwrap_or(rest);
        let unpacked = Unpacked::new(unpacked, unpacked.len() as u64);
        // An error leaves in `bytes` what was unpacked before it.
        let is_whole = unpacked.and_then(|mut from| from.read_to_end(&mut bytes)).is_ok() && frame.is_some();
        // The descriptor follows the four bytes of the magic number; its bit 2 announces a checksum.
        let has_checksum = rest.get(4).is_some_and(|descriptor| descriptor & 4 != 0);
        let next = at + if is_whole { bytes.len() as u64 } else { 0 };
        pieces.push(Piece { at, bytes, is_whole, has_checksum });
        at = next;
        let from = start + frame.filter(|_| is_whole).map_or(1, <[u8]>::len);
        let rest = packed.get(from..).unwrap_or_default();
        let skipped = rest.windows(4).position(|window| window == MAGIC);
        // What is no frame once was one.
        if is_whole && skipped.unwrap_or(rest.len()) > 0 {
            pieces.push(Piece { at, bytes: Vec::new(), is_whole: false, has_checksum: false });
        }
        match skipped {
            Some(skipped) => start = from + skipped,
            None => break,
        }
    }
    pieces
}

/// The lines that are not empty, without their line ends.
pub fn filled_lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty())
}

/// Each line with its line end, which the last one may lack, and the offset of its first byte.
pub fn placed_lines(bytes: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    bytes.split_inclusive(|&byte| byte == b'\n').scan(0, |next, line| {
        let at = *next;
        *next += line.len() as u64;
        Some((at, line))
    })
}

/// Values as JSON lines, each with its line end.
///
/// # Errors
/// [`LogError::Unwritable`] if one is no JSON, such as a map whose keys are not texts.
pub fn to_lines<'v, T: Serialize + 'v>(values: impl IntoIterator<Item = &'v T>) -> Result<Vec<u8>, LogError> {
    let mut lines = Vec::new();
    for value in values {
        serde_json::to_writer(&mut lines, value).map_err(|source| LogError::Unwritable { source })?;
        lines.push(b'\n');
    }
    Ok(lines)
}

/// Whether the end of a file without a newline is still a complete line: a closed object.
pub(super) fn is_whole(tail: &[u8]) -> bool {
    tail.ends_with(b"}") && serde_json::from_slice::<serde::de::IgnoredAny>(tail).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damage_to_a_frame_leaves_the_others() {
        let texts = ["云会恐高\n".repeat(400), "b\n".repeat(900), "c\n".repeat(3)];
        for checksum in [false, true] {
            let mut compressor = zstd::bulk::Compressor::new(3).unwrap();
            compressor.include_checksum(checksum).unwrap();
            let frames = texts.each_ref().map(|text| compressor.compress(text.as_bytes()).unwrap());
            let all: Vec<&[u8]> = texts.iter().map(|text| text.as_bytes()).collect();
            let whole = |packed: &[u8]| -> Vec<Vec<u8>> {
                read_pieces(packed).into_iter().filter(|p| p.is_whole).map(|piece| piece.bytes).collect()
            };
            assert_eq!(whole(&frames.concat()), all);
            assert!(read_pieces(&frames.concat()).iter().all(|piece| piece.has_checksum == checksum));
            let mut damaged = frames.clone();
            damaged[1].truncate(6);
            assert_eq!(whole(&damaged.concat()), [all[0], all[2]]);
            // Its first bytes: the frame is not even recognised.
            let mut damaged = frames.clone();
            damaged[1][0] ^= 1;
            assert_eq!(whole(&damaged.concat()), [all[0], all[2]]);
            assert_eq!(read_pieces(&damaged.concat()).len(), 3, "the gap is told");
            assert!(whole(b"no frame at all").is_empty());
        }
    }

    #[test]
    fn only_a_closed_object_is_whole_without_its_newline() {
        assert!(is_whole(b"{\"n\":1}"));
        for torn in [&b""[..], b"{\"n\":1", b"n\":1}", b"12", b"null"] {
            assert!(!is_whole(torn), "{}", String::from_utf8_lossy(torn));
        }
    }

    #[test]
    fn every_byte_is_in_one_line_at_its_place() {
        for text in ["", "\n", "a", "a\n", "\n\na\n", "a\n\nb"] {
            let placed: Vec<_> = placed_lines(text.as_bytes()).collect();
            let mut next = 0;
            for (at, line) in &placed {
                assert_eq!(*at, next, "{text:?}");
                next += line.len() as u64;
            }
            assert_eq!(next, text.len() as u64, "{text:?}");
            let filled: Vec<&[u8]> =
                text.as_bytes().split(|&b| b == b'\n').filter(|l| !l.is_empty()).collect();
            assert_eq!(filled_lines(text.as_bytes()).collect::<Vec<_>>(), filled, "{text:?}");
        }
        assert_eq!(to_lines(&[1, 2]).unwrap(), b"1\n2\n");
    }
}
