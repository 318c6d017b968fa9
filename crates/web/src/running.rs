//! A run started from a page: one at a time, in a separate thread, visible to all visitors.
//!
//! It equals a run from the command line: the same locks, the same caps, the same question before uncapped
//! spending, which is shown on the page until it is answered.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;
use tokio::sync::watch;

use crate::config::{Config, sections};
use crate::llm;
use crate::pipeline::{self, Progress, RunError, Selection, current_time, remaining_cost};
use crate::recipe::Recipe;
use crate::record::State as Left;
use crate::release::{self, ReleaseError};
use crate::store::{Manifest, Workspace};
use riddlemill_pipeline::stages::{Pulse, Stop, draft};

/// Most messages kept of a run.
const MAX_LINES: usize = 50;
/// How long a question waits for an answer. The run holds its recipe meanwhile, also against the command line.
const ANSWERED: Duration = Duration::from_secs(600);
/// Said where it was not answered.
const UNANSWERED: &str = "nobody answered the question about the money, so nothing was asked of an endpoint; start the run again \
                          and answer it";
/// How long it waits while nobody has the page open.
const LOOKED_AT: Duration = Duration::from_secs(30);

/// The server's run, current or finished.
#[derive(Default)]
pub(super) struct Runner {
    current: Mutex<Option<Arc<Running>>>,
}

/// A run.
pub(super) struct Running {
    state: Mutex<RunState>,
    answered: Condvar,
    changed: watch::Sender<u64>,
    stop: Stop,
    /// When a page last showed it.
    looked: Mutex<Instant>,
}

/// A run's state for pages.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct RunState {
    by: String,
    at: String,
    recipes: Vec<&'static str>,
    offline: bool,
    stages: Vec<RunStage>,
    /// The note of the current stage.
    note: String,
    /// Messages for the visitor.
    lines: Vec<String>,
    /// A question that has to be answered first.
    question: Option<String>,
    /// Whether a stop was requested.
    stopping: bool,
    over: bool,
    /// Why it ended early.
    failed: Option<String>,
    /// Candidates, with their number of rows.
    built: Vec<(&'static str, u64)>,
    #[serde(skip)]
    answer: Option<bool>,
}

/// A stage of a run.
#[derive(Clone, Debug, Serialize)]
struct RunStage {
    recipe: String,
    stage: String,
    /// `working`, `made` or `fresh`.
    state: &'static str,
    /// Records to process; 0 if unknown.
    records: u64,
    done: u64,
    out: u64,
    /// Records by state, without those that went on unchanged.
    states: Vec<(&'static str, u64)>,
    seconds: f64,
    /// Estimated remaining seconds.
    left: Option<f64>,
    #[serde(skip)]
    begun: Instant,
    /// When the part of it began to which `records` and `done` refer.
    #[serde(skip)]
    part_begun: Instant,
}

impl Runner {
    /// The current or last run.
    pub(super) fn current_run(&self) -> Option<Arc<Running>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Starts a run; `None` if one is in progress.
    pub(super) fn start_run(
        &self,
        config: Config,
        recipes: Vec<&'static Recipe>,
        offline: bool,
        by: &str,
    ) -> Option<Arc<Running>> {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if current.as_ref().is_some_and(|running| !running.run_state().over) {
            return None;
        }
        let state = RunState {
            by: by.to_string(),
            at: current_time(),
            recipes: recipes.iter().map(|recipe| recipe.name).collect(),
            offline,
            ..RunState::default()
        };
        let running = Arc::new(Running {
            state: Mutex::new(state),
            answered: Condvar::new(),
            changed: watch::Sender::new(0),
            stop: Stop::default(),
            looked: Mutex::new(Instant::now()),
        });
        *current = Some(running.clone());
        let own = running.clone();
        std::thread::spawn(move || own.run_to_end(&config, &recipes, offline));
        Some(running)
    }

    /// Stops the current run when the server stops.
    pub(super) fn stop_run(&self) {
        if let Some(running) = self.current_run() {
            running.request_stop();
        }
    }
}

impl Running {
    /// The current state, for a page.
    pub(super) fn run_state(&self) -> RunState {
        *self.looked.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        let mut state = self.lock().clone();
        for stage in state.stages.iter_mut().filter(|stage| stage.state == "working") {
            stage.seconds = stage.begun.elapsed().as_secs_f64();
            // Right after the start the elapsed time is nearly 0, which would make the pace infinite.
            let pace = stage.done as f64 / stage.part_begun.elapsed().as_secs_f64().max(1e-3);
            let left = stage.records.saturating_sub(stage.done) as f64;
            // What works on after its last record has a time left that nobody knows.
            stage.left = (stage.done > 0 && left > 0.0).then(|| left / pace);
        }
        state
    }

    /// Whether it is over.
    pub(super) fn is_over(&self) -> bool {
        self.lock().over
    }

    /// Notified of every change.
    pub(super) fn watch_changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// Answers the run's question.
    pub(super) fn answer_question(&self, yes: bool) {
        // A late click, after the question was answered or withdrawn, must not count.
        self.update_state(|state| state.answer = state.question.is_some().then_some(yes));
        self.answered.notify_all();
    }

    /// Requests a stop: finished stages remain.
    pub(super) fn request_stop(&self) {
        self.stop.request_stop();
        // A run that has ended meanwhile must not look as if it were still stopping.
        self.update_state(|state| state.stopping = !state.over);
        self.answered.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, RunState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn update_state<T>(&self, what: impl FnOnce(&mut RunState) -> T) -> T {
        let result = what(&mut self.lock());
        self.changed.send_modify(|count| *count += 1);
        result
    }

    fn run_to_end(&self, config: &Config, recipes: &[&'static Recipe], offline: bool) {
        let made = self.run_recipes(config, recipes, offline);
        self.update_state(|state| {
            state.over = true;
            state.note.clear();
            state.question = None;
            // After a requested stop there is no error to show.
            state.failed = made.err().filter(|_| !self.stop.is_requested()).map(|error| error.to_string());
        });
    }

    fn run_recipes(
        &self,
        config: &Config,
        recipes: &[&'static Recipe],
        offline: bool,
    ) -> Result<(), ReleaseError> {
        let settings: sections::Run = config.typed_settings(None, "run");
        let max = (settings.max_usd > 0.0).then(|| llm::Usd::from_dollars(settings.max_usd));
        let selection = Selection { offline, run: llm::Run::new(max), ..Selection::default() };
        draft::refuse_lost_replies(config).map_err(RunError::from)?;
        for (at, recipe) in recipes.iter().enumerate() {
            let console = RunConsole { running: self, config, ahead: &recipes[at..], selection: &selection };
            let manifests = pipeline::run_recipe(config, recipe, &selection, &self.stop, &console)?;
            if manifests.len() == recipe.steps().len() && release::is_published(recipe) {
                let (built, _) = release::build_candidate(config, recipe, &manifests)?;
                release::restore_versions(&Workspace::new(&config.root), recipe)?;
                self.update_state(|state| state.built.push((recipe.name, built.rows)));
            }
        }
        Ok(())
    }
}

/// The console of a run on a page.
struct RunConsole<'a> {
    running: &'a Running,
    config: &'a Config,
    ahead: &'a [&'static Recipe],
    selection: &'a Selection,
}

impl RunConsole<'_> {
    fn at_work(state: &mut RunState) -> Option<&mut RunStage> {
        state.stages.iter_mut().rev().find(|stage| stage.state == "working")
    }

    fn end_stage(&self, recipe: &str, manifest: &Manifest, state: &'static str) {
        let counts = &manifest.counts;
        let states = Left::ALL.into_iter().filter(|s| *s != Left::Kept && counts.records_in_state(*s) > 0);
        let states = states.map(|s| (s.code(), counts.records_in_state(s))).collect();
        self.running.update_state(|run| {
            let of = |stage: &&mut RunStage| stage.recipe == recipe && stage.stage == manifest.stage;
            let made = match run.stages.iter_mut().find(of) {
                Some(made) => made,
                None => {
                    // A fresh stage is reported without having begun.
                    run.stages.push(new(recipe, &manifest.stage, counts.records_in));
                    let last = run.stages.len() - 1;
                    &mut run.stages[last]
                }
            };
            made.seconds = if state == "made" { made.begun.elapsed().as_secs_f64() } else { 0.0 };
            (made.state, made.states, made.out, made.left) = (state, states, counts.records_out, None);
            // A part of it may have counted requests.
            (made.records, made.done) = (counts.records_in, counts.records_in);
            run.note.clear();
        });
    }
}

fn new(recipe: &str, stage: &str, records: u64) -> RunStage {
    RunStage {
        recipe: recipe.to_string(),
        stage: stage.to_string(),
        state: "working",
        records,
        done: 0,
        out: 0,
        states: Vec::new(),
        seconds: 0.0,
        left: None,
        begun: Instant::now(),
        part_begun: Instant::now(),
    }
}

impl Pulse for RunConsole<'_> {
    fn report_done(&self, records: u64) {
        self.running.update_state(|state| {
            if let Some(stage) = RunConsole::at_work(state) {
                stage.done += records;
            }
        });
    }

    fn begin_part(&self, _: &str, records: u64) {
        self.running.update_state(|state| {
            if let Some(stage) = RunConsole::at_work(state) {
                (stage.records, stage.done, stage.part_begun) = (records, 0, Instant::now());
            }
        });
    }

    fn show_status(&self, message: &str) {
        self.running.update_state(|state| state.note = message.to_string());
    }

    fn notify_user(&self, message: &str) {
        self.running.update_state(|state| {
            if state.lines.len() < MAX_LINES {
                state.lines.push(message.to_string());
            }
        });
    }

    fn ask_consent(&self, question: &str) -> Option<bool> {
        self.running
            .update_state(|state| (state.question, state.answer) = (Some(question.to_string()), None));
        let mut state = self.running.lock();
        let asked = Instant::now();
        *self.running.looked.lock().unwrap_or_else(PoisonError::into_inner) = asked;
        let mut given_up = false;
        while state.answer.is_none() && !self.running.stop.is_requested() && !given_up {
            let waited = self.running.answered.wait_timeout(state, Duration::from_millis(500));
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            let looked = *self.running.looked.lock().unwrap_or_else(PoisonError::into_inner);
            // An open page listens for changes; without the script it is loaded again.
            let unseen = self.running.changed.receiver_count() == 0 && looked.elapsed() > LOOKED_AT;
            given_up = asked.elapsed() > ANSWERED || unseen;
        }
        state.question = None;
        let answer = state.answer.take();
        if given_up && answer.is_none() && state.lines.len() < MAX_LINES {
            state.lines.push(UNANSWERED.to_string());
        }
        let yes = answer.unwrap_or(false);
        // `update` takes the same lock, and watching pages have to notice that the question is gone.
        drop(state);
        self.running.update_state(|_| ());
        Some(yes)
    }

    fn estimate_cost(&self, requests: usize) -> Option<String> {
        remaining_cost(self.config, self.ahead, self.selection, requests)
    }
}

impl Progress for RunConsole<'_> {
    fn begin_stage(&self, recipe: &str, stage: &str, _: &str, records: u64) {
        self.running.update_state(|state| state.stages.push(new(recipe, stage, records)));
    }

    fn end_stage(&self, recipe: &str, manifest: &Manifest) {
        self.end_stage(recipe, manifest, "made");
    }

    fn report_fresh(&self, recipe: &str, manifest: &Manifest) {
        self.end_stage(recipe, manifest, "fresh");
    }
}
