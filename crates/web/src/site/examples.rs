//! An example of each rule that reads texts, written for this project: a site shows no text that its release lacks.

use crate::text::clean::Rule;

/// Reasons that are not rules of clean, each with a text to which it applies. A reason about files, replies or votes has
/// no text.
const EXAMPLES: &[(&str, &str)] = &[
    ("not_owner", "2楼：云会恐高吗？（不是楼主）"),
    ("chatter", "回复楼主：哈哈哈哈，云真的会吗"),
    ("note", "（楼主注：那几天一直在下雨。）"),
    ("no_number", "0.本帖由云朵商店赞助"),
    ("taken_away", "[removed]"),
    ("page_deleted", "该贴已被删除"),
    ("page_hidden", "该贴已被隐藏"),
    ("personal_data", "云恐高请打 138-0000-0000"),
    ("personal_data_marked", "云恐高请找 [电话]"),
    ("empty", "……！！"),
    ("too_short", "云？"),
    ("management", "【吧规】发帖前请先数云，违者删帖"),
    ("link_only", "http://example.com/cloud"),
    ("promised_elsewhere", "云为什么恐高，答案见下图"),
    ("not_a_question", "云恐高，所以下雨。"),
    ("exact_duplicate", "云会恐高吗？ = 云会恐高吗"),
    ("near_duplicate", "云会恐高吗？ ≈ 云到底会不会恐高？"),
    ("promotion", "云为什么恐高？更多谜语请看本站"),
    ("misspelt", "Why are cluods afraid of heights?"),
];

/// An example of a reason: a text, and what became of it, if it went on.
pub(super) fn example(code: &str) -> Option<(&'static str, Option<&'static str>)> {
    let of_clean = Rule::ALL.iter().find(|rule| rule.code() == code).map(|rule| rule.example());
    let written = || EXAMPLES.iter().find(|(known, _)| *known == code).map(|(_, text)| (*text, None));
    of_clean.map(|(before, after)| (before, Some(after))).or_else(written)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_example_is_of_a_reason_there_is() {
        for (code, _) in EXAMPLES {
            assert!(riddlemill_pipeline::stages::definition(code).is_some(), "{code}");
        }
        assert_eq!(example("number"), Some(("12*.云会恐高吗", Some("云会恐高吗"))));
        assert_eq!(example("votes_missing"), None);
    }
}
