//! Parts on their way to the disk: a thread of their own writes them and waits until they are there, while the next
//! ones are made.

use std::panic::resume_unwind;
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{JoinHandle, spawn};

use super::part::Encoded;
use super::{Error, Part};

/// Parts that may wait for the disk. Each is in memory until it is written.
const WAITING: usize = 1;

/// The disk, as one table sees it.
#[derive(Default)]
pub(super) struct Disk {
    writing: Option<Writing>,
}

struct Writing {
    parts: SyncSender<(String, Encoded)>,
    thread: JoinHandle<Result<Vec<Part>, Error>>,
}

impl Disk {
    /// Hands a part over, to be written as a file of a stage.
    ///
    /// # Errors
    /// [`Error::Io`] where an earlier one could not be written whole.
    pub(super) fn write(&mut self, stage: &Path, file: String, part: Encoded) -> Result<(), Error> {
        let writing = self.writing.get_or_insert_with(|| {
            let (parts, waiting) = sync_channel(WAITING);
            let stage = stage.to_path_buf();
            Writing { parts, thread: spawn(move || write_all(&stage, &waiting)) }
        });
        match writing.parts.send((file, part)) {
            Ok(()) => Ok(()),
            // Nobody listens any more: something went wrong.
            Err(_) => self.finish().map(drop),
        }
    }

    /// Waits until every part is on the disk, and tells which they are, in order.
    ///
    /// # Errors
    /// [`Error::Io`] where one could not be written whole.
    pub(super) fn finish(&mut self) -> Result<Vec<Part>, Error> {
        let Some(Writing { parts, thread }) = self.writing.take() else { return Ok(Vec::new()) };
        drop(parts);
        thread.join().unwrap_or_else(|panic| resume_unwind(panic))
    }
}

/// Whoever removes the folder does so when nothing is written there any more.
impl Drop for Disk {
    fn drop(&mut self) {
        if let Some(Writing { parts, thread }) = self.writing.take() {
            drop(parts);
            let _ = thread.join();
        }
    }
}

fn write_all(stage: &Path, parts: &Receiver<(String, Encoded)>) -> Result<Vec<Part>, Error> {
    parts.iter().map(|(file, part)| part.write(stage, file)).collect()
}
