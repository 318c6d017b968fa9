//! A model's answer to a question, asked as a user would ask it (RuozhiBench 3.1).

use riddlemill_llm::parse::Unreadable;
use riddlemill_review::Values;

/// Whatever it says is the answer, as long as it says something.
pub(super) fn read(reply: &str) -> Result<Values, Unreadable> {
    match reply.trim() {
        "" => Err(Unreadable::new("the reply is empty")),
        text => Ok([("text", text)].into_iter().collect()),
    }
}
