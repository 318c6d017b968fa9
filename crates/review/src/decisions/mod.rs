//! People's decisions about records and pairs of records, kept as append-only lines under `raw/decisions`.
//!
//! A rule, a draft or a vote may be wrong, and then a person says what holds: a held or dropped post goes on, a
//! post goes out or waits, its text, title or answer reads otherwise, two posts are one joke or are two.
//!
//! # Which one holds
//!
//! - A decision overrules votes, votes overrule a draft, and a draft overrules a rule.
//! - Of two decisions on the same question the later one holds, whichever recipes they are for.
//! - A decision that was taken back holds no more, and what held before it holds again.
//! - A decision is about the text that the person saw. Where the record reads otherwise today, it is outdated: it
//!   is listed as such and changes nothing.
//!
//! [`Decision`] is one of them, [`DecisionLog`] where they are kept, [`StageDecisions`] what a stage looks up.

mod decision;
mod log;
mod stage;
mod table;

pub use decision::{Decision, Question, Undo, Verdict, seen_pair, seen_text};
pub use log::{DecisionLog, Line, Receipt};
pub use stage::{Pairing, Ruling, StageDecisions};
pub use table::{Cells, Columns, DECISIONS, TableError, read_table, write_table};
