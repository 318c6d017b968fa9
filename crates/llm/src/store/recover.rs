//! Bringing the index up to the segments: after a crash, after the index was deleted, after folders were copied.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use super::line::Line;
use super::segment::{self, Number};
use super::{StoreError, index};
use riddlemill_files::{Unpacked, unpack};

/// Takes every line that the index has not seen into it, cuts the torn tails of writers that are gone, and seals
/// what they left open.
pub(super) fn recover(db: &mut Connection, dir: &Path) -> Result<(), StoreError> {
    let segments = segment::list(dir).map_err(|source| StoreError::io(dir, source))?;
    forget_if_segments_are_gone(db, &segments)?;
    for (number, sealed) in segments {
        // Its lock is held until the open file is gone: no other process seals it as well.
        let mut abandoned = match sealed {
            true => None,
            false => segment::take_over(dir, number).map_err(|source| StoreError::io(dir, source))?,
        };
        let frames = match &mut abandoned {
            Some(file) => {
                let sealing = segment::cut_torn_tail(file).and_then(|_| segment::seal(dir, number, file));
                Some(sealing.map_err(|source| StoreError::io(&segment::open_path(dir, number), source))?)
            }
            None => None,
        };
        let tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        catch_up(&tx, dir, number)?;
        if let Some(frames) = &frames {
            index::sealed(&tx, number, frames)?;
        }
        tx.commit()?;
        if frames.is_some() || sealed {
            remove_if_there(&segment::open_path(dir, number))?;
        }
    }
    Ok(())
}

/// An index that knows more segments than there are belongs to another folder, or to one that was cut by hand.
fn forget_if_segments_are_gone(db: &mut Connection, segments: &[(Number, bool)]) -> Result<(), StoreError> {
    let tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let known: Vec<Number> = tx
        .prepare("SELECT number FROM segments")?
        .query_map([], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    if known.iter().any(|number| segments.binary_search_by_key(number, |&(number, _)| number).is_err()) {
        index::clear(&tx)?;
    }
    Ok(tx.commit()?)
}

/// Takes the lines of one segment that the index has not seen into it. The caller holds the index's write lock,
/// which a writer holds from before it appends until its lines are indexed: no line is taken twice.
pub(super) fn catch_up(db: &Connection, dir: &Path, number: Number) -> Result<(), StoreError> {
    let (indexed_to, known_sealed) = index::progress(db, number)?;
    if known_sealed {
        return Ok(());
    }
    let path = segment::sealed_path(dir, number);
    if path.exists() {
        let at = |source| StoreError::io(&path, source);
        let frames = segment::frames(&path).map_err(at)?;
        let raw = unpack(&path).and_then(Unpacked::all).map_err(at)?;
        take_lines(db, number, indexed_to, raw.get(indexed_to as usize..).unwrap_or_default())?;
        return Ok(index::sealed(db, number, &frames)?);
    }
    let path = segment::open_path(dir, number);
    let at = |source| StoreError::io(&path, source);
    let mut new = Vec::new();
    let mut file = File::open(&path).map_err(at)?;
    file.seek(SeekFrom::Start(indexed_to)).and_then(|_| file.read_to_end(&mut new)).map_err(at)?;
    take_lines(db, number, indexed_to, &new)
}

fn take_lines(db: &Connection, number: Number, mut start: u64, bytes: &[u8]) -> Result<(), StoreError> {
    for bytes in bytes.split_inclusive(|&byte| byte == b'\n') {
        if !bytes.ends_with(b"\n") {
            break;
        }
        // A line that cannot be read is passed over here and named by `verify`.
        if let Ok(line) = serde_json::from_slice::<Line>(bytes) {
            index::apply(db, number, start, bytes.len() as u64, &line)?;
        }
        start += bytes.len() as u64;
    }
    Ok(index::indexed(db, number, start)?)
}

pub(super) fn remove_if_there(path: &Path) -> Result<(), StoreError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(StoreError::io(path, error)),
        _ => Ok(()),
    }
}
