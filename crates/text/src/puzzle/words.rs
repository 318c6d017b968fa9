//! Words of English texts.

use std::collections::BTreeSet;

/// Function words; two texts share them by chance.
const FUNCTION: &[&str] = &[
    "a", "an", "the", "of", "to", "in", "on", "at", "and", "or", "is", "are", "was", "were", "be", "been",
    "am", "do", "does", "did", "he", "him", "she", "it", "they", "them", "we", "us", "his", "her", "its",
    "their", "our", "you", "your", "i", "my", "me", "that", "this", "these", "those", "with", "for", "from",
    "by", "as", "how", "what", "why", "which", "who", "whose", "when", "where", "can", "could", "would",
    "will", "not", "no", "but", "if", "so", "than", "then", "there", "has", "have", "had", "one", "into",
    "out", "up", "because", "come", "possible", "all", "any",
];

/// How many words there are between white space.
pub fn word_count(text: &str) -> usize {
    text.split_whitespace().count()
}

/// A word of a text and its byte offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextWord<'a> {
    /// The word as written.
    pub text: &'a str,
    /// Where it begins.
    pub at: usize,
}

/// The words of a text: letters and digits, with apostrophes and hyphens inside.
pub fn list_words(text: &str) -> Vec<TextWord<'_>> {
    let mut words = Vec::new();
    let mut start = None;
    let ends = |at: usize| text[at..].chars().nth(1).is_none_or(|next| !next.is_alphanumeric());
    for (at, c) in text.char_indices() {
        let inside = c.is_alphanumeric() || (start.is_some() && "'’-".contains(c) && !ends(at));
        match (start, inside) {
            (None, true) => start = Some(at),
            (Some(from), false) => {
                words.push(TextWord { text: &text[from..at], at: from });
                start = None;
            }
            _ => {}
        }
    }
    words.extend(start.map(|from| TextWord { text: &text[from..], at: from }));
    words
}

/// The content words of a text, in lower case, each once. `a` and `i` are included only as letters
/// ([`mentioned_letters`]).
pub fn find_content_words(text: &str) -> BTreeSet<String> {
    let all = list_words(text);
    let lower = |word: &TextWord<'_>| word.text.to_lowercase().replace('’', "'");
    let carries_meaning =
        |at: &usize| is_letter_name(text, &all, *at) || !FUNCTION.contains(&lower(&all[*at]).as_str());
    (0..all.len()).filter(carries_meaning).map(|at| lower(&all[at])).collect()
}

/// The letters that a text mentions, in lower case and in order: `G, T, F` is not `F, T, G`. If it mentions
/// only letters and numbers, the numbers too.
pub fn mentioned_letters(text: &str) -> Vec<String> {
    let all = list_words(text);
    let digits = |word: &String| word.chars().all(|c| c.is_ascii_digit());
    let says = |at: &usize| {
        is_letter_name(text, &all, *at) || !FUNCTION.contains(&all[*at].text.to_lowercase().as_str())
    };
    let content_words: Vec<(usize, String)> =
        (0..all.len()).filter(says).map(|at| (at, number_in_digits(&all[at].text.to_lowercase()))).collect();
    let bare = content_words.iter().all(|(at, word)| is_letter_name(text, &all, *at) || digits(word));
    let kept = content_words
        .into_iter()
        .filter(|(at, word)| is_letter_name(text, &all, *at) || (bare && digits(word)));
    kept.map(|(_, word)| word).collect()
}

/// Whether the word at an index is a letter mentioned as such. Any single letter but `a` and `i` is. Those
/// two are if the text says so (`the letter a`, `the letters E and I`, `an I`), in quotation marks, among
/// other letters (`a, e, i`) or alone; `a` also if nothing follows that an article could belong to (`It is
/// A.`).
fn is_letter_name(text: &str, all_words: &[TextWord<'_>], at: usize) -> bool {
    const QUOTES: [char; 7] = ['"', '\'', '“', '”', '‘', '’', '`'];
    let single =
        |word: &TextWord<'_>| word.text.chars().all(char::is_alphabetic) && word.text.chars().count() == 1;
    let word = &all_words[at];
    let article = word.text.eq_ignore_ascii_case("a");
    if !single(word) || (!article && !word.text.eq_ignore_ascii_case("i")) {
        return single(word);
    }
    let is = |at: usize, names: &[&str]| names.contains(&all_words[at].text.to_lowercase().as_str());
    let listed = |at: &usize| single(&all_words[*at]) || is(*at, &["and", "or"]);
    let named = (0..at)
        .rev()
        .find(|at| !listed(at))
        .is_some_and(|at| is(at, &["letter", "letters", "vowel", "vowels"]));
    let one = at > 0
        && (is(at - 1, &["an"]) || (is(at - 1, &["the"]) && word.text.starts_with(char::is_uppercase)));
    let (head, tail) = (&text[..word.at], &text[word.at + word.text.len()..]);
    let quoted = head.ends_with(QUOTES) && tail.starts_with(QUOTES);
    // `a T` has an article, `a, t` does not.
    let apart = |from: &TextWord<'_>, to: &TextWord<'_>| text[from.at + from.text.len()..to.at].trim() != "";
    let neighbours = [at.checked_sub(1), (at + 1 < all_words.len()).then_some(at + 1)].into_iter().flatten();
    let among = neighbours.into_iter().any(|other| {
        let (from, to) = (&all_words[at.min(other)], &all_words[at.max(other)]);
        single(&all_words[other]) && !is(other, &["a", "i"]) && apart(from, to)
    });
    let last = tail
        .trim_start_matches(QUOTES)
        .chars()
        .find(|c| !c.is_whitespace())
        .is_none_or(|c| !c.is_alphanumeric());
    let alone = all_words.iter().all(single);
    named || one || quoted || among || alone || (article && last)
}

/// Numbers that English writes in letters, from zero.
pub const NUMBERS: [&str; 13] = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
];

/// A small number in digits; any other word as it is.
pub fn number_in_digits(word: &str) -> String {
    let small = NUMBERS.iter().position(|name| *name == word);
    small.map_or_else(|| word.to_owned(), |n| n.to_string())
}

/// The text as a key: letters and digits in lower case, one space between words.
pub fn word_key(text: &str) -> String {
    let words: Vec<String> =
        list_words(text).into_iter().map(|word| word.text.to_lowercase().replace('’', "'")).collect();
    words.join(" ")
}

/// The sentences of a text with their byte offsets, without the white space after them. A full stop after a
/// title or an initial does not end a sentence.
pub fn cut_sentences(text: &str) -> Vec<(usize, &str)> {
    cut_words(text, true)
}

/// The text cut at every stop, so that `T. Next, more.` is two pieces: for callers that inspect the end of a
/// text and keep the rest unchanged.
pub fn cut_at_stops(text: &str) -> Vec<(usize, &str)> {
    cut_words(text, false)
}

fn cut_words(text: &str, names: bool) -> Vec<(usize, &str)> {
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
                // `An S.` mentions a letter.
                let named = before.next().is_some_and(|word| NAMING.contains(&word.to_lowercase().as_str()));
                let initial = last.chars().count() == 1
                    && last.chars().all(char::is_uppercase)
                    // `I` at the end of a sentence is far more often the pronoun than an initial.
                    && last != "I"
                    && !named;
                breaks && !(names && (initial || TITLES.contains(&last.to_lowercase().as_str())))
            }
            _ => false,
        };
        if ends {
            let end = text.len() - closes.len();
            push_word(text, start, end, &mut found);
            start = end;
        }
    }
    push_word(text, start, text.len(), &mut found);
    found
}

fn push_word<'a>(text: &'a str, start: usize, end: usize, found: &mut Vec<(usize, &'a str)>) {
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
    fn words_keep_what_is_inside_them() {
        let texts = |text| list_words(text).into_iter().map(|w| w.text).collect::<Vec<_>>();
        assert_eq!(
            texts("The cat's ten-year-old \"toy\" isn't 3'."),
            ["The", "cat's", "ten-year-old", "toy", "isn't", "3"]
        );
        assert_eq!(
            find_content_words("How can a man have one hat?"),
            BTreeSet::from(["man".into(), "hat".into()])
        );
        assert_eq!(
            find_content_words("I saw the letter A."),
            BTreeSet::from(["saw".into(), "letter".into(), "a".into()])
        );
        assert_eq!(word_key("It’s  a—Dog!"), "it's a dog");
    }

    #[test]
    fn a_letter_is_no_function_word() {
        for (text, named) in [
            ("The letter 'i'.", "i"),
            ("The letter a", "a"),
            ("'a'", "a"),
            ("A.", "a"),
            ("i", "i"),
            ("It is A.", "a"),
            ("a, e, i, o and u", "a e i o u"),
            ("G,T,F.", "g t f"),
            ("An A grade is a good one that I like.", "a"),
            ("2, 1 and three", "2 1 3"),
            ("He owns 2 cars and a T.", "t"),
            ("I am a man, so am I.", ""),
            ("A dog, or a cat", ""),
        ] {
            assert_eq!(mentioned_letters(text).join(" "), named, "{text}");
            assert_eq!(find_content_words(text).contains("a"), named.contains('a'), "{text}");
        }
    }

    #[test]
    fn sentences_end_where_a_reader_ends_them() {
        let texts = |text| cut_sentences(text).into_iter().map(|(_, s)| s).collect::<Vec<_>>();
        assert_eq!(
            texts("Mr. A. Smith left. \"Why?\" he asked.\nHow?"),
            ["Mr. A. Smith left.", "\"Why?\"", "he asked.", "How?"]
        );
        assert_eq!(texts("It is 3.5 m long"), ["It is 3.5 m long"]);
        assert_eq!(texts("An S. Next, more."), ["An S.", "Next, more."]);
        let text = "One.  Two!";
        assert!(cut_sentences(text).iter().all(|(at, s)| text[*at..].starts_with(s)));
    }
}
