//! The notice in the folder of a yanked version: on the card, in YANKED.md and in the manifest.

use std::collections::BTreeMap;
use std::path::Path;

use super::manifest::{Candidate, MANIFEST, SUMS, Yanked};
use crate::store::{Error, durable, sha256};
use riddlemill_files::fence;

/// The notice's file name.
const NOTICE: &str = "YANKED.md";

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
    let at = text.find(&stated).unwrap_or(text.len());
    let text = [&text[..at], &line, &text[at..]].concat();
    for (name, text) in [("README.md", text), (NOTICE, notice)] {
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

/// Whether a yanked version's folder is complete and has the notice.
pub(super) fn is_marked(folder: &Path, yanked: &Yanked) -> bool {
    let Ok(Some(manifest)) = Candidate::read(folder) else { return false };
    manifest.yanked.as_ref() == Some(yanked)
        && folder.join(SUMS).is_file()
        && manifest.files.keys().all(|file| folder.join(file).is_file())
}
