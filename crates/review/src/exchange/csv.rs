//! Ballots as CSV.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::cells::{CsvFor, csv_table, restore_formula};
use super::entries::{Entries, Entry, Places, RowCells};
use super::problem::VoteProblem;
use super::sheet::{ExportError, Sheet};
use super::unread::Unread;
use super::xlsx;
use encoding_rs::{GB18030, UTF_16BE, UTF_16LE};
use riddlemill_files::reading::{Dialect, HEAD, column_name, encoding_of};

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

/// The rows of a table of text, or of a workbook's first sheet, by their headers: each with its row number, without empty
/// cells.
///
/// # Errors
/// [`VoteProblem`] if the bytes are not a table, or are a workbook that is too large.
pub fn table_rows(bytes: &[u8]) -> Result<Vec<SheetRow>, VoteProblem> {
    Ok(by_header(&table_entries(bytes)?))
}

/// The headers of a table of text, or of a workbook's first sheet.
///
/// # Errors
/// As [`table_rows`].
pub fn table_columns(bytes: &[u8]) -> Result<Vec<String>, VoteProblem> {
    Ok(table_entries(bytes)?.columns)
}

fn table_entries(bytes: &[u8]) -> Result<Entries, VoteProblem> {
    match xlsx::is_workbook(bytes) {
        true => xlsx::read_first(bytes),
        false => read_csv(bytes).map(|(entries, _)| entries),
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
    let dialect = Dialect::guess_dialect(&text.as_bytes()[..text.floor_char_boundary(HEAD)]);
    let above = usize::from(dialect.skip > 0);
    let mut reader = dialect.open_reader(&text.as_bytes()[dialect.skip..]);
    let unreadable = |error: ::csv::Error| VoteProblem::Unreadable { what: error.to_string(), hint: None };
    let (mut columns, mut rows): (Vec<String>, Vec<Entry>) = Default::default();
    for (at, record) in reader.records().enumerate() {
        let record = record.map_err(unreadable)?;
        if !columns.is_empty() {
            // Most rows have no cell that was disarmed.
            let record = match record.iter().any(|cell| restore_formula(cell) != cell) {
                true => record.iter().map(restore_formula).collect(),
                false => record,
            };
            rows.push(Entry { number: at + 1 + above, cells: RowCells::Texts(record), merged: Vec::new() });
        } else {
            columns = record.iter().map(|header| column_name(restore_formula(header))).collect();
        }
    }
    if columns.is_empty() {
        return Err(VoteProblem::Unreadable { what: "the file is empty".to_owned(), hint: None });
    }
    if text.matches('"').count() % 2 == 1 {
        notes.push(VoteProblem::Odd("a quotation mark is never closed: what follows it is read as one cell"));
    }
    let unread = Unread::of_table(&columns, &rows);
    Ok((Entries { sheet: None, columns, rows, places: Places::Cells, unread }, notes))
}

/// Decodes text in any encoding that annotators' programs use, with warnings.
pub(super) fn decode_text(bytes: &[u8]) -> Result<(Cow<'_, str>, Vec<VoteProblem>), VoteProblem> {
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
