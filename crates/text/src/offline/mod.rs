//! What the offline stages decide of a post, by their settings: the rules of [`crate::text`] and the joins of
//! [`crate::join`] put together as a run puts them. No files and no tables: the program's stages, its filters of lines
//! and the Python package all call these.
//!
//! In the order of the stages: [`clean()`], [`Anonymise`], [`filter()`], [`dedup`]; [`settings`] is what they go by.

mod anonymise;
mod clean;
mod decision;
pub mod dedup;
mod filter;
pub mod settings;

pub use anonymise::{Anonymise, Lists, MARKED};
pub use clean::{clean, rules_of};
pub use decision::{RowOutcome, kind_of};
pub use filter::filter;
