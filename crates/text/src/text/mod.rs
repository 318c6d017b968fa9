//! Text rules over `&str`: removing the forum's debris from a post, whether it asks, and whether two posts
//! are the same joke. Nothing here depends on files, tables or settings files.

pub mod anonymise;
pub mod clean;
pub mod english;
pub mod filter;
pub mod interrogative;
pub mod language;
pub mod normalise;
mod openings;
pub mod policy;
pub mod sameness;
pub mod segment;
pub mod sketch;
pub mod time;

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
pub fn count_sentences(text: &str) -> usize {
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
pub fn group_digits(n: i64) -> String {
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

/// A count with its noun: `1 record`, `2 records`, `2 replies`.
pub fn count_with_noun(n: u64, noun: &str) -> String {
    let noun = match noun.strip_suffix('y') {
        _ if n == 1 => noun.to_owned(),
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{stem}ies"),
        _ => format!("{noun}s"),
    };
    format!("{} {noun}", group_digits(i64::try_from(n).unwrap_or(i64::MAX)))
}

/// A figure with so many decimals. What rounds to zero has no minus, from whichever side it comes.
pub fn format_decimals(value: f64, digits: usize) -> String {
    let shown = format!("{value:.digits$}");
    match shown.strip_prefix('-') {
        Some(zero) if zero.chars().all(|c| matches!(c, '0' | '.')) => zero.to_owned(),
        _ => shown,
    }
}

#[cfg(test)]
mod linear;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn letters_and_digits_are_those_of_unicode() {
        assert!(('\0'..=char::MAX).all(|c| super::is_letter(c) == c.is_alphanumeric()));
    }

    #[test]
    fn what_rounds_to_zero_has_no_minus() {
        let shown = [-0.0, -0.004, 0.0, 0.004, -0.006, -1.5].map(|x| format_decimals(x, 2));
        assert_eq!(shown, ["0.00", "0.00", "0.00", "0.00", "-0.01", "-1.50"]);
        assert_eq!((format_decimals(-0.4, 0), format_decimals(-0.6, 0)), ("0".to_owned(), "-1".to_owned()));
        assert_eq!(format_decimals(f64::NAN, 2), "NaN");
    }

    proptest! {
        /// The minus of zero is all that differs from how Rust writes a number.
        #[test]
        fn decimals_are_those_of_the_number(value in -10.0..10.0f64, digits in 0usize..5) {
            let (shown, rust) = (format_decimals(value, digits), format!("{value:.digits$}"));
            let is_zero = rust.parse::<f64>().unwrap() == 0.0;
            prop_assert_eq!(shown.as_str(), if is_zero { rust.trim_start_matches('-') } else { rust.as_str() });
        }
    }

    #[test]
    fn thousands_are_separated() {
        assert_eq!(group_digits(999), "999");
        assert_eq!(group_digits(1_234_567), "1,234,567");
        assert_eq!(group_digits(-12), "−12");
        assert_eq!(group_digits(i64::MIN), "−9,223,372,036,854,775,808");
    }
}
