//! The one thread that appends. Lines that arrive while a batch is being synced form the next batch, so
//! hundreds of attempts share a sync; the index's write lock is held from before the append until the lines
//! are indexed, so that budgets and leases are valid across processes.
//!
//! After the first failed write nothing more is sent, and outcomes of attempts in flight are written into the
//! space allocated for them, without the index.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};

use riddlemill_files::log::{cut_after, receive_batch, sync_names, write_at};
use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::oneshot;

use super::line::{Attempt, SegmentLine};
use super::recover::{catch_up, note_sealed, remove_if_there};
use super::room::Reservation;
use super::segment::{self, Number};
use super::{Begin, BeginReply, Shared, StoreError, index, now_ms, registry, unsent};
use crate::money::Usd;

/// Most jobs that share a sync.
const BATCH: usize = 1024;

pub(super) enum Job {
    Begin(Box<Begin>, oneshot::Sender<Result<BeginReply, Shared>>),
    /// `written` once the line outlives this process, `synced` once it outlives the machine.
    Settle {
        line: Box<SegmentLine>,
        written: oneshot::Sender<()>,
        synced: oneshot::Sender<Result<(), Shared>>,
    },
}

/// Starts the thread. It ends, and seals its segment, when the sender is dropped.
pub(super) fn spawn_writer(
    dir: &Path,
    index: &Path,
    segment_bytes: u64,
    stopped: Stopped,
) -> Result<(Sender<Job>, JoinHandle<()>), StoreError> {
    let (sender, jobs) = channel();
    let db = index::open_database(index)?;
    let writer = Writer {
        dir: dir.to_owned(),
        index: index.to_owned(),
        segment_bytes,
        db,
        open: None,
        unsettled: 0,
        sealing: Vec::new(),
        stopped,
    };
    let thread = thread::Builder::new()
        .name("replies".into())
        .spawn(move || writer.run_jobs(&jobs))
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
    stopped: Stopped,
}

struct Open {
    number: Number,
    file: File,
    len: u64,
    attempts: u64,
    /// Whether it is in the log of segments.
    is_named: bool,
    room: Reservation,
}

impl Open {
    fn new(number: Number, file: File) -> Open {
        Open { number, file, len: 0, attempts: 0, is_named: false, room: Reservation::default() }
    }
}

/// A request for permission to send, and the channel for the reply.
type BeginRequest = (Box<Begin>, oneshot::Sender<Result<BeginReply, Shared>>);

/// An outcome to append, and the channels of those who wait for it.
struct Settle {
    line: Box<SegmentLine>,
    bytes: Vec<u8>,
    /// The attempt that it ends.
    id: Option<String>,
    written: Option<oneshot::Sender<()>>,
    synced: oneshot::Sender<Result<(), Shared>>,
}

/// Why nothing is sent any more, once a write has failed.
pub(super) type Stopped = Arc<OnceLock<String>>;

fn stopped_by(error: &StoreError) -> String {
    let hint = "\n  hint: make room and run the same command again; what was on its way is kept, and nothing is asked twice";
    match error {
        StoreError::Index(error) => format!("reply index: {error}{hint}"),
        StoreError::Io { path, source } => format!("cannot write {}: {source}{hint}", path.display()),
        other => format!("{other}{hint}"),
    }
}

impl Writer {
    fn run_jobs(mut self, jobs: &Receiver<Job>) {
        while let Some(batch) = receive_batch(jobs, BATCH) {
            self.write_batch(batch);
            if self.open.as_ref().is_some_and(|open| open.len > self.segment_bytes) {
                self.rotate_segment();
            }
        }
        if let Some(open) = self.open.take() {
            self.seal_open(open);
        }
        for thread in self.sealing {
            // A seal that panicked left an open segment, which the next start seals.
            let _ = thread.join();
        }
    }

    fn write_batch(&mut self, batch: Vec<Job>) {
        let (mut begins, mut settles) = (Vec::new(), Vec::new());
        for job in batch {
            match job {
                Job::Begin(begin, to) => begins.push((begin, to)),
                Job::Settle { line, written, synced } => {
                    let id = match &*line {
                        SegmentLine::Attempt(_) | SegmentLine::Forgotten(_) => None,
                        SegmentLine::Failure(failure) => Some(failure.id.clone()),
                        SegmentLine::Reply(reply) => reply.id.clone(),
                    };
                    // Attempts that outlive their process, as those of batches, were never counted.
                    self.unsettled = self.unsettled.saturating_sub(u64::from(id.is_some()));
                    settles.push(Settle {
                        bytes: line.to_json_line(),
                        line,
                        id,
                        written: Some(written),
                        synced,
                    });
                }
            }
        }
        let stopped = self.stopped.get().cloned();
        let begun = match stopped {
            Some(why) => Err(StoreError::Stopped(why)),
            None => self.try_write(&begins, &mut settles),
        };
        let error = match begun {
            Ok(begun) => {
                begins.into_iter().zip(begun).for_each(|((_, to), begun)| _ = to.send(Ok(begun)));
                settles.into_iter().for_each(|settle| _ = settle.synced.send(Ok(())));
                return;
            }
            Err(error) => Arc::new(error),
        };
        // After one failed write, no more money is risked.
        self.stopped.get_or_init(|| stopped_by(&error));
        begins.into_iter().for_each(|(_, to)| _ = to.send(Err(error.clone())));
        for settle in settles {
            let kept = self.keep_outcome(&settle);
            settle.written.into_iter().for_each(|tell| _ = tell.send(()));
            _ = settle.synced.send(kept.map_err(Arc::new));
        }
    }

    /// Writes an outcome into the space allocated for it, without the index. The next start indexes it.
    fn keep_outcome(&mut self, settle: &Settle) -> Result<(), StoreError> {
        let at = |source| StoreError::io(&self.dir, source);
        let Some(open) = self.open.as_mut().filter(|open| open.is_named && settle.id.is_some()) else {
            return Err(StoreError::Stopped(self.stopped.get().cloned().unwrap_or_default()));
        };
        let end = open.len + settle.bytes.len() as u64;
        let written = write_at(&mut open.file, open.len, &settle.bytes).and_then(|()| {
            // The remains of a batch that was not written completely. Cut only now: the space is needed first.
            let is_cut = cut_after(&open.file, end)?;
            open.file.sync_data().map(|()| is_cut)
        });
        let is_cut = written.map_err(at)?;
        open.len = end;
        settle.id.iter().for_each(|id| open.room.note_outcome(id));
        if is_cut {
            open.room.was_cut(&open.file, end);
        }
        Ok(())
    }

    fn try_write(
        &mut self,
        begins: &[BeginRequest],
        settles: &mut [Settle],
    ) -> Result<Vec<BeginReply>, StoreError> {
        let at = |source| StoreError::io(&self.dir, source);
        // Opened before the index is locked; stays empty until an attempt is accepted.
        if self.open.is_none() {
            let (number, file) = segment::create_next(&self.dir, registry::next(&self.dir))?;
            self.open = Some(Open::new(number, file));
        }
        let Some(open) = &mut self.open else { return Err(StoreError::Closed) };
        let now = settles.iter().map(|settle| settle.bytes.len() as u64).sum();
        let path = segment::open_path(&self.dir, open.number);
        let further = begins.iter().map(|(begin, _)| begin.room);
        // Space first: with a full disk nothing is reserved, and nothing is sent.
        open.room
            .allocate_room(&open.file, open.len, now, further)
            .map_err(|source| StoreError::io(&path, source))?;
        // Locked before the budgets are read: otherwise two processes could spend the same money.
        let tx = self.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut bytes = Vec::new();
        let mut apply = |line: &SegmentLine, line_bytes: &[u8]| {
            let start = open.len + bytes.len() as u64;
            bytes.extend_from_slice(line_bytes);
            index::index_line(&tx, open.number, start, line_bytes.len() as u64, line)
        };
        // Before the attempts, which may need what these outcomes release.
        settles.iter().try_for_each(|settle| apply(&settle.line, &settle.bytes))?;
        let (mut begun, mut going) = (Vec::new(), Vec::new());
        for (begin, _) in begins {
            let ordinal = open.attempts + going.len() as u64 + 1;
            let (line, decision) = decide_attempt(&tx, &self.dir, open.number, ordinal, begin)?;
            if let Some(line) = line {
                apply(&line, &line.to_json_line())?;
            }
            begun.push(match decision {
                BeginReply::Refused { scope, spent, cap, .. } => {
                    BeginReply::Refused { scope, spent, cap, unsettled: self.unsettled + going.len() as u64 }
                }
                BeginReply::Go { id } => {
                    going.push((id.clone(), begin.room, begin.outlives));
                    BeginReply::Go { id }
                }
                other => other,
            });
        }
        if bytes.is_empty() {
            tx.commit()?;
            return Ok(begun);
        }
        // The name before the first line: a segment with lines that is not in the log counts as foreign.
        if !open.is_named {
            registry::record_begun(&self.dir, open.number)?;
            // Nor may a power cut take away the name of a file whose lines are reported as synced.
            sync_names(&self.dir).map_err(at)?;
            unsent::create_marks(&self.index, open.number);
            open.is_named = true;
        }
        let io = |source| StoreError::io(&path, source);
        write_at(&mut open.file, open.len, &bytes).map_err(io)?;
        // The system has the lines: they survive this process, and slots need not wait for the sync.
        for settle in settles.iter_mut() {
            settle.written.take().into_iter().for_each(|tell| _ = tell.send(()));
        }
        open.file.sync_data().map_err(io)?;
        // After the sync: a segment that is shorter than its index states counts as cut.
        index::record_progress(&tx, open.number, open.len + bytes.len() as u64)?;
        tx.commit()?;
        // Nothing fails from here on.
        open.len += bytes.len() as u64;
        open.attempts += going.len() as u64;
        self.unsettled += going.iter().filter(|(.., outlives)| !outlives).count() as u64;
        going.iter().for_each(|(id, room, _)| open.room.promise_room(id, *room));
        settles.iter().flat_map(|settle| &settle.id).for_each(|id| open.room.note_outcome(id));
        Ok(begun)
    }

    /// Continues in a new segment and seals the full one in a thread of its own.
    fn rotate_segment(&mut self) {
        // If no new segment can be created, the old one keeps growing and the next batch tries again.
        let (Some(open), Ok((number, file))) =
            (&self.open, segment::create_next(&self.dir, registry::next(&self.dir)))
        else {
            return;
        };
        let Ok(room) = open.room.moved_to(&file) else {
            _ = remove_if_there(&segment::open_path(&self.dir, number));
            return;
        };
        let full = self.open.replace(Open { room, ..Open::new(number, file) });
        let Some(full) = full else { return };
        // Leases live as long as their owner's lock.
        let moved = self.db.execute("UPDATE leases SET owner = ?1 WHERE owner = ?2", [number, full.number]);
        if moved.is_ok() {
            self.seal_open(full);
        }
    }

    fn seal_open(&mut self, mut open: Open) {
        let (dir, index) = (self.dir.clone(), self.index.clone());
        // After a failed write, outcomes were written without the index.
        let is_behind = self.stopped.get().is_some();
        // Errors here lose nothing: the open segment stays, and the next start seals it.
        let sealing = thread::Builder::new().name("seal".into()).spawn(move || {
            // Sealing may need the space that was allocated and not used.
            _ = open.file.set_len(open.len);
            // A segment in the log has to stay, even if its first write failed.
            if open.len == 0 && !open.is_named {
                _ = remove_if_there(&segment::open_path(&dir, open.number));
                return;
            }
            let Ok(frames) = segment::compress_open(&dir, open.number, &mut open.file) else { return };
            let indexed = index::open_database(&index).map_err(StoreError::from).and_then(|mut db| {
                let tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
                match is_behind {
                    true => catch_up(&tx, &dir, open.number)?,
                    false => index::record_frames(&tx, open.number, &frames)?,
                }
                Ok(tx.commit()?)
            });
            // If the sealing is not recorded, the next start does it.
            if indexed.is_ok() && note_sealed(&dir, open.number).is_ok() {
                _ = remove_if_there(&segment::open_path(&dir, open.number));
                unsent::remove_marks(&index, open.number);
            }
        });
        self.sealing.extend(sealing.ok());
    }
}

/// Whether an attempt may be sent: not if the reply has arrived, another process is asking, or it could
/// exceed a cap.
fn decide_attempt(
    db: &Connection,
    dir: &Path,
    number: Number,
    ordinal: u64,
    begin: &Begin,
) -> Result<(Option<SegmentLine>, BeginReply), StoreError> {
    if let Some((owner, expires_ms)) = index::lease_of_key(db, &begin.key)?
        && owner != number
    {
        // The owner of a file whose lock is free is gone, even if its lease has not expired.
        let alive = segment::open_path(dir, owner).exists()
            && segment::take_over(dir, owner).map_err(|source| StoreError::io(dir, source))?.is_none();
        if alive && expires_ms > now_ms() {
            return Ok((None, BeginReply::Busy));
        }
        if segment::open_path(dir, owner).exists() || segment::sealed_path(dir, owner).exists() {
            // It may have stored the reply before it ended.
            catch_up(db, dir, owner)?;
        }
    }
    if index::place_of_reply(db, &begin.key)?.is_some() {
        return Ok((None, BeginReply::Stored));
    }
    for (scope, cap) in &begin.caps {
        let (spent, _) = index::spent_of_budget(db, scope)?;
        // What costs nothing may be asked even if a budget is used up.
        if let Some(cap) = *cap
            && spent + begin.reserved > cap
            && begin.reserved > Usd::ZERO
        {
            // Which run it is only matters to the journal.
            let scope = if scope.starts_with(super::RUN) { "run" } else { scope };
            return Ok((None, BeginReply::Refused { scope: scope.to_owned(), spent, cap, unsettled: 0 }));
        }
    }
    let id = format!("{number:06}#{ordinal}");
    index::grant_lease(db, &begin.key, number, now_ms().saturating_add(begin.lease_ms))?;
    let line = SegmentLine::Attempt(Attempt {
        id: id.clone(),
        key: begin.key,
        scopes: begin.caps.iter().map(|(scope, _)| scope.clone()).collect(),
        reserved_picousd: begin.reserved,
        at_ms: now_ms(),
        batch: begin.outlives,
    });
    Ok((Some(line), BeginReply::Go { id }))
}
