//! How far a step is.

use std::collections::BTreeMap;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::assign::Task;
use super::ballot::{Round, Step};
use super::item::Item;
use super::resolve::{Outcome, Pending, Resolution, resolve};
use super::votes::{Vote, current};

/// Items by where they stand, and annotators by how far they are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Status {
    /// All items.
    pub items: usize,
    /// Confirmed by people.
    pub confirmed: usize,
    /// Confirmed by a sample's votes alone.
    pub synthetic: usize,
    /// On a draft for the time being; counted under what they wait for as well.
    pub provisional: usize,
    /// Items that wait for votes, and votes they wait for, by round.
    pub waiting: BTreeMap<Round, (usize, usize)>,
    /// Items that wait for a decision.
    pub disputed: usize,
    /// Votes on another text than today's.
    pub stale: usize,
    /// Items the reviewer changed, of those reviewed after the voters had decided.
    pub modified: Share,
    /// Items whose confirmed text differs from the draft, of those with both.
    pub edited: Share,
    /// By annotator.
    pub annotators: BTreeMap<String, Progress>,
}

/// So many of so many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// So many.
    pub count: usize,
    /// Of so many.
    pub of: usize,
}

impl Share {
    fn add(&mut self, yes: Option<bool>) {
        self.of += usize::from(yes.is_some());
        self.count += usize::from(yes == Some(true));
    }

    /// As a number, where there is anything to divide.
    pub fn rate(self) -> Option<f64> {
        (self.of > 0).then(|| self.count as f64 / self.of as f64)
    }
}

/// How far one annotator is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// Tasks given and not taken over by another.
    pub assigned: usize,
    /// Of those, with a vote on today's text.
    pub done: usize,
    /// Latest votes, assigned or not.
    pub votes: usize,
    /// Of those, on another text than today's.
    pub stale: usize,
    /// Middle of the times taken, where they are known.
    pub median_seconds: Option<f64>,
}

/// Resolves every item of a step, in the order of `items`. `votes` are the step's, by item.
pub fn resolve_all(step: &Step, items: &[Item], votes: &FxHashMap<&str, Vec<&Vote>>) -> Vec<Resolution> {
    let of = |item: &Item| votes.get(item.id.as_str()).map(Vec::as_slice).unwrap_or_default();
    items.par_iter().map(|item| resolve(step, item, of(item))).collect()
}

/// Counts what [`resolve_all`] gave.
pub fn status(
    items: &[Item],
    resolutions: &[Resolution],
    votes: &FxHashMap<&str, Vec<&Vote>>,
    tasks: &[Task],
) -> Status {
    let mut status = Status { items: items.len(), ..Status::default() };
    for resolution in resolutions {
        match &resolution.outcome {
            Outcome::Confirmed { synthetic: true, .. } => status.synthetic += 1,
            Outcome::Confirmed { .. } => status.confirmed += 1,
            Outcome::Provisional { .. } => status.provisional += 1,
            Outcome::Pending(_) => {}
        }
        match resolution.pending() {
            Some(Pending::Waiting { round, votes, .. }) => {
                let waiting = status.waiting.entry(*round).or_default();
                waiting.0 += 1;
                waiting.1 += votes;
            }
            Some(Pending::Adjudicate { .. }) => status.disputed += 1,
            None => {}
        }
        status.stale += resolution.stale.len();
        status.modified.add(resolution.modified);
        status.edited.add(resolution.edited);
    }
    progress(&mut status, items, resolutions, votes, tasks);
    status
}

fn progress(
    status: &mut Status,
    items: &[Item],
    resolutions: &[Resolution],
    votes: &FxHashMap<&str, Vec<&Vote>>,
    tasks: &[Task],
) {
    let mut seconds: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    let mut done: FxHashMap<(&str, &str, Round), bool> = FxHashMap::default();
    for (item, resolution) in items.iter().zip(resolutions) {
        let Some(votes) = votes.get(item.id.as_str()) else { continue };
        for vote in current(votes) {
            let stale = resolution.stale.binary_search(&vote.id).is_ok();
            let progress = status.annotators.entry(vote.annotator.clone()).or_default();
            progress.votes += 1;
            progress.stale += usize::from(stale);
            seconds.entry(&vote.annotator).or_default().extend(vote.seconds);
            done.insert((&vote.item, &vote.annotator, vote.round), !stale);
        }
    }
    let taken_over: std::collections::BTreeSet<(&str, &str, Round)> = tasks
        .iter()
        .filter_map(|task| Some((task.item.as_str(), task.instead_of.as_deref()?, task.round)))
        .collect();
    for task in tasks {
        let key = (task.item.as_str(), task.annotator.as_str(), task.round);
        if !taken_over.contains(&key) {
            let progress = status.annotators.entry(task.annotator.clone()).or_default();
            progress.assigned += 1;
            progress.done += usize::from(done.get(&key) == Some(&true));
        }
    }
    for (annotator, mut seconds) in seconds {
        seconds.sort_by(f64::total_cmp);
        let middle = seconds.len() / 2;
        if let Some(progress) = status.annotators.get_mut(annotator) {
            progress.median_seconds = match seconds.len() {
                0 => None,
                count if count % 2 == 1 => Some(seconds[middle]),
                _ => Some((seconds[middle - 1] + seconds[middle]) / 2.0),
            };
        }
    }
}
