//! What can be wrong with an answer.

use crate::ballot::Label;

/// What is wrong with an answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Fault {
    /// Not an option.
    #[error("unknown choice `{given}`; one of {allowed}{}", near_hint(near_to))]
    UnknownChoice {
        /// The value.
        given: String,
        /// The codes.
        allowed: String,
        /// The code it may mean.
        near_to: Option<String>,
    },
    /// A required field is empty.
    #[error("no answer")]
    Missing,
    /// Too few or too many options.
    #[error("{given} selected, but {min} to {max} are required")]
    Count {
        /// How many are marked.
        given: usize,
        /// Fewest.
        min: usize,
        /// Most.
        max: usize,
    },
    /// Not a whole number of the scale.
    #[error("`{given}` is not a whole number from {min} to {max}")]
    OffScale {
        /// The value.
        given: String,
        /// Lowest.
        min: i32,
        /// Highest.
        max: i32,
    },
    /// A text is written although the draft is accepted.
    #[error("`{verdict}` accepts the draft, but this is a different text")]
    Contradiction {
        /// The answer that takes the draft.
        verdict: String,
    },
    /// The draft is accepted although there is none.
    #[error("`{verdict}` accepts the draft, but there is none")]
    NoDraft {
        /// The answer that takes the draft.
        verdict: String,
    },
    /// It is answered although another answer leaves it out.
    #[error(
        "is asked only where `{asked}` is {}, and {}; leave it blank, or answer `{asked}` otherwise",
        allowed.join(" or "),
        if verdict.is_empty() { "that is blank".to_owned() } else { format!("here it is {verdict}") }
    )]
    NotAsked {
        /// The field that decides.
        asked: &'static str,
        /// Its answers for which this one is asked.
        allowed: Vec<&'static str>,
        /// Its answer; empty if it is blank.
        verdict: String,
    },
    /// A text that should differ repeats another answer.
    #[error("is the same as `{other}`; the two must differ")]
    Repeats {
        /// The field with the other.
        other: &'static str,
    },
    /// A text repeats what it must not.
    #[error("is the same as the right answer")]
    Right,
    /// The answers do not meet what the benchmark's folder requires.
    #[error("{}", says.en)]
    Unmet {
        /// The folder's sentence.
        says: Label,
    },
}

fn near_hint(near: &Option<String>) -> String {
    near.as_ref().map(|code| format!(" (did you mean `{code}`?)")).unwrap_or_default()
}
