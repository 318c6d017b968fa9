//! The list of segments and of their contents when sealed: `segments.jsonl`, a log whose end is recorded in
//! `raw/heads.jsonl`. A missing, replaced or foreign segment is detected before anything is asked again.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::SystemTime;

use riddlemill_files::log::{Log, LogError, describe_stray};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::index::Charges;
use super::line::{self, Attempt, SegmentLine};
use super::segment::{self, Number};
use super::{Damage, StoreError};
use crate::money::Usd;
use crate::request::Key;
use riddlemill_files::fence;

/// An entry on a segment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct SegmentEntry {
    pub segment: Number,
    /// The SHA-256 of the sealed file; `None` while it is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// The replies in it.
    #[serde(default)]
    pub replies: u64,
    /// The most that asking them again can cost: each one's reservation, or its charge if that is more.
    #[serde(default)]
    pub reserved_picousd: Usd,
    /// Its attempts' charges, by budget; for a missing segment, the charges that are recorded nowhere else.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub charged: Charges,
    /// The replies that it forgets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forgets: Vec<Key>,
    /// Set when somebody has accepted its loss: what was wrong with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gone: Option<String>,
}

/// The log of a store's segments.
fn segments_log(dir: &Path) -> Log {
    Log::in_file(dir.join("segments.jsonl"))
}

/// The last entry of each segment; `None` if there never was a log.
pub(super) fn read_entries(dir: &Path) -> Result<Option<BTreeMap<Number, SegmentEntry>>, LogError> {
    let log = segments_log(dir);
    let entries: Vec<SegmentEntry> = log.read_entries()?;
    if entries.is_empty() && !log.path().exists() {
        return Ok(None);
    }
    Ok(Some(entries.into_iter().map(|entry| (entry.segment, entry)).collect()))
}

/// The first number that no segment ever had.
pub(super) fn next(dir: &Path) -> Number {
    // If the log cannot be read, recording the segment's name will fail.
    let entries = read_entries(dir).ok().flatten().unwrap_or_default();
    entries.keys().next_back().map_or(1, |last| last + 1)
}

/// Adds entries and returns when they are on disk.
pub(super) fn add(dir: &Path, entries: &[SegmentEntry]) -> Result<(), StoreError> {
    Ok(segments_log(dir).add(entries)?)
}

/// Records a segment before its first line is written.
pub(super) fn record_begun(dir: &Path, number: Number) -> Result<(), StoreError> {
    add(dir, &[SegmentEntry { segment: number, ..SegmentEntry::default() }])
}

/// Records the contents of a sealed segment.
pub(super) fn record_sealed(dir: &Path, number: Number, raw: &[u8]) -> Result<(), StoreError> {
    let path = segment::sealed_path(dir, number);
    let sha256 = hash(&path)?;
    add(dir, &[SegmentEntry { sha256: Some(sha256), ..entry_of_lines(number, raw) }])
}

/// The contents of a segment's lines.
pub(super) fn entry_of_lines(number: Number, raw: &[u8]) -> SegmentEntry {
    let mut attempts: FxHashMap<String, (Usd, Vec<String>, Option<Usd>)> = FxHashMap::default();
    let mut entry = SegmentEntry { segment: number, ..SegmentEntry::default() };
    for line in line::readable_lines(raw) {
        let (id, charged) = match line {
            SegmentLine::Attempt(Attempt { id, scopes, reserved_picousd, .. }) => {
                attempts.entry(id).or_insert((reserved_picousd, scopes, None));
                continue;
            }
            SegmentLine::Reply(reply) => {
                let most =
                    reply.id.as_ref().and_then(|id| attempts.get(id)).map_or(Usd::ZERO, |(most, ..)| *most);
                entry.replies += 1;
                entry.reserved_picousd += most.max(reply.charged_picousd.believable_charge(most));
                (reply.id, reply.charged_picousd)
            }
            SegmentLine::Failure(failure) => (Some(failure.id), failure.charged_picousd),
            SegmentLine::Forgotten(forgotten) => {
                entry.forgets.extend(forgotten.reply);
                continue;
            }
        };
        if let Some((_, _, outcome)) = id.and_then(|id| attempts.get_mut(&id)) {
            // A salvage may have left the same outcome twice, and the first one counts, as in the index.
            outcome.get_or_insert(charged);
        }
    }
    for (reserved, scopes, outcome) in attempts.into_values() {
        // A run's budget ends with the run.
        for scope in scopes.into_iter().filter(|scope| !scope.starts_with(super::RUN)) {
            let (charged, attempts) = entry.charged.entry(scope).or_default();
            *charged += outcome.map_or(reserved, |outcome| outcome.believable_charge(reserved));
            *attempts += 1;
        }
    }
    entry
}

/// Files hashed by this process, with size and time.
type Hashed = FxHashMap<PathBuf, (u64, Option<SystemTime>, String)>;

/// The SHA-256 of a file, cached while the file is unchanged, because a store is opened for every stage.
pub(super) fn hash(path: &Path) -> Result<String, StoreError> {
    static HASHED: OnceLock<Mutex<Hashed>> = OnceLock::new();
    let at = |source| StoreError::io(path, source);
    let meta = fs::metadata(path).map_err(at)?;
    let (len, modified) = (meta.len(), meta.modified().ok());
    let hashed = || HASHED.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, _, hash)) = hashed().get(path).filter(|(l, m, _)| (*l, *m) == (len, modified)) {
        return Ok(hash.clone());
    }
    let hash = segment::hash_file(path).map_err(at)?;
    hashed().insert(path.to_owned(), (len, modified, hash.clone()));
    Ok(hash)
}

/// Sound segments, with whether they are sealed, and what is wrong with the others.
type Judged = (Vec<(Number, bool)>, Vec<Damage>);

/// The sound segments, and what is wrong with the others. Creates the log for a store from before there was
/// one.
pub(super) fn judge_segments(dir: &Path) -> Result<Judged, StoreError> {
    let (judged, unnamed) = examine_segments(dir)?;
    add(dir, &unnamed)?;
    Ok(judged)
}

/// Like [`judge_segments`], without writing; also returns the missing entries of a store without a log.
pub(super) fn examine_segments(dir: &Path) -> Result<(Judged, Vec<SegmentEntry>), StoreError> {
    let mut entries = match read_entries(dir) {
        Ok(entries) => entries,
        Err(LogError::Damaged { path, what, .. }) => {
            return Ok((
                (segment::list_numbers(dir)?, vec![damage_of_segment(&path, 0, what, None)]),
                Vec::new(),
            ));
        }
        Err(other) => return Err(other.into()),
    };
    let listed = segment::list_numbers(dir)?;
    let knows =
        |entries: &BTreeMap<Number, SegmentEntry>| listed.iter().all(|(n, _)| entries.contains_key(n));
    if entries.as_ref().is_some_and(|entries| !knows(entries)) {
        // A segment was begun meanwhile.
        entries = read_entries(dir)?;
    }
    // A store from before the log existed; the contents of a segment are recorded when it is read.
    let of = |(segment, _): &(Number, bool)| SegmentEntry { segment: *segment, ..SegmentEntry::default() };
    let unnamed: Vec<SegmentEntry> =
        if entries.is_some() { Vec::new() } else { listed.iter().map(of).collect() };
    let by_number = || unnamed.iter().map(|entry| (entry.segment, entry.clone())).collect();
    let entries = entries.unwrap_or_else(by_number);
    let (mut sound, mut damage) = (Vec::new(), Vec::new());
    for (number, is_sealed) in &listed {
        let path = segment::file_path(dir, *number, *is_sealed);
        let what = match (entries.get(number), is_sealed) {
            (Some(SegmentEntry { gone: Some(_), .. }), _) => continue,
            (Some(SegmentEntry { sha256: Some(hash), .. }), true) => match self::hash(&path) {
                Ok(found) if found == *hash => None,
                Ok(_) => Some("it is not what was sealed".to_owned()),
                Err(e) => Some(e.to_string()),
            },
            (Some(SegmentEntry { sha256: Some(_), .. }), false) => {
                Some("it was sealed, and the sealed file is missing".to_owned())
            }
            (Some(_), true) => not_its_hash(dir, *number)?,
            (Some(_), false) => None,
            // Created by a process that has not written yet.
            (None, false) if fs::metadata(&path).is_ok_and(|meta| meta.len() == 0) => None,
            (None, _) => Some(describe_stray("segments.jsonl does not list it")),
        };
        match what {
            None => sound.push((*number, *is_sealed)),
            Some(what) => damage.push(damage_of_segment(&path, *number, what, entries.get(number))),
        }
    }
    let is_listed = |number: &Number| listed.iter().any(|(n, _)| n == number);
    for (number, entry) in entries.iter().filter(|(n, entry)| entry.gone.is_none() && !is_listed(n)) {
        // Sealed while the folder was listed.
        if let Some(is_sealed) =
            [true, false, true].into_iter().find(|s| segment::file_path(dir, *number, *s).exists())
        {
            sound.push((*number, is_sealed));
            continue;
        }
        let path = segment::file_path(dir, *number, entry.sha256.is_some());
        damage.push(damage_of_segment(&path, *number, "it is missing".into(), Some(entry)));
    }
    sound.sort_unstable();
    Ok(((sound, damage), unnamed))
}

pub(super) fn damage_of_segment(
    path: &Path,
    segment: Number,
    what: String,
    entry: Option<&SegmentEntry>,
) -> Damage {
    let known = entry.filter(|entry| entry.sha256.is_some());
    Damage {
        segment,
        path: path.to_owned(),
        what,
        replies: known.map(|entry| entry.replies),
        most: known.map(|entry| entry.reserved_picousd).unwrap_or_default(),
        charged: known.map(|entry| entry.charged.clone()),
        forgets: entry.map(|entry| entry.forgets.clone()).unwrap_or_default(),
    }
}

/// Whether a sealed segment differs from the hash recorded next to it.
fn not_its_hash(dir: &Path, number: Number) -> Result<Option<String>, StoreError> {
    let Ok(promised) = fence::read_to_string(segment::hash_path(dir, number)) else { return Ok(None) };
    let found = hash(&segment::sealed_path(dir, number))?;
    let differs = promised.split_whitespace().next() != Some(&found);
    Ok(differs.then(|| "it does not have the hash of its .sha256".to_owned()))
}
