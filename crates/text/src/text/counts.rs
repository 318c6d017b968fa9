//! Words and sentences of a text in any language, counted as people do.

/// Words of a text, for limits such as "at most 100 words": runs between white space that contain a letter or
/// digit, and each Chinese, Japanese or Korean character by itself.
pub fn count_words(text: &str) -> usize {
    let cjk = |c: char| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}');
    text.split_whitespace()
        .map(|run| {
            run.chars().filter(|&c| cjk(c)).count()
                + run.split(cjk).filter(|part| part.contains(char::is_alphanumeric)).count()
        })
        .sum()
}

/// Sentences of a text: stretches with a letter or digit that end in a full stop, exclamation or question
/// mark, or at the end of the text. A point between digits or inside a word does not end one.
pub fn sentences(text: &str) -> usize {
    let chars: Vec<char> = text.chars().collect();
    let mut count = 0;
    let mut has_word = false;
    for (at, &c) in chars.iter().enumerate() {
        has_word |= c.is_alphanumeric();
        let ends = match c {
            '。' | '！' | '？' | '!' | '?' => true,
            '.' => chars
                .get(at + 1)
                .is_none_or(|next| next.is_whitespace() || matches!(next, '"' | '”' | '\'' | ')')),
            _ => false,
        };
        if ends && has_word {
            count += 1;
            has_word = false;
        }
    }
    count + usize::from(has_word)
}
