//! Ballots as CSV.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::cells::{CsvFor, csv_table, restore_formula};
use super::entries::{Entries, Entry, Places, RowCells, filled_columns};
use super::problem::VoteProblem;
use super::sheet::{ExportError, Sheet};
use super::unread::Unread;
use super::xlsx;
use encoding_rs::{GB18030, UTF_16BE, UTF_16LE};
use riddlemill_files::reading::{Dialect, HEAD, RowFault, RowReader, column_name, encoding_of};

/// Most bytes of a row of several lines.
const ROW: u64 = 16 << 20;

pub(super) fn write_csv(sheet: &Sheet<'_>) -> Result<Vec<u8>, ExportError> {
    let rows = sheet.rows.iter().map(|(item, own)| sheet.row_cells(item, *own));
    csv_table(CsvFor::Spreadsheets, &sheet.headers(), rows)
}

/// A sheet with columns of its own, in the form that [`write`] gives ballots.
///
/// # Errors
/// [`ExportError::Csv`] if the rows cannot be put into cells.
pub fn write_sheet(headers: &[&str], rows: &[Vec<String>]) -> Result<Vec<u8>, ExportError> {
    csv_table(CsvFor::Spreadsheets, headers, rows)
}

/// A row by its headers, with its row number.
pub type SheetRow = (usize, BTreeMap<String, String>);

/// The rows of a table, and those that cannot be read.
#[derive(Clone, Debug, Default)]
pub struct TableRows {
    pub columns: Vec<String>,
    pub rows: Vec<SheetRow>,
    /// The line of each row that is left out, and what is wrong with it.
    pub unread: Vec<(u64, RowFault)>,
}

/// The rows of a table of text, or of a workbook's first sheet, by their headers: each with its row number, without empty
/// cells.
///
/// # Errors
/// [`VoteProblem`] if the bytes are not a table, or are a workbook that is too large.
pub fn table_rows(bytes: &[u8]) -> Result<TableRows, VoteProblem> {
    let (entries, notes) = table_entries(bytes)?;
    let unread = notes.into_iter().filter_map(|note| match note {
        VoteProblem::Row { line, what } => Some((line, what)),
        _ => None,
    });
    let rows = by_header(&entries);
    Ok(TableRows { columns: entries.columns, rows, unread: unread.collect() })
}

/// The headers of a table of text, or of a workbook's first sheet.
///
/// # Errors
/// As [`table_rows`].
pub fn table_columns(bytes: &[u8]) -> Result<Vec<String>, VoteProblem> {
    Ok(table_entries(bytes)?.0.columns)
}

fn table_entries(bytes: &[u8]) -> Result<(Entries, Vec<VoteProblem>), VoteProblem> {
    match xlsx::is_workbook(bytes) {
        true => xlsx::read_first(bytes).map(|entries| (entries, Vec::new())),
        false => read_csv(bytes),
    }
}

fn by_header(entries: &Entries) -> Vec<SheetRow> {
    let row = |entry: &Entry| {
        let cell =
            |(at, column): (usize, &String)| Some((column.clone(), entry.cells.text_at(at)?.into_owned()));
        (entry.number, entries.columns.iter().enumerate().filter_map(cell).collect())
    };
    entries.rows.iter().map(row).collect()
}

/// Reads a table in UTF-8, UTF-16 or GB18030, in any dialect that spreadsheets write.
pub(super) fn read_csv(bytes: &[u8]) -> Result<(Entries, Vec<VoteProblem>), VoteProblem> {
    let (text, mut notes) = decode_text(bytes)?;
    let head = &text.as_bytes()[..text.floor_char_boundary(HEAD)];
    let dialect = Dialect::guess_dialect(head);
    let above = usize::from(dialect.skip > 0);
    let mut reader = RowReader::new(&text.as_bytes()[dialect.skip..], dialect, ROW);
    let unreadable = |error: std::io::Error| VoteProblem::Unreadable { what: error.to_string(), hint: None };
    let (mut columns, mut rows): (Vec<String>, Vec<Entry>) = Default::default();
    let mut number = above;
    while let Some(row) = reader.next_row().map_err(unreadable)? {
        number += 1;
        if let Some(what) = row.fault {
            let problem = VoteProblem::Row { line: row.line, what };
            // Without the names of the columns no row can be read.
            if columns.is_empty() {
                return Err(problem);
            }
            notes.push(problem);
            continue;
        }
        let cells = row.cells.iter().map(|cell| String::from_utf8_lossy(cell));
        if columns.is_empty() {
            columns = cells.map(|header| column_name(restore_formula(&header))).collect();
            reader.expect_columns(columns.len(), dialect.count_spare_cells(head, columns.len()));
        } else {
            let texts: Vec<Cow<'_, str>> = cells.collect();
            let record = texts.iter().map(|cell| restore_formula(cell)).collect();
            rows.push(Entry { number, cells: RowCells::Texts(record), merged: Vec::new() });
        }
    }
    if columns.is_empty() {
        return Err(VoteProblem::Unreadable { what: "the file is empty".to_owned(), hint: None });
    }
    let unread = Unread::of_table(&columns, filled_columns(&rows));
    Ok((Entries { sheet: None, columns, rows, places: Places::Cells, unread }, notes))
}

/// Decodes text in any encoding that annotators' programs use, with warnings.
pub(crate) fn decode_text(bytes: &[u8]) -> Result<(Cow<'_, str>, Vec<VoteProblem>), VoteProblem> {
    let (encoding, mark) = encoding_of(bytes);
    if mark > 0 || encoding == UTF_16LE || encoding == UTF_16BE {
        let (text, _, faulty) = encoding.decode(&bytes[mark..]);
        let notes =
            faulty.then_some(VoteProblem::Odd("some bytes are not text; was the file saved completely?"));
        return Ok((text, notes.into_iter().collect()));
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok((Cow::from(text), Vec::new())),
        // Only the end of a truncated file lacks the rest of a character.
        Err(error) if error.error_len().is_none() => {
            let text = String::from_utf8_lossy(&bytes[..error.valid_up_to()]).into_owned();
            Ok((
                Cow::from(text),
                vec![VoteProblem::Odd(
                    "the file ends in the middle of a character; it was not saved to its end",
                )],
            ))
        }
        // Spreadsheets on Chinese systems save CSV in GBK, which is a part of GB18030.
        Err(_) => match GB18030.decode_without_bom_handling(bytes) {
            (text, false) => Ok((text, vec![VoteProblem::Odd("read as GB18030 (GBK), not as UTF-8")])),
            (_, true) => Err(VoteProblem::Unreadable {
                what: "the text is neither UTF-8, UTF-16 nor GB18030".to_owned(),
                hint: Some("save it as CSV UTF-8"),
            }),
        },
    }
}
