//! The one thread that appends. Lines that arrive while a batch is being synced form the next batch, so hundreds of
//! attempts share a sync; the index's write lock is held from before the append until the lines are indexed, so
//! that budgets and leases hold between processes too.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::oneshot;

use super::line::{Attempt, Line, StoredReply};
use super::recover::{catch_up, note_sealed, remove_if_there};
use super::segment::{self, Number};
use super::{Begin, Begun, Shared, StoreError, index, now_ms, registry};
use crate::money::Usd;

/// Most jobs that share a sync.
const BATCH: usize = 1024;

pub(super) enum Job {
    Begin(Box<Begin>, oneshot::Sender<Result<Begun, Shared>>),
    /// `written` once the line outlives this process, `synced` once it outlives the machine.
    Settle {
        line: Box<Line>,
        written: oneshot::Sender<()>,
        synced: oneshot::Sender<Result<(), Shared>>,
    },
}

/// Starts the thread. It ends, and seals its segment, when the sender is dropped.
pub(super) fn spawn(
    dir: &Path,
    index: &Path,
    segment_bytes: u64,
) -> Result<(Sender<Job>, JoinHandle<()>), StoreError> {
    let (sender, jobs) = channel();
    let db = index::open(index)?;
    let writer = Writer {
        dir: dir.to_owned(),
        index: index.to_owned(),
        segment_bytes,
        db,
        open: None,
        unsettled: 0,
        sealing: Vec::new(),
    };
    let thread = thread::Builder::new()
        .name("replies".into())
        .spawn(move || writer.run(&jobs))
        .map_err(|source| StoreError::io(dir, source))?;
    Ok((sender, thread))
}

struct Writer {
    dir: PathBuf,
    index: PathBuf,
    segment_bytes: u64,
    db: Connection,
    open: Option<Open>,
    /// Attempts that this process has begun and not settled.
    unsettled: u64,
    sealing: Vec<JoinHandle<()>>,
}

struct Open {
    number: Number,
    file: File,
    len: u64,
    attempts: u64,
    /// Whether the log of segments names it.
    is_named: bool,
}

/// What is said to whom once the batch is safe.
enum Reply {
    Begun(oneshot::Sender<Result<Begun, Shared>>, Begun),
    Settled(oneshot::Sender<Result<(), Shared>>),
}

impl Writer {
    fn run(mut self, jobs: &Receiver<Job>) {
        while let Ok(first) = jobs.recv() {
            let batch: Vec<Job> = std::iter::once(first).chain(jobs.try_iter().take(BATCH - 1)).collect();
            self.write(batch);
            if self.open.as_ref().is_some_and(|open| open.len > self.segment_bytes) {
                self.rotate();
            }
        }
        if let Some(open) = self.open.take() {
            self.seal(open);
        }
        for thread in self.sealing {
            // A seal that panicked left an open segment, which the next start seals.
            let _ = thread.join();
        }
    }

    fn write(&mut self, batch: Vec<Job>) {
        let mut replies = Vec::with_capacity(batch.len());
        let before = self.open.as_ref().map(|open| (open.len, open.attempts));
        if let Err(error) = self.try_write(batch, &mut replies) {
            if let (Some(open), (len, attempts)) = (&mut self.open, before.unwrap_or_default()) {
                // What was appended without being indexed must not be found later by a recovery.
                if open.file.set_len(len).is_ok() {
                    (open.len, open.attempts) = (len, attempts);
                } else {
                    self.open = None;
                }
            }
            let error = Arc::new(error);
            for reply in replies {
                match reply {
                    Reply::Begun(to, _) => _ = to.send(Err(error.clone())),
                    Reply::Settled(to) => _ = to.send(Err(error.clone())),
                }
            }
            return;
        }
        for reply in replies {
            match reply {
                Reply::Begun(to, begun) => _ = to.send(Ok(begun)),
                Reply::Settled(to) => _ = to.send(Ok(())),
            }
        }
    }

    fn try_write(&mut self, batch: Vec<Job>, replies: &mut Vec<Reply>) -> Result<(), StoreError> {
        let at = |source| StoreError::io(&self.dir, source);
        // Opened ahead of the index's lock; what is refused leaves it empty until something is not.
        if self.open.is_none() {
            let (number, file) = segment::create(&self.dir).map_err(at)?;
            self.open = Some(Open { number, file, len: 0, attempts: 0, is_named: false });
        }
        let Some(open) = &mut self.open else { return Ok(()) };
        let tx = self.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let (mut bytes, mut written) = (Vec::new(), Vec::new());
        for job in batch {
            let (line, reply) = match job {
                Job::Settle { line, written: tell, synced } => {
                    if !matches!(&*line, Line::Reply(StoredReply { id: None, .. }) | Line::Forgotten(_)) {
                        self.unsettled = self.unsettled.saturating_sub(1);
                    }
                    written.push(tell);
                    (Some(*line), Reply::Settled(synced))
                }
                Job::Begin(begin, to) => match decide(&tx, &self.dir, open, &begin) {
                    Ok((line, Begun::Refused { scope, spent, cap, .. })) => (
                        line,
                        Reply::Begun(to, Begun::Refused { scope, spent, cap, unsettled: self.unsettled }),
                    ),
                    Ok((line, begun)) => {
                        self.unsettled += u64::from(line.is_some());
                        (line, Reply::Begun(to, begun))
                    }
                    Err(error) => {
                        replies.push(Reply::Begun(to, Begun::Busy));
                        return Err(error);
                    }
                },
            };
            replies.push(reply);
            if let Some(line) = line {
                let line_bytes = line.bytes();
                index::apply(
                    &tx,
                    open.number,
                    open.len + bytes.len() as u64,
                    line_bytes.len() as u64,
                    &line,
                )?;
                bytes.extend_from_slice(&line_bytes);
            }
        }
        if bytes.is_empty() {
            return Ok(tx.commit()?);
        }
        if !open.is_named {
            registry::begun(&self.dir, open.number)?;
            open.is_named = true;
        }
        open.file.write_all(&bytes).map_err(at)?;
        written.into_iter().for_each(|tell| _ = tell.send(()));
        open.file.sync_data().map_err(at)?;
        open.len += bytes.len() as u64;
        index::indexed(&tx, open.number, open.len)?;
        Ok(tx.commit()?)
    }

    /// Goes on in a new segment and seals the full one on a thread of its own.
    fn rotate(&mut self) {
        // Where no new segment can be made, the old one goes on growing and the next batch tries again.
        let Ok((number, file)) = segment::create(&self.dir) else { return };
        let full = self.open.replace(Open { number, file, len: 0, attempts: 0, is_named: false });
        let Some(full) = full else { return };
        // Leases live as long as their owner's lock.
        let moved = self.db.execute("UPDATE leases SET owner = ?1 WHERE owner = ?2", [number, full.number]);
        if moved.is_ok() {
            self.seal(full);
        }
    }

    fn seal(&mut self, mut open: Open) {
        let (dir, index) = (self.dir.clone(), self.index.clone());
        // What goes wrong here loses nothing: the open segment stays, and the next start seals it.
        let sealing = thread::Builder::new().name("seal".into()).spawn(move || {
            // One that has a name has to stay, even where its first write failed.
            if open.len == 0 && !open.is_named {
                _ = remove_if_there(&segment::open_path(&dir, open.number));
                return;
            }
            let Ok(frames) = segment::seal(&dir, open.number, &mut open.file) else { return };
            let indexed = index::open(&index).and_then(|mut db| {
                let tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
                index::sealed(&tx, open.number, &frames)?;
                tx.commit()
            });
            // Where it is not noted what was sealed, the next start does it.
            if indexed.is_ok() && note_sealed(&dir, open.number).is_ok() {
                _ = remove_if_there(&segment::open_path(&dir, open.number));
            }
        });
        self.sealing.extend(sealing.ok());
    }
}

/// Whether an attempt may go: not where the reply is there by now, where another process is asking, or where it
/// could pass a cap.
fn decide(
    db: &Connection,
    dir: &Path,
    open: &mut Open,
    begin: &Begin,
) -> Result<(Option<Line>, Begun), StoreError> {
    if let Some((owner, expires_ms)) = index::lease(db, &begin.key)?
        && owner != open.number
    {
        let alive = segment::open_path(dir, owner).exists()
            && segment::take_over(dir, owner).map_err(|source| StoreError::io(dir, source))?.is_none();
        if alive && expires_ms > now_ms() {
            return Ok((None, Begun::Busy));
        }
        if segment::open_path(dir, owner).exists() || segment::sealed_path(dir, owner).exists() {
            catch_up(db, dir, owner)?;
        }
    }
    if index::place(db, &begin.key)?.is_some() {
        return Ok((None, Begun::Stored));
    }
    for (scope, cap) in &begin.caps {
        let (spent, _) = index::spent(db, scope)?;
        if let Some(cap) = *cap
            && spent + begin.reserved > cap
            && begin.reserved > Usd::ZERO
        {
            // Which run it is matters to the journal alone.
            let scope = if scope.starts_with(super::RUN) { "run" } else { scope };
            return Ok((None, Begun::Refused { scope: scope.to_owned(), spent, cap, unsettled: 0 }));
        }
    }
    open.attempts += 1;
    let id = format!("{:06}#{}", open.number, open.attempts);
    index::grant(db, &begin.key, open.number, now_ms().saturating_add(begin.lease_ms))?;
    let line = Line::Attempt(Attempt {
        id: id.clone(),
        key: begin.key,
        scopes: begin.caps.iter().map(|(scope, _)| scope.clone()).collect(),
        reserved_picousd: begin.reserved,
        at_ms: now_ms(),
    });
    Ok((Some(line), Begun::Go { id }))
}
