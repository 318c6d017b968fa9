//! One run at a time per recipe.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::Path;

use super::{Error, durable, fence};

/// Held while a run writes a recipe's stages. The system releases it when the process ends for whatever
/// reason, so a killed run leaves nothing to clean up.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock of a folder without waiting.
    ///
    /// # Errors
    /// [`Error::Locked`] if another process holds it.
    pub fn take(folder: &Path) -> Result<Lock, Error> {
        durable::create_folder(folder)?;
        let path = folder.join(".lock");
        let mut options = OpenOptions::new();
        // The file has the process id of the holder, which the others still read.
        options.read(true).write(true).create(true).truncate(false);
        let mut file = fence::open_with(&path, &options).map_err(Error::io("open", &path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                let read = file.read_to_string(&mut holder);
                // Between taking the lock and writing the id the file is empty, so the holder may be unknown.
                let holder = read.ok().map(|_| holder.trim().to_string()).filter(|h| !h.is_empty());
                return Err(Error::Locked { path, holder });
            }
            Err(TryLockError::Error(e)) => return Err(Error::io("lock", &path)(e)),
        }
        // The process id is only information for others; failing to write it is not an error.
        let _ = file.set_len(0).and_then(|()| write!(file, "{}", std::process::id()));
        Ok(Lock { _file: file })
    }
}
