//! Quotation spans, and the mask that hides them.
//!
//! A question inside quotation marks is asked by somebody in the joke. So that later steps need not consider
//! quotations, quoted text is overwritten by filler characters **of the same byte length**: the masked text
//! reads as the poster's own words, and every offset into it is an offset into the post.

use std::borrow::Cow;
use std::ops::Range;

/// Quotation spans of `text`, delimiters included, in order, none inside another.
///
/// Recognises `“”`, `‘’`, `「」`, `『』`, `《》`, `【】` and straight double quotes, which open and close in turn. A
/// mark opened on a line and never closed quotes the rest of that line; a mark closed and never opened quotes
/// the text before it on its line, back to the last span.
pub(super) fn find_quotations(text: &str) -> Vec<Range<usize>> {
    let mut spans: Vec<Range<usize>> = Vec::new();
    let mut open: Option<(usize, char)> = None;
    let mut line_start = 0;
    for (at, c) in text.char_indices() {
        let end = at + c.len_utf8();
        if c == '\n' {
            // A speech may continue over a line break only if its closing mark follows.
            if let Some((start, close)) = open
                && !text[end..].contains(close)
            {
                spans.push(start..at);
                open = None;
            }
            line_start = end;
            continue;
        }
        match open {
            Some((start, close)) if c == close => {
                spans.push(start..end);
                open = None;
            }
            Some(_) => {}
            None if closing_mark(c).is_some() => open = closing_mark(c).map(|close| (at, close)),
            None if matches!(c, '”' | '」' | '』') => {
                let start = spans.last().map_or(line_start, |last| last.end.max(line_start));
                spans.push(start..end);
            }
            None => {}
        }
    }
    if let Some((start, _)) = open {
        spans.push(start..text.len());
    }
    spans
}

/// The closing mark of an opening one.
fn closing_mark(c: char) -> Option<char> {
    Some(match c {
        '“' => '”',
        '‘' => '’',
        '「' => '」',
        '『' => '』',
        '《' => '》',
        '【' => '】',
        '"' => '"',
        _ => return None,
    })
}

/// Whether a span quotes speech or a phrase, rather than naming a title or tag (`《》`, `【】`).
pub(super) fn is_speech(span: &str) -> bool {
    !span.starts_with(['《', '【'])
}

/// `text` without quotation marks that enclose all of it.
///
/// A post that is one quotation has no narrator, so the quoted text is the post.
pub(super) fn unwrap_quotation(text: &str) -> &str {
    let mut text = text;
    loop {
        let inner = match text.chars().next() {
            Some('"') if text.len() > 1 && text.ends_with('"') => {
                // `"a" b "c"` is two quotations; `"“a”“b”"` is a dialogue that a table quoted again.
                let inner = &text[1..text.len() - 1];
                if inner.contains('"') { return text } else { inner }
            }
            Some(mark @ ('“' | '‘' | '「' | '『')) => match find_quotations(text).as_slice() {
                [only] if *only == (0..text.len()) => {
                    let inner = &text[mark.len_utf8()..];
                    closing_mark(mark).and_then(|close| inner.strip_suffix(close)).unwrap_or(inner)
                }
                _ => return text,
            },
            _ => return text,
        };
        text = inner.trim();
    }
}

/// `text` with every span overwritten by fillers of the same byte length.
pub(super) fn mask_spans<'a>(text: &'a str, spans: &[Range<usize>]) -> Cow<'a, str> {
    if spans.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut masked = String::with_capacity(text.len());
    let mut done = 0;
    for span in spans {
        masked.push_str(&text[done..span.start]);
        masked.extend(text[span.clone()].chars().map(|c| FILLERS[c.len_utf8() - 1]));
        done = span.end;
    }
    masked.push_str(&text[done..]);
    Cow::Owned(masked)
}

/// Fillers of one to four bytes: noncharacters and separators that do not occur in posts.
const FILLERS: [char; 4] = ['\u{1f}', '\u{80}', '\u{fdd0}', '\u{1fffe}'];

/// Whether `c` replaces a quoted character.
pub(super) fn is_filler(c: char) -> bool {
    FILLERS.contains(&c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: &[&str]) {
        let spans = find_quotations(text);
        let got: Vec<_> = spans.iter().map(|span| &text[span.clone()]).collect();
        assert_eq!(got, want);
        assert_eq!(mask_spans(text, &spans).len(), text.len());
    }

    #[test]
    fn spans_close_where_their_mark_closes() {
        check("他说“好”，又说「不」", &["“好”", "「不」"]);
        check("\"一\"和\"二\"", &["\"一\"", "\"二\""]);
    }

    #[test]
    fn half_a_pair_quotes_its_line() {
        check("他问：“在吗\n没人理", &["“在吗"]);
        check("在吗？”邻居问", &["在吗？”"]);
    }

    #[test]
    fn a_post_that_is_one_quotation_is_unwrapped() {
        assert_eq!(unwrap_quotation("“你好吗？”"), "你好吗？");
        assert_eq!(unwrap_quotation("\"“甲”“乙”\""), "“甲”“乙”");
        assert_eq!(unwrap_quotation("“甲”“乙”"), "“甲”“乙”");
    }
}
