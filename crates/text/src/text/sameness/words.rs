//! The words of English texts, compared instead of characters, and those of texts in a language that is not known, which vetoes look at.
//!
//! A word is cut to its stem and stands for one symbol: a code point that no script uses. So the predicates and joins that compare
//! characters of Chinese compare words of English. Frequent words weigh little, by the lists `function.txt` and `common.txt`;
//! those of the lists have symbols of their own, and any other shares its symbol with one in half a million. Texts are the
//! same by letters, not by symbols.

use std::sync::LazyLock;

use rustc_hash::{FxHashMap, FxHashSet};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::signs::is_sign_letter;
use super::symbols::is_symbol;

/// The words of a text in order, as stems, and their symbols.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Words {
    joined: String,
    symbols: String,
}

/// Where symbols begin: planes 4 to 13 of Unicode are empty.
const FIRST: u32 = 0x4_0000;
/// How many symbols are for listed words; the rest are for all others.
const LISTED: u32 = 0x1_0000;
const OTHERS: u32 = 0x8_0000;

/// Weights in tenths of a nat: articles and auxiliaries, frequent words, and all others, which are about one in a hundred thousand.
const FUNCTION: u32 = 20;
const COMMON: u32 = 55;
const OTHER: u32 = 95;

impl Words {
    /// Of a text in small letters.
    pub fn new(plain: &str) -> Self {
        let mut joined = String::with_capacity(plain.len());
        let mut push = |word: &str| {
            if !joined.is_empty() {
                joined.push(' ');
            }
            joined.push_str(word);
        };
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '\'' | '’');
        let is_end = |c: char| !is_part(c) && !is_symbol(c);
        for word in plain.split(is_end).flat_map(apart) {
            let word = word.trim_matches(['\'', '’']).replace('’', "'");
            let (word, denied) = split_denial(&word);
            let word = word.split('\'').next().unwrap_or_default();
            if !word.is_empty() {
                push(&stem_word(word));
            }
            if denied {
                push("not");
            }
        }
        Words::from_joined(&joined)
    }

    /// Of a text in small letters in a language that is not known: words between spaces, without accents; where none are written,
    /// each ideograph and the runs of each other script.
    pub fn of_any(plain: &str) -> Self {
        let bare: String = plain.nfd().filter(|c| !is_combining_mark(*c) || is_kana(*c)).nfc().collect();
        let is_part = |c: char| c.is_alphanumeric() || is_symbol(c);
        let words = bare.split(|c: char| !is_part(c)).flat_map(|word| {
            let ends: Vec<usize> = word
                .char_indices()
                .zip(word.chars().skip(1))
                .filter(|((_, c), next)| script_of(*c) != script_of(*next) || script_of(*c) == Script::Alone)
                .map(|((at, c), _)| at + c.len_utf8())
                .collect();
            let starts = std::iter::once(0).chain(ends.clone());
            starts.zip(ends.into_iter().chain([word.len()])).map(move |(start, end)| &word[start..end])
        });
        Words::from_joined(&words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" "))
    }

    /// Of stems with a space between.
    pub fn from_joined(joined: &str) -> Self {
        Words { joined: joined.to_owned(), symbols: joined.split_terminator(' ').map(symbol_of).collect() }
    }

    /// The stems with a space between.
    pub fn as_str(&self) -> &str {
        &self.joined
    }

    /// The stems.
    pub fn iter_stems(&self) -> impl Iterator<Item = &str> {
        self.joined.split_terminator(' ')
    }

    /// A character for each.
    pub fn symbols(&self) -> &str {
        &self.symbols
    }
}

/// Which characters make one word without a space between.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Script {
    /// Each is a word: ideographs and symbols.
    Alone,
    Hiragana,
    Katakana,
    Hangul,
    /// Of South-East Asia, written without spaces: no words are told apart.
    Unspaced,
    Number,
    Spaced,
}

pub(super) fn script_of(c: char) -> Script {
    match c {
        '\u{3041}'..='\u{309f}' => Script::Hiragana,
        '\u{30a0}'..='\u{30ff}' => Script::Katakana,
        '\u{3400}'..='\u{9fff}' | '\u{20000}'..='\u{323af}' | '々' => Script::Alone,
        '\u{1100}'..='\u{11ff}' | '\u{ac00}'..='\u{d7af}' => Script::Hangul,
        '\u{0e00}'..='\u{0eff}'
        | '\u{1000}'..='\u{109f}'
        | '\u{1780}'..='\u{17ff}'
        | '\u{1950}'..='\u{19df}'
        | '\u{a9e0}'..='\u{a9ff}'
        | '\u{aa60}'..='\u{aa7f}' => Script::Unspaced,
        c if is_symbol(c) => Script::Alone,
        c if c.is_ascii_digit() || is_sign_letter(c) => Script::Number,
        _ => Script::Spaced,
    }
}

/// The marks of voiced kana, which make another letter.
fn is_kana(c: char) -> bool {
    matches!(c, '\u{3099}' | '\u{309a}')
}

/// Letters, and each symbol among them.
fn apart(word: &str) -> impl Iterator<Item = &str> {
    word.split_inclusive(is_symbol).flat_map(|part| {
        let symbol =
            part.char_indices().next_back().filter(|(_, c)| is_symbol(*c)).map_or(part.len(), |(at, _)| at);
        [&part[..symbol], &part[symbol..]]
    })
}

/// `can't` is `can` and `not`.
fn split_denial(word: &str) -> (&str, bool) {
    match word {
        "can't" | "cannot" | "cant" => ("can", true),
        "won't" | "wont" => ("will", true),
        "don't" | "dont" => ("do", true),
        "doesn't" | "doesnt" => ("does", true),
        "didn't" | "didnt" => ("did", true),
        "isn't" | "isnt" => ("is", true),
        word => word.strip_suffix("n't").map_or((word, false), |bare| (bare, true)),
    }
}

/// The stem of a word in small letters: plurals, `-ing`, `-ed` and a final `e` are cut, forms of irregular verbs and nouns are one,
/// and numbers are digits.
pub(super) fn stem_word(word: &str) -> String {
    if let Some(one) = IRREGULAR.get(word) {
        return (*one).to_owned();
    }
    if !word.is_ascii() || word.len() < 4 {
        return word.to_owned();
    }
    let bare = if let Some(stem) = word.strip_suffix("ies").filter(|stem| stem.len() > 1) {
        return [stem, "y"].concat();
    } else if let Some(stem) = word.strip_suffix("es").filter(|stem| ends_in_hiss(stem)) {
        stem
    } else if word.ends_with('s') && !word.ends_with("ss") && !word.ends_with("us") && !word.ends_with("is") {
        &word[..word.len() - 1]
    } else {
        word
    };
    let verb = |ending: &str| bare.strip_suffix(ending).filter(|stem| has_vowel(stem) && stem.len() > 2);
    let bare = match verb("ing").or_else(|| verb("ed")) {
        // `evening` is nothing more even, and `outing` is not out.
        Some(stem) if !FUNCTION_WORDS.contains(undouble_end(stem)) => undouble_end(stem),
        _ => bare,
    };
    let bare = if bare.len() > 3 { bare.strip_suffix('e').unwrap_or(bare) } else { bare };
    bare.to_owned()
}

fn ends_in_hiss(stem: &str) -> bool {
    ["s", "x", "z", "ch", "sh"].iter().any(|end| stem.ends_with(end))
}

fn has_vowel(stem: &str) -> bool {
    stem.contains(['a', 'e', 'i', 'o', 'u', 'y'])
}

/// `stopp` is `stop`, but `fall` is itself.
fn undouble_end(stem: &str) -> &str {
    let bytes = stem.as_bytes();
    match bytes {
        [.., x, y] if x == y && !matches!(y, b'l' | b's' | b'z' | b'e' | b'o') => &stem[..stem.len() - 1],
        _ => stem,
    }
}

/// Whether a stem is a number.
pub(super) fn is_number(stem: &str) -> bool {
    stem.trim_start_matches(is_sign_letter).starts_with(|c: char| c.is_ascii_digit())
}

/// Whether a stem is neither a function word nor a number.
pub(super) fn is_content(stem: &str) -> bool {
    !is_number(stem) && LISTS.get(stem).is_none_or(|(_, weight)| *weight > FUNCTION)
}

/// The symbol of a stem.
fn symbol_of(stem: &str) -> char {
    let number = match LISTS.get(stem) {
        Some((number, weight)) => number + if *weight == FUNCTION { 0 } else { LISTED / 2 },
        None => LISTED + hash_stem(stem) % OTHERS,
    };
    // All of these planes are scalar values.
    char::from_u32(FIRST + number).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// FNV-1a, which is the same on every machine.
fn hash_stem(stem: &str) -> u32 {
    let hash = stem.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (hash ^ hash >> 32) as u32
}

/// The weight of a symbol; `None` for characters that stand for no word.
pub(super) fn weight_of_symbol(c: char) -> Option<u32> {
    match u32::from(c).checked_sub(FIRST)? {
        0..0x8000 => Some(FUNCTION),
        0x8000..LISTED => Some(COMMON),
        LISTED..0x9_0000 => Some(OTHER),
        _ => None,
    }
}

/// The function words as they are written.
static FUNCTION_WORDS: LazyLock<FxHashSet<&'static str>> =
    LazyLock::new(|| include_str!("function.txt").split_whitespace().collect());

/// Stems of the lists, each with its place in its list, and its weight.
static LISTS: LazyLock<FxHashMap<String, (u32, u32)>> = LazyLock::new(|| {
    let list = |text: &'static str, weight| {
        text.split_whitespace().zip(0u32..).map(move |(word, place)| (stem_word(word), (place, weight)))
    };
    // Function words last, because the others name some of them, too.
    list(include_str!("common.txt"), COMMON).chain(list(include_str!("function.txt"), FUNCTION)).collect()
});

/// Forms that endings do not make one, the stem first in its line; and words for numbers.
static IRREGULAR: LazyLock<FxHashMap<&'static str, &'static str>> = LazyLock::new(|| {
    let line = |line: &'static str| {
        let mut forms = line.split_whitespace();
        let first = forms.next().unwrap_or_default();
        forms.map(move |form| (form, first)).collect::<Vec<_>>()
    };
    include_str!("irregular.txt").lines().flat_map(line).collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_are_one() {
        for (one, other) in [
            ("cat", "cats"),
            ("stop", "stopped"),
            ("make", "making"),
            ("fly", "flies"),
            ("box", "boxes"),
            ("go", "went"),
            ("child", "children"),
            ("3", "three"),
        ] {
            assert_eq!(stem_word(one), stem_word(other), "{one} {other}");
        }
        for (one, other) in [("bus", "bu"), ("evening", "even"), ("outing", "out"), ("owning", "own")] {
            assert_ne!(stem_word(one), stem_word(other));
        }
    }

    #[test]
    fn words_are_symbols_that_weigh() {
        let words = Words::new("the cat can't read");
        assert_eq!(words.as_str(), "the cat can not read");
        let weights: Vec<u32> = words.symbols().chars().map(|c| weight_of_symbol(c).unwrap()).collect();
        assert_eq!(weights[0], FUNCTION);
        assert!(weights[1] > FUNCTION);
        assert_eq!(Words::from_joined(words.as_str()), words);
        assert_eq!(weight_of_symbol('鱼'), None);
    }

    #[test]
    fn no_two_listed_words_have_one_symbol() {
        let mut seen: FxHashMap<char, &str> = FxHashMap::default();
        for stem in LISTS.keys() {
            assert_eq!(seen.insert(symbol_of(stem), stem), None, "{stem}");
        }
    }
}
