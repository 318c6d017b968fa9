//! The cells of every table that a spreadsheet may open.
//!
//! A cell that begins with `=` is run when the table is opened, whoever wrote it: a forum, a model, an
//! annotator, or the id of a dump's record. So every cell of every CSV is written by [`csv_table`], and what
//! was put before a cell is taken away when it is read.

use std::borrow::Cow;

use super::sheet::ExportError;

/// What programs take for the beginning of a formula. Chinese spreadsheets accept full-width signs too.
const SIGNS: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];

/// A cell that no spreadsheet runs as a formula, such as a forum's `=HYPERLINK(…)`: an apostrophe is put
/// before it, and before one that looks as if that had been done. Plain numbers stay as they are.
/// [`restore_formula`] gives the cell back.
pub fn disarm_formula(cell: &str) -> Cow<'_, str> {
    match is_formula(cell.trim_start_matches('\'')) && !is_number(cell) {
        true => Cow::from(format!("'{cell}")),
        false => Cow::from(cell),
    }
}

/// A cell as it was before [`disarm_formula`].
pub fn restore_formula(cell: &str) -> &str {
    match cell.strip_prefix('\'') {
        Some(rest) if is_formula(rest.trim_start_matches('\'')) => rest,
        _ => cell,
    }
}

/// A cell of a workbook, which says itself that it holds a text: only what [`restore_formula`] would change is changed.
pub(crate) fn in_workbook(cell: &str) -> Cow<'_, str> {
    if restore_formula(cell) == cell { Cow::from(cell) } else { Cow::from(format!("'{cell}")) }
}

fn is_formula(cell: &str) -> bool {
    cell.starts_with(SIGNS)
}

fn is_number(cell: &str) -> bool {
    // `parse` also accepts words, such as `-inf`.
    cell.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte)) && cell.parse::<f64>().is_ok()
}

/// How a CSV begins and ends its lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CsvFor {
    /// A byte order mark, without which Excel reads the file in the encoding of the system, and its line ends.
    Spreadsheets,
    /// A byte order mark, and a newline after each row.
    Both,
    /// Neither.
    Programs,
}

/// A table as CSV, whose cells no spreadsheet runs.
///
/// # Errors
/// [`ExportError::Csv`] if the rows do not have as many cells as the header.
pub fn csv_table<R, C>(
    kind: CsvFor,
    headers: &[C],
    rows: impl IntoIterator<Item = R>,
) -> Result<Vec<u8>, ExportError>
where
    R: IntoIterator,
    R::Item: AsRef<str>,
    C: AsRef<str>,
{
    let mut begun = Vec::new();
    if kind != CsvFor::Programs {
        begun.extend_from_slice("\u{feff}".as_bytes());
    }
    let ends = match kind {
        CsvFor::Spreadsheets => ::csv::Terminator::CRLF,
        CsvFor::Both | CsvFor::Programs => ::csv::Terminator::Any(b'\n'),
    };
    let mut writer = ::csv::WriterBuilder::new().terminator(ends).from_writer(begun);
    if !headers.is_empty() {
        writer.write_record(headers.iter().map(|header| disarm_formula(header.as_ref()).into_owned()))?;
    }
    for row in rows {
        let cells = row.into_iter().map(|cell| disarm_formula(cell.as_ref()).into_owned());
        writer.write_record(cells)?;
    }
    writer.into_inner().map_err(|error| ExportError::Csv(error.into_error().into()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn no_cell_is_a_formula_and_numbers_stay_numbers() {
        for cell in [
            "=HYPERLINK(\"x\")",
            "+1+1",
            "-1+1",
            "@SUM(A1)",
            "\t=1",
            "\r=1",
            "＝1",
            "-inf",
            "'=1",
            "''=1",
            "-",
        ] {
            assert!(disarm_formula(cell).starts_with('\''), "{cell}");
            assert_eq!(restore_formula(&disarm_formula(cell)), cell);
        }
        for cell in ["", "a=b", "'tis", "'", "-3", "+4.5", "-1e-5", "3", "云"] {
            assert_eq!((disarm_formula(cell).as_ref(), restore_formula(cell)), (cell, cell));
        }
    }

    proptest! {
        #[test]
        fn every_cell_is_read_back(cell in "('|=|\\+|-|@|\t|\r|\n|＝|1|\\.|e|\"|,|;|云|\\PC){0,8}") {
            let (disarmed, written) = (disarm_formula(&cell), in_workbook(&cell));
            prop_assert_eq!(restore_formula(&disarmed), cell.as_str());
            prop_assert_eq!(restore_formula(&written), cell.as_str());
            let first = disarm_formula(&cell).chars().next();
            prop_assert!(is_number(&cell) || !first.is_some_and(|c| SIGNS.contains(&c)), "{}", cell);
            for kind in [CsvFor::Spreadsheets, CsvFor::Both, CsvFor::Programs] {
                let table = csv_table(kind, &["a", "b"], [[cell.as_str(), "x"]]).unwrap();
                let (read, _) = super::super::csv::read_csv(&table).unwrap();
                let back = read.rows[0].cells.text_at(0).map(Cow::into_owned);
                // Blanks around an answer are no part of it.
                prop_assert_eq!(back.unwrap_or_default(), cell.trim());
            }
        }
    }
}
