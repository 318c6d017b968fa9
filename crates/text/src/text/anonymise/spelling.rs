//! Where a name is in a text, in any spelling: large and small letters, with accents and without, traditional and simplified characters.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::text::language::dictionary;
use crate::text::normalise::simplify_char;

/// The letters of a text in one spelling, and where each begins.
pub(super) struct Spelling<'t> {
    text: &'t str,
    letters: Vec<char>,
    starts: Vec<usize>,
}

impl<'t> Spelling<'t> {
    pub fn new(text: &'t str) -> Self {
        let spelled = text.char_indices().filter(|(_, c)| !is_combining_mark(*c));
        let (starts, letters) = spelled.map(|(at, c)| (at, spell_letter(c))).unzip();
        Self { text, letters, starts }
    }

    /// The places of a name, in bytes. In another spelling than its own a name of everyday words is these words.
    pub fn places_of(&self, name: &str) -> Vec<Range<usize>> {
        let letters = Spelling::new(name).letters;
        if letters.is_empty() {
            return Vec::new();
        }
        let everyday = || {
            let words = || name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
            words().all(|word| dictionary::contains(&word.to_lowercase()))
        };
        let end = |letter: usize| self.starts.get(letter).copied().unwrap_or(self.text.len());
        let found = self.letters.windows(letters.len()).enumerate().filter(|(_, window)| *window == letters);
        found
            .map(|(at, window)| self.starts[at]..end(at + window.len()))
            .filter(|place| self.text[place.clone()] == *name || !everyday())
            .collect()
    }
}

/// A letter in small, without its accent and simplified.
fn spell_letter(c: char) -> char {
    if c.is_ascii() {
        return c.to_ascii_lowercase();
    }
    let bare = c.nfd().next().unwrap_or(c);
    simplify_char(bare.to_lowercase().next().unwrap_or(bare))
}

#[cfg(test)]
mod tests {
    use crate::text::anonymise::Anonymiser;

    #[test]
    fn a_name_is_found_in_any_spelling() {
        for (name, before, after) in [
            ("JohnDoe", "ask johndoe about it", "ask [人名] about it"),
            ("José García", "Jose Garcia said so", "[人名] said so"),
            ("Jose Garcia", "José García said so", "[人名] said so"),
            ("José García", "Jose\u{301} Garci\u{301}a!", "[人名]!"),
            ("李小龙二号", "问李小龍二號去", "问[人名]去"),
            ("Apple", "an apple a day", "an apple a day"),
            ("Apple", "Apple said so", "[人名] said so"),
        ] {
            assert_eq!(Anonymiser::default().apply(before, &[name]).text, after, "{name}");
        }
    }
}
