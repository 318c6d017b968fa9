//! The papers' tables and figures from scored answers.
//!
//! [`Book`] sorts answers beside the items; one file a set makes its tables; [`report`] puts them together with the
//! charts, the comparisons of models, and the built-in models' known figures. Nothing here asks, reads or writes.

mod across;
mod book;
mod choices;
mod compare;
mod declared;
mod jokes;
mod known;
mod puzzles;
mod questions;
mod report;
mod table;
#[cfg(test)]
mod tests;
mod texts;

pub use across::Point;
pub use book::{Book, PEOPLE, Who};
pub use choices::released_scores;
pub use compare::{Comparison, comparisons};
pub use known::expected;
pub use report::{Report, gen_scores, report};
pub use table::{Cell, Keys, Look, Row, Table};
