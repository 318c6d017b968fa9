//! Finding a page of a stage's records among millions.
//!
//! A stage's tables are parts of one row group each. Of a stage that somebody looks at, `index` keeps a
//! few bytes a record in memory: its outcome and reason, and where its text is among the rows that
//! entered and those that left. A filter or a page is then arithmetic over these, and only the parts that
//! hold the page's fifty records are decoded (`frames` keeps the last ones, under a bound), or only a few
//! pages of them where the records are few (`rows`). What is kept is
//! known by the hashes of the files, so that a stage made anew is a stage not seen yet.
//!
//! `riddlemill show` asks once and goes, so it reads the tables through a part at a time ([`crate::audit::show`]) and needs
//! no index; both open a step and what it read in one way ([`crate::audit::Made`]).

mod few;
mod frames;
mod index;
mod look;
mod names;
mod pairs;
mod query;
mod rows;
mod stages;

pub(super) use look::{Looking, Record};
pub(super) use query::{Query, Sort};
pub(super) use stages::Stages;
