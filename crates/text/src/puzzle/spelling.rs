//! Typing errors in puzzles: proposals for a person to confirm (section 3.2).
//!
//! A word is proposed for correction where the dictionary does not know it and knows a word one slip away.
//! Puzzles play with words, so much is left alone: names (a capital inside a sentence), words with digits, words of
//! three letters or less, what stands in quotation marks, what reads as a word backwards, what stands in both
//! question and answer, and puzzles that ask for letters.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use rustc_hash::FxBuildHasher;
use spellbook::Dictionary;

use super::words::{Word, sentences, words};

/// The American English dictionary of Debian's hunspell-en-us, made from SCOWL; its licence stands beside it.
static BUNDLED: LazyLock<Speller> = LazyLock::new(|| {
    // A hasher without a random seed, so that suggestions come in the same order in every process.
    let affixes = include_str!("dictionary/en_US.aff");
    let words = include_str!("dictionary/en_US.dic");
    match Dictionary::new_with_hasher(affixes, words, FxBuildHasher) {
        Ok(dictionary) => Speller { dictionary },
        Err(error) => unreachable!("the bundled dictionary: {error}"),
    }
});

/// Words of puzzles that turn on letters: an odd word in them is likely to be meant.
const ABOUT_LETTERS: &[&str] = &[
    "letter",
    "letters",
    "spell",
    "spelled",
    "spelling",
    "backwards",
    "backward",
    "anagram",
    "shuffle",
    "alphabet",
    "rhymes",
];

/// British spellings of what the dictionary writes otherwise: no typing errors.
const BRITISH: &[(&str, &str)] = &[
    ("our", "or"),
    ("ise", "ize"),
    ("isi", "izi"),
    ("isa", "iza"),
    ("yse", "yze"),
    ("ysi", "yzi"),
    ("ntre", "nter"),
    ("lled", "led"),
    ("lling", "ling"),
    ("ller", "ler"),
    ("eatre", "eater"),
    ("metre", "meter"),
    ("litre", "liter"),
    ("fibre", "fiber"),
    ("ogue", "og"),
    ("ence", "ense"),
    ("amme", "am"),
    ("eque", "eck"),
    ("tyre", "tire"),
    ("pyj", "paj"),
    ("ae", "e"),
    ("oe", "e"),
];

/// A dictionary.
pub struct Speller {
    dictionary: Dictionary<FxBuildHasher>,
}

/// A word that is misspelt, and what was probably meant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Correction {
    /// As it stands.
    pub wrong: String,
    /// As it should.
    pub right: String,
}

impl std::fmt::Display for Correction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} -> {}", self.wrong, self.right)
    }
}

impl Speller {
    /// The dictionary that comes with the program.
    pub fn bundled() -> &'static Speller {
        &BUNDLED
    }

    /// What is probably misspelt in a puzzle, in the order of its first appearance.
    pub fn corrections(&self, question: &str, answer: &str) -> Vec<Correction> {
        let told: BTreeSet<String> = lower(question);
        if ABOUT_LETTERS.iter().any(|word| told.contains(*word)) {
            return Vec::new();
        }
        let answered = lower(answer);
        let mut found: Vec<Correction> = Vec::new();
        for word in candidates(question).into_iter().chain(candidates(answer)) {
            let both = told.contains(&word) && answered.contains(&word);
            if both || found.iter().any(|known| known.wrong == word) || self.meant(&word) {
                continue;
            }
            found.extend(self.slip(&word).map(|right| Correction { wrong: word, right }));
        }
        found
    }

    /// Known as it is, with a capital, without its 's, part by part, in American spelling, or backwards.
    fn meant(&self, word: &str) -> bool {
        let known = |word: &str| self.dictionary.check(word) || self.dictionary.check(&capital(word));
        let backwards: String = word.chars().rev().collect();
        let bare = word.strip_suffix("'s").or(word.strip_suffix('\'')).unwrap_or(word);
        let american = |(british, american): &(&str, &str)| {
            bare.contains(british) && known(&bare.replacen(british, american, 1))
        };
        known(word)
            || known(bare)
            || bare.split('-').all(known)
            || BRITISH.iter().any(american)
            || known(&backwards)
    }

    /// The one word of the dictionary that a slip of the fingers away from this one; `None` where there is none.
    fn slip(&self, word: &str) -> Option<String> {
        let mut suggested = Vec::new();
        self.dictionary.suggest(word, &mut suggested);
        let slips = if word.chars().count() >= 9 { 2 } else { 1 };
        let near = suggested.into_iter().filter(|right| {
            // A space or a capital more is no typing error that this step repairs.
            right.chars().all(|c| c.is_lowercase() || c == '\'')
                // The first letter is the one that people hit.
                && right.chars().next() == word.chars().next()
                && strsim::damerau_levenshtein(word, right) <= slips
        });
        near.min_by_key(|right| strsim::damerau_levenshtein(word, right))
    }
}

/// A text with its corrections made, whole words alone; a capital stays one.
pub fn corrected(text: &str, corrections: &[Correction]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for Word { text: word, at } in words(text) {
        let plain = word.to_lowercase().replace('’', "'");
        let Some(Correction { right, .. }) = corrections.iter().find(|c| c.wrong == plain) else { continue };
        out.push_str(&text[done..at]);
        let upper = word.starts_with(char::is_uppercase);
        out.push_str(&if upper { capital(right) } else { right.clone() });
        done = at + word.len();
    }
    out.push_str(&text[done..]);
    out
}

/// Words that may be misspelt, in lower case: no names, no numbers, nothing short, nothing quoted.
fn candidates(text: &str) -> Vec<String> {
    let starts: BTreeSet<usize> =
        sentences(text).iter().filter_map(|(at, sentence)| Some(at + words(sentence).first()?.at)).collect();
    let candidate = |word: &&Word<'_>| {
        let capitals = word.text.chars().filter(|c| c.is_uppercase()).count();
        let named = capitals > 1
            || (capitals == 1 && !(starts.contains(&word.at) && word.text.starts_with(char::is_uppercase)));
        let letters = word.text.chars().all(|c| c.is_alphabetic() || "'’-".contains(c));
        !named && letters && word.text.chars().count() > 3 && !quoted(text, word)
    };
    words(text).iter().filter(candidate).map(|word| word.text.to_lowercase().replace('’', "'")).collect()
}

/// Whether an odd number of quotation marks stands before a word.
fn quoted(text: &str, word: &Word<'_>) -> bool {
    let before = &text[..word.at];
    before.matches('"').count() % 2 == 1 || before.matches('“').count() > before.matches('”').count()
}

fn lower(text: &str) -> BTreeSet<String> {
    words(text).into_iter().map(|word| word.text.to_lowercase().replace('’', "'")).collect()
}

/// With a capital first letter.
pub(super) fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proposed(question: &str, answer: &str) -> Vec<String> {
        Speller::bundled().corrections(question, answer).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn slips_are_proposed() {
        assert_eq!(
            proposed("A man recieves a lettre every mornign. Untill noon he waits.", "He is a postmann."),
            [
                "recieves -> receives",
                "lettre -> letter",
                "mornign -> morning",
                "untill -> until",
                "postmann -> postman"
            ]
        );
    }

    #[test]
    fn names_numbers_and_plays_survive() {
        for (question, answer) in [
            ("Which cheese is made backwards?", "Edam."),
            ("What cheese is made if you read it the wrong way?", "edam."),
            ("Mr. Smithers and Zbigniew drove 1st to Gloccamora in 20mins. How?", "They flew with Zbigniew."),
            ("What do you call a fish with no eyes?", "A fsh."),
            ("They went home after the takedowns. Why?", "The show was over."),
            ("He said \"helo wrld\" to the crowd. Why?", "It was a film."),
            ("How do you spell enemyy in three letters?", "Foe."),
            ("A snazzle sleeps in the yard. What is it?", "A snazzle is a toy."),
            ("The colour of the ten-year-old's dog isn't grey, y'all. Why?", "It's a cat."),
        ] {
            assert_eq!(proposed(question, answer), Vec::<String>::new(), "{question}");
        }
    }

    #[test]
    fn corrections_keep_capitals_and_everything_else() {
        let all = [Correction { wrong: "teh".into(), right: "the".into() }];
        assert_eq!(corrected("Teh dog ate  teh—bone. Tehran!", &all), "The dog ate  the—bone. Tehran!");
        assert_eq!(corrected("", &all), "");
    }
}
