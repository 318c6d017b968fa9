//! A model's explanation of a joke, in two sentences (Chumor 3).

use riddlemill_llm::parse::{Unreadable, plain, sentences};
use riddlemill_review::Values;

/// All explanations by people are in two sentences, and so the models were asked for two (section 3).
const SENTENCES: usize = 2;

pub(super) fn read(reply: &str) -> Result<Values, Unreadable> {
    Ok([("explanation", plain(reply, &["解释"])?)].into_iter().collect())
}

pub(in crate::stages) fn check(model: &str, explanation: &str) -> Vec<String> {
    match sentences(explanation) {
        SENTENCES => Vec::new(),
        1 => vec![format!("{model}: one sentence instead of two")],
        n => vec![format!("{model}: {n} sentences instead of two")],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_sentences_are_asked_for() {
        assert_eq!(check("m", "先说一句。再说一句。"), Vec::<String>::new());
        assert_eq!(check("m", "只有一句。"), ["m: one sentence instead of two"]);
        assert_eq!(read("解释：好笑。").unwrap().text("explanation"), Some("好笑。"));
    }
}
