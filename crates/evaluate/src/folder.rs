//! The results folder, complete or absent.

use std::io;
use std::path::Path;

use super::page;
use super::results::{
    Results, comparisons_csv, json_bytes, json_lines, number_tables, render_markdown, summarise_results,
};
use crate::store::{Error, durable};

/// Writes the folder under a temporary name and renames it, so that it is complete or absent.
///
/// # Errors
/// [`Error`] if a file cannot be written.
pub fn write_results(folder: &Path, results: &Results<'_>) -> Result<(), Error> {
    if let Some(parent) = folder.parent() {
        durable::create_folder(parent)?;
    }
    let temp_dir = durable::name_while_making(folder);
    durable::remove_folder(&temp_dir)?;
    durable::create_folder(&temp_dir.join("tables"))?;
    let put = |name: &str, bytes: &[u8]| durable::write_synced(&temp_dir.join(name), bytes);
    put("evaluation.json", &json_bytes(&summarise_results(results)))?;
    put("answers.jsonl", &json_lines(results.answers))?;
    put("missing.jsonl", &json_lines(results.missing))?;
    put("set_aside.jsonl", &json_lines(results.skipped))?;
    for (name, table) in number_tables(&results.report.tables) {
        put(&format!("tables/{name}.csv"), &table.render_csv())?;
    }
    if !results.report.comparisons.is_empty() {
        put("tables/models.csv", &comparisons_csv(&results.report.comparisons))?;
    }
    put("report.md", render_markdown(results).as_bytes())?;
    let drawn = |error| Error::io("draw", &temp_dir.join("report.html"))(io::Error::other(error));
    put("report.html", page::render_page(results).map_err(drawn)?.as_bytes())?;
    durable::swap_folder(&temp_dir, folder)
}
