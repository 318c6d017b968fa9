//! `replies/batches.jsonl`: what is on its way in batches.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use riddlemill_files::log::{Log, LogError};
use serde::{Deserialize, Serialize};

use crate::request::{Key, Request};

/// What is said of a batch; later lines say more of the same.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Entry {
    /// Our name for it, which the server keeps with it.
    pub batch: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub endpoint: String,
    #[serde(default)]
    pub at_ms: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<Item>,
    /// The server's name for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// How it ended; all of it is booked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over: Option<String>,
}

/// A request in a batch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Item {
    pub key: Key,
    /// The journalled attempt.
    pub attempt: String,
    pub request: Request,
    pub template: String,
}

impl Entry {
    pub(super) fn new(endpoint: &str, at_ms: u64) -> Entry {
        static BATCHES: AtomicU32 = AtomicU32::new(0);
        let count = BATCHES.fetch_add(1, Ordering::Relaxed);
        let batch = format!("{at_ms}-{}-{count}", std::process::id());
        Entry { batch, endpoint: endpoint.to_owned(), at_ms, ..Entry::default() }
    }

    /// The line that says what the server calls it.
    pub(super) fn called(&self, id: &str) -> Entry {
        Entry { batch: self.batch.clone(), id: Some(id.to_owned()), ..Entry::default() }
    }

    /// The line that says that it is over.
    pub(super) fn over(&self, how: &str) -> Entry {
        Entry { batch: self.batch.clone(), over: Some(how.to_owned()), ..Entry::default() }
    }
}

pub(super) fn of(replies: &Path) -> Log {
    Log::at(replies.join("batches.jsonl"))
}

/// The batches that are not over, in the order they were begun.
pub(super) fn open(log: &Log) -> Result<Vec<Entry>, LogError> {
    let mut order = Vec::new();
    let mut all: BTreeMap<String, Entry> = BTreeMap::new();
    for line in log.read()?.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        let entry: Entry = serde_json::from_slice(line)
            .map_err(|e| LogError::Damaged { path: log.path().to_owned(), what: e.to_string() })?;
        match all.get_mut(&entry.batch) {
            None => {
                order.push(entry.batch.clone());
                all.insert(entry.batch.clone(), entry);
            }
            Some(known) => {
                known.id = entry.id.or(known.id.take());
                known.over = entry.over.or(known.over.take());
            }
        }
    }
    Ok(order.iter().filter_map(|name| all.remove(name)).filter(|entry| entry.over.is_none()).collect())
}

pub(super) fn add(log: &Log, entry: &Entry) -> Result<(), LogError> {
    let mut line = serde_json::to_vec(entry).map_err(|source| LogError::Unwritable { source })?;
    line.push(b'\n');
    log.append(&line)
}
