//! The order of the person's and the model's explanation of a joke.

use super::answer::Answer;
use crate::options::DrawStream;

/// Whether the person's explanation of a joke is shown first. Drawn for each joke and model, so that no
/// position is favoured.
pub fn person_first(seed: u64, item: &str, model: &str) -> bool {
    DrawStream::new(seed, &format!("evaluation sides {model}"), item).draw_below(2) == 0
}

/// Converts a preferred side into the author of that explanation; other ratings are unchanged.
pub(super) fn author_of_side(rating: String, seed: u64, answer: &Answer) -> String {
    if !answer.task.is_compared() {
        return rating;
    }
    preferred_author(&rating, person_first(seed, &answer.item, &answer.model)).into()
}

/// The author of the preferred explanation, from `1`, `2` or anything else.
pub(super) fn preferred_author(rating: &str, person_first: bool) -> &'static str {
    match (rating, person_first) {
        ("1", true) | ("2", false) => "human",
        ("1", false) | ("2", true) => "llm",
        _ => "equal",
    }
}
