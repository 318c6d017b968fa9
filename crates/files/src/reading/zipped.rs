//! What a zip holds, without unpacking it.

use crate::fence;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use flate2::bufread::DeflateDecoder;
use zip::{CompressionMethod, ZipArchive};

/// A file in a zip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name, with folders.
    pub name: String,
    /// Where its bytes begin in the zip.
    pub start: u64,
    /// How many bytes it has there.
    pub length: u64,
    method: Method,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    Stored,
    Deflated,
    Other,
}

/// Most files of a zip that are looked at.
const MOST: usize = 100_000;

/// The files of a zip in the order of their names, without folders and what systems add; `None` if it is no zip.
pub fn list_entries(path: &Path) -> Option<Vec<Entry>> {
    let mut zip = ZipArchive::new(BufReader::new(fence::open_plain(path).ok()?)).ok()?;
    let mut entries = Vec::new();
    for at in 0..zip.len().min(MOST) {
        let file = zip.by_index_raw(at).ok()?;
        let name = file.name().ok()?.into_owned();
        let last = name.rsplit('/').next().unwrap_or_default();
        if file.is_dir() || name.starts_with("__MACOSX/") || matches!(last, ".DS_Store" | "Thumbs.db") {
            continue;
        }
        let method = match file.compression() {
            _ if file.encrypted() => Method::Other,
            CompressionMethod::Stored => Method::Stored,
            CompressionMethod::Deflated => Method::Deflated,
            _ => Method::Other,
        };
        entries.push(Entry { name, start: file.data_start()?, length: file.compressed_size(), method });
    }
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    Some(entries)
}

/// The only file of a zip, if it can be unpacked.
pub fn single_entry(path: &Path) -> Option<Entry> {
    let mut entries = list_entries(path)?;
    let only = entries.pop().filter(|_| entries.is_empty())?;
    only.is_readable().then_some(only)
}

impl Entry {
    /// Whether it is packed in a way that can be undone, and without a password.
    pub fn is_readable(&self) -> bool {
        self.method != Method::Other
    }

    /// Whether its bytes stand in the zip as they are.
    pub fn is_stored(&self) -> bool {
        self.method == Method::Stored
    }

    /// Its bytes.
    ///
    /// # Errors
    /// The system's error.
    pub fn open_entry(&self, path: &Path) -> io::Result<Box<dyn Read + Send>> {
        let mut file = fence::open_plain(path)?;
        file.seek(SeekFrom::Start(self.start))?;
        let bytes = BufReader::new(file).take(self.length);
        Ok(match self.method {
            Method::Deflated => Box::new(DeflateDecoder::new(bytes)),
            _ => Box::new(bytes),
        })
    }
}
