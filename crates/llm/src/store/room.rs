//! Disk space for attempts in flight: allocated before a request is sent, so that its reply can be written
//! even if the disk is full by then.

use std::fs::File;
use std::io;

use riddlemill_files::log::LogError;
use rustc_hash::FxHashMap;

use super::StoreError;

/// Upper bound of an attempt's own line, with the names of its budgets.
const ATTEMPT: u64 = 4096;
/// Allocated at once, so that not every request needs an allocation.
const PIECE: u64 = 1 << 20;

/// The allocation of one open segment.
#[derive(Default)]
pub(super) struct Reservation {
    /// Bytes that each attempt in flight may need.
    on_their_way: FxHashMap<String, u64>,
    /// Their sum.
    promised: u64,
    /// Offset up to which space is allocated.
    until: u64,
}

impl Reservation {
    /// Allocates space in a file of `len` bytes for `now` more bytes, for attempts in flight, and for further
    /// attempts.
    pub(super) fn allocate_room(
        &mut self,
        file: &File,
        len: u64,
        now: u64,
        further: impl Iterator<Item = u64>,
    ) -> io::Result<()> {
        let needed = len + now + self.promised + further.map(|room| room + ATTEMPT).sum::<u64>();
        if needed <= self.until {
            return Ok(());
        }
        let from = self.until.max(len);
        let until = match allocate(file, from, needed + PIECE - from) {
            Ok(()) => needed + PIECE,
            // On an almost full disk there may be space for the attempts, but not for the extra piece.
            Err(_) => {
                allocate(file, from, needed - from)?;
                needed
            }
        };
        self.until = until;
        Ok(())
    }

    /// Records an attempt in flight that may need `room` bytes.
    pub(super) fn promise_room(&mut self, id: &str, room: u64) {
        self.promised += room;
        self.on_their_way.insert(id.to_owned(), room);
    }

    /// Records that an attempt has its outcome.
    pub(super) fn note_outcome(&mut self, id: &str) {
        self.promised -= self.on_their_way.remove(id).unwrap_or_default();
    }

    /// Truncation to `len` also freed the space after it; it is allocated again, if possible.
    pub(super) fn was_cut(&mut self, file: &File, len: u64) {
        self.until = len;
        // Nothing is sent any more; outcomes of attempts in flight are written as long as there is space.
        let _ = self.allocate_room(file, len, 0, std::iter::empty());
    }

    /// The promises, for another segment's file.
    pub(super) fn moved_to(&self, file: &File) -> io::Result<Reservation> {
        let mut room = Reservation {
            on_their_way: self.on_their_way.clone(),
            promised: self.promised,
            ..Reservation::default()
        };
        room.allocate_room(file, 0, 0, std::iter::empty())?;
        Ok(room)
    }
}

/// Allocates blocks after a file's end without making it longer.
#[cfg(target_os = "linux")]
fn allocate(file: &File, from: u64, len: u64) -> io::Result<()> {
    use rustix::fs::{FallocateFlags, fallocate};
    use rustix::io::Errno;
    use rustix::process::{Resource, getrlimit};
    // Blocks may be allocated beyond a limit that no write may exceed.
    if getrlimit(Resource::Fsize).current.is_some_and(|limit| from + len > limit) {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    match fallocate(file, FallocateFlags::KEEP_SIZE, from, len) {
        Ok(()) => Ok(()),
        // Some file systems, for example those of networks, cannot allocate.
        Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => look(file, len),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn allocate(file: &File, _: u64, len: u64) -> io::Result<()> {
    look(file, len)
}

/// If blocks cannot be allocated, checks whether enough are free.
#[cfg(unix)]
fn look(file: &File, len: u64) -> io::Result<()> {
    let disk = rustix::fs::fstatvfs(file)?;
    if disk.f_bavail.saturating_mul(disk.f_frsize) < len {
        return Err(io::ErrorKind::StorageFull.into());
    }
    Ok(())
}

#[cfg(not(unix))]
fn look(_: &File, _: u64) -> io::Result<()> {
    Ok(())
}

impl StoreError {
    /// Whether it says that nothing can be written to this disk, or a folder of it: it is full, or may not be written.
    pub(super) fn is_of_a_closed_place(&self) -> bool {
        use io::ErrorKind::{PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
        // A full disk fails SQLite's shared memory with an error of its own.
        use rusqlite::ErrorCode::{CannotOpen, DiskFull, ReadOnly, SystemIoFailure};
        match self {
            StoreError::Io { source, .. } | StoreError::Log(LogError::Io { source, .. }) => {
                matches!(source.kind(), PermissionDenied | ReadOnlyFilesystem | StorageFull | QuotaExceeded)
            }
            StoreError::Index(error) => {
                matches!(error.sqlite_error_code(), Some(CannotOpen | DiskFull | ReadOnly | SystemIoFailure))
            }
            _ => false,
        }
    }
}
