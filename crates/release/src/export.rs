//! `export`: rows in the formats of annotation tools and spreadsheets.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use rust_xlsxwriter::{Format, Workbook};
use serde_json::{Value as Json, json};

use super::manifest::CandidateManifest;
use super::read_rows::JsonRow;
use crate::review::exchange::{CsvFor, csv_table};
use crate::store::Error;

/// Export formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    /// Label Studio's JSON: an array of tasks, the row as `data`.
    LabelStudio,
    /// Argilla's records, one per line: the columns as `fields`, each with its type, and the row's origin as
    /// `metadata`.
    Argilla,
    /// Comma-separated values with a byte order mark, by which spreadsheets recognise UTF-8. Texts that a
    /// spreadsheet would run as a formula get an apostrophe.
    Csv,
    /// A workbook with one sheet and a frozen header.
    Xlsx,
}

/// The longest text a cell of a workbook holds, in UTF-16 units.
const CELL: usize = 32_767;

/// Writes rows in a format.
///
/// # Errors
/// [`Error::Io`] if the file cannot be written, or a text does not fit a cell.
pub fn export_rows(rows: &[JsonRow], form: ExportFormat, path: &Path) -> Result<(), Error> {
    let failed = |e: std::io::Error| Error::io("write", path)(e);
    if form == ExportFormat::Xlsx {
        return write_workbook(rows, path).map_err(|e| failed(std::io::Error::other(e)));
    }
    let mut out = BufWriter::new(File::create(path).map_err(Error::io("create", path))?);
    let written = match form {
        ExportFormat::LabelStudio => label_studio(rows, &mut out),
        ExportFormat::Argilla => write_argilla(rows, &mut out),
        ExportFormat::Csv | ExportFormat::Xlsx => {
            encode_csv(rows.first(), rows).and_then(|table| out.write_all(&table))
        }
    };
    written.and_then(|()| out.flush()).map_err(failed)
}

fn label_studio(rows: &[JsonRow], out: &mut impl Write) -> std::io::Result<()> {
    let tasks: Vec<Json> =
        rows.iter().enumerate().map(|(i, row)| json!({ "id": i + 1, "data": row })).collect();
    serde_json::to_writer_pretty(&mut *out, &tasks)?;
    out.write_all(b"\n")
}

fn write_argilla(rows: &[JsonRow], out: &mut impl Write) -> std::io::Result<()> {
    for row in rows {
        let (metadata, fields): (JsonRow, JsonRow) = row
            .clone()
            .into_iter()
            .filter(|(key, _)| key != "id")
            .partition(|(key, _)| PROVENANCE.contains(&key.as_str()));
        let record = json!({ "id": row.get("id"), "fields": fields, "metadata": metadata });
        serde_json::to_writer(&mut *out, &record)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// Columns with a row's origin and standing.
const PROVENANCE: [&str; 6] = ["source", "source_id", "source_kind", "file", "licence", "standing"];

/// Rows as comma-separated values ([`ExportFormat::Csv`]); `like` is a row with their columns, which are the header even if
/// there are no rows.
///
/// # Errors
/// If a row has other columns.
pub fn encode_csv<'r>(
    sample_row: Option<&JsonRow>,
    rows: impl IntoIterator<Item = &'r JsonRow>,
) -> std::io::Result<Vec<u8>> {
    let headers: Vec<&String> = sample_row.into_iter().flat_map(|row| row.keys()).collect();
    let cells = rows.into_iter().map(|row| row.values().map(cell_text));
    csv_table(CsvFor::Both, &headers, cells).map_err(std::io::Error::other)
}

/// Rows as JSON, one per line, as a release has them.
pub fn json_lines<'r>(rows: impl IntoIterator<Item = &'r JsonRow>) -> Vec<u8> {
    rows.into_iter().flat_map(|row| (json!(row).to_string() + "\n").into_bytes()).collect()
}

/// Some rows of a config as Parquet, in this order, with the columns and types of the release in `folder`. Rows are counted
/// through the files of all splits, one behind the other, as they are read from JSON Lines.
///
/// # Errors
/// [`Error`] if a file of the release cannot be read, or if they do not have as many rows.
pub fn encode_parquet(
    folder: &Path,
    config: &str,
    places: impl Iterator<Item = usize>,
) -> Result<Vec<u8>, Error> {
    let files = CandidateManifest::read_manifest(folder)?.map(|candidate| candidate.files_of(config));
    let files = files.unwrap_or_else(|| vec![format!("data/{config}/test.jsonl")]);
    let paths: Vec<_> = files.iter().map(|file| folder.join(file).with_extension("parquet")).collect();
    super::parquet::select_rows(&paths, places)
}

fn write_workbook(rows: &[JsonRow], path: &Path) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let mut workbook = Workbook::new();
    // With a date of creation, two exports of the same rows would differ.
    workbook.set_properties(
        &rust_xlsxwriter::DocProperties::new()
            .set_creation_datetime(&rust_xlsxwriter::ExcelDateTime::from_ymd(2000, 1, 1)?),
    );
    let sheet = workbook.add_worksheet();
    sheet.set_freeze_panes(1, 0)?;
    let bold = Format::new().set_bold();
    for (column, key) in rows.first().into_iter().flat_map(|row| row.keys()).enumerate() {
        sheet.write_string_with_format(0, column as u16, key, &bold)?;
    }
    for (i, row) in rows.iter().enumerate() {
        for (column, value) in row.values().enumerate() {
            let (line, column) = (i as u32 + 1, column as u16);
            match value {
                Json::Null => {}
                Json::Number(n) => drop(sheet.write_number(line, column, n.as_f64().unwrap_or_default())?),
                Json::Bool(flag) => drop(sheet.write_boolean(line, column, *flag)?),
                other => {
                    let text = cell_text(other);
                    if text.encode_utf16().count() > CELL {
                        return Err(format!(
                            "row {line}: a text of more than {CELL} characters does not fit into a cell"
                        )
                        .into());
                    }
                    sheet.write_string(line, column, text)?;
                }
            }
        }
    }
    workbook.save(path)?;
    Ok(())
}

/// A value as a cell: text unchanged, empty for null, lists as JSON.
fn cell_text(value: &Json) -> String {
    match value {
        Json::Null => String::new(),
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_formula_of_the_forum_is_text_in_a_spreadsheet() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.csv");
        let formulas =
            ["=HYPERLINK(\"http://a\")", "+cmd|' /C calc'!A0", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "\n=1"];
        let row = |text: &str| json!({ "id": "a", "text": text, "score": -3 }).as_object().cloned().unwrap();
        let rows: Vec<JsonRow> = formulas.iter().map(|text| row(text)).collect();
        export_rows(&rows, ExportFormat::Csv, &path).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let mut table = csv::Reader::from_reader(text.trim_start_matches('\u{feff}').as_bytes());
        for (record, formula) in table.records().zip(formulas) {
            let record = record.unwrap();
            assert_eq!((&record[1], &record[2]), (format!("'{formula}").as_str(), "-3"));
        }
    }

    #[test]
    fn every_form_holds_every_row() {
        let row = json!({ "id": "a", "text": "一,\"二\"\n三", "score": null, "options": ["x", "y"], "label": 1, "flag": true, "source": "titles" });
        let rows = vec![row.as_object().cloned().unwrap(); 2];
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        for (form, name) in [
            (ExportFormat::LabelStudio, "a.json"),
            (ExportFormat::Argilla, "a.jsonl"),
            (ExportFormat::Csv, "a.csv"),
            (ExportFormat::Xlsx, "a.xlsx"),
        ] {
            export_rows(&rows, form, &path(name)).unwrap();
        }
        let tasks: Vec<Json> = serde_json::from_slice(&std::fs::read(path("a.json")).unwrap()).unwrap();
        assert_eq!((tasks.len(), &tasks[1]["data"]), (2, &row));
        let argilla = std::fs::read_to_string(path("a.jsonl")).unwrap();
        let record: Json = serde_json::from_str(argilla.lines().next().unwrap()).unwrap();
        let fields =
            json!({ "text": row["text"], "score": null, "options": ["x", "y"], "label": 1, "flag": true });
        assert_eq!((&record["fields"], &record["metadata"]), (&fields, &json!({ "source": "titles" })));
        let text = std::fs::read_to_string(path("a.csv")).unwrap();
        let mut table = csv::Reader::from_reader(text.trim_start_matches('\u{feff}').as_bytes());
        assert_eq!(&table.records().next().unwrap().unwrap()[1], "一,\"二\"\n三");
        let mut workbook: calamine::Xlsx<_> = calamine::open_workbook(path("a.xlsx")).unwrap();
        let sheet = calamine::Reader::worksheet_range_at(&mut workbook, 0).unwrap().unwrap();
        assert_eq!(sheet.get_size(), (3, 7));
    }
}
