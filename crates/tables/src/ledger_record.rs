//! What a stage did with one record, as a line of JSON: how books travel between machines before they are
//! written into a stage folder.

use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};

use super::Plain;
use super::batch::{ledger_entry, links};
use super::row::Columns;
use riddlemill_text::record::{Entry, Link, Outcome, Record, State};

/// A ledger entry with the rows and links that it brings out.
#[derive(Clone, Debug, PartialEq)]
pub struct LedgerRecord<R> {
    /// What happened.
    pub entry: Entry,
    /// What goes on.
    pub rows: Vec<R>,
    /// Which row came from where, if not from itself.
    pub links: Vec<Link>,
}

/// Why a line is no books.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LedgerRecordError {
    /// No JSON object with an entry.
    #[error("no booked record: {0}")]
    Unreadable(String),
    /// The outcome is none of the eight.
    #[error("{0:?} is no outcome")]
    Outcome(String),
    /// The entry and what it brings out contradict each other.
    #[error("a record that is {outcome} with {rows} rows and {links} links")]
    Unbalanced {
        /// The outcome.
        outcome: String,
        /// Rows on the line.
        rows: usize,
        /// Links on the line.
        links: usize,
    },
}

impl<R: Record> LedgerRecord<R> {
    /// Books what happened to the record that entered under `id`.
    pub fn of(id: String, outcome: Outcome<R>) -> LedgerRecord<R> {
        let entry = ledger_entry(&id, &outcome).entry();
        let (rows, links) = match outcome {
            Outcome::Kept(row) | Outcome::Changed { row, .. } => (vec![row], Vec::new()),
            Outcome::Expanded(children) => {
                let links = links(&id, &children).collect();
                (children.into_iter().map(|(row, _)| row).collect(), links)
            }
            _ => (Vec::new(), Vec::new()),
        };
        LedgerRecord { entry, rows, links }
    }

    /// Reads a line, and holds the entry against what it brings out.
    ///
    /// # Errors
    /// [`LedgerRecordError`].
    pub fn read(line: &[u8]) -> Result<LedgerRecord<R>, LedgerRecordError> {
        serde_json::from_slice::<LedgerRecordLine<R>>(line)
            .map_err(|e| LedgerRecordError::Unreadable(e.to_string()))?
            .checked()
    }

    fn check(&self) -> Result<(), LedgerRecordError> {
        let outcome = &self.entry.outcome;
        let state = State::from_code(outcome).ok_or_else(|| LedgerRecordError::Outcome(outcome.clone()))?;
        let closes = match state {
            State::Kept | State::Changed => self.rows.len() == 1 && self.links.is_empty(),
            State::Expanded => self.rows.len() == self.links.len(),
            State::Merged | State::Dropped | State::Held | State::Failed => {
                self.rows.is_empty() && self.links.is_empty()
            }
            // Rows of joins belong to no entry.
            State::Joined => false,
        };
        if closes && !self.entry.id.is_empty() {
            return Ok(());
        }
        let (rows, links) = (self.rows.len(), self.links.len());
        Err(LedgerRecordError::Unbalanced { outcome: outcome.clone(), rows, links })
    }
}

/// Null columns are left out.
impl<R: Record> Serialize for LedgerRecord<R> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut line = to.serialize_struct("Booked", 3)?;
        line.serialize_field("entry", &Columns(&self.entry))?;
        line.serialize_field("rows", &self.rows.iter().map(Columns).collect::<Vec<_>>())?;
        if !self.links.is_empty() {
            line.serialize_field("links", &self.links.iter().map(Columns).collect::<Vec<_>>())?;
        }
        line.end()
    }
}

/// A line as it stands, before the entry is held against what it brings out.
#[derive(Clone, Debug, Deserialize)]
#[serde(bound = "R: Record")]
pub struct LedgerRecordLine<R> {
    entry: Plain<Entry>,
    #[serde(default)]
    rows: Vec<Plain<R>>,
    #[serde(default)]
    links: Vec<Plain<Link>>,
}

impl<R: Record> LedgerRecordLine<R> {
    /// The books, where they close.
    ///
    /// # Errors
    /// [`LedgerRecordError`].
    pub fn checked(self) -> Result<LedgerRecord<R>, LedgerRecordError> {
        let Plain(entry) = self.entry;
        let rows = self.rows.into_iter().map(|Plain(row)| row).collect();
        let links = self.links.into_iter().map(|Plain(link)| link).collect();
        let booked = LedgerRecord { entry, rows, links };
        booked.check().map(|()| booked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use riddlemill_text::record::{Post, PostKind, Reason};

    fn post(id: &str) -> Post {
        Post {
            id: id.into(),
            kind: PostKind::Numbered,
            text: "云会恐高吗\u{0}\"\n".into(),
            mentions: vec!["某人".into()],
            score: Some(0.1 + 0.2),
            number: Some(u64::MAX),
            ..Post::default()
        }
    }

    fn there_and_back(booked: &LedgerRecord<Post>) -> LedgerRecord<Post> {
        LedgerRecord::read(&serde_json::to_vec(booked).unwrap()).unwrap()
    }

    #[test]
    fn a_line_gives_the_record_back() {
        let changed = Outcome::Changed {
            row: post("tieba:1"),
            rule: "trim",
            evidence: "trim".into(),
            before: " x".into(),
            after: "x".into(),
        };
        let merged = Outcome::Merged {
            into: "tieba:1".into(),
            reason: Reason::SameId,
            score: 1.0,
            evidence: "same text".into(),
        };
        let expanded = Outcome::Expanded(vec![(post("tieba:2"), "post"), (post("tieba:3"), "post")]);
        for outcome in [Outcome::Kept(post("tieba:1")), changed, merged, expanded] {
            let booked = LedgerRecord::of("dump/x:1".into(), outcome);
            assert_eq!(there_and_back(&booked), booked);
        }
    }

    #[test]
    fn what_does_not_close_is_refused() {
        let read = |line: &str| LedgerRecord::<Post>::read(line.as_bytes()).unwrap_err();
        assert!(matches!(read("[]"), LedgerRecordError::Unreadable(_)));
        assert!(matches!(read("{\"id\":\"x\"}"), LedgerRecordError::Unreadable(_)));
        assert_eq!(
            read(r#"{"entry":{"id":"x","outcome":"gone"}}"#),
            LedgerRecordError::Outcome("gone".into())
        );
        let kept = LedgerRecordError::Unbalanced { outcome: "kept".into(), rows: 0, links: 0 };
        assert_eq!(read(r#"{"entry":{"id":"x","outcome":"kept"},"rows":[]}"#), kept);
    }
}
