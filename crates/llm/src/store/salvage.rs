//! Salvages what is intact of a damaged segment.

use std::io::Write;
use std::path::{Path, PathBuf};

use riddlemill_files::log::{free_folder, move_aside, pieces_of_file, sync_names};
use serde::Serialize;

use super::index::Charges;
use super::line::{self, Forgotten, SegmentLine};
use super::segment::{self, Number};
use super::{Damage, Store, StoreError, index, registry};
use crate::money::Usd;
use crate::request::Key;
use riddlemill_files::fence;

/// The result of salvaging a damaged segment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SalvagedReplies {
    /// The segment's file.
    #[serde(rename = "segment")]
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
    #[serde(rename = "aside")]
    pub moved_to: Option<PathBuf>,
}

impl Store {
    /// Copies what is intact of damaged segments into new ones, moves the damaged ones to `raw/damaged`, and
    /// accepts the loss of the rest. It can be stopped and called again. Reopen the store afterwards.
    ///
    /// # Errors
    /// [`StoreError`] if something cannot be read or written.
    pub fn salvage_segments(&self) -> Result<Vec<SalvagedReplies>, StoreError> {
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
            lines.extend(tombstones_of(damage.segment, &lines, &old));
            let rescued = registry::entry_of_lines(damage.segment, &lines);
            // Copied, then accepted, then moved: a salvage that is stopped in between can be repeated.
            if !lines.is_empty() && !self.has_lines(&lines)? {
                write_segment(&self.dir, &lines)?;
            }
            self.accept_loss(damage, &rescued.charged)?;
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
            .try_for_each(|damage| self.accept_loss(damage, &Charges::new()))
    }

    /// Charges of salvaged attempts count at their new place, the rest with the lost segment.
    fn accept_loss(&self, damage: &Damage, kept: &Charges) -> Result<(), StoreError> {
        let mut charged = damage.charged.clone().unwrap_or_default();
        for (scope, (amount, attempts)) in &mut charged {
            let (there, of) = kept.get(scope).copied().unwrap_or_default();
            *amount = (*amount - there).max(Usd::ZERO);
            *attempts = attempts.saturating_sub(of);
        }
        charged.retain(|_, rest| *rest != (Usd::ZERO, 0));
        let entry = registry::SegmentEntry {
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
    fn has_lines(&self, lines: &[u8]) -> Result<bool, StoreError> {
        let is_damaged = |number| self.damage.iter().any(|damage| damage.segment == number);
        let (listed, _) = registry::judge_segments(&self.dir)?;
        for (number, is_sealed) in listed.into_iter().filter(|(number, _)| !is_damaged(*number)) {
            if segment::read_lines(&self.dir, number, is_sealed)? == lines {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Tombstones by identity for the replies among the lines that old tombstones forget by place.
fn tombstones_of(segment: Number, lines: &[u8], old: &[(Number, Key, u64)]) -> Vec<u8> {
    let mut tombstones = Vec::new();
    for line in line::readable_lines(lines) {
        let SegmentLine::Reply(reply) = line else { continue };
        let of = |of: &&(Number, Key, u64)| (of.0, of.1) == (segment, reply.key) && reply.at_ms <= of.2;
        if let Some((segment, key, at_ms)) = old.iter().find(of).copied() {
            let (why, reply) = ("forgotten before it was salvaged".into(), Some(reply.reply_identity()));
            let line = SegmentLine::Forgotten(Forgotten { key, reply, segment, start: 0, why, at_ms });
            tombstones.extend(line.to_json_line());
        }
    }
    tombstones
}

/// Tombstones by place among the lines: segment, key, and time.
fn old_tombstones(lines: &[u8]) -> Vec<(Number, Key, u64)> {
    let by_place = |line| match line {
        SegmentLine::Forgotten(Forgotten { key, reply: None, segment, at_ms, .. }) => {
            Some((segment, key, at_ms))
        }
        _ => None,
    };
    line::readable_lines(lines).filter_map(by_place).collect()
}

/// The intact lines of a segment, and the offsets of damaged parts. A frame is intact if its checksum is
/// right; one from before there were checksums, if each of its lines is valid and each request hashes to its
/// key.
pub(super) fn whole_lines(path: &Path) -> (Vec<u8>, Vec<u64>) {
    let Ok(bytes) = fence::read(path) else { return (Vec::new(), Vec::new()) };
    let (mut lines, mut torn) = (Vec::new(), Vec::new());
    for piece in pieces_of_file(path, &bytes) {
        let (mut whole, mut wrong) = (Vec::new(), vec![piece.at]);
        if piece.is_whole {
            (whole, wrong) = sound_lines(&piece.bytes, piece.at, piece.has_checksum);
            // Without a checksum, one wrong line makes all of them doubtful.
            if !piece.has_checksum && !wrong.is_empty() {
                (whole, wrong) = (Vec::new(), vec![piece.at]);
            }
        }
        lines.extend(whole);
        torn.extend(wrong);
    }
    (lines, torn)
}

/// The intact lines, and the offsets of others. What is proved to be as it was written and says what only a newer
/// program knows is kept for that.
fn sound_lines(raw: &[u8], at: u64, is_proved: bool) -> (Vec<u8>, Vec<u64>) {
    let (mut lines, mut torn) = (Vec::new(), Vec::new());
    for (start, bytes, line) in line::parse_lines(raw) {
        let is_whole = bytes.ends_with(b"\n")
            && match line {
                Ok(SegmentLine::Reply(reply)) => reply.request.key() == reply.key,
                Ok(_) => true,
                Err(error) => is_proved && error.is_data(),
            };
        if is_whole {
            lines.extend_from_slice(bytes);
        } else {
            torn.push(at + start);
        }
    }
    (lines, torn)
}

/// Writes lines as a new segment, which the next start seals.
pub(super) fn write_segment(dir: &Path, lines: &[u8]) -> Result<Number, StoreError> {
    let (number, mut file) = segment::create_next(dir, registry::next(dir))?;
    let path = segment::open_path(dir, number);
    // Before the lines: a segment with lines that is not in the log counts as foreign.
    registry::record_begun(dir, number)?;
    file.write_all(lines).and_then(|()| file.sync_all()).map_err(|source| StoreError::io(&path, source))?;
    sync_names(dir).map_err(|source| StoreError::io(dir, source))?;
    Ok(number)
}

fn move_damaged(dir: &Path, damage: &Damage) -> Result<Option<PathBuf>, StoreError> {
    let below = Path::new("replies").join(damage.path.file_name().unwrap_or_default());
    let to = free_folder(dir.parent().unwrap_or(dir), &below).join(below);
    if !damage.path.exists() || !move_aside(&damage.path, &to)? {
        return Ok(None);
    }
    // The recorded hash is moved along.
    let hash = segment::hash_path(dir, damage.segment);
    move_aside(&hash, &to.with_file_name(hash.file_name().unwrap_or_default()))?;
    Ok(Some(to))
}
