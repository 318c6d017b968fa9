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
//! file of a segment once its sealed copy is on disk.

use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::LogError;
use super::chain::{Walk, split};
use super::heads::{HEADS, Head, Heads, Home, is_whole};
use super::stopped;
use crate::fence;
use crate::{Digest, unpack};

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

/// Complete lines of one segment, as added.
pub struct Chunk {
    pub path: PathBuf,
    pub lines: Vec<u8>,
}

/// A folder of segments.
#[derive(Clone, Debug)]
pub struct Segments {
    pub(super) dir: PathBuf,
    pub(super) home: Home,
    pub(super) seal_bytes: u64,
}

pub(super) enum Segment {
    Open(PathBuf),
    Sealed(PathBuf, Digest),
}

impl Segments {
    /// The segments in `dir`, which the first writer creates.
    pub fn at(dir: impl Into<PathBuf>) -> Segments {
        let dir = dir.into();
        Segments { home: Home::of_folder(&dir), dir, seal_bytes: SEAL_BYTES }
    }

    #[cfg(test)]
    pub(crate) fn sealing_at(self, seal_bytes: u64) -> Segments {
        Segments { seal_bytes, ..self }
    }

    /// The complete lines of every segment, in order, each block with its file.
    pub fn lines(&self) -> Result<Vec<(PathBuf, Vec<u8>)>, LogError> {
        let chunks = self.read_after(&mut Position::default())?;
        Ok(chunks.into_iter().map(|chunk| (chunk.path, chunk.lines)).collect())
    }

    /// The complete lines after `position`, which is moved to their end. From the beginning, the whole log is
    /// verified; from elsewhere, that the new lines follow from those read before.
    pub fn read_after(&self, position: &mut Position) -> Result<Vec<Chunk>, LogError> {
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

    fn try_read_after(&self, position: &mut Position) -> Result<Vec<Chunk>, LogError> {
        let from_start = position.segment == 0;
        if from_start && stopped::of_segments(&self.dir).exists() {
            return Err(LogError::damaged(&self.dir, stopped::STOPPED));
        }
        // The heads first: a log that grows meanwhile is longer than they state.
        let heads = if from_start { self.heads()? } else { Heads::default() };
        let mut chunks = Vec::new();
        let listed = self.list()?;
        if !heads.is_empty() {
            self.prove_list(&listed, &heads)?;
        }
        let mut is_chained = false;
        for (number, segment) in listed {
            if number < position.segment {
                continue;
            }
            let is_here = number == position.segment;
            let skip = if is_here { position.bytes } else { 0 };
            let walk = position.walk.filter(|_| is_here).unwrap_or_else(|| self.start(number));
            let head = heads.get(&self.name(number)).filter(|head| !head.gone);
            let (path, lines) = match segment {
                Segment::Open(path) => {
                    let mut bytes = Vec::new();
                    let mut file = fence::open(&path).map_err(LogError::io(&path, "open"))?;
                    file.seek(SeekFrom::Start(skip)).map_err(LogError::io(&path, "read"))?;
                    file.read_to_end(&mut bytes).map_err(LogError::io(&path, "read"))?;
                    let (lines, walk, end) = prove(&path, &bytes, skip, walk, head)?;
                    is_chained |= walk.is_chained();
                    *position = Position { segment: number, bytes: skip + end, walk: Some(walk) };
                    (path, lines)
                }
                Segment::Sealed(path, hash) => {
                    let lines = sealed_lines(&path)?;
                    if hash_of(&lines) != hash {
                        return Err(LogError::damaged(&path, "the lines do not have the hash in its name"));
                    }
                    let last = lines.strip_suffix(b"\n").and_then(|l| l.rsplit(|&b| b == b'\n').next());
                    is_chained |= last.is_some_and(|last| split(last).1.is_some());
                    // Sealed under the hash in its head, so its lines are those that were written.
                    let known = head.is_some_and(|head| head.sealed.as_deref() == Some(&hash.to_string()));
                    let bare = match head {
                        Some(head) if !known => prove(&path, &lines, 0, self.start(number), Some(head))?.0,
                        // A reader may have read its first lines while it was open.
                        _ => bare(&lines[lines.len().min(skip as usize)..]),
                    };
                    // A sealed segment never grows, so the reader continues with the next one.
                    *position = Position { segment: number + 1, bytes: 0, walk: None };
                    (path, bare)
                }
            };
            if !lines.is_empty() {
                chunks.push(Chunk { path, lines });
            }
        }
        // A log begun while it was read has heads by now.
        if from_start && is_chained && heads.is_empty() && self.heads()?.is_empty() {
            return Err(LogError::damaged(
                &self.dir,
                "raw/heads.jsonl no longer lists it, or something else put it here",
            ));
        }
        Ok(chunks)
    }

    /// The heads of this log's segments.
    pub(super) fn heads(&self) -> Result<Heads, LogError> {
        let mut heads = self.home.read()?;
        let folder = self.home.name(&self.dir);
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
    fn prove_list(&self, listed: &[(u32, Segment)], heads: &Heads) -> Result<(), LogError> {
        let known = |number: u32| heads.get(&self.name(number)).filter(|head| !head.gone);
        for (number, segment) in listed {
            let (path, sealed) = match segment {
                Segment::Open(path) => (path, None),
                Segment::Sealed(path, hash) => (path, Some(hash.to_string())),
            };
            match known(*number) {
                None => {
                    return Err(LogError::damaged(
                        path,
                        "riddlemill did not write it: raw/heads.jsonl does not list it",
                    ));
                }
                Some(head) => match &head.sealed {
                    Some(_) if head.sealed == sealed => {}
                    Some(hash) => {
                        return Err(LogError::damaged(path, format!("what was sealed has the hash {hash}")));
                    }
                    None => {}
                },
            }
        }
        let missing = heads.values().filter(|head| head.needs_file());
        let mut missing: Vec<&str> = missing
            .map(|head| head.file.as_str())
            .filter(|file| listed.iter().all(|(number, _)| self.name(*number) != *file))
            .collect();
        missing.sort_unstable();
        match missing.first() {
            None => Ok(()),
            Some(file) => Err(LogError::damaged(&self.home.0.join(file), "a segment is missing")),
        }
    }

    /// The segments by number. If a crash left both forms of one, the sealed one counts.
    pub(super) fn list(&self) -> Result<Vec<(u32, Segment)>, LogError> {
        let mut segments: Vec<(u32, Segment)> = Vec::new();
        let entries = match fence::list(&self.dir) {
            Ok(entries) => entries,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(segments),
            Err(e) => return Err(LogError::io(&self.dir, "list")(e)),
        };
        for entry in entries {
            let path = entry.map_err(LogError::io(&self.dir, "list"))?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            // A log outside of any raw/ has its heads among its segments.
            if name == HEADS && self.home.0 == self.dir {
                continue;
            }
            let parts: Vec<&str> = name.split('.').collect();
            let segment = match parts[..] {
                [number, "jsonl"] => number.parse().ok().map(|n| (n, Segment::Open(path.clone()))),
                [number, hash, "jsonl", "zst"] => number
                    .parse()
                    .ok()
                    .zip(hash.parse().ok())
                    .map(|(n, hash)| (n, Segment::Sealed(path.clone(), hash))),
                _ => None,
            };
            let Some((number, segment)) = segment else {
                // Files that look like segments are not ignored; `fsck` reports any others.
                if name.ends_with(".jsonl") || name.ends_with(".jsonl.zst") {
                    return Err(LogError::damaged(
                        &path,
                        "riddlemill did not write it: no segment has such a name",
                    ));
                }
                continue;
            };
            // `1` and `000001` are the same number, and two files must not have one.
            if parts[0] != numbered(number) {
                return Err(LogError::damaged(
                    &path,
                    "riddlemill did not write it: no segment has such a name",
                ));
            }
            segments.push((number, segment));
        }
        // Sealed before open, so that the open copy is the one that is dropped below.
        segments.sort_by_key(|(number, segment)| (*number, matches!(segment, Segment::Open(_))));
        for pair in segments.windows(2) {
            if let [(one, Segment::Sealed(..)), (other, Segment::Sealed(path, _))] = pair
                && one == other
            {
                return Err(LogError::damaged(path, "two segments have its number"));
            }
        }
        segments.dedup_by_key(|(number, _)| *number);
        Ok(segments)
    }

    /// A segment's name in the heads.
    pub(super) fn name(&self, number: u32) -> String {
        self.home.name(&self.dir.join(numbered(number)))
    }

    pub(super) fn start(&self, number: u32) -> Walk {
        Walk::start(&self.name(number))
    }

    pub(super) fn path(&self, number: u32) -> PathBuf {
        self.dir.join(format!("{}.jsonl", numbered(number)))
    }
}

/// The lines of a sealed segment.
pub(super) fn sealed_lines(path: &Path) -> Result<Vec<u8>, LogError> {
    let packed = unpack(path).map_err(LogError::io(path, "open"))?;
    packed.all().map_err(|e| LogError::damaged(path, e.to_string()))
}

pub(super) fn numbered(number: u32) -> String {
    format!("{number:06}")
}

/// Lines as added, with the chain after them, and the end of the last one.
pub(super) fn prove(
    path: &Path,
    bytes: &[u8],
    skip: u64,
    mut walk: Walk,
    head: Option<&Head>,
) -> Result<(Vec<u8>, Walk, u64), LogError> {
    let (mut lines, mut end) = (Vec::with_capacity(bytes.len()), 0);
    let mut reached = head.is_none_or(|head| head.bytes <= skip);
    for (at, line) in bytes.split_inclusive(|&byte| byte == b'\n').enumerate() {
        let (line, ended) = match line.strip_suffix(b"\n") {
            Some(line) => (line, true),
            None if is_whole(line) => (line, false),
            None => break,
        };
        let bare = walk
            .step(line)
            .map_err(|what| LogError::damaged(path, format!("line {} after byte {skip}: {what}", at + 1)))?;
        if !bare.is_empty() {
            lines.extend_from_slice(&bare);
            lines.push(b'\n');
        }
        end += line.len() as u64 + u64::from(ended);
        if let Some(head) = head.filter(|head| head.bytes == skip + end + u64::from(!ended)) {
            if head.at != walk.chain {
                let what = format!("its first {} bytes are not those that were written", head.bytes);
                return Err(LogError::damaged(path, what));
            }
            reached = true;
        }
    }
    match head {
        Some(head) if !reached => {
            let what = format!("it was cut: {} of at least {} bytes are left", bytes.len(), head.bytes);
            Err(LogError::damaged(path, what))
        }
        _ => Ok((lines, walk, end)),
    }
}

/// Lines without their chains.
fn bare(lines: &[u8]) -> Vec<u8> {
    let mut bare = Vec::with_capacity(lines.len());
    for line in lines.split_inclusive(|&byte| byte == b'\n') {
        let Some(line) = line.strip_suffix(b"\n") else { break };
        bare.extend_from_slice(&split(line).0);
        bare.push(b'\n');
    }
    bare
}

pub(super) fn hash_of(lines: &[u8]) -> Digest {
    Digest::of_parts(CONTEXT, [lines])
}
