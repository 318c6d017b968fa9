//! Checks SHA256SUMS against every file, and every file against SHA256SUMS.

use std::collections::BTreeMap;
use std::path::Path;

use super::Verified;
use crate::folder::files;
use crate::manifest::SUMS;
use crate::store::{Error, sha256};
use riddlemill_files::fence;

pub(super) fn check(folder: &Path, verified: &mut Verified) -> Result<(), Error> {
    let here = files(folder)?;
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
        if sha256(&folder.join(file))? != **sum {
            verified.findings.push(format!("{file}: its hash is not the one in {SUMS}"));
        }
    }
    // A file cannot contain its own hash.
    for file in here.iter().filter(|file| *file != SUMS && !stated.contains_key(file.as_str())) {
        verified.findings.push(format!("{file}: not listed in {SUMS}"));
    }
    Ok(())
}
