//! The rows of a table as items, in any format: JSON and JSONL as they are, CSV and Parquet
//! as the JSON objects of their rows.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use serde_json::{Map, Value};

use super::dump;
use super::files::Dump;
use super::shape::NoRecords;
use super::split::{SplitItems, Unread};
use super::{header, pickle};
use riddlemill_files::reading::workbook::{BookError, Sheet};
use riddlemill_files::reading::{
    Dialect, Form, HEAD, Row, RowReader, column_name, sniff_form, text_of, workbook,
};
use riddlemill_tables::parquet_rows;

/// The items of a dump, as [`dump::read_batches`] gives them; those of a table also if they are not JSON.
pub(super) fn read_batches(dump: &Dump, limit: u64) -> Receiver<SplitItems> {
    let read: fn(&Path, u64, &SyncSender<SplitItems>) = match detect_format(dump) {
        RowFormat::Parquet => send_parquet,
        RowFormat::Csv => send_csv,
        RowFormat::Workbook => send_workbook,
        RowFormat::Numpy => send_numpy,
        RowFormat::Json => return dump::read_batches(dump, limit),
        RowFormat::Other => return sync_channel(0).1,
    };
    let (sender, receiver) = sync_channel(2);
    let path = dump.path.clone();
    thread::spawn(move || read(&path, limit, &sender));
    receiver
}

/// How the rows of a file of items are written.
pub(super) enum RowFormat {
    Parquet,
    Json,
    Csv,
    Workbook,
    /// An array of numpy's, with pickled objects.
    Numpy,
    /// Not at all.
    Other,
}

/// The format of a file of items. A piece of a file is one of lines, because nothing else is cut. A file that cannot be
/// read is left to the reader of lines, which reports why.
pub(super) fn detect_format(dump: &Dump) -> RowFormat {
    if dump.piece.is_cut || !dump.piece.is_first() {
        return RowFormat::Json;
    }
    match sniff_form(&dump.path) {
        Form::Json | Form::Empty => RowFormat::Json,
        Form::Text if has_lines_of_json(&dump.path) => RowFormat::Json,
        Form::Text => RowFormat::Csv,
        Form::Workbook => RowFormat::Workbook,
        Form::Parquet => RowFormat::Parquet,
        Form::Numpy => RowFormat::Numpy,
        _ => RowFormat::Other,
    }
}

/// Whether any line at the head of a file is an object, or in the one encoding that is read line by line: then the others are
/// damaged lines, and no rows of a table. A file that cannot be opened is one, too.
fn has_lines_of_json(path: &Path) -> bool {
    let mut head = Vec::new();
    let Ok(text) = dump::open_unpacked(path).and_then(text_of) else { return true };
    if text.reader.take(HEAD as u64).read_to_end(&mut head).is_err() && head.is_empty() {
        return true;
    }
    head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).any(|line| {
        let line = line.strip_suffix(b",").unwrap_or(line);
        line.starts_with(b"{") && line.ends_with(b"}")
    })
}

/// The names of the columns, where the file has them above its rows: an empty cell is a column, too.
pub(super) fn read_header(dump: &Dump) -> Option<Vec<String>> {
    match detect_format(dump) {
        RowFormat::Csv => {
            let table = Table::open(&dump.path, u64::MAX).ok()?;
            (!table.columns.is_empty()).then_some(table.columns)
        }
        RowFormat::Workbook => {
            let mut sheets = read_sheets(&read_bytes(&dump.path).ok()?).ok()?;
            (!sheets.is_empty()).then(|| sheets.remove(0).columns)
        }
        _ => None,
    }
}

fn column_names(header: &[Vec<u8>]) -> Vec<String> {
    header.iter().map(|name| column_name(&String::from_utf8_lossy(name))).collect()
}

/// A table of text.
struct Table {
    reader: RowReader<Box<dyn Read + Send>>,
    /// The names of its columns.
    columns: Vec<String>,
    /// Rows below them that were read already.
    first: VecDeque<Row>,
    /// Whether it was in another encoding than UTF-8.
    is_decoded: bool,
}

impl Table {
    /// Opens a table at the rows below the names of its columns; `limit` is the most bytes of a row.
    fn open(path: &Path, limit: u64) -> io::Result<Table> {
        let text = text_of(dump::open_unpacked(path)?)?;
        let mut reader = text.reader;
        let mut head = Vec::with_capacity(HEAD);
        let failed = reader.by_ref().take(HEAD as u64).read_to_end(&mut head);
        if head.is_empty() {
            failed?;
        }
        let dialect = Dialect::guess_dialect(&head);
        let rest = io::Cursor::new(head).chain(reader);
        let rest: Box<dyn Read + Send> = Box::new(Skipped { left: dialect.skip, rest });
        let mut reader = RowReader::new(rest, dialect, limit);
        let mut first: VecDeque<Row> = VecDeque::new();
        let mut is_named = false;
        while first.len() <= header::ABOVE && !is_named {
            // What comes before damage counts.
            let Ok(Some(row)) = reader.next_row() else { break };
            is_named = row.cells.iter().filter(|cell| !cell.trim_ascii().is_empty()).count() > 1;
            first.push_back(row);
        }
        let texts: Vec<Vec<String>> = first.iter().map(|row| column_names(&row.cells)).collect();
        first.drain(..header::rows_above(&texts));
        let columns = first.pop_front().map(|row| column_names(&row.cells)).unwrap_or_default();
        reader.expect_columns(columns.len());
        Ok(Table { reader, columns, first, is_decoded: text.encoding.is_some() })
    }

    fn next_row(&mut self) -> io::Result<Option<Row>> {
        match self.first.pop_front() {
            Some(row) => Ok(Some(self.reader.with_columns(row))),
            None => self.reader.next_row(),
        }
    }
}

/// What is behind the first bytes.
struct Skipped<R> {
    left: usize,
    rest: R,
}

impl<R: Read> Read for Skipped<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.left > 0 {
            let mut passed = [0; 64];
            let most = self.left.min(passed.len());
            match self.rest.read(&mut passed[..most])? {
                0 => self.left = 0,
                read => self.left -= read,
            }
        }
        self.rest.read(buffer)
    }
}

fn send_csv(path: &Path, limit: u64, sender: &SyncSender<SplitItems>) {
    let mut items = SplitItems::default();
    let mut last = 1;
    let cut = (|| -> io::Result<()> {
        let mut table = Table::open(path, limit)?;
        while let Some(row) = table.next_row()? {
            // A lone carriage return ends a row and no line: two rows never share a position.
            last = row.line.max(last + 1);
            let object = row_as_json(&table.columns, &row, limit, table.is_decoded);
            items.push(last, object.as_deref().map_err(|unread| *unread));
            if items.len() == dump::BATCH && sender.send(std::mem::take(&mut items)).is_err() {
                return Ok(());
            }
        }
        Ok(())
    })();
    if let Err(error) = cut {
        // A position of its own, because the ledger has each position once.
        items.push(last + 1, Err(Unread::Truncated(dump::describe_error(&error))));
    }
    let _ = sender.send(items);
}

fn read_bytes(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    dump::open_unpacked(path)?.take(workbook::MOST).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The sheets of a workbook, each from the row with the names of its columns on.
fn read_sheets(bytes: &[u8]) -> Result<Vec<Sheet>, BookError> {
    let mut sheets = workbook::read_tables(bytes)?;
    for sheet in &mut sheets {
        let cells =
            |row: &[Option<String>]| row.iter().map(|cell| cell.clone().unwrap_or_default()).collect();
        let mut first: Vec<Vec<String>> = vec![sheet.columns.clone()];
        first.extend(sheet.rows.iter().take(header::ABOVE).map(|(_, row)| cells(row)));
        let above = header::rows_above(&first);
        if above > 0 {
            sheet.columns = first[above].iter().map(|name| column_name(name)).collect();
            sheet.rows.drain(..above);
        }
    }
    sheets.retain(|sheet| !sheet.rows.is_empty());
    Ok(sheets)
}

/// The rows of every sheet that has the columns of the first one; a row's position is its number on the first sheet, and
/// goes on from there on the others.
fn send_workbook(path: &Path, limit: u64, sender: &SyncSender<SplitItems>) {
    let mut items = SplitItems::default();
    let sheets = read_bytes(path).ok().and_then(|bytes| read_sheets(&bytes).ok()).unwrap_or_default();
    let first = sheets.first().map(|sheet| sheet.columns.clone()).unwrap_or_default();
    let (mut before, mut last) = (0, 1);
    for sheet in sheets.iter().filter(|sheet| sheet.columns == first) {
        for (number, cells) in &sheet.rows {
            last = before + number;
            let filled =
                first.iter().zip(cells).filter_map(|(name, cell)| Some((name.clone(), cell.clone()?.into())));
            let row = Value::Object(filled.filter(|(name, _)| !name.is_empty()).collect()).to_string();
            let length = row.len() as u64;
            items.push(last, if length > limit { Err(Unread::Oversize(length)) } else { Ok(row.as_bytes()) });
            if items.len() == dump::BATCH && sender.send(std::mem::take(&mut items)).is_err() {
                return;
            }
        }
        before = last;
    }
    let _ = sender.send(items);
}

/// Sheets that are not read because they have other columns than the first, and a workbook that cannot be read.
pub(super) fn of_workbook(dump: &Dump) -> Result<Vec<String>, NoRecords> {
    let bytes = read_bytes(&dump.path).map_err(|error| NoRecords(error.to_string()))?;
    let sheets = read_sheets(&bytes)
        .map_err(|error| NoRecords(format!("{error}\n  hint: save it again as XLSX, or as CSV UTF-8")))?;
    let Some(first) = sheets.first() else { return Ok(Vec::new()) };
    let others = sheets.iter().filter(|sheet| sheet.columns != first.columns);
    Ok(others
        .map(|sheet| {
            format!(
                "sheet {} has other columns than sheet {} and was not read: {}\n  hint: save it as a workbook or CSV of its own, with a [[source]] of its own",
                sheet.name,
                first.name,
                sheet.columns.join(", ")
            )
        })
        .collect())
}

/// A row as a JSON object. Empty cells are absent.
fn row_as_json(columns: &[String], record: &Row, limit: u64, is_decoded: bool) -> Result<Vec<u8>, Unread> {
    let length = record.cells.iter().map(|cell| cell.len() as u64).sum();
    if length > limit {
        return Err(Unread::Oversize(length));
    }
    if let Some(fault) = record.fault {
        return Err(Unread::Row(fault));
    }
    let mut row = Map::new();
    for (column, cell) in columns.iter().zip(&record.cells).filter(|(_, cell)| !cell.is_empty()) {
        let text = std::str::from_utf8(cell).map_err(|_| Unread::of_bytes(cell))?;
        // What is no character of the file's encoding was decoded as this one.
        if is_decoded && let Some(at) = text.find('\u{fffd}') {
            return Err(Unread::Undecoded(at));
        }
        row.insert(column.clone(), text.into());
    }
    Ok(Value::Object(row).to_string().into_bytes())
}

/// The dictionaries of an array, each as the JSON that Python would write of it.
fn send_numpy(path: &Path, limit: u64, sender: &SyncSender<SplitItems>) {
    let mut items = SplitItems::default();
    let mut bytes = Vec::new();
    let read = dump::open_unpacked(path).and_then(|reader| reader.take(pickle::MOST).read_to_end(&mut bytes));
    match read.map_err(|e| dump::describe_error(&e)).and_then(|_| pickle::parse_array(&bytes)) {
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

fn send_parquet(path: &Path, limit: u64, sender: &SyncSender<SplitItems>) {
    let mut position = 0;
    loop {
        // A decoder that panics on foreign bytes has found damage, too.
        let read = std::panic::catch_unwind(|| parquet_rows(path, position, dump::BATCH).map_err(|_| ()));
        let rows = match read.unwrap_or(Err(())) {
            Ok(rows) if rows.is_empty() => return,
            Ok(rows) => rows,
            Err(()) => {
                let mut items = SplitItems::default();
                items.push(position + 1, Err(Unread::Truncated("the Parquet file is damaged")));
                let _ = sender.send(items);
                return;
            }
        };
        let mut items = SplitItems::default();
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
