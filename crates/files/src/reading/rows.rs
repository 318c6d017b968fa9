//! The rows of a table of text, one by one. A quotation mark that is never closed costs its row and not those below it.
//!
//! What: a cell that begins with a quotation mark ends with one, before what parts columns or at the end of the row, and line breaks in
//! it are its text. Where that does not hold for a line, the mark is a character of the text, or the row is faulty.
//!
//! Why not a reader of the format alone: to it the next quotation mark, however far below, closes the cell, and all rows between the
//! two are one text.
//!
//! Known problems: a quote that is not closed, in a table where a later cell ends with a stray one, is taken for a text of several
//! lines unless these look like rows.

use std::collections::VecDeque;
use std::io::{self, Read};

use super::dialect::Dialect;
use super::quoting::{Close, find_cell_end};

/// Bytes that are read at once.
const PIECE: usize = 256 << 10;
/// Most rows that are taken for pieces of one.
const PIECES: usize = 50;
/// Lines in a quoted cell, all of which look like rows, from which they are taken for rows.
const ROWS_IN_CELL: usize = 3;

/// What is wrong with a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RowFault {
    /// A cell begins with a quotation mark that is not closed in its row.
    #[error(
        "a quotation mark is opened in cell {0} and never closed: the line was set aside, and the rows below it are read\n  hint: close it, or write quotation marks in a text twice, in a cell that is quoted as a whole"
    )]
    Unclosed(usize),
    /// There are more cells than columns.
    #[error(
        "{cells} cells under {columns} columns: something that parts columns is in a text that is not quoted\n  hint: put the text in quotation marks, or save the table as a workbook or as JSON"
    )]
    TooMany {
        /// Cells of the row.
        cells: usize,
        /// Columns of the table.
        columns: usize,
    },
    /// A cell of a sheet is under no name.
    #[error(
        "cell {cell} is filled, and only {columns} columns have names: it would be lost\n  hint: write a name above it, or move it to where it belongs"
    )]
    Unnamed {
        /// The number of the last filled cell.
        cell: usize,
        /// Columns with names.
        columns: usize,
    },
    /// A piece of a row that a line break in a text cut, or the rest of a faulty row.
    #[error(
        "{cells} cells under {columns} columns: it is a piece of a row that a line break in a text cut\n  hint: put a text of several lines in quotation marks, or save the table as a workbook or as JSON"
    )]
    Rest {
        /// Cells of the row.
        cells: usize,
        /// Columns of the table.
        columns: usize,
    },
}

/// A row of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The line on which it begins, from 1. A lone carriage return ends a row and no line.
    pub line: u64,
    /// Its cells, of which a faulty row has those of its line.
    pub cells: Vec<Vec<u8>>,
    /// What is wrong with it.
    pub fault: Option<RowFault>,
}

/// Reads the rows of a table of text in UTF-8.
pub struct RowReader<R> {
    from: R,
    dialect: Dialect,
    buffer: Vec<u8>,
    at: usize,
    is_over: bool,
    line: u64,
    columns: Option<usize>,
    /// Empty cells behind them that nearly every row has.
    spare: usize,
    /// Most bytes of a row of several lines.
    limit: u64,
    /// Whether the row above was faulty in a way that leaves its rest as rows.
    is_torn: bool,
    /// The error that ended the stream, while there are rows before it.
    failed: Option<io::Error>,
    /// Rows that were read already.
    ahead: VecDeque<Row>,
}

/// What a row is, in the bytes at hand.
enum Parsed {
    /// Cells, and the bytes of the row with its end.
    Row(Vec<Vec<u8>>, usize),
    /// More bytes are needed to know.
    Cut,
    /// The quotation mark with which this cell begins is not closed.
    Unclosed(usize),
}

impl<R: Read> RowReader<R> {
    /// A reader of what is behind `skip`, in which a row of several lines has at most `limit` bytes.
    pub fn new(from: R, dialect: Dialect, limit: u64) -> RowReader<R> {
        let line = if dialect.skip > 0 { 2 } else { 1 };
        RowReader {
            from,
            dialect,
            buffer: Vec::new(),
            at: 0,
            is_over: false,
            line,
            columns: None,
            spare: 0,
            limit,
            is_torn: false,
            failed: None,
            ahead: VecDeque::new(),
        }
    }

    /// States how many columns the rows below have, and how many empty cells nearly each of them has behind these
    /// ([`Dialect::count_spare_cells`]).
    pub fn expect_columns(&mut self, columns: usize, spare: usize) {
        self.columns = Some(columns);
        self.spare = spare;
    }

    /// The next row that is not blank.
    ///
    /// # Errors
    /// That of the stream, at the place where it occurs.
    pub fn next_row(&mut self) -> io::Result<Option<Row>> {
        if let Some(row) = self.ahead.pop_front() {
            return Ok(Some(row));
        }
        let Some(row) = self.read_row()? else { return Ok(None) };
        match self.columns.filter(|columns| row.fault.is_none() && row.cells.len() < *columns) {
            Some(columns) => Ok(Some(self.find_pieces(row, columns))),
            None => Ok(Some(row)),
        }
    }

    /// A row with too few cells, which line breaks in a text may have cut: then the rows below have the rest of its cells, and begin
    /// unlike a row.
    fn find_pieces(&mut self, row: Row, columns: usize) -> Row {
        let is_numbered = |row: &Row| {
            row.cells.first().is_some_and(|cell| !cell.is_empty() && cell.iter().all(u8::is_ascii_digit))
        };
        if !is_numbered(&row) {
            return row;
        }
        let mut cells = row.cells.len();
        let mut pieces = vec![row];
        while cells < columns && pieces.len() < PIECES {
            match self.read_row() {
                Ok(Some(next)) => {
                    let is_piece = next.fault.is_none() && next.cells.len() < columns && !is_numbered(&next);
                    cells += if is_piece { next.cells.len() - 1 } else { columns };
                    pieces.push(next);
                }
                Ok(None) => break,
                Err(error) => {
                    self.failed = Some(error);
                    break;
                }
            }
        }
        if cells == columns && pieces.len() > 1 {
            for piece in &mut pieces {
                piece.fault = Some(RowFault::Rest { cells: piece.cells.len(), columns });
            }
        }
        let mut pieces = pieces.into_iter();
        let first = pieces.next();
        self.ahead.extend(pieces);
        first.unwrap_or(Row { line: self.line, cells: Vec::new(), fault: None })
    }

    fn read_row(&mut self) -> io::Result<Option<Row>> {
        loop {
            self.pass_blank_lines()?;
            if self.at == self.buffer.len() {
                return Ok(None);
            }
            match self.parse_row() {
                Parsed::Cut => self.read_more()?,
                Parsed::Row(mut cells, length) => {
                    if self.dialect.delimiter == b'|' {
                        // Tables for people: cells have blanks around them, and lines are drawn between rows.
                        cells.iter_mut().for_each(|cell| *cell = cell.trim_ascii().to_vec());
                    }
                    let is_drawn = self.dialect.delimiter == b'|' && is_drawn(&cells);
                    let row = self.hand_out_row(cells, length, None);
                    if !is_drawn {
                        return Ok(Some(row));
                    }
                }
                Parsed::Unclosed(cell) => {
                    // The line itself has to be whole.
                    let Some(end) = line_end(&self.buffer[self.at..], self.is_over) else {
                        self.read_more()?;
                        continue;
                    };
                    let cells = self.literal_cells(end);
                    let fault = RowFault::Unclosed(cell + 1);
                    return Ok(Some(self.hand_out_row(cells, end, Some(fault))));
                }
            }
        }
    }

    /// Hands out a row, with what is wrong with it.
    fn hand_out_row(&mut self, cells: Vec<Vec<u8>>, length: usize, fault: Option<RowFault>) -> Row {
        let line = self.line;
        self.line += memchr::memchr_iter(b'\n', &self.buffer[self.at..self.at + length]).count() as u64;
        self.at += length;
        if let Some(columns) = self.columns.filter(|columns| self.is_torn && cells.len() < *columns) {
            return Row { line, fault: Some(RowFault::Rest { cells: cells.len(), columns }), cells };
        }
        self.is_torn = fault.is_some();
        self.with_columns(Row { line, cells, fault })
    }

    /// A row with what is wrong with the number of its cells. Where there is one column, nothing parts columns. An empty cell too many
    /// is one too many, too: in a text that is not quoted something parts columns, and the last of these was empty.
    fn with_columns(&self, row: Row) -> Row {
        let Some(columns) = self.columns.filter(|_| row.fault.is_none()) else { return row };
        let filled = row.cells.iter().rposition(|cell| !cell.is_empty()).map_or(0, |last| last + 1);
        let spare = if filled <= columns { self.spare } else { 0 };
        let cells = row.cells.len().saturating_sub(spare);
        match cells > columns {
            true if columns == 1 => {
                Row { cells: vec![row.cells[..cells].join(&self.dialect.delimiter)], ..row }
            }
            true => Row { fault: Some(RowFault::TooMany { cells, columns }), ..row },
            false => row,
        }
    }

    fn pass_blank_lines(&mut self) -> io::Result<()> {
        loop {
            while let Some(byte) = self.buffer.get(self.at).filter(|byte| matches!(byte, b'\n' | b'\r')) {
                self.line += u64::from(*byte == b'\n');
                self.at += 1;
            }
            if self.at < self.buffer.len() || self.is_over {
                return Ok(());
            }
            self.read_more()?;
        }
    }

    fn read_more(&mut self) -> io::Result<()> {
        self.buffer.drain(..self.at);
        self.at = 0;
        // As much again as is there: a long row is looked at a few times only.
        let most = PIECE.max(self.buffer.len());
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        let before = self.buffer.len();
        match self.from.by_ref().take(most as u64).read_to_end(&mut self.buffer) {
            Ok(read) => self.is_over = read < most,
            Err(error) if self.buffer.len() == before => return Err(error),
            Err(error) => self.failed = Some(error),
        }
        Ok(())
    }

    fn parse_row(&self) -> Parsed {
        let bytes = &self.buffer[self.at..];
        let mut cells = Vec::new();
        let mut at = 0;
        loop {
            let start = at;
            let quote = match self.dialect.has_quotes {
                true => start + bytes[start..].iter().take_while(|byte| **byte == b' ').count(),
                false => bytes.len(),
            };
            if bytes.get(quote) == Some(&b'"') {
                match self.parse_quoted_cell(&bytes[quote..], &cells) {
                    Quoted::Cell(text, length) => {
                        cells.push(text);
                        at = quote + length;
                        match self.end_of_cell(bytes, &mut at) {
                            Some(true) => return Parsed::Row(cells, at),
                            Some(false) => continue,
                            None => return Parsed::Cut,
                        }
                    }
                    Quoted::Cut => return Parsed::Cut,
                    Quoted::Character => {}
                    Quoted::Unclosed => return Parsed::Unclosed(cells.len()),
                }
            }
            match memchr::memchr3(self.dialect.delimiter, b'\n', b'\r', &bytes[start..]) {
                Some(length) => at = start + length,
                None if self.is_over => at = bytes.len(),
                None => return Parsed::Cut,
            }
            cells.push(bytes[start..at].to_vec());
            match self.end_of_cell(bytes, &mut at) {
                Some(true) => return Parsed::Row(cells, at),
                Some(false) => {}
                None => return Parsed::Cut,
            }
        }
    }

    /// Passes what is behind a cell; whether it ends the row, or `None` where more bytes are needed to know.
    fn end_of_cell(&self, bytes: &[u8], at: &mut usize) -> Option<bool> {
        match bytes.get(*at) {
            None => self.is_over.then_some(true),
            Some(b'\r') => match bytes.get(*at + 1) {
                Some(next) => {
                    *at += if *next == b'\n' { 2 } else { 1 };
                    Some(true)
                }
                None if self.is_over => {
                    *at += 1;
                    Some(true)
                }
                None => None,
            },
            Some(b'\n') => {
                *at += 1;
                Some(true)
            }
            Some(_) => {
                *at += 1;
                // The row ends with an empty cell.
                match bytes.len() > *at || !self.is_over {
                    true => Some(false),
                    false => Some(true),
                }
            }
        }
    }

    /// A cell that begins with a quotation mark.
    fn parse_quoted_cell(&self, bytes: &[u8], before: &[Vec<u8>]) -> Quoted {
        let line = line_end(bytes, self.is_over).map(|end| bytes[..end].trim_ascii_end().len());
        for escape in [None, Some(b'\\')] {
            match find_cell_end(bytes, escape, self.dialect.delimiter, self.is_over) {
                Close::At(text, length) => {
                    let lines = &bytes[..length];
                    if escape.is_none() || text.contains(&b'"') {
                        return match self.has_rows_in_it(lines, before) {
                            true => Quoted::Unclosed,
                            false => Quoted::Cell(text, length),
                        };
                    }
                }
                Close::Cut if (bytes.len() as u64) < self.limit => return Quoted::Cut,
                Close::Cut | Close::Never | Close::Stray(_) => {}
            }
        }
        let Some(line) = line else { return Quoted::Cut };
        // Quotation marks in the text that are not doubled: the one behind which the cells fit closes it.
        if let Some(end) = self.lenient_end(&bytes[..line], before.len()) {
            return Quoted::Cell(bytes[1..end].to_vec(), end + 1);
        }
        let is_closed_early = matches!(
            find_cell_end(bytes, None, self.dialect.delimiter, self.is_over),
            Close::Stray(at) if at < line
        );
        // A mark that is closed before the text goes on is a character of the text, and so is any in a table that quotes nothing.
        match is_closed_early || !self.dialect.is_strict {
            true if self.has_fitting_cells(before.len(), &bytes[..line]) => Quoted::Character,
            _ => Quoted::Unclosed,
        }
    }

    /// On a line: the first quotation mark before a delimiter behind which there are as many cells as there are columns left.
    fn lenient_end(&self, line: &[u8], before: usize) -> Option<usize> {
        let delimiter = self.dialect.delimiter;
        let left = |at: usize| memchr::memchr_iter(delimiter, &line[at..]).count();
        memchr::memchr_iter(b'"', line).skip(1).find(|at| {
            line.get(at + 1).is_none_or(|byte| *byte == delimiter)
                && self.columns.is_none_or(|columns| before + 1 + left(*at) == columns)
        })
    }

    /// Whether the rest of a line, read without quotation marks, has as many cells as there are columns left.
    fn has_fitting_cells(&self, before: usize, line: &[u8]) -> bool {
        let cells = before + 1 + memchr::memchr_iter(self.dialect.delimiter, line).count();
        self.columns.is_none_or(|columns| cells == columns)
    }

    /// Whether the lines of a quoted cell look like the rows of the table.
    fn has_rows_in_it(&self, cell: &[u8], before: &[Vec<u8>]) -> bool {
        let Some(columns) = self.columns.filter(|columns| *columns > 1) else { return false };
        let mut lines: Vec<&[u8]> = cell.split(|byte| *byte == b'\n').skip(1).collect();
        lines.pop();
        let is_number = |cell: &[u8]| !cell.is_empty() && cell.iter().all(u8::is_ascii_digit);
        let numbered = before.first().is_some_and(|first| is_number(first));
        let is_row = |line: &&[u8]| {
            let mut cells = line.split(|byte| *byte == self.dialect.delimiter);
            let first = cells.next().unwrap_or_default();
            cells.count() + 1 == columns && (columns > 2 || numbered) && (!numbered || is_number(first))
        };
        lines.len() >= ROWS_IN_CELL && lines.iter().all(is_row)
    }

    fn literal_cells(&self, end: usize) -> Vec<Vec<u8>> {
        let line = self.buffer[self.at..self.at + end].trim_ascii_end();
        line.split(|byte| *byte == self.dialect.delimiter).map(<[u8]>::to_vec).collect()
    }
}

enum Quoted {
    /// Its text, and its bytes with the marks.
    Cell(Vec<u8>, usize),
    Cut,
    /// The mark belongs to the text.
    Character,
    Unclosed,
}

/// Whether a row is a line between rows: `----+----`, `|:---|---:|`.
fn is_drawn(cells: &[Vec<u8>]) -> bool {
    let mut bytes = cells.iter().flatten().peekable();
    bytes.peek().is_some() && bytes.all(|byte| matches!(byte, b'-' | b'+' | b':' | b'='))
}

/// The bytes of the first line with its end; `None` where its end is not there yet.
fn line_end(bytes: &[u8], is_over: bool) -> Option<usize> {
    match memchr::memchr2(b'\n', b'\r', bytes) {
        Some(at) if bytes[at] == b'\r' && bytes.get(at + 1) == Some(&b'\n') => Some(at + 2),
        Some(at) if bytes[at] == b'\r' && at + 1 == bytes.len() && !is_over => None,
        Some(at) => Some(at + 1),
        None => is_over.then_some(bytes.len()),
    }
}

#[cfg(test)]
#[path = "rows_tests.rs"]
mod tests;
