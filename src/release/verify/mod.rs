//! `verify`: a folder proven from its own files, offline; `raw` follows every row back to a dump.

mod chain;
mod raw;
mod rows;
mod sums;

use std::path::Path;

use serde::Serialize;

use super::folder::listed;
use super::manifest::{Candidate, MANIFEST};
use crate::store::Error;

pub use raw::close as close_raw;

/// What a verification looked at and found.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Verified {
    /// The recipe, where the manifest can be read.
    pub recipe: Option<String>,
    /// The version it states.
    pub version: Option<String>,
    /// Files whose bytes were hashed.
    pub files: usize,
    /// Rows that were compared with schema, layout and Parquet.
    pub rows: u64,
    /// What does not fit, each with its file; empty where all is proven.
    pub findings: Vec<String>,
}

/// Verifies a candidate's or a release's folder.
///
/// # Errors
/// [`Error`] where the folder cannot be listed. What is wrong with a file is a finding.
pub fn verify(folder: &Path) -> Result<Verified, Error> {
    let mut verified = Verified::default();
    // What is no file is not opened: a pipe never ends.
    for (path, _) in listed(folder)?.into_iter().filter(|(_, is_file)| !is_file) {
        verified.findings.push(format!("{path}: no file, but a pipe, a device or a link that leads to none"));
    }
    if !verified.findings.is_empty() {
        return Ok(verified);
    }
    sums::check(folder, &mut verified)?;
    let manifest = match Candidate::read(folder) {
        Ok(Some(manifest)) => manifest,
        Ok(None) => {
            verified.findings.push(format!("{MANIFEST}: missing"));
            return Ok(verified);
        }
        Err(e) => {
            verified.findings.push(format!("{MANIFEST}: {e}"));
            return Ok(verified);
        }
    };
    chain::check(folder, &manifest, &mut verified);
    for (config, stated) in &manifest.configs {
        rows::check(folder, config, *stated, &mut verified);
    }
    verified.recipe = Some(manifest.recipe);
    verified.version = Some(manifest.version);
    Ok(verified)
}
