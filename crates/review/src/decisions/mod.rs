//! People's decisions about records and pairs of records, kept as append-only lines under `raw/decisions`.
//!
//! A rule, a draft or a vote may be wrong; then a person decides: a held or dropped post is kept, a post goes
//! out or waits, its text, title or answer is replaced, two posts are one joke or two.
//!
//! # Which one counts
//!
//! - A decision overrules votes, votes overrule a draft, and a draft overrules a rule.
//! - Of two decisions on the same question the later one counts, whichever recipes they are for.
//! - After a decision is withdrawn, the one before it counts again.
//! - A decision refers to the text that the person saw. If the record has changed since, it is outdated: it
//!   is listed as such and has no effect.
//!
//! [`Decision`] is one of them, [`DecisionLog`] their log, [`StageDecisions`] what a stage looks up.

mod decision;
mod log;
#[cfg(test)]
mod margins;
mod stage;
mod table;

pub use decision::{Decision, Question, Undo, Verdict, seen_pair, seen_text};
pub use log::{DecisionLog, Line, Receipt};
pub use stage::{Pairing, Ruling, StageDecisions};
pub use table::{Cells, Columns, DECISIONS, TableError, lacks, read_table, write_table};
