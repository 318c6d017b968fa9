//! Words of English texts.

use std::collections::BTreeSet;

/// Words that say little by themselves; two texts share them by chance.
const FUNCTION: &[&str] = &[
    "a", "an", "the", "of", "to", "in", "on", "at", "and", "or", "is", "are", "was", "were", "be", "been",
    "am", "do", "does", "did", "he", "him", "she", "it", "they", "them", "we", "us", "his", "her", "its",
    "their", "our", "you", "your", "i", "my", "me", "that", "this", "these", "those", "with", "for", "from",
    "by", "as", "how", "what", "why", "which", "who", "whose", "when", "where", "can", "could", "would",
    "will", "not", "no", "but", "if", "so", "than", "then", "there", "has", "have", "had", "one", "into",
    "out", "up", "because", "come", "possible", "all", "any",
];

/// Tokens as table 3 counts them: runs between white space. Of the ways to count, this one gives the
/// published averages on the published puzzles.
pub fn tokens(text: &str) -> usize {
    text.split_whitespace().count()
}

/// A word of a text and where it stands, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word<'a> {
    /// As it is written.
    pub text: &'a str,
    /// Where it begins.
    pub at: usize,
}

/// The words of a text: letters and digits, with apostrophes and hyphens inside.
pub fn words(text: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let mut start = None;
    let ends = |at: usize| text[at..].chars().nth(1).is_none_or(|next| !next.is_alphanumeric());
    for (at, c) in text.char_indices() {
        let inside = c.is_alphanumeric() || (start.is_some() && "'’-".contains(c) && !ends(at));
        match (start, inside) {
            (None, true) => start = Some(at),
            (Some(from), false) => {
                words.push(Word { text: &text[from..at], at: from });
                start = None;
            }
            _ => {}
        }
    }
    words.extend(start.map(|from| Word { text: &text[from..], at: from }));
    words
}

/// The words that carry what a text says, in lower case, each once. `A` and `I` are among them where they are named as
/// letters: `the letter A`.
pub fn content(text: &str) -> BTreeSet<String> {
    let all = words(text);
    let before = |at: usize| at.checked_sub(1).map(|at| all[at].text.to_lowercase()).unwrap_or_default();
    let letter = |at: usize| {
        ["A", "I"].contains(&all[at].text)
            && ["letter", "letters", "an", "the"].contains(&before(at).as_str())
    };
    let lower = |at: usize| all[at].text.to_lowercase().replace('’', "'");
    let says = |at: &usize| letter(*at) || !FUNCTION.contains(&lower(*at).as_str());
    (0..all.len()).filter(says).map(lower).collect()
}

/// Numbers that English writes in letters, from zero.
pub const NUMBERS: [&str; 13] = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
];

/// A small number in digits; any other word as it is.
pub fn number(word: &str) -> String {
    let small = NUMBERS.iter().position(|name| *name == word);
    small.map_or_else(|| word.to_owned(), |n| n.to_string())
}

/// The text as a key: letters and digits in lower case, one space between words.
pub fn key(text: &str) -> String {
    let words: Vec<String> =
        words(text).into_iter().map(|word| word.text.to_lowercase().replace('’', "'")).collect();
    words.join(" ")
}

/// The sentences of a text with where each begins, in bytes; the white space behind one is not part of it. A stop
/// after a title or an initial ends none.
pub fn sentences(text: &str) -> Vec<(usize, &str)> {
    const NAMING: &[&str] = &["a", "an", "the", "letter"];
    const TITLES: &[&str] = &["mr", "mrs", "ms", "dr", "st", "prof", "jr", "sr", "vs", "no"];
    let mut found = Vec::new();
    let mut start = 0;
    for (at, c) in text.char_indices() {
        let after = &text[at + c.len_utf8()..];
        let closes = after.trim_start_matches(['"', '”', '\'', '’', ')']);
        let breaks = closes.is_empty() || closes.starts_with(char::is_whitespace);
        let ends = match c {
            '\n' => true,
            '!' | '?' | '…' => breaks,
            '.' => {
                let mut before = text[start..at].rsplit(|c: char| !c.is_alphanumeric());
                let last = before.next().unwrap_or_default();
                // "An S." names a letter.
                let named = before.next().is_some_and(|word| NAMING.contains(&word.to_lowercase().as_str()));
                let initial = last.chars().count() == 1
                    && last.chars().all(char::is_uppercase)
                    && last != "I"
                    && !named;
                breaks && !initial && !TITLES.contains(&last.to_lowercase().as_str())
            }
            _ => false,
        };
        if ends {
            let end = text.len() - closes.len();
            push(text, start, end, &mut found);
            start = end;
        }
    }
    push(text, start, text.len(), &mut found);
    found
}

fn push<'a>(text: &'a str, start: usize, end: usize, found: &mut Vec<(usize, &'a str)>) {
    let Some(raw) = text.get(start..end) else { return };
    let sentence = raw.trim();
    if !sentence.is_empty() {
        found.push((start + raw.len() - raw.trim_start().len(), sentence));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_keep_what_stands_inside_them() {
        let texts = |text| words(text).into_iter().map(|w| w.text).collect::<Vec<_>>();
        assert_eq!(
            texts("The cat's ten-year-old \"toy\" isn't 3'."),
            ["The", "cat's", "ten-year-old", "toy", "isn't", "3"]
        );
        assert_eq!(content("How can a man have one hat?"), BTreeSet::from(["man".into(), "hat".into()]));
        assert_eq!(
            content("I saw the letter A."),
            BTreeSet::from(["saw".into(), "letter".into(), "a".into()])
        );
        assert_eq!(key("It’s  a—Dog!"), "it's a dog");
    }

    #[test]
    fn sentences_end_where_a_reader_ends_them() {
        let texts = |text| sentences(text).into_iter().map(|(_, s)| s).collect::<Vec<_>>();
        assert_eq!(
            texts("Mr. A. Smith left. \"Why?\" he asked.\nHow?"),
            ["Mr. A. Smith left.", "\"Why?\"", "he asked.", "How?"]
        );
        assert_eq!(texts("It is 3.5 m long"), ["It is 3.5 m long"]);
        assert_eq!(texts("An S. Next, more."), ["An S.", "Next, more."]);
        let text = "One.  Two!";
        assert!(sentences(text).iter().all(|(at, s)| text[*at..].starts_with(s)));
    }
}
