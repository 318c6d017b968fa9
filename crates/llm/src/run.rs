//! A run as a budget: everything that is sent between one start of the program and its end, over all stages,
//! recipes and endpoints.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use riddlemill_record::Evidence;

use super::money::Usd;
use super::store::{RUN, now_ms};

/// The name under which a run's spending is journalled, and its cap. Clones are the same run.
#[derive(Clone, Debug)]
pub struct Run {
    scope: String,
    max: Option<Usd>,
    agreed: Arc<AtomicBool>,
    left: Arc<Mutex<BTreeMap<String, Failing>>>,
    remarks: Arc<Mutex<BTreeSet<String>>>,
}

/// How an endpoint fails, and how many times in a row.
#[derive(Clone, Debug, Default)]
struct Failing {
    how: Evidence,
    /// The same without what differs between requests, such as their ids.
    shape: String,
    times: u32,
    left: bool,
    /// Whether it has answered anything in this run.
    answered: bool,
}

impl Run {
    /// A new run with this cap; `None` means no cap of its own.
    pub fn new(max: Option<Usd>) -> Run {
        static RUNS: AtomicU32 = AtomicU32::new(0);
        // Runs that share a store must not share a budget: clock, process and count distinguish them.
        let count = RUNS.fetch_add(1, Ordering::Relaxed);
        Run {
            scope: format!("{RUN}{}-{}-{count}", now_ms(), std::process::id()),
            max,
            agreed: Arc::default(),
            left: Arc::default(),
            remarks: Arc::default(),
        }
    }

    /// Records that an item failed at an endpoint, or was answered. After `leave_after` equal failures in a
    /// row that concern the whole endpoint, the endpoint is left alone. How many there are in a row by now.
    pub(super) fn record_result(&self, endpoint: &str, failed: Option<&Evidence>, leave_after: u32) -> u32 {
        let mut all = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let failing = all.entry(endpoint.to_owned()).or_default();
        let Some(how) = failed else {
            // An answer shows that the endpoint works, so earlier failures are not in a row with later ones. Of one that was
            // left, it is an answer to what was sent before.
            match failing.left {
                true => failing.answered = true,
                false => *failing = Failing { answered: true, ..Failing::default() },
            }
            return 0;
        };
        let shape = shape_of(how);
        if failing.shape != shape {
            // Different failures are not one cause; an endpoint that was left stays left, for the cause of that.
            let (left, answered) = (failing.left, failing.answered);
            let how = if left { std::mem::take(&mut failing.how) } else { how.clone() };
            *failing = Failing { how, shape, times: 0, left, answered };
        }
        failing.times += 1;
        failing.left |= leave_after > 0 && failing.times >= leave_after;
        failing.times
    }

    /// Whether an endpoint has answered anything in this run.
    pub(super) fn has_answered(&self, endpoint: &str) -> bool {
        let all = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(endpoint).is_some_and(|failing| failing.answered)
    }

    /// Leaves an endpoint alone for the rest of the run, at once.
    pub(super) fn leave_endpoint(&self, endpoint: &str, evidence: Evidence) {
        let mut all = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let failing = all.entry(endpoint.to_owned()).or_default();
        if !failing.left {
            let shape = shape_of(&evidence);
            (failing.how, failing.shape, failing.left) = (evidence, shape, true);
        }
    }

    /// How an endpoint failed that is left alone for the rest of the run; `None` for others.
    pub fn failure_of_endpoint(&self, endpoint: &str) -> Option<Evidence> {
        let all = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(endpoint).filter(|failing| failing.left).map(|failing| failing.how.clone())
    }

    /// Records something that its user should know although nothing failed.
    pub(super) fn record_remark(&self, what: String) {
        self.remarks.lock().unwrap_or_else(PoisonError::into_inner).insert(what);
    }

    /// What its user should know although nothing failed, as `llm.mine: …` with the remedy.
    pub fn list_remarks(&self) -> Vec<String> {
        self.remarks.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    /// Whether it has a cap of its own.
    pub fn is_capped(&self) -> bool {
        self.max.is_some()
    }

    /// Whether somebody agreed to its cost.
    pub fn is_agreed(&self) -> bool {
        self.agreed.load(Ordering::Relaxed)
    }

    /// Records that somebody agreed to the cost of everything it asks.
    pub fn agree_to_cost(&self) {
        self.agreed.store(true, Ordering::Relaxed);
    }

    /// The budget's name in the journal, and its cap.
    pub(super) fn budget_cap(&self) -> (String, Option<Usd>) {
        (self.scope.clone(), self.max)
    }
}

/// A failure without the words that have digits in them, behind its status: ids, times and counts.
fn shape_of(how: &str) -> String {
    let mut words = how.split_whitespace();
    let first = words.next().unwrap_or_default();
    let rest = words.map(|word| if word.contains(|c: char| c.is_ascii_digit()) { "#" } else { word });
    [first].into_iter().chain(rest).collect::<Vec<_>>().join(" ")
}

impl Default for Run {
    fn default() -> Run {
        Run::new(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(run: &Run, how: &str, leave_after: u32) -> u32 {
        run.record_result("e", Some(&Evidence::from(how)), leave_after)
    }

    #[test]
    fn an_endpoint_is_left_after_equal_failures_in_a_row() {
        let run = Run::new(None);
        assert_eq!(times(&run, "503 busy, request 17", 3), 1);
        assert_eq!(times(&run, "503 busy, request 18", 3), 2, "ids differ between requests");
        assert_eq!(times(&run, "500 busy, request 18", 3), 1, "the status does not");
        assert_eq!(times(&run, "500 down, request 18", 3), 1);
        assert_eq!(times(&run, "500 down, request 19", 3), 2);
        assert!(!run.has_answered("e"));
        assert_eq!(run.record_result("e", None, 3), 0);
        assert!(run.has_answered("e") && !run.has_answered("f"));
        assert_eq!([(); 2].map(|()| times(&run, "500 down", 3)), [1, 2]);
        assert_eq!(run.failure_of_endpoint("e"), None);
        assert_eq!(times(&run, "500 down", 3), 3);
        assert_eq!(run.failure_of_endpoint("e").as_deref(), Some("500 down"));
        assert_eq!(run.failure_of_endpoint("f"), None, "another one");
        // What answers what was sent before, or fails otherwise, brings it not back.
        assert_eq!(run.record_result("e", None, 3), 0);
        assert!(run.failure_of_endpoint("e").is_some());
        assert_eq!(times(&run, "503 busy", 3), 1);
        assert_eq!(run.failure_of_endpoint("e").as_deref(), Some("500 down"), "why it was left");
        assert!(run.has_answered("e"));
    }

    #[test]
    fn without_a_number_of_failures_none_is_left() {
        let run = Run::new(None);
        assert_eq!([(); 4].map(|()| times(&run, "500 down", 0)), [1, 2, 3, 4]);
        assert_eq!(run.failure_of_endpoint("e"), None);
    }

    #[test]
    fn who_leaves_an_endpoint_at_once_says_why_once() {
        let run = Run::new(None);
        run.leave_endpoint("e", "it costs too much".into());
        run.leave_endpoint("e", "another cause".into());
        assert_eq!(run.failure_of_endpoint("e").as_deref(), Some("it costs too much"));
        assert!(!run.has_answered("e"));
        // An answer to what was sent before.
        assert_eq!(run.record_result("e", None, 3), 0);
        assert!(run.has_answered("e") && run.failure_of_endpoint("e").is_some());
        // It is one of the failures in a row.
        assert_eq!(times(&run, "it costs too much", 3), 1);
    }

    #[test]
    fn a_run_is_one_budget_and_no_others() {
        let (run, free) = (Run::new(Some(Usd::from_dollars(2.0))), Run::default());
        assert!(run.is_capped() && !free.is_capped());
        assert_eq!((run.budget_cap().1, free.budget_cap().1), (Some(Usd::from_dollars(2.0)), None));
        assert!(run.budget_cap().0.starts_with(RUN) && run.budget_cap().0 != free.budget_cap().0);
        let same = run.clone();
        assert_eq!(same.budget_cap(), run.budget_cap());
        assert!(!run.is_agreed());
        same.agree_to_cost();
        assert!(run.is_agreed() && !free.is_agreed());
        same.record_remark("b".into());
        run.record_remark("a".into());
        run.record_remark("b".into());
        assert_eq!(run.list_remarks(), ["a", "b"]);
    }
}
