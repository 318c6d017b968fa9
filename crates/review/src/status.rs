//! The progress of a step.

use std::collections::BTreeMap;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::assign::Task;
use super::ballot::{Ballot, Round};
use super::item::Item;
use super::resolve::{Outcome, Pending, Resolution, resolve_item};
use super::votes::{Vote, current_votes};

/// Items by state, and the progress of annotators.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Status {
    /// All items.
    pub items: usize,
    /// Confirmed by people.
    pub confirmed: usize,
    /// Confirmed only with votes of a sample.
    pub synthetic: usize,
    /// Answered by a published set, without votes here.
    pub published: usize,
    /// Provisionally on a draft; also counted under what they wait for.
    pub provisional: usize,
    /// Items that wait for votes, and the number of missing votes, by round.
    pub waiting: BTreeMap<Round, (usize, usize)>,
    /// Items that wait for a decision.
    pub disputed: usize,
    /// Votes on an older text.
    pub stale: usize,
    /// Items that the reviewer changed, of those reviewed after the voters had decided.
    pub modified: Share,
    /// Items whose confirmed text differs from the draft, of those with both.
    pub edited: Share,
    /// By annotator.
    pub annotators: BTreeMap<String, Progress>,
}

/// A share as its two numbers, so that shares can be added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// The numerator.
    pub count: usize,
    /// The denominator.
    pub of: usize,
}

impl Share {
    fn add(&mut self, yes: Option<bool>) {
        self.of += usize::from(yes.is_some());
        self.count += usize::from(yes == Some(true));
    }

    /// As a number, unless the denominator is 0.
    pub fn rate(self) -> Option<f64> {
        (self.of > 0).then(|| self.count as f64 / self.of as f64)
    }
}

/// One annotator's progress.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// Tasks that were not taken over by another.
    pub assigned: usize,
    /// Tasks with a vote on the current text.
    pub done: usize,
    /// Latest votes, assigned or not.
    pub votes: usize,
    /// Of those, votes on an older text.
    pub stale: usize,
    /// Median of the known times.
    pub median_seconds: Option<f64>,
    /// Votes given faster than the item can be read, of those with a known time.
    pub hasty: Share,
}

impl Progress {
    /// Whether enough votes were faster than reading that somebody should check them.
    pub fn is_implausibly_fast(&self) -> bool {
        self.hasty.count >= HASTY_FEWEST && self.hasty.rate().is_some_and(|rate| rate > HASTY_SHARE)
    }
}

/// Characters per second that are impossible to read: 1,800 Chinese ones per minute are three times what a practised
/// reader manages. Four letters of an alphabet count as one.
const READ_A_SECOND: f64 = 30.0;
/// The shortest plausible time for a vote, in seconds.
const LEAST_SECONDS: f64 = 1.0;
/// Fewest hasty votes that are not an accident.
const HASTY_FEWEST: usize = 5;
/// Share of an annotator's timed votes.
const HASTY_SHARE: f64 = 0.25;

/// The shortest time in which an item's content can be read, in seconds.
fn least_seconds(item: &Item) -> f64 {
    let weight = |c: char| if c < '\u{2e80}' { 0.25 } else { 1.0 };
    let characters: f64 =
        item.content.values().map(|value| value.to_string().chars().map(weight).sum::<f64>()).sum();
    (characters / READ_A_SECOND).max(LEAST_SECONDS)
}

/// Whether a vote took less time than reading its item.
pub(crate) fn is_hasty(item: &Item, seconds: f64) -> bool {
    seconds < least_seconds(item)
}

/// Resolves every item of a step, in the order of `items`. `votes` are the step's, by item.
pub fn resolve_all(ballot: &Ballot, items: &[Item], votes: &FxHashMap<&str, Vec<&Vote>>) -> Vec<Resolution> {
    let of = |item: &Item| votes.get(item.id.as_str()).map(Vec::as_slice).unwrap_or_default();
    items.par_iter().map(|item| resolve_item(ballot, item, of(item))).collect()
}

/// Counts the results of [`resolve_all`].
pub fn count_outcomes(
    items: &[Item],
    resolutions: &[Resolution],
    votes: &FxHashMap<&str, Vec<&Vote>>,
    tasks: &[Task],
) -> Status {
    let mut status = Status { items: items.len(), ..Status::default() };
    for resolution in resolutions {
        match &resolution.outcome {
            _ if resolution.published => status.published += 1,
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
    count_progress(&mut status, items, resolutions, votes, tasks);
    status
}

fn count_progress(
    status: &mut Status,
    items: &[Item],
    resolutions: &[Resolution],
    votes: &FxHashMap<&str, Vec<&Vote>>,
    tasks: &[Task],
) {
    let mut people: BTreeMap<&str, (Progress, Vec<f64>)> = BTreeMap::new();
    let mut done: FxHashMap<(&str, &str, Round), bool> = FxHashMap::default();
    for (item, resolution) in items.iter().zip(resolutions) {
        let Some(votes) = votes.get(item.id.as_str()) else { continue };
        let mut least = None;
        for vote in current_votes(votes) {
            let stale = resolution.stale.binary_search(&vote.id).is_ok();
            let (progress, seconds) = people.entry(&vote.annotator).or_default();
            progress.votes += 1;
            progress.stale += usize::from(stale);
            seconds.extend(vote.seconds);
            progress
                .hasty
                .add(vote.seconds.map(|seconds| seconds < *least.get_or_insert_with(|| least_seconds(item))));
            if !tasks.is_empty() {
                done.insert((&vote.item, &vote.annotator, vote.round), !stale);
            }
        }
    }
    let taken_over: std::collections::BTreeSet<(&str, &str, Round)> = tasks
        .iter()
        .filter_map(|task| Some((task.item.as_str(), task.instead_of.as_deref()?, task.round)))
        .collect();
    for task in tasks {
        let key = (task.item.as_str(), task.annotator.as_str(), task.round);
        if !taken_over.contains(&key) {
            let (progress, _) = people.entry(&task.annotator).or_default();
            progress.assigned += 1;
            progress.done += usize::from(done.get(&key) == Some(&true));
        }
    }
    for (annotator, (mut progress, mut seconds)) in people {
        seconds.sort_by(f64::total_cmp);
        let middle = seconds.len() / 2;
        progress.median_seconds = match seconds.len() {
            0 => None,
            count if count % 2 == 1 => Some(seconds[middle]),
            _ => Some((seconds[middle - 1] + seconds[middle]) / 2.0),
        };
        status.annotators.insert(annotator.to_owned(), progress);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ballot::KEEP;
    use crate::value::Values;
    use crate::{ballots, testing};

    fn by_item(votes: &[Vote]) -> FxHashMap<&str, Vec<&Vote>> {
        let mut items: FxHashMap<&str, Vec<&Vote>> = FxHashMap::default();
        votes.iter().for_each(|vote| items.entry(&vote.item).or_default().push(vote));
        items
    }

    fn count_status(ballot: &Ballot, items: &[Item], votes: &[Vote], tasks: &[Task]) -> Status {
        let votes = by_item(votes);
        count_outcomes(items, &resolve_all(ballot, items, &votes), &votes, tasks)
    }

    fn task(item: &str, annotator: &str, instead_of: Option<&str>) -> Task {
        let (item, annotator) = (item.to_owned(), annotator.to_owned());
        Task { item, annotator, instead_of: instead_of.map(Into::into), ..Task::default() }
    }

    /// FLUB's types: three juniors, then a senior, then those who discuss.
    #[test]
    fn every_item_is_somewhere() {
        let mut step = ballots::find_step("flub", "type").unwrap();
        step.draft_ahead = false;
        let ids = ["new", "half", "voted", "done", "modified", "open", "sample"];
        let items: Vec<Item> = ids.iter().map(|id| testing::test_item(&step, id, &[])).collect();
        let item = |id: &str| items.iter().find(|item| item.id == id).unwrap();
        let cast = |id: &str, who: &str, code: &str| {
            testing::test_vote(&step, item(id), Round::Vote, who, testing::one_answer("type", code))
        };
        let look = |id: &str, votes: &[Vote], code: &str, main: &str| {
            // A senior's vote is on the item with the juniors' votes shown.
            let refs: Vec<&Vote> = votes.iter().filter(|vote| vote.item == id).collect();
            let seen = crate::review_item(&step, item(id), &refs);
            let values: Values = [("type", code), ("main_type", main)].into_iter().collect();
            testing::test_vote(&step, &seen, Round::Review, "s", values)
        };
        let mut votes = vec![cast("half", "a", "paradox")];
        for id in ["voted", "done", "modified", "open"] {
            votes.extend(["a", "b", "c"].map(|who| cast(id, who, "paradox")));
        }
        votes.push(look("done", &votes, "paradox", "clear"));
        votes.push(look("modified", &votes, "ambiguity", "clear"));
        votes.push(look("open", &votes, "paradox", "discuss"));
        let sample = |who: &str| Vote { synthetic: true, ..cast("sample", who, "paradox") }.with_id();
        votes.extend(["x", "y", "z"].map(sample));
        let status = count_status(&step, &items, &votes, &[]);
        assert_eq!((status.items, status.confirmed, status.provisional), (7, 2, 0));
        assert_eq!(status.disputed, 1);
        // Without a senior's review a sample decides nothing: all three votes are needed from people.
        assert_eq!(status.waiting[&Round::Vote], (3, 3 + 2 + 3));
        assert_eq!(status.waiting[&Round::Review], (1, 1));
        assert_eq!(status.modified, Share { count: 1, of: 3 });
        assert_eq!(status.modified.rate(), Some(1.0 / 3.0));
        assert_eq!(Share::default().rate(), None);
    }

    #[test]
    fn tasks_count_until_they_are_done_or_taken_over() {
        let step = ballots::find_step("chumor", "screen").unwrap();
        let items: Vec<Item> =
            ["i0", "i1", "i2"].iter().map(|id| testing::test_item(&step, id, &[])).collect();
        let keep = |at: usize, who: &str, seconds: f64| {
            let vote =
                testing::test_vote(&step, &items[at], Round::Vote, who, testing::one_answer("screen", KEEP));
            Vote { seconds: Some(seconds), ..vote }
        };
        let mut stale = keep(1, "a", 9.0);
        stale.content_hash = items[0].content_hash;
        let votes = [keep(0, "a", 3.0), stale.with_id(), keep(2, "b", 4.0)];
        let tasks =
            [task("i0", "a", None), task("i1", "a", None), task("i2", "a", None), task("i2", "b", Some("a"))];
        let status = count_status(&step, &items, &votes, &tasks);
        let of = |who: &str| status.annotators[who].clone();
        let timed = |of: usize| Share { count: 0, of };
        let a =
            Progress { assigned: 2, done: 1, votes: 2, stale: 1, median_seconds: Some(6.0), hasty: timed(2) };
        let b =
            Progress { assigned: 1, done: 1, votes: 1, stale: 0, median_seconds: Some(4.0), hasty: timed(1) };
        assert_eq!((of("a"), of("b")), (a, b));
        assert_eq!(status.stale, 1);
    }

    #[test]
    fn votes_that_nobody_can_have_read_are_reported() {
        let step = ballots::find_step("chumor", "screen").unwrap();
        let text = "很长的笑话".repeat(60);
        let item = |n: usize| {
            let content = [("joke".to_owned(), text.as_str().into())].into_iter().collect();
            Item::new(&step, format!("i{n}"), content, Values::new())
        };
        let items: Vec<Item> = (0..10).map(item).collect();
        let keep = |at: usize, who: &str, seconds: f64| {
            let vote =
                testing::test_vote(&step, &items[at], Round::Vote, who, testing::one_answer("screen", KEEP));
            Vote { seconds: Some(seconds), ..vote }.with_id()
        };
        // Three hundred characters take at least ten seconds.
        let mut votes: Vec<Vote> = (0..10).map(|at| keep(at, "fast", 3.0)).collect();
        votes.extend((0..10).map(|at| keep(at, "slow", if at < 2 { 3.0 } else { 30.0 })));
        let status = count_status(&step, &items, &votes, &[]);
        let of = |who: &str| &status.annotators[who];
        assert_eq!((of("fast").hasty, of("slow").hasty.count), (Share { count: 10, of: 10 }, 2));
        assert!(of("fast").is_implausibly_fast() && !of("slow").is_implausibly_fast());
    }

    #[test]
    fn rewritten_drafts_are_a_share_of_those_decided() {
        let step = ballots::find_step("ruozhibench-gen", "translation").unwrap();
        let items: Vec<Item> = ["i0", "i1", "i2"]
            .iter()
            .map(|id| testing::test_item(&step, id, &[("question_en", "draft")]))
            .collect();
        let accepted = testing::one_answer("verdict", "accept");
        let rewritten: Values = [("verdict", "rewrite"), ("question_en", "better")].into_iter().collect();
        let accepted: Values = accepted
            .iter()
            .map(|(field, value)| (field, value.clone()))
            .chain([("question_en", "draft".into())])
            .collect();
        let votes = [
            testing::test_vote(&step, &items[0], Round::Vote, "a", accepted),
            testing::test_vote(&step, &items[1], Round::Vote, "a", rewritten),
        ];
        let status = count_status(&step, &items, &votes, &[]);
        assert_eq!((status.confirmed, status.edited), (2, Share { count: 1, of: 2 }));
    }
}
