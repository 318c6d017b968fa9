//! Options: the explanation and the wrong answers of a text in the order drawn for it (FLUB 2.1).

use crate::config::sections;
use riddlemill_text::options::{LETTERS, choices};
use riddlemill_text::record::{CunningText, Outcome, Reason};

/// What an order is drawn for. It decides the order: changing it reshuffles every set.
const PURPOSE: &str = "flub options";
/// Wrong answers beside the right one.
const WRONG: usize = 3;

/// Puts a text's options in order, or says what is missing for that.
pub fn options(mut text: CunningText, settings: &sections::Options) -> Outcome<CunningText> {
    let held = |evidence: String| Outcome::Held { reason: Reason::OptionsMissing, evidence };
    let Some(explanation) = text.explanation.as_deref().filter(|e| !e.trim().is_empty()) else {
        return held("it has no explanation".into());
    };
    if text.wrong.len() != WRONG {
        return held(format!("it has {} wrong answers, not {WRONG}", text.wrong.len()));
    }
    match choices(explanation, &text.wrong, settings.seed, PURPOSE, &text.id) {
        Err(alike) => held(alike.to_string()),
        Ok(made) => {
            text.options = made.options;
            text.answer = Some(made.answer as u64);
            Outcome::Changed {
                rule: Reason::Ordered.code(),
                evidence: format!("the explanation is {}", LETTERS[made.answer]),
                before: String::new(),
                after: text.options.join("\n"),
                row: text,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(wrong: &[&str]) -> CunningText {
        CunningText {
            id: "tieba:1".into(),
            explanation: Some("对".into()),
            wrong: wrong.iter().map(ToString::to_string).collect(),
            ..CunningText::default()
        }
    }

    #[test]
    fn four_different_options_or_none() {
        let settings = sections::Options { seed: 1 };
        let Outcome::Changed { row, .. } = options(text(&["甲", "乙", "丙"]), &settings) else { panic!() };
        assert_eq!(row.options.len(), 4);
        assert_eq!(row.options[row.answer.unwrap() as usize], "对");
        for lacking in [&["甲", "乙"][..], &["甲", "乙", "对。"], &["甲", "乙", "乙"]] {
            let outcome = options(text(lacking), &settings);
            assert!(matches!(outcome, Outcome::Held { reason: Reason::OptionsMissing, .. }), "{outcome:?}");
        }
        assert!(matches!(options(CunningText::default(), &settings), Outcome::Held { .. }));
    }
}
