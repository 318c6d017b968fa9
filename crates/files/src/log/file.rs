//! A log in one file.

use std::fs::OpenOptions;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::LogError;
use super::chain::Walk;
use super::heads::{Head, Home, is_whole, sync_folder};
use super::stopped;
use crate::fence;

/// A file of JSON lines that are only ever appended.
#[derive(Clone, Debug)]
pub struct Log {
    path: PathBuf,
    home: Home,
    private: bool,
}

/// A file's verified lines.
struct Proved {
    /// The complete lines as they were passed in, each with its line end.
    lines: Vec<u8>,
    walk: Walk,
    /// Offset of the end of the last complete line in the file.
    end: u64,
    /// Whether that line lacks its newline.
    unended: bool,
}

impl Log {
    /// The log in a file, which need not exist.
    pub fn at(path: impl Into<PathBuf>) -> Log {
        let path = path.into();
        let home = Home::of_folder(path.parent().unwrap_or(&path));
        Log { path, home, private: false }
    }

    /// Creates the file readable by its owner only.
    pub fn private(self) -> Log {
        Log { private: true, ..self }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The lines as they were added; empty if there is no file and never was one.
    ///
    /// # Errors
    /// [`LogError`] if the file cannot be read, or was changed.
    pub fn read(&self) -> Result<Vec<u8>, LogError> {
        if stopped::of_log(&self.path).exists() {
            return Err(LogError::damaged(&self.path, stopped::STOPPED));
        }
        // The heads first: a file that grows meanwhile is longer than they state.
        let head = self.head()?;
        let bytes = match fence::read(&self.path) {
            Ok(bytes) => Some(bytes),
            Err(e) if e.kind() == io::ErrorKind::NotFound => None,
            Err(e) => return Err(LogError::io(&self.path, "read")(e)),
        };
        Ok(self.prove(bytes.as_deref(), head)?.lines)
    }

    fn head(&self) -> Result<Option<Head>, LogError> {
        Ok(self.home.read()?.remove(&self.home.name(&self.path)))
    }

    fn prove(&self, bytes: Option<&[u8]>, head: Option<Head>) -> Result<Proved, LogError> {
        let damaged = |what: String| LogError::damaged(&self.path, what);
        let name = self.home.name(&self.path);
        let Some(bytes) = bytes else {
            return match head.filter(Head::needs_file) {
                Some(head) => Err(damaged(format!("missing, and it had {} bytes", head.bytes))),
                None => Ok(Proved { lines: Vec::new(), walk: Walk::start(&name), end: 0, unended: false }),
            };
        };
        let mut proved = Proved {
            lines: Vec::with_capacity(bytes.len()),
            walk: Walk::start(&name),
            end: 0,
            unended: false,
        };
        // The head of a file without lines states zero bytes, where no line ends.
        let mut reached = head.as_ref().is_none_or(|head| head.bytes == 0);
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
            let bare = proved.walk.step(line).map_err(|what| damaged(format!("line {}: {what}", at + 1)))?;
            if !bare.is_empty() {
                proved.lines.extend_from_slice(&bare);
                proved.lines.push(b'\n');
            }
            proved.end += line.len() as u64 + u64::from(!proved.unended);
            let end = proved.end + u64::from(proved.unended);
            if let Some(head) = head.as_ref().filter(|head| !head.gone && head.bytes == end) {
                if head.at != proved.walk.chain {
                    return Err(damaged(format!("its first {end} bytes are not those that were written")));
                }
                reached = true;
            }
        }
        match head {
            Some(head) if !reached && !head.gone => {
                Err(damaged(format!("it was cut: {} of at least {} bytes are left", bytes.len(), head.bytes)))
            }
            None if proved.walk.is_chained() => match self.head()? {
                // It was created while it was read.
                Some(_) => Ok(proved),
                None => Err(damaged(
                    "raw/heads.jsonl no longer lists it, or something else put it \
                                     here"
                        .into(),
                )),
            },
            _ => Ok(proved),
        }
    }

    /// Appends lines, each a JSON object with its line end, and returns when they are on disk. Waits for
    /// other writers.
    ///
    /// # Errors
    /// [`LogError`] if the file cannot be written, or was changed: then nothing is added.
    pub fn append(&self, lines: &[u8]) -> Result<(), LogError> {
        let io = |what| LogError::io(&self.path, what);
        if let Some(folder) = self.path.parent() {
            fence::create_folder(folder).map_err(LogError::io(folder, "create"))?;
        }
        // A file is created before its head: in the other order, one that is being created would seem lost.
        let head = self.head()?;
        let is_new = !self.path.exists();
        // A new file in the place of a lost one would hide the loss.
        if is_new && head.as_ref().is_some_and(Head::needs_file) {
            self.prove(None, head.clone())?;
        }
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        if self.private {
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        }
        let mut file = fence::open_with(&self.path, &options).map_err(io("open"))?;
        file.lock().map_err(io("lock"))?;
        // Another writer may have added something before.
        let head = self.head()?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(io("read"))?;
        let Proved { mut walk, end, unended, .. } = self.prove(Some(&bytes), head.clone())?;
        let name = self.home.name(&self.path);
        if head.is_none_or(|head| head.gone) {
            // Written before the first line with a chain, so that a missing head is always a lost one.
            self.home.append_synced(&[Head::new(name.clone(), end, walk.chain)])?;
        }
        // The first new line must not continue the line that lacks its newline.
        let mut new = if unended { b"\n".to_vec() } else { Vec::new() };
        for line in lines.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
            walk.write(line, &mut new);
        }
        // Overwriting is not enough: the rest of a longer torn line would remain after the new lines.
        let cut = if bytes.len() as u64 > end { file.set_len(end) } else { Ok(()) };
        cut.and_then(|()| file.seek(SeekFrom::Start(end)))
            .and_then(|_| file.write_all(&new))
            .map_err(io("append to"))?;
        file.sync_data().map_err(io("sync"))?;
        if is_new && let Some(folder) = self.path.parent() {
            sync_folder(folder)?;
        }
        // After the sync, because a head must never promise bytes that a power cut can take away.
        self.home.append(&[Head::new(name, end + new.len() as u64, walk.chain)])
    }
}
