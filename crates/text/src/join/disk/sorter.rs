//! External sort of short lists of words, in runs that are merged as they are read.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{BufReader, BufWriter, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::DiskError;

/// Collects lists of words, and gives them back in their lexicographic order.
pub(crate) struct Sorter {
    folder: PathBuf,
    name: &'static str,
    limit: usize,
    words: Vec<u32>,
    starts: Vec<usize>,
    runs: Vec<PathBuf>,
}

/// Sorted runs on disk.
pub(crate) struct Runs(Vec<PathBuf>);

impl Sorter {
    /// Runs of about `limit` words, in files of this name.
    pub fn new(folder: &Path, name: &'static str, limit: usize) -> Self {
        Self { folder: folder.into(), name, limit, words: Vec::new(), starts: Vec::new(), runs: Vec::new() }
    }

    pub fn push(&mut self, list: &[u32]) -> Result<(), DiskError> {
        self.starts.push(self.words.len());
        self.words.extend_from_slice(list);
        if self.words.len() >= self.limit { self.spill() } else { Ok(()) }
    }

    fn spill(&mut self) -> Result<(), DiskError> {
        let Self { words, starts, .. } = self;
        let mut lists: Vec<&[u32]> = starts
            .iter()
            .zip(starts.iter().skip(1).copied().chain([words.len()]))
            .map(|(&start, end)| &words[start..end])
            .collect();
        lists.par_sort_unstable();
        let path = self.folder.join(format!("{}-{}", self.name, self.runs.len()));
        let mut out = Writer::create(&path)?;
        for list in lists {
            out.push(list)?;
        }
        out.finish()?;
        self.runs.push(path);
        self.words.clear();
        self.starts.clear();
        Ok(())
    }

    pub fn finish(mut self) -> Result<Runs, DiskError> {
        if !self.starts.is_empty() {
            self.spill()?;
        }
        Ok(Runs(self.runs))
    }
}

impl Runs {
    /// All lists in order.
    pub fn read(&self) -> Result<Merge, DiskError> {
        let mut merge = Merge { runs: Vec::new(), heads: BinaryHeap::new() };
        for path in &self.0 {
            merge.runs.push(Reader::open(path, 0)?);
            merge.refill(merge.runs.len() - 1, Vec::new())?;
        }
        Ok(merge)
    }

    /// Deletes the files.
    pub fn remove(self) -> Result<(), DiskError> {
        self.0.iter().try_for_each(|path| std::fs::remove_file(path).map_err(DiskError::io("remove", path)))
    }
}

/// Sorted runs, read as one.
pub(crate) struct Merge {
    runs: Vec<Reader>,
    heads: BinaryHeap<Reverse<(Vec<u32>, usize)>>,
}

impl Merge {
    /// The next list, in place of what `list` held; false after the last.
    pub fn next(&mut self, list: &mut Vec<u32>) -> Result<bool, DiskError> {
        let Some(Reverse((next, run))) = self.heads.pop() else { return Ok(false) };
        let used = std::mem::replace(list, next);
        self.refill(run, used)?;
        Ok(true)
    }

    fn refill(&mut self, run: usize, mut list: Vec<u32>) -> Result<(), DiskError> {
        if self.runs[run].next(&mut list)? {
            self.heads.push(Reverse((list, run)));
        }
        Ok(())
    }
}

/// Writes lists, each after its length.
pub(crate) struct Writer {
    path: PathBuf,
    out: BufWriter<File>,
}

impl Writer {
    pub fn create(path: &Path) -> Result<Self, DiskError> {
        let file = File::create(path).map_err(DiskError::io("create", path))?;
        Ok(Self { path: path.into(), out: BufWriter::with_capacity(1 << 17, file) })
    }

    pub fn push(&mut self, list: &[u32]) -> Result<(), DiskError> {
        let mut write = |word: u32| self.out.write_all(&word.to_le_bytes());
        let done = write(list.len() as u32).and_then(|()| list.iter().try_for_each(|&word| write(word)));
        done.map_err(DiskError::io("write", &self.path))
    }

    pub fn finish(mut self) -> Result<(), DiskError> {
        self.out.flush().map_err(DiskError::io("write", &self.path))
    }
}

/// Reads what a [`Writer`] wrote.
pub(crate) struct Reader {
    path: PathBuf,
    from: BufReader<File>,
    bytes: Vec<u8>,
    /// Where the next list begins.
    pub position: u64,
}

impl Reader {
    pub fn open(path: &Path, position: u64) -> Result<Self, DiskError> {
        let mut file = File::open(path).map_err(DiskError::io("open", path))?;
        file.seek(SeekFrom::Start(position)).map_err(DiskError::io("read", path))?;
        let from = BufReader::with_capacity(1 << 17, file);
        Ok(Self { path: path.into(), from, bytes: Vec::new(), position })
    }

    /// The next list, in place of what `list` held; false after the last.
    pub fn next(&mut self, list: &mut Vec<u32>) -> Result<bool, DiskError> {
        let mut len = [0; 4];
        match self.from.read_exact(&mut len) {
            Err(end) if end.kind() == ErrorKind::UnexpectedEof => return Ok(false),
            read => read.map_err(DiskError::io("read", &self.path))?,
        }
        self.bytes.resize(4 * u32::from_le_bytes(len) as usize, 0);
        self.from.read_exact(&mut self.bytes).map_err(DiskError::io("read", &self.path))?;
        self.position += 4 + self.bytes.len() as u64;
        list.clear();
        list.extend(
            self.bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])),
        );
        Ok(true)
    }
}
