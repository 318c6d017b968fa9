//! RuozhiBench-MC: a good and a bad answer to each trick question (Zhai et al., 3.1 and 4).

use super::{Recipe, Stage, step};
use crate::stages::Draft;

/// The reviewed questions of RuozhiBench-Gen, at the end of their own recipe.
const QUESTIONS: &str = "ruozhibench-gen/review:pair";

/// Section 3.1: models answer every question and every paired normal question; judges rate each answer with
/// the analysis at hand. Section 4.2: among a question's answers a pair whose mean ratings are more than 2
/// apart is drawn, or the highest and the lowest where there is none.
pub const RECIPE: Recipe = Recipe {
    name: "ruozhibench-mc",
    about: "a good and a bad answer to each trick question for RuozhiBench-MC",
    steps: &[
        step("respond", Stage::Draft(Draft::Respond), &[QUESTIONS]),
        step("judge", Stage::Draft(Draft::Judge), &["respond"]),
        step("options", Stage::Pairs, &["judge", QUESTIONS]),
    ],
    choices: &[],
};
