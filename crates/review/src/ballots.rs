//! The ballots that the benchmarks' folders declare (`ballots.toml`).
//!
//! Codes, field names and step names are stored in votes: they never change. Labels, guidelines and
//! definitions may be improved.

use crate::ballot::{Ballot, Choice};

/// The ballots of a recipe, in the order of its paper; empty for an unknown recipe.
pub fn steps(recipe: &str) -> &'static [Ballot] {
    riddlemill_benchmarks::find(recipe).map(|found| found.ballots.steps.as_slice()).unwrap_or_default()
}

/// One ballot.
pub fn step(recipe: &str, name: &str) -> Option<Ballot> {
    steps(recipe).iter().find(|step| step.name == name).cloned()
}

/// The options that a recipe's ballots share under a name, such as the types of FLUB.
pub fn options(recipe: &str, list: &str) -> &'static [Choice] {
    riddlemill_benchmarks::find(recipe).map(|found| found.list(list)).unwrap_or_default()
}

/// Their English names.
pub fn names(recipe: &str, list: &str) -> Vec<&'static str> {
    options(recipe, list).iter().map(|option| option.label.en).collect()
}
