//! Progress: a bar with rate and time left on a terminal, plain lines elsewhere.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};

use super::output::{count, number};
use crate::pipeline::Progress;
use crate::record::State;
use crate::store::Manifest;

/// How a run talks.
pub(super) struct Talk {
    quiet: bool,
    verbose: bool,
    bar: Mutex<Option<(ProgressBar, Instant)>>,
}

impl Talk {
    pub(super) fn new(quiet: bool, verbose: bool) -> Talk {
        Talk { quiet, verbose, bar: Mutex::new(None) }
    }

    fn with<T>(&self, f: impl FnOnce(&mut Option<(ProgressBar, Instant)>) -> T) -> T {
        // A poisoned lock is a panic elsewhere; the bar is the last thing to worry about then.
        f(&mut self.bar.lock().unwrap_or_else(|e| e.into_inner()))
    }
}

impl Progress for Talk {
    fn begin(&self, recipe: &str, stage: &str, why: &str, records: u64) {
        if self.verbose {
            eprintln!("{recipe} {stage}: {why}");
        }
        let bar = match (self.quiet || !std::io::stderr().is_terminal(), records) {
            (true, _) => ProgressBar::hidden(),
            (false, 0) => {
                ProgressBar::new_spinner().with_style(style("{spinner} {prefix} {human_pos} ({per_sec})"))
            }
            (false, n) => ProgressBar::new(n)
                .with_style(style("{prefix} {bar:30} {human_pos}/{human_len} ({per_sec}, {eta} left) {msg}")),
        };
        self.with(|slot| *slot = Some((bar.with_prefix(format!("{recipe} {stage}")), Instant::now())));
    }

    fn advance(&self, records: u64) {
        self.with(|slot| {
            if let Some((bar, _)) = slot {
                bar.inc(records);
            }
        });
    }

    fn say(&self, words: &str) {
        self.with(|slot| {
            if let Some((bar, _)) = slot {
                bar.set_message(words.to_string());
            }
        });
    }

    fn end(&self, recipe: &str, manifest: &Manifest) {
        let seconds = self.with(Option::take).map(|(bar, start)| {
            bar.finish_and_clear();
            start.elapsed().as_secs_f64()
        });
        if !self.quiet {
            let rate = seconds.filter(|s| *s > 1.0).map(|s| format!(", {s:.1} s")).unwrap_or_default();
            eprintln!("{}{rate}", line(recipe, manifest));
        }
    }

    fn fresh(&self, recipe: &str, manifest: &Manifest) {
        if self.verbose {
            eprintln!("{} (fresh)", line(recipe, manifest));
        }
    }
}

/// `flub clean: 2,597 in, 2,590 out (changed 812, dropped 7)`.
pub(super) fn line(recipe: &str, manifest: &Manifest) -> String {
    let counts = &manifest.counts;
    let states = State::ALL.into_iter().filter(|s| *s != State::Kept && counts.state(*s) > 0);
    let states: Vec<String> = states.map(|s| format!("{} {}", s.code(), number(counts.state(s)))).collect();
    let states = if states.is_empty() { String::new() } else { format!(" ({})", states.join(", ")) };
    format!(
        "{recipe} {}: {} in, {} out{states}",
        manifest.stage,
        count(counts.records_in, "record"),
        number(counts.records_out)
    )
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
