//! The progress of a list of questions.

use std::sync::{Mutex, PoisonError};

use super::answer::Answer;
use super::money::Usd;
use super::store::Usage;

/// The progress of a list of questions at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Items in the list.
    pub total: usize,
    /// Items answered by sending.
    pub done: usize,
    /// Items answered from the store or a sample pack.
    pub stored: usize,
    /// Items that failed.
    pub failed: usize,
    /// Items that wait for a budget, a key or another run.
    pub waiting: usize,
    /// Requests in flight.
    pub in_flight: usize,
    /// Attempts sent so far.
    pub sent: usize,
    /// Prompt tokens bought.
    pub prompt_tokens: u64,
    /// Completion tokens bought.
    pub completion_tokens: u64,
    /// The total charge, including lost attempts.
    pub charged: Usd,
}

impl Progress {
    /// Items that are finished in any way.
    pub fn count_finished(&self) -> usize {
        self.done + self.stored + self.failed + self.waiting
    }
}

/// Counts, and calls the listener.
pub(super) struct Tally<'a> {
    progress: Mutex<Progress>,
    listener: &'a (dyn Fn(&Progress) + Send + Sync),
}

impl<'a> Tally<'a> {
    pub(super) fn new(total: usize, listener: &'a (dyn Fn(&Progress) + Send + Sync)) -> Tally<'a> {
        Tally { progress: Mutex::new(Progress { total, ..Progress::default() }), listener }
    }

    pub(super) fn note_sending(&self) {
        self.change_progress(|progress| {
            progress.in_flight += 1;
            progress.sent += 1;
        });
    }

    pub(super) fn note_returned(&self, usage: Option<Usage>, charged: Usd) {
        let usage = usage.unwrap_or_default();
        self.change_progress(|progress| {
            progress.in_flight -= 1;
            progress.prompt_tokens += usage.prompt_tokens;
            progress.completion_tokens += usage.completion_tokens;
            progress.charged += charged;
        });
    }

    /// Counts an item that is finished; `sent` unless it came from the store or a pack.
    pub(super) fn note_finished(&self, answer: &Answer, sent: bool) {
        self.change_progress(|progress| match answer {
            Answer::Reply(_) if sent => progress.done += 1,
            Answer::Reply(_) => progress.stored += 1,
            Answer::Held(_) => progress.waiting += 1,
            Answer::Failed(_) => progress.failed += 1,
        });
    }

    fn change_progress(&self, change: impl FnOnce(&mut Progress)) {
        let now = {
            let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
            change(&mut progress);
            *progress
        };
        (self.listener)(&now);
    }
}
