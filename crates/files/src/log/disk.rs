//! The files of a log: names of segments, locks, torn ends, seals, reads from a place, and what is moved
//! aside. Both formats of segments, that of this module and that of the paid replies, use these.

use std::fs::{DirEntry, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::LogError;
use crate::fence;

/// The name of a segment's file: `000001.jsonl` while it is open, afterwards `000001.jsonl.zst` or, with the hash of
/// its lines, `000001.<hash>.jsonl.zst`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentName<'n> {
    /// With what it begins; never used twice.
    pub number: u32,
    /// What stands between the number and the ending.
    pub hash: Option<&'n str>,
    /// Whether it is compressed, and changes no more.
    pub is_sealed: bool,
    /// Whether the number is written as a writer does: `1` and `000001` are one number.
    pub is_exact: bool,
}

impl<'n> SegmentName<'n> {
    /// The parts of a file's name; `None` for other files.
    pub fn parse(name: &'n str) -> Option<SegmentName<'n>> {
        let (text, rest) = name.split_once('.')?;
        let number = text.parse().ok()?;
        let (hash, is_sealed) = match rest {
            "jsonl" => (None, false),
            "jsonl.zst" => (None, true),
            rest => (Some(rest.strip_suffix(".jsonl.zst")?), true),
        };
        Some(SegmentName { number, hash, is_sealed, is_exact: text == format_number(number) })
    }
}

/// A segment's number as in its file's name.
pub(super) fn format_number(number: u32) -> String {
    format!("{number:06}")
}

/// The file of an open segment.
pub fn open_path(folder: &Path, number: u32) -> PathBuf {
    folder.join(format!("{}.jsonl", format_number(number)))
}

/// A file, created if it is missing, with its lock, which is held until it is dropped or the process ends. Waits
/// for other holders.
///
/// # Errors
/// If it cannot be opened in its workspace, or locked.
pub fn open_locked(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let file = fence::open_with(path, options.write(true).create(true).truncate(false))?;
    file.lock()?;
    Ok(file)
}

/// The end of the last complete line of a file, and that line without its line end.
pub(super) fn last_line(file: &mut File) -> io::Result<(u64, Option<Vec<u8>>)> {
    let length = file.seek(SeekFrom::End(0))?;
    let mut take = 4096;
    loop {
        let start = length.saturating_sub(take);
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(start))?;
        (&mut *file).take(length - start).read_to_end(&mut bytes)?;
        let newline = |bytes: &[u8]| bytes.iter().rposition(|&byte| byte == b'\n');
        if let Some(end) = newline(&bytes) {
            let begin = newline(&bytes[..end]).map(|at| at + 1);
            match begin {
                _ if end == 0 && start == 0 => return Ok((1, None)),
                Some(begin) => return Ok((start + end as u64 + 1, Some(bytes[begin..end].to_vec()))),
                None if start == 0 => return Ok((end as u64 + 1, Some(bytes[..end].to_vec()))),
                None => {}
            }
        } else if start == 0 {
            return Ok((0, None));
        }
        // A line can be longer than any fixed piece.
        take *= 16;
    }
}

/// Cuts what follows the last newline. Returns the remaining length.
///
/// # Errors
/// If the file cannot be read or cut.
pub fn cut_torn_tail(file: &mut File) -> io::Result<u64> {
    let (end, _) = last_line(file)?;
    if end < file.metadata()?.len() {
        file.set_len(end)?;
        file.sync_all()?;
    }
    Ok(end)
}

/// What follows the first `at` bytes of a file.
///
/// # Errors
/// If it cannot be opened in its workspace, or read.
pub fn read_from(path: &Path, at: u64) -> io::Result<Vec<u8>> {
    let mut file = fence::open(path)?;
    file.seek(SeekFrom::Start(at))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Writes a sealed segment. `pack` fills the file `partial`, which no reader takes for a segment; `name` says,
/// once that is on disk, under which name it counts. At every moment a whole copy of the lines is on disk: the
/// caller removes the open file afterwards.
///
/// # Errors
/// If something cannot be written; then there is neither file.
pub fn put_sealed<T>(
    partial: &Path,
    pack: impl FnOnce(&mut File) -> io::Result<T>,
    name: impl FnOnce(&T) -> io::Result<PathBuf>,
) -> io::Result<T> {
    let sealed = fence::create(partial).and_then(|mut file| {
        let packed = pack(&mut file)?;
        file.sync_all()?;
        let path = name(&packed)?;
        fence::rename(partial, &path)?;
        path.parent().map_or(Ok(()), sync_names)?;
        Ok(packed)
    });
    if sealed.is_err() {
        // On a full disk the partial file would take space that is needed next.
        let _ = fence::remove_file(partial);
    }
    sealed
}

/// Makes new names in a folder survive a power cut, if the system can.
///
/// # Errors
/// If the folder cannot be opened or synced.
pub fn sync_names(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// [`sync_names`] with the error of a log.
pub(super) fn sync_folder(folder: &Path) -> Result<(), LogError> {
    sync_names(folder).map_err(LogError::io(folder, "sync"))
}

/// The entries of a folder, by name; none if there is no folder.
pub(super) fn folder_entries(folder: &Path) -> Result<Vec<DirEntry>, LogError> {
    let listed = match fence::list(folder) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        listed => listed.and_then(Iterator::collect::<io::Result<Vec<_>>>),
    };
    let mut entries = listed.map_err(LogError::io(folder, "list"))?;
    // File systems list their entries in any order.
    entries.sort_by_key(DirEntry::file_name);
    Ok(entries)
}

/// The first folder `damaged/NNN` of raw/ in which there is no `below` yet: nothing that was moved aside earlier is
/// ever overwritten.
pub fn free_folder(raw: &Path, below: &Path) -> PathBuf {
    let damaged = raw.join("damaged");
    let mut numbers = (1u32..).map(|n| damaged.join(format!("{n:03}")));
    numbers.find(|folder| !folder.join(below).exists()).unwrap_or(damaged)
}

/// Moves a damaged file aside and syncs both folders; false if there is none.
///
/// # Errors
/// [`LogError::Io`] if it cannot be moved within its workspace.
pub fn move_aside(from: &Path, to: &Path) -> Result<bool, LogError> {
    if let Some(folder) = to.parent() {
        fence::create_folder(folder).map_err(LogError::io(folder, "create"))?;
    }
    match fence::rename(from, to) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(false),
        renamed => renamed.map_err(LogError::io(from, "move aside"))?,
    }
    [from, to].into_iter().filter_map(Path::parent).try_for_each(sync_folder)?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_segments_are_taken_apart() {
        let name = |number, hash, is_sealed, is_exact| SegmentName { number, hash, is_sealed, is_exact };
        for (text, parts) in [
            ("000001.jsonl", Some(name(1, None, false, true))),
            ("1.jsonl", Some(name(1, None, false, false))),
            ("000012.jsonl.zst", Some(name(12, None, true, true))),
            ("000012.ab.jsonl.zst", Some(name(12, Some("ab"), true, true))),
            ("1234567.jsonl", Some(name(1_234_567, None, false, true))),
            ("000001.jsonl.zst.tmp", None),
            ("000001.jsonl.zst.sha256", None),
            ("segments.jsonl", None),
            ("lock", None),
        ] {
            assert_eq!(SegmentName::parse(text), parts, "{text}");
        }
    }

    #[test]
    fn the_last_whole_line_is_found_whatever_its_length() {
        for length in [0, 1, 4094, 4095, 4096, 4097, 70_000, 1_100_000] {
            for torn in ["", "torn"] {
                let dir = tempfile::tempdir().unwrap();
                let path = dir.path().join("lines");
                let last = "x".repeat(length);
                std::fs::write(&path, format!("first\n{last}\n{torn}")).unwrap();
                let mut file = File::options().read(true).write(true).open(&path).unwrap();
                let end = 7 + length as u64;
                assert_eq!(last_line(&mut file).unwrap(), (end, Some(last.into_bytes())), "{length}");
                assert_eq!(cut_torn_tail(&mut file).unwrap(), end);
                assert_eq!(std::fs::metadata(&path).unwrap().len(), end);
                assert_eq!(read_from(&path, end - 1).unwrap(), b"\n");
            }
        }
    }

    #[test]
    fn a_seal_that_fails_leaves_neither_file() {
        let dir = tempfile::tempdir().unwrap();
        let [partial, sealed] = ["000001.tmp", "000001.jsonl.zst"].map(|name| dir.path().join(name));
        let full = |_: &mut File| Err::<(), _>(io::Error::from(io::ErrorKind::StorageFull));
        assert!(put_sealed(&partial, full, |()| Ok(sealed.clone())).is_err());
        assert!(!partial.exists() && !sealed.exists());
        put_sealed(&partial, |file| io::Write::write_all(file, b"packed"), |()| Ok(sealed.clone())).unwrap();
        assert!(!partial.exists() && std::fs::read(sealed).unwrap() == b"packed");
    }
}
