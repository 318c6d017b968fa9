//! The notice in the folder of a yanked version: on the card, in YANKED.md and in the manifest.

use std::collections::BTreeMap;
use std::path::Path;

use super::manifest::{Candidate, MANIFEST, SUMS, Yanked};
use crate::store::{Error, durable, sha256};
use riddlemill_files::fence;

/// The notice's file name.
const NOTICE: &str = "YANKED.md";
/// The card in Chinese.
const CHINESE: &str = "README.zh.md";

/// Adds the notice to a release's folder, which is as released.
///
/// # Errors
/// [`Error`] if a file cannot be read or written.
pub(super) fn mark(folder: &Path, yanked: &Yanked) -> Result<(), Error> {
    let Some(mut manifest) = Candidate::read(folder)? else { return Ok(()) };
    let date = &yanked.date;
    // The notice on the card is a quote of one line.
    let reason = yanked.reason.replace(['\n', '\r'], " ");
    let notice = format!(
        "# Yanked\n\n{} {} was yanked on {date}: {reason}\n\nDo not use it. A later version takes its place.\n",
        manifest.recipe, manifest.version
    );
    let card = folder.join("README.md");
    let text = fence::read_to_string(&card).map_err(Error::io("read", &card))?;
    let stated = format!("Version {}, ", manifest.version);
    let line =
        format!("> **Yanked on {date}:** {}. Do not use this version.\n\n", reason.trim_end_matches('.'));
    let mut noted = vec![("README.md", before(&text, &stated, &line)), (NOTICE, notice)];
    let chinese = folder.join(CHINESE);
    // A version that was released before there was one has none.
    if chinese.is_file() {
        let text = fence::read_to_string(&chinese).map_err(Error::io("read", &chinese))?;
        let line = format!("> **已于 {date} 撤下：**{reason} 请勿使用此版本。\n\n");
        noted.push((CHINESE, before(&text, &format!("版本 {}，", manifest.version), &line)));
    }
    for (name, text) in noted {
        let path = folder.join(name);
        durable::write_synced(&path, text.as_bytes())?;
        manifest.files.insert(name.into(), sha256(&path)?);
    }
    // The manifest has the hashes of the other files, and the checksums have that of the manifest.
    manifest.yanked = Some(yanked.clone());
    durable::write_synced(&folder.join(MANIFEST), &manifest.to_bytes())?;
    let mut sums: BTreeMap<String, String> = manifest.files;
    sums.insert(MANIFEST.into(), sha256(&folder.join(MANIFEST))?);
    let text: String = sums.iter().map(|(path, sum)| format!("{sum}  {path}\n")).collect();
    durable::write_synced(&folder.join(SUMS), text.as_bytes())
}

/// A text with a line before the place that begins so.
fn before(text: &str, place: &str, line: &str) -> String {
    let at = text.find(place).unwrap_or(text.len());
    [&text[..at], line, &text[at..]].concat()
}

/// Whether a yanked version's folder is complete and has the notice.
pub(super) fn is_marked(folder: &Path, yanked: &Yanked) -> bool {
    let Ok(Some(manifest)) = Candidate::read(folder) else { return false };
    manifest.yanked.as_ref() == Some(yanked)
        && folder.join(SUMS).is_file()
        && manifest.files.keys().all(|file| folder.join(file).is_file())
}
