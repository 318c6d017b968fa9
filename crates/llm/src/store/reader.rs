//! Reads replies by place: one seek in an open segment, one small frame of a sealed one.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::Connection;
use rustc_hash::FxHashMap;

use super::StoreError;
use super::index::{self, ReplyPlace};
use super::line::{Failure, SegmentLine, StoredReply};
use super::segment::{self, Number};
use crate::request::Key;
use riddlemill_files::fence;

/// Number of uncompressed frames in the cache; 16 MiB at their usual size.
const FRAMES_KEPT: usize = 256;

pub(super) struct Reader {
    dir: PathBuf,
    db: Connection,
    files: FxHashMap<(Number, bool), File>,
    frames: FxHashMap<(Number, u64), Arc<Vec<u8>>>,
    oldest_first: VecDeque<(Number, u64)>,
}

impl Reader {
    pub(super) fn new(dir: &Path, db: Connection) -> Reader {
        Reader {
            dir: dir.to_owned(),
            db,
            files: FxHashMap::default(),
            frames: FxHashMap::default(),
            oldest_first: VecDeque::new(),
        }
    }

    pub(super) fn db(&mut self) -> &mut Connection {
        &mut self.db
    }

    /// The replies to the keys, in order. Places are visited in file order, so that a frame is unpacked once.
    pub(super) fn read_replies(&mut self, keys: &[Key]) -> Result<Vec<Option<StoredReply>>, StoreError> {
        let mut places = Vec::with_capacity(keys.len());
        for (at, key) in keys.iter().enumerate() {
            if let Some(place) = index::place_of_reply(&self.db, key)? {
                places.push((place, at));
            }
        }
        places.sort_unstable();
        let mut replies = vec![None; keys.len()];
        for (place, at) in places {
            replies[at] = Some(self.read_reply(place)?);
        }
        Ok(replies)
    }

    /// The latest permanent failure of a request.
    pub(super) fn lasting_failure(&mut self, key: &Key) -> Result<Option<Failure>, StoreError> {
        let Some(place) = index::place_of_failure(&self.db, key)? else { return Ok(None) };
        match self.line_at(place)? {
            SegmentLine::Failure(failure) => Ok(Some(failure)),
            _ => Err(no_such_line(place)),
        }
    }

    fn read_reply(&mut self, place: ReplyPlace) -> Result<StoredReply, StoreError> {
        match self.line_at(place)? {
            SegmentLine::Reply(reply) => Ok(reply),
            _ => Err(no_such_line(place)),
        }
    }

    fn line_at(&mut self, place: ReplyPlace) -> Result<SegmentLine, StoreError> {
        let bytes = self.bytes_at(place);
        let bytes = bytes.map_err(|e| StoreError::io(&segment::open_path(&self.dir, place.number), e))?;
        serde_json::from_slice(&bytes).map_err(|_| no_such_line(place))
    }

    fn bytes_at(&mut self, place: ReplyPlace) -> io::Result<Vec<u8>> {
        let sqlite = |error: rusqlite::Error| io::Error::other(error.to_string());
        // A segment may be sealed between the look at the index and the read, but only once.
        for _ in 0..2 {
            if let Some(frame) = index::frame_at(&self.db, place.number, place.start).map_err(sqlite)? {
                let frame_bytes = self.unpack_frame(place.number, frame)?;
                let from = (place.start - frame.raw_start) as usize;
                let line = frame_bytes.get(from..from + place.len as usize);
                return line.map(<[u8]>::to_vec).ok_or_else(|| io::ErrorKind::UnexpectedEof.into());
            }
            let mut bytes = vec![0; place.len as usize];
            match self.open_segment(place.number, false) {
                Ok(file) => {
                    file.seek(SeekFrom::Start(place.start))?;
                    file.read_exact(&mut bytes)?;
                    return Ok(bytes);
                }
                // Sealed meanwhile: the index has its frames now.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::NotFound.into())
    }

    fn unpack_frame(&mut self, number: Number, frame: segment::Frame) -> io::Result<Arc<Vec<u8>>> {
        let name = (number, frame.start);
        if let Some(bytes) = self.frames.get(&name) {
            return Ok(bytes.clone());
        }
        let bytes = Arc::new(segment::read_frame(self.open_segment(number, true)?, frame)?);
        if self.oldest_first.len() == FRAMES_KEPT
            && let Some(oldest) = self.oldest_first.pop_front()
        {
            self.frames.remove(&oldest);
        }
        self.oldest_first.push_back(name);
        self.frames.insert(name, bytes.clone());
        Ok(bytes)
    }

    fn open_segment(&mut self, number: Number, sealed: bool) -> io::Result<&mut File> {
        use std::collections::hash_map::Entry;
        match self.files.entry((number, sealed)) {
            Entry::Occupied(open) => Ok(open.into_mut()),
            Entry::Vacant(vacant) => {
                Ok(vacant.insert(fence::open(segment::file_path(&self.dir, number, sealed))?))
            }
        }
    }
}

fn no_such_line(place: ReplyPlace) -> StoreError {
    StoreError::Line { segment: place.number, at: place.start }
}
