//! Typing errors in puzzles: proposals for a person to confirm, word by word (section 3.2).
//!
//! A correction is proposed for a word that is not in the dictionary if a typing slip turns it into one that
//! is, and for a contraction without its apostrophe. Puzzles play with words, so many are left alone: names
//! (a capital inside a sentence, here or elsewhere in the puzzle), words with digits, words that occur more
//! than once, that repeat a syllable, or that are in quotation marks alone or in pairs; an answer that is a
//! word backwards, or nearly a word of its question. In a puzzle about letters, the answer, quoted words and
//! words mentioned as words are left alone.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use rustc_hash::{FxBuildHasher, FxHashSet};
use spellbook::Dictionary;

use super::words::{TextWord, cut_sentences, list_words};
use crate::text::language::dictionary::HUNSPELL;

/// The American English dictionary of Debian's hunspell-en-us, made from SCOWL; its licence is in the same folder.
static BUNDLED: LazyLock<Speller> = LazyLock::new(|| {
    // A hasher without a random seed makes suggestions come in the same order in every process.
    let affixes = include_str!("dictionary/en_US.aff");
    match Dictionary::new_with_hasher(affixes, HUNSPELL, FxBuildHasher) {
        Ok(dictionary) => Speller { dictionary },
        Err(error) => unreachable!("the bundled dictionary: {error}"),
    }
});

/// Words that mark puzzles about letters, where an odd word is likely to be intended.
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

/// After these words a puzzle mentions a word as such.
const NAMING: &[&str] = &["word", "words", "letter", "spell", "spells", "spelled"];

/// Endings after an apostrophe.
const CONTRACTED: [&str; 6] = ["t", "ve", "re", "ll", "d", "m"];

/// Letters that a slip may insert.
const ALPHABET: std::ops::RangeInclusive<char> = 'a'..='z';

/// The shortest part of a compound.
const PART: usize = 4;

/// Shorter words are not checked.
const SHORTEST: usize = 3;

/// Longer words are not checked: no English word is, and a slip is looked for at each letter.
const LONGEST: usize = 40;

/// Most words of a puzzle for which a correction is looked for. Looking for one takes some ten milliseconds, and a
/// text in which more words are unknown is no misspelt English.
const MOST: usize = 24;

/// British spellings that the dictionary writes otherwise; not typing errors.
const BRITISH: &[(&str, &str)] = &[
    ("storeys", "stories"),
    ("storey", "story"),
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

/// A misspelt word and its correction.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Correction {
    /// As written.
    pub wrong: String,
    /// As corrected.
    pub right: String,
}

impl Correction {
    /// Parses a line `wrong -> right`.
    pub fn parse_line(line: &str) -> Option<Correction> {
        let (wrong, right) = line.split_once(" -> ")?;
        Some(Correction { wrong: wrong.to_owned(), right: right.to_owned() })
    }
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

    /// What is probably misspelt in a puzzle, in order of first appearance; and how many unknown words were left
    /// alone because there are more than [`MOST`].
    pub fn find_corrections(&self, question: &str, answer: &str) -> (Vec<Correction>, usize) {
        let all: Vec<Spelt> = spelt_words(question).into_iter().chain(spelt_words(answer)).collect();
        let mut times: BTreeMap<&str, usize> = BTreeMap::new();
        all.iter().for_each(|word| *times.entry(&word.plain).or_default() += 1);
        let letters = all.iter().any(|word| ABOUT_LETTERS.contains(&word.plain.as_str()));
        let questions = list_words(question).len();
        let names: FxHashSet<&str> =
            all.iter().filter(|word| word.named).map(|word| word.plain.as_str()).collect();
        let mut found: Vec<Correction> = Vec::new();
        let mut unknown = 0;
        for (at, word) in all.iter().enumerate() {
            let answers = at >= questions;
            let meant = word.odd
                || names.contains(word.plain.as_str())
                || times[word.plain.as_str()] > 1
                || is_doubled(&word.plain)
                || (word.quoted && (letters || word.alone))
                || (letters && (answers || word.naming))
                || (answers && self.is_known(&word.plain.chars().rev().collect::<String>()))
                || self.spelt_well(&word.plain);
            if meant {
                continue;
            }
            unknown += 1;
            if unknown > MOST {
                continue;
            }
            let Some(right) = self.correct_slip(&word.plain) else { continue };
            // An answer may be a word of the question without some letters: a fish without eyes is a `fsh`.
            if !(answers && times.contains_key(right.as_str())) {
                found.push(Correction { wrong: word.plain.clone(), right });
            }
        }
        (found, unknown.saturating_sub(MOST))
    }

    fn is_known(&self, word: &str) -> bool {
        self.dictionary.check(word)
    }

    /// Whether it is known as written, with a capital, without its 's, part by part, or in American spelling.
    fn spelt_well(&self, word: &str) -> bool {
        // Three wrong letters are often some name.
        let name = |word: &str| word.chars().count() > SHORTEST && self.is_known(&capitalise_word(word));
        let known = |word: &str| self.is_known(word) || name(word);
        let bare = word.strip_suffix("'s").or(word.strip_suffix('\'')).unwrap_or(word);
        let american = |part: &str| {
            let of_pair = |(british, american): &(&str, &str)| {
                part.contains(british) && known(&part.replacen(british, american, 1))
            };
            BRITISH.iter().any(of_pair)
        };
        known(word)
            || known(bare)
            || bare.split('-').all(|part| known(part) || american(part))
            || self.is_compound(bare)
    }

    /// Whether it is two dictionary words, neither of them short: `takedowns`.
    fn is_compound(&self, word: &str) -> bool {
        let cuts = word.char_indices().map(|(at, _)| word.split_at(at));
        let mut parts = cuts.filter(|(head, tail)| head.len() >= PART && tail.len() >= PART);
        parts.any(|(head, tail)| self.is_known(head) && self.is_known(tail))
    }

    /// The intended word: with its apostrophe in place, or the dictionary word that is one slip away; `None`
    /// if there is none.
    fn correct_slip(&self, word: &str) -> Option<String> {
        if let Some(contraction) = self.restore_apostrophe(word) {
            return Some(contraction);
        }
        let (bare, rest) = word.split_at(word.strip_suffix("'s").unwrap_or(word).len());
        let mut suggested = Vec::new();
        self.dictionary.suggest(bare, &mut suggested);
        let slips = if bare.chars().count() >= 9 { 2 } else { 1 };
        // An added space or capital is not a typing error that this step repairs.
        suggested.retain(|right| {
            right.chars().all(|c| c.is_lowercase() || c == '\'')
                && strsim::damerau_levenshtein(bare, right) <= slips
        });
        if suggested.is_empty() {
            suggested = self.one_off(bare);
        }
        // The first letter is the one that people rarely mistype.
        let near = suggested.into_iter().min_by_key(|right| {
            (strsim::damerau_levenshtein(bare, right), right.chars().next() != bare.chars().next())
        });
        near.map(|right| right + rest)
    }

    /// Restores an apostrophe: `didnt` and `did'nt` become `didn't`.
    fn restore_apostrophe(&self, word: &str) -> Option<String> {
        let letters: String = word.chars().filter(|c| *c != '\'').collect();
        let with = |ending: &&str| {
            let stem = letters.strip_suffix(*ending).filter(|stem| stem.len() > 1)?;
            Some(format!("{stem}'{ending}")).filter(|whole| whole != word && self.is_known(whole))
        };
        CONTRACTED.iter().find_map(with)
    }

    /// The dictionary words that differ by one letter added, removed, replaced or swapped with its neighbour.
    fn one_off(&self, word: &str) -> Vec<String> {
        let letters: Vec<char> = word.chars().collect();
        let mut made: Vec<Vec<char>> = Vec::new();
        for at in 0..=letters.len() {
            let (head, tail) = letters.split_at(at);
            made.extend(ALPHABET.map(|c| [head, &[c], tail].concat()));
            if let [_, rest @ ..] = tail {
                made.push([head, rest].concat());
                made.extend(ALPHABET.map(|c| [head, &[c], rest].concat()));
            }
            if let [a, b, rest @ ..] = tail {
                made.push([head, &[*b, *a], rest].concat());
            }
        }
        let made = made.into_iter().map(String::from_iter);
        made.filter(|other| other.as_str() != word && self.is_known(other)).collect()
    }
}

/// A text with corrections applied to whole words; a capital stays a capital.
pub fn apply_corrections(text: &str, corrections: &[Correction]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for TextWord { text: word, at } in list_words(text) {
        let plain = word.to_lowercase().replace('’', "'");
        let Some(Correction { right, .. }) = corrections.iter().find(|c| c.wrong == plain) else { continue };
        out.push_str(&text[done..at]);
        let upper = word.starts_with(char::is_uppercase);
        out.push_str(&if upper { capitalise_word(right) } else { right.clone() });
        done = at + word.len();
    }
    out.push_str(&text[done..]);
    out
}

/// A word of a puzzle, with signs that its spelling is intended.
struct Spelt {
    /// In lower case, with a straight apostrophe.
    plain: String,
    /// Whether it has digits or several capitals, or is too short.
    odd: bool,
    /// Whether it has a capital inside a sentence.
    named: bool,
    /// Whether it is in quotation marks.
    quoted: bool,
    /// Whether the quotation has at most two words.
    alone: bool,
    /// Whether the word before it announces a word mentioned as such.
    naming: bool,
}

fn spelt_words(text: &str) -> Vec<Spelt> {
    let starts: FxHashSet<usize> = cut_sentences(text)
        .iter()
        .filter_map(|(at, sentence)| Some(at + list_words(sentence).first()?.at))
        .collect();
    let all = list_words(text);
    let plain = |word: &TextWord<'_>| word.text.to_lowercase().replace('’', "'");
    let quotations = quotation_lengths(text, &all);
    let one = |(at, word): (usize, &TextWord<'_>)| {
        let capitals = word.text.chars().filter(|c| c.is_uppercase()).count();
        let letters = word.text.chars().all(|c| c.is_alphabetic() || "'’-".contains(c));
        let length = word.text.chars().count();
        let named = capitals > 0 && !starts.contains(&word.at);
        let naming = at > 0 && NAMING.contains(&plain(&all[at - 1]).as_str());
        Spelt {
            plain: plain(word),
            odd: capitals > 1 || !letters || !(SHORTEST..=LONGEST).contains(&length),
            named,
            quoted: quotations[at].is_some(),
            alone: quotations[at].is_some_and(|words| words < 3),
            naming,
        }
    };
    all.iter().enumerate().map(one).collect()
}

/// Whether a word repeats a syllable: `nana`.
fn is_doubled(word: &str) -> bool {
    let (head, tail) = word.split_at(word.len() / 2 + word.len() % 2);
    word.is_ascii() && head == tail
}

/// For each word how many words the quotation has that contains it; `None` outside of quotation marks. A straight mark
/// ends a quotation that one has begun; a curly one is open until as many have closed.
fn quotation_lengths(text: &str, all_words: &[TextWord<'_>]) -> Vec<Option<usize>> {
    let mut found = Vec::with_capacity(all_words.len());
    let (mut straight, mut curly) = (false, 0_isize);
    // Where the last mark of each kind that opens was.
    let (mut straight_from, mut curly_from) = (0, 0);
    let mut marks = text.match_indices(['"', '“', '”']).peekable();
    // The quotation before and how many words it has: its words are counted once.
    let mut counted: Option<((usize, usize), usize)> = None;
    let ends = |mark: char| -> Vec<usize> { text.match_indices(mark).map(|(at, _)| at).collect() };
    let (straight_ends, curly_ends) = (ends('"'), ends('”'));
    for word in all_words {
        while let Some((at, mark)) = marks.next_if(|(at, _)| *at < word.at) {
            match mark {
                "\"" => (straight, straight_from) = (!straight, at + 1),
                "“" => (curly, curly_from) = (curly + 1, at + '“'.len_utf8()),
                _ => curly -= 1,
            }
        }
        let (from, ends) = match (straight, curly > 0) {
            (true, _) => (straight_from, &straight_ends),
            (_, true) => (curly_from, &curly_ends),
            _ => {
                found.push(None);
                continue;
            }
        };
        let to = ends.get(ends.partition_point(|end| *end < word.at)).copied().unwrap_or(text.len());
        let words = match counted {
            Some((known, words)) if known == (from, to) => words,
            _ => list_words(&text[from..to]).len(),
        };
        counted = Some(((from, to), words));
        found.push(Some(words));
    }
    found
}

/// With a capital first letter.
pub(super) fn capitalise_word(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests;
