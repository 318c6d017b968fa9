//! A log in segments: a folder of files of which only the last is open.
//!
//! ```text
//! 000001.<hash>.jsonl.zst   sealed: compressed, the hash is that of the lines
//! 000002.jsonl              open
//! lock                      held while a process appends, seals or recovers
//! ```
//!
//! An append is on disk when it returns. A process that dies in the middle leaves a last line without its
//! end; readers ignore it, and the next append cuts it off. Nothing else is ever removed, except the open
//! file of a segment once its sealed copy is on disk. A log can be merged with one that diverged from it.

use std::io;
use std::path::{Path, PathBuf};

use rustc_hash::FxHashSet;

use super::chain::{Walk, split_chain};
use super::disk::{Listing, SegmentFile, describe_stray, format_number, list_segments, open_path, read_from};
use super::frames::{filled_lines, placed_lines};
use super::heads::{Head, Heads, Home, UNLISTED, prove_bytes};
use super::{Log, LogError, error};
use crate::{Digest, open_frames};

/// An open segment longer than this is sealed after the append.
const SEAL_BYTES: u64 = 64 << 20;

/// Context of the hashes of segments.
pub(super) const CONTEXT: &str = "riddlemill segment v1";

/// A reader's position.
#[derive(Clone, Copy, Debug, Default)]
pub struct Position {
    pub(super) segment: u32,
    pub(super) bytes: u64,
    /// The chain there; at the start of a segment, the segment's own.
    pub(super) walk: Option<Walk>,
}

/// A folder of segments.
#[derive(Clone, Debug)]
pub struct Segments {
    pub(super) dir: PathBuf,
    pub(super) home: Home,
    pub(super) seal_bytes: u64,
}

impl Segments {
    /// The segments in `dir`, which the first writer creates.
    pub fn in_folder(dir: impl Into<PathBuf>) -> Segments {
        let dir = dir.into();
        Segments { home: Home::of_folder(&dir), dir, seal_bytes: SEAL_BYTES }
    }

    #[cfg(test)]
    pub(crate) fn sealing_at(self, seal_bytes: u64) -> Segments {
        Segments { seal_bytes, ..self }
    }

    /// The complete lines of every segment, in order, each block with its file.
    pub fn read_lines(&self) -> Result<Vec<(PathBuf, Vec<u8>)>, LogError> {
        self.read_after(&mut Position::default())
    }

    /// The complete lines after `position`, which is moved to their end. From the beginning, the whole log is
    /// verified; from elsewhere, that the new lines follow from those read before.
    pub fn read_after(&self, position: &mut Position) -> Result<Vec<(PathBuf, Vec<u8>)>, LogError> {
        // A segment may be sealed by another process between listing and reading; then list again.
        for _ in 0..4 {
            let mut end = *position;
            match self.try_read_after(&mut end) {
                Err(LogError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {}
                Err(other) => return Err(other),
                Ok(chunks) => {
                    *position = end;
                    return Ok(chunks);
                }
            }
        }
        self.try_read_after(position)
    }

    fn try_read_after(&self, position: &mut Position) -> Result<Vec<(PathBuf, Vec<u8>)>, LogError> {
        let from_start = position.segment == 0;
        if from_start && error::of_segments(&self.dir).exists() {
            return Err(LogError::damaged_file(&self.dir, error::STOPPED));
        }
        // The heads first: a log that grows meanwhile is longer than they state.
        let heads = if from_start { self.read_heads()? } else { Heads::default() };
        let mut chunks = Vec::new();
        let listed = self.list_segments()?;
        if !heads.is_empty() {
            self.prove_list(&listed, &heads)?;
        }
        let mut is_chained = false;
        for SegmentFile { number, path, hash, .. } in listed {
            if number < position.segment {
                continue;
            }
            let is_here = number == position.segment;
            let skip = if is_here { position.bytes } else { 0 };
            let walk = position.walk.filter(|_| is_here).unwrap_or_else(|| self.start_walk(number));
            let head = heads.get(&self.segment_name(number)).filter(|head| !head.gone);
            let lines = match hash {
                None => {
                    let bytes = read_from(&path, skip).map_err(LogError::io(&path, "read"))?;
                    let proved = prove_bytes(&path, &bytes, skip, walk, head)?;
                    is_chained |= proved.walk.is_chained();
                    let (bytes, walk) = (skip + proved.end, Some(proved.walk));
                    *position = Position { segment: number, bytes, walk };
                    proved.lines
                }
                Some(hash) => {
                    let lines = sealed_lines(&path, hash)?;
                    let last = lines.strip_suffix(b"\n").and_then(|l| l.rsplit(|&b| b == b'\n').next());
                    is_chained |= last.is_some_and(|last| split_chain(last).1.is_some());
                    // Sealed under the hash in its head, so its lines are those that were written.
                    let known = head.is_some_and(|head| head.sealed.as_deref() == Some(&hash.to_string()));
                    let bare = match head {
                        Some(head) if !known => {
                            prove_bytes(&path, &lines, 0, self.start_walk(number), Some(head))?.lines
                        }
                        // A reader may have read its first lines while it was open.
                        _ => bare_lines(&lines[lines.len().min(skip as usize)..]),
                    };
                    // A sealed segment never grows, so the reader continues with the next one.
                    *position = Position { segment: number + 1, bytes: 0, walk: None };
                    bare
                }
            };
            if !lines.is_empty() {
                chunks.push((path, lines));
            }
        }
        // A log begun while it was read has heads by now.
        if from_start && is_chained && heads.is_empty() && self.read_heads()?.is_empty() {
            return Err(LogError::damaged_file(&self.dir, UNLISTED));
        }
        Ok(chunks)
    }

    /// The heads of this log's segments.
    pub(super) fn read_heads(&self) -> Result<Heads, LogError> {
        let mut heads = self.home.read_heads()?;
        let folder = self.home.name_in_raw(&self.dir);
        heads.retain(|file, _| {
            // Files of lines in folders below have heads too, but their names are not numbers.
            let name = match folder.is_empty() {
                true => Some(&**file),
                false => file.strip_prefix(&*folder).and_then(|rest| rest.strip_prefix('/')),
            };
            name.is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
        });
        Ok(heads)
    }

    /// Checks that every segment with a head exists, and no other: the first head precedes the first line.
    fn prove_list(&self, listed: &[SegmentFile], heads: &Heads) -> Result<(), LogError> {
        for SegmentFile { number, path, hash, .. } in listed {
            let sealed = hash.map(|hash| hash.to_string());
            let what = match heads.get(&self.segment_name(*number)).filter(|head| !head.gone) {
                None => return Err(self.refuse_stray(path, "raw/heads.jsonl does not list it")),
                Some(Head { sealed: Some(hash), .. }) if sealed.as_ref() != Some(hash) => {
                    format!("what was sealed has the hash {hash}")
                }
                Some(_) => continue,
            };
            return Err(LogError::damaged_file(path, what));
        }
        let is_missing = |head: &&Head| {
            head.needs_file() && listed.iter().all(|segment| self.segment_name(segment.number) != head.file)
        };
        match heads.values().filter(is_missing).map(|head| &head.file).min() {
            None => Ok(()),
            Some(file) => Err(LogError::damaged_file(&self.home.0.join(file), "a segment is missing")),
        }
    }

    /// The segments by number. If a crash left both forms of one, the sealed one counts.
    pub(super) fn list_segments(&self) -> Result<Vec<SegmentFile>, LogError> {
        let Listing { mut segments, strangers } = self.list_files()?;
        // Files that look like segments are not ignored; `fsck` reports any others.
        if let Some(path) = strangers.first() {
            return Err(self.refuse_stray(path, "no segment has such a name"));
        }
        for pair in segments.windows(2) {
            if pair[0].number == pair[1].number && pair[0].is_sealed && pair[1].is_sealed {
                return Err(LogError::damaged_file(&pair[1].path, "two segments have its number"));
            }
        }
        segments.dedup_by_key(|segment| segment.number);
        Ok(segments)
    }

    fn list_files(&self) -> Result<Listing, LogError> {
        let mut listing = list_segments(&self.dir, true)?;
        // A log outside of any raw/ has its heads among its segments.
        listing.strangers.retain(|path| *path != self.home.heads_path());
        Ok(listing)
    }

    /// The error for a file that no head names.
    fn refuse_stray(&self, path: &Path, why: &str) -> LogError {
        let is_foreign = self.find_foreign().is_ok_and(|foreign| foreign.iter().any(|file| file == path));
        LogError::Damaged { path: path.to_owned(), what: describe_stray(why), is_foreign }
    }

    /// The files among the segments that nobody wrote: no head names them, none of their lines has a chain, and every
    /// segment that has a head is there, so that none of them is one under another name.
    ///
    /// # Errors
    /// [`LogError`] if the folder, the heads or a file cannot be read.
    pub(super) fn find_foreign(&self) -> Result<Vec<PathBuf>, LogError> {
        let (heads, Listing { segments, strangers }) = (self.read_heads()?, self.list_files()?);
        let (mut foreign, mut there) = (strangers, FxHashSet::default());
        for segment in segments {
            let file = self.segment_name(segment.number);
            match heads.get(&file).is_some_and(|head| !head.gone) {
                true => drop(there.insert(file)),
                false => foreign.push(segment.path),
            }
        }
        // A link or a pipe in its place has no lines that could be read.
        foreign.retain(|path| {
            path.extension().is_some_and(|extension| extension == "jsonl")
                && !read_from(path, 0).is_ok_and(|bytes| has_chain(&bytes))
        });
        foreign.sort();
        let is_missing = |head: &Head| head.needs_file() && !there.contains(&head.file);
        let is_whole = heads.values().any(|head| !head.gone) && !heads.values().any(is_missing);
        Ok(if is_whole { foreign } else { Vec::new() })
    }

    /// A segment's name in the heads.
    pub(super) fn segment_name(&self, number: u32) -> String {
        self.home.name_in_raw(&self.dir.join(format_number(number)))
    }

    pub(super) fn start_walk(&self, number: u32) -> Walk {
        Walk::start_walk(&self.segment_name(number))
    }

    pub(super) fn segment_path(&self, number: u32) -> PathBuf {
        open_path(&self.dir, number)
    }
}

fn has_chain(lines: &[u8]) -> bool {
    filled_lines(lines).any(|line| split_chain(line).1.is_some())
}

/// The lines of a sealed segment, which have the hash in its name.
pub(super) fn sealed_lines(path: &Path, hash: Digest) -> Result<Vec<u8>, LogError> {
    let packed = open_frames(path).map_err(LogError::io(path, "open"))?;
    let lines = packed.read_whole().map_err(|e| LogError::damaged_file(path, e.to_string()))?;
    match Digest::of_parts(CONTEXT, [&*lines]) == hash {
        true => Ok(lines),
        false => Err(LogError::damaged_file(path, "the lines do not have the hash in its name")),
    }
}

/// Lines without their chains.
fn bare_lines(lines: &[u8]) -> Vec<u8> {
    let mut bare = Vec::with_capacity(lines.len());
    for (_, line) in placed_lines(lines) {
        let Some(line) = line.strip_suffix(b"\n") else { break };
        bare.extend_from_slice(&split_chain(line).0);
        bare.push(b'\n');
    }
    bare
}

impl Log {
    /// Appends the lines of `other` that this log does not have, in order. Returns the new ones; `only_look`
    /// stores none.
    ///
    /// # Errors
    /// [`LogError`] if either is damaged, or this one cannot be written; then none is stored.
    pub fn merge_log(&self, other: &Log, only_look: bool) -> Result<Vec<Vec<u8>>, LogError> {
        let mut known: FxHashSet<Vec<u8>> = filled_lines(&self.read_lines()?).map(<[u8]>::to_vec).collect();
        let mut new: Vec<Vec<u8>> = filled_lines(&other.read_lines()?).map(<[u8]>::to_vec).collect();
        new.retain(|line| known.insert(line.clone()));
        if !new.is_empty() && !only_look {
            let mut bytes = new.join(&b'\n');
            bytes.push(b'\n');
            self.append_lines(&bytes)?;
        }
        Ok(new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_added_elsewhere_is_taken_over_once() {
        let dir = tempfile::tempdir().unwrap();
        let [here, there] = ["here", "there"].map(|name| {
            let log = Log::in_file(dir.path().join(name).join("raw/tasks.jsonl"));
            log.append_lines(b"{\"n\":1}\n").unwrap();
            log
        });
        here.append_lines(b"{\"n\":2}\n").unwrap();
        there.append_lines(b"{\"n\":3}\n{\"n\":4}\n").unwrap();
        assert_eq!(here.merge_log(&there, true).unwrap().len(), 2);
        assert_eq!(here.read_lines().unwrap(), b"{\"n\":1}\n{\"n\":2}\n", "a look stores nothing");
        assert_eq!(here.merge_log(&there, false).unwrap(), [b"{\"n\":3}".to_vec(), b"{\"n\":4}".to_vec()]);
        assert!(here.merge_log(&there, false).unwrap().is_empty());
        assert_eq!(here.read_lines().unwrap(), b"{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n{\"n\":4}\n");
        assert!(here.merge_log(&Log::in_file(dir.path().join("nowhere.jsonl")), false).unwrap().is_empty());
    }
}
