//! What a stage did with one record, as a line of JSON: the form in which ledgers travel between machines
//! before they are written into a stage folder.

use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};

use super::Plain;
use super::row::ObjectColumns;
use riddlemill_record::{Cause, Cell, Entry, Link, Outcome, Record, State, Typed};

/// A ledger entry with its rows and links.
#[derive(Clone, Debug, PartialEq)]
pub struct LedgerRecord<R> {
    /// What happened.
    pub entry: Entry,
    /// The kept rows.
    pub rows: Vec<R>,
    /// The origin of rows that did not keep their id.
    pub links: Vec<Link>,
    /// Why it waits, failed or went on without something.
    pub cause: Option<Cause>,
}

/// Why a line is not a ledger record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LedgerRecordError {
    /// Not a JSON object with an entry.
    #[error("not a ledger record: {0}")]
    Unreadable(String),
    /// The outcome is not one of the eight.
    #[error("{0:?} is not an outcome")]
    Outcome(String),
    /// The entry contradicts its rows and links.
    #[error("a record that is {outcome} with {rows} rows and {links} links")]
    Unbalanced {
        outcome: String,
        /// Rows on the line.
        rows: usize,
        /// Links on the line.
        links: usize,
    },
}

impl<R: Record> LedgerRecord<R> {
    /// Records what happened to the record that entered under `id`.
    pub fn new(id: String, outcome: Outcome<R>) -> LedgerRecord<R> {
        let entry = ledger_entry(&id, &outcome).to_entry();
        let cause = outcome.cause().cloned();
        let (rows, links) = match outcome {
            Outcome::Kept(row) | Outcome::Changed { row, .. } => (vec![row], Vec::new()),
            Outcome::Expanded(children) => {
                let links = links_to_children(&id, &children).collect();
                (children.into_iter().map(|(row, _)| row).collect(), links)
            }
            _ => (Vec::new(), Vec::new()),
        };
        LedgerRecord { entry, rows, links, cause }
    }

    /// Parses a line, and compares the entry with its rows and links.
    ///
    /// # Errors
    /// [`LedgerRecordError`].
    pub fn parse_line(line: &[u8]) -> Result<LedgerRecord<R>, LedgerRecordError>
    where
        R: Typed,
    {
        serde_json::from_slice::<LedgerRecordLine<R>>(line)
            .map_err(|e| LedgerRecordError::Unreadable(e.to_string()))?
            .into_checked()
    }

    fn check_outcome(&self) -> Result<(), LedgerRecordError> {
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
        let mut line = to.serialize_struct("LedgerRecord", 4)?;
        line.serialize_field("entry", &ObjectColumns(&self.entry))?;
        line.serialize_field("rows", &self.rows.iter().map(ObjectColumns).collect::<Vec<_>>())?;
        if !self.links.is_empty() {
            line.serialize_field("links", &self.links.iter().map(ObjectColumns).collect::<Vec<_>>())?;
        }
        if let Some(cause) = &self.cause {
            line.serialize_field("cause", cause)?;
        }
        line.end()
    }
}

/// A parsed line, before the entry is compared with its rows and links.
#[derive(Clone, Debug, Deserialize)]
#[serde(bound = "R: Typed")]
pub struct LedgerRecordLine<R> {
    entry: Plain<Entry>,
    #[serde(default)]
    rows: Vec<Plain<R>>,
    #[serde(default)]
    links: Vec<Plain<Link>>,
    #[serde(default)]
    cause: Option<Cause>,
}

impl<R: Typed> LedgerRecordLine<R> {
    /// The record, if its accounting closes.
    ///
    /// # Errors
    /// [`LedgerRecordError`].
    pub fn into_checked(self) -> Result<LedgerRecord<R>, LedgerRecordError> {
        let Plain(entry) = self.entry;
        let rows = self.rows.into_iter().map(|Plain(row)| row).collect();
        let links = self.links.into_iter().map(|Plain(link)| link).collect();
        let record = LedgerRecord { entry, rows, links, cause: self.cause };
        record.check_outcome().map(|()| record)
    }
}

/// The ledger's values for a record: the cells of an [`Entry`], in the order of its columns.
pub(super) struct LedgerEntry<'a> {
    pub(super) cells: [Cell<'a>; 8],
    pub(super) state: State,
    pub(super) reason: Option<&'static str>,
}

/// The ledger entry of the record that entered under `id`.
pub(super) fn ledger_entry<'a, R: Record>(id: &'a str, outcome: &'a Outcome<R>) -> LedgerEntry<'a> {
    let renamed = |row: &'a R| Some(row.id()).filter(|new| *new != id);
    let (mut before, mut after, mut into, mut score) = (None, None, None, None);
    let (state, reason, evidence) = match outcome {
        Outcome::Kept(row) => {
            into = renamed(row);
            (State::Kept, None, None)
        }
        Outcome::Changed { row, rule, evidence, before: was, after: is } => {
            (before, after) = (Some(was.as_str()).filter(|was| !was.is_empty()), Some(is.as_str()));
            into = renamed(row);
            (State::Changed, Some(*rule), Some(evidence.as_str()))
        }
        Outcome::Expanded(_) => (State::Expanded, None, None),
        Outcome::Dropped { reason, evidence } => {
            (State::Dropped, Some(reason.code()), Some(evidence.as_str()).filter(|e| !e.is_empty()))
        }
        Outcome::Merged { into: other, reason, score: figure, evidence } => {
            (into, score) = (Some(other.as_str()), Some(*figure));
            (State::Merged, Some(reason.code()), Some(evidence.as_str()))
        }
        Outcome::Joined { into: other } => {
            into = Some(other.as_str());
            (State::Joined, None, None)
        }
        Outcome::Held { reason, evidence } => (State::Held, Some(reason.code()), Some(evidence.as_str())),
        Outcome::Failed { reason, evidence } => (State::Failed, Some(reason.code()), Some(evidence.as_str())),
    };
    let text = |text: Option<&'a str>| text.map_or(Cell::Null, Cell::Text);
    let cells = [
        Cell::Text(id),
        Cell::Text(state.code()),
        text(reason),
        text(evidence),
        text(before),
        text(after),
        text(into),
        score.map_or(Cell::Null, Cell::Real),
    ];
    LedgerEntry { cells, state, reason }
}

/// The links of a record that became several.
pub(super) fn links_to_children<'a, R: Record>(
    parent: &'a str,
    children: &'a [(R, &'static str)],
) -> impl Iterator<Item = Link> + 'a {
    children.iter().map(move |(row, role)| Link {
        child: row.id().into(),
        parent: parent.into(),
        role: (*role).into(),
    })
}

impl LedgerEntry<'_> {
    /// The entry of a record that went on unchanged, without its id.
    pub(super) const KEPT: LedgerEntry<'static> = {
        let mut cells = [Cell::Null; 8];
        (cells[0], cells[1]) = (Cell::Text(""), Cell::Text(State::Kept.code()));
        LedgerEntry { cells, state: State::Kept, reason: None }
    };

    pub(super) fn to_entry(&self) -> Entry {
        let text =
            |cell: &Cell<'_>| if let Cell::Text(text) = cell { Some((*text).to_string()) } else { None };
        let [id, outcome, reason, evidence, before, after, into, score] = &self.cells;
        Entry {
            id: text(id).unwrap_or_default(),
            outcome: text(outcome).unwrap_or_default(),
            reason: text(reason),
            evidence: text(evidence),
            before: text(before),
            after: text(after),
            into: text(into),
            score: if let Cell::Real(score) = score { Some(*score) } else { None },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use riddlemill_record::{Evidence, Post, PostKind, Reason};

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

    fn there_and_back(record: &LedgerRecord<Post>) -> LedgerRecord<Post> {
        LedgerRecord::parse_line(&serde_json::to_vec(record).unwrap()).unwrap()
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
        let evidence = Evidence::with_cause("nothing is sent", Cause::Offline { endpoint: "mine".into() });
        let held = Outcome::Held { reason: Reason::ReplyMissing, evidence };
        for outcome in [Outcome::Kept(post("tieba:1")), changed, merged, expanded, held] {
            let record = LedgerRecord::new("dump/x:1".into(), outcome);
            assert_eq!(there_and_back(&record), record);
        }
    }

    #[test]
    fn what_does_not_close_is_refused() {
        let read = |line: &str| LedgerRecord::<Post>::parse_line(line.as_bytes()).unwrap_err();
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
