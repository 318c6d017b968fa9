//! Segment files: `000001.jsonl` while a process appends to it, `000001.jsonl.zst` and `….zst.sha256` afterwards.
//!
//! A writer holds its open segment's file lock for as long as it lives, so if the lock is free the writer is
//! gone. Sealed segments are a sequence of small zstd frames cut at line ends: any zstd tool reads the file,
//! and one line is read without the rest.

use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use riddlemill_files::fence;
use riddlemill_files::log::{self, Listing, LogError, Packing, list_segments, pack_frames, put_sealed};
pub(super) use riddlemill_files::log::{Frame, cut_torn_tail, open_path, read_frame, read_frames};
use riddlemill_files::{Unpacked, open_frames};

use super::StoreError;

/// Small frames, so that a random read is cheap.
const PACKING: Packing = Packing { frame_bytes: 64 * 1024, level: 6, is_read_by_line: true };

/// A segment's number; numbers are never reused.
pub(super) type Number = u32;

pub(super) fn sealed_path(dir: &Path, number: Number) -> PathBuf {
    log::sealed_path(dir, number, None)
}

pub(super) fn hash_path(dir: &Path, number: Number) -> PathBuf {
    sealed_path(dir, number).with_added_extension("sha256")
}

pub(super) fn file_path(dir: &Path, number: Number, is_sealed: bool) -> PathBuf {
    if is_sealed { sealed_path(dir, number) } else { open_path(dir, number) }
}

/// The lines of a segment.
pub(super) fn read_lines(dir: &Path, number: Number, is_sealed: bool) -> Result<Vec<u8>, StoreError> {
    let path = file_path(dir, number, is_sealed);
    let read = if is_sealed { open_frames(&path).and_then(Unpacked::read_whole) } else { fence::read(&path) };
    read.map_err(|source| StoreError::io(&path, source))
}

/// The numbers of all segments of a folder, ascending; `sealed` if the compressed file is complete.
pub(super) fn list_numbers(dir: &Path) -> Result<Vec<(Number, bool)>, LogError> {
    // `fsck` tells of the strangers.
    let Listing { mut segments, .. } = list_segments(dir, false)?;
    // A sealed and an open file of one number: the process died between the two steps of sealing.
    segments.dedup_by_key(|segment| segment.number);
    Ok(segments.into_iter().map(|segment| (segment.number, segment.is_sealed)).collect())
}

/// Creates and locks the next segment, whose number is at least `first`. Concurrent processes get different
/// numbers.
pub(super) fn create_next(dir: &Path, first: Number) -> Result<(Number, File), StoreError> {
    create_with(dir, first, || {})
}

/// `unlocked` runs while the new file is not locked yet.
fn create_with(dir: &Path, first: Number, mut unlocked: impl FnMut()) -> Result<(Number, File), StoreError> {
    // The number of a missing segment is not reused either.
    let mut number = list_numbers(dir)?.last().map_or(1, |&(last, _)| last + 1).max(first);
    loop {
        match fence::open_with(
            open_path(dir, number),
            File::options().write(true).read(true).create_new(true),
        ) {
            Ok(file) => {
                unlocked();
                file.lock().map_err(|source| StoreError::io(dir, source))?;
                // Before it was locked it looked abandoned: another process may have sealed it.
                if open_path(dir, number).exists() && !sealed_path(dir, number).exists() {
                    return Ok((number, file));
                }
                number += 1;
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(source) => return Err(StoreError::io(dir, source)),
        }
    }
}

/// The open segment of a writer that is gone, locked; `None` while the writer lives or once it is sealed.
pub(super) fn take_over(dir: &Path, number: Number) -> io::Result<Option<File>> {
    let path = open_path(dir, number);
    let file = match fence::open_with(&path, File::options().read(true).write(true)) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    match file.try_lock() {
        // Another process may have sealed and removed the file between opening and locking it.
        Ok(()) => Ok(path.exists().then_some(file)),
        Err(fs::TryLockError::WouldBlock) => Ok(None),
        Err(fs::TryLockError::Error(error)) => Err(error),
    }
}

/// Compresses an open segment whose lock the caller holds. The open file stays; the caller removes it once
/// the index has the frames.
pub(super) fn compress_open(dir: &Path, number: Number, file: &mut File) -> io::Result<Vec<Frame>> {
    file.seek(SeekFrom::Start(0))?;
    let mut packed = Vec::new();
    let frames = pack_frames(file, &mut packed, PACKING, |_| {})?;
    let path = sealed_path(dir, number);
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    put_sealed(
        &open_path(dir, number).with_extension("tmp"),
        |out| out.write_all(&packed),
        |()| {
            // Before the segment gets its name, so that no sealed segment lacks its hash after a power cut.
            let mut hash = fence::create(hash_path(dir, number))?;
            hash.write_all(hash_line(&hex_sha256(&packed), name).as_bytes())?;
            hash.sync_all()?;
            Ok(path.clone())
        },
    )?;
    Ok(frames)
}

/// What stands beside a sealed segment: the format that `sha256sum --check` reads.
pub(super) fn hash_line(hash: &str, name: &str) -> String {
    format!("{hash}  {name}\n")
}

/// SHA-256 of bytes in hexadecimal.
fn hex_sha256(bytes: &[u8]) -> String {
    crate::request::Key::hash(bytes).to_string()
}

/// SHA-256 of a file in hexadecimal.
pub(super) fn hash_file(path: &Path) -> io::Result<String> {
    Ok(hex_sha256(&fence::read(path)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn segment_of(dir: &Path, bytes: &[u8]) -> (Number, File) {
        let (number, mut file) = create_next(dir, 1).unwrap();
        file.write_all(bytes).unwrap();
        (number, file)
    }

    #[test]
    fn a_torn_tail_is_cut_and_nothing_else() {
        for (bytes, kept) in [("a\nb\n", 4), ("a\nb", 2), ("torn", 0), ("", 0)] {
            let dir = tempfile::tempdir().unwrap();
            let (_, mut file) = segment_of(dir.path(), bytes.as_bytes());
            assert_eq!(cut_torn_tail(&mut file).unwrap(), kept, "{bytes:?}");
            assert_eq!(file.metadata().unwrap().len(), kept);
        }
        let dir = tempfile::tempdir().unwrap();
        let long = format!("line\n{}", "x".repeat(10_000));
        let (_, mut file) = segment_of(dir.path(), long.as_bytes());
        assert_eq!(cut_torn_tail(&mut file).unwrap(), 5);
    }

    #[test]
    fn a_segment_that_somebody_sealed_before_it_was_locked_is_left() {
        let dir = tempfile::tempdir().unwrap();
        let mut others = vec![1];
        let (number, mut file) = create_with(dir.path(), 1, || {
            // Opening a store seals what no writer holds.
            if let Some(number) = others.pop() {
                let mut abandoned = take_over(dir.path(), number).unwrap().unwrap();
                compress_open(dir.path(), number, &mut abandoned).unwrap();
                fs::remove_file(open_path(dir.path(), number)).unwrap();
            }
        })
        .unwrap();
        file.write_all(b"paid for\n").unwrap();
        assert_eq!(number, 2);
        assert_eq!(fs::read_to_string(open_path(dir.path(), number)).unwrap(), "paid for\n");
        assert_eq!(list_numbers(dir.path()).unwrap(), [(1, true), (2, false)]);
    }

    #[test]
    fn a_living_writers_segment_is_not_taken_over() {
        let dir = tempfile::tempdir().unwrap();
        let (number, file) = segment_of(dir.path(), b"a\n");
        assert!(take_over(dir.path(), number).unwrap().is_none());
        drop(file);
        assert!(take_over(dir.path(), number).unwrap().is_some());
        assert!(take_over(dir.path(), 99).unwrap().is_none());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]
        #[test]
        fn every_byte_of_a_sealed_segment_is_in_one_frame(lines in prop::collection::vec("[a-z弱智]{0,3000}", 0..60)) {
            let dir = tempfile::tempdir().unwrap();
            let raw: String = lines.iter().map(|line| format!("{line}\n")).collect();
            let (number, mut file) = segment_of(dir.path(), raw.as_bytes());
            let sealed = compress_open(dir.path(), number, &mut file).unwrap();
            let path = sealed_path(dir.path(), number);
            prop_assert_eq!(&read_frames(&path).unwrap(), &sealed);
            let mut packed = File::open(&path).unwrap();
            let whole: Vec<u8> = sealed.iter().flat_map(|&frame| read_frame(&mut packed, frame).unwrap()).collect();
            prop_assert_eq!(whole, raw.as_bytes());
            prop_assert!(fs::read_to_string(hash_path(dir.path(), number)).unwrap().starts_with(&hash_file(&path).unwrap()));
        }
    }
}
