//! The closed list of stages, and what all of them share.

use std::sync::atomic::{AtomicBool, Ordering};

use super::{Draft, Puzzling, Review};
use crate::store;

/// Every kind of stage. A recipe says which of them it uses, in which order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Dumps to posts.
    Import,
    /// What a post says once the forum's debris is gone.
    Clean,
    /// Personal data out of the texts.
    Anonymise,
    /// Posts of the recipe's kind.
    Filter,
    /// One record a joke.
    Dedup,
    /// What a model proposes.
    Draft(Draft),
    /// What people decided.
    Review(Review),
    /// The options of a multiple choice (FLUB 2.1).
    Options,
    /// A stage that knows of puzzles alone (BrainTeaser).
    Puzzle(Puzzling),
    /// A good and a bad answer (RuozhiBench 4.2).
    Pairs,
}

/// What a stage's rows are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// [`crate::record::Post`].
    Posts,
    /// [`crate::record::Question`].
    Questions,
    /// [`crate::record::CunningText`].
    Texts,
    /// [`crate::record::Joke`].
    Jokes,
    /// [`crate::record::Puzzle`].
    Puzzles,
    /// [`crate::record::Variant`].
    Variants,
    /// [`crate::record::Response`].
    Responses,
    /// [`crate::record::Choice`].
    Choices,
}

/// Runs an expression with `$row` as the type behind a value of [`Rows`].
macro_rules! of_rows {
    ($rows:expr, $row:ident => $body:expr) => {
        match $rows {
            $crate::stages::Rows::Posts => {
                type $row = $crate::record::Post;
                $body
            }
            $crate::stages::Rows::Questions => {
                type $row = $crate::record::Question;
                $body
            }
            $crate::stages::Rows::Texts => {
                type $row = $crate::record::CunningText;
                $body
            }
            $crate::stages::Rows::Jokes => {
                type $row = $crate::record::Joke;
                $body
            }
            $crate::stages::Rows::Puzzles => {
                type $row = $crate::record::Puzzle;
                $body
            }
            $crate::stages::Rows::Variants => {
                type $row = $crate::record::Variant;
                $body
            }
            $crate::stages::Rows::Responses => {
                type $row = $crate::record::Response;
                $body
            }
            $crate::stages::Rows::Choices => {
                type $row = $crate::record::Choice;
                $body
            }
        }
    };
}
pub(crate) use of_rows;

impl Stage {
    /// The table of its settings in pipeline.toml.
    pub fn section(self) -> &'static str {
        match self {
            Stage::Import => "import",
            Stage::Clean => "clean",
            Stage::Anonymise => "anonymise",
            Stage::Filter => "filter",
            Stage::Dedup => "dedup",
            Stage::Draft(_) => "draft",
            Stage::Review(_) => "review",
            Stage::Options | Stage::Pairs => "options",
            Stage::Puzzle(Puzzling::Dedup) => "dedup",
            Stage::Puzzle(Puzzling::Anonymise) => "anonymise",
            Stage::Puzzle(_) => "puzzles",
        }
    }

    /// What it writes.
    pub fn rows(self) -> Rows {
        match self {
            Stage::Import | Stage::Clean | Stage::Anonymise | Stage::Filter | Stage::Dedup => Rows::Posts,
            Stage::Draft(Draft::Respond) => Rows::Responses,
            Stage::Draft(draft) => draft.subjects().rows(),
            Stage::Review(review) => review.subjects().rows(),
            Stage::Options => Rows::Texts,
            Stage::Puzzle(Puzzling::Group) => Rows::Variants,
            Stage::Puzzle(_) => Rows::Puzzles,
            Stage::Pairs => Rows::Choices,
        }
    }

    /// Grows whenever the stage's code would give another output for the same input, so that what
    /// an older program made is made again.
    pub fn version(self) -> u32 {
        match self {
            Stage::Import => 3,
            Stage::Clean => 1,
            Stage::Anonymise => 1,
            Stage::Filter => 1,
            Stage::Dedup => 1,
            Stage::Draft(_) => 1,
            Stage::Review(_) => 1,
            Stage::Options | Stage::Pairs => 1,
            Stage::Puzzle(_) => 1,
        }
    }
}

/// Why a stage ended early.
#[derive(Debug, thiserror::Error)]
pub enum StageError {
    /// A file could not be read or written.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// The user asked to stop. What was finished before stands.
    #[error("stopped")]
    Stopped,
    /// The reply store could not be read or written.
    #[error(transparent)]
    Replies(#[from] crate::llm::store::StoreError),
    /// The votes could not be read.
    #[error(transparent)]
    Votes(#[from] crate::review::votes::LogError),
    /// A list or another file that the settings name cannot be used.
    #[error("{0}")]
    Settings(String),
}

/// Set when the user wants to stop; stages look at it between parts.
#[derive(Debug, Default)]
pub struct Stop(AtomicBool);

impl Stop {
    /// Asks to stop.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether a stop was asked for.
    pub fn asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// An error where a stop was asked for.
    ///
    /// # Errors
    /// [`StageError::Stopped`].
    pub fn check(&self) -> Result<(), StageError> {
        if self.asked() { Err(StageError::Stopped) } else { Ok(()) }
    }
}

/// Told how far a stage has come.
pub trait Pulse: Sync {
    /// So many more records are done.
    fn advance(&self, records: u64);
    /// What else is worth knowing now, in a line.
    fn say(&self, _words: &str) {}
}
