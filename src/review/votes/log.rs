//! Segments of JSON lines that are only ever appended to.
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

use crate::review::digest::{Digest, Digester};

/// An open segment of more bytes than this is sealed after the append that makes it so long.
const SEAL_BYTES: u64 = 64 << 20;

/// What hashes of segments begin with.
const CONTEXT: &str = "riddlemill segment v1";

/// Bytes that one core compresses at a time.
const FRAME_BYTES: usize = 8 << 20;

/// What keeps a log from being read or written.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The file system said no.
    #[error("{}: cannot {what}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was tried.
        what: &'static str,
        /// Why not.
        source: io::Error,
    },
    /// A vote cannot be written as JSON.
    #[error("a vote cannot be written as JSON: {source}")]
    Unwritable {
        /// Why not.
        source: serde_json::Error,
    },
    /// A sealed segment is not what was sealed.
    #[error("{}: the lines do not have the hash in its name; restore it from a copy", path.display())]
    Tampered {
        /// The sealed segment.
        path: PathBuf,
    },
}

fn io_error<'p>(path: &'p Path, what: &'static str) -> impl FnOnce(io::Error) -> LogError + 'p {
    move |source| LogError::Io { path: path.to_owned(), what, source }
}

/// How far a reader has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Position {
    segment: u32,
    bytes: u64,
}

/// Complete lines of one segment, with where they begin in it.
pub(crate) struct Chunk {
    pub(crate) path: PathBuf,
    pub(crate) lines: Vec<u8>,
}

/// A folder of segments.
#[derive(Clone, Debug)]
pub struct Segments {
    dir: PathBuf,
    seal_bytes: u64,
}

/// Held by the one process that may write; released when dropped.
pub(crate) struct Writer<'s> {
    segments: &'s Segments,
    _lock: File,
}

enum Segment {
    Open(PathBuf),
    Sealed(PathBuf, Digest),
}

impl Segments {
    /// The segments in `dir`, which is made if need be.
    pub fn open(dir: impl Into<PathBuf>) -> Result<Segments, LogError> {
        let dir = dir.into();
        fs::create_dir_all(&dir).map_err(io_error(&dir, "create"))?;
        Ok(Segments { dir, seal_bytes: SEAL_BYTES })
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
        let path = self.dir.join("lock");
        let lock = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
        let lock = lock.map_err(io_error(&path, "open"))?;
        lock.lock().map_err(io_error(&path, "lock"))?;
        let writer = Writer { segments: self, _lock: lock };
        writer.recover()?;
        Ok(writer)
    }

    /// The complete lines after `position`, and moves it to their end.
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
        let mut chunks = Vec::new();
        for (number, segment) in self.list()? {
            if number < position.segment {
                continue;
            }
            let skip = if number == position.segment { position.bytes } else { 0 };
            let sealed = matches!(segment, Segment::Sealed(..));
            let (path, mut lines) = match segment {
                Segment::Open(path) => {
                    let mut lines = Vec::new();
                    let mut file = File::open(&path).map_err(io_error(&path, "open"))?;
                    file.seek(SeekFrom::Start(skip)).map_err(io_error(&path, "read"))?;
                    file.read_to_end(&mut lines).map_err(io_error(&path, "read"))?;
                    (path, lines)
                }
                Segment::Sealed(path, hash) => {
                    let file = File::open(&path).map_err(io_error(&path, "open"))?;
                    let mut lines = zstd::decode_all(file).map_err(io_error(&path, "decompress"))?;
                    if hash_of(&lines) != hash {
                        return Err(LogError::Tampered { path });
                    }
                    lines.drain(..lines.len().min(skip as usize));
                    (path, lines)
                }
            };
            let end = lines.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
            lines.truncate(end);
            *position = match sealed {
                true => Position { segment: number + 1, bytes: 0 },
                false => Position { segment: number, bytes: skip + end as u64 },
            };
            if end > 0 {
                chunks.push(Chunk { path, lines });
            }
        }
        Ok(chunks)
    }

    /// The segments by number. Where a crash left both forms of one, the sealed counts.
    fn list(&self) -> Result<Vec<(u32, Segment)>, LogError> {
        let mut segments: Vec<(u32, Segment)> = Vec::new();
        for entry in fs::read_dir(&self.dir).map_err(io_error(&self.dir, "list"))? {
            let path = entry.map_err(io_error(&self.dir, "list"))?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let parts: Vec<&str> = name.split('.').collect();
            match parts[..] {
                [number, "jsonl"] => {
                    if let Ok(number) = number.parse() {
                        segments.push((number, Segment::Open(path)));
                    }
                }
                [number, hash, "jsonl", "zst"] => {
                    if let (Ok(number), Ok(hash)) = (number.parse(), hash.parse()) {
                        segments.push((number, Segment::Sealed(path, hash)));
                    }
                }
                _ => {}
            }
        }
        segments.sort_by_key(|(number, segment)| (*number, matches!(segment, Segment::Open(_))));
        segments.dedup_by_key(|(number, _)| *number);
        Ok(segments)
    }
}

impl Writer<'_> {
    /// Appends blocks of complete lines and waits until they are on disk.
    /// Says how far a reader is who has read these lines too.
    pub(crate) fn append(&self, blocks: &[impl AsRef<[u8]>]) -> Result<Position, LogError> {
        let number = match self.segments.list()?.last() {
            None => 1,
            Some((number, Segment::Open(_))) => *number,
            Some((number, Segment::Sealed(..))) => number + 1,
        };
        let path = self.path(number);
        let is_new = !path.exists();
        let file = OpenOptions::new().create(true).append(true).open(&path);
        let mut file = file.map_err(io_error(&path, "open"))?;
        let written = blocks.iter().try_for_each(|lines| file.write_all(lines.as_ref()));
        written.map_err(io_error(&path, "append to"))?;
        file.sync_data().map_err(io_error(&path, "sync"))?;
        if is_new {
            self.sync_dir()?;
        }
        let bytes = file.metadata().map_err(io_error(&path, "stat"))?.len();
        if bytes > self.segments.seal_bytes {
            self.seal(number)?;
            return Ok(Position { segment: number + 1, bytes: 0 });
        }
        Ok(Position { segment: number, bytes })
    }

    /// Compresses the open segment `number` under its hash.
    fn seal(&self, number: u32) -> Result<(), LogError> {
        let open = self.path(number);
        let partial = open.with_extension("jsonl.zst.tmp");
        let mut from = File::open(&open).map_err(io_error(&open, "open"))?;
        let length = from.metadata().map_err(io_error(&open, "stat"))?.len();
        let mut file = File::create(&partial).map_err(io_error(&partial, "create"))?;
        let mut hash = Digester::new(CONTEXT);
        hash.begin(length);
        let mut lines = Vec::new();
        loop {
            lines.clear();
            let wave = (FRAME_BYTES * rayon::current_num_threads()) as u64;
            Read::by_ref(&mut from).take(wave).read_to_end(&mut lines).map_err(io_error(&open, "read"))?;
            if lines.is_empty() {
                break;
            }
            hash.piece(&lines);
            // Frames one after another are a zstd file like any other.
            let frames = lines.par_chunks(FRAME_BYTES).map(|part| zstd::encode_all(part, 3));
            let frames: Vec<Vec<u8>> =
                frames.collect::<Result<_, _>>().map_err(io_error(&partial, "compress"))?;
            frames.iter().try_for_each(|frame| file.write_all(frame)).map_err(io_error(&partial, "write"))?;
        }
        let sealed = self.segments.dir.join(format!("{number:06}.{}.jsonl.zst", hash.finish()));
        file.sync_all().map_err(io_error(&partial, "sync"))?;
        fs::rename(&partial, &sealed).map_err(io_error(&sealed, "rename"))?;
        self.sync_dir()?;
        fs::remove_file(&open).map_err(io_error(&open, "remove"))
    }

    /// Cuts the last line off where it has no end, and finishes a seal that was interrupted.
    fn recover(&self) -> Result<(), LogError> {
        for (number, segment) in self.segments.list()? {
            let open = self.path(number);
            match segment {
                // The rename came after the sealed file was whole, so its open twin is spare.
                Segment::Sealed(..) if open.exists() => {
                    fs::remove_file(&open).map_err(io_error(&open, "remove"))?;
                }
                Segment::Sealed(..) => {}
                Segment::Open(path) => cut_torn_tail(&path)?,
            }
        }
        Ok(())
    }

    fn path(&self, number: u32) -> PathBuf {
        self.segments.dir.join(format!("{number:06}.jsonl"))
    }

    fn sync_dir(&self) -> Result<(), LogError> {
        let dir = &self.segments.dir;
        File::open(dir).and_then(|dir| dir.sync_all()).map_err(io_error(dir, "sync"))
    }
}

fn cut_torn_tail(path: &Path) -> Result<(), LogError> {
    let mut file = OpenOptions::new().read(true).write(true).open(path).map_err(io_error(path, "open"))?;
    let length = file.metadata().map_err(io_error(path, "stat"))?.len();
    let mut end = length;
    let mut buffer = vec![0; 1 << 16];
    while end > 0 {
        let start = end.saturating_sub(buffer.len() as u64);
        let block = &mut buffer[..(end - start) as usize];
        file.seek(SeekFrom::Start(start)).map_err(io_error(path, "read"))?;
        file.read_exact(block).map_err(io_error(path, "read"))?;
        if let Some(at) = block.iter().rposition(|&byte| byte == b'\n') {
            end = start + at as u64 + 1;
            break;
        }
        end = start;
    }
    if end < length {
        file.set_len(end).map_err(io_error(path, "cut the torn tail of"))?;
        file.sync_all().map_err(io_error(path, "sync"))?;
    }
    Ok(())
}

fn hash_of(lines: &[u8]) -> Digest {
    Digest::of(CONTEXT, [lines])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(segments: &Segments) -> String {
        let chunks = segments.read_after(&mut Position::default()).unwrap();
        chunks.into_iter().map(|chunk| String::from_utf8(chunk.lines).unwrap()).collect()
    }

    #[test]
    fn a_torn_tail_is_never_read_and_is_cut_by_the_next_writer() {
        let dir = tempfile::tempdir().unwrap();
        let segments = Segments::open(dir.path()).unwrap();
        segments.writer().unwrap().append(&[b"1\n2\n"]).unwrap();
        let open = dir.path().join("000001.jsonl");
        OpenOptions::new().append(true).open(&open).unwrap().write_all(b"{\"half").unwrap();
        assert_eq!(lines(&segments), "1\n2\n");
        segments.writer().unwrap().append(&[b"3\n"]).unwrap();
        assert_eq!(fs::read_to_string(&open).unwrap(), "1\n2\n3\n");
    }

    #[test]
    fn long_segments_are_sealed_and_read_on_from_anywhere() {
        let dir = tempfile::tempdir().unwrap();
        let segments = Segments::open(dir.path()).unwrap().sealing_at(3);
        let mut position = Position::default();
        segments.writer().unwrap().append(&[b"1\n"]).unwrap();
        assert_eq!(segments.read_after(&mut position).unwrap()[0].lines, b"1\n");
        segments.writer().unwrap().append(&[b"2\n"]).unwrap();
        segments.writer().unwrap().append(&[b"3\n"]).unwrap();
        let rest: Vec<u8> =
            segments.read_after(&mut position).unwrap().into_iter().flat_map(|chunk| chunk.lines).collect();
        assert_eq!(rest, b"2\n3\n");
        assert_eq!(lines(&segments), "1\n2\n3\n");
        assert_eq!(segments.list().unwrap().len(), 2);
    }

    #[test]
    fn a_changed_seal_is_refused_and_an_interrupted_one_is_finished() {
        let dir = tempfile::tempdir().unwrap();
        let segments = Segments::open(dir.path()).unwrap().sealing_at(1);
        segments.writer().unwrap().append(&[b"1\n"]).unwrap();
        // The crash that left both forms.
        fs::write(dir.path().join("000001.jsonl"), "1\n").unwrap();
        assert_eq!(lines(&segments), "1\n");
        segments.writer().unwrap().append(&[b"2\n"]).unwrap();
        assert!(!dir.path().join("000001.jsonl").exists());

        let mut sealed = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path());
        let sealed = sealed.find(|path| path.to_string_lossy().contains("000001.")).unwrap();
        fs::write(&sealed, zstd::encode_all(&b"7\n"[..], 1).unwrap()).unwrap();
        assert!(matches!(segments.read_after(&mut Position::default()), Err(LogError::Tampered { .. })));
    }
}
