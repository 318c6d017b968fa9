//! Reads lines and writes rows.

use std::io::{self, BufRead, BufReader, BufWriter, Stdin, StdoutLock, Write};

use serde::Serialize;

use crate::cli::exit::{Exit, Failure};
use crate::stages::apply::{RowObject, row_of, unreadable_row};

/// Lines processed at once: enough for every core, few enough to stream.
pub(super) const BATCH: usize = 1 << 13;

pub(super) fn parse_line(line: u64, text: &[u8]) -> Result<RowObject, RowObject> {
    row_of(text).map_err(|e| unreadable_row(line, &e.to_string()))
}

/// Bytes read or written at once.
pub(super) const BUFFER: usize = 1 << 18;

/// Stdout, for rows.
pub(super) fn row_output() -> BufWriter<StdoutLock<'static>> {
    BufWriter::with_capacity(BUFFER, io::stdout().lock())
}

/// Writes rows; false if the reader has closed the pipe.
pub(super) fn write_rows<'a, R: Serialize + 'a>(
    out: &mut impl Write,
    rows: impl IntoIterator<Item = &'a R>,
) -> Result<bool, Failure> {
    let each = || -> io::Result<()> {
        for row in rows {
            serde_json::to_writer(&mut *out, row)?;
            out.write_all(b"\n")?;
        }
        // After every batch, so that the next program in the pipe does not wait for the end.
        out.flush()
    };
    is_sent(each())
}

/// Writes encoded rows; false if the reader has closed the pipe.
pub(super) fn write_lines(out: &mut impl Write, encoded: &[Vec<u8>]) -> Result<bool, Failure> {
    is_sent(encoded.iter().try_for_each(|lines| out.write_all(lines)).and_then(|()| out.flush()))
}

fn is_sent(done: io::Result<()>) -> Result<bool, Failure> {
    match done {
        Ok(()) => Ok(true),
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(e) => Err(Failure { exit: Exit::Io, message: format!("cannot write to stdout: {e}") }),
    }
}

/// Appends a row as a line.
pub(super) fn encode_row(out: &mut Vec<u8>, row: &impl Serialize) -> Result<(), Failure> {
    serde_json::to_writer(&mut *out, row)
        .map_err(|e| Failure { exit: Exit::Io, message: format!("cannot write a row: {e}") })?;
    out.push(b'\n');
    Ok(())
}

/// Lines and their numbers.
pub(super) type Batch = Vec<(u64, Vec<u8>)>;

/// The lines of stdin with their numbers; blank ones are skipped.
pub(super) struct Lines {
    stdin: BufReader<Stdin>,
    number: u64,
    /// Length of the last line, as an estimate for the next.
    likely: usize,
}

impl Lines {
    pub(super) fn new() -> Lines {
        Lines { stdin: BufReader::with_capacity(BUFFER, io::stdin()), number: 0, likely: 0 }
    }

    pub(super) fn next_batch(&mut self, size: usize) -> Result<Option<Batch>, Failure> {
        let mut batch = Vec::new();
        while batch.len() < size {
            let mut line = Vec::with_capacity(self.likely);
            let read = self.stdin.read_until(b'\n', &mut line);
            match read.map_err(|e| Failure { exit: Exit::Io, message: format!("cannot read stdin: {e}") })? {
                0 => break,
                // Blank lines count, so that the numbers in messages are those of the file.
                _ => self.number += 1,
            }
            // After one huge line, all later ones would otherwise reserve as much.
            self.likely = line.len().min(BUFFER);
            if !line.trim_ascii().is_empty() {
                batch.push((self.number, line));
            }
        }
        Ok(Some(batch).filter(|b| !b.is_empty()))
    }
}

/// Counts unusable lines; the first of them are reported on stderr.
#[derive(Default)]
pub(super) struct BadLineCount(u64);

/// Most of them that are reported one by one.
const MAX_REPORTED: u64 = 20;

impl BadLineCount {
    pub(super) fn report_line(&mut self, line: u64, error: impl std::fmt::Display) {
        self.0 += 1;
        if self.0 <= MAX_REPORTED {
            eprintln!("warning: line {line}: {error}");
        }
    }

    pub(super) fn exit_code(&self) -> Exit {
        if self.0 > MAX_REPORTED {
            eprintln!("warning: {} more lines could not be used", self.0 - MAX_REPORTED);
        }
        if self.0 > 0 { Exit::Partial } else { Exit::Done }
    }
}
