//! Checks on distractors that need no solution of the puzzle (section 3.3).
//!
//! Wordplay on letters between an answer and the words of its puzzle.
//!
//! A distractor of a word puzzle must not solve it, and the only part of the solution that a program can
//! check is the wordplay: the answer is inside the question's letters, or is one of its words backwards,
//! shuffled or shortened. A word with the same wordplay is not a distractor.

use super::options::NONE;
use super::words::{find_content_words, list_words, mentioned_letters, word_key};

/// The faults of a set of distractors, worded for a model or a person; empty if there are none. With
/// `letters` the puzzle is about letters, so a distractor must not share the answer's wordplay.
pub fn find_faults(question: &str, answer: &str, distractors: &[String], letters: bool) -> Vec<String> {
    let mut faults = Vec::new();
    if distractors.len() != 3 {
        faults.push(format!("{} distractors where there must be three", distractors.len()));
    }
    for (at, text) in distractors.iter().enumerate() {
        if word_key(text).is_empty() {
            faults.push("a distractor is empty".into());
        } else if word_key(text) == word_key(NONE) {
            faults.push(format!("{text:?} is an option of every puzzle"));
        } else if same_option(text, answer) {
            faults.push(format!("{text:?} says the same as the answer"));
        } else if letters && plays_along(question, strip_article(answer), strip_article(text)) {
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
    let (left, right) = (find_content_words(a), find_content_words(b));
    word_key(a) == word_key(b)
        || (!left.is_empty() && left == right && mentioned_letters(a) == mentioned_letters(b))
}

/// An answer without its article and full stop: `A swallow.` becomes `swallow`.
pub fn strip_article(answer: &str) -> &str {
    let bare = answer.trim().trim_end_matches(['.', '!']).trim_end();
    let article = ["a ", "an ", "the "]
        .into_iter()
        .find(|article| bare.get(..article.len()).is_some_and(|head| head.eq_ignore_ascii_case(article)));
    article.map_or(bare, |article| bare[article.len()..].trim_start())
}

/// How a word's letters occur in a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Play {
    /// Its letters occur in a row inside a word, or across words, of the question.
    Inside,
    /// It is a word of the question backwards.
    Backwards,
    /// It is an anagram of a word of the question.
    Shuffled,
    /// It is a word of the question with letters removed.
    Shortened,
    /// It is a word of the question with letters added.
    Lengthened,
}

/// Every wordplay between a word and a question. Empty for words of one letter, which every text contains.
pub fn find_wordplays(question: &str, word: &str) -> Vec<Play> {
    let word = squeeze_letters(word);
    if word.chars().count() < 2 {
        return Vec::new();
    }
    let own: Vec<String> =
        list_words(question).into_iter().map(|w| squeeze_letters(w.text)).filter(|w| w.len() > 1).collect();
    let mut found = Vec::new();
    let mut plays = |play: Play, holds: bool| {
        if holds {
            found.push(play);
        }
    };
    let backwards: String = word.chars().rev().collect();
    // A word that the question uses as such is not hidden in it.
    plays(Play::Inside, squeeze_letters(question).contains(&word) && !own.contains(&word));
    plays(Play::Backwards, backwards != word && own.contains(&backwards));
    plays(Play::Shuffled, own.iter().any(|w| *w != word && sorted_letters(w) == sorted_letters(&word)));
    // Two letters of a long word occur in every second word.
    let long = word.chars().count() > 2;
    plays(Play::Shortened, long && own.iter().any(|w| w.len() > word.len() && is_subsequence(&word, w)));
    plays(
        Play::Lengthened,
        own.iter().any(|w| w.len() > 2 && w.len() < word.len() && is_subsequence(w, &word)),
    );
    found
}

/// Whether a candidate shares a wordplay with the answer, and so might be right.
pub fn plays_along(question: &str, answer: &str, candidate: &str) -> bool {
    let game = find_wordplays(question, answer);
    !game.is_empty() && find_wordplays(question, candidate).iter().any(|play| game.contains(play))
}

/// Letters and digits in lower case.
fn squeeze_letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn sorted_letters(word: &str) -> Vec<char> {
    let mut letters: Vec<char> = word.chars().collect();
    letters.sort_unstable();
    letters
}

/// Whether `long` contains all letters of `short` in order.
fn is_subsequence(short: &str, long: &str) -> bool {
    let mut letters = long.chars();
    short.chars().all(|c| letters.any(|other| other == c))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(question: &str, answer: &str, distractors: [&str; 3], letters: bool, found: &[&str]) {
        let texts: Vec<String> = distractors.iter().map(ToString::to_string).collect();
        let faults = find_faults(question, answer, &texts, letters);
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

    #[test]
    fn each_play_is_seen() {
        assert_eq!(
            find_wordplays("Which capital is part of every chrome bumper?", "Rome"),
            [Play::Inside, Play::Shortened]
        );
        assert!(
            find_wordplays("Which cheese is made the wrong way round?", "edam").contains(&Play::Backwards)
        );
        assert!(find_wordplays("Which planet is nothing but heart?", "Earth").contains(&Play::Shuffled));
        assert!(find_wordplays("What grows out of a table?", "stable").contains(&Play::Lengthened));
        assert_eq!(find_wordplays("Which letter is in London?", "N"), []);
    }

    #[test]
    fn a_second_solution_is_no_distractor() {
        let question = "Which capital city is part of every comparison that Romeo makes?";
        assert!(plays_along(question, "Paris", "Rome"));
        assert!(!plays_along(question, "Paris", "Madrid"));
        assert!(!plays_along("Which bird goes down with every bite?", "swallow", "duck"));
    }
}
