//! The operations of `replies stats|export|import|verify`.

use std::fs;
use std::io::{BufRead, Write};
use std::path::Path;

use riddlemill_files::log::LineError;
use rusqlite::Connection;
use serde::{Serialize, Serializer};

use super::line::{self, Forgotten, SegmentLine, StoredReply};
use super::{Store, StoreError, index, registry, segment};
use crate::money::Usd;
use crate::request::Key;
use riddlemill_files::fence;

/// Statistics of a store.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Stats {
    /// Segments, sealed and open.
    pub segments: u64,
    /// Their bytes on disk.
    pub bytes: u64,
    /// Replies, one per request.
    pub replies: u64,
    /// Attempts that failed.
    pub failed_attempts: u64,
    /// Attempts without any outcome: in flight, or lost with a process and charged permanently.
    pub open_attempts: u64,
    /// Replies by identity, model and template, in that order.
    pub models: Vec<ModelStats>,
    /// Each budget with its charges and the number of attempts, by name.
    #[serde(serialize_with = "budget_rows")]
    pub budgets: Vec<(String, Usd, u64)>,
}

/// The replies of one identity and model to one template.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModelStats {
    /// The endpoint's logical name.
    pub identity: String,
    /// The model's name.
    pub model: String,
    /// The template's name, empty for embeddings.
    pub template: String,
    /// How many.
    pub replies: u64,
    /// Prompt tokens as the server counted them.
    pub prompt_tokens: u64,
    /// Completion tokens as the server counted them.
    pub completion_tokens: u64,
    /// What they cost.
    #[serde(rename = "usd", serialize_with = "dollars")]
    pub charged: Usd,
}

fn dollars<S: Serializer>(usd: &Usd, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(usd.in_dollars())
}

fn budget_rows<S: Serializer>(budgets: &[(String, Usd, u64)], serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Budget<'b> {
        scope: &'b str,
        usd: f64,
        attempts: u64,
    }
    serializer.collect_seq(budgets.iter().map(|(scope, usd, attempts)| Budget {
        scope,
        usd: usd.in_dollars(),
        attempts: *attempts,
    }))
}

/// The result of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exported {
    /// Replies, one per line.
    pub replies: u64,
}

/// The result of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Imported {
    /// Replies that were new.
    pub added: u64,
    /// Replies that were already there.
    pub known: u64,
    /// Replies that were forgotten here, and stay forgotten.
    pub forgotten: u64,
    /// Line numbers (from 1) of lines that are not replies, with the reason.
    pub refused: Vec<(u64, String)>,
}

/// The result of a verification.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Verified {
    /// Segments read.
    pub segments: u64,
    /// Lines read.
    pub lines: u64,
    /// Replies among them.
    pub replies: u64,
    /// The findings, ordered by place; empty for a sound store.
    pub findings: Vec<Finding>,
    /// Segments with charges that no request can have: nothing is damaged, and other amounts count in their place.
    pub notes: Vec<Finding>,
}

/// One finding about a store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The segment's number, 0 for the index.
    pub segment: u32,
    /// The uncompressed offset of the line, if it is about one.
    pub at: Option<u64>,
    /// What is wrong.
    pub what: String,
}

impl Store {
    /// Counts, tokens and money.
    pub fn compute_stats(&self) -> Result<Stats, StoreError> {
        let mut stats = Stats::default();
        for (number, sealed) in segment::list_numbers(&self.dir)? {
            stats.segments += 1;
            let file = fs::metadata(segment::file_path(&self.dir, number, sealed));
            stats.bytes += file.map_or(0, |file| file.len());
        }
        let mut reader = self.reader();
        let db = reader.db();
        let count =
            |table| db.query_row(&format!("SELECT COUNT(*) FROM {table}"), [], |row| row.get::<_, i64>(0));
        stats.replies = count("replies")? as u64;
        stats.failed_attempts = count("failures")? as u64;
        stats.open_attempts =
            db.query_row("SELECT COUNT(*) FROM attempts WHERE outcome IS NULL", [], |row| {
                row.get::<_, i64>(0)
            })? as u64;
        stats.models = db
            .prepare(
                "SELECT identity, model, template, COUNT(*), SUM(prompt_tokens), SUM(completion_tokens),
                 SUM(charged / 1000000), SUM(charged % 1000000)
                 FROM replies GROUP BY identity, model, template ORDER BY identity, model, template",
            )?
            .query_map([], |row| {
                let number = |column| row.get::<_, i64>(column).map(|value| value as u64);
                Ok(ModelStats {
                    identity: row.get(0)?,
                    model: row.get(1)?,
                    template: row.get(2)?,
                    replies: number(3)?,
                    prompt_tokens: number(4)?,
                    completion_tokens: number(5)?,
                    charged: index::sum_of_amounts(row.get(6)?, row.get(7)?),
                })
            })?
            .collect::<Result<_, _>>()?;
        stats.budgets = db
            .prepare(
                "SELECT scope, SUM(charged), SUM(attempts) FROM (SELECT * FROM spend UNION ALL SELECT * FROM lost)
                 GROUP BY scope ORDER BY scope",
            )?
            .query_map([], |row| {
                Ok((row.get(0)?, Usd::from_pico(row.get(1)?), row.get::<_, i64>(2)? as u64))
            })?
            .collect::<Result<_, _>>()?;
        Ok(stats)
    }

    /// Writes every reply as a line that [`Store::import_replies`] reads, in order of place.
    pub fn export_replies(&self, mut out: impl Write) -> Result<Exported, StoreError> {
        let mut reader = self.reader();
        let keys: Vec<Key> = reader
            .db()
            .prepare("SELECT key FROM replies ORDER BY number, start")?
            .query_map([], |row| row.get(0).map(Key))?
            .collect::<Result<_, _>>()?;
        let mut replies = 0;
        for keys in keys.chunks(512) {
            for reply in reader.read_replies(keys)?.into_iter().flatten() {
                // The attempt belongs to this store's budgets.
                let line = SegmentLine::Reply(StoredReply { id: None, ..reply });
                out.write_all(&line.to_json_line())
                    .map_err(|source| StoreError::io(Path::new("export"), source))?;
                replies += 1;
            }
        }
        out.flush().map_err(|source| StoreError::io(Path::new("export"), source))?;
        Ok(Exported { replies })
    }

    /// Imports replies of another store, one per line; no budget is charged. A reply whose request does not
    /// hash to its key is refused. Blocks on the disk: not to be called from an async task.
    pub fn import_replies(&self, input: impl BufRead) -> Result<Imported, super::Shared> {
        let mut done = Imported::default();
        let mut waiting = Vec::new();
        let mut seen = rustc_hash::FxHashSet::default();
        for (at, line) in (1..).zip(input.lines()) {
            let line = line.map_err(|source| StoreError::io(Path::new("import"), source))?;
            let reply = match serde_json::from_str(&line) {
                _ if line.trim().is_empty() => continue,
                Ok(SegmentLine::Reply(reply)) => reply,
                Ok(_) => continue,
                Err(error) => {
                    done.refused.push((at, error.to_string()));
                    continue;
                }
            };
            if reply.request.key() != reply.key {
                done.refused.push((at, format!("the request does not hash to the key {}", reply.key)));
            } else if !seen.insert(reply.key) || self.contains(&reply.key)? {
                done.known += 1;
            } else if index::is_forgotten(self.reader().db(), &reply.reply_identity())
                .map_err(StoreError::from)?
            {
                done.forgotten += 1;
            } else {
                waiting.push(self.settle(SegmentLine::Reply(StoredReply { id: None, ..reply }))?);
                done.added += 1;
            }
        }
        for settling in waiting {
            settling.synced.blocking_recv().unwrap_or_else(|_| Err(StoreError::Closed.into()))?;
        }
        Ok(done)
    }

    /// The keys of stored replies with a prefix in hexadecimal, sorted; an empty prefix returns all.
    pub fn keys_with_prefix(&self, begins: &str) -> Result<Vec<Key>, StoreError> {
        let begins = begins.trim().to_ascii_lowercase();
        let mut reader = self.reader();
        let mut all = reader.db().prepare("SELECT key FROM replies ORDER BY key")?;
        let keys = all.query_map([], |row| row.get(0).map(Key))?.collect::<Result<Vec<Key>, _>>()?;
        Ok(keys.into_iter().filter(|key| key.to_string().starts_with(&begins)).collect())
    }

    /// Appends a tombstone to the reply to `key`, so that it is asked for again when needed. False if none is
    /// stored. Blocks on the disk: not to be called from an async task.
    pub fn forget_reply(&self, key: &Key, why: &str) -> Result<bool, super::Shared> {
        let mut reader = self.reader();
        let place = index::place_of_reply(reader.db(), key).map_err(StoreError::from)?;
        let reply = index::reply_identity(reader.db(), key).map_err(StoreError::from)?;
        drop(reader);
        let Some(place) = place else { return Ok(false) };
        let line = SegmentLine::Forgotten(Forgotten {
            key: *key,
            reply,
            segment: place.number,
            start: place.start,
            why: why.to_owned(),
            at_ms: super::now_ms(),
        });
        self.settle(line)?.synced.blocking_recv().unwrap_or_else(|_| Err(StoreError::Closed.into()))?;
        Ok(true)
    }

    /// Reads every segment completely: hashes, lines, keys, and whether the index agrees.
    pub fn verify_segments(&self) -> Result<Verified, StoreError> {
        let mut verified = Verified::default();
        verified.findings.extend(self.damage.iter().map(|damage| Finding {
            segment: damage.segment,
            at: None,
            what: damage.what.clone(),
        }));
        let fresh = Connection::open_in_memory()?;
        index::clear_tables(&fresh)?;
        // No writer appends while the index is locked for writing.
        let mut reader = self.reader();
        let tx = reader.db().transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        let entries = registry::read_entries(&self.dir).ok().flatten().unwrap_or_default();
        for (number, sealed) in segment::list_numbers(&self.dir)? {
            let entry = entries.get(&number);
            if entry.is_some_and(|entry| entry.gone.is_some()) {
                continue;
            }
            verified.segments += 1;
            let recorded = entry.and_then(|entry| entry.sha256.as_deref());
            let raw = match read_segment(&self.dir, number, sealed, recorded, &mut verified.findings) {
                Ok(raw) => raw,
                Err(error) => {
                    verified.findings.push(Finding { segment: number, at: None, what: error.to_string() });
                    continue;
                }
            };
            check_lines(&fresh, number, &raw, &mut verified)?;
        }
        for reply in entries.values().filter(|entry| entry.gone.is_some()).flat_map(|entry| &entry.forgets) {
            index::mark_forgotten(&fresh, reply)?;
        }
        // An index omits damaged segments.
        if self.damage.is_empty() && read_budgets(&fresh)? != read_budgets(&tx)? {
            let what = "the index charges other amounts than the segments; delete it".to_owned();
            verified.findings.push(Finding { segment: 0, at: None, what });
        }
        if self.damage.is_empty() && read_places(&fresh)? != read_places(&tx)? {
            let what = "the index places replies elsewhere than the segments; delete it".to_owned();
            verified.findings.push(Finding { segment: 0, at: None, what });
        }
        Ok(verified)
    }
}

/// A segment's whole lines. `recorded` is its hash in the log of segments.
fn read_segment(
    dir: &Path,
    number: u32,
    sealed: bool,
    recorded: Option<&str>,
    findings: &mut Vec<Finding>,
) -> Result<Vec<u8>, StoreError> {
    if sealed {
        let promised = fence::read_to_string(segment::hash_path(dir, number)).unwrap_or_default();
        let path = segment::sealed_path(dir, number);
        let found = segment::hash_file(&path).map_err(|source| StoreError::io(&path, source))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if promised != segment::hash_line(&found, &name) {
            let what = match recorded == Some(found.as_str()) {
                true => format!(
                    "its .sha256 is not what was written, the segment is: `sha256sum {name} > {name}.sha256` in \
                     this folder writes it again"
                ),
                false => "the file does not have the hash of its .sha256".to_owned(),
            };
            findings.push(Finding { segment: number, at: None, what });
        }
    }
    let mut raw = segment::read_lines(dir, number, sealed)?;
    if !sealed {
        raw.truncate(raw.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1));
    }
    Ok(raw)
}

fn check_lines(
    fresh: &Connection,
    number: u32,
    raw: &[u8],
    verified: &mut Verified,
) -> Result<(), StoreError> {
    let mut unbelievable: Vec<(u64, Usd)> = Vec::new();
    for (at, bytes, line) in line::parse_lines(raw) {
        verified.lines += 1;
        match line {
            Ok(line) => {
                let amount = match &line {
                    SegmentLine::Attempt(attempt) => attempt.reserved_picousd,
                    SegmentLine::Failure(failure) => failure.charged_picousd,
                    SegmentLine::Reply(reply) => reply.charged_picousd,
                    SegmentLine::Forgotten(_) => Usd::ZERO,
                };
                unbelievable.extend((!amount.can_be()).then_some((at, amount)));
                if let SegmentLine::Reply(reply) = &line {
                    verified.replies += 1;
                    if reply.request.key() != reply.key {
                        let what = format!("the request does not hash to the key {}", reply.key);
                        verified.findings.push(Finding { segment: number, at: Some(at), what });
                    }
                }
                index::index_line(fresh, number, at, bytes.len() as u64, &line)?;
            }
            Err(error) => {
                let what = match error.is_data() {
                    true => LineError::from(error).to_string(),
                    false => format!("not a line: {error}"),
                };
                verified.findings.push(Finding { segment: number, at: Some(at), what });
            }
        }
    }
    if let Some(&(first, amount)) = unbelievable.first() {
        let what = format!(
            "{} of its lines state an amount that no request can cost, the first of them {amount}: what was reserved for the \
             request counts instead",
            unbelievable.len()
        );
        verified.notes.push(Finding { segment: number, at: Some(first), what });
    }
    Ok(())
}

fn read_budgets(db: &Connection) -> Result<Vec<(String, Usd, u64)>, rusqlite::Error> {
    db.prepare("SELECT scope, charged, attempts FROM spend ORDER BY scope")?
        .query_map([], |row| Ok((row.get(0)?, Usd::from_pico(row.get(1)?), row.get::<_, i64>(2)? as u64)))?
        .collect()
}

fn read_places(db: &Connection) -> Result<Vec<(Vec<u8>, u32, i64)>, rusqlite::Error> {
    db.prepare("SELECT key, number, start FROM replies ORDER BY key")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect()
}
