//! Plain words in a reply.

use std::borrow::Cow;

use super::Unreadable;

/// Openings that quote a whole reply, with their closings.
const QUOTES: [(char, char); 5] = [('"', '"'), ('“', '”'), ('「', '」'), ('\'', '\''), ('`', '`')];

/// The words of a reply whose prompt asks for words alone: without a fence around all of it, a label in front that
/// the prompt ends with, and quotation marks around all of it.
///
/// # Errors
/// Where nothing is left.
pub fn plain<'a>(reply: &'a str, labels: &[&str]) -> Result<&'a str, Unreadable> {
    let mut text = unfenced(reply).trim();
    for label in labels {
        if let Some(rest) = text
            .get(..label.len())
            .filter(|head| head.eq_ignore_ascii_case(label))
            .map(|_| &text[label.len()..])
            && let Some(rest) = rest.trim_start().strip_prefix([':', '：'])
        {
            text = rest.trim();
        }
    }
    for (open, close) in QUOTES {
        let inner = text.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
        // Two quotations side by side are no quoted whole.
        if let Some(inner) = inner.filter(|inner| !inner.contains([open, close])) {
            text = inner.trim();
        }
    }
    if text.is_empty() { Err(Unreadable::new("the reply is empty")) } else { Ok(text) }
}

/// The text without a code fence that is around all of it.
pub(super) fn unfenced(text: &str) -> &str {
    let trimmed = text.trim();
    let inner = trimmed.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    match inner.and_then(|inner| inner.split_once('\n')) {
        Some((info, inner)) if !info.trim().contains(char::is_whitespace) && !inner.contains("```") => inner,
        _ => text,
    }
}

/// Full-width digits, letters and signs as their narrow forms.
pub(super) fn narrow(text: &str) -> Cow<'_, str> {
    let wide = |c: char| matches!(c, '\u{ff01}'..='\u{ff5e}' | '\u{3000}');
    if !text.contains(wide) {
        return Cow::Borrowed(text);
    }
    let fold = |c: char| match c {
        '\u{3000}' => ' ',
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(c as u32 - 0xfee0).unwrap_or(c),
        _ => c,
    };
    Cow::Owned(text.chars().map(fold).collect())
}

/// Words of a text, for limits such as "at most 100 words": runs between white space that hold a letter or digit,
/// and each Chinese, Japanese or Korean character by itself.
pub fn words(text: &str) -> usize {
    let cjk = |c: char| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}');
    text.split_whitespace()
        .map(|run| {
            run.chars().filter(|&c| cjk(c)).count()
                + run.split(cjk).filter(|part| part.contains(char::is_alphanumeric)).count()
        })
        .sum()
}

/// Sentences of a text: stretches with a letter or digit that end in a full stop, exclamation or question mark, or
/// with the text. A point between digits or inside a word ends none.
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
