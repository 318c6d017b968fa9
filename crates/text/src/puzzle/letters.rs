//! Wordplay on letters between an answer and the words of its puzzle.
//!
//! A distractor of a word puzzle must not solve it, and the only part of the solution that a program can
//! check is the wordplay: the answer is inside the question's letters, or is one of its words backwards,
//! shuffled or shortened. A word with the same wordplay is not a distractor.

use super::words::words;

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
pub fn plays(question: &str, word: &str) -> Vec<Play> {
    let word = squeeze(word);
    if word.chars().count() < 2 {
        return Vec::new();
    }
    let own: Vec<String> =
        words(question).into_iter().map(|w| squeeze(w.text)).filter(|w| w.len() > 1).collect();
    let mut found = Vec::new();
    let mut plays = |play: Play, holds: bool| {
        if holds {
            found.push(play);
        }
    };
    let backwards: String = word.chars().rev().collect();
    // A word that the question uses as such is not hidden in it.
    plays(Play::Inside, squeeze(question).contains(&word) && !own.contains(&word));
    plays(Play::Backwards, backwards != word && own.contains(&backwards));
    plays(Play::Shuffled, own.iter().any(|w| *w != word && sorted(w) == sorted(&word)));
    // Two letters of a long word occur in every second word.
    let long = word.chars().count() > 2;
    plays(Play::Shortened, long && own.iter().any(|w| w.len() > word.len() && subsequence(&word, w)));
    plays(Play::Lengthened, own.iter().any(|w| w.len() > 2 && w.len() < word.len() && subsequence(w, &word)));
    found
}

/// Whether a candidate shares a wordplay with the answer, and so might be right.
pub fn plays_along(question: &str, answer: &str, candidate: &str) -> bool {
    let game = plays(question, answer);
    !game.is_empty() && plays(question, candidate).iter().any(|play| game.contains(play))
}

/// Letters and digits in lower case.
fn squeeze(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn sorted(word: &str) -> Vec<char> {
    let mut letters: Vec<char> = word.chars().collect();
    letters.sort_unstable();
    letters
}

/// Whether `long` contains all letters of `short` in order.
fn subsequence(short: &str, long: &str) -> bool {
    let mut letters = long.chars();
    short.chars().all(|c| letters.any(|other| other == c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_play_is_seen() {
        assert_eq!(
            plays("Which capital is part of every chrome bumper?", "Rome"),
            [Play::Inside, Play::Shortened]
        );
        assert!(plays("Which cheese is made the wrong way round?", "edam").contains(&Play::Backwards));
        assert!(plays("Which planet is nothing but heart?", "Earth").contains(&Play::Shuffled));
        assert!(plays("What grows out of a table?", "stable").contains(&Play::Lengthened));
        assert_eq!(plays("Which letter is in London?", "N"), []);
    }

    #[test]
    fn a_second_solution_is_no_distractor() {
        let question = "Which capital city is part of every comparison that Romeo makes?";
        assert!(plays_along(question, "Paris", "Rome"));
        assert!(!plays_along(question, "Paris", "Madrid"));
        assert!(!plays_along("Which bird goes down with every bite?", "swallow", "duck"));
    }
}
