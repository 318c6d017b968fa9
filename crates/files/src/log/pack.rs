//! Compresses the lines of a segment into the frames of its sealed file.

use std::io::{self, Read, Write};

use rayon::prelude::*;

use super::frames::Frame;

/// Bytes that are in memory at a time for each core.
const WAVE_BYTES: usize = 8 << 20;

/// The frames of a format.
#[derive(Clone, Copy, Debug)]
pub struct Packing {
    /// Uncompressed bytes of a frame: exactly, or at least, if frames end with a line. The last may have fewer.
    pub frame_bytes: usize,
    /// The level of zstd.
    pub level: i32,
    /// Whether a line is read without the other frames. Then each ends with a line, states its length and has a
    /// checksum, so that damage affects only one, and one core compresses them while others work. Otherwise all
    /// cores do.
    pub is_read_by_line: bool,
}

impl Packing {
    /// Where the frame that begins at `at` ends; `None` if that is not known yet, or nothing is left.
    fn frame_end(self, bytes: &[u8], at: usize, is_end: bool) -> Option<usize> {
        let least = at + self.frame_bytes;
        let end = match bytes.get(least..) {
            Some(rest) if self.is_read_by_line => {
                memchr::memchr(b'\n', rest).map(|newline| least + newline + 1)
            }
            rest => rest.map(|_| least),
        };
        end.or((is_end && at < bytes.len()).then_some(bytes.len()))
    }

    fn compress_pieces(self, pieces: &[&[u8]]) -> io::Result<Vec<Vec<u8>>> {
        if !self.is_read_by_line {
            return pieces.par_iter().map(|piece| zstd::encode_all(*piece, self.level)).collect();
        }
        let mut compressor = zstd::bulk::Compressor::new(self.level)?;
        compressor.include_checksum(true)?;
        pieces.iter().map(|piece| compressor.compress(piece)).collect()
    }
}

/// Compresses what is left of `from` into `to`, and passes the bytes that are read to `see`. Returns the frames,
/// which one after the other are a valid zstd file; of nothing there is one empty frame.
///
/// # Errors
/// If it cannot be read or written.
pub fn pack_frames(
    from: &mut impl Read,
    to: &mut impl Write,
    packing: Packing,
    mut see: impl FnMut(&[u8]),
) -> io::Result<Vec<Frame>> {
    let wave = (WAVE_BYTES * rayon::current_num_threads()) as u64;
    let (mut frames, mut bytes, mut start, mut raw_start) = (Vec::new(), Vec::new(), 0, 0);
    loop {
        let left = bytes.len();
        Read::by_ref(from).take(wave).read_to_end(&mut bytes)?;
        see(&bytes[left..]);
        let is_end = bytes.len() == left;
        let (mut pieces, mut at) = (Vec::new(), 0);
        while let Some(end) = packing.frame_end(&bytes, at, is_end) {
            pieces.push(&bytes[at..end]);
            at = end;
        }
        // So that the file of an empty segment is valid as well.
        if is_end && frames.is_empty() && pieces.is_empty() {
            pieces.push(&[]);
        }
        for (piece, packed) in pieces.iter().zip(packing.compress_pieces(&pieces)?) {
            let frame = Frame { raw_start, raw_len: piece.len() as u64, start, len: packed.len() as u64 };
            (raw_start, start) = (raw_start + frame.raw_len, start + frame.len);
            to.write_all(&packed)?;
            frames.push(frame);
        }
        bytes.drain(..at);
        if is_end {
            return Ok(frames);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What was sealed in one program is verified by its hash in others: the bytes must stay the same.
    #[test]
    fn the_bytes_are_those_of_frames_compressed_one_by_one() {
        let line = |n: usize| format!("{{\"n\":{n},\"text\":\"{}\"}}\n", "云会恐高".repeat(n % 97));
        let text: String = (0..4000).map(line).collect();
        for (text, frame_bytes) in
            [(&text[..], 1 << 12), (&text[..text.len() - 1], 1 << 16), (&text[..7], 1 << 12), ("", 1 << 12)]
        {
            let bytes = text.as_bytes();
            for is_read_by_line in [false, true] {
                let packing = Packing { frame_bytes, level: 6, is_read_by_line };
                let (mut packed, mut seen) = (Vec::new(), Vec::new());
                let frames =
                    pack_frames(&mut &bytes[..], &mut packed, packing, |piece| seen.extend_from_slice(piece))
                        .unwrap();
                let (mut expected, mut at) = (Vec::new(), 0);
                while at < bytes.len() || expected.is_empty() {
                    let most = bytes.len().min(at + frame_bytes);
                    if is_read_by_line {
                        let end = bytes[most..].iter().position(|&byte| byte == b'\n');
                        let end = end.map_or(bytes.len(), |end| most + end + 1);
                        let mut compressor = zstd::bulk::Compressor::new(6).unwrap();
                        compressor.include_checksum(true).unwrap();
                        expected.extend(compressor.compress(&bytes[at..end]).unwrap());
                        at = end;
                    } else {
                        expected.extend(zstd::encode_all(&bytes[at..most], 6).unwrap());
                        at = most;
                    }
                }
                assert_eq!(packed, expected, "{} {frame_bytes} {is_read_by_line}", text.len());
                assert_eq!(seen, bytes);
                let last = frames.last().unwrap();
                assert_eq!(last.raw_start + last.raw_len, bytes.len() as u64);
                assert_eq!(last.start + last.len, packed.len() as u64);
            }
        }
    }

    /// A frame goes on in what is read next.
    #[test]
    fn lines_longer_than_what_is_read_at_once_are_in_one_frame() {
        let wave = WAVE_BYTES * rayon::current_num_threads();
        let bytes = ["a".repeat(wave + 5), "b".repeat(70), "c".into()].join("\n").into_bytes();
        let packing = Packing { frame_bytes: 64, level: 1, is_read_by_line: true };
        let mut packed = Vec::new();
        let frames = pack_frames(&mut &bytes[..], &mut packed, packing, |_| {}).unwrap();
        let lengths: Vec<u64> = frames.iter().map(|frame| frame.raw_len).collect();
        assert_eq!(lengths, [wave as u64 + 6, 71, 1]);
        assert_eq!(zstd::decode_all(&packed[..]).unwrap(), bytes);
    }
}
