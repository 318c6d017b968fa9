//! The length and chain of each file of a log (raw/heads.jsonl), which prove that a file holds what was written.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::LogError;
use super::chain::{Chain, Walk, split_chain};
use super::disk::{cut_after, describe_cut, last_line, open_locked, sync_folder, write_at};
use super::frames::is_whole;
use crate::{fence, path_inside};

/// The file's name.
pub(super) const HEADS: &str = "heads.jsonl";

/// What is wrong with chained lines without a head: the first head precedes the first line.
pub(super) const UNLISTED: &str = "raw/heads.jsonl no longer lists it, or something else put it here";

/// How many bytes of the file's end are searched before all of it is read.
const TAILS: [u64; 2] = [1 << 10, 1 << 16];

/// The state of a log's file after the last append.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Head {
    /// The file in raw/; for a segment without the part after its number.
    pub(super) file: String,
    /// Its length.
    pub(super) bytes: u64,
    /// Its chain.
    pub(super) at: Chain,
    /// The hash in the name of a sealed segment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) sealed: Option<String>,
    /// Somebody has accepted its loss.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) gone: bool,
}

impl Head {
    pub(super) fn new(file: String, bytes: u64, at: Chain) -> Head {
        Head { file, bytes, at, sealed: None, gone: false }
    }

    /// The head of a file that has no lines yet, or whose lines nothing states.
    pub(super) fn of_empty_file(file: String) -> Head {
        let at = Chain::start_chain(&file);
        Head::new(file, 0, at)
    }

    /// Whether the file must exist.
    pub(super) fn needs_file(&self) -> bool {
        !self.gone && (self.bytes > 0 || self.sealed.is_some())
    }
}

/// The last head of every file.
pub(super) type Heads = FxHashMap<String, Head>;

/// The folder whose heads are in one file: the raw/ above a log, or the log's own folder outside of any raw/.
#[derive(Clone, Debug)]
pub(super) struct Home(pub(super) PathBuf);

impl Home {
    pub(super) fn of_folder(folder: &Path) -> Home {
        let raw = folder.ancestors().find(|above| above.file_name().is_some_and(|name| name == "raw"));
        Home(raw.unwrap_or(folder).to_owned())
    }

    /// A file's name relative to raw/.
    pub(super) fn name_in_raw(&self, path: &Path) -> String {
        let below = path.strip_prefix(&self.0).unwrap_or(path);
        let parts: Vec<_> = below.iter().map(|part| part.to_string_lossy()).collect();
        parts.join("/")
    }

    pub(super) fn heads_path(&self) -> PathBuf {
        self.0.join(HEADS)
    }

    /// All heads, verified by their own chain.
    pub(super) fn read_heads(&self) -> Result<Heads, LogError> {
        let path = self.heads_path();
        let bytes = match fence::read(&path) {
            Ok(bytes) => bytes,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Heads::default()),
            Err(e) => return Err(LogError::io(&path, "read")(e)),
        };
        let (mut walk, mut heads) = (Walk::start_walk(HEADS), Heads::default());
        for (at, line) in bytes.split_inclusive(|&byte| byte == b'\n').enumerate() {
            // The incomplete end of a line that is being written, or was never completed.
            let Some(line) = line.strip_suffix(b"\n") else { break };
            let wrong = |what: &str| LogError::damaged_file(&path, format!("line {}: {what}", at + 1));
            let bare = walk.verify_line(line).map_err(wrong)?;
            if bare.is_empty() {
                continue;
            }
            // The file has had chains from its first line: without them, as after an editor changed the line
            // ends, nothing would be verified.
            if split_chain(line).1.is_none() {
                return Err(wrong("it has no chain; was the file saved by an editor, with other line ends?"));
            }
            let head: Head =
                serde_json::from_slice(&bare).map_err(|e| LogError::unreadable_line(&path, at + 1, &e))?;
            // Files are read, moved and written under these names.
            if path_inside(&self.0, &head.file).is_err() {
                return Err(wrong(&format!("it names {:?}, which leads out of this folder", head.file)));
            }
            let last = head.file.rsplit('/').next().unwrap_or_default();
            if !last.ends_with(".jsonl") && !last.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err(wrong(&format!("it names {:?}, which is no file of a log", head.file)));
            }
            heads.insert(head.file.clone(), head);
        }
        Ok(heads)
    }

    /// The last head of a file: from the last lines, unverified, or from all.
    pub(super) fn last_head(&self, name: &str) -> Result<Option<Head>, LogError> {
        let path = self.heads_path();
        let mut file = match fence::open(&path) {
            Ok(file) => file,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(LogError::io(&path, "read")(e)),
        };
        let length = file.metadata().map_err(LogError::io(&path, "read"))?.len();
        for tail in TAILS {
            let mut lines = Vec::new();
            let read = file.seek(SeekFrom::Start(length.saturating_sub(tail)));
            read.and_then(|_| file.read_to_end(&mut lines)).map_err(LogError::io(&path, "read"))?;
            // The first piece may be the end of a line; it cannot be parsed and is skipped.
            let mut heads = lines.rsplit(|&byte| byte == b'\n').filter_map(|line| {
                serde_json::from_slice::<Head>(&split_chain(line).0).ok().filter(|head| head.file == name)
            });
            match heads.next() {
                Some(head) => return Ok(Some(head)),
                None if length <= tail => return Ok(None),
                None => {}
            }
        }
        Ok(self.read_heads()?.remove(name))
    }

    /// Appends heads without syncing: after a power cut a lost head is only older than its file. The first
    /// head of a file is synced, see [`Home::append_synced`].
    pub(super) fn append_heads(&self, heads: &[Head]) -> Result<(), LogError> {
        self.write_heads(heads).map(drop)
    }

    /// Waits until the lines that were appended to a file are on disk, then appends its head: a head must never
    /// promise bytes that a power cut can take away.
    pub(super) fn vouch_for_file(
        &self,
        file: &File,
        path: &Path,
        is_new: bool,
        head: Head,
    ) -> Result<(), LogError> {
        file.sync_data().map_err(LogError::io(path, "sync"))?;
        // Nor may a power cut take away the name of a file whose lines were reported as stored.
        if is_new && let Some(folder) = path.parent() {
            sync_folder(folder)?;
        }
        self.append_heads(&[head])
    }

    /// Appends heads and waits until they are on disk.
    pub(super) fn append_synced(&self, heads: &[Head]) -> Result<(), LogError> {
        let file = self.write_heads(heads)?;
        file.sync_data().map_err(LogError::io(&self.heads_path(), "sync"))?;
        sync_folder(&self.0)
    }

    fn write_heads(&self, heads: &[Head]) -> Result<File, LogError> {
        let path = self.heads_path();
        // Before the last line is read, because the new lines continue its chain.
        let mut file =
            open_locked(&path, OpenOptions::new().read(true)).map_err(LogError::io(&path, "open"))?;
        let (end, last) = last_line(&mut file).map_err(LogError::io(&path, "read"))?;
        let mut walk = Walk::start_walk(HEADS);
        if let Some(last) = last {
            let chain = split_chain(&last)
                .1
                .ok_or_else(|| LogError::damaged_file(&path, "its last line has no chain"))?;
            walk.chain = chain;
        }
        let mut lines = Vec::new();
        for head in heads {
            let line = serde_json::to_vec(head).map_err(|source| LogError::Unwritable { source })?;
            walk.append_chained(&line, &mut lines);
        }
        let cut = cut_after(&file, end);
        cut.and_then(|_| write_at(&mut file, end, &lines)).map_err(LogError::io(&path, "append to"))?;
        Ok(file)
    }
}

/// A file's verified lines.
pub(super) struct Proved {
    /// The complete lines as they were passed in, each with its line end.
    pub(super) lines: Vec<u8>,
    pub(super) walk: Walk,
    /// Offset of the end of the last complete line among the given bytes.
    pub(super) end: u64,
    /// Whether that line lacks its newline.
    pub(super) unended: bool,
}

/// Verifies the bytes of a file after its first `skip`, which `walk` covers.
pub(super) fn prove_bytes(
    path: &Path,
    bytes: &[u8],
    skip: u64,
    walk: Walk,
    head: Option<&Head>,
) -> Result<Proved, LogError> {
    let mut proved = Proved { lines: Vec::with_capacity(bytes.len()), walk, end: 0, unended: false };
    // The head of a file without lines states zero bytes, where no line ends.
    let mut reached = head.is_none_or(|head| head.bytes <= skip);
    for (at, line) in bytes.split_inclusive(|&byte| byte == b'\n').enumerate() {
        let line = match line.strip_suffix(b"\n") {
            Some(line) => line,
            // The write was cut right before the newline: nothing of the line is missing.
            None if is_whole(line) => {
                proved.unended = true;
                line
            }
            // A torn line was never reported as stored, so it may be ignored.
            None => break,
        };
        let bare = proved.walk.verify_line(line).map_err(|what| {
            let after = if skip > 0 { format!(" after byte {skip}") } else { String::new() };
            LogError::damaged_file(path, format!("line {}{after}: {what}", at + 1))
        })?;
        if !bare.is_empty() {
            proved.lines.extend_from_slice(&bare);
            proved.lines.push(b'\n');
        }
        proved.end += line.len() as u64 + u64::from(!proved.unended);
        // A head includes the newline that is still missing.
        let end = skip + proved.end + u64::from(proved.unended);
        if let Some(head) = head.filter(|head| head.bytes == end) {
            if head.at != proved.walk.chain {
                let what = format!("its first {end} bytes are not those that were written");
                return Err(LogError::damaged_file(path, what));
            }
            reached = true;
        }
    }
    match head.filter(|_| !reached) {
        None => Ok(proved),
        Some(head) => Err(LogError::damaged_file(path, describe_cut(bytes.len() as u64, head.bytes))),
    }
}
