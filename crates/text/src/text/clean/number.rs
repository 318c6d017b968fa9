//! Numbering and star marks before a post of an annual thread.
//!
//! What: `353.…`, `361*.…`, `*:…`, `151、…`, `59 …` lose the mark; the number and the star are kept in fields
//! of their own.
//!
//! Why: the number is the post's rank, the star says that it is about the year's news. Neither is part of the
//! joke.
//!
//! Known problems: a joke that begins with a number of its own and has no rank (`110 是什么电话`) looks
//! ranked, so the rule runs on posts of annual threads only.

/// A mark at the head of a post.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The rank, or `None` if there is only a star.
    pub number: Option<u32>,
    /// Whether a star is in the mark.
    pub starred: bool,
    /// Length of the mark in bytes, including separator and spaces.
    pub len: usize,
}

/// The mark at the head of a post, or `None`.
///
/// ```
/// # use riddlemill_text::text::clean::number::mark;
/// let found = mark("36*.鱼为什么会渴").unwrap();
/// assert_eq!((found.number, found.starred, found.len), (Some(36), true, 4));
/// assert!(mark("2020年我总结了一下").is_none());
/// ```
pub fn mark(text: &str) -> Option<Mark> {
    let body = text.trim_start();
    let mut at = text.len() - body.len();
    // Where the whole post dodges a filter, a bar may be between digits.
    let mut number = String::new();
    let mut rest = body.char_indices().peekable();
    while let Some(&(i, c)) = rest.peek() {
        match c {
            '丨' if !number.is_empty() => {}
            c if number.len() < 5 => match halfwidth_digit(c) {
                Some(d) => number.push(d),
                None => break,
            },
            _ => break,
        }
        at = text.len() - body.len() + i + c.len_utf8();
        rest.next();
    }
    let after = &text[at..];
    let unstarred = after.trim_start_matches(['*', '＊', '★']);
    let starred = unstarred.len() < after.len();
    // A fifth digit was only read to recognise that the number is too long for a rank.
    if number.len() > 4 || number.is_empty() && !starred {
        return None;
    }
    let first = unstarred.chars().next()?;
    let strong =
        matches!(first, '.' | '．' | '、' | ':' | '：' | ')' | '）') || first == '。' && !number.is_empty();
    // A space alone is weak evidence: a year or a price is not a rank.
    let weak = first.is_whitespace() && !number.is_empty() && number.len() <= 3;
    if !strong && !weak || starred && number.is_empty() && after.len() - unstarred.len() > 3 {
        return None;
    }
    let tail = unstarred[first.len_utf8()..].trim_start_matches(|c: char| c.is_whitespace() || c == '丨');
    if tail.is_empty() {
        return None;
    }
    Some(Mark { number: number.parse().ok(), starred, len: text.len() - tail.len() })
}

fn halfwidth_digit(c: char) -> Option<char> {
    match c {
        '0'..='9' => Some(c),
        '０'..='９' => char::from_u32(c as u32 - 0xff10 + 0x30),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::mark;

    #[test]
    fn reads_every_form_of_the_threads() {
        for (text, number, starred, rest) in [
            ("353.云", Some(353), false, "云"),
            ("361*.云", Some(361), true, "云"),
            ("*:云", None, true, "云"),
            ("*：云", None, true, "云"),
            ("151、云", Some(151), false, "云"),
            ("59 云", Some(59), false, "云"),
            ("355.25岁的云", Some(355), false, "25岁的云"),
            ("1. 云", Some(1), false, "云"),
            ("2丨6丨9丨.丨云", Some(269), false, "云"),
        ] {
            let mark = mark(text).unwrap();
            assert_eq!((mark.number, mark.starred, &text[mark.len..]), (number, starred, rest), "{text}");
        }
    }

    #[test]
    fn leaves_other_numbers() {
        for text in ["2020年总结", "2020 总结", "**", "*", "25岁了", "12345.云", "云", "", "7.", "****:云"]
        {
            assert_eq!(mark(text), None, "{text}");
        }
    }
}
