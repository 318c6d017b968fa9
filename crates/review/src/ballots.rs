//! The ballots that the benchmarks' folders declare (`ballots.toml`).
//!
//! Codes, field names and step names are stored in votes: they never change. Labels, guidelines and
//! definitions may be improved.

use crate::ballot::{Ballot, Choice};

/// The ballots of a recipe, in the order of its paper; empty for an unknown recipe.
pub fn steps_of_recipe(recipe: &str) -> &'static [Ballot] {
    riddlemill_benchmarks::find_benchmark(recipe)
        .map(|found| found.ballots.steps.as_slice())
        .unwrap_or_default()
}

/// One ballot.
pub fn find_step(recipe: &str, name: &str) -> Option<Ballot> {
    steps_of_recipe(recipe).iter().find(|step| step.name == name).cloned()
}

/// The options that a recipe's ballots share under a name, such as the types of FLUB.
pub fn options_of_list(recipe: &str, list: &str) -> &'static [Choice] {
    riddlemill_benchmarks::find_benchmark(recipe).map(|found| found.options_of_list(list)).unwrap_or_default()
}

/// Their English names.
pub fn option_names(recipe: &str, list: &str) -> Vec<&'static str> {
    options_of_list(recipe, list).iter().map(|option| option.label.en).collect()
}
