//! The salt of the pseudonyms: drawn once per workspace, stored in raw/, never overwritten.

use std::path::PathBuf;

use super::StageError;
use riddlemill_files::fence;
use riddlemill_tables::{Error, Manifest, StageReader, Workspace, secret, secret_or_draw};

/// What is lost with it.
const LOST: &str = "with another salt every author has another name";

/// The workspace's salt; drawn from the system's generator on first use.
///
/// # Errors
/// [`StageError`] where raw/ cannot be written, the file there is not a salt, or it is missing although it was drawn once.
pub fn read_or_draw(workspace: &Workspace) -> Result<[u8; 32], StageError> {
    match standing(workspace)? {
        Some(salt) => Ok(salt),
        None => Ok(secret_or_draw(&path(workspace), LOST)?),
    }
}

/// The workspace's salt, or `None` where the first run has yet to draw it.
///
/// # Errors
/// [`Error`] where the file cannot be read or holds none, or it is gone although it was drawn once.
pub fn standing(workspace: &Workspace) -> Result<Option<[u8; 32]>, Error> {
    let path = path(workspace);
    if let Some(salt) = secret(&path, LOST)? {
        return Ok(Some(salt));
    }
    match trace(workspace)? {
        None => Ok(None),
        Some(trace) => Err(Error::Damaged {
            path,
            what: format!("missing, and {trace} was made with it"),
            hint: format!(
                "restore it from a backup: {LOST}. If all pseudonyms may change, put 64 hex digits of your \
                 own into it"
            ),
        }),
    }
}

/// Something that cannot have been made before the salt was drawn.
fn trace(workspace: &Workspace) -> Result<Option<String>, Error> {
    let names = |folder: PathBuf| match fence::list(&folder) {
        Ok(entries) => entries.map(|entry| Ok(entry.map_err(Error::io("list", &folder))?.path())).collect(),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(e) => Err(Error::io("list", &folder)(e)),
    };
    let mut found: Vec<PathBuf> = Vec::new();
    // A release is made of imported posts, so its workspace had a salt.
    for recipe in names(workspace.raw().join("releases"))? {
        found.extend(Some(recipe.join("registry.jsonl")).filter(|registry| registry.exists()));
    }
    for recipe in names(workspace.root().join("staged"))? {
        // A stage that cannot be read is no evidence.
        let salted = |import: &Manifest| import.evidence.contains_key("salt");
        for stage in names(recipe)?.into_iter().filter(|stage| stage.is_dir()) {
            let stage_is_salted =
                StageReader::open(&stage).is_ok_and(|read| read.is_some_and(|s| salted(s.manifest())));
            found.extend(Some(stage).filter(|_| stage_is_salted));
        }
    }
    // The message must not depend on the order in which the file system lists a folder.
    found.sort();
    let below = |path: &PathBuf| path.strip_prefix(workspace.root()).unwrap_or(path).display().to_string();
    Ok(found.first().map(below))
}

/// A fingerprint of the salt for manifests: enough to see that it changed, not enough to hash names.
pub fn fingerprint(salt: &[u8; 32]) -> String {
    hex::encode(&blake3::derive_key("riddlemill salt fingerprint", salt)[..8])
}

fn path(workspace: &Workspace) -> PathBuf {
    workspace.raw().join("salt")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_salt_is_drawn_once_and_not_again_when_it_is_gone() {
        let dir = tempfile::tempdir().unwrap();
        let workspace = Workspace::new(dir.path());
        assert_eq!(standing(&workspace).unwrap(), None);
        let salt = read_or_draw(&workspace).unwrap();
        assert_eq!(standing(&workspace).unwrap(), Some(salt));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(path(&workspace)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        fs::remove_file(path(&workspace)).unwrap();
        // Nothing was made with it.
        assert_ne!(read_or_draw(&workspace).unwrap(), salt);
        fs::remove_file(path(&workspace)).unwrap();
        let registry = dir.path().join("raw/releases/flub/registry.jsonl");
        fs::create_dir_all(registry.parent().unwrap()).unwrap();
        fs::write(&registry, "").unwrap();
        let error = read_or_draw(&workspace).unwrap_err().to_string();
        assert!(error.contains("registry.jsonl was made with it") && error.contains("backup"), "{error}");
        assert!(standing(&workspace).is_err() && !path(&workspace).exists());
    }
}
