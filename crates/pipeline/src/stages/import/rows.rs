//! The rows of a table as items, in any format: JSON and JSONL as they are, CSV and Parquet
//! as the JSON objects of their rows.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use serde_json::{Map, Value};

use super::dump;
use super::files::Dump;
use super::pickle;
use super::split::{Items, Unread};
use crate::config::SourceKind;
use riddlemill_tables::parquet_rows;

/// The items of a dump, as [`dump::batches`] gives them; those of a table also if they are not JSON.
pub(super) fn batches(dump: &Dump, limit: u64) -> Receiver<Items> {
    if !matches!(dump.kind, SourceKind::Table | SourceKind::Published) || !dump.piece.is_first() {
        return dump::batches(dump, limit);
    }
    let read: fn(&Path, u64, &SyncSender<Items>) = match head(&dump.path) {
        Head::Parquet => parquet,
        Head::Csv => csv,
        Head::Numpy => numpy,
        Head::Json => return dump::batches(dump, limit),
    };
    let (sender, receiver) = sync_channel(2);
    let path = dump.path.clone();
    thread::spawn(move || read(&path, limit, &sender));
    receiver
}

pub(super) enum Head {
    Parquet,
    Json,
    Csv,
    /// An array of numpy's, with pickled objects.
    Numpy,
}

/// The format of a file, from its first bytes. A file that cannot be read is left to the reader of lines, which reports why.
pub(super) fn head(path: &Path) -> Head {
    let Ok(reader) = dump::open(path) else { return Head::Json };
    let mut bytes = Vec::new();
    if reader.take(4096).read_to_end(&mut bytes).is_err() && bytes.is_empty() {
        return Head::Json;
    }
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes).trim_ascii_start();
    match text.first() {
        _ if bytes.starts_with(b"PAR1") => Head::Parquet,
        _ if bytes.starts_with(pickle::MAGIC) => Head::Numpy,
        // UTF-16 is reported by the reader of lines, too.
        None | Some(b'{' | b'[' | 0xff | 0xfe) => Head::Json,
        Some(_) => Head::Csv,
    }
}

/// The first line names the columns; they are parted by commas, or by tabs where it has more of those.
fn csv(path: &Path, limit: u64, sender: &SyncSender<Items>) {
    let mut items = Items::default();
    let mut last = 1;
    let cut = (|| -> Result<(), csv::Error> {
        let mut reader = BufReader::new(dump::open(path)?);
        if reader.fill_buf()?.starts_with(b"\xef\xbb\xbf") {
            reader.consume(3);
        }
        let first = reader.fill_buf()?;
        let first = &first[..memchr::memchr(b'\n', first).unwrap_or(first.len())];
        let count = |byte: u8| memchr::memchr_iter(byte, first).count();
        let delimiter = if count(b'\t') > count(b',') { b'\t' } else { b',' };
        // The reader counts the line feed of a CRLF with the row behind it.
        let late = u64::from(first.ends_with(b"\r"));
        let mut reader = ::csv::ReaderBuilder::new().delimiter(delimiter).flexible(true).from_reader(reader);
        let columns: Vec<String> = reader
            .byte_headers()?
            .iter()
            .map(|name| String::from_utf8_lossy(name).trim().to_string())
            .collect();
        let mut record = ::csv::ByteRecord::new();
        while reader.read_byte_record(&mut record)? {
            // A lone carriage return ends a row and no line: two rows never share a position.
            last = record.position().map_or(0, |p| p.line() + late).max(last + 1);
            let object = object(&columns, &record, limit);
            items.push(last, object.as_deref().map_err(|unread| *unread));
            if items.len() == dump::BATCH && sender.send(std::mem::take(&mut items)).is_err() {
                return Ok(());
            }
        }
        Ok(())
    })();
    if let Err(error) = cut {
        let why = match error.kind() {
            ::csv::ErrorKind::Io(error) => dump::describe(error),
            _ => "the rows from here on are not valid CSV",
        };
        // A position of its own, because the ledger has each position once.
        items.push(last + 1, Err(Unread::Truncated(why)));
    }
    let _ = sender.send(items);
}

/// A row as a JSON object. Empty cells are absent, and cells beyond the columns have no name to be read by.
fn object(columns: &[String], record: &::csv::ByteRecord, limit: u64) -> Result<Vec<u8>, Unread> {
    let length = record.as_slice().len() as u64;
    if length > limit {
        return Err(Unread::Oversize(length));
    }
    let mut row = Map::new();
    for (column, cell) in columns.iter().zip(record).filter(|(_, cell)| !cell.is_empty()) {
        let text = std::str::from_utf8(cell).map_err(|_| Unread::of_bytes(cell))?;
        row.insert(column.clone(), text.into());
    }
    Ok(Value::Object(row).to_string().into_bytes())
}

/// The dictionaries of an array, each as the JSON that Python would write of it.
fn numpy(path: &Path, limit: u64, sender: &SyncSender<Items>) {
    let mut items = Items::default();
    let mut bytes = Vec::new();
    let read = dump::open(path).and_then(|reader| reader.take(pickle::MOST).read_to_end(&mut bytes));
    match read.map_err(|e| dump::describe(&e)).and_then(|_| pickle::array(&bytes)) {
        Ok(rows) => {
            for (row, position) in rows.iter().zip(1..) {
                let length = row.len() as u64;
                items.push(
                    position,
                    if length > limit { Err(Unread::Oversize(length)) } else { Ok(row.as_bytes()) },
                );
            }
        }
        Err(why) => items.push(1, Err(Unread::Foreign(why))),
    }
    let _ = sender.send(items);
}

fn parquet(path: &Path, limit: u64, sender: &SyncSender<Items>) {
    let mut position = 0;
    loop {
        // A decoder that panics on foreign bytes has found damage, too.
        let read = std::panic::catch_unwind(|| parquet_rows(path, position, dump::BATCH).map_err(|_| ()));
        let rows = match read.unwrap_or(Err(())) {
            Ok(rows) if rows.is_empty() => return,
            Ok(rows) => rows,
            Err(()) => {
                let mut items = Items::default();
                items.push(position + 1, Err(Unread::Truncated("the Parquet file is damaged")));
                let _ = sender.send(items);
                return;
            }
        };
        let mut items = Items::default();
        for row in rows {
            position += 1;
            let object = Value::Object(row).to_string();
            let length = object.len() as u64;
            let bytes = if length > limit { Err(Unread::Oversize(length)) } else { Ok(object.as_bytes()) };
            items.push(position, bytes);
        }
        if sender.send(items).is_err() {
            return;
        }
    }
}
