//! The pages, a file each: what a route reads, and which template shows it.

mod ballot;
pub(super) mod carry;
mod counted;
pub(super) mod curate;
pub(super) mod decide;
pub(super) mod duplicates;
mod faults;
pub(super) mod guideline;
pub(super) mod history;
pub(super) mod login;
pub(super) mod overview;
pub(super) mod record;
pub(super) mod releases;
pub(super) mod review;
pub(super) mod stage;
