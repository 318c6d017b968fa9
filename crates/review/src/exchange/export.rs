//! Writes ballots.

use crate::ballot::Round;

use super::sheet::{BallotSheet, ExportError, Sheet};
use super::{csv, jsonl, label_studio, xlsx};

/// The file formats of ballots and votes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// UTF-8 with a byte order mark, which spreadsheets need to recognise it.
    Csv,
    /// A workbook with dropdowns, a frozen header and the guideline on a second sheet.
    Xlsx,
    /// One ballot per line.
    Jsonl,
    /// Tasks as JSON and the labelling interface as XML.
    LabelStudio,
}

impl Format {
    /// The format by a file's name; JSON is Label Studio's.
    pub fn from_name(name: &str) -> Option<Format> {
        match name.rsplit('.').next().unwrap_or_default().to_ascii_lowercase().as_str() {
            "csv" | "tsv" | "txt" => Some(Format::Csv),
            "xlsx" | "xlsm" | "xls" | "ods" => Some(Format::Xlsx),
            "jsonl" | "ndjson" => Some(Format::Jsonl),
            "json" => Some(Format::LabelStudio),
            _ => None,
        }
    }
}

/// A file to write.
#[derive(Clone, Debug, PartialEq)]
pub struct File {
    /// Its name, such as `flub.type.a1.xlsx`.
    pub name: String,
    /// Its bytes; equal for equal ballots.
    pub bytes: Vec<u8>,
}

/// Writes a ballot.
pub fn export(ballot: &BallotSheet<'_>, format: Format) -> Result<Vec<File>, ExportError> {
    let sheet = Sheet::new(ballot);
    let name = |end: &str| {
        let parts = [ballot.step.recipe, ballot.step.name, ballot.annotator];
        let mut parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        if ballot.round != Round::Vote {
            parts.insert(2, ballot.round.name());
        }
        format!("{}.{end}", parts.join("."))
    };
    Ok(match format {
        Format::Csv => vec![File { name: name("csv"), bytes: csv::write(&sheet)? }],
        Format::Xlsx => vec![File { name: name("xlsx"), bytes: xlsx::write(&sheet)? }],
        Format::Jsonl => vec![File { name: name("jsonl"), bytes: jsonl::write(&sheet)? }],
        Format::LabelStudio => vec![
            File { name: name("tasks.json"), bytes: label_studio::tasks(&sheet)? },
            File { name: name("config.xml"), bytes: label_studio::config(&sheet).into_bytes() },
        ],
    })
}
