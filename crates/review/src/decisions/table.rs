//! Decisions as tables: CSV, XLSX, JSON Lines, with columns found by their header.

use std::collections::BTreeMap;

use rust_xlsxwriter::{
    DataValidation, DocProperties, ExcelDateTime, Format, FormatAlign, Workbook, XlsxError,
};

use riddlemill_benchmarks::notation;
use serde_json::Value as Json;

use crate::exchange::{
    ExportError, SheetRow, VoteProblem, decode_text, in_workbook, table_columns, table_rows, write_sheet,
};

/// The columns of a table in which people decide.
#[derive(Clone, Copy, Debug)]
pub struct DecisionColumns {
    /// The workbook's sheet.
    pub sheet: &'static str,
    /// In order. `see.` columns are for reading only, bookkeeping columns come last.
    pub names: &'static [&'static str],
    /// Columns to fill in.
    pub asked: &'static [&'static str],
    /// Columns wide enough for a text.
    pub texts: &'static [&'static str],
    /// The column that takes only these words.
    pub choice: (&'static str, &'static [&'static str]),
}

/// Decisions about records and pairs.
pub const DECISIONS: DecisionColumns = DecisionColumns {
    sheet: "decisions",
    names: &[
        "record",
        "other",
        "see.state",
        "see.text",
        "see.other",
        "verdict",
        "text",
        "why",
        "by",
        "recipe",
        "stage",
        "decision",
        "seen",
    ],
    asked: &["verdict", "text", "why"],
    texts: &["see.text", "see.other", "text"],
    choice: ("verdict", &["keep", "drop", "hold", "text", "title", "answer", "one", "two"]),
};

/// A row by its columns, without empty cells.
pub type CellsByColumn = BTreeMap<String, String>;

/// Why a table cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// The file's name has none of the three endings.
    #[error("{0}: unknown kind of table\n  hint: use a name that ends in .csv, .xlsx, .jsonl or .json")]
    Kind(String),
    /// The rows cannot be put into cells.
    #[error("the table cannot be written: {0}")]
    Csv(#[from] ExportError),
    /// The workbook cannot be written.
    #[error("the workbook cannot be written: {0}")]
    Xlsx(#[from] XlsxError),
    /// The bytes are not a table.
    #[error("{file}: {trouble}")]
    Unreadable {
        /// The file's name.
        file: String,
        /// What is wrong.
        trouble: VoteProblem,
    },
    /// A line is not a JSON object.
    #[error("{file}: line {line}: {error}")]
    Line {
        /// The file's name.
        file: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        error: serde_json::Error,
    },
}

enum Kind {
    Csv,
    Xlsx,
    /// Lines or one list: the content says which.
    Json,
}

fn parse_kind(name: &str) -> Result<Kind, TableError> {
    match name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).as_deref() {
        Some("csv" | "tsv" | "txt") => Ok(Kind::Csv),
        Some("xlsx" | "xlsm" | "xls" | "ods") => Ok(Kind::Xlsx),
        Some("jsonl" | "ndjson" | "json") => Ok(Kind::Json),
        _ => Err(TableError::Kind(name.to_owned())),
    }
}

/// A table of these rows, in the format of the file's ending.
///
/// # Errors
/// [`TableError`] if the ending is unknown or the rows do not fit into cells.
pub fn write_table(
    columns: &DecisionColumns,
    name: &str,
    rows: &[CellsByColumn],
) -> Result<Vec<u8>, TableError> {
    let cells = |row: &CellsByColumn| -> Vec<String> {
        columns.names.iter().map(|column| row.get(*column).cloned().unwrap_or_default()).collect()
    };
    match parse_kind(name)? {
        Kind::Csv => {
            let rows: Vec<Vec<String>> = rows.iter().map(cells).collect();
            Ok(write_sheet(columns.names, &rows)?)
        }
        Kind::Xlsx => Ok(write_workbook(columns, rows.iter().map(cells))?),
        Kind::Json => {
            let is_list = name.to_ascii_lowercase().ends_with(".json");
            let mut lines = Vec::new();
            for (at, row) in rows.iter().enumerate() {
                let row: serde_json::Map<String, serde_json::Value> = columns
                    .names
                    .iter()
                    .filter_map(|column| Some(((*column).to_owned(), row.get(*column)?.as_str().into())))
                    .collect();
                if is_list {
                    lines.extend(if at == 0 { b"[\n" } else { b",\n" });
                }
                lines.extend(serde_json::to_vec(&row).unwrap_or_default());
                if !is_list {
                    lines.push(b'\n');
                }
            }
            if is_list {
                lines.extend(if rows.is_empty() { &b"[]\n"[..] } else { b"\n]\n" });
            }
            Ok(lines)
        }
    }
}

fn write_workbook(
    columns: &DecisionColumns,
    rows: impl Iterator<Item = Vec<String>>,
) -> Result<Vec<u8>, XlsxError> {
    let mut workbook = Workbook::new();
    // The same rows give the same bytes, whenever they are written.
    let date = ExcelDateTime::from_ymd(2000, 1, 1)?;
    workbook.set_properties(&DocProperties::new().set_creation_datetime(&date));
    let worksheet = workbook.add_worksheet().set_name(columns.sheet)?;
    let bold = Format::new().set_bold();
    let wrapped = Format::new().set_align(FormatAlign::Top).set_text_wrap();
    for (column, header) in (0u16..).zip(columns.names) {
        worksheet.write_string_with_format(0, column, *header, &bold)?;
        let width = if columns.texts.contains(header) { 48.0 } else { 18.0 };
        worksheet.set_column_width(column, width)?;
    }
    let mut last = 1;
    for (row, cells) in (1u32..).zip(rows) {
        last = row;
        for (column, cell) in (0u16..).zip(&cells) {
            worksheet.write_string_with_format(row, column, in_workbook(cell), &wrapped)?;
        }
    }
    worksheet.set_freeze_panes(1, 1)?;
    let (asked, choices) = columns.choice;
    let choice = DataValidation::new().allow_list_strings(choices)?;
    let place = columns.names.iter().position(|column| *column == asked).unwrap_or_default() as u16;
    worksheet.add_data_validation(1, place, last, place, &choice)?;
    workbook.save_to_buffer()
}

/// The first of these columns that a table lacks, with those that it has; `None` where it has them all. `rows` are those of
/// the table.
///
/// # Errors
/// [`TableError`] if the bytes are not a table of the format in the name.
pub fn missing_column(
    name: &str,
    bytes: &[u8],
    rows: &[SheetRow],
    needed: &[&'static str],
) -> Result<Option<(&'static str, Vec<String>)>, TableError> {
    let unreadable = |trouble| TableError::Unreadable { file: name.to_owned(), trouble };
    let columns: Vec<String> = match parse_kind(name)? {
        Kind::Csv | Kind::Xlsx => table_columns(bytes).map_err(unreadable)?,
        Kind::Json => {
            let keys: std::collections::BTreeSet<String> =
                rows.iter().flat_map(|(_, row)| row.keys().cloned()).collect();
            keys.into_iter().collect()
        }
    };
    // Lines have no key for an empty cell: only the first column is in every row.
    let needed = if matches!(parse_kind(name)?, Kind::Json) { &needed[..1] } else { needed };
    let lacking = needed.iter().find(|name| columns.iter().all(|column| column != **name));
    Ok(lacking.map(|name| (*name, columns)))
}

/// The rows of a table with their row numbers, the header being 1; for JSON Lines, the line numbers.
///
/// # Errors
/// [`TableError`] if the bytes are not a table of the format in the name.
pub fn read_table(name: &str, bytes: &[u8]) -> Result<Vec<SheetRow>, TableError> {
    let unreadable = |trouble| TableError::Unreadable { file: name.to_owned(), trouble };
    match parse_kind(name)? {
        Kind::Csv | Kind::Xlsx => {
            let table = table_rows(bytes).map_err(unreadable)?;
            // What a person decided in a row that cannot be read is not left out in silence.
            match table.unread.into_iter().next() {
                Some((line, what)) => Err(unreadable(VoteProblem::Row { line, what })),
                None => Ok(table.rows),
            }
        }
        Kind::Json => {
            let (text, _) = decode_text(bytes).map_err(unreadable)?;
            let text = text.trim_start_matches('\u{feff}');
            // A list, however it is broken into lines: its rows have numbers.
            let rows =
                notation::split_elements(text.trim()).ok().filter(|_| text.trim_start().starts_with('['));
            let lines = match rows {
                Some(rows) => rows,
                None => text.lines().collect(),
            };
            let lines = lines.into_iter().enumerate().filter(|(_, line)| !line.trim().is_empty());
            let row = |(at, line): (usize, &str)| {
                let object: serde_json::Map<String, Json> = riddlemill_text::notation::from_str(line)
                    .map_err(|error| TableError::Line { file: name.to_owned(), line: at + 1, error })?;
                let filled = object.into_iter().filter_map(|(key, value)| match value {
                    Json::Null => None,
                    Json::String(text) => Some((key, text)),
                    other => Some((key, other.to_string())),
                });
                Ok((at + 1, filled.filter(|(_, value)| !value.is_empty()).collect()))
            };
            lines.map(row).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decisions::Verdict;

    #[test]
    fn a_table_offers_every_verdict() {
        assert_eq!(DECISIONS.choice.1, Verdict::ALL.map(Verdict::name));
    }

    #[test]
    fn a_table_comes_back_from_every_kind_of_file() {
        let row = |record: &str, text: &str| -> CellsByColumn {
            let cells =
                [("record", record), ("see.text", "=云会恐高吗"), ("verdict", "text"), ("text", text)];
            cells.into_iter().map(|(column, cell)| (column.to_owned(), cell.to_owned())).collect()
        };
        let rows = [row("tieba:1", "云会恐高吗？\n第二行"), row("tieba:2", "a \"b\", c")];
        for name in ["d.csv", "d.xlsx", "d.jsonl", "d.json"] {
            let bytes = write_table(&DECISIONS, name, &rows).unwrap();
            let back = read_table(name, &bytes).unwrap();
            assert_eq!(back.len(), 2, "{name}");
            for ((_, got), want) in back.iter().zip(&rows) {
                for column in ["record", "verdict", "text"] {
                    assert_eq!(got.get(column), want.get(column), "{name} {column}");
                }
            }
            assert_eq!(
                write_table(&DECISIONS, name, &rows).unwrap(),
                bytes,
                "{name} has the same bytes twice"
            );
        }
        // A formula in a forum's text must not run in a spreadsheet that opens the CSV.
        assert!(
            String::from_utf8(write_table(&DECISIONS, "d.csv", &rows).unwrap())
                .unwrap()
                .contains("'=云会恐高吗")
        );
        assert!(matches!(write_table(&DECISIONS, "d.doc", &rows), Err(TableError::Kind(_))));
        assert!(read_table("d.xlsx", b"PK\x03\x04").is_err());
        // A table of decisions comes from outside: its last cell may be anywhere.
        let mut workbook = Workbook::new();
        workbook.add_worksheet().write_string(0, 0, "record").unwrap();
        workbook.worksheet_from_index(0).unwrap().write_string(1_048_575, 16_383, "x").unwrap();
        let error = read_table("d.xlsx", &workbook.save_to_buffer().unwrap()).unwrap_err().to_string();
        assert!(error.contains("too large") && error.contains("XFD1048576"), "{error}");
        assert!(read_table("d.jsonl", b"{").is_err());
        // Whatever a foreign table holds, its columns are looked at first.
        let foreign = read_table("d.jsonl", b"{\"a\": 1, \"record\": null, \"list\": [2]}").unwrap();
        assert_eq!(foreign[0].1["a"], "1");
        let lacking = missing_column("d.jsonl", b"", &foreign, &["record"]).unwrap();
        assert_eq!(lacking, Some(("record", vec!["a".to_owned(), "list".to_owned()])));
        // As annotators' programs save it.
        let (gbk, ..) = encoding_rs::GB18030.encode("{\"record\": \"tieba:1\", \"text\": \"云会恐高吗？\"}");
        assert_eq!(read_table("d.jsonl", &gbk).unwrap()[0].1["text"], "云会恐高吗？");
        // A list is one under either name, in one line or in several.
        let list = b"[{\"record\": \"tieba:1\"},\n {\"record\": \"tieba:2\",\n  \"verdict\": \"drop\"}]";
        for name in ["d.jsonl", "d.json"] {
            let rows = read_table(name, list).unwrap();
            assert_eq!((rows.len(), rows[1].1["verdict"].as_str()), (2, "drop"), "{name}");
        }
    }
}
