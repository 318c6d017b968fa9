//! On which side the person's explanation of a joke stands.

use super::answer::Answer;
use crate::options::Draw;

/// Which explanation of a joke is first for a reader: whether it is the person's. Drawn for each joke and
/// model, so that no place is favoured.
pub fn person_first(seed: u64, item: &str, model: &str) -> bool {
    Draw::new(seed, &format!("evaluation sides {model}"), item).below(2) == 0
}

/// Of a joke whose explanation is preferred, by whose it is; other ratings as they are.
pub(super) fn side(said: String, seed: u64, answer: &Answer) -> String {
    if !answer.task.is_compared() {
        return said;
    }
    preferred(&said, person_first(seed, &answer.item, &answer.model)).into()
}

/// Whose explanation is preferred: of `1`, `2` and anything else.
pub(super) fn preferred(said: &str, person_first: bool) -> &'static str {
    match (said, person_first) {
        ("1", true) | ("2", false) => "human",
        ("1", false) | ("2", true) => "llm",
        _ => "equal",
    }
}
