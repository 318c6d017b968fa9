//! The salt of the pseudonyms: drawn once a workspace, kept in raw/, never written over.

use std::fs;
use std::path::PathBuf;

use super::StageError;
use crate::store::{Error, Workspace, durable};

/// The workspace's salt; drawn from the system's generator on first use.
///
/// # Errors
/// [`StageError`] where raw/ cannot be written, or the file there is none.
pub fn of(workspace: &Workspace) -> Result<[u8; 32], StageError> {
    if let Some(salt) = standing(workspace)? {
        return Ok(salt);
    }
    let path = path(workspace);
    let mut salt = [0; 32];
    getrandom::fill(&mut salt).map_err(|e| StageError::Settings(format!("no random numbers: {e}")))?;
    durable::create_folder(&workspace.raw())?;
    let drawn = path.with_extension(format!("{}.tmp", std::process::id()));
    let write = |e| StageError::Store(Error::io("write", &path)(e));
    let written = fs::write(&drawn, format!("{}\n", hex::encode(salt)))
        .and_then(|()| fs::File::open(&drawn)?.sync_all());
    // A link, not a rename: where two first runs meet, the first salt stays for both.
    let linked = written.and_then(|()| fs::hard_link(&drawn, &path));
    // Whatever went wrong, what is beside the salt is of no use to anybody.
    let _ = fs::remove_file(&drawn);
    match linked {
        Err(e) if e.kind() != std::io::ErrorKind::AlreadyExists => Err(write(e)),
        _ => Ok(standing(workspace)?.unwrap_or(salt)),
    }
}

/// The workspace's salt, or `None` where the first run has yet to draw it.
///
/// # Errors
/// [`StageError`] where the file cannot be read or holds none.
pub fn standing(workspace: &Workspace) -> Result<Option<[u8; 32]>, StageError> {
    let path = path(workspace);
    match fs::read_to_string(&path) {
        Ok(text) => parse(text.trim()).map(Some).ok_or_else(|| {
            StageError::Store(Error::Damaged {
                path,
                what: "not 64 hex digits".into(),
                hint: "bring it back from a backup: with another salt every author has another name".into(),
            })
        }),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(StageError::Store(Error::io("read", &path)(e))),
    }
}

/// What a manifest says of the salt: enough to see that it changed, nothing to hash names with.
pub fn fingerprint(salt: &[u8; 32]) -> String {
    hex::encode(&blake3::derive_key("riddlemill salt fingerprint", salt)[..8])
}

fn path(workspace: &Workspace) -> PathBuf {
    workspace.raw().join("salt")
}

fn parse(text: &str) -> Option<[u8; 32]> {
    hex::decode(text).ok()?.try_into().ok()
}
