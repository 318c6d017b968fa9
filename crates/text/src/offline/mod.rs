//! The decisions of the offline stages on posts, by their settings: the rules of [`crate::text`] and the
//! joins of [`crate::join`] combined as in a run. No files and no tables: the program's stages, its line
//! filters and the Python package all call these.
//!
//! In the order of the stages: [`clean()`], [`Anonymise`], [`filter()`], [`dedup`]; [`settings`] configures
//! them.

mod anonymise;
mod clean;
mod decision;
pub mod dedup;
#[cfg(test)]
mod english_set;
mod filter;
pub mod settings;

pub use anonymise::{Anonymise, Lists, MARKED};
pub use clean::{clean, rules_of};
pub use decision::{RowOutcome, kind_of};
pub use filter::{asks_in, filter};

use crate::text::language::detect;
use riddlemill_record::{Language, Post};

/// The language of a post: its own, else the one that the settings state, else that of its text.
fn language_of(post: &Post, stated: Option<Language>, text: impl FnOnce() -> String) -> Language {
    post.language.or(stated).unwrap_or_else(|| detect(&text()).language)
}
