//! Why a release was not made, or cannot be restored.

use super::version::{Bump, NoVersion, Version};
use crate::pipeline::{RunError, StaleStage};
use crate::store;
use riddlemill_text::text::count_with_noun;

/// What to do about splits with fewer rows than their folder says.
pub(super) const SHORT_SPLITS_REMEDY: &str = "release once there are more rows, or change `[data.splits]` in its benchmark.toml; `--partial` releases it all the same";

/// Why a release is refused.
#[derive(Debug, thiserror::Error)]
pub enum ReleaseError {
    /// A file could not be read or written.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// A stage could not be read.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The argument is not a version.
    #[error(transparent)]
    Version(#[from] NoVersion),
    /// There is nothing to release yet.
    #[error("{recipe} has no candidate\n  hint: `riddlemill run --recipe {recipe}` builds it")]
    NoCandidate { recipe: String },
    /// The benchmark does not declare what is released of it.
    #[error(
        "benchmarks/{recipe}/benchmark.toml has no [data]: it cannot be released\n  hint: docs/benchmark-folder.md describes it"
    )]
    NoData { recipe: String },
    /// The candidate is from an older run.
    #[error(
        "the candidate of {recipe} does not match its stages\n  hint: `riddlemill run --recipe {recipe}` rebuilds it"
    )]
    StaleCandidate { recipe: String },
    /// Stages under the candidate do not match what raw/ and the settings contain now.
    #[error(
        "the candidate of {recipe} does not match raw/ and the settings:\n{}\n  hint: `riddlemill run{}` rebuilds it; `--draft` continues without",
        stages.iter().map(|stage| format!("  {stage}")).collect::<Vec<_>>().join("\n"), of_recipes(stages, recipe)
    )]
    Outdated {
        recipe: String,
        /// The stages, with their changes.
        stages: Vec<StaleStage>,
    },
    /// The candidate still contains withdrawn rows, which not even a draft may.
    #[error(
        "{rows} {} of the candidate of {recipe} {} withdrawn since it was built\n  hint: `riddlemill run --recipe {recipe}` removes {}",
        if *rows == 1 { "row" } else { "rows" }, if *rows == 1 { "was" } else { "were" }, if *rows == 1 { "it" } else { "them" }
    )]
    Withdrawn {
        recipe: String,
        /// How many.
        rows: usize,
    },
    /// Nothing reached the recipe's end.
    #[error("0 items of {recipe} reached its end{}\n  hint: `riddlemill status --recipe {recipe}` lists what they wait for", waits.iter().map(|wait| format!("; {wait}")).collect::<String>())]
    Empty {
        recipe: String,
        /// What waits at which stages, as text.
        waits: Vec<String>,
    },
    /// Without a licence nobody may use the set, and the files that must state one would be invalid.
    #[error(
        "no licence is set for {recipe} as a whole: {}\n  hint: {}", stated.join("; "), match allowed {
            Some(licence) => format!(
                "set `licence = {licence:?}`, or another SPDX identifier, under [release] in pipeline.toml; `LicenseRef-NAME` is for one \
                 that SPDX does not list"
            ),
            None => "no common licence is allowed by all of them: leave a source out, or state in its [[source]] the licence that its \
                     holder gave you; `licence` under [release] in pipeline.toml is the one for the whole, and `LicenseRef-NAME` one that \
                     SPDX does not list"
                .to_owned(),
        }
    )]
    Unlicensed {
        recipe: String,
        /// What each dump's source states.
        stated: Vec<String>,
        /// A licence of the whole that all of them allow; `None` if none of the common ones is.
        allowed: Option<String>,
    },
    /// The licence of a source does not allow what the licence of the whole does.
    #[error(
        "{recipe} must not be released under {licence}: {}\n  hint: {}",
        why.join("; "),
        licence_hint(allowed.as_deref())
    )]
    Forbidden {
        recipe: String,
        /// The licence of the whole.
        licence: String,
        /// What forbids it, by source.
        why: Vec<String>,
        /// A licence that all sources allow, if one of theirs is.
        allowed: Option<String>,
    },
    /// Rows fail checks of the benchmark's folder, or have the id of another row.
    #[error(
        "rows of {recipe} are not what the set promises, and nothing was released:\n{}\n  hint: mend each as it says, then `riddlemill run --recipe {recipe}`",
        found.iter().map(|fault| format!("  {fault}")).collect::<Vec<_>>().join("\n")
    )]
    Rows {
        recipe: String,
        /// What is wrong, by row.
        found: Vec<String>,
    },
    /// Too small a share of the items stands in a stable release that nobody asked for as a partial one.
    #[error(
        "{rows} of {} of {recipe} would be in {version}, the others wait or failed:\n{}\n  hint: `riddlemill status --recipe {recipe}` tells what they wait for; `--partial` releases it all the same; \
         whole_share under [release] in pipeline.toml is the share from which nobody is asked",
        count_with_noun(*all, "item"),
        left.iter().map(|left| format!("  {left}")).collect::<Vec<_>>().join("\n")
    )]
    Partial {
        recipe: String,
        version: Version,
        /// How many rows there are.
        rows: u64,
        /// How many there could be.
        all: u64,
        /// What is left out, as text.
        left: Vec<String>,
    },
    /// Splits have fewer rows than the folder says, and released rows never move.
    #[error("{}: of {recipe}, and released rows never move\n  hint: {SHORT_SPLITS_REMEDY}", short.join("; "))]
    ShortSplits {
        recipe: String,
        /// What is said of each.
        short: Vec<String>,
    },
    /// Several things are missing, all of which are named at once.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Several(Vec<ReleaseError>),
    /// Nothing differs from the release before.
    #[error("nothing changed since {recipe} {version}\n  hint: --version assigns a new number nevertheless")]
    Unchanged {
        recipe: String,
        /// The latest release.
        version: Version,
    },
    /// The version exists already.
    #[error(
        "{recipe} {version} was released already; versions are never overwritten\n  hint: {proposed} is the next one"
    )]
    Exists {
        recipe: String,
        /// The requested version.
        version: Version,
        /// A version that would be accepted.
        proposed: Version,
    },
    /// The version is too small for the changes.
    #[error("{version} is too small: {why}\n  hint: {proposed} or greater")]
    TooSmall {
        /// The requested version.
        version: Version,
        /// Which change requires more.
        why: String,
        /// A version that would be accepted.
        proposed: Version,
    },
    /// A stable version is requested while people's reviews are missing.
    #[error("{version} cannot be stable: {}\n  hint: {proposed} is the draft that can be released", why.join("; "))]
    Draft {
        /// The requested version.
        version: Version,
        /// What is missing.
        why: Vec<String>,
        /// A version that would be accepted.
        proposed: Version,
    },
    /// The new folder does not pass verification.
    #[error("the folder does not verify, and was not released: {}", findings.join("; "))]
    Findings { findings: Vec<String> },
    /// A published number is taken, or its item has another one.
    #[error(
        "{series} {number} cannot be adopted for {key}: {why}\n  hint: numbers are permanent; adopt before the first release"
    )]
    Number {
        series: String,
        /// The published number.
        number: u64,
        /// The record.
        key: String,
        /// The reason.
        why: String,
    },
    /// Rows of this recipe have no numbers.
    #[error("rows of {recipe} have no numbers to adopt")]
    NoNumbers { recipe: String },
    /// The target of a withdrawal does not identify one post.
    #[error("{target:?}: {why}")]
    Target {
        target: String,
        /// The reason.
        why: String,
    },
    /// There is no such release.
    #[error("{recipe} has no release {version}\n  hint: {}", match known.as_slice() { [] => "it has none yet".to_string(), known => format!("there are {}", known.join(", ")) })]
    NoRelease {
        recipe: String,
        /// The requested version.
        version: Version,
        /// The existing versions.
        known: Vec<String>,
    },
    /// The version was yanked already.
    #[error("{recipe} {version} was yanked on {date}")]
    YankedBefore {
        recipe: String,
        version: Version,
        /// The day.
        date: String,
    },
    /// Not a date.
    #[error("{0:?} is not a day of the calendar\n  hint: YYYY-MM-DD")]
    Date(String),
}

/// What mends a licence that a source does not allow: one that all allow, or that source.
fn licence_hint(licence: Option<&str>) -> String {
    let source = "leave the source out, or state in its [[source]] the licence that its holder gave you";
    match licence {
        Some(licence) => format!(
            "set `licence = \"{licence}\"` under [release] in pipeline.toml, which every source allows; or {source}"
        ),
        None => source.to_owned(),
    }
}

impl ReleaseError {
    /// What mends a missing or forbidden licence; `None` of other errors.
    pub fn licence_to_set(&self) -> Option<String> {
        match self {
            ReleaseError::Unlicensed { .. } => {
                Some("set `licence` under [release] in pipeline.toml, an SPDX identifier".to_owned())
            }
            ReleaseError::Forbidden { allowed: Some(licence), .. } => {
                Some(format!("set `licence = \"{licence}\"` under [release] in pipeline.toml"))
            }
            ReleaseError::Forbidden { allowed: None, .. } => Some(licence_hint(None)),
            _ => None,
        }
    }
}

impl Bump {
    /// The level's name in messages.
    pub fn level_name(self) -> &'static str {
        match self {
            Bump::Patch => "PATCH",
            Bump::Minor => "MINOR",
            Bump::Major => "MAJOR",
        }
    }
}

/// The flags with which `run` makes these stages and a recipe: it leaves those of recipes that nobody named as they are.
fn of_recipes(stages: &[StaleStage], recipe: &str) -> String {
    let mut named: Vec<&str> = Vec::new();
    for one in stages.iter().map(|stage| stage.recipe).filter(|one| *one != recipe) {
        if !named.contains(&one) {
            named.push(one);
        }
    }
    named.push(recipe);
    named.iter().map(|name| format!(" --recipe {name}")).collect()
}
