//! Outcomes on their way into a stage: told apart as rows, ledger entries and links, and counted. Batches are made on
//! all cores and put behind one another in order.

use super::Booked;
use crate::record::{Counts, Entry, Link, Outcome, Record, State};

/// What happened to some records, in their order.
#[derive(Debug)]
pub struct Batch<R> {
    pub(super) rows: Vec<R>,
    pub(super) ledger: Vec<Entry>,
    pub(super) links: Vec<Link>,
    pub(super) children: u64,
    /// How many records by state and reason. Few, so a search is quicker than a map, and the names are made once.
    tally: Vec<(State, Option<String>, u64)>,
}

impl<R> Default for Batch<R> {
    fn default() -> Batch<R> {
        Batch { rows: Vec::new(), ledger: Vec::new(), links: Vec::new(), children: 0, tally: Vec::new() }
    }
}

impl<R: Record> Batch<R> {
    /// Takes what happened to one record that entered under `id`.
    pub fn put(&mut self, id: String, outcome: Outcome<R>) {
        let before = self.links.len();
        let (entry, state, reason) = entry(id, outcome, &mut self.rows, &mut self.links);
        self.children += (self.links.len() - before) as u64;
        self.count(state, reason, 1);
        self.ledger.push(entry);
    }

    /// Takes what was booked elsewhere. What is of no state is none of its entries; see [`Booked::read`].
    pub fn take(&mut self, booked: Booked<R>) {
        let Booked { entry, mut rows, mut links } = booked;
        let Some(state) = State::from_code(&entry.outcome) else { return };
        if state == State::Expanded {
            self.children += rows.len() as u64;
        }
        self.rows.append(&mut rows);
        self.links.append(&mut links);
        self.count(state, entry.reason.as_deref(), 1);
        self.ledger.push(entry);
    }

    /// An empty batch with room for so many records.
    pub fn with_room(records: usize) -> Batch<R> {
        Batch { rows: Vec::with_capacity(records), ledger: Vec::with_capacity(records), ..Batch::default() }
    }

    /// Its entries.
    pub fn ledger(&self) -> &[Entry] {
        &self.ledger
    }

    /// Counts what another batch counted, in its place.
    pub(super) fn count_as(&mut self, other: &mut Batch<R>) {
        self.children += std::mem::take(&mut other.children);
        let tally = std::mem::take(&mut other.tally);
        tally.into_iter().for_each(|(state, reason, n)| self.count(state, reason.as_deref(), n));
    }

    /// The books of everything that was put here, rows of joins left out.
    pub(super) fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        self.tally.iter().for_each(|(state, reason, n)| counts.count(*state, reason.as_deref(), *n));
        counts
    }

    fn count(&mut self, state: State, reason: Option<&str>, n: u64) {
        match self.tally.iter_mut().find(|(s, r, _)| *s == state && r.as_deref() == reason) {
            Some((_, _, count)) => *count += n,
            None => self.tally.push((state, reason.map(Into::into), n)),
        }
    }
}

/// The entry of a record, and what it brings out.
pub(super) fn entry<R: Record>(
    id: String,
    outcome: Outcome<R>,
    rows: &mut Vec<R>,
    links: &mut Vec<Link>,
) -> (Entry, State, Option<&'static str>) {
    let mut entry = Entry { id, ..Entry::default() };
    let (state, reason) = match outcome {
        Outcome::Kept(row) => {
            entry.into = renamed(&entry.id, &row);
            rows.push(row);
            (State::Kept, None)
        }
        Outcome::Changed { row, rule, evidence, before, after } => {
            entry.evidence = Some(evidence);
            (entry.before, entry.after) = (Some(before).filter(|b| !b.is_empty()), Some(after));
            entry.into = renamed(&entry.id, &row);
            rows.push(row);
            (State::Changed, Some(rule))
        }
        Outcome::Expanded(children) => {
            for (row, role) in children {
                let (child, parent) = (row.id().into(), entry.id.clone());
                links.push(Link { child, parent, role: role.into() });
                rows.push(row);
            }
            (State::Expanded, None)
        }
        Outcome::Dropped { reason, evidence } => {
            entry.evidence = Some(evidence).filter(|e| !e.is_empty());
            (State::Dropped, Some(reason.code()))
        }
        Outcome::Merged { into, reason, score, evidence } => {
            entry.evidence = Some(evidence);
            (entry.into, entry.score) = (Some(into), Some(score));
            (State::Merged, Some(reason.code()))
        }
        Outcome::Joined { into } => {
            entry.into = Some(into);
            (State::Joined, None)
        }
        Outcome::Held { reason, evidence } => {
            entry.evidence = Some(evidence);
            (State::Held, Some(reason.code()))
        }
        Outcome::Failed { reason, evidence } => {
            entry.evidence = Some(evidence);
            (State::Failed, Some(reason.code()))
        }
    };
    entry.outcome = state.code().into();
    entry.reason = reason.map(Into::into);
    (entry, state, reason)
}

fn renamed<R: Record>(id: &str, row: &R) -> Option<String> {
    (id != row.id()).then(|| row.id().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Post, Reason};

    fn post(id: &str) -> Post {
        Post { id: id.into(), ..Post::default() }
    }

    fn outcomes() -> Vec<(String, Outcome<Post>)> {
        let dropped = |reason| Outcome::Dropped { reason, evidence: String::new() };
        vec![
            ("a:1".into(), Outcome::Kept(post("t:1"))),
            ("t:2".into(), Outcome::Kept(post("t:2"))),
            ("t:3".into(), dropped(Reason::TooShort)),
            ("t:4".into(), dropped(Reason::Empty)),
            ("t:5".into(), dropped(Reason::TooShort)),
            ("p".into(), Outcome::Expanded(vec![(post("t:6"), "post"), (post("t:7"), "post")])),
        ]
    }

    #[test]
    fn batches_in_order_are_one_batch() {
        let (mut whole, mut parts) = (Batch::default(), [Batch::default(), Batch::default()]);
        for (i, (id, outcome)) in outcomes().into_iter().enumerate() {
            whole.put(id.clone(), outcome.clone());
            parts[i / 4].put(id, outcome);
        }
        let [mut first, mut second] = parts;
        first.count_as(&mut second);
        first.rows.append(&mut second.rows);
        first.ledger.append(&mut second.ledger);
        first.links.append(&mut second.links);
        assert_eq!((&first.rows, &first.ledger, &first.links), (&whole.rows, &whole.ledger, &whole.links));
        assert_eq!((first.counts(), first.children), (whole.counts(), 2));
        let counts = whole.counts();
        assert_eq!(counts.records_in, 6);
        assert_eq!((counts.states["kept"], counts.states["dropped"], counts.states["expanded"]), (2, 3, 1));
        assert_eq!((counts.reasons["dropped/too_short"], counts.reasons["dropped/empty"]), (2, 1));
        assert_eq!(whole.ledger[0].into.as_deref(), Some("t:1"));
        assert_eq!(whole.ledger[1].into, None);
    }
}
