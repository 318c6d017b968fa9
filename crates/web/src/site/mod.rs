//! `site`: a release as a folder of pages that anybody can read and check, without a server.
//!
//! In reading order: `set` is what is shown of a release and its workspace; `way` turns the ways of its rows, their votes
//! and their drafts into counts; `shown` prepares one row; `names` are the addresses of its pages; `search` is the index
//! that the browser loads in pieces; `folder` decides where a site may be written, and writes it whole or not at all;
//! `write` renders the pages.
//!
//! Invariants:
//! - Of posts that are not in the release, the pages have numbers only: no text, no id, no place. Of a row that an earlier
//!   version has, its id stays, with the stage and the reason that took it out.
//! - Votes are counts; who gave them is in no file. Evidence of rules is not shown, as it may quote what was left out.
//! - Texts as they were before somebody changed them are shown only where `[site] originals` says so.
//! - The same release and workspace give the same bytes.
//! - The templates and words are those of `serve`; only the search is a script.

mod changes;
mod error;
mod examples;
mod folder;
mod names;
mod search;
mod set;
mod shown;
mod way;
mod write;

pub use error::SiteError;
pub use folder::site_of;
pub use write::{Written, write};
