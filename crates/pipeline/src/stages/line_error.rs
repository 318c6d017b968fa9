//! Why a line of a file next to the dumps (responses, ratings, premises) is skipped.

use std::ops::RangeInclusive;

/// What is wrong with a line, with a hint. The ledger or a table of the stage records it with the line's position.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// The line is not JSON, or has unknown or missing keys.
    #[error(transparent)]
    Form(#[from] serde_json::Error),
    /// A line of raw/responses is not JSON or has wrong keys.
    #[error("not a response: {0}\n  hint: a line is {{\"item\": …, \"model\": …, \"text\": …, \"for\": …}}")]
    NoResponse(serde_json::Error),
    /// A line of raw/ratings is not JSON or has wrong keys.
    #[error(
        "not a rating: {0}\n  hint: a line is {{\"item\": …, \"model\": …, \"judge\": …, \"rating\": …, \"for\": …}}"
    )]
    NoRating(serde_json::Error),
    /// A response to an item that is not a question.
    #[error("no question {0:?} at the end of its recipe\n  hint: `riddlemill explain {0}` says why")]
    NoQuestion(String),
    /// A response to a case that is not asked about the record.
    #[error("{name:?} is not asked about {item:?}")]
    NotAsked {
        /// The record.
        item: String,
        /// The case.
        name: &'static str,
    },
    /// A response to a case that the step does not declare.
    #[error("{0}")]
    NoCase(String),
    /// The model or the text is empty.
    #[error("model and text must not be empty")]
    EmptyResponse,
    /// A second response with the same item, model and sample.
    #[error(
        "the same item, model and sample as {first}\n  hint: number further answers of a model with \"sample\""
    )]
    SameResponse {
        /// The position of the first.
        first: String,
    },
    /// The model gave the same answer to this question before.
    #[error("this model already gave the same answer, word for word")]
    SameWords,
    /// A rating that is not on the scale of the step.
    #[error("{rating} is not a rating from {from} to {to}")]
    OffScale {
        rating: u64,
        /// The lowest rating.
        from: u32,
        /// The highest.
        to: u32,
    },
    /// Nobody gave the rating.
    #[error("no judge is named")]
    NoJudge,
    /// A rating of a missing response.
    #[error(
        "no response of {model:?} to {item:?} is rated here\n  hint: its text goes into raw/responses, or the model is asked"
    )]
    NotRated {
        /// The model that the line names.
        model: String,
        /// The item that the line names.
        item: String,
    },
    /// A judge's second rating of a response.
    #[error("the same response and judge as {first}")]
    SameRating {
        /// The position of the first.
        first: String,
    },
    /// The line names neither a puzzle nor a word.
    #[error(
        "it names neither a puzzle nor a word\n  hint: \"question\" (or \"head\", or \"id\") with \"premises\" or \"tails\"; \"word\" with \"members\""
    )]
    AboutNothing,
    /// Fewer premises than the paper works with, or more.
    #[error("{found} premises, not {} to {}", wanted.start(), wanted.end())]
    Premises {
        /// The number of premises.
        found: usize,
        /// The allowed numbers.
        wanted: RangeInclusive<usize>,
    },
    /// `overturned` is not the index of a premise.
    #[error("\"overturned\" must be the number of a premise, counted from 0")]
    Overturned,
    /// The line has both `premises` and `tails`, or neither.
    #[error("it has neither \"premises\" nor \"tails\", or both")]
    NotOneKind,
}
