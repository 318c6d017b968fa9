//! Folders for working files, which are deleted when their join ends, in whatever way.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;

use tempfile::TempDir;

use super::DiskError;

/// A file in each folder, locked for as long as its process lives.
const LOCK: &str = "lock";

/// A new folder under another. It goes when this does; where its process was killed, with the next of its
/// kind under the same folder.
pub struct Working {
    folder: TempDir,
    _lock: File,
}

impl Working {
    /// Makes a folder whose name begins so, and removes those of processes that are no more.
    ///
    /// # Errors
    /// [`DiskError`] where the folder cannot be made.
    pub fn new(under: &Path, prefix: &str) -> Result<Self, DiskError> {
        sweep(under, prefix);
        loop {
            let made = Self::try_new(under, prefix).map_err(DiskError::io("make a folder in", under))?;
            if let Some(made) = made {
                return Ok(made);
            }
        }
    }

    /// None where another process took the folder for a dead one's before it was locked.
    fn try_new(under: &Path, prefix: &str) -> io::Result<Option<Self>> {
        let folder = tempfile::Builder::new().prefix(prefix).tempdir_in(under)?;
        let path = folder.path().join(LOCK);
        let lock = match File::create(&path) {
            Err(_) if !folder.path().exists() => return Ok(None),
            created => created?,
        };
        match lock.try_lock() {
            Err(TryLockError::WouldBlock) => Ok(None),
            Ok(()) if !path.exists() => Ok(None),
            // A file system without locks: nobody can take it for a dead one's.
            Ok(()) | Err(TryLockError::Error(_)) => Ok(Some(Self { folder, _lock: lock })),
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Removes what was left by processes that were killed. What cannot be removed is in nobody's way.
fn sweep(under: &Path, prefix: &str) {
    let folders = under.read_dir().into_iter().flatten().flatten();
    for folder in folders.filter(|folder| folder.file_name().to_string_lossy().starts_with(prefix)) {
        let lock = File::open(folder.path().join(LOCK));
        if lock.is_ok_and(|lock| lock.try_lock().is_ok()) {
            let _ = std::fs::remove_dir_all(folder.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_the_dead_are_swept_and_no_others() {
        let under = tempfile::tempdir().expect("a folder");
        let (dead, other) = (under.path().join(".join-dead"), under.path().join(".joinery"));
        for folder in [&dead, &other] {
            std::fs::create_dir(folder).expect("a folder");
            std::fs::write(folder.join(LOCK), "").expect("room on disk");
            std::fs::write(folder.join("rows-0"), "left").expect("room on disk");
        }
        let alive = Working::new(under.path(), ".join-").expect("room on disk");
        let second = Working::new(under.path(), ".join-").expect("room on disk");
        assert!(!dead.exists() && other.exists() && alive.path().exists() && second.path().exists());
        let path = alive.path().to_owned();
        drop(alive);
        assert!(!path.exists());
    }
}
