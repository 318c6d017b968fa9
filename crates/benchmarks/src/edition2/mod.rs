//! The second edition of benchmark folders: shorter to write, and lowered to what the rest of this crate reads. A folder is of
//! the first edition if something in it can be of the first alone; the other is this one.
//!
//! - `tree`: values with their places. `chinese`: texts of `*.zh.toml`, by the same keys.
//! - `sentences`: reasons and requirements. `languages`: prompts by language. `declared`: the keys of each file. `keys`: checks files by them. `fields`, `shows`, `kept`, `ballots`: ballots.toml, lowered; `ballots_up`: its inverse.
//! - `columns`, `data`, `steps`, `tasks`, `tables`: benchmark.toml and report.toml, with their inverses.
//! - `lower`: a whole folder. `own_lists`: options that one field alone has. `lowered`: the text that is read instead of the files.
//! - `convert`: a folder of the first edition in the second; `write`: its files; `comments`: what was said beside its values.

mod ballots;
mod ballots_up;
mod chinese;
mod columns;
mod comments;
mod convert;
mod data;
pub mod declared;
mod fields;
mod kept;
mod keys;
mod languages;
mod lower;
mod own_lists;
mod sentences;
mod shows;
mod steps;
mod tables;
mod tasks;
mod tree;
mod write;

pub use convert::{Converted, convert_folder};
pub use lower::is_first;
pub(crate) use lower::read_folder;

#[cfg(test)]
mod mutated;
#[cfg(test)]
mod tests;
