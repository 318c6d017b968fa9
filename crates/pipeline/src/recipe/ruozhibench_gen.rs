//! RuozhiBench-Gen: trick questions (Zhai et al., 2.2–2.4).

use super::{Recipe, Stage, step};
use crate::stages::{Draft, Review};

/// Section 2.2: interrogative sentences by string matching, 86,000 entries to more than 8,000, of which
/// people keep 677; nothing is drafted for what they reject. Section 2.3: a translation, an analysis of
/// the reviewed question, categories from question and analysis, and a normal question where one fits,
/// each drafted by a model and reviewed. The pair comes last and not as a branch beside the categories, though
/// it needs none of them: two branches would have to be joined again into one row, and a question that waits
/// in one of them would wait in both all the same. Neither its prompt nor its ballot shows the categories, so
/// that a changed category asks for no pair anew; where `review.optional` names it, it holds nothing.
pub const RECIPE: Recipe = Recipe {
    name: "ruozhibench-gen",
    about: "trick questions for RuozhiBench-Gen",
    steps: &[
        step("import", Stage::Import, &[]),
        step("clean", Stage::Clean, &["import"]),
        step("anonymise", Stage::Anonymise, &["clean"]),
        step("filter", Stage::Filter, &["anonymise"]),
        step("dedup", Stage::Dedup, &["filter"]),
        step("screen", Stage::Draft(Draft::Screen), &["dedup"]),
        step("review:screen", Stage::Review(Review::Screen), &["screen"]),
        step("translate", Stage::Draft(Draft::Translation), &["review:screen"]),
        step("review:translation", Stage::Review(Review::Translation), &["translate"]),
        step("irrationality", Stage::Draft(Draft::Irrationality), &["review:translation"]),
        step("review:irrationality", Stage::Review(Review::Irrationality), &["irrationality"]),
        step("category", Stage::Draft(Draft::Category), &["review:irrationality"]),
        step("review:category", Stage::Review(Review::Category), &["category"]),
        step("pair", Stage::Draft(Draft::Pair), &["review:category"]),
        step("review:pair", Stage::Review(Review::Pair), &["pair"]),
    ],
    choices: &[("filter.questions", "true")],
};
