//! `fetch`: downloads the dumps that sources name by url.

use std::fmt::Write;
use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{HumanBytes, ProgressBar, ProgressState, ProgressStyle};
use serde_json::json;

use super::args::{Fetch, Global};
use super::exit::{Exit, Failure};
use super::output::{self, count};
use super::progress::time_left;
use crate::config::{Config, unknown};
use crate::fetch::{Fetched, FilePins, LOCK, Meter, Patience, Pin, Wanted, fetch_file as get};
use crate::stages::withdrawal::Withdrawals;
use crate::store::{Lock, Workspace};

pub(super) fn fetch_sources(args: &Fetch, global: &Global) -> Result<Exit, Failure> {
    let config = output::load_config(global)?;
    let wanted = wanted_sources(&config, &args.sources)?;
    if wanted.is_empty() {
        let hint = "hint: give a [[source]] a `url`; pipeline.toml names some, commented out";
        return Err(Failure::usage(format!("no source has a url\n  {hint}")));
    }
    // Two fetches at once would overwrite each other's pins.
    let _lock = Lock::take_lock(&Workspace::new(&config.root).recipe_folder(".fetch"))?;
    let mut pins = FilePins::read_pins(&config.root)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime =
        runtime.map_err(|e| Failure { exit: Exit::Io, message: format!("cannot start the network: {e}") })?;
    let (mut done, mut failed) = (Vec::new(), Vec::new());
    let withdrawn = Withdrawals::load(&Workspace::new(&config.root))?;
    for (source, wanted) in &wanted {
        // A withdrawn dump is not downloaded again.
        let pinned = pins.find_pin(&wanted.file).and_then(|pin| withdrawn.of_dump(&pin.sha256));
        if let Some(tombstone) = pinned.filter(|_| !args.update) {
            let day = tombstone.at.get(..10).unwrap_or_default();
            eprintln!("{source}: {} was withdrawn on {day}", wanted.file);
            continue;
        }
        let bar = DownloadBar::new(source, global.quiet || global.json);
        match runtime.block_on(get(&config.root, wanted, &mut pins, args.update, Patience::default(), &bar)) {
            Ok(fetched) => {
                bar.clear_bar();
                let (word, pin) = describe_fetched(&fetched);
                if !global.quiet && !global.json {
                    eprintln!(
                        "{source}: {word} {}, {}, sha256 {}",
                        pin.file,
                        count(pin.bytes, "byte"),
                        pin.sha256
                    );
                }
                done.push(json!({ "source": source, "state": word, "file": pin.file, "url": pin.url, "bytes": pin.bytes, "sha256": pin.sha256 }));
            }
            // One missing file does not prevent the others.
            Err(error) => {
                bar.clear_bar();
                failed.push(format!("{source}: {error}"));
            }
        }
    }
    if global.json {
        output::print_json(&done)?;
    }
    match failed.is_empty() {
        true => Ok(Exit::Done),
        false => Err(Failure { exit: Exit::Io, message: failed.join("\n") }),
    }
}

fn describe_fetched(fetched: &Fetched) -> (&'static str, &Pin) {
    match fetched {
        Fetched::There(pin) => ("unchanged", pin),
        Fetched::Adopted(pin) => ("pinned as found:", pin),
        Fetched::New(pin) => ("fetched", pin),
        Fetched::Updated(pin, _) => ("updated", pin),
    }
}

/// The sources with a url: all, or those given.
fn wanted_sources(config: &Config, names: &[String]) -> Result<Vec<(String, Wanted)>, Failure> {
    let mut wanted = Vec::new();
    // All names first, so that a wrong one is reported before anything is downloaded.
    for name in names {
        match config.sources.iter().find(|s| s.name == *name) {
            None => {
                let known = config.sources.iter().map(|source| source.name.as_str());
                return Err(Failure::usage(unknown("source", name, known)));
            }
            Some(source) if source.url.is_none() => {
                return Err(Failure::usage(format!("source {name:?} has no url")));
            }
            Some(_) => {}
        }
    }
    for source in config.sources.iter().filter(|s| names.is_empty() || names.contains(&s.name)) {
        let Some(url) = source.url.clone() else { continue };
        if source.path.contains(['*', '?', '[']) {
            let what = format!(
                "source {:?}: `path` = {:?} is a pattern; a url needs one file",
                source.name, source.path
            );
            return Err(Failure::usage(what));
        }
        let file = source.path.clone();
        if file == LOCK || file.ends_with('/') {
            return Err(Failure::usage(format!(
                "source {:?}: {file:?} cannot be the path of a dump; set `path`",
                source.name
            )));
        }
        wanted.push((source.name.clone(), Wanted { url, file, sha256: source.sha256.clone() }));
    }
    Ok(wanted)
}

/// Between two lines of a log.
const LOGGED: Duration = Duration::from_secs(30);

/// A bar of bytes on a terminal; elsewhere a line now and then, and for each new attempt.
struct DownloadBar {
    source: String,
    quiet: bool,
    bar: Mutex<ProgressBar>,
    begun: Instant,
    logged: Mutex<Instant>,
}

impl DownloadBar {
    fn new(source: &str, quiet: bool) -> DownloadBar {
        let bar = if quiet || !std::io::stderr().is_terminal() {
            ProgressBar::hidden()
        } else {
            ProgressBar::no_length()
        };
        let style = ProgressStyle::with_template("{prefix} {bar:30} {bytes}/{total_bytes} ({left} left)");
        let left = |state: &ProgressState, out: &mut dyn Write| {
            // A bar is only text: nothing is lost where it cannot be written.
            let left = state.len().map(|all| time_left(state.pos(), all, state.elapsed()));
            let _ = out.write_str(left.as_deref().unwrap_or("?"));
        };
        let bar = bar
            .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).with_key("left", left))
            .with_prefix(source.to_string());
        let begun = Instant::now();
        DownloadBar { source: source.into(), quiet, bar: Mutex::new(bar), begun, logged: Mutex::new(begun) }
    }

    fn with_bar(&self, f: impl FnOnce(&ProgressBar)) {
        // A poisoned lock is a panic elsewhere, and the bar does not matter then.
        f(&self.bar.lock().unwrap_or_else(|e| e.into_inner()));
    }

    fn clear_bar(&self) {
        self.with_bar(ProgressBar::finish_and_clear);
    }
}

impl Meter for DownloadBar {
    fn report_bytes(&self, bytes: u64, total: Option<u64>) {
        self.with_bar(|bar| {
            if let Some(total) = total {
                bar.set_length(total);
            }
            bar.set_position(bytes);
        });
        let mut logged = self.logged.lock().unwrap_or_else(|e| e.into_inner());
        if !self.quiet && !std::io::stderr().is_terminal() && logged.elapsed() >= LOGGED {
            *logged = Instant::now();
            let rest = total.map_or_else(String::new, |total| {
                format!(" of {}, {} left", HumanBytes(total), time_left(bytes, total, self.begun.elapsed()))
            });
            eprintln!("{}: {}{rest}", self.source, HumanBytes(bytes));
        }
    }

    fn report_retry(&self, why: &str, wait: Duration) {
        if !self.quiet {
            let line = format!("{}: {why}; again in {:.0} s", self.source, wait.as_secs_f64());
            self.with_bar(|bar| bar.suspend(|| eprintln!("{line}")));
        }
    }
}
