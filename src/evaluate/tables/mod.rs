//! Tables and figures from scored answers, as the folder of the set's benchmark declares them.
//!
//! [`Book`] sorts answers beside the items; `declared` measures a figure a column; what no list of columns says is a kind of
//! its own, a file a kind or two: `judged`, `orders`, `people`, `preferences`, `free`, `across`. [`report`] puts them together
//! with the charts, the comparisons of models, and the built-in models' known figures. Nothing here asks, reads or writes.

mod across;
mod book;
mod compare;
mod declared;
mod free;
mod judged;
mod known;
mod orders;
mod people;
mod preferences;
mod report;
mod table;
#[cfg(test)]
mod tests;

pub use across::Point;
pub use book::{Book, PEOPLE, Who};
pub use compare::{Comparison, comparisons};
pub use report::{Report, Scores, add_scores, report};
pub use table::{Cell, Keys, Look, Row, Table};
