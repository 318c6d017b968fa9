//! Where a site may be written, and how: whole under another name, then renamed.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use super::SiteError;
use crate::store::{Error, durable};
use riddlemill_files::fence;

/// The file that says of which set a folder is the site.
pub(super) const MARKER: &str = "site.json";

/// What a site has at its root, besides further pages of the table.
const OWN: &[&str] = &[
    "index.html",
    "left-out.html",
    "rows.html",
    "rows",
    "changes",
    "prompts",
    "index",
    "data",
    "zh",
    "page.css",
    "parts.css",
    "site.css",
    "site.js",
    "icon.svg",
    "README.md",
    ".nojekyll",
    MARKER,
];

/// Folders of a workspace that other verbs write or read.
const TAKEN: &[&str] = &["raw", "staged", "output", ".index", "benchmarks", "curator", "prompts"];

/// What the marker says.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Mark {
    pub(super) recipe: String,
    pub(super) version: String,
    /// SHA-256 of the release's SHA256SUMS, which identifies it.
    pub(super) release: String,
    pub(super) riddlemill: String,
}

/// The release of which a folder is the site, as `flub-1.0.0`; `None` if it is no site.
pub fn site_of(folder: &Path) -> Option<String> {
    mark_of(folder).map(|mark| format!("{}-{}", mark.recipe, mark.version))
}

fn mark_of(folder: &Path) -> Option<Mark> {
    serde_json::from_slice(&fence::read(folder.join(MARKER)).ok()?).ok()
}

/// A site that is being written.
pub(super) struct Making {
    place: PathBuf,
    making: PathBuf,
    files: AtomicU64,
    bytes: AtomicU64,
}

impl Making {
    /// Checks the folder, and begins beside it.
    ///
    /// # Errors
    /// [`SiteError`] if the folder holds anything but a site of this recipe, belongs to the workspace or the release, or
    /// cannot be written.
    pub(super) fn begin_site(
        root: &Path,
        release: &Path,
        out: &Path,
        recipe: &str,
    ) -> Result<Making, SiteError> {
        let place = resolve_path(out)?;
        let taken = TAKEN.iter().map(|name| root.join(name)).chain([release.to_path_buf()]);
        for taken in taken {
            let taken = resolve_path(&taken)?;
            if place.starts_with(&taken) || taken.starts_with(&place) {
                return Err(SiteError::Inside(out.into()));
            }
        }
        if let Some(what) = find_stranger(&place, recipe)? {
            return Err(SiteError::Occupied { folder: out.into(), what });
        }
        if let Some(parent) = place.parent() {
            durable::create_folder(parent)?;
        }
        let temp_dir = durable::name_while_making(&place);
        durable::remove_folder(&temp_dir)?;
        durable::create_folder(&temp_dir)?;
        Ok(Making { place, making: temp_dir, files: AtomicU64::new(0), bytes: AtomicU64::new(0) })
    }

    /// Writes a file. It is not synced: a site is made again in seconds, and thousands of syncs take minutes.
    ///
    /// # Errors
    /// [`SiteError`] if it cannot be written.
    pub(super) fn write_file(&self, path: &str, bytes: &[u8]) -> Result<(), SiteError> {
        let place = self.making.join(path);
        if let Some(parent) = place.parent() {
            durable::create_folder(parent)?;
        }
        let mut file = fence::create(&place).map_err(Error::io("create", &place))?;
        file.write_all(bytes).map_err(Error::io("write", &place))?;
        self.files.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Ok(())
    }

    /// Gives the folder its name. Returns the number of files and bytes.
    ///
    /// # Errors
    /// [`SiteError`] if it cannot be renamed.
    pub(super) fn finish(self) -> Result<(u64, u64), SiteError> {
        durable::swap_folder(&self.making, &self.place)?;
        Ok((self.files.into_inner(), self.bytes.into_inner()))
    }
}

/// What stands in the way of a site of this recipe; `None` if the folder is missing, empty, or such a site.
fn find_stranger(place: &Path, recipe: &str) -> Result<Option<String>, SiteError> {
    if place.is_file() {
        return Ok(Some("is a file".into()));
    }
    let entries = match fence::list(place) {
        Ok(entries) => entries,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(Error::io("list", place)(e).into()),
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(Error::io("list", place))?;
        names.push(entry.file_name().to_string_lossy().into_owned());
    }
    if names.is_empty() {
        return Ok(None);
    }
    names.sort_unstable();
    match mark_of(place).map(|mark| mark.recipe) {
        None => return Ok(Some(format!("has no {MARKER}, so that it is no site"))),
        Some(other) if other != recipe => return Ok(Some(format!("is the site of {other}"))),
        Some(_) => {}
    }
    // Such as the .git or CNAME of a host: it would be lost.
    let table = |name: &str| name.starts_with("rows-") && name.ends_with(".html");
    let other = names.into_iter().find(|name| !OWN.contains(&name.as_str()) && !table(name));
    Ok(other.map(|name| format!("holds {name}, which is not of a site")))
}

/// A path without links and `..`, whether it exists or not.
fn resolve_path(path: &Path) -> Result<PathBuf, SiteError> {
    let path = std::path::absolute(path).map_err(Error::io("find", path))?;
    let mut missing = Vec::new();
    let mut there = path.as_path();
    loop {
        match fs::canonicalize(there) {
            Ok(found) => return Ok(missing.into_iter().rev().fold(found, |found, name| found.join(name))),
            Err(e) => match (there.parent(), there.file_name()) {
                (Some(parent), Some(name)) if e.kind() == std::io::ErrorKind::NotFound => {
                    missing.push(name.to_owned());
                    there = parent;
                }
                _ => return Err(Error::io("find", &path)(e).into()),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begun(root: &Path, out: &str) -> Result<Making, SiteError> {
        Making::begin_site(root, &root.join("elsewhere"), &root.join(out), "flub")
    }

    #[test]
    fn only_an_empty_folder_or_a_site_of_the_set_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        fs::create_dir_all(root.join("empty")).unwrap();
        fs::create_dir_all(root.join("full")).unwrap();
        fs::write(root.join("full/thesis.tex"), "years").unwrap();
        assert!(begun(root, "full").is_err_and(|e| e.to_string().contains("no site")));
        assert!(begun(root, "raw/site").is_err_and(|e| matches!(e, SiteError::Inside(_))));
        assert!(begun(root, ".").is_err_and(|e| matches!(e, SiteError::Inside(_))));
        for out in ["empty", "new/deep"] {
            let making = begun(root, out).unwrap();
            let mark = r#"{"recipe":"flub","version":"1.0.0","release":"","riddlemill":""}"#;
            making.write_file(MARKER, mark.as_bytes()).unwrap();
            making.write_file("rows/a.html", b"old").unwrap();
            assert_eq!(making.finish().unwrap().0, 2);
        }
        // Nothing of the site before is left in a new one; a site that is not finished changes nothing.
        let making = begun(root, "empty").unwrap();
        making
            .write_file(MARKER, br#"{"recipe":"chumor","version":"1.0.0","release":"","riddlemill":""}"#)
            .unwrap();
        assert!(root.join("empty/rows/a.html").exists());
        making.finish().unwrap();
        assert!(!root.join("empty/rows").exists());
        assert!(begun(root, "empty").is_err_and(|e| e.to_string().contains("the site of chumor")));
        fs::write(root.join("new/deep/CNAME"), "host").unwrap();
        assert!(begun(root, "new/deep").is_err_and(|e| e.to_string().contains("CNAME")));
    }
}
