//! `verify`: checks a folder from its own files, offline; `raw` traces every row back to a dump.

mod chain;
mod raw;
mod rows;
mod splits;

pub use raw::trace_rows as close_raw;

use std::collections::BTreeMap;
use std::path::Path;

use riddlemill_files::fence;
use serde::Serialize;

use super::folder::list_entries;
use super::manifest::{CandidateManifest, MANIFEST};
use super::relicensed::{licence_conflicts, stated_licence};
use crate::folder::list_files;
use crate::manifest::SUMS;
use crate::store::{Error, sha256_of_file};

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
pub fn verify_folder(folder: &Path) -> Result<Verified, Error> {
    let mut verified = Verified::default();
    // Only regular files are opened: a pipe may never end.
    for (path, _) in list_entries(folder)?.into_iter().filter(|(_, is_file)| !is_file) {
        verified.findings.push(format!(
            "{path}: not a file, but a pipe, a device, or a link that leads to no file or out of the \
             workspace"
        ));
    }
    if !verified.findings.is_empty() {
        return Ok(verified);
    }
    check_checksums(folder, &mut verified)?;
    let manifest = match CandidateManifest::read_manifest(folder) {
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
    chain::check_chain(folder, &manifest, &mut verified);
    for (config, stated) in &manifest.configs {
        rows::check_rows(folder, &manifest, config, *stated, &mut verified);
    }
    if let Some(whole) = stated_licence(folder) {
        let forbidden = licence_conflicts(&manifest.raw, &whole).into_iter();
        verified.findings.extend(forbidden.map(|why| format!("LICENSE: {whole} is not allowed: {why}")));
    }
    verified.recipe = Some(manifest.recipe);
    verified.version = Some(manifest.version);
    Ok(verified)
}

fn check_checksums(folder: &Path, verified: &mut Verified) -> Result<(), Error> {
    let here = list_files(folder)?;
    let text = match fence::read_to_string(folder.join(SUMS)) {
        Ok(text) => text,
        Err(e) => {
            verified.findings.push(format!("{SUMS}: {e}"));
            return Ok(());
        }
    };
    let mut stated = BTreeMap::new();
    // `lines` would accept a carriage return, with which `sha256sum` does not find the file.
    for (i, line) in text.split_terminator('\n').enumerate() {
        match line.split_once("  ").filter(|(sum, _)| sum.len() == 64) {
            Some((sum, file)) => {
                stated.insert(file, sum);
            }
            None => verified.findings.push(format!("{SUMS}: line {} names no file", i + 1)),
        }
    }
    if !text.ends_with('\n') {
        verified.findings.push(format!("{SUMS}: its last line is cut"));
    }
    for (file, sum) in &stated {
        if here.iter().all(|h| h != file) {
            verified.findings.push(format!("{file}: listed in {SUMS}, but missing"));
            continue;
        }
        verified.files += 1;
        if sha256_of_file(&folder.join(file))? != **sum {
            verified.findings.push(format!("{file}: its hash is not the one in {SUMS}"));
        }
    }
    // A file cannot contain its own hash.
    for file in here.iter().filter(|file| *file != SUMS && !stated.contains_key(file.as_str())) {
        verified.findings.push(format!("{file}: not listed in {SUMS}"));
    }
    Ok(())
}
