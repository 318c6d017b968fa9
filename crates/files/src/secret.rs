//! Secrets of a workspace: drawn once, kept in raw/ readable by their owner only, never overwritten.

use std::io::Write;
use std::path::Path;

use super::{Error, durable};
use crate::fence;

/// The secret in a file, or `None` if none was drawn yet.
///
/// # Errors
/// [`Error`] if the file cannot be read or is not a secret; `lost` says what is lost without it, as a hint.
pub fn secret(path: &Path, lost: &str) -> Result<Option<[u8; 32]>, Error> {
    let text = match fence::read_to_string(path) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(Error::io("read", path)(e)),
    };
    let parsed: Option<[u8; 32]> = hex::decode(text.trim()).ok().and_then(|bytes| bytes.try_into().ok());
    parsed.map(Some).ok_or_else(|| Error::Damaged {
        path: path.into(),
        what: "not 64 hex digits".into(),
        hint: format!("restore it from a backup: {lost}"),
    })
}

/// The secret in a file; drawn from the system's generator if there is none yet. Processes that draw at the
/// same time get the same one.
///
/// # Errors
/// Those of [`secret`]; and if there are no random numbers or the file cannot be written.
pub fn secret_or_draw(path: &Path, lost: &str) -> Result<[u8; 32], Error> {
    if let Some(secret) = secret(path, lost)? {
        return Ok(secret);
    }
    let mut drawn = [0; 32];
    getrandom::fill(&mut drawn)
        .map_err(|e| Error::io("draw a secret for", path)(std::io::Error::other(e.to_string())))?;
    if let Some(folder) = path.parent() {
        durable::create_folder(folder)?;
    }
    let folder = path.parent().unwrap_or(path);
    // A temporary file is readable by its owner only.
    let write = |e: std::io::Error| Error::io("write", path)(e);
    let mut temporary = tempfile::NamedTempFile::new_in(folder).map_err(write)?;
    temporary.write_all(format!("{}\n", hex::encode(drawn)).as_bytes()).map_err(write)?;
    // Before it gets its name: a secret that is used and then lost cannot be drawn again.
    temporary.as_file().sync_all().map_err(write)?;
    // If two first runs draw at once, the first secret is used by both.
    match temporary.persist_noclobber(path) {
        Err(e) if e.error.kind() != std::io::ErrorKind::AlreadyExists => Err(write(e.error)),
        _ => Ok(secret(path, lost)?.unwrap_or(drawn)),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_secret_is_drawn_once_for_its_owner_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("raw/blinding");
        assert_eq!(secret(&path, "all").unwrap(), None);
        let drawn: Vec<[u8; 32]> = std::thread::scope(|scope| {
            let draw = || secret_or_draw(&path, "all").unwrap();
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(draw)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(drawn.iter().all(|one| *one == drawn[0]) && secret(&path, "all").unwrap() == Some(drawn[0]));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
        fs::write(&path, "abc").unwrap();
        assert!(secret_or_draw(&path, "what was lost").unwrap_err().to_string().contains("what was lost"));
    }
}
