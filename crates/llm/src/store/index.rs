//! The SQLite index: the place of each reply, spending, and leases. All of it except the leases is derived
//! from the segments through [`index_line`], both by the process that writes a line and by one that reads it
//! later, so the file may be deleted at any time.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Result, Row, params};

use super::line::{Origin, SegmentLine};
use super::segment::{Frame, Number};
use crate::money::Usd;
use crate::request::Key;

/// Raised whenever the tables change; an index of another version is rebuilt.
const VERSION: i64 = 5;

const SCHEMA: &str = "
    CREATE TABLE segments (number INTEGER PRIMARY KEY, indexed_to INTEGER NOT NULL, sealed INTEGER NOT NULL);
    CREATE TABLE frames (number INTEGER, raw_start INTEGER, raw_len INTEGER, start INTEGER, len INTEGER,
        PRIMARY KEY (number, raw_start)) WITHOUT ROWID;
    CREATE TABLE replies (key BLOB PRIMARY KEY, number INTEGER, start INTEGER, len INTEGER, identity TEXT, model TEXT,
        template TEXT, prompt_tokens INTEGER, completion_tokens INTEGER, charged INTEGER, answered TEXT, fingerprint TEXT,
        at_ms INTEGER, reply BLOB) WITHOUT ROWID;
    CREATE TABLE forgotten (reply BLOB PRIMARY KEY) WITHOUT ROWID;
    CREATE TABLE forgotten_places (number INTEGER, start INTEGER, key BLOB, at_ms INTEGER,
        PRIMARY KEY (number, start)) WITHOUT ROWID;
    CREATE TABLE failures (id TEXT PRIMARY KEY, number INTEGER, start INTEGER, len INTEGER, key BLOB, final INTEGER,
        error TEXT, lasting INTEGER NOT NULL) WITHOUT ROWID;
    CREATE INDEX lasting_failures ON failures (key) WHERE lasting;
    CREATE TABLE attempts (id TEXT PRIMARY KEY, reserved INTEGER, scopes TEXT, outcome INTEGER) WITHOUT ROWID;
    CREATE TABLE spend (scope TEXT PRIMARY KEY, charged INTEGER NOT NULL, attempts INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE lost (scope TEXT PRIMARY KEY, charged INTEGER NOT NULL, attempts INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS leases (key BLOB PRIMARY KEY, owner INTEGER NOT NULL, expires_ms INTEGER NOT NULL) WITHOUT ROWID;
";

/// The sum of two amounts of at most this many picodollars fits into SQLite's integers.
const HALF: i64 = i64::MAX / 2;
/// More tokens than any reply has: a line that says so is damaged.
const MOST_TOKENS: u64 = 1_000_000_000;

/// An amount that can be added to another one in SQL.
fn half_amount(amount: Usd) -> i64 {
    amount.in_picodollars().clamp(-HALF, HALF)
}

/// A sum of many amounts, read as `SUM(charged / 1000000), SUM(charged % 1000000)`, which do not overflow.
pub(super) fn sum_of_amounts(millions: i64, rest: i64) -> Usd {
    Usd::from_pico(millions.saturating_mul(1_000_000).saturating_add(rest))
}

/// What was reserved for an attempt, if it is known.
fn reserved_for(db: &Connection, id: &str) -> Result<Option<Usd>> {
    let reserved = db
        .prepare_cached("SELECT reserved FROM attempts WHERE id = ?")?
        .query_row([id], |row| row.get::<_, Option<i64>>(0))
        .optional()?;
    Ok(reserved.flatten().map(Usd::from_pico))
}

/// Charges and numbers of attempts by budget.
pub(super) type Charges = BTreeMap<String, (Usd, u64)>;

/// The place of a reply's line in its uncompressed segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ReplyPlace {
    pub number: Number,
    pub start: u64,
    pub len: u64,
}

/// Opens the index and creates its tables if they are missing or of another version.
pub(super) fn open_database(path: &Path) -> Result<Connection> {
    let mut db = Connection::open(path)?;
    // A writer of another process keeps the lock while it waits for the disk.
    db.busy_timeout(Duration::from_secs(60))?;
    db.pragma_update(None, "journal_mode", "WAL")?;
    // The segments are synced; after a power cut the index catches up from them.
    db.pragma_update(None, "synchronous", "OFF")?;
    db.set_prepared_statement_cache_capacity(64);
    // Locked before the version is read, so that two processes do not both create the tables.
    let tx = db.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    let version: i64 = tx.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if version != VERSION {
        clear_tables(&tx)?;
    }
    tx.commit()?;
    Ok(db)
}

/// Empties every table except the leases, which no segment holds.
pub(super) fn clear_tables(db: &Connection) -> Result<()> {
    db.execute_batch(
        "DROP TABLE IF EXISTS segments; DROP TABLE IF EXISTS frames; DROP TABLE IF EXISTS replies;
         DROP TABLE IF EXISTS forgotten; DROP TABLE IF EXISTS forgotten_places; DROP TABLE IF EXISTS lost;
         DROP TABLE IF EXISTS failures; DROP TABLE IF EXISTS attempts; DROP TABLE IF EXISTS spend;",
    )?;
    db.execute_batch(SCHEMA)?;
    db.pragma_update(None, "user_version", VERSION)
}

/// Adds one line, `len` bytes from `start` of segment `number`, to the index. An attempt, outcome or reply
/// that is in two segments because one was salvaged from the other counts once, whatever their order.
pub(super) fn index_line(
    db: &Connection,
    number: Number,
    start: u64,
    len: u64,
    line: &SegmentLine,
) -> Result<()> {
    match line {
        SegmentLine::Attempt(attempt) => {
            begin_attempt(db, &attempt.id, attempt.reserved_picousd, &attempt.scopes)?;
        }
        SegmentLine::Failure(failure) => {
            settle_attempt(db, &failure.id, failure.charged_picousd)?;
            db.prepare_cached("INSERT OR IGNORE INTO failures VALUES (?, ?, ?, ?, ?, ?, ?, ?)")?.execute(
                params![
                    failure.id,
                    number,
                    start as i64,
                    len as i64,
                    failure.key.0,
                    failure.request.is_some(),
                    failure.error,
                    failure.lasting
                ],
            )?;
            if failure.request.is_some() {
                release_lease(db, &failure.key)?;
            }
        }
        SegmentLine::Reply(reply) => {
            if let Some(id) = &reply.id {
                settle_attempt(db, id, reply.charged_picousd)?;
            }
            // The tombstone may be in a segment that was indexed earlier.
            let identity = reply.reply_identity();
            if is_forgotten(db, &identity)? {
                return Ok(());
            }
            if is_forgotten_place(db, number, start)? {
                return mark_forgotten(db, &identity);
            }
            let usage = reply.usage.unwrap_or_default();
            let reserved = reply.id.as_ref().map_or(Ok(None), |id| reserved_for(db, id))?;
            let charged = reply.charged_picousd.believable_charge(reserved.unwrap_or_default());
            let origin = Origin::parse(&reply.raw);
            // Of two replies to one request the earlier place counts, in whatever order they are indexed.
            db.prepare_cached(
                "INSERT INTO replies VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET
                 number = excluded.number, start = excluded.start, len = excluded.len, template = excluded.template,
                 prompt_tokens = excluded.prompt_tokens, completion_tokens = excluded.completion_tokens,
                 charged = excluded.charged, answered = excluded.answered, fingerprint = excluded.fingerprint,
                 at_ms = excluded.at_ms, reply = excluded.reply
                 WHERE (excluded.number, excluded.start) < (replies.number, replies.start)",
            )?
            .execute(params![
                reply.key.0,
                number,
                start as i64,
                len as i64,
                reply.request.identity,
                reply.request.model,
                reply.template,
                usage.prompt_tokens.min(MOST_TOKENS) as i64,
                usage.completion_tokens.min(MOST_TOKENS) as i64,
                charged.in_picodollars(),
                origin.model,
                origin.fingerprint,
                reply.at_ms as i64,
                identity.0
            ])?;
            release_lease(db, &reply.key)?;
        }
        SegmentLine::Forgotten(forgotten) => match &forgotten.reply {
            Some(reply) => mark_forgotten(db, reply)?,
            None => {
                let place = params![forgotten.segment, forgotten.start as i64];
                let there: Option<[u8; 32]> = db
                    .prepare_cached("SELECT reply FROM replies WHERE number = ? AND start = ?")?
                    .query_row(place, |row| row.get(0))
                    .optional()?;
                there.map_or(Ok(()), |reply| mark_forgotten(db, &Key(reply)))?;
                db.prepare_cached("INSERT OR IGNORE INTO forgotten_places VALUES (?, ?, ?, ?)")?.execute(
                    params![
                        forgotten.segment,
                        forgotten.start as i64,
                        forgotten.key.0,
                        forgotten.at_ms as i64
                    ],
                )?;
            }
        },
    }
    Ok(())
}

/// Marks a reply as forgotten, wherever it is.
pub(super) fn mark_forgotten(db: &Connection, reply: &Key) -> Result<()> {
    db.prepare_cached("INSERT OR IGNORE INTO forgotten VALUES (?)")?.execute([reply.0])?;
    db.prepare_cached("DELETE FROM replies WHERE reply = ?")?.execute([reply.0])?;
    Ok(())
}

/// Whether a reply was forgotten.
pub(super) fn is_forgotten(db: &Connection, reply: &Key) -> Result<bool> {
    db.prepare_cached("SELECT 1 FROM forgotten WHERE reply = ?")?.exists([reply.0])
}

fn is_forgotten_place(db: &Connection, number: Number, start: u64) -> Result<bool> {
    db.prepare_cached("SELECT 1 FROM forgotten_places WHERE number = ? AND start = ?")?
        .exists(params![number, start as i64])
}

/// What old tombstones forgot in a segment: keys, and when they were forgotten.
pub(super) fn forgotten_of(db: &Connection, number: Number) -> Result<Vec<(Key, u64)>> {
    db.prepare("SELECT key, at_ms FROM forgotten_places WHERE number = ?")?
        .query_map([number], |row| Ok((Key(row.get(0)?), row.get::<_, i64>(1)? as u64)))?
        .collect()
}

/// The identity of the reply to `key`.
pub(super) fn reply_identity(db: &Connection, key: &Key) -> Result<Option<Key>> {
    db.prepare_cached("SELECT reply FROM replies WHERE key = ?")?
        .query_row([key.0], |row| row.get(0).map(Key))
        .optional()
}

fn begin_attempt(db: &Connection, id: &str, reserved: Usd, scopes: &[String]) -> Result<()> {
    let known: Option<(Option<i64>, Option<i64>)> = db
        .prepare_cached("SELECT reserved, outcome FROM attempts WHERE id = ?")?
        .query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let outcome = match known {
        Some((Some(_), _)) => return Ok(()),
        Some((None, outcome)) => outcome,
        None => None,
    };
    db.prepare_cached("INSERT OR REPLACE INTO attempts VALUES (?, ?, ?, ?)")?.execute(params![
        id,
        reserved.in_picodollars(),
        scopes.join("\n"),
        outcome
    ])?;
    let reserved = reserved.believable_charge(Usd::ZERO);
    let amount = outcome.map_or(reserved, |outcome| Usd::from_pico(outcome).believable_charge(reserved));
    scopes.iter().try_for_each(|scope| charge_scope(db, scope, amount, 1))
}

fn settle_attempt(db: &Connection, id: &str, charged: Usd) -> Result<()> {
    type KnownAttempt = (Option<i64>, Option<String>, Option<i64>);
    let known: Option<KnownAttempt> = db
        .prepare_cached("SELECT reserved, scopes, outcome FROM attempts WHERE id = ?")?
        .query_row([id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    match known {
        Some((_, _, Some(_))) => Ok(()),
        Some((Some(reserved), Some(scopes), None)) => {
            db.prepare_cached("UPDATE attempts SET outcome = ? WHERE id = ?")?
                .execute(params![charged.in_picodollars(), id])?;
            // The reservation is in the sum already.
            let reserved = Usd::from_pico(reserved).believable_charge(Usd::ZERO);
            let more = charged.believable_charge(reserved) - reserved;
            let mut scopes = scopes.split('\n').filter(|scope| !scope.is_empty());
            scopes.try_for_each(|scope| charge_scope(db, scope, more, 0))
        }
        // Its attempt is in a segment that is indexed later.
        _ => {
            db.prepare_cached("INSERT OR IGNORE INTO attempts VALUES (?, NULL, NULL, ?)")?
                .execute(params![id, charged.in_picodollars()])?;
            Ok(())
        }
    }
}

/// Records the charges of segments that are damaged or missing: the money was spent.
pub(super) fn record_lost_charges(db: &Connection, charged: &Charges) -> Result<()> {
    db.execute("DELETE FROM lost", [])?;
    for (scope, (amount, attempts)) in charged {
        db.prepare_cached("INSERT INTO lost VALUES (?, ?, ?)")?.execute(params![
            scope,
            half_amount(*amount),
            *attempts as i64
        ])?;
    }
    Ok(())
}

fn charge_scope(db: &Connection, scope: &str, amount: Usd, attempts: i64) -> Result<()> {
    // SQLite makes a floating-point number of a sum that does not fit, which nothing could read.
    db.prepare_cached(
        "INSERT INTO spend VALUES (?1, ?2, ?3) ON CONFLICT (scope) DO UPDATE SET
         charged = MAX(-?4, MIN(?4, charged + ?2)), attempts = attempts + ?3",
    )?
    .execute(params![scope, half_amount(amount), attempts, HALF])?;
    Ok(())
}

/// A budget's charges and their number of attempts, including reservations in flight and missing segments.
pub(super) fn spent_of_budget(db: &Connection, scope: &str) -> Result<(Usd, u64)> {
    db.prepare_cached(
        "SELECT COALESCE(SUM(charged), 0), COALESCE(SUM(attempts), 0) FROM (SELECT * FROM spend WHERE scope = ?1
         UNION ALL SELECT * FROM lost WHERE scope = ?1)",
    )?
    .query_row([scope], |row| Ok((Usd::from_pico(row.get(0)?), row.get::<_, i64>(1)? as u64)))
}

/// The place of the reply to `key`.
pub(super) fn place_of_reply(db: &Connection, key: &Key) -> Result<Option<ReplyPlace>> {
    db.prepare_cached("SELECT number, start, len FROM replies WHERE key = ?")?
        .query_row([key.0], to_place)
        .optional()
}

/// The place of the latest permanent failure of `key`.
pub(super) fn place_of_failure(db: &Connection, key: &Key) -> Result<Option<ReplyPlace>> {
    db.prepare_cached(
        "SELECT number, start, len FROM failures WHERE key = ? AND lasting ORDER BY number DESC, start DESC LIMIT 1",
    )?
    .query_row([key.0], to_place)
    .optional()
}

fn to_place(row: &Row<'_>) -> Result<ReplyPlace> {
    let field = |column| row.get::<_, i64>(column).map(|value| value as u64);
    Ok(ReplyPlace { number: row.get(0)?, start: field(1)?, len: field(2)? })
}

/// The frame of a sealed segment that contains the uncompressed byte `at`; `None` for an open one.
pub(super) fn frame_at(db: &Connection, number: Number, at: u64) -> Result<Option<Frame>> {
    db.prepare_cached(
        "SELECT raw_start, raw_len, start, len FROM frames WHERE number = ? AND raw_start <= ? ORDER BY raw_start DESC LIMIT 1",
    )?
    .query_row(params![number, at as i64], |row| {
        let field = |column| row.get::<_, i64>(column).map(|value| value as u64);
        Ok(Frame { raw_start: field(0)?, raw_len: field(1)?, start: field(2)?, len: field(3)? })
    })
    .optional()
}

/// How far a segment is indexed, and whether it was indexed as sealed.
pub(super) fn indexing_progress(db: &Connection, number: Number) -> Result<(u64, bool)> {
    let row = db
        .prepare_cached("SELECT indexed_to, sealed FROM segments WHERE number = ?")?
        .query_row([number], |row| Ok((row.get::<_, i64>(0)? as u64, row.get(1)?)))
        .optional()?;
    Ok(row.unwrap_or_default())
}

/// Records how far a segment is indexed.
pub(super) fn record_progress(db: &Connection, number: Number, to: u64) -> Result<()> {
    db.prepare_cached(
        "INSERT INTO segments VALUES (?1, ?2, 0) ON CONFLICT (number) DO UPDATE SET indexed_to = MAX(indexed_to, ?2)",
    )?
    .execute(params![number, to as i64])?;
    Ok(())
}

/// Records the frames of a segment that is now sealed.
pub(super) fn record_frames(db: &Connection, number: Number, frames: &[Frame]) -> Result<()> {
    db.execute("DELETE FROM frames WHERE number = ?", [number])?;
    for frame in frames {
        db.prepare_cached("INSERT INTO frames VALUES (?, ?, ?, ?, ?)")?.execute(params![
            number,
            frame.raw_start as i64,
            frame.raw_len as i64,
            frame.start as i64,
            frame.len as i64
        ])?;
    }
    let to = frames.last().map_or(0, |last| last.raw_start + last.raw_len);
    record_progress(db, number, to)?;
    db.execute("UPDATE segments SET sealed = 1 WHERE number = ?", [number])?;
    Ok(())
}

/// The origins of a model's replies, in order of first appearance: what the replies state, how many they are,
/// and when the first of them came.
pub(super) fn origins_of_replies(
    db: &Connection,
    identity: &str,
    model: &str,
) -> Result<Vec<(Origin, u64, u64)>> {
    db.prepare_cached(
        "SELECT answered, fingerprint, COUNT(*), MIN(at_ms) FROM replies WHERE identity = ? AND model = ?
         GROUP BY answered, fingerprint ORDER BY MIN(at_ms), answered, fingerprint",
    )?
    .query_map([identity, model], |row| {
        let origin = Origin { model: row.get(0)?, fingerprint: row.get(1)? };
        Ok((origin, row.get::<_, i64>(2)? as u64, row.get::<_, i64>(3)? as u64))
    })?
    .collect()
}

/// The keys of a model's latest replies with token counts.
pub(super) fn latest_replies(
    db: &Connection,
    identity: &str,
    model: &str,
    template: Option<&str>,
    most: usize,
) -> Result<Vec<Key>> {
    db.prepare_cached(
        "SELECT key FROM replies WHERE identity = ?1 AND model = ?2 AND prompt_tokens > 0 AND (?3 IS NULL OR template = ?3)
         ORDER BY at_ms DESC, key LIMIT ?4",
    )?
    .query_map(params![identity, model, template, most as i64], |row| Ok(Key(row.get(0)?)))?
    .collect()
}

/// The segment of the writer that is asking `key`, and when its lease expires.
pub(super) fn lease_of_key(db: &Connection, key: &Key) -> Result<Option<(Number, u64)>> {
    db.prepare_cached("SELECT owner, expires_ms FROM leases WHERE key = ?")?
        .query_row([key.0], |row| Ok((row.get(0)?, row.get::<_, i64>(1)? as u64)))
        .optional()
}

/// Grants or renews a lease.
pub(super) fn grant_lease(db: &Connection, key: &Key, owner: Number, expires_ms: u64) -> Result<()> {
    db.prepare_cached("INSERT OR REPLACE INTO leases VALUES (?, ?, ?)")?.execute(params![
        key.0,
        owner,
        expires_ms as i64
    ])?;
    Ok(())
}

/// Ends a lease.
pub(super) fn release_lease(db: &Connection, key: &Key) -> Result<()> {
    db.prepare_cached("DELETE FROM leases WHERE key = ?")?.execute([key.0])?;
    Ok(())
}
