//! From raw/ to staged/: settings, stages, recipes, and the loop that runs them.
//!
//! # In reading order
//!
//! - [`config`]: settings with their origin.
//! - [`stages`]: functions from typed rows to outcomes. [`recipe`]: a benchmark as a list of stages.
//! - [`pipeline`]: the one loop that feeds stages and writes what they say.
//! - [`search`]: any record of any dump by a piece of its text, read back from its place.

pub mod config;
pub mod pipeline;
pub mod recipe;
pub mod search;
pub mod stages;
