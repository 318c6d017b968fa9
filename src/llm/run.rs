//! A run as a budget: all that is sent between one start of the program and its end, over every stage, recipe and
//! endpoint.

use std::sync::atomic::{AtomicU32, Ordering};

use super::money::Usd;
use super::store::{RUN, now_ms};

/// The name under which a run's spending is journalled, and the most it may spend. Clones are the same run.
#[derive(Clone, Debug)]
pub struct Run {
    scope: String,
    max: Option<Usd>,
}

impl Run {
    /// A new run that may spend so much; without a bound of its own where `None`.
    pub fn new(max: Option<Usd>) -> Run {
        static RUNS: AtomicU32 = AtomicU32::new(0);
        // No two runs that share a store may share a budget: clock, process and count tell them apart.
        let count = RUNS.fetch_add(1, Ordering::Relaxed);
        Run { scope: format!("{RUN}{}-{}-{count}", now_ms(), std::process::id()), max }
    }

    /// The budget's name in the journal, and its cap.
    pub(super) fn cap(&self) -> (String, Option<Usd>) {
        (self.scope.clone(), self.max)
    }
}

impl Default for Run {
    fn default() -> Run {
        Run::new(None)
    }
}
