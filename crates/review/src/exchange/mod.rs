//! Ballots exported and votes imported: CSV, XLSX, JSON lines, Label Studio.
//!
//! Every format has the same columns, found by their header, never by position:
//!
//! ```text
//! item | see.<key>… | draft.<field>… | <field>… | annotator | round | recipe | step | vote | content_hash
//! ```
//!
//! `see.` and `draft.` are for reading only. `vote` is the id of the annotator's own latest vote, whose
//! answers are in the field columns; a row that comes back unchanged adds nothing. The hash comes last, so
//! that a truncated file loses it and the row is refused instead of half read. A blind ballot has no `draft.`
//! columns, and no ballot of the first round shows others' votes.

mod cells;
mod csv;
mod entries;
mod import;
mod jsonl;
mod label_studio;
mod problem;
mod seats;
mod sheet;
mod unread;
mod xlsx;

pub(crate) use cells::in_workbook;
pub use cells::{CsvFor, csv_table, disarm_formula};
pub(crate) use csv::decode_text;
pub use csv::{SheetRow, TableRows, table_columns, table_rows, write_sheet};
pub use import::{Import, ImportSettings, ItemIndex, VoteTable, import_tables, import_votes};
pub(crate) use jsonl::value_of_json as json_value;
pub use problem::{Problem, VoteProblem};
pub use sheet::{BallotSheet, ExportError};

use std::collections::BTreeSet;

use entries::Entries;
use sheet::Sheet;

use crate::assign::Annotator;
use crate::ballot::Round;

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
pub fn export_ballot(ballot: &BallotSheet<'_>, format: Format) -> Result<Vec<File>, ExportError> {
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
        Format::Csv => vec![File { name: name("csv"), bytes: csv::write_csv(&sheet)? }],
        Format::Xlsx => vec![File { name: name("xlsx"), bytes: xlsx::write_xlsx(&sheet)? }],
        Format::Jsonl => vec![File { name: name("jsonl"), bytes: jsonl::write_jsonl(&sheet)? }],
        Format::LabelStudio => vec![
            File { name: name("tasks.json"), bytes: label_studio::write_tasks(&sheet)? },
            File { name: name("config.xml"), bytes: label_studio::write_config(&sheet).into_bytes() },
        ],
    })
}

/// Recipe, step and round of a ballot.
pub type BallotPlace = (String, String, String);

/// One table of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contents {
    /// The worksheet, in a workbook.
    pub sheet: Option<String>,
    /// What its rows name; empty if it is not a ballot.
    pub places: BTreeSet<BallotPlace>,
}

/// The ballots in `bytes`, table by table. Of a workbook these are its sheets without the guideline and the
/// entries of the dropdowns.
///
/// # Errors
/// [`VoteProblem::Unreadable`] if the file cannot be read.
pub fn read_contents(file: &str, bytes: &[u8]) -> Result<Vec<Contents>, VoteProblem> {
    let tables = match Format::from_name(file) {
        Some(Format::Csv) => vec![csv::read_csv(bytes)?.0],
        Some(Format::Xlsx) => xlsx::read_all(bytes)?,
        Some(Format::Jsonl) => vec![jsonl::read_jsonl(file, bytes, &[])?.0],
        Some(Format::LabelStudio) => vec![label_studio::read_export(bytes, &[], &[])?.0],
        None => return Err(VoteProblem::unknown_format()),
    };
    Ok(tables.iter().map(|table| Contents { sheet: table.sheet.clone(), places: places_of(table) }).collect())
}

fn places_of(table: &Entries) -> BTreeSet<BallotPlace> {
    let column =
        |name: &str| table.columns.iter().position(|header| header.trim().eq_ignore_ascii_case(name));
    let (Some(recipe), Some(step), Some(round)) = (column("recipe"), column("step"), column("round")) else {
        return BTreeSet::new();
    };
    let named = table.rows.iter().filter_map(|row| {
        let text = |at: usize| row.cells.text_at(at).map(std::borrow::Cow::into_owned);
        Some((text(recipe)?, text(step)?, text(round)?))
    });
    named.collect()
}

/// The annotator who signed a vote: by their name, or by an account of theirs. Several signatures are of one
/// person, such as an account's address and its number.
fn find_author<'p>(people: &'p [Annotator], signed: &[&str]) -> Result<&'p Annotator, VoteProblem> {
    let first = || signed.first().copied().unwrap_or_default().to_owned();
    if let Some(named) = people.iter().find(|person| signed.contains(&person.name.as_str())) {
        return Ok(named);
    }
    // Addresses are the same in capitals and in small letters.
    let has = |person: &&Annotator| {
        person
            .accounts
            .iter()
            .any(|account| signed.iter().any(|signed| account.trim().eq_ignore_ascii_case(signed.trim())))
    };
    let found: Vec<&Annotator> = people.iter().filter(has).collect();
    match found[..] {
        [] => Err(VoteProblem::UnknownAnnotator(first())),
        [one] => Ok(one),
        _ => Err(VoteProblem::SharedAccount {
            account: first(),
            people: found.iter().map(|person| person.name.clone()).collect(),
        }),
    }
}

#[cfg(test)]
mod losses_tests;
#[cfg(test)]
mod tests;
