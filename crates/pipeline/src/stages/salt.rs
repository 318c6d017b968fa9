//! The salt of the pseudonyms: drawn once per workspace, stored in raw/, never overwritten.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::StageError;
use riddlemill_files::fence;
use riddlemill_tables::{Error, StageReader, Workspace, find_secret, made_with, secret_or_draw};

/// What is lost with it.
const LOST: &str = "with another salt withdrawn posts return, and every author has another name";

/// The workspace's salt; drawn from the system's generator on first use.
///
/// # Errors
/// [`StageError`] where raw/ cannot be written, the file there is not a salt, or it is missing although it was drawn once.
pub fn read_or_draw(workspace: &Workspace) -> Result<[u8; 32], StageError> {
    match read_salt(workspace)? {
        Some(salt) => Ok(salt),
        None => Ok(secret_or_draw(&salt_path(workspace), LOST)?),
    }
}

/// The workspace's salt, or `None` where the first run has yet to draw it.
///
/// # Errors
/// [`Error`] where the file cannot be read or holds none, it is gone although it was drawn once, or it is another one
/// than pseudonyms were made with.
pub fn read_salt(workspace: &Workspace) -> Result<Option<[u8; 32]>, Error> {
    let path = salt_path(workspace);
    if let Some(salt) = find_secret(&path, LOST)? {
        for stage in import_folders(workspace)? {
            // A stage that cannot be read is no evidence.
            let Ok(Some(read)) = StageReader::open(&stage) else { continue };
            if let Some(digest) = read.manifest().evidence.get(EVIDENCE) {
                made_with(&path, digest, &path_in_workspace(workspace, &stage), LOST)?;
            }
        }
        return Ok(Some(salt));
    }
    match find_salt_trace(workspace)? {
        None => Ok(None),
        Some((trace, digest)) => Err(Error::Damaged {
            path,
            what: format!("missing, and {trace} was made with it"),
            hint: format!(
                "restore it from a backup: {LOST}. If it is lost for good, put 64 hex digits of your own into it{}",
                digest.map_or_else(String::new, |digest| format!(
                    ", and below them the line `replaces {digest}`"
                ))
            ),
        }),
    }
}

/// What the evidence of an import calls the salt.
const EVIDENCE: &str = "salt";

/// The folders of the recipes' first stages, in order.
fn import_folders(workspace: &Workspace) -> Result<Vec<PathBuf>, Error> {
    let mut found = Vec::new();
    for recipe in list_folder(workspace.root().join("staged"))? {
        let first = |stage: &PathBuf| {
            stage.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with("01_"))
        };
        found.extend(list_folder(recipe)?.into_iter().filter(first));
    }
    found.sort();
    Ok(found)
}

fn path_in_workspace(workspace: &Workspace, path: &Path) -> String {
    path.strip_prefix(workspace.root()).unwrap_or(path).display().to_string()
}

/// The entries of a folder; none where it is not there, or is a file.
fn list_folder(folder: PathBuf) -> Result<Vec<PathBuf>, Error> {
    match fence::list(&folder) {
        Ok(entries) => entries.map(|entry| Ok(entry.map_err(Error::io("list", &folder))?.path())).collect(),
        Err(e) if [ErrorKind::NotFound, ErrorKind::NotADirectory].contains(&e.kind()) => Ok(Vec::new()),
        Err(e) => Err(Error::io("list", &folder)(e)),
    }
}

/// Whether what states the digest of its salt was made with the workspace's; `false` where the workspace's replaces that
/// one on purpose.
///
/// # Errors
/// [`Error`] where it was made with another one: `of` names what was.
pub fn is_made_with_salt(workspace: &Workspace, digest: &str, of: &str) -> Result<bool, Error> {
    made_with(&salt_path(workspace), digest, of, LOST)
}

/// Something that cannot have been made before the salt was drawn, and the digest that it states.
fn find_salt_trace(workspace: &Workspace) -> Result<Option<(String, Option<String>)>, Error> {
    for stage in import_folders(workspace)? {
        // A stage that cannot be read is no evidence.
        let Ok(Some(read)) = StageReader::open(&stage) else { continue };
        if let Some(digest) = read.manifest().evidence.get(EVIDENCE) {
            return Ok(Some((path_in_workspace(workspace, &stage), Some(digest.clone()))));
        }
    }
    // A release is made of imported posts, so its workspace had a salt.
    let releases = list_folder(workspace.raw_folder().join("releases"))?.into_iter();
    // The message must not depend on the order in which the file system lists a folder.
    let first =
        releases.map(|recipe| recipe.join("registry.jsonl")).filter(|registry| registry.exists()).min();
    Ok(first.map(|registry| (path_in_workspace(workspace, &registry), None)))
}

/// A fingerprint of the salt for manifests and tombstones: enough to see that it changed, not enough to hash names.
pub fn fingerprint_salt(salt: &[u8; 32]) -> String {
    riddlemill_tables::secret_fingerprint("salt", salt)
}

fn salt_path(workspace: &Workspace) -> PathBuf {
    workspace.raw_folder().join("salt")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_salt_is_drawn_once_and_not_again_when_it_is_gone() {
        let dir = tempfile::tempdir().unwrap();
        let workspace = Workspace::new(dir.path());
        assert_eq!(read_salt(&workspace).unwrap(), None);
        let salt = read_or_draw(&workspace).unwrap();
        assert_eq!(read_salt(&workspace).unwrap(), Some(salt));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(salt_path(&workspace)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        fs::remove_file(salt_path(&workspace)).unwrap();
        assert!(read_or_draw(&workspace).unwrap_err().to_string().contains("missing"));
        // Of a workspace from before the secrets were noted down, nothing was made with it.
        fs::remove_file(dir.path().join("raw/secrets.jsonl")).unwrap();
        fs::remove_file(dir.path().join("raw/heads.jsonl")).unwrap();
        assert_ne!(read_or_draw(&workspace).unwrap(), salt);
        for file in ["salt", "secrets.jsonl", "heads.jsonl"] {
            fs::remove_file(dir.path().join("raw").join(file)).unwrap();
        }
        let registry = dir.path().join("raw/releases/flub/registry.jsonl");
        fs::create_dir_all(registry.parent().unwrap()).unwrap();
        fs::write(&registry, "").unwrap();
        let error = read_or_draw(&workspace).unwrap_err().to_string();
        assert!(error.contains("registry.jsonl was made with it") && error.contains("backup"), "{error}");
        assert!(read_salt(&workspace).is_err() && !salt_path(&workspace).exists());
    }
}
