//! Files that are complete or absent: write to a temporary file, sync, rename.

use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::Error;
use crate::fence;

/// Writes a file so that a reader sees the old content or the new, never a part of either.
///
/// # Errors
/// [`Error::Io`] with the step that failed; the old content is then unchanged.
pub fn replace_file(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    // Next to its place, because a file cannot be renamed to another file system.
    let temporary = path.with_extension("tmp");
    let written = write_synced(&temporary, bytes).and_then(|()| {
        // Only after the sync: after a power cut the name must not lead to content that was never written.
        fence::rename(&temporary, path).map_err(Error::io("rename to", path))?;
        // Without this, a power cut can undo the rename.
        path.parent().map_or(Ok(()), sync_folder)
    });
    if written.is_err() {
        // The partial file is useless; the first error is what counts.
        let _ = fence::remove_file(&temporary);
    }
    written
}

/// Writes a new file and waits until it is on disk.
///
/// # Errors
/// [`Error::Io`] with the step that failed.
pub fn write_synced(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    write_pieces(path, &[bytes])
}

/// Writes a new file from several pieces and waits until it is on disk.
///
/// # Errors
/// [`Error::Io`] with the step that failed.
pub fn write_pieces(path: &Path, pieces: &[&[u8]]) -> Result<(), Error> {
    // Buffered, so that small pieces are written together.
    let mut file = BufWriter::new(fence::create(path).map_err(Error::io("create", path))?);
    pieces.iter().try_for_each(|piece| file.write_all(piece)).map_err(Error::io("write", path))?;
    let file = file.into_inner().map_err(|e| Error::io("write", path)(e.into_error()))?;
    // Content and length are enough; the times of the file need not be durable.
    file.sync_data().map_err(Error::io("write", path))
}

/// Makes the entries of a folder durable.
///
/// # Errors
/// [`Error::Io`] if the folder cannot be opened or synced.
pub fn sync_folder(path: &Path) -> Result<(), Error> {
    // The folder of a bare file name is the current one.
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    File::open(path).and_then(|f| f.sync_all()).map_err(Error::io("sync", path))
}

/// Creates a folder and its parents.
///
/// # Errors
/// [`Error::Io`] with the folder that could not be created.
pub fn create_folder(path: &Path) -> Result<(), Error> {
    fence::create_folder(path).map_err(Error::io("create", path))
}

/// The temporary name of a folder while it is being made.
pub fn name_while_making(place: &Path) -> PathBuf {
    place.with_file_name(format!(".making-{}", place.file_name().unwrap_or_default().to_string_lossy()))
}

/// Removes what a killed process left in a folder: incomplete folders, and old ones that were about to be
/// removed.
///
/// # Errors
/// [`Error::Io`] if the folder cannot be listed or something in it not removed.
pub fn sweep_folder(folder: &Path) -> Result<(), Error> {
    let entries = match fence::list(folder) {
        // Before the first run there is no folder.
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(Error::io("list", folder))?,
    };
    for entry in entries {
        let path = entry.map_err(Error::io("list", folder))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with(".making-") || name.starts_with(".old-") {
            remove_folder(&path)?;
        }
    }
    Ok(())
}

/// Puts a finished folder in another's place. Between the two renames the place is empty, never partial:
/// after a stop there, the stage is absent and is made again.
///
/// # Errors
/// [`Error::Io`] with the step that failed.
pub fn swap_folder(finished: &Path, place: &Path) -> Result<(), Error> {
    let old =
        place.with_file_name(format!(".old-{}", place.file_name().unwrap_or_default().to_string_lossy()));
    // A process that was stopped earlier may have left it, and nothing can be renamed onto a full folder.
    remove_folder(&old)?;
    if place.exists() {
        if !place.is_dir() {
            // Nothing of ours: a stage and a candidate are folders.
            return Err(Error::io("replace", place)(std::io::ErrorKind::NotADirectory.into()));
        }
        fence::rename(place, &old).map_err(Error::io("rename", place))?;
    }
    fence::rename(finished, place).map_err(Error::io("rename to", place))?;
    // The new name has to be durable before the old content is removed.
    if let Some(parent) = place.parent() {
        sync_folder(parent)?;
    }
    remove_folder(&old)
}

/// Removes a folder and its contents, if it exists.
///
/// # Errors
/// [`Error::Io`] if something in it cannot be removed.
pub fn remove_folder(path: &Path) -> Result<(), Error> {
    match fence::remove_folder(path) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(Error::io("remove", path)(e)),
        _ => Ok(()),
    }
}

/// The SHA-256 of a file, in hex.
///
/// # Errors
/// [`Error::Io`] if it cannot be read.
pub fn sha256_of_file(path: &Path) -> Result<String, Error> {
    digest_of_file(path).map(|(hex, _)| hex).map_err(Error::io("read", path))
}

/// The SHA-256 of a file, in hex, and its length: one piece is hashed while the next is read.
pub fn digest_of_file(path: &Path) -> std::io::Result<(String, u64)> {
    digest_of(fence::open(path)?)
}

/// The same of a file that may lie anywhere, such as a dump.
pub fn digest_plain(path: &Path) -> std::io::Result<(String, u64)> {
    digest_of(fence::open_plain(path)?)
}

fn digest_of(mut file: File) -> std::io::Result<(String, u64)> {
    let mut hasher = Sha256::new();
    let (mut piece, mut next) = (vec![0; PIECE], vec![0; PIECE]);
    let mut read = file.read(&mut piece)?;
    let mut bytes = 0;
    while read > 0 {
        bytes += read as u64;
        let ((), more) = rayon::join(|| hasher.update(&piece[..read]), || file.read(&mut next));
        std::mem::swap(&mut piece, &mut next);
        read = more?;
    }
    Ok((hex::encode(hasher.finalize()), bytes))
}

/// Bytes read at once.
const PIECE: usize = 1 << 20;
