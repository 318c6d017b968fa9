//! The results folder, complete or absent.

use std::path::Path;

use super::page;
use super::results::{Results, comparisons_csv, json, lines, markdown, named, summary};
use crate::store::{Error, durable};

/// Writes the folder under a temporary name and renames it, so that it is complete or absent.
///
/// # Errors
/// [`Error`] if a file cannot be written.
pub fn write(folder: &Path, results: &Results<'_>) -> Result<(), Error> {
    if let Some(parent) = folder.parent() {
        durable::create_folder(parent)?;
    }
    let making = durable::making(folder);
    durable::remove_folder(&making)?;
    durable::create_folder(&making.join("tables"))?;
    let put = |name: &str, bytes: &[u8]| durable::write_synced(&making.join(name), bytes);
    put("evaluation.json", &json(&summary(results)))?;
    put("answers.jsonl", &lines(results.answers))?;
    put("missing.jsonl", &lines(results.missing))?;
    put("set_aside.jsonl", &lines(results.skipped))?;
    for (name, table) in named(&results.report.tables) {
        put(&format!("tables/{name}.csv"), &table.csv())?;
    }
    if !results.report.comparisons.is_empty() {
        put("tables/models.csv", &comparisons_csv(&results.report.comparisons))?;
    }
    put("report.md", markdown(results).as_bytes())?;
    put("report.html", page::page(results).as_bytes())?;
    durable::swap_folder(&making, folder)
}
