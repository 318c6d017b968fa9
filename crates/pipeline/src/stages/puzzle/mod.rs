//! BrainTeaser's own stages: from riddles to puzzles, and from a puzzle to the questions of its group.
//!
//! In the order of the recipe: [`strip()`] makes a puzzle of a riddle, [`super::Anonymise`] marks personal data, [`spelling()`] proposes corrections,
//! [`dedup()`] keeps one of two that are alike by their words or by [embeddings](super::embed), [`given()`] takes premises from files,
//! [`near()`] distractors of word puzzles from files or WordNet, [`group()`] makes the three questions. What models draft and people decide is said in
//! [`super::subject`].

mod dedup;
mod given;
mod group;
mod near;
mod spelling;
mod strip;

pub use dedup::dedup;
pub use given::{SuppliedFacts, given};
pub use group::{ROLES, group};
pub use near::{Beside, Near, near};
pub use spelling::spelling;
pub use strip::shown;
pub use strip::{as_published, strip};

/// Every stage that knows of puzzles alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PuzzleStage {
    /// Riddles to puzzles.
    Strip,
    /// Personal data becomes a mark.
    Anonymise,
    /// Typing errors, as proposals.
    Spelling,
    /// One record a puzzle.
    Dedup,
    /// Premises and what follows from them, from files in raw/premises.
    Given,
    /// Distractors from such files or from WordNet.
    Near,
    /// The same for the new situation.
    ContextNear,
    /// A puzzle to the three questions of its group.
    Group,
}

impl PuzzleStage {
    /// The operations that a benchmark's folder may name, each with its stage.
    pub const OPS: [(&'static str, PuzzleStage); 8] = [
        ("riddle", PuzzleStage::Strip),
        ("anonymise_riddle", PuzzleStage::Anonymise),
        ("spelling", PuzzleStage::Spelling),
        ("same_riddle", PuzzleStage::Dedup),
        ("given_premises", PuzzleStage::Given),
        ("neighbours", PuzzleStage::Near),
        ("neighbours_in_context", PuzzleStage::ContextNear),
        ("puzzle_group", PuzzleStage::Group),
    ];

    /// The stage of an operation.
    pub fn of_op(op: &str) -> Option<PuzzleStage> {
        PuzzleStage::OPS.iter().find(|(name, _)| *name == op).map(|(_, stage)| *stage)
    }
}
