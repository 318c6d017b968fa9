//! Counts: words and sentences of a text in any language, counted as people do, and how counts are written.

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

/// 81700 as `81,700`; negative numbers get a minus sign.
pub fn grouped(n: i64) -> String {
    let digits = n.unsigned_abs().to_string();
    let mut out = String::from(if n < 0 { "−" } else { "" });
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_separated() {
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(grouped(-12), "−12");
        assert_eq!(grouped(i64::MIN), "−9,223,372,036,854,775,808");
    }
}
