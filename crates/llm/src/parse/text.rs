//! Plain words in a reply.

use std::borrow::Cow;

use super::Unreadable;

/// Openings that quote a whole reply, with their closings.
const QUOTES: [(char, char); 5] = [('"', '"'), ('“', '”'), ('「', '」'), ('\'', '\''), ('`', '`')];

/// The text of a reply whose prompt asks for text alone: without a fence around all of it, a label at its
/// start that the prompt ends with, and quotation marks around all of it.
///
/// # Errors
/// If nothing is left.
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
        // Two quotations in a row are not one quoted text.
        if let Some(inner) = inner.filter(|inner| !inner.contains([open, close])) {
            text = inner.trim();
        }
    }
    if text.is_empty() { Err(Unreadable::new("the reply is empty")) } else { Ok(text) }
}

/// The text without a code fence around all of it.
pub(super) fn unfenced(text: &str) -> &str {
    let trimmed = text.trim();
    let inner = trimmed.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    match inner.and_then(|inner| inner.split_once('\n')) {
        // Prose after the opening fence, or more fences inside: it is not around all of the text.
        Some((info, inner)) if !info.trim().contains(char::is_whitespace) && !inner.contains("```") => inner,
        _ => text,
    }
}

/// Full-width digits, letters and signs in their narrow forms.
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
