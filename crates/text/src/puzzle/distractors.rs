//! Checks on distractors that need no solution of the puzzle (section 3.3).

use super::letters::plays_along;
use super::options::NONE;
use super::words::{content, key, letters};

/// The faults of a set of distractors, worded for a model or a person; empty if there are none. With
/// `letters` the puzzle is about letters, so a distractor must not share the answer's wordplay.
pub fn faults(question: &str, answer: &str, distractors: &[String], letters: bool) -> Vec<String> {
    let mut faults = Vec::new();
    if distractors.len() != 3 {
        faults.push(format!("{} distractors where there must be three", distractors.len()));
    }
    for (at, text) in distractors.iter().enumerate() {
        if key(text).is_empty() {
            faults.push("a distractor is empty".into());
        } else if key(text) == key(NONE) {
            faults.push(format!("{text:?} is an option of every puzzle"));
        } else if same_option(text, answer) {
            faults.push(format!("{text:?} says the same as the answer"));
        } else if letters && plays_along(question, core(answer), core(text)) {
            faults.push(format!("{text:?} may solve the puzzle by its letters"));
        }
        if let Some(other) = distractors[..at].iter().find(|other| same_option(other, text)) {
            faults.push(format!("{text:?} says the same as {other:?}"));
        }
    }
    faults
}

/// Whether two options say the same as far as their words show: they read the same, or have the same content
/// words. The order of letters counts too.
pub fn same_option(a: &str, b: &str) -> bool {
    let (left, right) = (content(a), content(b));
    key(a) == key(b) || (!left.is_empty() && left == right && letters(a) == letters(b))
}

/// An answer without its article and full stop: `A swallow.` becomes `swallow`.
pub fn core(answer: &str) -> &str {
    let bare = answer.trim().trim_end_matches(['.', '!']).trim_end();
    let article = ["a ", "an ", "the "]
        .into_iter()
        .find(|article| bare.get(..article.len()).is_some_and(|head| head.eq_ignore_ascii_case(article)));
    article.map_or(bare, |article| bare[article.len()..].trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(question: &str, answer: &str, distractors: [&str; 3], letters: bool, found: &[&str]) {
        let texts: Vec<String> = distractors.iter().map(ToString::to_string).collect();
        let faults = faults(question, answer, &texts, letters);
        assert_eq!(faults.len(), found.len(), "{faults:?}");
        assert!(faults.iter().zip(found).all(|(fault, words)| fault.contains(words)), "{faults:?}");
    }

    #[test]
    fn options_must_differ_in_substance() {
        check("Q?", "A dog.", ["A cat.", "A cow.", "A hen."], false, &[]);
        check("Q?", "A dog.", ["The dog!", "A cow.", "cow"], false, &["as the answer", "as \"A cow.\""]);
        check("Q?", "A dog.", ["A cat.", "None of above.", ""], false, &["every puzzle", "empty"]);
        check("Q?", "The letter 'e'.", ["The letter 'i'.", "The letter 'a'.", "'u'"], true, &[]);
        check("Q?", "T.C.I.", ["G,T,F.", "F,T,G.", "f, t, g"], true, &["as \"F,T,G.\""]);
        check("Q?", "The letter N.", ["The letter O.", "The letter L.", "The letter F."], true, &[]);
    }

    #[test]
    fn a_second_solution_is_found_in_word_puzzles() {
        let question = "Which capital is part of every chrome comparison?";
        check(question, "Rome.", ["Paris.", "Oslo.", "Berlin."], true, &["by its letters"]);
        check(question, "Rome.", ["Paris.", "Oslo.", "Berlin."], false, &[]);
    }
}
