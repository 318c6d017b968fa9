//! Reading a file in batches of items; its content determines the decompression.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use super::files::Dump;
use super::shape::{self, Shape};
use super::split::{SplitItems, Splitter, Unread};
use riddlemill_files::reading::text_of;
use riddlemill_text::notation;
use serde_json::Value;
use serde_json::value::RawValue;

pub use riddlemill_files::reading::open_unpacked;

/// Items of a batch.
pub(super) const BATCH: usize = 1 << 14;
/// Most bytes of a batch: lines may be long.
const BATCH_BYTES: usize = 16 << 20;
/// Bytes of one read.
const PIECE: usize = 1 << 20;

/// The items of a dump, read ahead by a thread of their own: at most two batches wait. Of a file whose records cannot be
/// found none.
pub(super) fn read_batches(dump: &Dump, limit: u64) -> Receiver<SplitItems> {
    let (sender, receiver) = sync_channel(2);
    let dump = dump.clone();
    thread::spawn(move || {
        let first = dump.piece.is_first();
        let shape = match first {
            true => match shape::of_dump(&dump) {
                Ok(shape) => shape,
                Err(_) => return,
            },
            // Only files of lines are cut.
            false => Shape::Lines,
        };
        let mut splitter = match first {
            true => Splitter::for_shape(&shape, limit),
            false => Splitter::resume_at(limit, &shape, dump.piece.lines + 1),
        };
        let mut rows = 0;
        let mut records = |items: SplitItems| match &shape {
            Shape::Pages { at, .. } => rows_of_pages(&items, at, &mut rows),
            _ => items,
        };
        let cut = feed_text(&dump.path, first, |piece| {
            splitter.feed_piece(piece);
            // The receiver is gone if the run was stopped; then the rest is not read.
            let (items, bytes) = splitter.count_ready();
            items < BATCH && bytes < BATCH_BYTES || sender.send(records(splitter.take_items())).is_ok()
        });
        splitter.finish(cut.err().as_ref().map(describe_error));
        // The receiver is gone if the run was stopped.
        let _ = sender.send(records(splitter.take_items()));
    });
    receiver
}

/// The records of whole pages, numbered through the file: those of the list at a pointer in each, which is empty where a page is
/// the list itself.
fn rows_of_pages(pages: &SplitItems, at: &str, count: &mut u64) -> SplitItems {
    let mut rows = SplitItems::default();
    let mut put = |row: Result<&[u8], Unread>| {
        *count += 1;
        rows.push(*count, row);
    };
    for page in (0..pages.len()).filter_map(|n| pages.get(n)) {
        match page.bytes {
            Ok(bytes) => {
                let text = String::from_utf8_lossy(bytes);
                match list_at(&text, at).or_else(|| list_at(&notation::strict_json(&text), at)) {
                    Some(list) => list.iter().for_each(|row| put(Ok(row.get().as_bytes()))),
                    None if is_head_of_export(&text) => {}
                    None => put(Err(Unread::Foreign(
                        "a page that is damaged, or without the list of records that the others have",
                    ))),
                }
            }
            Err(unread) => put(Err(unread)),
        }
    }
    rows
}

/// Whether an object says what an export is, before the objects with its tables: `{"type": "header", "version": "5.2"}`, as phpMyAdmin
/// writes it.
fn is_head_of_export(page: &str) -> bool {
    let object: Option<BTreeMap<String, Value>> = serde_json::from_str(page).ok();
    object.is_some_and(|object| {
        object.get("type").is_some_and(|kind| kind == "header" || kind == "database")
            && object.values().all(|value| value.is_string())
    })
}

/// The elements of the list at a pointer.
fn list_at(page: &str, at: &str) -> Option<Vec<Box<RawValue>>> {
    let mut value: Box<RawValue> = serde_json::from_str(page).ok()?;
    for key in at.split('/').skip(1) {
        let mut members: BTreeMap<String, Box<RawValue>> = serde_json::from_str(value.get()).ok()?;
        value = members.remove(key)?;
    }
    serde_json::from_str(value.get()).ok()
}

/// Feeds the text of a file to `take` until it has enough. `first`: whether it is the beginning of a file, which shows
/// its encoding.
fn feed_text(path: &std::path::Path, first: bool, mut take: impl FnMut(&[u8]) -> bool) -> io::Result<()> {
    let mut reader = open_unpacked(path)?;
    if first {
        reader = text_of(reader)?.reader;
    }
    let mut buffer = vec![0; PIECE];
    loop {
        let read = fill_buffer(&mut reader, &mut buffer);
        let (read, error) = match read {
            Ok(read) => (read, None),
            Err((read, e)) => (read, Some(e)),
        };
        if !take(&buffer[..read]) {
            return Ok(());
        }
        match error {
            Some(e) => return Err(e),
            None if read < buffer.len() => return Ok(()),
            None => {}
        }
    }
}

/// Reads until the buffer is full or the stream ends; what was read before an error is not lost.
fn fill_buffer(reader: &mut dyn Read, buffer: &mut [u8]) -> Result<usize, (usize, io::Error)> {
    let mut read = 0;
    while read < buffer.len() {
        match reader.read(&mut buffer[read..]) {
            Ok(0) => break,
            Ok(n) => read += n,
            // A signal came during the read, which is repeated.
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err((read, e)),
        }
    }
    Ok(read)
}

pub(super) fn describe_error(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => "the compressed stream is cut off",
        io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput | io::ErrorKind::Other => {
            "the compressed stream is damaged"
        }
        io::ErrorKind::PermissionDenied => "permission denied",
        io::ErrorKind::NotFound => "the file is gone",
        _ => "the disk returned an error",
    }
}
