//! The rows of a table as items, in any format: JSON and JSONL as they are, CSV and Parquet
//! as the JSON objects of their rows.

use std::io::{self, Read};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use serde_json::{Map, Value};

use super::dump;
use super::files::Dump;
use super::header::{self, NamesAgain, TableHead};
use super::pickle;
use super::shape::NoRecords;
use super::split::{SplitItems, Unread};
use riddlemill_files::reading::workbook::Sheet;
use riddlemill_files::reading::{
    ABOVE, Dialect, Form, HEAD, Row, RowFault, RowReader, column_name, read_head, sniff_form, text_of,
    workbook,
};
use riddlemill_tables::{parquet_rows, unread_parquet_columns};

/// The items of a dump, as [`dump::read_batches`] gives them; those of a table also if they are not JSON.
pub(super) fn read_batches(dump: &Dump, limit: u64) -> Receiver<SplitItems> {
    let read: fn(&Dump, u64, &SyncSender<SplitItems>) = match detect_format(dump) {
        RowFormat::Parquet => send_parquet,
        RowFormat::Csv => send_csv,
        RowFormat::Workbook => send_workbook,
        RowFormat::Numpy => send_numpy,
        RowFormat::Json => return dump::read_batches(dump, limit),
        RowFormat::Other => return sync_channel(0).1,
    };
    let (sender, receiver) = sync_channel(2);
    let dump = dump.clone();
    thread::spawn(move || read(&dump, limit, &sender));
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

/// The names of the columns, where the file has them above its rows.
pub(super) fn read_header(dump: &Dump) -> Option<Vec<String>> {
    read_table_head(dump).map(|head| head.names)
}

/// The head of a file that has the names of its columns above its rows.
pub(super) fn read_table_head(dump: &Dump) -> Option<TableHead> {
    match detect_format(dump) {
        RowFormat::Csv => {
            let Table { columns, below, delimiter, .. } = Table::open(dump, u64::MAX).ok()?;
            let head = TableHead { names: columns, below, delimiter: Some(delimiter) };
            (!head.names.is_empty()).then_some(head)
        }
        RowFormat::Workbook => {
            let sheet = read_sheets(dump).ok()?.into_iter().next()?;
            let below = sheet.rows.iter().take(LOOKED_AT).map(|(_, row)| cell_texts(row)).collect();
            Some(TableHead { names: sheet.columns, below, delimiter: None })
        }
        _ => None,
    }
}

/// The columns of a file whose values are of types that are not read, each with what it holds.
pub(super) fn unread_columns(dump: &Dump) -> Vec<(String, String)> {
    match detect_format(dump) {
        RowFormat::Parquet => unread_parquet_columns(&dump.path),
        _ => Vec::new(),
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
    /// The first rows below them.
    below: Vec<Vec<String>>,
    /// What parts its columns.
    delimiter: u8,
    /// Whether it was in another encoding than UTF-8.
    is_decoded: bool,
}

impl Table {
    /// Opens a table at the rows below the names of its columns; `limit` is the most bytes of a row.
    fn open(dump: &Dump, limit: u64) -> io::Result<Table> {
        let text = text_of(dump::open_unpacked(&dump.path)?)?;
        let (head, reader) = read_head(text.reader);
        let dialect = Dialect::guess_dialect(&head);
        let mut first = RowReader::new(&head[dialect.skip.min(head.len())..], dialect, limit);
        let rows = std::iter::from_fn(|| first.next_row().ok().flatten()).take(LOOKED_AT);
        let rows: Vec<Vec<String>> = rows.map(|row| column_names(&row.cells)).collect();
        let above = header::rows_above(dump, &rows);
        let count = header::count_columns(&rows[above.min(rows.len())..]);
        let spare = dialect.count_spare_cells(&head, count);
        let rest = io::Cursor::new(head).chain(reader);
        let rest: Box<dyn Read + Send> = Box::new(Skipped { left: dialect.skip, rest });
        let mut table = Table {
            reader: RowReader::new(rest, dialect, limit),
            columns: Vec::new(),
            below: rows.into_iter().skip(above + 1).collect(),
            delimiter: dialect.delimiter,
            is_decoded: text.encoding.is_some(),
        };
        for _ in 0..=above {
            let Some(row) = table.reader.next_row()? else { break };
            table.columns = column_names(&row.cells);
        }
        table.columns.truncate(count);
        table.reader.expect_columns(table.columns.len(), spare);
        Ok(table)
    }

    /// The next row, as JSON. The names of the columns are no row where they come again; other names are told, and count for the rows
    /// below them.
    fn next_row(&mut self, limit: u64) -> io::Result<Option<NumberedRow>> {
        while let Some(row) = self.reader.next_row()? {
            let names = || column_names(&row.cells);
            let again =
                may_be_names(&row).then(|| header::find_names_again(&self.columns, &names())).flatten();
            match again {
                Some(NamesAgain::Same) => {}
                Some(NamesAgain::Other) => {
                    self.columns = names();
                    self.reader.expect_columns(self.columns.len(), 0);
                    return Ok(Some((row.line, Err(OTHER_NAMES))));
                }
                None => {
                    return Ok(Some((row.line, row_as_json(&self.columns, &row, limit, self.is_decoded))));
                }
            }
        }
        Ok(None)
    }
}

/// The line of a row, and the row as JSON.
type NumberedRow = (u64, Result<Vec<u8>, Unread>);

/// Rows at the head of a table, of which one may have the names of its columns.
const LOOKED_AT: usize = 2 * ABOVE;

/// A row with names among the rows of a table.
const OTHER_NAMES: Unread = Unread::Foreign(
    "this row has other names of columns than the first one, as if two files stood one behind the other: the rows below it are read under its names\n  hint: make a file of each, with a [[source]] of its own",
);

/// Whether a row may have the names of columns: nearly none has, and looking at each closely takes long.
fn may_be_names(row: &Row) -> bool {
    row.cells.len() > 1
        && row.cells.iter().all(|cell| (1..=120).contains(&cell.len()) && !cell[0].is_ascii_digit())
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

fn send_csv(dump: &Dump, limit: u64, sender: &SyncSender<SplitItems>) {
    let mut items = SplitItems::default();
    let mut last = 1;
    let cut = (|| -> io::Result<()> {
        let mut table = Table::open(dump, limit)?;
        while let Some((line, object)) = table.next_row(limit)? {
            // A lone carriage return ends a row and no line: two rows never share a position.
            last = line.max(last + 1);
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

/// The sheets of a workbook, each from the row with the names of its columns on; first the one that is most like posts.
fn read_sheets(dump: &Dump) -> Result<Vec<Sheet>, NoRecords> {
    let bytes = read_bytes(&dump.path).map_err(|error| NoRecords(error.to_string()))?;
    let mut sheets = workbook::read_tables(&bytes)
        .map_err(|error| NoRecords(format!("{error}\n  hint: save it again as XLSX, or as CSV UTF-8")))?;
    for sheet in &mut sheets {
        let mut first: Vec<Vec<String>> = vec![sheet.columns.clone()];
        first.extend(sheet.rows.iter().take(LOOKED_AT).map(|(_, row)| cell_texts(row)));
        let above = header::rows_above(dump, &first);
        if above > 0 {
            sheet.columns = first[above].iter().map(|name| column_name(name)).collect();
            sheet.rows.drain(..above);
        }
        sheet.columns.truncate(header::count_columns(&first[above..]));
    }
    sheets.retain(|sheet| !sheet.rows.is_empty());
    // The first of equally good ones, which `max_by_key` would not give.
    let best = (0..sheets.len()).rev().max_by_key(|at| header::count_known_names(dump, &sheets[*at].columns));
    if let Some(best) = best {
        sheets[..=best].rotate_right(1);
    }
    Ok(sheets)
}

fn cell_texts(row: &[Option<String>]) -> Vec<String> {
    row.iter().map(|cell| cell.clone().unwrap_or_default()).collect()
}

/// The rows of every sheet that has the columns of the first one; a row's position is its number on the first sheet, and
/// goes on from there on the others.
fn send_workbook(dump: &Dump, limit: u64, sender: &SyncSender<SplitItems>) {
    let mut items = SplitItems::default();
    let sheets = read_sheets(dump).unwrap_or_default();
    let first = sheets.first().map(|sheet| sheet.columns.clone()).unwrap_or_default();
    let (mut before, mut last) = (0, 1);
    for sheet in sheets.iter().filter(|sheet| sheet.columns == first) {
        let mut columns = first.clone();
        for (number, cells) in &sheet.rows {
            let again = header::find_names_again(&columns, &cell_texts(cells));
            if again == Some(NamesAgain::Same) {
                continue;
            }
            last = before + number;
            let row = match again {
                Some(_) => {
                    columns = cell_texts(cells).iter().map(|name| column_name(name)).collect();
                    Err(OTHER_NAMES)
                }
                None => sheet_row_as_json(&columns, cells, limit),
            };
            items.push(last, row.as_deref().map_err(|unread| *unread));
            if items.len() == dump::BATCH && sender.send(std::mem::take(&mut items)).is_err() {
                return;
            }
        }
        before = last;
    }
    let _ = sender.send(items);
}

fn sheet_row_as_json(columns: &[String], cells: &[Option<String>], limit: u64) -> Result<Vec<u8>, Unread> {
    let filled = cells.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
    if filled > columns.len() {
        return Err(Unread::Row(RowFault::Unnamed { cell: filled, columns: columns.len() }));
    }
    let cells = columns.iter().zip(cells).filter(|(name, _)| !name.is_empty());
    let row: Map<String, Value> =
        cells.filter_map(|(name, cell)| Some((name.clone(), cell.clone()?.into()))).collect();
    let row = Value::Object(row).to_string().into_bytes();
    if row.len() as u64 > limit { Err(Unread::Oversize(row.len() as u64)) } else { Ok(row) }
}

/// What of a workbook is not read: sheets with other columns than the one that is read first, and what its sheets say of themselves.
///
/// # Errors
/// [`NoRecords`] of a workbook that cannot be read.
pub(super) fn of_workbook(dump: &Dump) -> Result<Vec<String>, NoRecords> {
    let sheets = read_sheets(dump)?;
    let Some(first) = sheets.first() else { return Ok(Vec::new()) };
    let (alike, others): (Vec<&Sheet>, Vec<&Sheet>) =
        sheets.iter().partition(|sheet| sheet.columns == first.columns);
    let others = others.into_iter().map(|sheet| {
        format!(
            "sheet {} has other columns than sheet {} and was not read: {}\n  hint: save it as a workbook or CSV of its own, with a [[source]] of its own",
            sheet.name,
            first.name,
            sheet.columns.join(", ")
        )
    });
    Ok(others.chain(alike.into_iter().flat_map(|sheet| sheet.lacks.clone())).collect())
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
fn send_numpy(dump: &Dump, limit: u64, sender: &SyncSender<SplitItems>) {
    let mut items = SplitItems::default();
    let mut bytes = Vec::new();
    let read =
        dump::open_unpacked(&dump.path).and_then(|reader| reader.take(pickle::MOST).read_to_end(&mut bytes));
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

fn send_parquet(dump: &Dump, limit: u64, sender: &SyncSender<SplitItems>) {
    let mut position = 0;
    loop {
        // A decoder that panics on foreign bytes has found damage, too.
        let read =
            std::panic::catch_unwind(|| parquet_rows(&dump.path, position, dump::BATCH).map_err(|_| ()));
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
