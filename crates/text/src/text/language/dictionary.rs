//! The bundled English dictionary as a set of words. It is also the one by which puzzles are spelt.

use std::sync::LazyLock;

use rustc_hash::FxHashSet;

/// The words of the dictionary of Debian's hunspell-en-us, made from SCOWL, in Hunspell's form; its licence is in the same
/// folder.
pub static HUNSPELL: &str = include_str!("../../puzzle/dictionary/en_US.dic");

/// Words in small letters, without their endings. Names are not among them.
static WORDS: LazyLock<FxHashSet<&'static str>> = LazyLock::new(|| {
    let stems = HUNSPELL.lines().skip(1).map(|line| line.split_once('/').map_or(line, |(stem, _)| stem));
    // Letters are entries of a dictionary, but words of no text.
    let is_word =
        |stem: &&str| stem.starts_with(|c: char| c.is_lowercase()) && (stem.len() > 1 || *stem == "a");
    stems.filter(is_word).collect()
});

/// Whether it knows a word in small letters, or the word without an ending.
pub fn contains(word: &str) -> bool {
    let known = |stem: &str| WORDS.contains(stem);
    known(word)
        || ENDINGS.iter().any(|(ending, instead)| {
            let Some(stem) = word.strip_suffix(ending).filter(|stem| stem.len() > 1) else { return false };
            let undoubled =
                stem.strip_suffix(|last: char| stem[..stem.len() - last.len_utf8()].ends_with(last));
            known(&[stem, instead].concat()) || instead.is_empty() && undoubled.is_some_and(known)
        })
}

/// Endings, and what a stem has in place of them.
const ENDINGS: [(&str, &str); 14] = [
    ("'s", ""),
    ("ies", "y"),
    ("ied", "y"),
    ("es", ""),
    ("s", ""),
    ("ed", ""),
    ("ed", "e"),
    ("ing", ""),
    ("ing", "e"),
    ("er", ""),
    ("er", "e"),
    ("est", ""),
    ("est", "e"),
    ("ly", ""),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_known_with_their_endings() {
        for word in ["cat", "cats", "sleeping", "stopped", "riding", "flies", "quickly", "doctor's"] {
            assert!(contains(word), "{word}");
        }
        for word in ["katzen", "dormono", "pourquoi", "xyzzy", "", "s"] {
            assert!(!contains(word), "{word}");
        }
    }
}
