//! Why a line is set aside of the files that people lay beside the dumps: responses, ratings, premises.

use std::ops::RangeInclusive;

/// What is wrong with a line, and what would help. A ledger or a table of the stage has it beside the line's place.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// It is no JSON, or has other keys than such lines have.
    #[error(transparent)]
    Form(#[from] serde_json::Error),
    /// The same of raw/responses.
    #[error("no response: {0}\n  hint: a line is {{\"item\": …, \"model\": …, \"text\": …, \"for\": …}}")]
    NoResponse(serde_json::Error),
    /// The same of raw/ratings.
    #[error(
        "no rating: {0}\n  hint: a line is {{\"item\": …, \"model\": …, \"judge\": …, \"rating\": …, \"for\": …}}"
    )]
    NoRating(serde_json::Error),
    /// A response to what is no question.
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
    /// A response to a case that the step has not.
    #[error("{0}")]
    NoCase(String),
    /// Nobody said it, or nothing was said.
    #[error("model and text must not be empty")]
    EmptyResponse,
    /// A second response in the name of the first.
    #[error(
        "the same item, model and sample as {first}\n  hint: number further answers of a model with \"sample\""
    )]
    SameResponse {
        /// Where the first stands.
        first: String,
    },
    /// The model said the same to this question before.
    #[error("this model has answered so before, word for word")]
    SameWords,
    /// A rating that is not on the scale of the step.
    #[error("{rating} is no rating from {from} to {to}")]
    OffScale {
        /// The rating.
        rating: u64,
        /// The lowest that there is.
        from: u32,
        /// The highest.
        to: u32,
    },
    /// Nobody gave the rating.
    #[error("no judge is named")]
    NoJudge,
    /// A rating of a response that is not there.
    #[error(
        "no response of {model:?} to {item:?} is rated here\n  hint: its text goes into raw/responses, or the model is asked"
    )]
    NotRated {
        /// Who shall have said it.
        model: String,
        /// To what.
        item: String,
    },
    /// A judge's second rating of a response.
    #[error("the same response and judge as {first}")]
    SameRating {
        /// Where the first stands.
        first: String,
    },
    /// Facts about nothing.
    #[error(
        "it names no puzzle and no word\n  hint: \"question\" (or \"head\", or \"id\") with \"premises\" or \"tails\"; \"word\" with \"members\""
    )]
    AboutNothing,
    /// Fewer premises than the paper works with, or more.
    #[error("{found} premises, not {} to {}", wanted.start(), wanted.end())]
    Premises {
        /// How many there are.
        found: usize,
        /// How many there may be.
        wanted: RangeInclusive<usize>,
    },
    /// None of the premises is the one that the answer overturns.
    #[error("\"overturned\" is no number of a premise, from 0")]
    Overturned,
    /// What the line says of a puzzle is not one thing.
    #[error("it has neither \"premises\" nor \"tails\", or both")]
    NotOneKind,
}
