//! FLUB: cunning texts, questions and statements (Li et al., 2.1–2.3).

use super::{Recipe, Stage, step};

/// Section 2.1: all cunning texts of the forum, before people reject and rewrite them.
pub const RECIPE: Recipe = Recipe {
    name: "flub",
    about: "cunning texts for FLUB",
    steps: &[
        step("import", Stage::Import, &[]),
        step("clean", Stage::Clean, &["import"]),
        step("anonymise", Stage::Anonymise, &["clean"]),
        step("filter", Stage::Filter, &["anonymise"]),
        step("dedup", Stage::Dedup, &["filter"]),
    ],
    choices: &[],
};
