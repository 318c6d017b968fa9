//! The files of a log: names and lists of segments, locks, torn ends, seals, reads and writes at a place, and what
//! is moved aside. Both formats of segments, that of this module and that of the paid replies, use these.

use std::fs::{DirEntry, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::LogError;
use crate::{Digest, fence};

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

/// The file of a sealed segment, in a format that has the hash of the lines in the name or in one that has not.
pub fn sealed_path(folder: &Path, number: u32, hash: Option<Digest>) -> PathBuf {
    let hash = hash.map_or(String::new(), |hash| format!("{hash}."));
    folder.join(format!("{}.{hash}jsonl.zst", format_number(number)))
}

/// A segment's file in its folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentFile {
    /// The segment's number.
    pub number: u32,
    /// The file.
    pub path: PathBuf,
    /// Whether it is compressed, and changes no more.
    pub is_sealed: bool,
    /// The hash of its lines, if it is in the name.
    pub hash: Option<Digest>,
}

/// What is in a folder of segments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// Its segments by number. Of the two files of one number that a stopped seal leaves, the sealed one is first.
    pub segments: Vec<SegmentFile>,
    /// Other files whose lines could be those of a log, by name.
    pub strangers: Vec<PathBuf>,
}

/// The files of a folder of segments; none if there is no folder. `has_hashes` says whether sealed ones have the
/// hash of their lines in their name.
///
/// # Errors
/// [`LogError::Io`] if the folder cannot be listed in its workspace.
pub fn list_segments(folder: &Path, has_hashes: bool) -> Result<Listing, LogError> {
    let mut listing = Listing::default();
    for entry in folder_entries(folder)? {
        let path = entry.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        // Of another spelling of a number, there is no file of the segment's own name.
        let known = SegmentName::parse(name)
            .filter(|name| name.is_exact && name.hash.is_some() == (name.is_sealed && has_hashes));
        let hash = known.and_then(|name| name.hash).map(str::parse).transpose();
        match (known, hash) {
            (Some(SegmentName { number, is_sealed, .. }), Ok(hash)) => {
                listing.segments.push(SegmentFile { number, path, is_sealed, hash });
            }
            _ if is_log(name) => listing.strangers.push(path),
            _ => {}
        }
    }
    listing.segments.sort_by_key(|segment| (segment.number, !segment.is_sealed));
    Ok(listing)
}

/// Whether a file's lines could be those of a log.
pub(super) fn is_log(name: &str) -> bool {
    name.ends_with(".jsonl") || name.ends_with(".jsonl.zst")
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
    if cut_after(file, end)? {
        file.sync_all()?;
    }
    Ok(end)
}

/// Cuts what follows the first `end` bytes. Returns whether there was any: truncating to the same length would also
/// count as a change, for which the next sync of any file would wait.
///
/// # Errors
/// If the file cannot be cut.
pub fn cut_after(file: &File, end: u64) -> io::Result<bool> {
    let is_longer = file.metadata()?.len() > end;
    if is_longer {
        file.set_len(end)?;
    }
    Ok(is_longer)
}

/// Writes bytes at a place of a file.
///
/// # Errors
/// If they cannot be written; then some of them may be.
pub fn write_at(file: &mut File, at: u64, bytes: &[u8]) -> io::Result<()> {
    file.seek(SeekFrom::Start(at))?;
    file.write_all(bytes)
}

/// What is wrong with a file that is shorter than was recorded.
pub fn describe_cut(left: u64, least: u64) -> String {
    format!("it was cut: {left} of at least {least} bytes are left")
}

/// What is wrong with a file that nothing lists.
pub fn describe_stray(why: &str) -> String {
    format!("riddlemill did not write it: {why}")
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

/// Removes a file, if there is one: the open copy of a segment that is sealed, whose lines are proved.
///
/// # Errors
/// If it cannot be removed in its workspace.
pub fn remove_if_there(path: &Path) -> io::Result<()> {
    match fence::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
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
    fn each_format_lists_its_own_names_and_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let hash = Digest::of_parts("test", [&b"lines"[..]]);
        let [with_hash, without] = [Some(hash), None].map(|hash| sealed_path(dir.path(), 2, hash));
        let one = open_path(dir.path(), 1);
        let others = ["1.jsonl", "000003.ab.jsonl.zst", "notes.jsonl", "lock", "000001.jsonl.zst.tmp"];
        let others = others.map(|name| dir.path().join(name));
        for path in [&with_hash, &without, &one, &open_path(dir.path(), 2)].into_iter().chain(&others) {
            std::fs::write(path, "").unwrap();
        }
        for (has_hashes, sealed, other) in [(true, &with_hash, &without), (false, &without, &with_hash)] {
            let listing = list_segments(dir.path(), has_hashes).unwrap();
            let hash = has_hashes.then_some(hash);
            let segment = |number, path: &Path, hash, is_sealed| SegmentFile {
                number,
                path: path.to_owned(),
                is_sealed,
                hash,
            };
            let open = open_path(dir.path(), 2);
            let own = [
                segment(1, &one, None, false),
                segment(2, sealed, hash, true),
                segment(2, &open, None, false),
            ];
            assert_eq!(listing.segments, own);
            let mut strangers = vec![other.clone()];
            strangers.extend(others[..3].iter().cloned());
            strangers.sort();
            assert_eq!(listing.strangers, strangers);
        }
        assert_eq!(list_segments(&dir.path().join("nowhere"), true).unwrap(), Listing::default());
    }

    #[test]
    fn what_is_written_at_a_place_replaces_the_rest_only_when_it_is_cut() {
        let mut file = tempfile::tempfile().unwrap();
        write_at(&mut file, 0, b"whole\ntorn line").unwrap();
        write_at(&mut file, 6, b"new\n").unwrap();
        assert!(cut_after(&file, 10).unwrap() && !cut_after(&file, 10).unwrap());
        let mut text = String::new();
        file.seek(SeekFrom::Start(0)).unwrap();
        file.read_to_string(&mut text).unwrap();
        assert_eq!(text, "whole\nnew\n");
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
