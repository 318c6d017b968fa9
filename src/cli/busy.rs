//! A sign of life of a verb that has printed nothing for a while.

use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// What a verb shows that has said nothing for a while.
static BUSY: Mutex<Busy> = Mutex::new(Busy::Done);

enum Busy {
    /// Since when, and what is shown once that is long ago.
    Since(Option<ProgressBar>),
    /// Something was said.
    Done,
}

/// After two seconds a terminal is told that `name` is at work, and since when, until [`heard`] is called.
pub(super) fn busy(name: String, style: ProgressStyle) {
    if !std::io::stderr().is_terminal() {
        return;
    }
    with_busy(|busy| *busy = Busy::Since(None));
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_secs(2));
        with_busy(|busy| {
            if let Busy::Since(bar) = busy {
                let spinner = ProgressBar::new_spinner().with_elapsed(Duration::from_secs(2));
                let spinner = spinner.with_style(style).with_prefix(name);
                spinner.enable_steady_tick(Duration::from_millis(200));
                *bar = Some(spinner);
            }
        });
    });
}

/// Something is said: what was shown until now goes, and does not come again.
pub(super) fn heard() {
    with_busy(|busy| {
        if let Busy::Since(Some(bar)) = busy {
            bar.finish_and_clear();
        }
        *busy = Busy::Done;
    });
}

fn with_busy(f: impl FnOnce(&mut Busy)) {
    f(&mut BUSY.lock().unwrap_or_else(PoisonError::into_inner));
}
