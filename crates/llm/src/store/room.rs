//! Room on the disk for what is on its way: taken before a request is sent, so that its reply can be written when the
//! disk is full since.

use std::fs::File;
use std::io;

use rustc_hash::FxHashMap;

/// What an attempt's own line takes at the most, with the names of its budgets.
const ATTEMPT: u64 = 4096;
/// Taken at once, so that the disk is not asked for every request.
const PIECE: u64 = 1 << 20;

/// The room of one open segment.
#[derive(Default)]
pub(super) struct Reservation {
    /// What each attempt on its way may take.
    on_their_way: FxHashMap<String, u64>,
    /// All of them.
    promised: u64,
    /// How far the file has room.
    until: u64,
}

impl Reservation {
    /// Takes room in a file of `len` bytes for so many more now, for what is on its way, and for further attempts.
    pub(super) fn take(
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
            Err(_) => {
                allocate(file, from, needed - from)?;
                needed
            }
        };
        self.until = until;
        Ok(())
    }

    /// An attempt goes out that may take so much.
    pub(super) fn promise(&mut self, id: &str, room: u64) {
        self.promised += room;
        self.on_their_way.insert(id.to_owned(), room);
    }

    /// An attempt has its outcome.
    pub(super) fn keep(&mut self, id: &str) {
        self.promised -= self.on_their_way.remove(id).unwrap_or_default();
    }

    /// What was cut off behind `len` takes the room behind it along; it is taken again, where it can be.
    pub(super) fn was_cut(&mut self, file: &File, len: u64) {
        self.until = len;
        // Nobody sends any more; what is on its way is written as long as there is room.
        let _ = self.take(file, len, 0, std::iter::empty());
    }

    /// The promises, in another segment's file.
    pub(super) fn moved_to(&self, file: &File) -> io::Result<Reservation> {
        let mut room = Reservation {
            on_their_way: self.on_their_way.clone(),
            promised: self.promised,
            ..Reservation::default()
        };
        room.take(file, 0, 0, std::iter::empty())?;
        Ok(room)
    }
}

/// Takes blocks behind a file's end without making it longer.
#[cfg(target_os = "linux")]
fn allocate(file: &File, from: u64, len: u64) -> io::Result<()> {
    use rustix::fs::{FallocateFlags, fallocate};
    use rustix::io::Errno;
    use rustix::process::{Resource, getrlimit};
    // Blocks may be taken behind a limit that no write may pass.
    if getrlimit(Resource::Fsize).current.is_some_and(|limit| from + len > limit) {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    match fallocate(file, FallocateFlags::KEEP_SIZE, from, len) {
        Ok(()) => Ok(()),
        Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => look(file, len),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn allocate(file: &File, _: u64, len: u64) -> io::Result<()> {
    look(file, len)
}

/// Where blocks cannot be taken, whether there are enough.
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
