//! Which ballots a file holds, by what its rows say of themselves.

use std::collections::BTreeSet;

use super::entries::Entries;
use super::export::Format;
use super::problem::Trouble;
use super::{csv, jsonl, label_studio, xlsx};

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
/// [`Trouble::Unreadable`] if the file cannot be read.
pub fn contents(file: &str, bytes: &[u8]) -> Result<Vec<Contents>, Trouble> {
    let tables = match Format::from_name(file) {
        Some(Format::Csv) => vec![csv::read(bytes)?.0],
        Some(Format::Xlsx) => xlsx::read_all(bytes)?,
        Some(Format::Jsonl) => vec![jsonl::read(file, bytes, &[])?.0],
        Some(Format::LabelStudio) => vec![label_studio::read(bytes, &[], &[])?.0],
        None => return Err(Trouble::unknown_format()),
    };
    Ok(tables.iter().map(|table| Contents { sheet: table.sheet.clone(), places: places(table) }).collect())
}

fn places(table: &Entries) -> BTreeSet<BallotPlace> {
    let column =
        |name: &str| table.columns.iter().position(|header| header.trim().eq_ignore_ascii_case(name));
    let (Some(recipe), Some(step), Some(round)) = (column("recipe"), column("step"), column("round")) else {
        return BTreeSet::new();
    };
    let named = table.rows.iter().filter_map(|row| {
        let text = |at: usize| row.cells.text(at).map(std::borrow::Cow::into_owned);
        Some((text(recipe)?, text(step)?, text(round)?))
    });
    named.collect()
}
