//! What all stages have in common: the kinds of their rows and how these are committed, how stages end early or refuse what
//! cannot be used, and whom they tell.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use riddlemill_benchmarks::record_kind::RecordKind;
use riddlemill_llm::{CancellationToken, Limits, Run, Usd};
use riddlemill_record::{Column, Declared, Post, Record, Typed};
use riddlemill_tables::{self as store, CommitError, Manifest, StageWriter};
use riddlemill_text::join::{Expected, Watch};

use crate::config::{Config, sections};

/// What a stage's rows are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StageRows {
    /// [`riddlemill_record::Post`].
    Posts,
    /// Records of a kind that a folder declares, whose columns steps fill.
    Kind(&'static RecordKind),
    /// Records with a group for each step: [`riddlemill_record::Declared`].
    Groups,
}

impl StageRows {
    /// Every kind of rows: posts, the kinds that folders declare, and records in groups.
    pub fn every_kind() -> Vec<StageRows> {
        let kinds = riddlemill_benchmarks::all_benchmarks().iter().flat_map(|benchmark| &benchmark.kinds);
        let mut all = vec![StageRows::Posts];
        all.extend(kinds.map(|kind| StageRows::Kind(kind)));
        all.push(StageRows::Groups);
        all
    }

    /// The rows of a kind; without one, records in groups.
    pub fn of_kind(kind: Option<&'static RecordKind>) -> StageRows {
        kind.map_or(StageRows::Groups, StageRows::Kind)
    }

    /// The rows of a benchmark's records.
    pub fn of_benchmark(benchmark: &str) -> StageRows {
        StageRows::of_kind(
            riddlemill_benchmarks::find_benchmark(benchmark).and_then(|benchmark| benchmark.records),
        )
    }

    /// The columns of such rows, in the order of the file.
    pub fn columns(self) -> &'static [Column] {
        match self {
            StageRows::Posts => Post::COLUMNS,
            StageRows::Kind(kind) => kind.columns,
            StageRows::Groups => Declared::COLUMNS,
        }
    }

    /// Whether they have a column.
    pub fn has_column(self, name: &str) -> bool {
        self.columns().iter().any(|column| column.name == name)
    }

    /// Their name in the reference.
    pub fn name(self) -> &'static str {
        match self {
            StageRows::Posts => "posts",
            StageRows::Kind(kind) => kind.name,
            StageRows::Groups => "declared records",
        }
    }
}

/// What a stage is called and leaves.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// The kind of the step, as `benchmark show` names it.
    pub name: &'static str,
    /// Grows whenever the stage's code would give another output for the same input, so that what an older program made is
    /// made again.
    pub version: u32,
    /// The table of its settings in pipeline.toml; "" where its folder alone says what it does.
    pub section: &'static str,
    /// What it writes.
    pub rows: StageRows,
    /// What it asks, or does, for people who read a list of steps; "" where its name says it.
    pub detail: &'static str,
}

/// Why a stage ended early.
#[derive(Debug, thiserror::Error)]
pub enum StageError {
    /// A file could not be read or written.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// The user asked to stop. What was finished before is kept.
    #[error("stopped")]
    Stopped,
    /// The reply store could not be read or written.
    #[error(transparent)]
    Replies(#[from] riddlemill_llm::store::StoreError),
    /// The votes could not be read.
    #[error(transparent)]
    Votes(#[from] riddlemill_files::log::LogError),
    /// Nobody agreed to pay, and no cap is set.
    #[error("{0}")]
    NotAgreed(String),
    /// A setting, a file that settings name, or what somebody asked for cannot be used.
    #[error(transparent)]
    Settings(#[from] Unusable),
    /// A prompt cannot be read or filled in.
    #[error(transparent)]
    Prompt(#[from] riddlemill_llm::prompt::PromptError),
    /// An endpoint cannot be asked.
    #[error(transparent)]
    Engine(#[from] riddlemill_llm::EngineError),
    /// A pack of replies cannot be read.
    #[error(transparent)]
    Pack(#[from] riddlemill_llm::PackError),
    /// The disk has no room for what the stage would write.
    #[error("{0}")]
    NoRoom(String),
}

/// Set when the user wants to stop; stages check it between parts.
#[derive(Debug, Default)]
pub struct Stop {
    asked: AtomicBool,
    awaited: AtomicUsize,
}

/// While it is held, a stop waits for what it was taken for.
#[derive(Debug)]
pub struct Awaited<'a>(&'a Stop);

impl Drop for Awaited<'_> {
    fn drop(&mut self) {
        self.0.awaited.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Stop {
    /// Asks to stop.
    pub fn request_stop(&self) {
        self.asked.store(true, Ordering::Relaxed);
    }

    /// Whether a stop was asked for.
    pub fn is_requested(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// Begins something that is paid for and must not be cut off: requests to endpoints, whose replies are stored.
    pub fn begin_paid_work(&self) -> Awaited<'_> {
        self.awaited.fetch_add(1, Ordering::SeqCst);
        Awaited(self)
    }

    /// Whether a process may end without losing anything but the stage it is in: computing can be repeated.
    pub fn may_end(&self) -> bool {
        self.awaited.load(Ordering::SeqCst) == 0
    }

    /// An error where a stop was asked for.
    ///
    /// # Errors
    /// [`StageError::Stopped`].
    pub fn fail_if_stopped(&self) -> Result<(), StageError> {
        if self.is_requested() { Err(StageError::Stopped) } else { Ok(()) }
    }
}

/// Receives the progress of a stage.
pub trait Pulse: Sync {
    /// This many more records are done.
    fn report_done(&self, records: u64);
    /// Another part of the stage begins, with this name and number of records, whose rate does not predict the rest; ""
    /// for the stage itself.
    fn begin_part(&self, _name: &str, _records: u64) {}
    /// Other current information, in one line.
    fn show_status(&self, _words: &str) {}
    /// A message that the user has to see, once.
    fn notify_user(&self, _words: &str) {}
    /// Asks the user a yes-or-no question; `None` if there is no way to ask.
    fn ask_consent(&self, _question: &str) -> Option<bool> {
        None
    }
    /// Asks the person at this machine, and nobody elsewhere, a yes-or-no question whose answer is kept; `None` if there is
    /// no way to ask.
    fn ask_trust(&self, _question: &str) -> Option<bool> {
        None
    }
    /// The most that everything still to be asked would cost, in words, in addition to this many requests that are
    /// mentioned already; `None` if nothing more is known.
    fn estimate_cost(&self, _requests: usize) -> Option<String> {
        None
    }
}

/// What the asking is done with.
#[derive(Clone, Copy)]
pub struct LlmContext<'a> {
    /// The workspace's settings.
    pub config: &'a Config,
    /// The recipe: its settings and its budget.
    pub recipe: &'static str,
    /// The run that is charged.
    pub run: &'a Run,
    /// Sends nothing.
    pub offline: bool,
    /// Asks again for what failed for good.
    pub retry_failed: bool,
    /// Uses half answers that an earlier version stored, as drafts that people may have voted on.
    pub accept_before: bool,
    /// Looked at while requests are in flight.
    pub stop: &'a Stop,
    /// Told what is done.
    pub pulse: &'a dyn Pulse,
}

impl LlmContext<'_> {
    /// What an engine may do, and what ends its asking.
    pub(in crate::stages) fn engine_limits(&self) -> (Limits, CancellationToken) {
        let settings: sections::Draft = self.config.typed_settings(Some(self.recipe), "draft");
        let cancel = CancellationToken::new();
        let limits = Limits {
            offline: self.offline,
            retry_failed: self.retry_failed,
            accept_before: self.accept_before,
            cancel: cancel.clone(),
            run: self.run.clone(),
            recipe: Some((
                self.recipe.to_string(),
                (settings.max_usd > 0.0).then(|| Usd::from_dollars(settings.max_usd)),
            )),
            trust: self.config.trust.clone(),
        };
        (limits, cancel)
    }
}

/// A stage that runs a join: its progress is reported in records, and Ctrl-C ends it.
pub struct JoinProgress<'a> {
    stop: &'a Stop,
    pulse: &'a dyn Pulse,
    records: u64,
    done: Mutex<Done>,
}

/// What is done of a join.
struct Done {
    /// The share of the join.
    share: f64,
    /// The records that were reported for it.
    told: u64,
    /// The share of the join in the stage.
    of_stage: f64,
    /// Whether the stage goes on after it.
    goes_on: bool,
}

/// The share of a join in a stage that goes on after it, where nothing can be foretold.
const JOIN: f64 = 0.875;

/// Nanoseconds that a record takes that is written after a join. No other core helps with it.
const WRITTEN: f64 = 6_000.0;

impl<'a> JoinProgress<'a> {
    /// For a join of this many records.
    pub fn new(stop: &'a Stop, pulse: &'a dyn Pulse, records: u64) -> Self {
        let done = Done { share: 0.0, told: 0, of_stage: 1.0, goes_on: false };
        JoinProgress { stop, pulse, records, done: Mutex::new(done) }
    }

    /// For a join of this many records, whose pairs are then written, and the records.
    pub fn before_writing(stop: &'a Stop, pulse: &'a dyn Pulse, records: u64) -> Self {
        let done = Done { share: 0.0, told: 0, of_stage: JOIN, goes_on: true };
        JoinProgress { stop, pulse, records, done: Mutex::new(done) }
    }

    /// What is left for the writing.
    pub fn remaining_records(&self) -> u64 {
        self.records - self.lock().told
    }

    fn lock(&self) -> MutexGuard<'_, Done> {
        // A panic in another thread leaves valid numbers, and progress is no reason for a second panic.
        self.done.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watch for JoinProgress<'_> {
    fn is_stopped(&self) -> bool {
        self.stop.is_requested()
    }

    fn report_share(&self, share: f64) {
        let new = {
            let mut done = self.lock();
            done.share += share;
            let records = self.records as f64 * done.of_stage;
            // Sums of shares have rounding errors.
            let records = ((done.share + 1e-9) * records).min(records) as u64;
            let new = records.saturating_sub(done.told);
            done.told += new;
            new
        };
        // After the lock is released, so that a slow pulse does not block the join's other threads.
        if new > 0 {
            self.pulse.report_done(new);
        }
    }

    fn report_forecast(&self, expected: Expected) {
        let mut done = self.lock();
        if done.goes_on {
            let cores = rayon::current_num_threads().max(1) as f64;
            let (join, figures) = (expected.join / cores, expected.figures / cores);
            let written = self.records as f64 * WRITTEN;
            done.of_stage = (join / (join + figures + written).max(1.0)).clamp(0.02, 0.98);
        }
    }
}

/// Rows that were written but are not in place yet.
pub struct NewRows {
    rows: Box<dyn Commit>,
    evidence: BTreeMap<String, String>,
}

impl NewRows {
    /// With evidence that only making them gave.
    pub fn with_evidence(self, evidence: BTreeMap<String, String>) -> NewRows {
        NewRows { evidence, ..self }
    }

    /// Moves them into place.
    ///
    /// # Errors
    /// [`CommitError`] where they cannot be written, or their accounting does not close.
    pub fn commit(self, mut opening: Manifest) -> Result<Manifest, CommitError> {
        if !self.evidence.is_empty() {
            opening.evidence.extend(self.evidence);
            opening.fingerprint = opening.fingerprint_of();
        }
        self.rows.commit(opening)
    }
}

impl<R: Record> From<StageWriter<R>> for NewRows {
    fn from(writer: StageWriter<R>) -> NewRows {
        NewRows { rows: Box::new(writer), evidence: BTreeMap::new() }
    }
}

trait Commit {
    fn commit(self: Box<Self>, opening: Manifest) -> Result<Manifest, CommitError>;
}

impl<R: Record> Commit for StageWriter<R> {
    fn commit(self: Box<Self>, opening: Manifest) -> Result<Manifest, CommitError> {
        StageWriter::commit(*self, opening)
    }
}

/// A setting, a file that settings name, or a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unusable {
    /// The key of the settings, or the file and line; `None` where it is the request itself.
    pub at: Option<String>,
    /// What is wrong.
    pub what: String,
    /// What to write instead.
    pub hint: Option<String>,
}

impl Unusable {
    /// What is wrong at a key of the settings, or at a line of a file.
    pub fn at_place(at: impl Into<String>, what: impl fmt::Display) -> Unusable {
        Unusable { at: Some(at.into()), what: what.to_string(), hint: None }
    }

    /// What is wrong with a request.
    pub fn of_request(what: impl fmt::Display) -> Unusable {
        Unusable { at: None, what: what.to_string(), hint: None }
    }

    /// With what to write instead.
    #[must_use]
    pub fn with_hint(self, hint: impl Into<String>) -> Unusable {
        Unusable { hint: Some(hint.into()), ..self }
    }
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(at) = &self.at {
            write!(f, "{at}: ")?;
        }
        f.write_str(&self.what)?;
        self.hint.iter().try_for_each(|hint| write!(f, "\n  hint: {hint}"))
    }
}

impl std::error::Error for Unusable {}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use riddlemill_text::join::{Query, Threshold, self_join_watched, similarity_join_watched};

    use super::*;

    #[derive(Default)]
    struct Count(AtomicU64);

    impl Pulse for Count {
        fn report_done(&self, records: u64) {
            self.0.fetch_add(records, Ordering::Relaxed);
        }
    }

    fn texts() -> Vec<String> {
        (0..600u32).map(|n| format!("第{}只鸟在{}天飞过{}座山", n % 701, n % 53, n / 7)).collect()
    }

    #[test]
    fn a_join_reports_every_record_once() {
        let texts = texts();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let (stop, all, one) = (Stop::default(), Count::default(), Count::default());
        similarity_join_watched(&texts, &JoinProgress::new(&stop, &all, 600));
        let counted = all.0.load(Ordering::Relaxed);
        assert!((580..=600).contains(&counted), "{counted}");
        let query = Query { metric: riddlemill_text::join::Metric::Indel, threshold: Threshold::ONE };
        self_join_watched(&texts, &query, &JoinProgress::new(&stop, &one, 600));
        let counted = one.0.load(Ordering::Relaxed);
        assert!((580..=600).contains(&counted), "{counted}");
    }

    #[test]
    fn a_join_that_is_stopped_compares_nothing_more() {
        let texts = texts();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let (stop, count) = (Stop::default(), Count::default());
        let whole = similarity_join_watched(&texts, &JoinProgress::new(&stop, &count, 600)).effort;
        stop.request_stop();
        let stopped = similarity_join_watched(&texts, &JoinProgress::new(&stop, &count, 600)).effort;
        assert!(whole.compared > 0 && stopped.compared == 0, "{whole:?} {stopped:?}");
    }

    #[test]
    fn it_says_where_what_and_what_to_do() {
        let message = Unusable::at_place("draft.endpoint", "there is no [llm.x]")
            .with_hint("there are y, z")
            .to_string();
        assert_eq!(message, "draft.endpoint: there is no [llm.x]\n  hint: there are y, z");
        assert_eq!(Unusable::of_request("a text of two characters").to_string(), "a text of two characters");
    }
}
