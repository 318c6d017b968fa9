//! Spreadsheets: XLSX, ODS and XLS.

use crate::fence;
use std::io::{self, BufReader, Cursor, Read};
use std::path::Path;

use calamine::{Cell, Data, DataRef, Dimensions, Ods, Range, Reader, Xls, Xlsx};

/// Most bytes of the unpacked files of a workbook: ten times those of 100,000 ballots.
const UNPACKED: u64 = 256 << 20;
/// Most cells between the first and the last used one: a hostile sheet may leave most of them empty.
const CELLS: u64 = 4_000_000;
/// Up to here a float has all whole numbers.
const EXACT: f64 = 9_007_199_254_740_992.0;
/// Areas of merged cells.
const MERGED: usize = 1000;
/// Most bytes of a file that is held in memory.
pub const MOST: u64 = 256 << 20;

/// Why a workbook is not read.
#[derive(Debug, thiserror::Error)]
pub enum BookError {
    /// It is damaged, or none.
    #[error("not a whole workbook: {0}")]
    Damaged(String),
    /// It is larger than anything people fill in.
    #[error("the workbook is too large to read: {0}")]
    TooLarge(String),
    /// A sheet without a cell.
    #[error("sheet {0} is empty")]
    Empty(String),
}

/// An open workbook, and whether it is one of ODS in which cells reach over several rows.
pub struct Book<'b>(WorkbookKind<'b>, bool);

enum WorkbookKind<'b> {
    Xlsx(Box<Xlsx<Cursor<&'b [u8]>>>),
    Ods(Box<Ods<Cursor<&'b [u8]>>>),
    Xls(Box<Xls<Cursor<&'b [u8]>>>),
}

fn damaged_book(error: &dyn std::fmt::Display) -> BookError {
    BookError::Damaged(error.to_string())
}

/// Opens a workbook whose unpacked size is bounded.
///
/// # Errors
/// [`BookError`].
pub fn open_workbook(bytes: &[u8]) -> Result<Book<'_>, BookError> {
    if bytes.starts_with(b"\xd0\xcf\x11\xe0") {
        let book = Xls::new(Cursor::new(bytes)).map_err(|e| damaged_book(&e))?;
        return Ok(Book(WorkbookKind::Xls(Box::new(book)), false));
    }
    let content = check_unpacked(bytes)?;
    let spanned = content.as_deref().is_some_and(reaches_over_rows);
    let book = match content.is_some() {
        true => WorkbookKind::Ods(Box::new(Ods::new(Cursor::new(bytes)).map_err(|e| damaged_book(&e))?)),
        false => WorkbookKind::Xlsx(Box::new(Xlsx::new(Cursor::new(bytes)).map_err(|e| damaged_book(&e))?)),
    };
    Ok(Book(book, spanned))
}

/// Whether a cell of ODS reaches over several rows.
fn reaches_over_rows(content: &[u8]) -> bool {
    const KEY: &[u8] = b"number-rows-spanned=\"";
    memchr::memmem::find_iter(content, KEY).any(|at| !content[at + KEY.len()..].starts_with(b"1\""))
}

/// Whether a document of the old kind is a workbook.
pub fn is_xls(path: &Path) -> bool {
    let mut bytes = Vec::new();
    let read =
        fence::open_plain(path).and_then(|file| BufReader::new(file).take(MOST).read_to_end(&mut bytes));
    read.is_ok() && open_workbook(&bytes).is_ok()
}

impl Book<'_> {
    /// The names of its sheets.
    pub fn sheet_names(&self) -> Vec<String> {
        match &self.0 {
            WorkbookKind::Xlsx(book) => book.sheet_names(),
            WorkbookKind::Ods(book) => book.sheet_names(),
            WorkbookKind::Xls(book) => book.sheet_names(),
        }
    }

    /// The cells of a sheet, as a table from the first to the last used one.
    ///
    /// # Errors
    /// [`BookError`].
    pub fn read_cells(&mut self, sheet: &str) -> Result<Range<Data>, BookError> {
        let range = match &mut self.0 {
            WorkbookKind::Xlsx(book) => read_sparse_cells(book, sheet)?,
            WorkbookKind::Ods(book) => book.worksheet_range(sheet).map_err(|e| damaged_book(&e))?,
            WorkbookKind::Xls(book) => book.worksheet_range(sheet).map_err(|e| damaged_book(&e))?,
        };
        if range.get_size().0 == 0 { Err(BookError::Empty(sheet.to_owned())) } else { Ok(range) }
    }

    /// What people see on a sheet that its cells do not have: results of formulas that no program computed yet, and in ODS what merged
    /// cells say below their first row.
    fn describe_lacks(&mut self, sheet: &str, cells: &Range<Data>) -> Vec<String> {
        let (formulas, spanned) = match &mut self.0 {
            WorkbookKind::Xlsx(book) => (book.worksheet_formula(sheet).ok(), false),
            WorkbookKind::Ods(book) => (book.worksheet_formula(sheet).ok(), self.1),
            WorkbookKind::Xls(book) => (book.worksheet_formula(sheet).ok(), false),
        };
        let is_empty = |place: (u32, u32)| matches!(cells.get_value(place), None | Some(Data::Empty));
        let start = formulas.as_ref().and_then(Range::start).unwrap_or((0, 0));
        let formulas =
            formulas.iter().flat_map(Range::used_cells).filter(|(_, _, formula)| !formula.is_empty());
        let mut open = formulas
            .map(|(row, column, _)| (start.0 + row as u32, start.1 + column as u32))
            .filter(|place| is_empty(*place));
        let first = open.next();
        let count = first.iter().len() + open.count();
        let open = first.map(|(row, column)| {
            format!(
                "sheet {sheet}: {count} formulas have no result in the file (the first in {}{}), and their cells were read as empty\n  hint: open it in a spreadsheet program and save it again",
                column_letters(column as usize),
                u64::from(row) + 1
            )
        });
        let spanned = spanned.then(|| {
            format!(
                "sheet {sheet} may have merged cells, of which only the first row has the value\n  hint: save it as XLSX, in which they are read"
            )
        });
        open.into_iter().chain(spanned).collect()
    }

    /// Areas of cells that look like one.
    ///
    /// # Errors
    /// [`BookError`].
    pub fn merged_areas(&mut self, sheet: &str) -> Result<Vec<Dimensions>, BookError> {
        let merged = match &mut self.0 {
            WorkbookKind::Xlsx(book) => {
                book.merge_cells_by_sheet_name(sheet).map_err(|e| damaged_book(&e))?
            }
            WorkbookKind::Xls(book) => book.merge_cells_by_sheet_name(sheet).map_err(|e| damaged_book(&e))?,
            // Covered cells have no content there.
            WorkbookKind::Ods(_) => Vec::new(),
        };
        match merged.len() {
            ..=MERGED => Ok(merged),
            more => Err(BookError::TooLarge(format!("{more} merged areas"))),
        }
    }
}

fn read_sparse_cells(book: &mut Xlsx<Cursor<&[u8]>>, sheet: &str) -> Result<Range<Data>, BookError> {
    let mut reader = book.worksheet_cells_reader(sheet).map_err(|e| damaged_book(&e))?;
    let (mut cells, mut first, mut last) = (Vec::new(), (u32::MAX, u32::MAX), (0, 0));
    while let Some(cell) = reader.next_cell().map_err(|e| damaged_book(&e))? {
        if matches!(cell.get_value(), DataRef::Empty) {
            continue;
        }
        let (row, column) = cell.get_position();
        first = (row.min(first.0), column.min(first.1));
        last = (row.max(last.0), column.max(last.1));
        let covered = (u64::from(last.0 - first.0) + 1).saturating_mul(u64::from(last.1 - first.1) + 1);
        if covered > CELLS || cells.len() as u64 > CELLS {
            let place = format!("{}{}", column_letters(last.1 as usize), u64::from(last.0) + 1);
            return Err(BookError::TooLarge(format!("its cells reach to {place}")));
        }
        cells.push(Cell::new((row, column), Data::from(cell.get_value().clone())));
    }
    Ok(Range::from_sparse(cells))
}

/// A spreadsheet's name of a column counted from 0: A, …, Z, AA.
pub fn column_letters(column: usize) -> String {
    let mut name = Vec::new();
    let mut left = column + 1;
    while left > 0 {
        name.push(char::from(b'A' + ((left - 1) % 26) as u8));
        left = (left - 1) / 26;
    }
    name.iter().rev().collect()
}

/// Unpacks a workbook without keeping it, because the sizes that its files state may be wrong; the content of one of ODS.
fn check_unpacked(bytes: &[u8]) -> Result<Option<Vec<u8>>, BookError> {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).map_err(|e| damaged_book(&e))?;
    let mut left = UNPACKED;
    let mut content = None;
    for at in 0..archive.len() {
        let file = archive.by_index(at).map_err(|e| damaged_book(&e))?;
        let is_content = file.name().is_ok_and(|name| name == "content.xml");
        // One byte more than is left, so that a file that exceeds the limit is noticed.
        let mut file = file.take(left + 1);
        let read = match is_content {
            true => {
                let mut text = Vec::new();
                let read = file.read_to_end(&mut text).map_err(|e| damaged_book(&e))?;
                content = Some(text);
                read as u64
            }
            false => io::copy(&mut file, &mut io::sink()).map_err(|e| damaged_book(&e))?,
        };
        let more = || BookError::TooLarge(format!("it unpacks to more than {} MiB", UNPACKED >> 20));
        left = left.checked_sub(read).ok_or_else(more)?;
    }
    if let Some(content) = &content {
        check_repeated(&String::from_utf8_lossy(content))?;
    }
    Ok(content)
}

/// A few bytes of ODS repeat a row a million times: only empty ones cost nothing.
fn check_repeated(content: &str) -> Result<(), BookError> {
    let repeated = |tag: &str, key: &str| -> u64 {
        let tag = tag.split('>').next().unwrap_or_default();
        let times = tag
            .split_once(key)
            .and_then(|(_, rest)| rest.trim_start_matches(['=', '"', '\'']).split(['"', '\'']).next());
        times.and_then(|times| times.parse().ok()).unwrap_or(1)
    };
    let mut cells: u64 = 0;
    for row in content.split("<table:table-row").skip(1) {
        let row = row.split("</table:table-row>").next().unwrap_or_default();
        let used = row.rfind("office:value").max(row.rfind("<text:"));
        let Some(used) = used else { continue };
        // Empty cells behind the last used one are not kept.
        let columns = row[..used].split("<table:table-cell").skip(1);
        let columns =
            columns.fold(0u64, |sum, cell| sum.saturating_add(repeated(cell, "number-columns-repeated")));
        cells = cells.saturating_add(columns.saturating_mul(repeated(row, "number-rows-repeated")));
        if cells > CELLS {
            return Err(BookError::TooLarge(format!("more than {CELLS} cells")));
        }
    }
    Ok(())
}

/// A cell as text; `None` if nothing is in it. A whole number has no fraction, a date is written as in `2024-03-05 08:00:12`.
pub fn cell_text(cell: &Data) -> Option<String> {
    let text = match cell {
        Data::Empty => return None,
        Data::DateTime(date) if date.is_datetime() => {
            let (year, month, day, hour, minute, second, _) = date.to_ymd_hms_milli();
            match (hour, minute, second) {
                (0, 0, 0) => format!("{year:04}-{month:02}-{day:02}"),
                _ => format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}"),
            }
        }
        // A number beyond this has lost its last digits: written as other programs write it, it is not taken for a whole one.
        Data::Float(number) if number.fract() == 0.0 && number.abs() > EXACT => {
            format!("{number:E}").replace('E', "E+")
        }
        other => other.to_string(),
    };
    (!text.is_empty()).then_some(text)
}

/// A row of a sheet: its number as the spreadsheet shows it, and the texts of its cells.
pub type SheetRow = (u64, Vec<Option<String>>);

/// A sheet as a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Sheet {
    /// What its tab shows.
    pub name: String,
    /// The names of its columns, from the first row with a cell.
    pub columns: Vec<String>,
    /// The rows below.
    pub rows: Vec<SheetRow>,
    /// What people see on it and is not in the rows, with what to do.
    pub lacks: Vec<String>,
}

/// The sheets of a workbook that have rows below their first one, in order. A cell that reaches over several rows has its value in each.
///
/// # Errors
/// [`BookError`].
pub fn read_tables(bytes: &[u8]) -> Result<Vec<Sheet>, BookError> {
    let mut book = open_workbook(bytes)?;
    let mut sheets = Vec::new();
    for name in book.sheet_names() {
        let mut range = match book.read_cells(&name) {
            Err(BookError::Empty(_)) => continue,
            range => range?,
        };
        let lacks = book.describe_lacks(&name, &range);
        for area in book.merged_areas(&name)? {
            fill_down(&mut range, area);
        }
        let top = range.start().map_or(0, |(row, _)| u64::from(row));
        let mut rows = range.rows().zip(top + 1..);
        let Some((header, _)) = rows.next() else { continue };
        let columns =
            header.iter().map(|cell| super::column_name(&cell_text(cell).unwrap_or_default())).collect();
        let rows: Vec<SheetRow> = rows
            .filter(|(cells, _)| cells.iter().any(|cell| !matches!(cell, Data::Empty)))
            .map(|(cells, number)| (number, cells.iter().map(cell_text).collect()))
            .collect();
        if !rows.is_empty() {
            sheets.push(Sheet { name, columns, rows, lacks });
        }
    }
    Ok(sheets)
}

/// Writes the value of merged cells into each of their rows, in the first of their columns: it is said of all of them.
fn fill_down(range: &mut Range<Data>, area: Dimensions) {
    let (Some((_, left)), Some((bottom, right))) = (range.start(), range.end()) else { return };
    let column = area.start.1;
    let Some(value) = range.get_value(area.start).filter(|value| **value != Data::Empty).cloned() else {
        return;
    };
    if !(left..=right).contains(&column) {
        return;
    }
    for row in area.start.0 + 1..=area.end.0.min(bottom) {
        if range.get_value((row, column)) == Some(&Data::Empty) {
            range.set_value((row, column), value.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn ods(rows: &str) -> Vec<u8> {
        let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
        let options = zip::write::SimpleFileOptions::default();
        zip.start_file("mimetype", options).unwrap();
        zip.write_all(b"application/vnd.oasis.opendocument.spreadsheet").unwrap();
        zip.start_file("META-INF/manifest.xml", options).unwrap();
        zip.write_all(b"<?xml version=\"1.0\"?><manifest:manifest xmlns:manifest=\"urn:oasis:names:tc:opendocument:xmlns:manifest:1.0\"/>").unwrap();
        zip.start_file("content.xml", options).unwrap();
        write!(zip, "<?xml version=\"1.0\" encoding=\"UTF-8\"?><office:document-content xmlns:office=\"urn:oasis:names:tc:opendocument:xmlns:office:1.0\" xmlns:table=\"urn:oasis:names:tc:opendocument:xmlns:table:1.0\" xmlns:text=\"urn:oasis:names:tc:opendocument:xmlns:text:1.0\"><office:body><office:spreadsheet><table:table table:name=\"S\">{rows}</table:table></office:spreadsheet></office:body></office:document-content>").unwrap();
        zip.finish().unwrap().into_inner()
    }

    fn cell(text: &str) -> String {
        format!("<table:table-cell office:value-type=\"string\"><text:p>{text}</text:p></table:table-cell>")
    }

    #[test]
    fn a_sheet_of_ods_is_a_table_and_empty_rows_to_its_end_cost_nothing() {
        let row = |cells: [&str; 2]| {
            format!("<table:table-row>{}{}</table:table-row>", cell(cells[0]), cell(cells[1]))
        };
        let blank = "<table:table-row table:number-rows-repeated=\"1048570\"><table:table-cell table:number-columns-repeated=\"16384\"/></table:table-row>";
        let sheets =
            read_tables(&ods(&(row(["tid", " 标题 "]) + &row(["9300000001", "冰箱会感冒吗"]) + blank)))
                .unwrap();
        assert_eq!(sheets[0].columns, ["tid", "标题"]);
        assert_eq!(sheets[0].rows, [(2, vec![Some("9300000001".into()), Some("冰箱会感冒吗".into())])]);
        let many = format!(
            "<table:table-row table:number-rows-repeated=\"1048570\">{}</table:table-row>",
            cell("x").repeat(20)
        );
        assert!(matches!(read_tables(&ods(&many)), Err(BookError::TooLarge(_))));
    }

    #[test]
    fn numbers_are_written_as_people_see_them() {
        assert_eq!(cell_text(&Data::Float(9_300_000_001.0)).as_deref(), Some("9300000001"));
        assert_eq!(cell_text(&Data::Float(3.5)).as_deref(), Some("3.5"));
        // An id of 19 digits is none any more.
        assert_eq!(
            cell_text(&Data::Float(1_234_567_890_123_456_789.0)).as_deref(),
            Some("1.2345678901234568E+18")
        );
        assert_eq!(cell_text(&Data::String(String::new())), None);
    }
}
