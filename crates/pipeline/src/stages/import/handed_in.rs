//! The rows of a file that no source describes, as those of a table are read: told by its content, packed or not.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::files::Dump;
use super::rows::RowFormat;
use super::shape::Shape;
use super::split::{Item, Unread};
use super::{dump, findings, rows, shape};
use riddlemill_files::fence;
use riddlemill_files::reading::text_of;
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
    /// The position of each: its line, or its number in a list.
    pub positions: Vec<u64>,
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
    for items in rows::read_batches(&dump, LIMIT) {
        for Item { position, bytes } in (0..items.len()).filter_map(|item| items.get(item)) {
            match parse_object(bytes) {
                Ok(row) => {
                    found.rows.push(row);
                    found.positions.push(position);
                }
                Err(why) => found.unread.push(format!("{position}: {why}")),
            }
        }
    }
    Ok(found)
}

/// Columns of files in raw/ that are numbers, which a table has as texts.
const NUMBERS: [&str; 2] = ["sample", "rating"];

/// The files of a folder in raw/ with what was made elsewhere, in the order of their names, each as JSON Lines.
///
/// # Errors
/// [`Error::Io`] if the folder or a file cannot be read.
pub fn files_as_lines(folder: &Path) -> Result<Vec<(PathBuf, String)>, Error> {
    let mut paths = Vec::new();
    if folder.exists() {
        for entry in fence::list(folder).map_err(Error::io("read", folder))? {
            let path = entry.map_err(Error::io("read", folder))?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if path.is_file() && !name.starts_with('.') && !name.ends_with(".part") {
                paths.push(path);
            }
        }
        paths.sort();
    }
    paths.into_iter().map(|path| as_lines(&path).map(|text| (path, text))).collect()
}

/// A file as JSON Lines, of which each has the number of the row's position. Lines are as they stand; a row that cannot be read is a
/// text that says why.
///
/// # Errors
/// [`Error::Io`] if the file cannot be read.
pub fn as_lines(path: &Path) -> Result<String, Error> {
    let dump = Dump::looked_at(path);
    let is_lines = match rows::detect_format(&dump) {
        RowFormat::Json => matches!(shape::of_dump(&dump), Ok(Shape::Lines)),
        // Lines that are no JSON are reported one by one.
        RowFormat::Csv => path.extension().is_some_and(|extension| extension == "jsonl"),
        _ => false,
    };
    if is_lines {
        let mut bytes = Vec::new();
        let mut text = dump::open_unpacked(path).and_then(text_of).map_err(Error::io("read", path))?.reader;
        text.read_to_end(&mut bytes).map_err(Error::io("read", path))?;
        return Ok(String::from_utf8_lossy(&bytes).into_owned());
    }
    let mut lines: BTreeMap<u64, String> = BTreeMap::new();
    match rows_of_file(path) {
        Ok(found) => {
            for (mut row, position) in found.rows.into_iter().zip(found.positions) {
                for (_, value) in row.iter_mut().filter(|(name, _)| NUMBERS.contains(&name.as_str())) {
                    if let Some(number) = value.as_str().and_then(|text| text.trim().parse::<u64>().ok()) {
                        *value = number.into();
                    }
                }
                lines.insert(position, Value::Object(row).to_string());
            }
            for unread in found.unread {
                let (position, why) = unread.split_once(": ").unwrap_or(("1", &unread));
                lines.insert(position.parse().unwrap_or(1), Value::from(why).to_string());
            }
        }
        Err(Error::Damaged { what, .. }) => {
            lines.insert(1, Value::from(what).to_string());
        }
        Err(error) => return Err(error),
    }
    let mut text = String::new();
    let mut at = 1;
    for (position, line) in lines {
        // Blank lines keep the numbers of those that follow.
        text.extend(std::iter::repeat_n('\n', position.saturating_sub(at) as usize));
        at = at.max(position) + 1;
        text.push_str(&line);
        text.push('\n');
    }
    Ok(text)
}

/// Why an item is no row.
#[derive(Debug, thiserror::Error)]
enum ItemParseError {
    #[error(transparent)]
    Unread(#[from] Unread),
    #[error("not UTF-8: {0}")]
    Encoding(#[from] std::str::Utf8Error),
    #[error("not a row: {0}")]
    Json(#[from] serde_json::Error),
}

fn parse_object(bytes: Result<&[u8], Unread>) -> Result<Map<String, Value>, ItemParseError> {
    let text = std::str::from_utf8(bytes?)?;
    Ok(serde_json::from_str(&notation::strict_json(text))?)
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
        let utf16: Vec<u8> = "{\"item\": \"云\"}\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        for (name, bytes, lines) in [
            (
                "e.json",
                b"[{\"item\": \"a\"}, {\"item\": \"b\"}]".to_vec(),
                "{\"item\":\"a\"}\n{\"item\":\"b\"}\n",
            ),
            ("e.csv", b"item,rating\na,3\n".to_vec(), "\n{\"item\":\"a\",\"rating\":3}\n"),
            ("e.jsonl", b"{\"item\": 1}\n\n{\"item\"".to_vec(), "{\"item\": 1}\n\n{\"item\""),
            ("f.jsonl", utf16, "{\"item\": \"云\"}\n"),
        ] {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).expect("room on disk");
            assert_eq!(as_lines(&path).expect("text"), lines, "{name}");
        }
        let page = read("d", "<!DOCTYPE html><html><body>moved</body></html>");
        assert!(matches!(page, Err(Error::Damaged { .. })), "{page:?}");
        assert!(matches!(rows_of_file(&folder.path().join("none")), Err(Error::Io { .. })));
    }
}
