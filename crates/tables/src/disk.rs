//! Writes parts to disk in separate threads and syncs them, while the next ones are made.

use std::panic::resume_unwind;
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{JoinHandle, spawn};

use super::part::Encoded;
use super::{Error, Part};

/// Parts that may wait for a writer. Each is in memory until it is written.
const WAITING: usize = 1;
/// One writes while the other waits for the disk.
const WRITERS: usize = 2;

/// The writer threads of one table.
#[derive(Default)]
pub(super) struct Disk {
    writing: Option<Writing>,
}

struct Writing {
    parts: SyncSender<WaitingPart>,
    sent: usize,
    writers: Vec<JoinHandle<Vec<Written>>>,
}

/// A part with its number and the name of its file.
type WaitingPart = (usize, String, Encoded);
type Written = (usize, Result<Part, Error>);

impl Disk {
    /// Passes a part on, to be written as a file of a stage.
    ///
    /// # Errors
    /// [`Error::Io`] if an earlier one could not be written completely.
    pub(super) fn write(&mut self, stage: &Path, file: String, part: Encoded) -> Result<(), Error> {
        let writing = self.writing.get_or_insert_with(|| {
            let (parts, waiting) = sync_channel(WAITING);
            let (stage, waiting) = (Arc::<Path>::from(stage), Arc::new(Mutex::new(waiting)));
            let writer = |_| {
                let (stage, waiting) = (Arc::clone(&stage), Arc::clone(&waiting));
                spawn(move || write_all(&stage, &waiting))
            };
            Writing { parts, sent: 0, writers: (0..WRITERS).map(writer).collect() }
        });
        let number = writing.sent;
        writing.sent += 1;
        match writing.parts.send((number, file, part)) {
            Ok(()) => Ok(()),
            // Nobody receives any more: there was an error.
            Err(_) => self.finish().map(drop),
        }
    }

    /// Waits until every part is on disk, and returns them in order.
    ///
    /// # Errors
    /// [`Error::Io`] if one could not be written completely.
    pub(super) fn finish(&mut self) -> Result<Vec<Part>, Error> {
        let Some(Writing { parts, writers, .. }) = self.writing.take() else { return Ok(Vec::new()) };
        // The writers end when nothing can be sent to them any more.
        drop(parts);
        let written =
            writers.into_iter().map(|writer| writer.join().unwrap_or_else(|panic| resume_unwind(panic)));
        let mut written: Vec<Written> = written.flatten().collect();
        // The writers finish in any order.
        written.sort_by_key(|(number, _)| *number);
        written.into_iter().map(|(_, part)| part).collect()
    }
}

/// The folder may only be removed when nothing is written there any more.
impl Drop for Disk {
    fn drop(&mut self) {
        if let Some(Writing { parts, writers, .. }) = self.writing.take() {
            drop(parts);
            writers.into_iter().for_each(|writer| drop(writer.join()));
        }
    }
}

/// Writes parts until no more come or one cannot be written completely.
fn write_all(stage: &Path, parts: &Mutex<Receiver<WaitingPart>>) -> Vec<Written> {
    let mut written = Vec::new();
    loop {
        // The lock ends with this line, so that one writer receives while the other one writes.
        let next = parts.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((number, file, part)) = next else { return written };
        let part = part.write(stage, file);
        let failed = part.is_err();
        written.push((number, part));
        if failed {
            return written;
        }
    }
}
