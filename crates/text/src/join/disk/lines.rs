//! External sort of lines of bytes.

use std::path::Path;

use super::sorter::{Merge, Sorter};
use super::{DiskError, Working};

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
        Ok(SortedLines { merge: self.sorter.finish()?.read()?, words: Vec::new(), _folder: self.folder })
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
    use proptest::prelude::*;

    use super::*;

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
