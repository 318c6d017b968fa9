//! Brings the index up to date with the segments: after a crash, after the index was deleted, after folders
//! were copied.

use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use super::index::Charges;
use super::segment::{self, Number};
use super::{Damage, StoreError, index, line, registry, unsent};
use riddlemill_files::log::{self, describe_cut, read_from};

/// Indexes every new line, cuts the torn tails of writers that are gone, and seals what they left open.
/// Damaged segments are returned, and do not prevent the others from being used.
pub(super) fn recover_segments(
    db: &mut Connection,
    dir: &Path,
    index: &Path,
) -> Result<Vec<Damage>, StoreError> {
    let (segments, mut damage) = registry::judge_segments(dir)?;
    let names_are_known = damage.iter().all(|damage| damage.segment != 0);
    forget_if_segments_are_gone(db, &segments)?;
    keep_of_the_lost(db, dir, &damage)?;
    for (number, sealed) in segments {
        let path = segment::file_path(dir, number, sealed);
        let length = fs::metadata(&path).map_or(0, |meta| meta.len());
        let (indexed_to, _) = index::indexing_progress(db, number)?;
        // Only for open segments: the length of a sealed one is that of compressed bytes.
        let cut = (!sealed && length < indexed_to && path.exists()).then(|| describe_cut(length, indexed_to));
        let recovered = match cut {
            None => recover_segment(db, (dir, index), number, sealed, names_are_known),
            Some(what) => Err(StoreError::io(&path, io::Error::new(io::ErrorKind::InvalidData, what))),
        };
        note_damage(&mut damage, number, recovered)?;
    }
    Ok(damage)
}

/// Indexes every whole line without writing to the folder: nothing is cut or sealed. Damaged segments are returned.
pub(super) fn index_segments(db: &mut Connection, dir: &Path) -> Result<Vec<Damage>, StoreError> {
    if !dir.is_dir() {
        return Ok(Vec::new());
    }
    let ((segments, mut damage), _) = registry::examine_segments(dir)?;
    keep_of_the_lost(db, dir, &damage)?;
    for (number, _) in segments {
        let tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // What a segment gave before its damage is dropped with the transaction.
        let caught_up = catch_up(&tx, dir, number).and_then(|()| Ok(tx.commit()?));
        note_damage(&mut damage, number, caught_up)?;
    }
    Ok(damage)
}

/// Takes the error of a segment whose contents are damaged for damage of it.
fn note_damage(
    damage: &mut Vec<Damage>,
    number: Number,
    recovered: Result<(), StoreError>,
) -> Result<(), StoreError> {
    match recovered {
        Err(StoreError::Io { path, source }) if is_damage(&source) => {
            damage.push(registry::damage_of_segment(&path, number, source.to_string(), None));
            Ok(())
        }
        other => other,
    }
}

/// Whether an error concerns a file's contents, not reading it.
fn is_damage(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidData, Other, UnexpectedEof};
    matches!(error.kind(), InvalidData | Other | UnexpectedEof)
}

fn recover_segment(
    db: &mut Connection,
    (dir, index_path): (&Path, &Path),
    number: Number,
    sealed: bool,
    names_are_known: bool,
) -> Result<(), StoreError> {
    // The lock is held as long as the open file exists: no other process seals it as well.
    let mut abandoned = match sealed {
        true => None,
        false => segment::take_over(dir, number).map_err(|source| StoreError::io(dir, source))?,
    };
    let frames = match &mut abandoned {
        Some(file) => {
            let sealing = segment::cut_torn_tail(file).and_then(|_| {
                file.seek(SeekFrom::Start(0))?;
                let mut raw = Vec::new();
                file.read_to_end(&mut raw)?;
                // Before the seal, because a sealed segment is never changed.
                unsent::append_lines(file, &unsent::outcomes_of_unsent(dir, index_path, number, &raw))?;
                segment::compress_open(dir, number, file)
            });
            Some(sealing.map_err(|source| StoreError::io(&segment::open_path(dir, number), source))?)
        }
        None => None,
    };
    let tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    catch_up(&tx, dir, number)?;
    if let Some(frames) = &frames {
        index::record_frames(&tx, number, frames)?;
    }
    tx.commit()?;
    if (frames.is_some() || sealed) && names_are_known {
        note_sealed(dir, number)?;
    }
    if frames.is_some() || sealed {
        remove_if_there(&segment::open_path(dir, number))?;
        unsent::remove_marks(index_path, number);
    }
    Ok(())
}

/// Records the contents of a sealed segment if its writer did not: it was stopped, or is of an older version.
pub(super) fn note_sealed(dir: &Path, number: Number) -> Result<(), StoreError> {
    let entries = registry::read_entries(dir)?.unwrap_or_default();
    if entries.get(&number).is_some_and(|entry| entry.sha256.is_some()) {
        return Ok(());
    }
    registry::record_sealed(dir, number, &segment::read_lines(dir, number, true)?)
}

/// Clears an index of segments that are missing or changed.
fn forget_if_segments_are_gone(db: &mut Connection, segments: &[(Number, bool)]) -> Result<(), StoreError> {
    let tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let known: Vec<Number> = tx
        .prepare("SELECT number FROM segments")?
        .query_map([], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    if known.iter().any(|number| segments.binary_search_by_key(number, |&(number, _)| number).is_err()) {
        index::clear_tables(&tx)?;
    }
    Ok(tx.commit()?)
}

/// Keeps the charges and the tombstones of segments that are damaged or missing.
fn keep_of_the_lost(db: &mut Connection, dir: &Path, damage: &[Damage]) -> Result<(), StoreError> {
    // If the log is damaged itself, nothing can be spent.
    let entries = registry::read_entries(dir).ok().flatten().unwrap_or_default();
    let lost_segments = entries.into_values().filter(|entry| entry.gone.is_some());
    let mut lost = Charges::new();
    let mut forgotten = Vec::new();
    let damaged = damage.iter().map(|d| (d.charged.clone().unwrap_or_default(), d.forgets.clone()));
    for (charged, forgets) in lost_segments.map(|entry| (entry.charged, entry.forgets)).chain(damaged) {
        forgotten.extend(forgets);
        for (scope, (amount, attempts)) in charged {
            let sum = lost.entry(scope).or_default();
            *sum = (sum.0 + amount, sum.1 + attempts);
        }
    }
    let tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    index::record_lost_charges(&tx, &lost)?;
    forgotten.iter().try_for_each(|reply| index::mark_forgotten(&tx, reply))?;
    Ok(tx.commit()?)
}

/// Indexes the new lines of one segment. The caller holds the index's write lock, which a writer holds from
/// before it appends until its lines are indexed: no line is indexed twice.
pub(super) fn catch_up(db: &Connection, dir: &Path, number: Number) -> Result<(), StoreError> {
    let (indexed_to, known_sealed) = index::indexing_progress(db, number)?;
    if known_sealed {
        return Ok(());
    }
    let path = segment::sealed_path(dir, number);
    if path.exists() {
        let frames = segment::read_frames(&path).map_err(|source| StoreError::io(&path, source))?;
        let raw = segment::read_lines(dir, number, true)?;
        take_lines(db, number, indexed_to, raw.get(indexed_to as usize..).unwrap_or_default())?;
        return Ok(index::record_frames(db, number, &frames)?);
    }
    let path = segment::open_path(dir, number);
    let new = read_from(&path, indexed_to).map_err(|source| StoreError::io(&path, source))?;
    take_lines(db, number, indexed_to, &new)
}

/// Indexes lines whose first byte is at `start` of their segment.
fn take_lines(db: &Connection, number: Number, start: u64, bytes: &[u8]) -> Result<(), StoreError> {
    let mut end = start;
    for (at, bytes, line) in line::parse_lines(bytes).filter(|(_, bytes, _)| bytes.ends_with(b"\n")) {
        // Unreadable lines are skipped here and reported by `verify`.
        if let Ok(line) = line {
            index::index_line(db, number, start + at, bytes.len() as u64, &line)?;
        }
        end = start + at + bytes.len() as u64;
    }
    Ok(index::record_progress(db, number, end)?)
}

pub(super) fn remove_if_there(path: &Path) -> Result<(), StoreError> {
    log::remove_if_there(path).map_err(|source| StoreError::io(path, source))
}
