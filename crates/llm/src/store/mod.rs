//! The reply store: append-only segments with every attempt, failure and reply, and an index over them.
//!
//! Invariants
//! - A line is appended once and never changed. Deleting the index loses nothing but leases.
//! - A reply is found by the SHA-256 of its request; a failure is kept and never returned as a reply.
//! - Before a request is sent, its attempt and reservation are on disk; what may have been sent without an
//!   answer stays charged, what a killed process certainly did not send is not.
//! - Several processes share a folder: each appends to its own segment, budgets and leases are shared in the
//!   index.

mod admin;
mod index;
mod line;
mod merge;
mod reader;
mod recover;
mod registry;
mod room;
mod salvage;
mod segment;
mod unsent;
mod writer;

#[cfg(test)]
mod damage_tests;
#[cfg(test)]
mod laws;
#[cfg(test)]
mod merge_tests;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{SystemTime, UNIX_EPOCH};

use riddlemill_files::fence;
use riddlemill_files::log::{LogError, LogName, open_locked};
use tokio::sync::oneshot;

pub use admin::{Exported, Finding, Imported, ModelStats, Stats, Verified};
pub use line::{Attempt, Failure, Forgotten, Origin, SegmentLine, StoredReply};
pub use merge::MergedReplies;
pub use salvage::SalvagedReplies;

pub use super::money::Usage;
use super::money::Usd;
use super::request::Key;
use reader::Reader;
use riddlemill_text::text::count_with_noun;
use writer::{Job, Stopped};

/// Segments are sealed above this size, uncompressed.
const SEGMENT_BYTES: u64 = 64 * 1024 * 1024;

/// The logs of raw/ that are written here, and the folder of segments.
pub const LOGS: &[LogName] = &[
    LogName::Foreign(
        "replies",
        &["segments.jsonl", "segments.salvage", BATCHES, "batches.lock", "batches.salvage"],
    ),
    LogName::File("replies/segments.jsonl"),
    LogName::File("replies/batches.jsonl"),
];

/// The log of batches, in the folder of segments.
pub(crate) const BATCHES: &str = "batches.jsonl";

/// Prefix of the scope of a run's budget.
pub(crate) const RUN: &str = "run:";

/// Errors of a reply store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A file could not be read or written.
    #[error("{}: {source}{}", path.display(), riddlemill_files::hint_for(path, source))]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// SQLite does not accept such a path.
    #[error(
        "the path is too long: that of the reply index has {0} bytes, SQLite allows {INDEX_PATH_BYTES}; move the workspace to a shorter path"
    )]
    PathTooLong(usize),
    /// The index could not be read or written.
    #[error("reply index: {}{}", .0, index_hint(.0))]
    Index(#[from] rusqlite::Error),
    /// There is no reply at this place of a segment.
    #[error(
        "segment {segment:06} has no reply at byte {at}\n  hint: `riddlemill replies verify` checks every segment"
    )]
    Line {
        /// The segment's number.
        segment: u32,
        /// The uncompressed offset.
        at: u64,
    },
    /// The writer's thread is gone.
    #[error("the reply store is closed")]
    Closed,
    /// The log of segments could not be read or written.
    #[error(transparent)]
    Log(#[from] LogError),
    /// A write failed: nothing is sent any more.
    #[error("{0}")]
    Stopped(String),
    /// Paid replies are missing, and nobody has accepted the loss.
    #[error("{0}")]
    Lost(String),
}

/// A segment that differs from what was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Its number, 0 for the log of segments.
    pub segment: u32,
    /// The file.
    pub path: PathBuf,
    /// What is wrong.
    pub what: String,
    /// How many replies it had, if that was recorded.
    pub replies: Option<u64>,
    /// The most that asking for them again can cost.
    pub most: Usd,
    /// The charges of its attempts by budget, which count against the caps permanently; `None` if they were
    /// not recorded.
    pub charged: Option<BTreeMap<String, (Usd, u64)>>,
    /// The replies that it forgets, which stay forgotten.
    forgets: Vec<Key>,
}

impl StoreError {
    fn io(path: &Path, source: io::Error) -> StoreError {
        StoreError::Io { path: path.to_owned(), source }
    }
}

const HINT: &str = "\n  hint: restore the files from a backup, or run `riddlemill fsck --salvage`, which \
                    keeps their intact parts; `riddlemill run --accept-lost-replies` continues without \
                    them and asks again";

fn index_hint(error: &rusqlite::Error) -> &'static str {
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::DiskFull | rusqlite::ErrorCode::SystemIoFailure) => {
            "\n  hint: make room and run the same command again"
        }
        _ => " (it may be deleted, it is rebuilt from raw/replies)",
    }
}

/// SQLite's longest path is 512 bytes, and the journal next to the index has a longer one.
const INDEX_PATH_BYTES: usize = 500;

/// An error that several waiting requests share.
pub type Shared = Arc<StoreError>;

/// An open reply store. Sharing it among tasks and threads is cheap; dropping it seals its segment.
pub struct Store {
    dir: PathBuf,
    reader: Mutex<Reader>,
    writer: Mutex<Option<(Sender<Job>, JoinHandle<()>)>>,
    segment_bytes: u64,
    index: PathBuf,
    damage: Vec<Damage>,
    stopped: Stopped,
    marks: unsent::UnsentMarks,
}

/// A request for permission to send.
#[derive(Clone, Debug)]
pub struct Begin {
    /// The request's key.
    pub key: Key,
    /// The most the attempt can cost.
    pub reserved: Usd,
    /// The budgets it counts against (`endpoint:<name>`, `recipe:<name>`, `run:<when and who>`), each with its cap.
    pub caps: Vec<(String, Option<Usd>)>,
    /// After how long another process may ask the same although this one seems alive.
    pub lease_ms: u64,
    /// Bytes that its outcome may take, allocated before it is sent.
    pub room: u64,
    /// Whether its outcome may be read by another process: then nobody here waits for it to release its
    /// reservation.
    pub outlives: bool,
}

/// The store's answer to [`Begin`].
#[derive(Clone, Debug, PartialEq)]
pub enum BeginReply {
    /// Permission to send; the attempt is on disk under this id.
    Go {
        /// To be used in the outcome's line.
        id: String,
    },
    /// Another process has stored the reply meanwhile.
    Stored,
    /// Another process is asking this question.
    Busy,
    /// The attempt could exceed a cap.
    Refused {
        /// The budget, e.g. `recipe:flub`.
        scope: String,
        /// Its charges so far, including reservations.
        spent: Usd,
        cap: Usd,
        /// Number of this process's attempts in flight, which may release some of their reservations.
        unsettled: u64,
    },
}

/// A line on its way to disk.
pub struct Settling {
    written: oneshot::Receiver<()>,
    synced: oneshot::Receiver<Result<(), Shared>>,
}

impl Settling {
    /// Returns once the line would survive the process's death.
    pub async fn written(&mut self) {
        // An error drops the sender and is reported by `synced`.
        let _ = (&mut self.written).await;
    }

    /// Returns once the line would survive the machine's death.
    pub async fn synced(self) -> Result<(), Shared> {
        self.synced.await.unwrap_or_else(|_| Err(Arc::new(StoreError::Closed)))
    }
}

impl Store {
    /// Opens the store of `replies` (`raw/replies`) with its index at `index`, a file outside `raw/`. Both
    /// are created if missing; what a killed process left is recovered; an index that is not a database is
    /// replaced.
    pub fn open(replies: &Path, index: &Path) -> Result<Store, StoreError> {
        Store::open_with(replies, index, SEGMENT_BYTES)
    }

    /// What cannot be written, such as a read-only or full disk, can be read: the index is then in memory, and the first request is
    /// refused with the error of the disk.
    fn open_with(replies: &Path, index: &Path, segment_bytes: u64) -> Result<Store, StoreError> {
        match Store::open_to_write(replies, index, segment_bytes) {
            Err(error) if error.is_of_a_closed_place() => {
                Store::open_to_read(replies, index, segment_bytes).map_err(|_| error)
            }
            other => other,
        }
    }

    /// Opens the store without writing anything.
    fn open_to_read(replies: &Path, index: &Path, segment_bytes: u64) -> Result<Store, StoreError> {
        let mut db = rusqlite::Connection::open_in_memory()?;
        index::clear_tables(&db)?;
        let damage = recover::index_segments(&mut db, replies)?;
        Ok(Store::opened(replies, index, segment_bytes, db, damage))
    }

    fn open_to_write(replies: &Path, index: &Path, segment_bytes: u64) -> Result<Store, StoreError> {
        for dir in [Some(replies), index.parent()].into_iter().flatten() {
            fence::create_folder(dir).map_err(|source| StoreError::io(dir, source))?;
        }
        // SQLite limits the absolute path, not the one it is given.
        let whole = std::path::absolute(index).unwrap_or_else(|_| index.to_owned());
        if whole.as_os_str().len() > INDEX_PATH_BYTES {
            return Err(StoreError::PathTooLong(whole.as_os_str().len()));
        }
        // One process at a time: if two switch a new index to its journal, SQLite refuses one without
        // waiting, and if two replace a damaged one, one would use a deleted file.
        let _turn = turn_to_open(index)?;
        let recovered = open_index(replies, index);
        let (db, damage) = match recovered {
            Err(StoreError::Index(error)) if is_damage(&error) => {
                // With them: SQLite would apply the journal of the damaged file to the new one.
                for suffix in ["", "-wal", "-shm"] {
                    let mut name = index.as_os_str().to_owned();
                    name.push(suffix);
                    recover::remove_if_there(Path::new(&name))?;
                }
                open_index(replies, index)?
            }
            other => other?,
        };
        Ok(Store::opened(replies, index, segment_bytes, db, damage))
    }

    fn opened(
        replies: &Path,
        index: &Path,
        segment_bytes: u64,
        db: rusqlite::Connection,
        damage: Vec<Damage>,
    ) -> Store {
        Store {
            dir: replies.to_owned(),
            reader: Mutex::new(Reader::new(replies, db)),
            writer: Mutex::new(None),
            segment_bytes,
            index: index.to_owned(),
            damage,
            stopped: Stopped::default(),
            marks: unsent::UnsentMarks::default(),
        }
    }

    /// Segments that differ from what was written. Their replies are not found, all others are.
    pub fn damage(&self) -> &[Damage] {
        &self.damage
    }

    /// Refuses to ask silently for lost replies again.
    ///
    /// # Errors
    /// [`StoreError::Lost`] if segments are damaged or missing: which, how many replies they had, and what
    /// asking for them again can cost.
    pub fn refuse_damage(&self) -> Result<(), StoreError> {
        refuse(&self.damage)
    }

    /// [`Store::refuse_damage`] for the store in `replies`, without opening it: nothing is written, no index
    /// is created.
    ///
    /// # Errors
    /// [`StoreError::Lost`] likewise, or if the segments cannot be read.
    pub fn refuse_damage_at(replies: &Path) -> Result<(), StoreError> {
        refuse(&registry::examine_segments(replies)?.0.1)
    }

    /// Whether a write has failed, after which nothing may be sent.
    ///
    /// # Errors
    /// [`StoreError::Stopped`] with the write that failed, and a hint.
    pub fn refuse_stopped(&self) -> Result<(), StoreError> {
        self.stopped.get().map_or(Ok(()), |why| Err(StoreError::Stopped(why.clone())))
    }

    /// The reply to a request, if one is stored.
    pub fn get(&self, key: &Key) -> Result<Option<StoredReply>, StoreError> {
        Ok(self.reader().read_replies(std::slice::from_ref(key))?.pop().flatten())
    }

    /// The replies to many requests, in their order.
    pub fn get_many(&self, keys: &[Key]) -> Result<Vec<Option<StoredReply>>, StoreError> {
        self.reader().read_replies(keys)
    }

    /// How a request failed permanently, if it did: such a failure is remembered, and never used as an
    /// answer.
    pub fn lasting_failure(&self, key: &Key) -> Result<Option<Failure>, StoreError> {
        self.reader().lasting_failure(key)
    }

    /// Whether a request failed permanently, without reading how.
    pub fn failed_for_good(&self, key: &Key) -> Result<bool, StoreError> {
        Ok(index::place_of_failure(self.reader().db(), key)?.is_some())
    }

    /// Whether a reply is stored, without reading it.
    pub fn contains(&self, key: &Key) -> Result<bool, StoreError> {
        Ok(index::place_of_reply(self.reader().db(), key)?.is_some())
    }

    /// The origins of the replies to an identity and a model's name, in order of first appearance: how many
    /// replies, and when the first of them came, in milliseconds since 1970.
    pub fn origins(&self, identity: &str, model: &str) -> Result<Vec<(Origin, u64, u64)>, StoreError> {
        Ok(index::origins_of_replies(self.reader().db(), identity, model)?)
    }

    /// The latest replies of a model with token counts, to one prompt or to any.
    pub(crate) fn latest(
        &self,
        identity: &str,
        model: &str,
        template: Option<&str>,
        most: usize,
    ) -> Result<Vec<StoredReply>, StoreError> {
        let mut reader = self.reader();
        let keys = index::latest_replies(reader.db(), identity, model, template, most)?;
        Ok(reader.read_replies(&keys)?.into_iter().flatten().collect())
    }

    /// The charges of a budget (`endpoint:<name>`, `recipe:<name>`) over the store's life, including
    /// reservations, and their number of attempts.
    pub fn spent(&self, scope: &str) -> Result<(Usd, u64), StoreError> {
        Ok(index::spent_of_budget(self.reader().db(), scope)?)
    }

    /// Reserves and journals an attempt. Returns once its line is synced, or why nothing may be sent.
    pub async fn begin(&self, begin: Begin) -> Result<BeginReply, Shared> {
        self.refuse_damage()?;
        let (to, answer) = oneshot::channel();
        self.submit(Job::Begin(Box::new(begin), to))?;
        answer.await.unwrap_or_else(|_| Err(Arc::new(StoreError::Closed)))
    }

    /// Records that attempts are about to be sent: from here on they count as spent, whatever happens to this
    /// process.
    pub fn sending<'i>(&self, ids: impl Iterator<Item = &'i str>) {
        self.marks.mark_sent(&self.index, ids);
    }

    /// Appends an attempt's outcome.
    pub fn settle(&self, line: SegmentLine) -> Result<Settling, Shared> {
        let ((tell, written), (to, synced)) = (oneshot::channel(), oneshot::channel());
        self.submit(Job::Settle { line: Box::new(line), written: tell, synced: to })?;
        Ok(Settling { written, synced })
    }

    /// The folder of segments.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Seals this process's segment. Dropping the store does the same.
    pub fn close(self) {}

    fn submit(&self, job: Job) -> Result<(), Shared> {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        // Started by the first line, so that a process that only reads has no writer.
        if writer.is_none() {
            *writer =
                Some(writer::spawn_writer(&self.dir, &self.index, self.segment_bytes, self.stopped.clone())?);
        }
        let sent = writer.as_ref().map(|(sender, _)| sender.send(job));
        match sent {
            Some(Ok(())) => Ok(()),
            _ => Err(Arc::new(StoreError::Closed)),
        }
    }

    fn reader(&self) -> MutexGuard<'_, Reader> {
        // The reader holds caches only; a panic elsewhere leaves them usable.
        self.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        let writer = self.writer.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((sender, thread)) = writer {
            drop(sender);
            // A writer that panicked left an open segment, which the next start recovers.
            let _ = thread.join();
        }
    }
}

fn refuse(damage: &[Damage]) -> Result<(), StoreError> {
    if damage.is_empty() {
        return Ok(());
    }
    let mut message = String::from("replies that were paid for are damaged or gone:");
    for damage in damage {
        let replies = match damage.replies {
            Some(n) => format!("{}, asking again costs at most {}", count_with_noun(n, "reply"), damage.most),
            None => "how many replies it had is unknown".into(),
        };
        message.push_str(&format!("\n  {}: {} ({replies})", damage.path.display(), damage.what));
    }
    message.push_str(HINT);
    Err(StoreError::Lost(message))
}

fn open_index(replies: &Path, path: &Path) -> Result<(rusqlite::Connection, Vec<Damage>), StoreError> {
    let mut db = index::open_database(path)?;
    recover::recover_segments(&mut db, replies, path).map(|damage| (db, damage))
}

/// Waits until no other process is opening the index; none will until the file is dropped.
fn turn_to_open(index: &Path) -> Result<File, StoreError> {
    let path = index.with_extension("lock");
    open_locked(&path, &mut File::options()).map_err(|source| StoreError::io(&path, source))
}

fn is_damage(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
    matches!(error.sqlite_error_code(), Some(DatabaseCorrupt | NotADatabase))
}

/// Milliseconds since 1970.
pub(crate) fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |age| age.as_millis() as u64)
}
