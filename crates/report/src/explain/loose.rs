//! How a text matches words that it does not hold as they were written.

use riddlemill_text::text::normalise::{Fold, fold};

/// Whether a text holds words of Latin letters as whole words. No other script has words with ends to look at.
pub(super) fn holds_whole_words(text: &str, words: &str) -> bool {
    let is_latin = words.chars().all(|c| c.is_ascii_alphanumeric() || c == ' ');
    let (text, words) = (text.to_lowercase(), words.trim().to_lowercase());
    let is_end = |c: Option<char>| !c.is_some_and(char::is_alphanumeric);
    let whole = |(at, _): (usize, &str)| {
        is_end(text[..at].chars().next_back()) && is_end(text[at + words.len()..].chars().next())
    };
    is_latin && !words.is_empty() && text.match_indices(&words).any(whole)
}

/// The words of a text that match others only without blanks, case, width and punctuation; `None` if it holds them as they
/// were written, or not at all.
pub(super) fn find_loose_match(text: &str, words: &str) -> Option<String> {
    let wanted = fold(words, Fold::KEY);
    if wanted.is_empty() || text.to_lowercase().contains(&words.trim().to_lowercase()) {
        return None;
    }
    // The place in the text of each byte of what it is compared as.
    let (mut folded, mut places) = (String::new(), Vec::new());
    for (at, c) in text.char_indices() {
        let one = fold(c.encode_utf8(&mut [0; 4]), Fold::KEY);
        places.extend(std::iter::repeat_n(at, one.len()));
        folded.push_str(&one);
    }
    let start = folded.find(&wanted)?;
    let (first, last) = (*places.get(start)?, *places.get(start + wanted.len() - 1)?);
    let from = text[..first].rfind(char::is_whitespace).unwrap_or(0);
    let to = text[last..].find(char::is_whitespace).map_or(text.len(), |length| last + length);
    Some(text[from..to].trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_matches_without_its_blanks_is_shown_and_whole_words_are_told_from_parts() {
        assert_eq!(find_loose_match("A man opens a door.", "nope").as_deref(), Some("man opens"));
        assert_eq!(find_loose_match("云 会恐高吗", "云会").as_deref(), Some("云 会恐高吗"));
        assert_eq!(find_loose_match("No NOPE here", "nope"), None);
        assert_eq!(find_loose_match("a door", "nope"), None);
        assert!(holds_whole_words("He said: Nope.", "nope"));
        assert!(!holds_whole_words("a canopener", "nope") && !holds_whole_words("man opens", "nope"));
        assert!(!holds_whole_words("云会恐高吗", "云会"));
    }
}
