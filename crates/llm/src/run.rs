//! A run as a budget: all that is sent between one start of the program and its end, over every stage, recipe and
//! endpoint.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::money::Usd;
use super::store::{RUN, now_ms};

/// The name under which a run's spending is journalled, and the most it may spend. Clones are the same run.
#[derive(Clone, Debug)]
pub struct Run {
    scope: String,
    max: Option<Usd>,
    agreed: Arc<AtomicBool>,
    left: Arc<Mutex<BTreeMap<String, Failing>>>,
}

/// How an endpoint fails, and how often it did in a row.
#[derive(Clone, Debug)]
struct Failing {
    how: String,
    times: u32,
    left: bool,
}

impl Run {
    /// A new run that may spend so much; without a bound of its own where `None`.
    pub fn new(max: Option<Usd>) -> Run {
        static RUNS: AtomicU32 = AtomicU32::new(0);
        // No two runs that share a store may share a budget: clock, process and count tell them apart.
        let count = RUNS.fetch_add(1, Ordering::Relaxed);
        Run {
            scope: format!("{RUN}{}-{}-{count}", now_ms(), std::process::id()),
            max,
            agreed: Arc::default(),
            left: Arc::default(),
        }
    }

    /// Notes that an item failed at an endpoint, or was answered. Of what no other request would fare better with, so
    /// many alike in a row are enough to leave the endpoint alone.
    pub(super) fn note(&self, endpoint: &str, failed: Option<&str>, leave_after: u32) {
        let mut all = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(how) = failed else {
            all.remove(endpoint);
            return;
        };
        let failing = all.entry(endpoint.to_owned()).or_insert_with(|| Failing {
            how: how.to_owned(),
            times: 0,
            left: false,
        });
        if failing.how != how {
            *failing = Failing { how: how.to_owned(), times: 0, left: failing.left };
        }
        failing.times += 1;
        failing.left |= leave_after > 0 && failing.times >= leave_after;
    }

    /// How an endpoint failed that is left alone for the rest of the run; `None` where it is not.
    pub fn left(&self, endpoint: &str) -> Option<String> {
        let all = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(endpoint).filter(|failing| failing.left).map(|failing| failing.how.clone())
    }

    /// Whether a cap of its own bounds what it spends.
    pub fn is_capped(&self) -> bool {
        self.max.is_some()
    }

    /// Whether somebody agreed to what it pays.
    pub fn is_agreed(&self) -> bool {
        self.agreed.load(Ordering::Relaxed)
    }

    /// Notes that somebody agrees to what it pays, for all that it asks.
    pub fn agree(&self) {
        self.agreed.store(true, Ordering::Relaxed);
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
