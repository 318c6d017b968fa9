//! Finds a page of a stage's records among millions.
//!
//! A stage's tables are parts of one row group each. For a stage being viewed, `index` keeps a few bytes per
//! record in memory: its outcome and reason, and the index of its text among input and output rows. A filter
//! or a page is then arithmetic over these, and only the parts that contain the page's fifty records are
//! decoded (`frames` caches the last ones, bounded), or only a few pages of them for few records (`rows`).
//! Caches are keyed by the hashes of the files, so that a rebuilt stage is a new one.
//!
//! `riddlemill show` runs once, so it reads the tables through a part at a time ([`crate::audit::show`]) and
//! needs no index; both open a step and its input in the same way ([`crate::audit::Made`]).

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
