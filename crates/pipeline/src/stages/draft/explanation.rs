//! The explanation of a cunning text (FLUB 2.1).

use riddlemill_llm::parse::{Unreadable, plain};
use riddlemill_review::Values;

pub(super) fn read(reply: &str) -> Result<Values, Unreadable> {
    Ok([("explanation", plain(reply, &["解释", "正确解释"])?)].into_iter().collect())
}
