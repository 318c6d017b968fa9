//! Progress: a bar with rate and remaining time on a terminal, occasional lines elsewhere.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressState, ProgressStyle};

use super::args::Global;
use super::ask::{ask_question, can_ask};
use super::output::format_count;
use super::spinner::stop_spinner;
use super::stage_table::{StageTable, StageTableRow};
use crate::config::Config;
use crate::pipeline::{Progress, Selection, remaining_cost};
use crate::recipe::Recipe;
use crate::stages::Pulse;
use crate::store::Manifest;

/// Interval of progress lines in a log.
const LOG_SECS: u64 = 30;

/// The progress of a task.
pub(super) struct TaskProgress {
    work: Arc<Work>,
    /// The stage of which this is a part, and when that began.
    stage: Option<(String, Instant)>,
    shown: BarDisplay,
}

/// What is done of a task.
struct Work {
    name: String,
    /// The total; 0 if unknown.
    total: u64,
    done: AtomicU64,
    start: Instant,
    over: Mutex<bool>,
    /// Signalled once it is over.
    ended: Condvar,
}

enum BarDisplay {
    /// Not shown.
    Nothing,
    /// On a terminal.
    Drawn(ProgressBar),
    /// In a log, by a thread of its own: a stage whose next record takes minutes still says that it works.
    Logged,
}

impl Work {
    /// Prints a line every [`LOG_SECS`] until the task is over.
    fn print_log(&self) {
        let mut over = self.over.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let waited = self.ended.wait_timeout_while(over, Duration::from_secs(LOG_SECS), |over| !*over);
            over = waited.unwrap_or_else(PoisonError::into_inner).0;
            if *over {
                return;
            }
            let done = self.done.load(Ordering::Relaxed);
            eprintln!("{}", log_line(&self.name, done, self.total, self.start.elapsed()));
        }
    }

    fn end_task(&self) {
        *self.over.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.ended.notify_all();
    }
}

impl TaskProgress {
    /// Starts a task with `total` records; 0 if unknown.
    pub(super) fn new(name: String, total: u64, quiet: bool) -> TaskProgress {
        // The spinner of `busy` would otherwise be drawn over the bar.
        stop_spinner();
        let work = Arc::new(Work {
            name,
            total,
            done: AtomicU64::new(0),
            start: Instant::now(),
            over: Mutex::new(false),
            ended: Condvar::new(),
        });
        let shown = match (quiet, std::io::stderr().is_terminal()) {
            (true, _) => BarDisplay::Nothing,
            (false, true) => {
                let bar = if total == 0 { ProgressBar::new_spinner() } else { ProgressBar::new(total) };
                let bar = bar.with_style(bar_style(total, false)).with_prefix(work.name.clone());
                // Last: the first tick draws the bar with the style that it has.
                bar.enable_steady_tick(Duration::from_millis(200));
                BarDisplay::Drawn(bar)
            }
            (false, false) => {
                let work = Arc::clone(&work);
                std::thread::spawn(move || work.print_log());
                BarDisplay::Logged
            }
        };
        TaskProgress { work, stage: None, shown }
    }

    /// [`TaskProgress::new`] for a verb: hidden if the flags say so.
    pub(super) fn of_verb(name: &str, total: u64, global: &Global) -> TaskProgress {
        TaskProgress::new(name.to_string(), total, global.quiet || global.json)
    }

    /// Another part of the stage, with its own rate.
    fn begin_part(&self, name: &str, total: u64, quiet: bool) -> TaskProgress {
        let (stage, start) = self.stage.clone().unwrap_or_else(|| (self.work.name.clone(), self.work.start));
        // A stage that goes on after a part passes an empty name.
        let name = if name.is_empty() { stage.clone() } else { format!("{stage}, {name}") };
        let mut bar = TaskProgress::new(name, total, quiet);
        bar.stage = Some((stage, start));
        bar
    }

    /// Since its stage began.
    fn elapsed_time(&self) -> Duration {
        self.stage.as_ref().map_or(self.work.start, |(_, start)| *start).elapsed()
    }

    /// Prints a line: in a log directly, on a terminal above the bar.
    fn print_message(&self, message: &str) {
        match &self.shown {
            BarDisplay::Nothing => {}
            BarDisplay::Drawn(bar) => bar.suspend(|| eprintln!("{message}")),
            BarDisplay::Logged => eprintln!("{message}"),
        }
    }

    /// Removes the bar from the terminal, and ends the lines of a log.
    pub(super) fn clear_bar(&self) {
        self.work.end_task();
        if let BarDisplay::Drawn(bar) = &self.shown {
            bar.finish_and_clear();
        }
    }
}

impl Drop for TaskProgress {
    fn drop(&mut self) {
        self.clear_bar();
    }
}

impl Pulse for TaskProgress {
    fn report_done(&self, records: u64) {
        self.work.done.fetch_add(records, Ordering::Relaxed);
        if let BarDisplay::Drawn(bar) = &self.shown {
            bar.inc(records);
        }
    }

    fn show_status(&self, message: &str) {
        if let BarDisplay::Drawn(bar) = &self.shown {
            // A template with a message would show an empty second line before the first one arrives.
            if bar.message().is_empty() {
                bar.set_style(bar_style(self.work.total, true));
            }
            bar.set_message(message.to_string());
        }
    }

    fn notify_user(&self, message: &str) {
        TaskProgress::print_message(self, message);
    }
}

/// `flub dedup: 412 k of 1.00 M, 1,373/s, 8 min left`.
fn log_line(name: &str, done: u64, total: u64, elapsed: Duration) -> String {
    let (at, rate) = (short_number(done as f64), short_number(records_per_second(done, elapsed)));
    match total {
        // What counts more than was announced says nothing about what is left.
        total if total == 0 || total < done => format!("{name}: {at}, {rate}/s"),
        total if total == done => format!("{name}: {at} of {}, {rate}/s", short_number(total as f64)),
        _ => {
            format!(
                "{name}: {at} of {}, {rate}/s, {} left",
                short_number(total as f64),
                time_left(done, total, elapsed)
            )
        }
    }
}

/// Records in a second, since the task began.
fn records_per_second(done: u64, elapsed: Duration) -> f64 {
    done as f64 / elapsed.as_secs_f64().max(1e-3)
}

/// The time left if the rest is as fast as the whole was until now. Not by what was done lately: a task that
/// waits for one slow record would have centuries left.
pub(super) fn time_left(done: u64, total: u64, elapsed: Duration) -> String {
    match done {
        // No rate is known before the first record.
        0 => "?".to_owned(),
        done if done >= total => "nothing".to_owned(),
        _ => {
            let secs = elapsed.as_secs_f64() * total.saturating_sub(done) as f64 / done as f64;
            // Limited because `from_secs_f64` panics on a time that does not fit.
            format_time(Duration::from_secs_f64(secs.min(1e8)))
        }
    }
}

/// A number in about five characters: 950, 9,999, 12.3 k, 1.30 M.
fn short_number(n: f64) -> String {
    if n < 9_999.5 {
        return if n < 9.95 && n.fract() > 0.05 { format!("{n:.1}") } else { format_count(n.round() as u64) };
    }
    // The bounds are where rounding would add a digit.
    let (scaled, unit) = match n {
        n if n < 999_500.0 => (n / 1e3, "k"),
        n if n < 999_500_000.0 => (n / 1e6, "M"),
        n => (n / 1e9, "G"),
    };
    let digits = if scaled < 9.995 { 2 } else { usize::from(scaled < 99.95) };
    format!("{scaled:.digits$} {unit}")
}

/// A duration in one or two units: 8 s, 3 min, 2 h 05 min.
pub(super) fn format_time(time: Duration) -> String {
    // Rounded up, so that a task with work left never shows 0 s.
    match time.as_secs_f64().ceil() as u64 {
        secs @ ..=99 => format!("{secs} s"),
        secs @ ..=5_999 => format!("{} min", secs.div_ceil(60)),
        secs => format!("{} h {:02} min", secs / 3600, secs % 3600 / 60),
    }
}

fn bar_style(total: u64, message: bool) -> ProgressStyle {
    let mut template = match total {
        0 => "{spinner} {prefix}  {at}  {rate}/s  {for}".to_string(),
        _ => "{prefix} {wide_bar} {at}/{of}  {rate}/s  {left} left".to_string(),
    };
    if message {
        template.push_str("\n  {wide_msg}");
    }
    style_of(&template)
}

fn style_of(template: &str) -> ProgressStyle {
    type Out<'a> = &'a mut dyn std::fmt::Write;
    // The template is valid.
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    style
        .with_key("at", |state: &ProgressState, out: Out<'_>| {
            let _ = out.write_str(&short_number(state.pos() as f64));
        })
        .with_key("of", |state: &ProgressState, out: Out<'_>| {
            let _ = out.write_str(&short_number(state.len().unwrap_or(0) as f64));
        })
        .with_key("rate", |state: &ProgressState, out: Out<'_>| {
            let _ = out.write_str(&short_number(records_per_second(state.pos(), state.elapsed())));
        })
        .with_key("left", |state: &ProgressState, out: Out<'_>| {
            let _ = out.write_str(&time_left(state.pos(), state.len().unwrap_or(0), state.elapsed()));
        })
        .with_key("for", |state: &ProgressState, out: Out<'_>| {
            let _ = out.write_str(&format_time(state.elapsed()));
        })
}

pub(super) fn spinner_style() -> ProgressStyle {
    style_of("{spinner} {prefix}, {for}")
}

/// The console of a run.
pub(super) struct RunConsole<'a> {
    quiet: bool,
    verbose: bool,
    bar: Mutex<Option<TaskProgress>>,
    ahead: Option<RemainingWork<'a>>,
    /// Of the first recipe of the remaining work.
    table: Mutex<Option<StageTable>>,
}

/// The remaining work of a run.
pub(super) struct RemainingWork<'a> {
    pub config: &'a Config,
    pub recipes: &'a [&'static Recipe],
    pub selection: &'a Selection,
    /// The stages that this run has been through.
    pub passed: &'a Mutex<Vec<Manifest>>,
}

impl<'a> RunConsole<'a> {
    pub(super) fn new(quiet: bool, verbose: bool, ahead: Option<RemainingWork<'a>>) -> RunConsole<'a> {
        let recipe = ahead.as_ref().and_then(|ahead| ahead.recipes.first());
        let table = Mutex::new(recipe.map(|recipe| StageTable::new(recipe, verbose)));
        RunConsole { quiet, verbose, bar: Mutex::new(None), ahead, table }
    }

    /// Prints what the table of stages gives away.
    fn print_table(&self, lines: impl FnOnce(&mut StageTable) -> Vec<String>) {
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        let lines = table.as_mut().map(lines).unwrap_or_default();
        lines.iter().filter(|_| !self.quiet).for_each(|line| eprintln!("{line}"));
    }

    /// Removes what was begun from the terminal, and prints the rest of the table of stages, also after a stage
    /// that was stopped.
    pub(super) fn finish(&self) {
        if let Some(bar) = self.with_bar(Option::take) {
            bar.clear_bar();
        }
        self.print_table(StageTable::remaining_lines);
    }

    /// The row of a stage, which later recipes of this run may share.
    fn stage_row(&self, manifest: &Manifest, took: Duration) -> StageTableRow {
        let Some(ahead) = &self.ahead else { return StageTableRow::made_stage(manifest, took, &[]) };
        let mut passed = ahead.passed.lock().unwrap_or_else(PoisonError::into_inner);
        let row = StageTableRow::made_stage(manifest, took, &passed);
        passed.push(manifest.clone());
        row
    }

    /// Begins something that is no stage, such as an evaluation's requests.
    pub(super) fn start_task(&self, name: &str, total: u64) {
        let bar = TaskProgress::new(name.to_owned(), total, self.quiet);
        self.with_bar(|slot| *slot = Some(bar));
    }

    fn with_bar<T>(&self, f: impl FnOnce(&mut Option<TaskProgress>) -> T) -> T {
        // A poisoned lock is a panic elsewhere, and the bar does not matter then.
        f(&mut self.bar.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Pulse for RunConsole<'_> {
    fn report_done(&self, records: u64) {
        self.with_bar(|bar| {
            if let Some(bar) = bar {
                bar.report_done(records);
            }
        });
    }

    fn begin_part(&self, name: &str, records: u64) {
        self.with_bar(|bar| {
            if let Some(stage) = bar.take() {
                stage.clear_bar();
                *bar = Some(stage.begin_part(name, records, self.quiet));
            }
        });
    }

    fn show_status(&self, message: &str) {
        self.with_bar(|bar| {
            if let Some(bar) = bar {
                bar.show_status(message);
            }
        });
    }

    fn notify_user(&self, message: &str) {
        self.with_bar(|bar| match bar {
            Some(bar) => bar.print_message(message),
            None if self.quiet => {}
            None => eprintln!("{message}"),
        });
    }

    fn ask_consent(&self, question: &str) -> Option<bool> {
        if !can_ask() {
            return None;
        }
        self.with_bar(|bar| match bar {
            // The steady tick would draw the bar over the question.
            Some(TaskProgress { shown: BarDisplay::Drawn(bar), .. }) => {
                bar.suspend(|| ask_question(question))
            }
            _ => ask_question(question),
        })
    }

    fn ask_trust(&self, question: &str) -> Option<bool> {
        self.ask_consent(question)
    }

    fn estimate_cost(&self, requests: usize) -> Option<String> {
        let ahead = self.ahead.as_ref()?;
        remaining_cost(ahead.config, ahead.recipes, ahead.selection, requests)
    }
}

impl Progress for RunConsole<'_> {
    fn begin_stage(&self, recipe: &str, stage: &str, why: &str, records: u64) {
        if self.verbose {
            eprintln!("{recipe} {stage}: {why}");
        }
        let bar = TaskProgress::new(format!("{recipe} {stage}"), records, self.quiet);
        self.with_bar(|slot| *slot = Some(bar));
    }

    fn end_stage(&self, _recipe: &str, manifest: &Manifest) {
        // The bar has to be gone before the row is printed, or its remains stay above it.
        let took = self.with_bar(Option::take).map(|bar| {
            bar.clear_bar();
            bar.elapsed_time()
        });
        let row = self.stage_row(manifest, took.unwrap_or_default());
        self.print_table(|table| table.add_row(row));
    }

    fn report_fresh(&self, _recipe: &str, manifest: &Manifest) {
        let row = self.stage_row(manifest, Duration::ZERO);
        // A row of several stages must not span one that is not in it.
        self.print_table(|table| if self.verbose { table.add_row(row) } else { table.remaining_lines() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_fit() {
        let shown = [0.0, 0.4, 7.0, 950.0, 9_999.0, 12_345.0, 131_000.0, 999_700.0, 1_304_000.0, 2.5e9]
            .map(short_number);
        assert_eq!(shown, ["0", "0.4", "7", "950", "9,999", "12.3 k", "131 k", "1.00 M", "1.30 M", "2.50 G"]);
        let times =
            [0.2, 42.0, 100.0, 3_000.0, 7_500.0].map(|secs| format_time(Duration::from_secs_f64(secs)));
        assert_eq!(times, ["1 s", "42 s", "2 min", "50 min", "2 h 05 min"]);
    }

    #[test]
    fn a_part_has_its_own_rate_and_its_stage_goes_on() {
        let stage = TaskProgress::new("flub dedup".to_owned(), 100, true);
        let embeddings = stage.begin_part("embeddings", 100, true);
        embeddings.report_done(40);
        let rest = embeddings.begin_part("", 100, true);
        let names = (embeddings.work.name.as_str(), rest.work.name.as_str());
        assert_eq!(names, ("flub dedup, embeddings", "flub dedup"));
        assert_eq!(rest.work.done.load(Ordering::Relaxed), 0);
        assert!(rest.work.start > stage.work.start && rest.elapsed_time() >= embeddings.work.start.elapsed());
    }

    #[test]
    fn a_log_has_rate_and_one_time_left() {
        let line = log_line("flub dedup", 412_000, 1_000_000, Duration::from_secs(300));
        assert_eq!(line, "flub dedup: 412 k of 1.00 M, 1,373/s, 8 min left");
        assert_eq!(
            log_line("flub import", 412_000, 0, Duration::from_secs(10)),
            "flub import: 412 k, 41.2 k/s"
        );
        assert_eq!(
            log_line("flub dedup", 0, 198_000, Duration::from_secs(60)),
            "flub dedup: 0 of 198 k, 0/s, ? left"
        );
    }

    #[test]
    fn a_stage_that_stands_has_no_centuries_left() {
        // 173 of 198 thousand after three minutes, and then nothing for two more.
        let at = |secs| time_left(173_000, 198_000, Duration::from_secs(secs));
        assert_eq!((at(180), at(300)), ("27 s".to_owned(), "44 s".to_owned()));
        assert_eq!(time_left(198_000, 198_000, Duration::from_secs(300)), "nothing");
    }

    #[test]
    fn the_lines_of_a_log_end_with_their_task() {
        let bar = TaskProgress::new("flub dedup".to_owned(), 100, true);
        let work = Arc::clone(&bar.work);
        let log = std::thread::spawn(move || work.print_log());
        drop(bar);
        log.join().unwrap();
    }

    #[test]
    fn a_log_never_says_that_nothing_is_left_of_what_goes_on() {
        let line = |done| log_line("flub respond", done, 350, Duration::from_secs(50));
        assert_eq!(line(1672), "flub respond: 1,672, 33/s");
        assert_eq!(line(350), "flub respond: 350 of 350, 7/s");
        assert_eq!(line(349), "flub respond: 349 of 350, 7.0/s, 1 s left");
    }
}
