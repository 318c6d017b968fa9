//! Wrong answers to a cunning text (FLUB 2.1): three different ones a reply.

use riddlemill_llm::parse::{Unreadable, object, strings};
use riddlemill_review::Values;
use riddlemill_text::options::repetitions;
use riddlemill_text::text::normalise::{Fold, fold};

pub(super) fn read(reply: &str) -> Result<Values, Unreadable> {
    let map = object(reply, &["wrong"])?;
    let wrong = strings(&map, "wrong", 3)?;
    let [first, second, third] = wrong.as_slice() else {
        return Err(Unreadable::new("\"wrong\" must hold three texts"));
    };
    let folded = [first, second, third].map(|text| fold(text, Fold::KEY));
    if folded[0] == folded[1] || folded[1] == folded[2] || folded[0] == folded[2] {
        return Err(Unreadable::new("the three texts in \"wrong\" must differ from each other"));
    }
    Ok([("wrong_1", first.as_str()), ("wrong_2", second), ("wrong_3", third)].into_iter().collect())
}

/// Wrong answers that repeat each other, or the explanation.
pub(in crate::stages) fn check(explanation: &str, wrong: &[String]) -> Vec<String> {
    repetitions("the explanation", explanation, wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_different_texts_are_wanted() {
        let three = read(r#"{"wrong": ["甲", "乙", "丙"]}"#).unwrap();
        assert_eq!(["wrong_1", "wrong_2", "wrong_3"].map(|f| three.text(f).unwrap()), ["甲", "乙", "丙"]);
        assert!(read(r#"{"wrong": ["甲", "乙"]}"#).is_err());
        assert!(read(r#"{"wrong": ["甲", "乙", "甲。"]}"#).is_err());
    }

    #[test]
    fn repetitions_are_found() {
        let wrong = ["甲", "乙", "甲！", "对"].map(String::from);
        assert_eq!(
            check("对。", &wrong),
            ["number 3 says the same as number 1", "number 4 is the explanation"]
        );
    }
}
