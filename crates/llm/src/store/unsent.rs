//! Attempts that a killed process had journalled and certainly not sent: these are not charged. What it may
//! have sent is.
//!
//! Attempts are journalled ahead of a free slot. Right before one is sent its mark is set, in a file next to
//! the index: one byte per attempt, written and not synced. Marks survive the death of the process but not of
//! the machine, so they are valid only until the machine is restarted. Without marks, every attempt without
//! an outcome counts as sent.
//!
//! Attempts of a batch have no marks: `batches.jsonl`, which is synced before a batch is sent, lists them.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use riddlemill_files::log::{Log, write_at};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Deserialize;

use super::line::{self, Attempt, Failure, SegmentLine};
use super::segment::Number;
use super::{BATCHES, now_ms};
use crate::money::Usd;

/// Bytes before the marks: the machine's boot that they are of.
const HEAD: usize = 64;

/// The marks of this process, by segment.
#[derive(Default)]
pub(super) struct UnsentMarks(Mutex<FxHashMap<Number, Option<File>>>);

/// The file of a segment's marks.
fn marks_path(index: &Path, number: Number) -> PathBuf {
    index.with_extension(format!("{number:06}.sent"))
}

/// Identifies this boot of the machine; `None` if the system does not tell.
fn this_start() -> Option<[u8; HEAD]> {
    let id = fs::read("/proc/sys/kernel/random/boot_id").ok()?;
    let mut head = [b' '; HEAD];
    let len = id.len().min(HEAD);
    head[..len].copy_from_slice(&id[..len]);
    (len > 0).then_some(head)
}

/// Creates the marks of a segment, before its first attempt is journalled. Without them all of it counts as
/// sent.
pub(super) fn create_marks(index: &Path, number: Number) {
    let Some(head) = this_start() else { return };
    if fs::write(marks_path(index, number), head).is_err() {
        remove_marks(index, number);
    }
}

/// Removes the marks of a segment.
pub(super) fn remove_marks(index: &Path, number: Number) {
    let _ = fs::remove_file(marks_path(index, number));
}

impl UnsentMarks {
    /// Records that attempts are about to be sent.
    pub(super) fn mark_sent<'i>(&self, index: &Path, ids: impl Iterator<Item = &'i str>) {
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (number, ordinal) in ids.filter_map(split_id) {
            let path = marks_path(index, number);
            let file = files.entry(number).or_insert_with(|| File::options().write(true).open(&path).ok());
            let set = |file: &mut File| write_at(file, HEAD as u64 + ordinal, b"s");
            // If a full disk prevents marking, the attempt must not look unsent.
            if file.as_mut().is_some_and(|file| set(file).is_err() && file.set_len(0).is_err()) {
                let _ = fs::remove_file(&path);
            }
        }
    }
}

/// The segment of an attempt and its place in it.
fn split_id(id: &str) -> Option<(Number, u64)> {
    let (number, ordinal) = id.split_once('#')?;
    Some((number.parse().ok()?, ordinal.parse().ok()?))
}

/// An outcome for each attempt of a segment that a process left without sending it.
pub(super) fn outcomes_of_unsent(dir: &Path, index: &Path, number: Number, raw: &[u8]) -> Vec<SegmentLine> {
    let mut open: FxHashMap<String, Attempt> = FxHashMap::default();
    for line in line::readable_lines(raw) {
        match line {
            SegmentLine::Attempt(attempt) => _ = open.insert(attempt.id.clone(), attempt),
            SegmentLine::Failure(failure) => _ = open.remove(&failure.id),
            SegmentLine::Reply(reply) => _ = reply.id.and_then(|id| open.remove(&id)),
            SegmentLine::Forgotten(_) => {}
        }
    }
    if open.is_empty() {
        return Vec::new();
    }
    let marks = fs::read(marks_path(index, number))
        .ok()
        .filter(|marks| this_start().is_some_and(|head| marks.starts_with(&head)));
    let in_batches = if open.values().any(|attempt| attempt.batch) { in_batches(dir) } else { None };
    let is_unsent = |attempt: &Attempt| {
        // A salvaged attempt carries the number of another segment.
        let place = split_id(&attempt.id).filter(|(of, _)| *of == number);
        let Some(place) = place.and_then(|(_, ordinal)| usize::try_from(ordinal).ok()) else { return false };
        match (attempt.batch, &marks, &in_batches) {
            (true, _, Some(in_batches)) => !in_batches.contains(&attempt.id),
            // Places that were never written read as zero, or are past the end of the file.
            (false, Some(marks), _) => marks.get(HEAD + place).is_none_or(|mark| *mark == 0),
            _ => false,
        }
    };
    let mut unsent: Vec<Attempt> = open.into_values().filter(is_unsent).collect();
    unsent.sort_by_key(|attempt| split_id(&attempt.id));
    unsent.into_iter().map(outcome_line).collect()
}

fn outcome_line(attempt: Attempt) -> SegmentLine {
    SegmentLine::Failure(Failure {
        id: attempt.id,
        key: attempt.key,
        error: "not sent: the process ended before".to_owned(),
        status: None,
        raw: String::new(),
        charged_picousd: Usd::ZERO,
        usage: None,
        at_ms: now_ms(),
        elapsed_ms: 0,
        lasting: false,
        request: None,
    })
}

/// The attempts that are in a batch; `None` if their log cannot be read.
fn in_batches(dir: &Path) -> Option<FxHashSet<String>> {
    #[derive(Deserialize)]
    struct BatchEntry {
        #[serde(default)]
        items: Vec<AttemptItem>,
    }
    #[derive(Deserialize)]
    struct AttemptItem {
        attempt: String,
    }
    let entries: Vec<BatchEntry> = Log::in_file(dir.join(BATCHES)).read_entries().ok()?;
    Some(entries.into_iter().flat_map(|entry| entry.items).map(|item| item.attempt).collect())
}

/// Adds lines to a segment whose lock the caller holds.
pub(super) fn append_lines(file: &mut File, lines: &[SegmentLine]) -> io::Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    let bytes: Vec<u8> = lines.iter().flat_map(SegmentLine::to_json_line).collect();
    write_at(file, file.metadata()?.len(), &bytes)?;
    file.sync_data()
}
