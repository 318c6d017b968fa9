//! zstd with a limit on the unpacked size: a few kilobytes from a stranger can unpack to gigabytes.

use crate::fence;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// Largest ratio of unpacked to packed size; JSON lines reach at most thirty.
const RATIO: u64 = 100;
/// Unpacked size that is always allowed, however small the file is.
const FLOOR: u64 = 256 << 20;

/// A reader of the unpacked bytes; an error if there are implausibly many.
pub struct Unpacked<R: BufRead> {
    from: zstd::Decoder<'static, R>,
    left: u64,
    most: u64,
}

/// Opens a file of zstd frames.
///
/// # Errors
/// If it cannot be opened or does not begin like such a file.
pub fn open_frames(path: &Path) -> io::Result<Unpacked<BufReader<File>>> {
    let file = fence::open(path)?;
    let bytes = file.metadata()?.len();
    Unpacked::new(BufReader::new(file), bytes)
}

impl<R: BufRead> Unpacked<R> {
    /// Unpacks data whose packed size is `bytes`.
    ///
    /// # Errors
    /// If it does not begin like zstd frames.
    pub fn new(packed: R, bytes: u64) -> io::Result<Unpacked<R>> {
        let most = bytes.saturating_mul(RATIO).max(FLOOR);
        Ok(Unpacked { from: zstd::Decoder::with_buffer(packed)?, left: most, most })
    }

    /// Everything.
    ///
    /// # Errors
    /// If it is damaged, or implausibly large.
    pub fn read_whole(mut self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

impl<R: BufRead> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(buffer)?;
        match self.left.checked_sub(read as u64) {
            Some(left) => {
                self.left = left;
                Ok(read)
            }
            None => Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!(
                    "it unpacks to more than {} MiB, over {RATIO} times its size: riddlemill does not write such files",
                    self.most >> 20
                ),
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A packed file of `mib` MiB of zeros.
    fn bomb(mib: u64) -> Vec<u8> {
        let mut packed = Vec::new();
        zstd::stream::copy_encode(io::repeat(0).take(mib << 20), &mut packed, 1).unwrap();
        packed
    }

    #[test]
    fn kilobytes_give_no_gigabytes() {
        let packed = bomb(600);
        assert!(packed.len() < 100_000, "{}", packed.len());
        let error = Unpacked::new(&packed[..], packed.len() as u64).unwrap().read_whole().unwrap_err();
        assert!(error.to_string().contains("more than 256 MiB"), "{error}");
        let packed = bomb(200);
        let whole = Unpacked::new(&packed[..], packed.len() as u64).unwrap().read_whole().unwrap();
        assert_eq!(whole.len(), 200 << 20);
    }
}
