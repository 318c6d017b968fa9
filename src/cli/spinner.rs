//! Shows that a verb is still working if it has printed nothing for a while.

use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// The indicator of the current verb.
static BUSY: Mutex<BusyBar> = Mutex::new(BusyBar::Done);

enum BusyBar {
    /// The start, and the indicator once it is shown.
    Since(Option<ProgressBar>),
    /// Something was printed.
    Done,
}

/// After two seconds, shows on a terminal that `name` is working, and since when, until [`stop_spinner`] is called.
pub(super) fn start_spinner(name: String, style: ProgressStyle) {
    // A log or a pipe has no use for a spinner.
    if !std::io::stderr().is_terminal() {
        return;
    }
    with_busy(|busy| *busy = BusyBar::Since(None));
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_secs(2));
        with_busy(|busy| {
            // Something may have been printed in the meantime.
            if let BusyBar::Since(bar) = busy {
                // The verb started two seconds before its spinner.
                let spinner = ProgressBar::new_spinner().with_elapsed(Duration::from_secs(2));
                let spinner = spinner.with_style(style).with_prefix(name);
                spinner.enable_steady_tick(Duration::from_millis(200));
                *bar = Some(spinner);
            }
        });
    });
}

/// Something is printed: removes the indicator permanently.
pub(super) fn stop_spinner() {
    with_busy(|busy| {
        if let BusyBar::Since(Some(bar)) = busy {
            bar.finish_and_clear();
        }
        *busy = BusyBar::Done;
    });
}

fn with_busy(f: impl FnOnce(&mut BusyBar)) {
    // All output passes here, and after a panic in another thread it must still be printed.
    f(&mut BUSY.lock().unwrap_or_else(PoisonError::into_inner));
}
