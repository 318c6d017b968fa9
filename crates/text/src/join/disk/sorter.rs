//! External sorts of short lists of words and of lines of bytes, in runs that are merged as they are read.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{BufReader, BufWriter, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::{DiskError, Working};

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
        if self.words.len() >= self.limit { self.write_run() } else { Ok(()) }
    }

    fn write_run(&mut self) -> Result<(), DiskError> {
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
            self.write_run()?;
        }
        Ok(Runs(self.runs))
    }
}

impl Runs {
    /// All lists in order.
    pub fn merge_runs(&self) -> Result<Merge, DiskError> {
        let mut merge = Merge { runs: Vec::new(), heads: BinaryHeap::new() };
        for path in &self.0 {
            merge.runs.push(Reader::open(path, 0)?);
            merge.refill_run(merge.runs.len() - 1, Vec::new())?;
        }
        Ok(merge)
    }

    /// Deletes the files.
    pub fn remove_files(self) -> Result<(), DiskError> {
        self.0
            .iter()
            .try_for_each(|path| std::fs::remove_file(path).map_err(DiskError::io_error("remove", path)))
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
        self.refill_run(run, used)?;
        Ok(true)
    }

    fn refill_run(&mut self, run: usize, mut list: Vec<u32>) -> Result<(), DiskError> {
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
        let file = File::create(path).map_err(DiskError::io_error("create", path))?;
        Ok(Self { path: path.into(), out: BufWriter::with_capacity(1 << 17, file) })
    }

    pub fn push(&mut self, list: &[u32]) -> Result<(), DiskError> {
        let mut write = |word: u32| self.out.write_all(&word.to_le_bytes());
        let done = write(list.len() as u32).and_then(|()| list.iter().try_for_each(|&word| write(word)));
        done.map_err(DiskError::io_error("write", &self.path))
    }

    pub fn finish(mut self) -> Result<(), DiskError> {
        self.out.flush().map_err(DiskError::io_error("write", &self.path))
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
        let mut file = File::open(path).map_err(DiskError::io_error("open", path))?;
        file.seek(SeekFrom::Start(position)).map_err(DiskError::io_error("read", path))?;
        let from = BufReader::with_capacity(1 << 17, file);
        Ok(Self { path: path.into(), from, bytes: Vec::new(), position })
    }

    /// The next list, in place of what `list` held; false after the last.
    pub fn next(&mut self, list: &mut Vec<u32>) -> Result<bool, DiskError> {
        let mut len = [0; 4];
        match self.from.read_exact(&mut len) {
            Err(end) if end.kind() == ErrorKind::UnexpectedEof => return Ok(false),
            read => read.map_err(DiskError::io_error("read", &self.path))?,
        }
        self.bytes.resize(4 * u32::from_le_bytes(len) as usize, 0);
        self.from.read_exact(&mut self.bytes).map_err(DiskError::io_error("read", &self.path))?;
        self.position += 4 + self.bytes.len() as u64;
        list.clear();
        list.extend(
            self.bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])),
        );
        Ok(true)
    }
}

/// Sorts lines by their bytes, most of them on disk. A line holds no byte 0 at its end.
pub struct LineSorter {
    sorter: Sorter,
    words: Vec<u32>,
    folder: Working,
}

/// Sorted lines. Their files are deleted with it.
pub struct SortedLines {
    merge: Merge,
    words: Vec<u32>,
    /// Last, so that the files go when nobody reads them any more.
    _folder: Working,
}

impl LineSorter {
    /// Sorts with about so many bytes of lines in memory, and the rest in a new folder under `folder`.
    ///
    /// # Errors
    /// [`DiskError`] where the folder cannot be made.
    pub fn new(folder: &Path, name: &'static str, memory: usize) -> Result<Self, DiskError> {
        let folder = Working::new(folder, ".sort-")?;
        // Half of it is for the order of the lines.
        let sorter = Sorter::new(folder.path(), name, (memory / 8).max(1024));
        Ok(Self { sorter, words: Vec::new(), folder })
    }

    /// Takes a line.
    ///
    /// # Errors
    /// [`DiskError`] where the disk is full.
    pub fn push(&mut self, line: &[u8]) -> Result<(), DiskError> {
        self.words.clear();
        // Big-endian, so that words sort as their bytes do.
        self.words.extend(line.chunks(4).map(|bytes| {
            bytes.iter().chain(&[0; 3]).take(4).fold(0, |word, byte| word << 8 | u32::from(*byte))
        }));
        self.sorter.push(&self.words)
    }

    /// The lines in order.
    ///
    /// # Errors
    /// [`DiskError`] where a working file cannot be read.
    pub fn finish(self) -> Result<SortedLines, DiskError> {
        Ok(SortedLines {
            merge: self.sorter.finish()?.merge_runs()?,
            words: Vec::new(),
            _folder: self.folder,
        })
    }
}

impl SortedLines {
    /// The next line, without zeros at its end.
    ///
    /// # Errors
    /// [`DiskError`] where a working file cannot be read.
    #[expect(clippy::should_implement_trait, reason = "it may fail")]
    pub fn next(&mut self) -> Result<Option<Vec<u8>>, DiskError> {
        if !self.merge.next(&mut self.words)? {
            return Ok(None);
        }
        let mut line: Vec<u8> = self.words.iter().flat_map(|word| word.to_be_bytes()).collect();
        line.truncate(line.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1));
        Ok(Some(line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        #[test]
        fn lines_come_in_the_order_of_their_bytes(lines in prop::collection::vec("[a鱼\u{1}]{0,9}", 0..60)) {
            let folder = tempfile::tempdir().expect("a folder");
            let mut sorter = LineSorter::new(folder.path(), "lines", 0).expect("a folder");
            sorter.sorter = Sorter::new(sorter.folder.path(), "lines", 20);
            lines.iter().for_each(|line| sorter.push(line.as_bytes()).expect("room on disk"));
            let mut sorted = sorter.finish().expect("what was written");
            let mut found = Vec::new();
            while let Some(line) = sorted.next().expect("what was written") {
                found.push(String::from_utf8(line).expect("as it came"));
            }
            let mut expected = lines.clone();
            expected.sort();
            prop_assert_eq!(found, expected);
        }
    }
}
