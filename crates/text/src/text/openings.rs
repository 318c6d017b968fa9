//! Whether any word of a list may be in a text, by the first two characters of each word: most texts contain
//! none, and this check costs a fraction of searching for all words.

/// Bits of the hash of two characters; collisions only cause false positives.
const BITS: u32 = 18;

/// The two characters with which each word of a list begins.
#[derive(Clone, Debug)]
pub struct WordOpenings {
    pairs: Vec<u64>,
    /// Whether a word has only one character: then any text may contain it.
    short: bool,
}

impl WordOpenings {
    /// For these words.
    pub fn new<'a>(words: impl IntoIterator<Item = &'a str>) -> WordOpenings {
        WordOpenings::with_spellings(words, |c| vec![c])
    }

    /// For these words, each character of which may be spelled in the ways that `spellings` gives.
    pub fn with_spellings<'a>(
        words: impl IntoIterator<Item = &'a str>,
        spellings: impl Fn(char) -> Vec<char>,
    ) -> WordOpenings {
        let mut openings = WordOpenings { pairs: vec![0; 1 << (BITS - 6)], short: false };
        for word in words {
            let mut chars = word.chars();
            let (Some(first), Some(second)) = (chars.next(), chars.next()) else {
                openings.short = true;
                continue;
            };
            let seconds = spellings(second);
            for first in spellings(first) {
                for second in &seconds {
                    let place = bit_place(first, *second);
                    openings.pairs[place >> 6] |= 1 << (place & 63);
                }
            }
        }
        openings
    }

    /// Whether a word may be in a text; `false` is certain.
    pub fn may_match(&self, mut text: impl Iterator<Item = char>) -> bool {
        let Some(mut last) = text.next() else { return false };
        self.short
            || text.any(|c| {
                let place = bit_place(std::mem::replace(&mut last, c), c);
                self.pairs[place >> 6] >> (place & 63) & 1 == 1
            })
    }
}

fn bit_place(first: char, second: char) -> usize {
    let mixed = (first as u32).wrapping_mul(0x9e37_79b1) ^ (second as u32).wrapping_mul(0x85eb_ca6b);
    (mixed >> (32 - BITS)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn few_others_are_let_through() {
        let openings = WordOpenings::new(["吧主", "删帖", "加精"]);
        assert!(openings.may_match("谁删帖了".chars()));
        assert!(!openings.may_match("云会恐高吗，会不会".chars()));
        assert!(WordOpenings::new(["云"]).may_match("鱼".chars()));
    }

    proptest! {
        #[test]
        fn what_is_in_a_text_is_never_missed(
            words in prop::collection::vec("[云鱼ab]{1,4}", 1..6),
            text in "[云鱼abc]{0,12}",
        ) {
            let openings = WordOpenings::new(words.iter().map(String::as_str));
            let occurs = words.iter().any(|word| text.contains(word.as_str()));
            prop_assert!(!occurs || openings.may_match(text.chars()));
        }
    }
}
