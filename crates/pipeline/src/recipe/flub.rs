//! FLUB: cunning texts, questions and statements (Li et al., 2.1–2.3).

use super::{Recipe, Stage, step};
use crate::stages::{Draft, Review};

/// Section 2.1: of all posts of the forum people keep the cunning texts and rewrite each into one complete
/// sentence (9,927 to 834). Three juniors choose its type and a senior looks over it; two write an
/// explanation, of which a senior takes the better one; three write three wrong answers each, of which a
/// senior picks the three most challenging. What a model drafts is shown to seniors, never to juniors.
pub const RECIPE: Recipe = Recipe {
    name: "flub",
    about: "cunning texts for FLUB",
    steps: &[
        step("import", Stage::Import, &[]),
        step("clean", Stage::Clean, &["import"]),
        step("anonymise", Stage::Anonymise, &["clean"]),
        step("filter", Stage::Filter, &["anonymise"]),
        step("dedup", Stage::Dedup, &["filter"]),
        step("review:clean", Stage::Review(Review::Clean), &["dedup"]),
        step("type", Stage::Draft(Draft::Type), &["review:clean"]),
        step("review:type", Stage::Review(Review::Type), &["type"]),
        step("explanation", Stage::Draft(Draft::Explanation), &["review:type"]),
        step("review:explanation", Stage::Review(Review::Explanation), &["explanation"]),
        step("wrong-candidates", Stage::Draft(Draft::Wrong), &["review:explanation"]),
        step("review:wrong-candidates", Stage::Review(Review::WrongCandidates), &["wrong-candidates"]),
        step("review:wrong", Stage::Review(Review::Wrong), &["review:wrong-candidates"]),
        step("options", Stage::Options, &["review:wrong"]),
    ],
    choices: &[("draft.optional", "[\"type\", \"explanation\", \"wrong-candidates\"]")],
};
