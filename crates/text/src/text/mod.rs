//! Text rules over `&str`: removing the forum's debris from a post, whether it asks, and whether two posts
//! are the same joke. Nothing here depends on files, tables or settings files.

pub mod anonymise;
pub mod clean;
pub mod counts;
pub mod english;
pub mod filter;
pub mod interrogative;
pub mod language;
#[cfg(test)]
mod linear;
pub mod marks;
pub mod normalise;
mod openings;
pub mod policy;
pub mod sameness;
pub mod segment;
pub mod sketch;
pub mod time;

pub use counts::{counted, decimals, grouped};

/// Whether a character is a letter or a digit: [`char::is_alphanumeric`], faster for Chinese.
pub fn is_letter(c: char) -> bool {
    match c {
        '\u{4e00}'..='\u{9fff}' => true,
        // The punctuation of Chinese texts.
        '\u{2010}'..='\u{2027}' | '\u{3000}'..='\u{3004}' | '\u{3008}'..='\u{3020}' => false,
        '\u{ff01}'..='\u{ff0f}' | '\u{ff1a}'..='\u{ff20}' => false,
        c => c.is_alphanumeric(),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn letters_and_digits_are_those_of_unicode() {
        assert!(('\0'..=char::MAX).all(|c| super::is_letter(c) == c.is_alphanumeric()));
    }
}
