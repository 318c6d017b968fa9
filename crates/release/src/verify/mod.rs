//! `verify`: checks a folder from its own files, offline; `raw` traces every row back to a dump.

mod chain;
mod raw;
mod rows;
mod splits;
mod sums;

use std::path::Path;

use serde::Serialize;

use super::folder::listed;
use super::manifest::{Candidate, MANIFEST};
use super::relicensed::{reasons, stated};
use crate::store::Error;

pub use raw::close as close_raw;

/// The result of a verification.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Verified {
    /// The recipe, if the manifest can be read.
    pub recipe: Option<String>,
    /// The stated version.
    pub version: Option<String>,
    /// Files whose bytes were hashed.
    pub files: usize,
    /// Rows that were compared with schema, layout and Parquet.
    pub rows: u64,
    /// The findings, each with its file; empty if everything is correct.
    pub findings: Vec<String>,
}

/// Verifies a candidate's or a release's folder.
///
/// # Errors
/// [`Error`] if the folder cannot be listed. An error in a file is a finding.
pub fn verify(folder: &Path) -> Result<Verified, Error> {
    let mut verified = Verified::default();
    // Only regular files are opened: a pipe may never end.
    for (path, _) in listed(folder)?.into_iter().filter(|(_, is_file)| !is_file) {
        verified.findings.push(format!(
            "{path}: not a file, but a pipe, a device, or a link that leads to no file or out of the \
             workspace"
        ));
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
        rows::check(folder, &manifest, config, *stated, &mut verified);
    }
    if let Some(whole) = stated(folder) {
        let forbidden = reasons(&manifest.raw, &whole).into_iter();
        verified.findings.extend(forbidden.map(|why| format!("LICENSE: {whole} is not allowed: {why}")));
    }
    verified.recipe = Some(manifest.recipe);
    verified.version = Some(manifest.version);
    Ok(verified)
}
