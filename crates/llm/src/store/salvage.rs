//! Salvages what is intact of a damaged segment.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use riddlemill_files::{Unpacked, unpack};

use super::index::Charges;
use super::line::{Forgotten, Line};
use super::segment::{self, Number};
use super::{Damage, Store, StoreError, index, registry};
use crate::money::Usd;
use crate::request::Key;
use riddlemill_files::fence;

/// The result of salvaging a damaged segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SalvagedReplies {
    /// The segment's file.
    pub path: PathBuf,
    /// What was wrong with it.
    pub what: String,
    /// Replies that were salvaged.
    pub kept: u64,
    /// Replies that were lost; `None` if it is unknown how many it had.
    pub lost: Option<u64>,
    /// Offsets in the unpacked segment where damaged parts begin.
    pub torn: Vec<u64>,
    /// Where the damaged file is now; `None` if there is none.
    pub moved_to: Option<PathBuf>,
}

impl Store {
    /// Copies what is intact of damaged segments into new ones, moves the damaged ones to `raw/damaged`, and
    /// accepts the loss of the rest. It can be stopped and called again. Reopen the store afterwards.
    ///
    /// # Errors
    /// [`StoreError`] if something cannot be read or written.
    pub fn salvage(&self) -> Result<Vec<SalvagedReplies>, StoreError> {
        let mut done = Vec::new();
        let damaged = || self.damage.iter().filter(|damage| damage.segment != 0);
        // Old tombstones identify replies by place, which changes for salvaged ones.
        let mut old = Vec::new();
        for damage in damaged() {
            old.extend(old_tombstones(&whole_lines(&damage.path).0));
            let known = index::forgotten_of(self.reader().db(), damage.segment)?;
            old.extend(known.into_iter().map(|(key, at_ms)| (damage.segment, key, at_ms)));
        }
        for damage in damaged() {
            let (mut lines, torn) = whole_lines(&damage.path);
            lines.extend(tombstones(damage.segment, &lines, &old));
            let rescued = registry::contents(damage.segment, &lines);
            // Copied, then accepted, then moved: a salvage that is stopped in between can be repeated.
            if !lines.is_empty() && !self.holds(&lines)? {
                write(&self.dir, &lines)?;
            }
            self.accept(damage, &rescued.charged)?;
            let moved_to = move_damaged(&self.dir, damage)?;
            let kept = rescued.replies;
            let lost = damage.replies.map(|replies| replies.saturating_sub(kept));
            done.push(SalvagedReplies {
                path: damage.path.clone(),
                what: damage.what.clone(),
                kept,
                lost,
                torn,
                moved_to,
            });
        }
        Ok(done)
    }

    /// Accepts that damaged segments are lost: their replies may be asked for again. The files stay where
    /// they are, and are ignored from now on. Reopen the store afterwards.
    ///
    /// # Errors
    /// [`StoreError`] if the log of segments cannot be written.
    pub fn accept_losses(&self) -> Result<(), StoreError> {
        self.damage
            .iter()
            .filter(|damage| damage.segment != 0)
            .try_for_each(|damage| self.accept(damage, &Charges::new()))
    }

    /// Charges of salvaged attempts count at their new place, the rest with the lost segment.
    fn accept(&self, damage: &Damage, kept: &Charges) -> Result<(), StoreError> {
        let mut charged = damage.charged.clone().unwrap_or_default();
        for (scope, (amount, attempts)) in &mut charged {
            let (there, of) = kept.get(scope).copied().unwrap_or_default();
            *amount = (*amount - there).max(Usd::ZERO);
            *attempts = attempts.saturating_sub(of);
        }
        charged.retain(|_, rest| *rest != (Usd::ZERO, 0));
        let entry = registry::Entry {
            charged,
            forgets: damage.forgets.clone(),
            segment: damage.segment,
            replies: damage.replies.unwrap_or_default(),
            reserved_picousd: damage.most,
            gone: Some(damage.what.clone()),
            sha256: None,
        };
        registry::add(&self.dir, &[entry])
    }

    /// Whether a sound segment has exactly these lines: a salvage was stopped between copying and logging.
    fn holds(&self, lines: &[u8]) -> Result<bool, StoreError> {
        let is_damaged = |number| self.damage.iter().any(|damage| damage.segment == number);
        let (listed, _) = registry::judge(&self.dir)?;
        for (number, is_sealed) in listed.into_iter().filter(|(number, _)| !is_damaged(*number)) {
            let path = registry::path(&self.dir, number, is_sealed);
            let raw =
                unpack(&path).and_then(Unpacked::all).map_err(|source| StoreError::io(&path, source))?;
            if raw == lines {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Tombstones by identity for the replies among the lines that old tombstones forget by place.
fn tombstones(segment: Number, lines: &[u8], old: &[(Number, Key, u64)]) -> Vec<u8> {
    let mut tombstones = Vec::new();
    for line in lines.split(|&byte| byte == b'\n') {
        let Ok(Line::Reply(reply)) = serde_json::from_slice(line) else { continue };
        let of = |of: &&(Number, Key, u64)| (of.0, of.1) == (segment, reply.key) && reply.at_ms <= of.2;
        if let Some((segment, key, at_ms)) = old.iter().find(of).copied() {
            let (why, reply) = ("forgotten before it was salvaged".into(), Some(reply.identity()));
            let line = Line::Forgotten(Forgotten { key, reply, segment, start: 0, why, at_ms });
            tombstones.extend(line.bytes());
        }
    }
    tombstones
}

/// Tombstones by place among the lines: segment, key, and time.
fn old_tombstones(lines: &[u8]) -> Vec<(Number, Key, u64)> {
    let lines = lines.split(|&byte| byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok());
    lines
        .filter_map(|line| match line {
            Line::Forgotten(Forgotten { key, reply: None, segment, at_ms, .. }) => {
                Some((segment, key, at_ms))
            }
            _ => None,
        })
        .collect()
}

/// The intact lines of a segment, and the offsets of damaged parts. A frame is intact if its checksum is
/// right; one from before there were checksums, if each of its lines is valid and each request hashes to its
/// key.
pub(super) fn whole_lines(path: &Path) -> (Vec<u8>, Vec<u64>) {
    let Ok(bytes) = fence::read(path) else { return (Vec::new(), Vec::new()) };
    if path.extension().is_none_or(|extension| extension != "zst") {
        return sound(&bytes, 0, false);
    }
    let (mut lines, mut torn, mut start, mut unpacked_to) = (Vec::new(), Vec::new(), 0, 0);
    while start < bytes.len() {
        let len = zstd::zstd_safe::find_frame_compressed_size(&bytes[start..]).ok();
        let frame = len.and_then(|len| bytes.get(start..start + len));
        let raw = frame.and_then(|frame| Unpacked::new(frame, frame.len() as u64).ok()?.all().ok());
        match (&raw, frame) {
            (Some(raw), Some(frame)) => {
                // The descriptor follows the four bytes of the magic number; its bit 2 announces a checksum.
                let has_checksum = frame.get(4).is_some_and(|descriptor| descriptor & 4 != 0);
                let (whole, wrong) = sound(raw, unpacked_to, !has_checksum);
                lines.extend_from_slice(&whole);
                torn.extend(wrong);
                unpacked_to += raw.len() as u64;
            }
            _ => torn.push(unpacked_to),
        }
        // The next frame begins at the next magic number.
        let from = start + frame.filter(|_| raw.is_some()).map_or(1, <[u8]>::len);
        let magic = |window: &[u8]| window == [0x28, 0xb5, 0x2f, 0xfd];
        match bytes.get(from..).and_then(|rest| rest.windows(4).position(magic)) {
            Some(next) => start = from + next,
            None => break,
        }
    }
    (lines, torn)
}

/// The intact lines, and the offsets of others; no lines if `all` have to be intact and are not.
fn sound(raw: &[u8], at: u64, all: bool) -> (Vec<u8>, Vec<u64>) {
    let (mut lines, mut torn, mut start) = (Vec::new(), Vec::new(), at);
    for line in raw.split_inclusive(|&byte| byte == b'\n') {
        let is_whole = line.ends_with(b"\n")
            && match serde_json::from_slice(line) {
                Ok(Line::Reply(reply)) => reply.request.key() == reply.key,
                read => read.is_ok(),
            };
        if is_whole {
            lines.extend_from_slice(line);
        } else {
            torn.push(start);
        }
        start += line.len() as u64;
    }
    if all && !torn.is_empty() { (Vec::new(), vec![at]) } else { (lines, torn) }
}

/// Writes lines as a new segment, which the next start seals.
pub(super) fn write(dir: &Path, lines: &[u8]) -> Result<Number, StoreError> {
    let (number, mut file) =
        segment::create(dir, registry::next(dir)).map_err(|source| StoreError::io(dir, source))?;
    let path = segment::open_path(dir, number);
    // Before the lines: a segment with lines that is not in the log counts as foreign.
    registry::begun(dir, number)?;
    file.write_all(lines).and_then(|()| file.sync_all()).map_err(|source| StoreError::io(&path, source))?;
    segment::sync_dir(dir).map_err(|source| StoreError::io(dir, source))?;
    Ok(number)
}

fn move_damaged(dir: &Path, damage: &Damage) -> Result<Option<PathBuf>, StoreError> {
    if !damage.path.exists() {
        return Ok(None);
    }
    let damaged = dir.parent().unwrap_or(dir).join("damaged");
    let name = damage.path.file_name().unwrap_or_default();
    let free =
        (1u32..).map(|n| damaged.join(format!("{n:03}")).join("replies")).find(|to| !to.join(name).exists());
    let folder = free.unwrap_or(damaged);
    let to = folder.join(name);
    let at = |source| StoreError::io(&damage.path, source);
    fs::create_dir_all(&folder).and_then(|()| fence::rename(&damage.path, &to)).map_err(at)?;
    // The recorded hash is moved along.
    let hash = segment::hash_path(dir, damage.segment);
    if let (true, Some(name)) = (hash.exists(), hash.file_name()) {
        fence::rename(&hash, folder.join(name)).map_err(at)?;
    }
    File::open(&folder).and_then(|folder| folder.sync_all()).map_err(at)?;
    Ok(Some(to))
}
