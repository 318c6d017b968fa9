//! `replies/batches.jsonl`: the log of batches in progress.

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, UNIX_EPOCH};

use riddlemill_files::log::{Log, LogError, to_lines};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use crate::request::{Key, Request};
use crate::store::BATCHES;

/// One line on a batch; later lines add to earlier ones.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct BatchLogEntry {
    /// Our name for it, which is sent along to the server.
    pub batch: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub endpoint: String,
    #[serde(default)]
    pub at_ms: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<BatchItem>,
    /// The server's name for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// How it ended; set once all of its replies are stored and charged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over: Option<String>,
}

/// A request in a batch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct BatchItem {
    pub key: Key,
    /// The journalled attempt.
    pub attempt: String,
    pub request: Request,
    pub template: String,
}

impl BatchLogEntry {
    pub(super) fn new(endpoint: &str, at_ms: u64) -> BatchLogEntry {
        static BATCHES: AtomicU32 = AtomicU32::new(0);
        let count = BATCHES.fetch_add(1, Ordering::Relaxed);
        // Processes, and batches of one process in the same millisecond, get different names.
        let batch = format!("{at_ms}-{}-{count}", std::process::id());
        BatchLogEntry { batch, endpoint: endpoint.to_owned(), at_ms, ..BatchLogEntry::default() }
    }

    /// The line that records the server's name for it.
    pub(super) fn with_server_name(&self, id: &str) -> BatchLogEntry {
        BatchLogEntry { batch: self.batch.clone(), id: Some(id.to_owned()), ..BatchLogEntry::default() }
    }

    /// The line that records its end.
    pub(super) fn with_end(&self, how: &str) -> BatchLogEntry {
        BatchLogEntry { batch: self.batch.clone(), over: Some(how.to_owned()), ..BatchLogEntry::default() }
    }
}

pub(super) fn open_log(replies: &Path) -> Log {
    Log::in_file(replies.join(BATCHES))
}

/// A batch in progress.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OpenBatch {
    /// Our name for it.
    pub batch: String,
    /// The name of its endpoint's table in the settings.
    pub endpoint: String,
    /// When it was begun, in milliseconds since 1970.
    pub at_ms: u64,
    /// Requests in it.
    pub requests: usize,
    /// The server's name for it, if known.
    pub id: Option<String>,
}

impl OpenBatch {
    /// When it was begun, formatted: `Tue, 24 Nov 2026 06:40:00 GMT`.
    pub fn begin_date(&self) -> String {
        format_date(self.at_ms)
    }

    pub(super) fn from_entry(
        BatchLogEntry { batch, endpoint, at_ms, items, id, .. }: BatchLogEntry,
    ) -> OpenBatch {
        OpenBatch { batch, endpoint, at_ms, requests: items.len(), id }
    }
}

/// A time, formatted.
pub(super) fn format_date(at_ms: u64) -> String {
    httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_millis(at_ms))
}

/// The batches in progress of the store in the folder `replies`, without opening it.
///
/// # Errors
/// [`LogError`] if their log is damaged.
pub fn open_batches(replies: &Path) -> Result<Vec<OpenBatch>, LogError> {
    Ok(read_log(&open_log(replies))?.open.into_iter().map(OpenBatch::from_entry).collect())
}

/// The contents of the log: open batches in the order in which they were begun, and the servers' names of
/// all.
#[derive(Default)]
pub(super) struct LogContents {
    pub open: Vec<BatchLogEntry>,
    pub ids: Vec<String>,
}

/// The fields of a line that show whether its batch is over; the requests are skipped.
#[derive(Deserialize)]
struct End {
    batch: String,
    id: Option<String>,
    over: Option<String>,
}

pub(super) fn read_log(log: &Log) -> Result<LogContents, LogError> {
    let bytes = log.read_lines()?;
    let lines = || bytes.split(|&byte| byte == b'\n').enumerate().filter(|(_, line)| !line.is_empty());
    let unread = |at: usize, e: serde_json::Error| LogError::unreadable_line(log.path(), at + 1, &e);
    let (mut contents, mut over, mut ids) =
        (LogContents::default(), FxHashSet::default(), FxHashMap::default());
    for (at, line) in lines() {
        let end: End = serde_json::from_slice(line).map_err(|e| unread(at, e))?;
        if let Some(id) = end.id {
            contents.ids.push(id.clone());
            ids.insert(end.batch.clone(), id);
        }
        if end.over.is_some() {
            over.insert(end.batch);
        }
    }
    // Whole lines are parsed only now, and only for open batches: the requests of past ones are large.
    for (at, line) in lines() {
        let end: End = serde_json::from_slice(line).map_err(|e| unread(at, e))?;
        if over.contains(&end.batch) || contents.open.iter().any(|entry| entry.batch == end.batch) {
            continue;
        }
        let entry: BatchLogEntry = serde_json::from_slice(line).map_err(|e| unread(at, e))?;
        contents.open.push(BatchLogEntry { id: ids.get(&entry.batch).cloned(), ..entry });
    }
    Ok(contents)
}

pub(super) fn add(log: &Log, entry: &BatchLogEntry) -> Result<(), LogError> {
    // Who adds has read the log in its turn; the requests of past batches are large, and are not parsed again.
    log.append_lines(&to_lines([entry])?)
}
