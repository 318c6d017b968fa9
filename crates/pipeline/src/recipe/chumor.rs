//! Chumor: jokes of the annual threads and the moderators' recommendations (He et al., 2–4).

use super::{Recipe, Stage, step};
use crate::stages::{Draft, Review};

/// Section 2: title and content, placeholders and cut titles repaired, duplicates between the annual and the
/// recommended threads removed; a person keeps what is funny, complete and not too offensive, and writes
/// why. Section 3: models explain it too, and people prefer one explanation or the other. Section 4: what
/// the models get wrong, for as many as somebody looks at.
pub const RECIPE: Recipe = Recipe {
    name: "chumor",
    about: "jokes for Chumor",
    steps: &[
        step("import", Stage::Import, &[]),
        step("clean", Stage::Clean, &["import"]),
        step("anonymise", Stage::Anonymise, &["clean"]),
        step("filter", Stage::Filter, &["anonymise"]),
        step("dedup", Stage::Dedup, &["filter"]),
        step("review:screen", Stage::Review(Review::JokeScreen), &["dedup"]),
        step("review:explanation", Stage::Review(Review::JokeExplanation), &["review:screen"]),
        step("opponents", Stage::Draft(Draft::Opponent), &["review:explanation"]),
        step("review:preference", Stage::Review(Review::Preference), &["opponents"]),
        step("review:errors", Stage::Review(Review::Errors), &["review:preference"]),
    ],
    choices: &[("review.optional", "[\"errors\"]")],
};
