//! RuozhiBench-Gen: trick questions (Zhai et al., 2.2–2.4).

use super::{Recipe, Stage, step};

/// Section 2.2: interrogative sentences by string matching, 86,000 entries to more than 8,000.
pub const RECIPE: Recipe = Recipe {
    name: "ruozhibench-gen",
    about: "trick questions for RuozhiBench-Gen",
    steps: &[
        step("import", Stage::Import, &[]),
        step("clean", Stage::Clean, &["import"]),
        step("anonymise", Stage::Anonymise, &["clean"]),
        step("filter", Stage::Filter, &["anonymise"]),
        step("dedup", Stage::Dedup, &["filter"]),
    ],
    choices: &[("filter.questions", "true")],
};
