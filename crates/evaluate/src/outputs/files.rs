//! The files of outputs: which there are, and the lines of each.

use std::borrow::Cow;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use riddlemill_benchmarks::notation;
use serde_json::{Map, Value as Json};

use super::error::{HINT, OutputError};
use super::{Lines, inspect, lines, lm_eval, scripts};
use crate::error::EvaluateError;
use crate::reading::{self, Packing};
use crate::review::exchange::{TableRows, table_rows};
use crate::stages::import::{NUMPY, numpy_rows};
use crate::store::Error;

/// Names of skipped files that are told.
const NAMED: usize = 5;

/// The files that one argument names.
#[derive(Debug, Default)]
pub(super) struct Listed {
    pub files: Vec<PathBuf>,
    /// Files of a folder whose names are not those of outputs.
    pub others: Vec<PathBuf>,
}

impl Listed {
    /// A file, or the files of a folder and its subfolders, sorted.
    ///
    /// # Errors
    /// [`EvaluateError`] if a folder cannot be read, or holds no file of outputs.
    pub fn list_files(path: &Path) -> Result<Listed, EvaluateError> {
        let mut listed = Listed::default();
        if !path.is_dir() {
            listed.files.push(path.to_path_buf());
            return Ok(listed);
        }
        listed.add_folder(path)?;
        match listed.files.is_empty() {
            false => Ok(listed),
            true => Err(EvaluateError::Form {
                path: path.into(),
                what: match listed.describe_others() {
                    Some(others) => format!("no file in it has the name of outputs: {others}"),
                    None => "the folder is empty".into(),
                },
                hint: "files of outputs in a folder end in .jsonl, .ndjson, .json, .npy, .csv, .tsv, .xlsx or .ods; a file that is \
                       named itself may have any name"
                    .into(),
            }),
        }
    }

    /// A spreadsheet beside JSON of its name is skipped: it has the same contents.
    fn add_folder(&mut self, path: &Path) -> Result<(), EvaluateError> {
        let entries = fs::read_dir(path).map_err(Error::io("read", path))?;
        let mut entries: Vec<PathBuf> = entries
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<Result<_, _>>()
            .map_err(Error::io("read", path))?;
        // The first answer counts, so the order must not depend on the file system.
        entries.sort();
        let ends_in =
            |entry: &Path, ends: &[&str]| entry.extension().is_some_and(|end| ends.iter().any(|e| end == *e));
        for entry in &entries {
            let name = lines::unpacked_name(entry);
            // Scripts write a spreadsheet of the same contents beside their JSON.
            let is_copy = || {
                ["jsonl", "json", "npy"].iter().any(|end| {
                    entries.iter().any(|other| lines::unpacked_name(other) == name.with_extension(end))
                })
            };
            let is_hidden = entry.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
            if entry.is_dir() {
                self.add_folder(entry)?;
            } else if ends_in(&name, &["jsonl", "ndjson", "json", "npy"]) {
                self.files.push(entry.clone());
            } else if ends_in(&name, &["csv", "tsv", "xlsx", "ods"]) {
                self.files.extend((!is_copy()).then(|| entry.clone()));
            } else if !is_hidden {
                self.others.push(entry.clone());
            }
        }
        Ok(())
    }

    /// The names of skipped files; `None` without any.
    pub fn describe_others(&self) -> Option<String> {
        let names: Vec<String> =
            self.others.iter().take(NAMED).map(|path| path.display().to_string()).collect();
        match self.others.len().saturating_sub(NAMED) {
            0 => (!names.is_empty()).then(|| names.join(", ")),
            more => Some(format!("{} and {more} more", names.join(", "))),
        }
    }
}

/// The bytes of a file without its compression. A workbook and a log of inspect_ai are zips of several files, which stay whole.
pub(super) fn unpacked_bytes(path: &Path) -> io::Result<Vec<u8>> {
    if !path.is_file() || Packing::of_file(path) == Packing::Plain {
        return fs::read(path);
    }
    let mut bytes = Vec::new();
    reading::open_unpacked(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The lines of a file for the set with this config.
///
/// # Errors
/// [`EvaluateError::Form`] if it has none of the formats, or holds nothing.
pub(super) fn parse_lines(config: &str, path: &Path, bytes: &[u8]) -> Result<Lines, EvaluateError> {
    let form = |what: &str, hint: &str| EvaluateError::Form {
        path: path.into(),
        what: what.into(),
        hint: hint.into(),
    };
    if bytes.starts_with(NUMPY) {
        let rows = numpy_rows(bytes)
            .map_err(|what| form(what, "an array of objects, as numpy saves it, can be read"))?;
        let rows = rows.iter().map(String::as_str).zip(1..);
        return Ok(rows.flat_map(|(row, at)| outputs_of(config, path, &format!("row {at}"), row)).collect());
    }
    let decoded = decoded(bytes);
    let text = crate::notation::strip_byte_mark(&decoded);
    // inspect_ai's own logs are zip files, which begin with these letters.
    if text.starts_with("PK") && !is_workbook(path, bytes) {
        return Err(form(
            "a packed log of inspect_ai",
            "`inspect log dump FILE > FILE.json` writes it as JSON",
        ));
    }
    let has_json = || text.lines().any(|line| line.trim_start().starts_with(['{', '[']));
    let lines: Lines = if text.starts_with("PK") || !text.trim().is_empty() && !has_json() {
        let table = table_rows(bytes).map_err(|trouble| form(&trouble.to_string(), HINT))?;
        outputs_of_table(config, path, table)
    } else if text.trim_start().starts_with('{')
        && let Ok(log) = serde_json::from_str::<Json>(text)
        && log.get("samples").is_some_and(Json::is_array)
    {
        inspect::parse_outputs(path, &log)
    } else {
        match notation::split_elements(text.trim()) {
            Ok(rows) => {
                let rows = rows.into_iter().zip(1..);
                rows.flat_map(|(row, at)| outputs_of(config, path, &format!("row {at}"), row)).collect()
            }
            Err(_) => {
                let lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
                lines.flat_map(|(line, at)| outputs_of(config, path, &at.to_string(), line)).collect()
            }
        }
    };
    if lines.is_empty() { Err(form("it holds no output", HINT)) } else { Ok(lines) }
}

/// The outputs in the rows of a table, and the rows that cannot be read.
fn outputs_of_table(config: &str, path: &Path, table: TableRows) -> Lines {
    let TableRows { columns, rows, unread } = table;
    let has_text = columns.iter().any(|column| column == lines::TEXT);
    let mut outputs = Lines::new();
    for (at, cells) in rows {
        let mut row: Map<String, Json> = cells.into_iter().map(|(name, cell)| (name, cell.into())).collect();
        // An empty cell is an answer without a word.
        if has_text {
            row.entry(lines::TEXT).or_insert(Json::Null);
        }
        outputs.extend(outputs_of(config, path, &format!("row {at}"), &Json::Object(row).to_string()));
    }
    let unread = unread
        .into_iter()
        .map(|(line, fault)| (format!("{}:line {line}", path.display()), Err(OutputError::Row(fault))));
    outputs.extend(unread);
    outputs
}

/// A file's text, in any encoding that spreadsheets write.
fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    let (encoding, mark) = reading::encoding_of(bytes);
    encoding.decode_without_bom_handling(&bytes[mark..]).0
}

fn is_workbook(path: &Path, bytes: &[u8]) -> bool {
    path.extension().is_none_or(|end| end != "eval") && reading::workbook::open_workbook(bytes).is_ok()
}

/// The outputs of a line for the set with this config, in any of the formats.
fn outputs_of(config: &str, path: &Path, at: &str, line: &str) -> Lines {
    let place = format!("{}:{at}", path.display());
    let outputs = match serde_json::from_str::<Json>(&notation::strict_json(line)) {
        Ok(json) if json.get("doc").is_some() => lm_eval::parse_outputs(path, &json),
        Ok(json) => {
            scripts::parse_outputs(config, path, &json).unwrap_or_else(|| vec![lines::parse_output(line)])
        }
        Err(error) => vec![Err(OutputError::NoJson(error))],
    };
    outputs.into_iter().map(|output| (place.clone(), output)).collect()
}
