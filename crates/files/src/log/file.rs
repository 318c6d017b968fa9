//! A log in one file.

use std::fs::OpenOptions;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::chain::Walk;
use super::disk::{cut_after, open_locked, write_at};
use super::frames::{filled_lines, to_lines};
use super::heads::{Head, Home, Proved, UNLISTED, prove_bytes};
use super::{LogError, error};
use crate::fence;

/// A file of JSON lines that are only ever appended.
#[derive(Clone, Debug)]
pub struct Log {
    path: PathBuf,
    home: Home,
    private: bool,
}

impl Log {
    /// The log in a file, which need not exist.
    pub fn in_file(path: impl Into<PathBuf>) -> Log {
        let path = path.into();
        let home = Home::of_folder(path.parent().unwrap_or(&path));
        Log { path, home, private: false }
    }

    /// Creates the file readable by its owner only.
    pub fn owner_only(self) -> Log {
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
    pub fn read_lines(&self) -> Result<Vec<u8>, LogError> {
        if error::of_log(&self.path).exists() {
            return Err(LogError::damaged_file(&self.path, error::STOPPED));
        }
        // The heads first: a file that grows meanwhile is longer than they state.
        let head = self.last_head()?;
        let bytes = match fence::read(&self.path) {
            Ok(bytes) => Some(bytes),
            Err(e) if e.kind() == io::ErrorKind::NotFound => None,
            Err(e) => return Err(LogError::io(&self.path, "read")(e)),
        };
        Ok(self.prove_bytes(bytes.as_deref(), head)?.lines)
    }

    fn last_head(&self) -> Result<Option<Head>, LogError> {
        Ok(self.home.read_heads()?.remove(&self.home.name_in_raw(&self.path)))
    }

    fn prove_bytes(&self, bytes: Option<&[u8]>, head: Option<Head>) -> Result<Proved, LogError> {
        let damaged = |what: String| LogError::damaged_file(&self.path, what);
        let walk = Walk::start_walk(&self.home.name_in_raw(&self.path));
        let Some(bytes) = bytes else {
            return match head.filter(Head::needs_file) {
                Some(head) => Err(damaged(format!("missing, and it had {} bytes", head.bytes))),
                None => Ok(Proved { lines: Vec::new(), walk, end: 0, unended: false }),
            };
        };
        let proved = prove_bytes(&self.path, bytes, 0, walk, head.as_ref().filter(|head| !head.gone))?;
        // Without a head now, it was perhaps created while it was read.
        match head.is_none() && proved.walk.is_chained() && self.last_head()?.is_none() {
            true => Err(damaged(UNLISTED.into())),
            false => Ok(proved),
        }
    }

    /// The lines as values of one type, in order.
    ///
    /// # Errors
    /// [`LogError`] if the file cannot be read, was changed, or has a line that only a newer program knows.
    pub fn read_entries<T: DeserializeOwned>(&self) -> Result<Vec<T>, LogError> {
        let bytes = self.read_lines()?;
        let mut entries = Vec::new();
        for (at, line) in filled_lines(&bytes).enumerate().filter(|(_, line)| !line.trim_ascii().is_empty()) {
            let entry = serde_json::from_slice(line);
            entries.push(entry.map_err(|e| LogError::unreadable_line(&self.path, at + 1, &e))?);
        }
        Ok(entries)
    }

    /// Appends values as lines, and returns when they are on disk. Without values the file is not touched.
    ///
    /// # Errors
    /// Those of [`Log::append_lines`], and [`LogError::Newer`] if the file has a line that only a newer program knows.
    pub fn add<'v, T: Serialize + DeserializeOwned + 'v>(
        &self,
        values: impl IntoIterator<Item = &'v T>,
    ) -> Result<(), LogError> {
        let lines = to_lines(values)?;
        if lines.is_empty() {
            return Ok(());
        }
        // What is added could contradict what this program does not know.
        match self.read_entries::<T>() {
            Err(newer @ LogError::Newer { .. }) => Err(newer),
            _ => self.append_lines(&lines),
        }
    }

    /// Appends lines, each a JSON object with its line end, and returns when they are on disk. Waits for
    /// other writers.
    ///
    /// # Errors
    /// [`LogError`] if the file cannot be written, or was changed: then nothing is added.
    pub fn append_lines(&self, added: &[u8]) -> Result<(), LogError> {
        let io = |what| LogError::io(&self.path, what);
        if let Some(folder) = self.path.parent() {
            fence::create_folder(folder).map_err(LogError::io(folder, "create"))?;
        }
        // A file is created before its head: in the other order, one that is being created would seem lost.
        let head = self.last_head()?;
        let is_new = !self.path.exists();
        // A new file in the place of a lost one would hide the loss.
        if is_new && head.as_ref().is_some_and(Head::needs_file) {
            self.prove_bytes(None, head.clone())?;
        }
        let mut options = OpenOptions::new();
        options.read(true);
        #[cfg(unix)]
        if self.private {
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        }
        let mut file = open_locked(&self.path, &mut options).map_err(io("open"))?;
        // Another writer may have added something before.
        let head = self.last_head()?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(io("read"))?;
        let Proved { mut walk, end, unended, .. } = self.prove_bytes(Some(&bytes), head.clone())?;
        let name = self.home.name_in_raw(&self.path);
        if head.is_none_or(|head| head.gone) {
            // Written before the first line with a chain, so that a missing head is always a lost one.
            self.home.append_synced(&[Head::new(name.clone(), end, walk.chain)])?;
        }
        // The first new line must not continue the line that lacks its newline.
        let mut new = if unended { b"\n".to_vec() } else { Vec::new() };
        filled_lines(added).for_each(|line| walk.append_chained(line, &mut new));
        // Overwriting is not enough: the rest of a longer torn line would remain after the new lines.
        cut_after(&file, end).and_then(|_| write_at(&mut file, end, &new)).map_err(io("append to"))?;
        let head = Head::new(name, end + new.len() as u64, walk.chain);
        self.home.vouch_for_file(&file, &self.path, is_new, head)
    }
}
