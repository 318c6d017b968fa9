//! From raw/ to staged/: settings, stages, recipes, and the loop that runs them.
//!
//! # In reading order
//!
//! - [`config`]: settings with their origin.
//! - [`stages`]: functions from typed rows to outcomes. [`recipe`]: a benchmark as a list of stages.
//! - [`pipeline`]: the loop that runs stages and writes their outcomes.
//! - [`search`]: finds any record of any dump by a piece of its text.

pub mod config;
pub mod pipeline;
pub mod recipe;
pub mod search;
pub mod stages;

pub use pipeline::registered_logs;
