//! A log in segments: a folder of files of which only the last is open.
//!
//! ```text
//! 000001.<hash>.jsonl.zst   sealed: compressed, the hash is that of the lines
//! 000002.jsonl              open
//! lock                      held while a process appends, seals or recovers
//! ```
//!
//! An append is on disk when it returns. A process that dies in the middle leaves a last line
//! without its end; the next append cuts that off, and readers never look at it. Nothing else is
//! ever removed, but the open file of a segment once its sealed twin is on disk.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::LogError;
use super::chain::{Walk, split};
use super::file::sync_folder;
use super::heads::{Head, Heads, Home, is_whole, last_line};
use crate::review::digest::{Digest, Digester};

/// An open segment of more bytes than this is sealed after the append that makes it so long.
const SEAL_BYTES: u64 = 64 << 20;

/// What hashes of segments begin with.
const CONTEXT: &str = "riddlemill segment v1";

/// Bytes that one core compresses at a time.
const FRAME_BYTES: usize = 8 << 20;

/// How far a reader has come.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Position {
    segment: u32,
    bytes: u64,
    /// The chain there; of a segment that is not begun it is the segment's own.
    walk: Option<Walk>,
}

/// Complete lines of one segment as they were added.
pub(crate) struct Chunk {
    pub(crate) path: PathBuf,
    pub(crate) lines: Vec<u8>,
}

/// A folder of segments.
#[derive(Clone, Debug)]
pub struct Segments {
    dir: PathBuf,
    home: Home,
    seal_bytes: u64,
}

/// Held by the one process that may write; released when dropped.
pub(crate) struct Writer<'s> {
    segments: &'s Segments,
    _lock: File,
}

pub(super) enum Segment {
    Open(PathBuf),
    Sealed(PathBuf, Digest),
}

impl Segments {
    /// The segments in `dir`, which whoever writes first makes.
    pub fn at(dir: impl Into<PathBuf>) -> Segments {
        let dir = dir.into();
        Segments { home: Home::of(&dir), dir, seal_bytes: SEAL_BYTES }
    }

    #[cfg(test)]
    pub(crate) fn sealing_at(self, seal_bytes: u64) -> Segments {
        Segments { seal_bytes, ..self }
    }

    /// The complete lines of every segment, in order, each block with the file that it stands in.
    pub(crate) fn lines(&self) -> Result<Vec<(PathBuf, Vec<u8>)>, LogError> {
        let chunks = self.read_after(&mut Position::default())?;
        Ok(chunks.into_iter().map(|chunk| (chunk.path, chunk.lines)).collect())
    }

    /// Waits for other writers, then cuts a torn tail off.
    pub(crate) fn writer(&self) -> Result<Writer<'_>, LogError> {
        fs::create_dir_all(&self.dir).map_err(LogError::io(&self.dir, "create"))?;
        let path = self.dir.join("lock");
        let lock = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
        let lock = lock.map_err(LogError::io(&path, "open"))?;
        lock.lock().map_err(LogError::io(&path, "lock"))?;
        let writer = Writer { segments: self, _lock: lock };
        writer.recover()?;
        Ok(writer)
    }

    /// The complete lines after `position`, and moves it to their end. From the beginning, all of the log is proved;
    /// from elsewhere, that what is new follows from what was read.
    pub(crate) fn read_after(&self, position: &mut Position) -> Result<Vec<Chunk>, LogError> {
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
        // The heads first: a log that grows meanwhile is longer than they say.
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
                    let mut file = File::open(&path).map_err(LogError::io(&path, "open"))?;
                    file.seek(SeekFrom::Start(skip)).map_err(LogError::io(&path, "read"))?;
                    file.read_to_end(&mut bytes).map_err(LogError::io(&path, "read"))?;
                    let (lines, walk, end) = prove(&path, &bytes, skip, walk, head)?;
                    is_chained |= walk.is_chained();
                    *position = Position { segment: number, bytes: skip + end, walk: Some(walk) };
                    (path, lines)
                }
                Segment::Sealed(path, hash) => {
                    let file = File::open(&path).map_err(LogError::io(&path, "open"))?;
                    let lines =
                        zstd::decode_all(file).map_err(|e| LogError::damaged(&path, e.to_string()))?;
                    if hash_of(&lines) != hash {
                        return Err(LogError::damaged(&path, "the lines do not have the hash in its name"));
                    }
                    let last = lines.strip_suffix(b"\n").and_then(|l| l.rsplit(|&b| b == b'\n').next());
                    is_chained |= last.is_some_and(|last| split(last).1.is_some());
                    // Sealed under a hash that its head names, its lines are those that were written.
                    let known = head.is_some_and(|head| head.sealed.as_deref() == Some(&hash.to_string()));
                    let bare = match head {
                        Some(head) if !known => prove(&path, &lines, 0, self.start(number), Some(head))?.0,
                        _ => bare(&lines[lines.len().min(skip as usize)..]),
                    };
                    *position = Position { segment: number + 1, bytes: 0, walk: None };
                    (path, bare)
                }
            };
            if !lines.is_empty() {
                chunks.push(Chunk { path, lines });
            }
        }
        // What was begun while it was read has heads by now.
        if from_start && is_chained && heads.is_empty() && self.heads()?.is_empty() {
            return Err(LogError::damaged(
                &self.dir,
                "raw/heads.jsonl does not know it any more, or it was put here",
            ));
        }
        Ok(chunks)
    }

    /// The heads of this log's segments.
    fn heads(&self) -> Result<Heads, LogError> {
        let mut heads = self.home.read()?;
        let folder = self.home.name(&self.dir);
        heads.retain(|file, _| {
            let name = match folder.is_empty() {
                true => Some(&**file),
                false => file.strip_prefix(&*folder).and_then(|rest| rest.strip_prefix('/')),
            };
            name.is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
        });
        Ok(heads)
    }

    /// Whether there is every segment that has a head, and no other: the first head comes before the first line.
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
                        "nobody wrote it here: raw/heads.jsonl does not name it",
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

    /// The segments by number. Where a crash left both forms of one, the sealed counts.
    pub(super) fn list(&self) -> Result<Vec<(u32, Segment)>, LogError> {
        let mut segments: Vec<(u32, Segment)> = Vec::new();
        let entries = match fs::read_dir(&self.dir) {
            Ok(entries) => entries,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(segments),
            Err(e) => return Err(LogError::io(&self.dir, "list")(e)),
        };
        for entry in entries {
            let path = entry.map_err(LogError::io(&self.dir, "list"))?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
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
            let Some((number, segment)) = segment else { continue };
            if parts[0] != numbered(number) {
                return Err(LogError::damaged(&path, "nobody wrote it here: no segment is called so"));
            }
            segments.push((number, segment));
        }
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

    /// What a segment is called in the heads.
    fn name(&self, number: u32) -> String {
        self.home.name(&self.dir.join(numbered(number)))
    }

    fn start(&self, number: u32) -> Walk {
        Walk::start(&self.name(number))
    }

    fn path(&self, number: u32) -> PathBuf {
        self.dir.join(format!("{}.jsonl", numbered(number)))
    }
}

fn numbered(number: u32) -> String {
    format!("{number:06}")
}

/// Lines as they were added, with the chain behind them, and where the last one ends.
fn prove(
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

impl Writer<'_> {
    /// Appends blocks of complete lines, each a JSON object, and waits until they are on disk.
    /// Says how far a reader is who has read these lines too.
    pub(crate) fn append(&self, blocks: &[impl AsRef<[u8]>]) -> Result<Position, LogError> {
        let segments = self.segments;
        let listed = segments.list()?;
        let number = match listed.last() {
            None => 1,
            Some((number, Segment::Open(_))) => *number,
            Some((number, Segment::Sealed(..))) => number + 1,
        };
        let path = segments.path(number);
        let is_new = !path.exists();
        if segments.home.last(&segments.name(number))?.is_none_or(|head| head.gone) {
            self.write_first_heads(&listed, number)?;
        }
        let file = OpenOptions::new().read(true).create(true).append(true).open(&path);
        let mut file = file.map_err(LogError::io(&path, "open"))?;
        let mut walk = self.walk(&path, &mut file, number)?;
        let mut bytes = file.metadata().map_err(LogError::io(&path, "stat"))?.len();
        for block in blocks {
            let block = block.as_ref();
            let mut lines = Vec::with_capacity(block.len() + block.len() / 8);
            for line in block.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
                walk.write(line, &mut lines);
            }
            file.write_all(&lines).map_err(LogError::io(&path, "append to"))?;
            bytes += lines.len() as u64;
        }
        file.sync_data().map_err(LogError::io(&path, "sync"))?;
        if is_new {
            sync_folder(&segments.dir)?;
        }
        segments.home.append(&[Head::new(segments.name(number), bytes, walk.chain)])?;
        if bytes > segments.seal_bytes {
            let hash = self.seal(number)?;
            let head = Head::new(segments.name(number), bytes, walk.chain);
            segments.home.append(&[Head { sealed: Some(hash), ..head }])?;
            return Ok(Position { segment: number + 1, bytes: 0, walk: None });
        }
        Ok(Position { segment: number, bytes, walk: Some(walk) })
    }

    /// The chain at the end of an open segment: its last line has it, or all of its lines are from before there was one.
    fn walk(&self, path: &Path, file: &mut File, number: u32) -> Result<Walk, LogError> {
        let mut walk = self.segments.start(number);
        let (_, last) = last_line(file).map_err(LogError::io(path, "read"))?;
        match last.as_deref().map(|last| split(last).1) {
            None => Ok(walk),
            Some(Some(chain)) => {
                walk.chain = chain;
                Ok(walk)
            }
            Some(None) => {
                let bytes = fs::read(path).map_err(LogError::io(path, "read"))?;
                Ok(prove(path, &bytes, 0, walk, None)?.1)
            }
        }
    }

    /// Says what there is before the first line with a chain: a log without heads that has chains has lost them.
    fn write_first_heads(&self, listed: &[(u32, Segment)], number: u32) -> Result<(), LogError> {
        let segments = self.segments;
        let known = segments.heads()?;
        let mut heads = Vec::new();
        for (n, segment) in listed.iter().filter(|(n, _)| !known.contains_key(&segments.name(*n))) {
            heads.push(match segment {
                Segment::Open(path) => {
                    let bytes = fs::read(path).map_err(LogError::io(path, "read"))?;
                    let (_, walk, end) = prove(path, &bytes, 0, segments.start(*n), None)?;
                    Head::new(segments.name(*n), end, walk.chain)
                }
                Segment::Sealed(_, hash) => {
                    let head = Head::new(segments.name(*n), 0, segments.start(*n).chain);
                    Head { sealed: Some(hash.to_string()), ..head }
                }
            });
        }
        if listed.iter().all(|(n, _)| *n != number) {
            heads.push(Head::new(segments.name(number), 0, segments.start(number).chain));
        }
        segments.home.append_synced(&heads)
    }

    /// Compresses the open segment `number` under its hash.
    fn seal(&self, number: u32) -> Result<String, LogError> {
        let open = self.segments.path(number);
        let partial = open.with_extension("jsonl.zst.tmp");
        let mut from = File::open(&open).map_err(LogError::io(&open, "open"))?;
        let length = from.metadata().map_err(LogError::io(&open, "stat"))?.len();
        let mut file = File::create(&partial).map_err(LogError::io(&partial, "create"))?;
        let mut hash = Digester::new(CONTEXT);
        hash.begin(length);
        let mut lines = Vec::new();
        loop {
            lines.clear();
            let wave = (FRAME_BYTES * rayon::current_num_threads()) as u64;
            Read::by_ref(&mut from)
                .take(wave)
                .read_to_end(&mut lines)
                .map_err(LogError::io(&open, "read"))?;
            if lines.is_empty() {
                break;
            }
            hash.piece(&lines);
            // Frames one after another are a zstd file like any other.
            let frames = lines.par_chunks(FRAME_BYTES).map(|part| zstd::encode_all(part, 3));
            let frames: Vec<Vec<u8>> =
                frames.collect::<Result<_, _>>().map_err(LogError::io(&partial, "compress"))?;
            frames
                .iter()
                .try_for_each(|frame| file.write_all(frame))
                .map_err(LogError::io(&partial, "write"))?;
        }
        let hash = hash.finish().to_string();
        let sealed = self.segments.dir.join(format!("{}.{hash}.jsonl.zst", numbered(number)));
        file.sync_all().map_err(LogError::io(&partial, "sync"))?;
        fs::rename(&partial, &sealed).map_err(LogError::io(&sealed, "rename"))?;
        sync_folder(&self.segments.dir)?;
        fs::remove_file(&open).map_err(LogError::io(&open, "remove"))?;
        Ok(hash)
    }

    /// Cuts the last line off where it has no end, and finishes a seal that was interrupted.
    fn recover(&self) -> Result<(), LogError> {
        let segments = self.segments;
        for (number, segment) in segments.list()? {
            let open = segments.path(number);
            match segment {
                // The rename came after the sealed file was whole, so its open twin is spare.
                Segment::Sealed(path, hash) if open.exists() => {
                    let file = File::open(&path).map_err(LogError::io(&path, "open"))?;
                    let lines =
                        zstd::decode_all(file).map_err(|e| LogError::damaged(&path, e.to_string()))?;
                    if hash_of(&lines) != hash {
                        return Err(LogError::damaged(&path, "the lines do not have the hash in its name"));
                    }
                    fs::remove_file(&open).map_err(LogError::io(&open, "remove"))?;
                }
                Segment::Sealed(..) => {}
                Segment::Open(path) => self.mend_tail(&path, number)?,
            }
        }
        Ok(())
    }

    /// Cuts off the line of whoever was stopped while they wrote it, and ends one that lost its newline alone.
    fn mend_tail(&self, path: &Path, number: u32) -> Result<(), LogError> {
        let mut file =
            OpenOptions::new().read(true).write(true).open(path).map_err(LogError::io(path, "open"))?;
        let length = file.metadata().map_err(LogError::io(path, "stat"))?.len();
        let (end, _) = last_line(&mut file).map_err(LogError::io(path, "read"))?;
        let head = self.segments.home.last(&self.segments.name(number))?.filter(|head| !head.gone);
        let mut tail = Vec::new();
        let read = file.seek(SeekFrom::Start(end)).and_then(|_| file.read_to_end(&mut tail));
        read.map_err(LogError::io(path, "read"))?;
        let is_whole = is_whole(&tail);
        let whole = if is_whole { length + 1 } else { end };
        if let Some(head) = head.filter(|head| head.bytes > whole) {
            let what = format!("it was cut: {length} of at least {} bytes are left", head.bytes);
            return Err(LogError::damaged(path, what));
        }
        if end == length {
            return Ok(());
        }
        let mended = if is_whole { file.write_all(b"\n") } else { file.set_len(end) };
        mended.and_then(|()| file.sync_all()).map_err(LogError::io(path, "mend the end of"))
    }
}

fn hash_of(lines: &[u8]) -> Digest {
    Digest::of(CONTEXT, [lines])
}
