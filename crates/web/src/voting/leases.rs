//! Which items are open on whose page, so that two people rarely answer one of which a single vote is needed.
//!
//! A lease is no right and no lock: who answers later, or after it ended, is still heard. It only puts the
//! item behind others when the next person asks for one. Leases are in memory: after a restart of the server
//! nobody has one.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;

use crate::review::ballot::Round;

/// How long an open page counts. Whoever is away for longer loses nothing: the item is only offered to others.
const HELD: Duration = Duration::from_secs(30 * 60);
/// More entries than this are cleared of those that have ended.
const MANY: usize = 4096;

/// A recipe, a step, a round and an item.
type Seat = (&'static str, String, Round, String);

/// The open pages.
#[derive(Default)]
pub(crate) struct Leases(Mutex<FxHashMap<Seat, Vec<(String, Instant)>>>);

/// The open pages while one more is opened: two people who ask at the same time get different items.
pub(crate) struct Opening<'l> {
    held: MutexGuard<'l, FxHashMap<Seat, Vec<(String, Instant)>>>,
    recipe: &'static str,
    step: &'l str,
    round: Round,
    now: Instant,
}

impl Leases {
    /// Begins to open a page of a step.
    pub(crate) fn begin_opening<'l>(
        &'l self,
        recipe: &'static str,
        step: &'l str,
        round: Round,
    ) -> Opening<'l> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if held.len() > MANY {
            held.retain(|_, people| people.iter().any(|(_, since)| now.duration_since(*since) < HELD));
        }
        Opening { held, recipe, step, round, now }
    }

    /// Ends a person's lease of an item, once they have answered or skipped it.
    pub(crate) fn end_lease(&self, recipe: &'static str, step: &str, round: Round, item: &str, person: &str) {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let open_ballot = (recipe, step.to_owned(), round, item.to_owned());
        if let Some(people) = held.get_mut(&open_ballot) {
            people.retain(|(name, _)| name != person);
            if people.is_empty() {
                held.remove(&open_ballot);
            }
        }
    }
}

impl Opening<'_> {
    /// The items that others have open, each with how many they are.
    pub(crate) fn of_others(&self, person: &str) -> FxHashMap<String, usize> {
        let open =
            |(name, since): &&(String, Instant)| name != person && self.now.duration_since(*since) < HELD;
        // Few pages are open at a time; a ballot has many items.
        let here = self.held.iter().filter(|((recipe, step, round, _), _)| {
            (*recipe, step.as_str(), *round) == (self.recipe, self.step, self.round)
        });
        let counted = here.map(|((.., item), people)| (item.clone(), people.iter().filter(open).count()));
        counted.filter(|(_, others)| *others > 0).collect()
    }

    /// The person has the item open from now on.
    pub(crate) fn lease_item(mut self, item: &str, person: &str) {
        let now = self.now;
        let open_ballot = (self.recipe, self.step.to_owned(), self.round, item.to_owned());
        let people = self.held.entry(open_ballot).or_default();
        people.retain(|(name, since)| name != person && now.duration_since(*since) < HELD);
        people.push((person.to_owned(), now));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_page_counts_for_others_until_it_is_answered() {
        let leases = Leases::default();
        let open = || leases.begin_opening("flub", "type", Round::Vote);
        let others = |item: &str, person: &str| open().of_others(person).get(item).copied().unwrap_or(0);
        assert_eq!(others("1", "a"), 0);
        open().lease_item("1", "a");
        open().lease_item("1", "a");
        open().lease_item("1", "b");
        assert_eq!((others("1", "a"), others("1", "c"), others("2", "c")), (1, 2, 0));
        assert!(leases.begin_opening("flub", "type", Round::Review).of_others("c").is_empty());
        leases.end_lease("flub", "type", Round::Vote, "1", "b");
        assert_eq!((others("1", "a"), others("1", "c")), (0, 1));
        leases.end_lease("flub", "type", Round::Vote, "1", "a");
        assert!(leases.0.lock().unwrap().is_empty());
    }
}
