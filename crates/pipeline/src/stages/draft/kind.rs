//! The type of a cunning text (FLUB, figure 2).

use riddlemill_llm::parse::{Unreadable, object, one_of, text_field};
use riddlemill_review::{Values, ballots};

/// What the types are called, in either language.
pub(super) fn names() -> Vec<&'static str> {
    ballots::options("flub", "types").iter().flat_map(|kind| [kind.label.zh, kind.label.en]).collect()
}

/// A type off the list is unreadable, and asked for again.
pub(super) fn read(reply: &str) -> Result<Values, Unreadable> {
    let map = object(reply, &["type"])?;
    let types = ballots::options("flub", "types");
    let name = one_of(text_field(&map, "type")?, &names())?;
    let code = types.iter().find(|kind| kind.label.zh == name || kind.label.en == name).map(|kind| kind.code);
    Ok(code.map(|code| ("type", code)).into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_either_language_become_codes() {
        let read = |name: &str| read(&serde_json::json!({ "type": name, "reason": "。" }).to_string());
        assert_eq!(read("推理错误").unwrap().text("type"), Some("reasoning_error"));
        assert_eq!(read(" Word Game ").unwrap().text("type"), Some("word_game"));
        assert_eq!(read("未分类").unwrap().text("type"), Some("undefined"));
        assert!(read("谜语").is_err());
    }
}
