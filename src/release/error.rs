//! Why a release was not made, or not given back.

use super::version::{Bump, NoVersion, Version};
use crate::pipeline::{RunError, StaleStage};
use crate::store;

/// What can be in the way of a release.
#[derive(Debug, thiserror::Error)]
pub enum ReleaseError {
    /// A file could not be read or written.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// A stage could not be read.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The argument is no version.
    #[error(transparent)]
    Version(#[from] NoVersion),
    /// There is nothing to release yet.
    #[error("{recipe} has no candidate\n  hint: `riddlemill run --recipe {recipe}` builds it")]
    NoCandidate {
        /// The recipe.
        recipe: String,
    },
    /// The benchmark does not say what is released of it.
    #[error(
        "benchmarks/{recipe}/benchmark.toml has no [data]: it cannot be released\n  hint: docs/benchmark-folder.md describes it"
    )]
    NoData {
        /// The recipe.
        recipe: String,
    },
    /// The candidate is that of an older run.
    #[error(
        "the candidate of {recipe} does not match its stages\n  hint: `riddlemill run --recipe {recipe}` rebuilds it"
    )]
    StaleCandidate {
        /// The recipe.
        recipe: String,
    },
    /// Stages under the candidate do not follow from what raw/ and the settings hold now.
    #[error(
        "the candidate of {recipe} does not match raw/ and the settings:\n{}\n  hint: `riddlemill run --recipe {recipe}` rebuilds it; `--draft` continues without",
        stages.iter().map(|stage| format!("  {stage}")).collect::<Vec<_>>().join("\n")
    )]
    Outdated {
        /// The recipe.
        recipe: String,
        /// The stages, with what changed.
        stages: Vec<StaleStage>,
    },
    /// The candidate still holds what was withdrawn: not even a draft may.
    #[error(
        "{rows} {} of the candidate of {recipe} {} withdrawn since it was built\n  hint: `riddlemill run --recipe {recipe}` removes {}",
        if *rows == 1 { "row" } else { "rows" }, if *rows == 1 { "was" } else { "were" }, if *rows == 1 { "it" } else { "them" }
    )]
    Withdrawn {
        /// The recipe.
        recipe: String,
        /// How many.
        rows: usize,
    },
    /// Nothing reached the recipe's end.
    #[error("0 items of {recipe} reached its end{}\n  hint: `riddlemill status --recipe {recipe}` lists what they wait for", waits.iter().map(|wait| format!("; {wait}")).collect::<String>())]
    Empty {
        /// The recipe.
        recipe: String,
        /// What waits where, in words.
        waits: Vec<String>,
    },
    /// Nobody may use what has no licence, and the files that must state one would be invalid.
    #[error(
        "no licence is set for {recipe} as a whole: {}\n  hint: set `licence = \"CC-BY-4.0\"`, or another SPDX identifier, under [release] in pipeline.toml; `LicenseRef-NAME` is for one that SPDX does not list",
        stated.join("; ")
    )]
    Unlicensed {
        /// The recipe.
        recipe: String,
        /// What each dump's source states.
        stated: Vec<String>,
    },
    /// Nothing differs from the release before.
    #[error("nothing changed since {recipe} {version}\n  hint: --version assigns a new number nevertheless")]
    Unchanged {
        /// The recipe.
        recipe: String,
        /// The latest release.
        version: Version,
    },
    /// The version stands already.
    #[error(
        "{recipe} {version} was released already; versions are never overwritten\n  hint: {proposed} is the next one"
    )]
    Exists {
        /// The recipe.
        recipe: String,
        /// What was asked for.
        version: Version,
        /// What would do.
        proposed: Version,
    },
    /// The version says less than what changed.
    #[error("{version} is too small: {why}\n  hint: {proposed} or greater")]
    TooSmall {
        /// What was asked for.
        version: Version,
        /// What demands more.
        why: String,
        /// What would do.
        proposed: Version,
    },
    /// A stable version is asked for while people have still to look.
    #[error("{version} cannot be stable: {}\n  hint: {proposed} is the draft that can be released", why.join("; "))]
    Draft {
        /// What was asked for.
        version: Version,
        /// What is missing.
        why: Vec<String>,
        /// What would do.
        proposed: Version,
    },
    /// The folder that was built does not pass its own check.
    #[error("the folder does not verify, and was not released: {}", findings.join("; "))]
    Findings {
        /// What does not fit.
        findings: Vec<String>,
    },
    /// A published number is taken, or its item has another one.
    #[error(
        "{series} {number} cannot be adopted for {key}: {why}\n  hint: numbers are permanent; adopt before the first release"
    )]
    Number {
        /// The series.
        series: String,
        /// The published number.
        number: u64,
        /// The record.
        key: String,
        /// What stands against it.
        why: String,
    },
    /// Rows of this recipe bear no numbers.
    #[error("rows of {recipe} have no numbers to adopt")]
    NoNumbers {
        /// The recipe.
        recipe: String,
    },
    /// What is to be withdrawn is not one post.
    #[error("{target:?}: {why}")]
    Target {
        /// What was named.
        target: String,
        /// Why not.
        why: String,
    },
    /// There is no such release.
    #[error("{recipe} has no release {version}\n  hint: {}", match known.as_slice() { [] => "it has none yet".to_string(), known => format!("there are {}", known.join(", ")) })]
    NoRelease {
        /// The recipe.
        recipe: String,
        /// What was asked for.
        version: Version,
        /// What there is.
        known: Vec<String>,
    },
    /// The version was yanked already.
    #[error("{recipe} {version} was yanked on {date}")]
    YankedBefore {
        /// The recipe.
        recipe: String,
        /// The version.
        version: Version,
        /// The day.
        date: String,
    },
    /// A date that is none.
    #[error("{0:?} is not a date\n  hint: YYYY-MM-DD")]
    Date(String),
}

impl Bump {
    /// The word for it in messages.
    pub fn word(self) -> &'static str {
        match self {
            Bump::Patch => "PATCH",
            Bump::Minor => "MINOR",
            Bump::Major => "MAJOR",
        }
    }
}
