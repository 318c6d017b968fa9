//! BrainTeaser: lateral puzzles in groups of three (Jiang et al., 3.1–3.5).

use super::{Recipe, Stage, step};
use crate::stages::{Draft, Puzzling, Review};

/// Section 3.2: riddles of public sites, without what the sites glue on and without personal data, their typing errors corrected where people
/// agree, near-duplicates merged, and only lateral puzzles kept, of sentences or of words. Section 3.3: premises
/// of sentence puzzles; distractors that overturn the other premises, or words that WordNet has beside the answer, or
/// a model knows. Section 3.4: the puzzle in other words and in another situation. Section 3.5: whether the group is
/// sound, for as many as somebody looks at. Then each puzzle becomes three questions; their topics are drafted as in
/// appendix A.1, and hold nothing up.
pub const RECIPE: Recipe = Recipe {
    name: "brainteaser",
    about: "lateral puzzles for BrainTeaser",
    steps: &[
        step("import", Stage::Import, &[]),
        step("strip", Stage::Puzzle(Puzzling::Strip), &["import"]),
        step("anonymise", Stage::Puzzle(Puzzling::Anonymise), &["strip"]),
        step("spelling", Stage::Puzzle(Puzzling::Spelling), &["anonymise"]),
        step("review:spelling", Stage::Review(Review::Spelling), &["spelling"]),
        step("dedup", Stage::Puzzle(Puzzling::Dedup), &["review:spelling"]),
        step("kind", Stage::Draft(Draft::PuzzleKind), &["dedup"]),
        step("review:kind", Stage::Review(Review::PuzzleKind), &["kind"]),
        step("premises", Stage::Draft(Draft::Premises), &["review:kind"]),
        step("review:premises", Stage::Review(Review::Premises), &["premises"]),
        step("near", Stage::Puzzle(Puzzling::Near), &["review:premises"]),
        step("distractors", Stage::Draft(Draft::Distractors), &["near"]),
        step("review:distractors", Stage::Review(Review::Distractors), &["distractors"]),
        step("semantic", Stage::Draft(Draft::Semantic), &["review:distractors"]),
        step("review:semantic", Stage::Review(Review::Semantic), &["semantic"]),
        step("context", Stage::Draft(Draft::Context), &["review:semantic"]),
        step("review:context", Stage::Review(Review::Context), &["context"]),
        step("review:validity", Stage::Review(Review::Validity), &["review:context"]),
        step("group", Stage::Puzzle(Puzzling::Group), &["review:validity"]),
        step("topic", Stage::Draft(Draft::Topic), &["group"]),
    ],
    choices: &[
        ("dedup.metric", "\"indel\""),
        ("review.optional", "[\"validity\"]"),
        ("draft.optional", "[\"topic\"]"),
    ],
};
