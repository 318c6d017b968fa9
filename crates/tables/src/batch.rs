//! Outcomes before they are written: split into rows, ledger entries and links, and counted. Batches are made
//! on all cores and concatenated in order.

use std::path::Path;

use super::frame::{FrameColumns, from_frame};
use super::ledger_record::{ledger_entry, links_to_children};
use super::{Error, LedgerRecord};
use riddlemill_record::{Cause, Caused, Counts, Entry, Link, Outcome, Record, State, Typed};

/// What happened to some records, in order.
pub struct Batch<R: Record> {
    pub(super) rows: FrameColumns<R>,
    pub(super) ledger: FrameColumns<Entry>,
    pub(super) links: Vec<Link>,
    /// In the order of their entries.
    pub(super) causes: Vec<Caused>,
    pub(super) children: u64,
    tally: Tally,
}

/// Number of records by state and reason. There are few, so a search is faster than a map.
#[derive(Debug, Default)]
pub(super) struct Tally(Vec<(State, Option<String>, u64)>);

impl Tally {
    pub(super) fn add_records(&mut self, state: State, reason: Option<&str>, n: u64) {
        match self.0.iter_mut().find(|(s, r, _)| *s == state && r.as_deref() == reason) {
            Some((_, _, count)) => *count += n,
            None => self.0.push((state, reason.map(Into::into), n)),
        }
    }

    pub(super) fn add(&mut self, other: Tally) {
        other.0.into_iter().for_each(|(state, reason, n)| self.add_records(state, reason.as_deref(), n));
    }
}

impl<R: Typed> Default for Batch<R> {
    fn default() -> Batch<R> {
        Batch::with_room((), 0)
    }
}

impl<R: Record> Batch<R> {
    /// An empty batch with capacity for `records` records.
    pub fn with_room(columns: R::Columns, records: usize) -> Batch<R> {
        Batch {
            rows: FrameColumns::with_all_columns(columns, records),
            ledger: FrameColumns::with_all_columns((), records),
            links: Vec::new(),
            causes: Vec::new(),
            children: 0,
            tally: Tally::default(),
        }
    }

    /// Adds the outcome of one record that entered under `id`.
    pub fn append(&mut self, id: &str, outcome: &Outcome<R>) {
        let recorded = ledger_entry(id, outcome);
        match outcome {
            Outcome::Kept(row) | Outcome::Changed { row, .. } => self.rows.append(row),
            Outcome::Expanded(children) => {
                children.iter().for_each(|(row, _)| self.rows.append(row));
                self.links.extend(links_to_children(id, children));
                self.children += children.len() as u64;
            }
            _ => {}
        }
        self.tally.add_records(recorded.state, recorded.reason, 1);
        self.ledger.append_cells(&recorded.cells, 1);
        self.causes.extend(
            outcome.cause().map(|cause| make_caused(id, recorded.state.code(), recorded.reason, cause)),
        );
    }

    /// Adds a ledger record made elsewhere. An entry with an unknown state is ignored; see
    /// [`LedgerRecord::parse_line`].
    pub fn append_ledger_record(&mut self, record: LedgerRecord<R>) {
        let LedgerRecord { entry, rows, mut links, cause } = record;
        let Some(state) = State::from_code(&entry.outcome) else { return };
        if state == State::Expanded {
            self.children += rows.len() as u64;
        }
        rows.iter().for_each(|row| self.rows.append(row));
        self.links.append(&mut links);
        self.tally.add_records(state, entry.reason.as_deref(), 1);
        let of = entry.reason.as_deref();
        self.causes.extend(cause.map(|cause| make_caused(&entry.id, &entry.outcome, of, &cause)));
        self.ledger.append(&entry);
    }

    /// Its contents, record by record.
    ///
    /// # Errors
    /// [`Error`]; cannot happen because the lengths are equal.
    pub fn into_records(self) -> Result<Vec<LedgerRecord<R>>, Error> {
        let wrong = |e| Error::stale_file(Path::new("a batch"), e);
        let of = self.rows.of;
        let rows = self.rows.build_frame().and_then(|frame| from_frame(of, &frame)).map_err(wrong)?;
        let entries = self.ledger.build_frame().and_then(|frame| from_frame((), &frame)).map_err(wrong)?;
        let (mut rows, mut links) = (rows.into_iter(), self.links.into_iter().peekable());
        let mut causes = self.causes.into_iter().peekable();
        let record = |entry: Entry| {
            // Links are in the order of the entries, so those of this entry come next.
            let links: Vec<Link> =
                std::iter::from_fn(|| links.next_if(|link| link.parent == entry.id)).collect();
            let count = match State::from_code(&entry.outcome) {
                Some(State::Kept | State::Changed) => 1,
                _ => links.len(),
            };
            // Those of the entries are in their order, too.
            let cause = causes.next_if(|caused| caused.id == entry.id);
            let cause = cause.and_then(|caused| serde_json::from_str(&caused.cause).ok());
            LedgerRecord { rows: rows.by_ref().take(count).collect(), entry, links, cause }
        };
        Ok(entries.into_iter().map(record).collect())
    }

    /// Number of entries.
    pub fn count_entries(&self) -> usize {
        self.ledger.count_rows()
    }

    /// Replaces the counts by those of another batch.
    pub(super) fn count_as(&mut self, other: &mut Batch<R>) {
        self.children += std::mem::take(&mut other.children);
        self.add(std::mem::take(&mut other.tally));
    }

    /// Adds counts from elsewhere.
    pub(super) fn add(&mut self, tally: Tally) {
        self.tally.add(tally);
    }

    /// The counts of everything appended here, without rows of joins.
    pub(super) fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        self.tally.0.iter().for_each(|(state, reason, n)| counts.add_records(*state, reason.as_deref(), *n));
        counts
    }
}

fn make_caused(id: &str, outcome: &str, reason: Option<&str>, cause: &Cause) -> Caused {
    Caused {
        id: id.to_owned(),
        outcome: outcome.to_owned(),
        reason: reason.unwrap_or_default().to_owned(),
        cause: serde_json::to_string(cause).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::from_frame;
    use riddlemill_record::{Cell, Cells, Evidence, Post, Reason};

    fn post(id: &str) -> Post {
        Post { id: id.into(), ..Post::default() }
    }

    fn offline() -> Evidence {
        Evidence::with_cause("nothing is sent", Cause::Offline { endpoint: "mine".into() })
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
            ("t:10".into(), Outcome::Held { reason: Reason::ReplyMissing, evidence: offline() }),
        ]
    }

    #[test]
    fn cells_are_those_of_the_entry() {
        struct Same<'a>(std::slice::Iter<'a, Cell<'a>>);
        impl Cells for Same<'_> {
            fn append(&mut self, cell: Cell<'_>) {
                assert_eq!(self.0.next(), Some(&cell));
            }
        }
        let merged = Outcome::Merged {
            into: "t:1".into(),
            reason: Reason::SameId,
            score: 0.5,
            evidence: "same text".into(),
        };
        let changed = Outcome::Changed {
            row: post("t:9"),
            rule: "bar",
            evidence: "bar".into(),
            before: "a|b".into(),
            after: "ab".into(),
        };
        for (id, outcome) in outcomes().into_iter().chain([("t:8".into(), merged), ("t:9".into(), changed)]) {
            let recorded = ledger_entry(&id, &outcome);
            recorded.to_entry().append_to(&mut Same(recorded.cells.iter()));
        }
    }

    #[test]
    fn batches_in_order_are_one_batch() {
        let mut whole = Batch::default();
        let mut parts = [Batch::default(), Batch::default()];
        for (i, (id, outcome)) in outcomes().into_iter().enumerate() {
            whole.append(&id, &outcome);
            parts[i / 4].append(&id, &outcome);
        }
        let [mut first, mut second] = parts;
        first.count_as(&mut second);
        assert_eq!((first.counts(), first.children), (whole.counts(), 2));
        let counts = whole.counts();
        assert_eq!(counts.records_in, 7);
        assert_eq!((counts.states["kept"], counts.states["dropped"], counts.states["expanded"]), (2, 3, 1));
        assert_eq!((counts.reasons["dropped/too_short"], counts.reasons["dropped/empty"]), (2, 1));
        let entries: Vec<Entry> = from_frame((), &whole.ledger.build_frame().unwrap()).unwrap();
        assert_eq!(entries[0].into.as_deref(), Some("t:1"));
        assert_eq!(entries[1].into, None);
        let rows: Vec<Post> = from_frame((), &whole.rows.build_frame().unwrap()).unwrap();
        assert_eq!(rows.iter().map(|row| row.id.as_str()).collect::<Vec<_>>(), ["t:1", "t:2", "t:6", "t:7"]);
        assert_eq!((whole.links[1].child.as_str(), whole.links[1].parent.as_str()), ("t:7", "p"));
    }

    #[test]
    fn what_was_put_is_given_back() {
        let mut batch = Batch::default();
        outcomes().iter().for_each(|(id, outcome)| batch.append(id, outcome));
        let records: Vec<_> =
            outcomes().into_iter().map(|(id, outcome)| LedgerRecord::new(id, outcome)).collect();
        assert_eq!(batch.into_records().unwrap(), records);
    }
}
