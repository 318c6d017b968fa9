//! The rows of a file that no source describes, as those of a table are read: told by its content, packed or not.

use std::path::Path;

use serde_json::{Map, Value};

use super::files::Dump;
use super::split::{Item, Unread};
use super::{findings, rows};
use riddlemill_record::Reason;
use riddlemill_tables::Error;
use riddlemill_text::notation;

/// The most bytes of a row.
const LIMIT: u64 = 64 << 20;

/// What a file holds.
#[derive(Debug, Default)]
pub struct RowsOfFile {
    /// Its rows, in order, as JSON objects.
    pub rows: Vec<Map<String, Value>>,
    /// Rows that cannot be read, each as `LINE: why`.
    pub unread: Vec<String>,
}

/// Reads the rows of a JSON, JSON Lines, CSV, Parquet or numpy file or a workbook, in any usual compression and encoding.
///
/// # Errors
/// [`Error::Io`] if the file cannot be read; [`Error::Damaged`] if it is none of these.
pub fn rows_of_file(path: &Path) -> Result<RowsOfFile, Error> {
    let bytes = std::fs::metadata(path).map_err(Error::io("read", path))?.len();
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let dump = Dump { file: name, bytes, ..Dump::looked_at(path) };
    // No column is needed here.
    if let Some(found) = findings::of_file(&dump, LIMIT, None)
        && found.reason != Reason::ColumnMissing
    {
        let what = found.evidence.lines().next().unwrap_or_default().to_owned();
        let hint = "expected rows: JSON, JSON Lines, CSV, a workbook, Parquet or a numpy array".into();
        return Err(Error::Damaged { path: path.to_path_buf(), what, hint });
    }
    let mut found = RowsOfFile::default();
    for items in rows::batches(&dump, LIMIT) {
        for Item { position, bytes } in (0..items.len()).filter_map(|item| items.get(item)) {
            match object(bytes) {
                Ok(row) => found.rows.push(row),
                Err(why) => found.unread.push(format!("{position}: {why}")),
            }
        }
    }
    Ok(found)
}

/// Why an item is no row.
#[derive(Debug, thiserror::Error)]
enum NoRow {
    #[error(transparent)]
    Unread(#[from] Unread),
    #[error("not UTF-8: {0}")]
    Encoding(#[from] std::str::Utf8Error),
    #[error("not a row: {0}")]
    Json(#[from] serde_json::Error),
}

fn object(bytes: Result<&[u8], Unread>) -> Result<Map<String, Value>, NoRow> {
    let text = std::str::from_utf8(bytes?)?;
    Ok(serde_json::from_str(&notation::strict(text))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_any_form_are_read_and_bad_ones_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let read = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).expect("room on disk");
            rows_of_file(&path)
        };
        let texts = |found: &RowsOfFile| -> Vec<String> {
            found.rows.iter().map(|row| row["text"].as_str().unwrap_or_default().to_owned()).collect()
        };
        let array = read("a", "[{\"text\": \"鱼\", \"score\": NaN}, {\"text\": \"云\"}]").expect("rows");
        let table = read("b", "text,id\n鱼,1\n云,2\n").expect("rows");
        let lines = read("c", "{\"text\": \"鱼\"}\n[1]\n{\"text\": \"云\"}\n").expect("rows");
        for found in [&array, &table, &lines] {
            assert_eq!(texts(found), ["鱼", "云"]);
        }
        assert!(array.unread.is_empty() && table.unread.is_empty());
        assert_eq!(lines.unread.len(), 1);
        assert!(lines.unread[0].starts_with("2: "), "{:?}", lines.unread);
        let page = read("d", "<!DOCTYPE html><html><body>moved</body></html>");
        assert!(matches!(page, Err(Error::Damaged { .. })), "{page:?}");
        assert!(matches!(rows_of_file(&folder.path().join("none")), Err(Error::Io { .. })));
    }
}
