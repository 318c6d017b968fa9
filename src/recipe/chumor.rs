//! Chumor: jokes of the annual threads and the moderators' recommendations (He et al., 2).

use super::{Recipe, Stage, step};

/// Section 2: title and content, placeholders and cut titles repaired, duplicates between the
/// annual and the recommended threads removed.
pub const RECIPE: Recipe = Recipe {
    name: "chumor",
    about: "jokes for Chumor",
    steps: &[
        step("import", Stage::Import, &[]),
        step("clean", Stage::Clean, &["import"]),
        step("anonymise", Stage::Anonymise, &["clean"]),
        step("filter", Stage::Filter, &["anonymise"]),
        step("dedup", Stage::Dedup, &["filter"]),
    ],
    choices: &[],
};
