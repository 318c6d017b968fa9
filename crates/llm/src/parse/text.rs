//! Plain words in a reply.

use std::borrow::Cow;

use super::Unreadable;

/// Openings that quote a whole reply, with their closings.
const QUOTES: [(char, char); 5] = [('"', '"'), ('“', '”'), ('「', '」'), ('\'', '\''), ('`', '`')];

/// Beginnings of a line that only announces the text below it, in lower case.
const ANNOUNCES: [&str; 12] = [
    "sure",
    "of course",
    "certainly",
    "okay",
    "ok,",
    "here is",
    "here's",
    "here’s",
    "好的",
    "当然",
    "以下是",
    "下面是",
];
/// What such a line announces.
const ANNOUNCED: [&str; 16] = [
    "translation",
    "translated",
    "english",
    "version",
    "answer",
    "explanation",
    "analysis",
    "question",
    "text",
    "译文",
    "翻译",
    "答案",
    "回答",
    "解释",
    "分析",
    "改写",
];
/// Longer lines are texts, not announcements of one.
const ANNOUNCEMENT: usize = 90;

/// Beginnings of a last paragraph that speaks about the text above it, in lower case and without marks.
const REMARKS: [&str; 11] = [
    "note:",
    "note that i",
    "translator's note",
    "translator’s note",
    "hope this helps",
    "i hope this helps",
    "let me know if",
    "feel free to ask",
    "注:",
    "注：",
    "译注",
];

/// Words that stand for an empty text.
const NOTHING: [&str; 5] = ["n/a", "null", "undefined", "none.", "(none)"];

/// The text of a reply whose prompt asks for text alone: without a fence around all of it, a line that announces it,
/// a label at its start that the prompt ends with, quotation marks around all of it, and remarks below it.
///
/// # Errors
/// If nothing is left.
pub fn plain_text<'a>(reply: &'a str, labels: &[&str]) -> Result<&'a str, Unreadable> {
    let mut text = without_remarks(strip_announcement(strip_fence(reply).trim()));
    for label in labels {
        text = without_label(text, label).unwrap_or(text);
    }
    for (open, close) in QUOTES {
        let inner = text.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
        // Two quotations in a row are not one quoted text.
        if let Some(inner) = inner.filter(|inner| !inner.contains([open, close])) {
            text = inner.trim();
        }
    }
    let is_nothing = NOTHING.iter().any(|nothing| text.eq_ignore_ascii_case(nothing));
    if text.is_empty() || is_nothing { Err(Unreadable::new("the reply is empty")) } else { Ok(text) }
}

/// A text without its label and the emphasis around that: `Translation: …`, `**Translation:** …`, `**Translation**: …`.
fn without_label<'a>(text: &'a str, label: &str) -> Option<&'a str> {
    let emphasis = |c: char| c == '*' || c == '_';
    let bare = text.trim_start_matches(emphasis);
    let marks = text.len() - bare.len();
    // `get`, because the end of the label may fall inside a character.
    let head = bare.get(..label.len())?;
    let rest = bare[label.len()..].trim_start();
    let rest = rest.trim_start_matches(emphasis).trim_start().strip_prefix([':', '：'])?;
    let rest = if marks > 0 { rest.trim_start_matches(emphasis) } else { rest };
    head.eq_ignore_ascii_case(label).then(|| rest.trim())
}

/// The text below a line that only announces it: "Sure! Here is the translation:".
fn strip_announcement(text: &str) -> &str {
    let Some((line, rest)) = text.split_once('\n') else { return text };
    let line = line.trim().trim_end_matches(['*', '_']);
    let lower = line.to_lowercase();
    let announces = line.chars().count() <= ANNOUNCEMENT
        && line.ends_with([':', '：'])
        && ANNOUNCES.iter().any(|start| lower.starts_with(start))
        && ANNOUNCED.iter().any(|word| lower.contains(word));
    if announces && !rest.trim().is_empty() { rest.trim() } else { text }
}

/// The text above a last paragraph that speaks about it: "(Note: the pun is kept.)".
fn without_remarks(text: &str) -> &str {
    let Some((above, last)) = text.rsplit_once("\n\n") else { return text };
    let lower = last.trim_start_matches(|c: char| c.is_whitespace() || "(（[*_>".contains(c)).to_lowercase();
    let remarks = REMARKS.iter().any(|start| lower.starts_with(start));
    if remarks && !above.trim().is_empty() { without_remarks(above.trim()) } else { text }
}

/// The text without a code fence around all of it.
pub(super) fn strip_fence(text: &str) -> &str {
    let trimmed = text.trim();
    let inner = trimmed.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    match inner.and_then(|inner| inner.split_once('\n')) {
        // Prose after the opening fence, or more fences inside: it is not around all of the text.
        Some((info, inner)) if !info.trim().contains(char::is_whitespace) && !inner.contains("```") => inner,
        _ => text,
    }
}

/// Full-width digits, letters and signs in their narrow forms.
pub(super) fn narrow_forms(text: &str) -> Cow<'_, str> {
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
