//! What a stage did with one record, as a line of JSON: how books travel between machines before they are
//! written into a stage folder.

use serde::Serialize;
use serde_json::{Map, Value};

use super::Batch;
use crate::record::{Entry, Link, Outcome, Record, State, Values};

/// A ledger entry with the rows and links that it brings out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Booked<R> {
    /// What happened.
    pub entry: Entry,
    /// What goes on.
    pub rows: Vec<R>,
    /// Which row came from where, if not from itself.
    pub links: Vec<Link>,
}

/// Why a line is no books.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BookedError {
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

impl<R: Record + Serialize> Booked<R> {
    /// Books what happened to the record that entered under `id`.
    pub fn of(id: String, outcome: Outcome<R>) -> Booked<R> {
        let mut batch = Batch::default();
        batch.put(id, outcome);
        let entry = batch.ledger.pop().unwrap_or_default();
        Booked { entry, rows: batch.rows, links: batch.links }
    }

    /// Reads a line, and holds the entry against what it brings out.
    ///
    /// # Errors
    /// [`BookedError`].
    pub fn read(line: &[u8]) -> Result<Booked<R>, BookedError> {
        let line = serde_json::from_slice(line).map_err(|e| BookedError::Unreadable(e.to_string()))?;
        Booked::from_object(line)
    }

    /// The same of a line that was read.
    ///
    /// # Errors
    /// [`BookedError`].
    pub fn from_object(mut line: Map<String, Value>) -> Result<Booked<R>, BookedError> {
        let entry: Entry = match line.remove("entry") {
            Some(Value::Object(entry)) => from_object(entry),
            _ => return Err(BookedError::Unreadable("it has no entry".into())),
        };
        let booked = Booked { entry, rows: list(line.remove("rows"))?, links: list(line.remove("links"))? };
        booked.check().map(|()| booked)
    }

    fn check(&self) -> Result<(), BookedError> {
        let outcome = &self.entry.outcome;
        let state = State::from_code(outcome).ok_or_else(|| BookedError::Outcome(outcome.clone()))?;
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
        Err(BookedError::Unbalanced { outcome: outcome.clone(), rows, links })
    }
}

fn list<T: Record>(value: Option<Value>) -> Result<Vec<T>, BookedError> {
    let unreadable = || BookedError::Unreadable("rows and links are lists of objects".into());
    match value {
        None => Ok(Vec::new()),
        Some(Value::Array(values)) => values
            .into_iter()
            .map(|value| match value {
                Value::Object(object) => Ok(from_object(object)),
                _ => Err(unreadable()),
            })
            .collect(),
        Some(_) => Err(unreadable()),
    }
}

/// A row from a JSON object of its columns; what is absent, or of another type, is null.
pub fn from_object<R: Record>(object: Map<String, Value>) -> R {
    R::take(&mut Object { object, columns: R::COLUMNS.iter().map(|column| column.name) })
}

struct Object<I> {
    object: Map<String, Value>,
    columns: I,
}

impl<I: Iterator<Item = &'static str>> Object<I> {
    fn next(&mut self) -> Value {
        self.columns.next().and_then(|name| self.object.get_mut(name)).map_or(Value::Null, Value::take)
    }
}

impl<I: Iterator<Item = &'static str>> Values for Object<I> {
    fn text(&mut self) -> Option<String> {
        match self.next() {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    fn count(&mut self) -> Option<u64> {
        self.next().as_u64()
    }

    fn real(&mut self) -> Option<f64> {
        self.next().as_f64()
    }

    fn flag(&mut self) -> Option<bool> {
        self.next().as_bool()
    }

    fn texts(&mut self) -> Option<Vec<String>> {
        match self.next() {
            Value::Array(texts) => texts
                .into_iter()
                .map(|text| if let Value::String(text) = text { Some(text) } else { None })
                .collect(),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Post, PostKind, Reason};

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

    fn there_and_back(booked: &Booked<Post>) -> Booked<Post> {
        Booked::read(&serde_json::to_vec(booked).unwrap()).unwrap()
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
            let booked = Booked::of("dump/x:1".into(), outcome);
            assert_eq!(there_and_back(&booked), booked);
        }
    }

    #[test]
    fn what_does_not_close_is_refused() {
        let read = |line: &str| Booked::<Post>::read(line.as_bytes()).unwrap_err();
        assert!(matches!(read("[]"), BookedError::Unreadable(_)));
        assert!(matches!(read("{\"id\":\"x\"}"), BookedError::Unreadable(_)));
        assert_eq!(read(r#"{"entry":{"id":"x","outcome":"gone"}}"#), BookedError::Outcome("gone".into()));
        let kept = BookedError::Unbalanced { outcome: "kept".into(), rows: 0, links: 0 };
        assert_eq!(read(r#"{"entry":{"id":"x","outcome":"kept"},"rows":[]}"#), kept);
    }
}
