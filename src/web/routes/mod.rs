//! The pages, one file each: what a route reads, and which template shows it.

pub(super) mod assign;
mod ballot;
pub(super) mod carry;
pub(super) mod cast;
pub(super) mod causes;
mod columns;
pub(super) mod counted;
pub(super) mod curate;
pub(super) mod decide;
pub(super) mod difference;
pub(super) mod duplicates;
pub(super) mod faults;
pub(super) mod guideline;
pub(super) mod history;
pub(super) mod login;
pub(super) mod overview;
pub(super) mod pending;
pub(super) mod people;
pub(super) mod persons;
pub(super) mod record;
pub(super) mod releases;
pub(super) mod review;
mod rows;
pub(super) mod run;
pub(super) mod stage;
pub(super) mod table;
pub(super) mod trials;
