//! Which posts of an annual thread are the jokes.
//!
//! What: the thread's owner posts the year's best jokes as main posts, each with its rank before it or its
//! score after it. A main post of the owner with one of the two is a joke; the rest of the owner's posts is
//! chatter, and so is everything anybody else posts.
//!
//! Why: a thread of 2,800 posts holds 360 jokes, and both marks are put there by the owner's tool.
//!
//! A note of the owner under a joke ([`note`]) is not a joke: it belongs to the one above it.
//!
//! Known problems: an owner's list of rules that begins with `1.` is taken for a joke; the filter for forum
//! management drops such a post.

use riddlemill_record::Reason;

/// A ranked or scored post.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Numbered<'a> {
    /// The rank, if the post states one.
    pub number: Option<u32>,
    /// Whether the owner marked it as being about the year's news.
    pub starred: bool,
    /// The judges' mean score, if the post states one.
    pub score: Option<f64>,
    /// The joke, verbatim between the two marks.
    pub text: &'a str,
}

/// The joke inside a ranked or scored post, or `None` for chatter.
///
/// ```
/// # use riddlemill_text::text::clean::annual::numbered;
/// let joke = numbered("36*.鱼为什么会渴\n评分：3.68").unwrap();
/// assert_eq!((joke.number, joke.starred, joke.score, joke.text), (Some(36), true, Some(3.68), "鱼为什么会渴"));
/// assert!(numbered("等审核，明天再发").is_none());
/// ```
pub fn numbered(text: &str) -> Option<Numbered<'_>> {
    let (body, score) = split_score(text).map_or((text.trim(), None), |(body, score)| (body, Some(score)));
    let mark = rank_mark(body);
    if mark.is_none() && score.is_none() {
        return None;
    }
    let joke = &body[mark.map_or(0, |m| m.len)..];
    let joke = joke.trim();
    if !joke.contains(|c: char| !c.is_whitespace()) {
        return None;
    }
    Some(Numbered {
        number: mark.and_then(|m| m.number),
        starred: mark.is_some_and(|m| m.starred),
        score,
        text: joke,
    })
}

/// The text of a note, or `None` if a post is not one: a mark (`*：`, `注：`, `PS：` …) followed by text, no rank
/// before it and no score after it.
///
/// Under a joke about the year's news the owner reminds readers of the news, in a separate post. Whether a
/// joke is above it depends on the thread.
///
/// ```
/// # use riddlemill_text::text::clean::annual::note;
/// assert_eq!(note("*：当年有一条云被罚款的新闻"), Some("当年有一条云被罚款的新闻"));
/// assert_eq!(note("（PS: 云是真的云）"), Some("云是真的云"));
/// assert_eq!(note("36*.鱼为什么会渴"), None);
/// ```
pub fn note(text: &str) -> Option<&str> {
    let text = text.trim();
    if split_score(text).is_some() {
        return None;
    }
    let (body, bracketed) = match text.strip_prefix(['（', '(', '【', '[']) {
        Some(body) => (body.trim_start(), true),
        None => (text, false),
    };
    let behind = body.trim_start_matches(['*', '＊', '★', '※']);
    let behind = match behind.len() < body.len() {
        true => behind,
        false => NOTES.iter().find_map(|mark| {
            let head = body.get(..mark.len())?;
            head.eq_ignore_ascii_case(mark).then(|| &body[mark.len()..])
        })?,
    };
    // `【注】云` closes its bracket before the text, `（注：云）` after it.
    let closed = behind.trim_start().strip_prefix(['）', ')', '】', ']']).filter(|_| bracketed);
    let remark = match closed {
        Some(rest) => rest.trim_start().trim_start_matches([':', '：']),
        None => behind.trim_start().strip_prefix([':', '：'])?,
    };
    let remark = match bracketed && closed.is_none() {
        true => remark.trim_end().trim_end_matches(['）', ')', '】', ']']),
        false => remark,
    };
    let remark = remark.trim();
    remark.contains(char::is_alphanumeric).then_some(remark)
}

/// What precedes a note's colon, without stars.
const NOTES: [&str; 13] =
    ["注释", "注解", "注", "备注", "附注", "附", "p.s.", "p.s", "ps", "解释", "背景", "出处", "典故"];

/// Who wrote a post and where it is in its thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The thread's owner wrote it.
    pub by_owner: bool,
    /// It answers another post instead of having a floor of its own.
    pub is_comment: bool,
}

/// The joke of a post of an annual thread, or why it is not one.
///
/// ```
/// # use riddlemill_record::Reason;
/// # use riddlemill_text::text::clean::annual::{joke, Position};
/// let owner = Position { by_owner: true, is_comment: false };
/// assert_eq!(joke("12.云会不会恐高", owner).unwrap().text, "云会不会恐高");
/// assert_eq!(joke("看一楼", owner), Err(Reason::Chatter));
/// assert_eq!(joke("12.云会不会恐高", Position { by_owner: false, ..owner }), Err(Reason::NotOwner));
/// ```
pub fn joke(text: &str, standing: Position) -> Result<Numbered<'_>, Reason> {
    if !standing.by_owner {
        return Err(Reason::NotOwner);
    }
    if standing.is_comment {
        return Err(Reason::Chatter);
    }
    numbered(text).ok_or(Reason::Chatter)
}

/// A mark at the head of a post.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnnualMark {
    /// The rank, or `None` if there is only a star.
    pub number: Option<u32>,
    /// Whether a star is in the mark.
    pub starred: bool,
    /// Length of the mark in bytes, including separator and spaces.
    pub len: usize,
}

/// The mark at the head of a post, or `None`.
///
/// Numbering and star marks before a post of an annual thread.
///
/// What: `353.…`, `361*.…`, `*:…`, `151、…`, `59 …` lose the mark; the number and the star are kept in fields
/// of their own.
///
/// Why: the number is the post's rank, the star says that it is about the year's news. Neither is part of the
/// joke.
///
/// Known problems: a joke that begins with a number of its own and has no rank (`110 是什么电话`) looks
/// ranked, so the rule runs on posts of annual threads only.
///
/// ```
/// # use riddlemill_text::text::clean::annual::rank_mark;
/// let found = rank_mark("36*.鱼为什么会渴").unwrap();
/// assert_eq!((found.number, found.starred, found.len), (Some(36), true, 4));
/// assert!(rank_mark("2020年我总结了一下").is_none());
/// ```
pub fn rank_mark(text: &str) -> Option<AnnualMark> {
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
    Some(AnnualMark { number: number.parse().ok(), starred, len: text.len() - tail.len() })
}

fn halfwidth_digit(c: char) -> Option<char> {
    match c {
        '0'..='9' => Some(c),
        '０'..='９' => char::from_u32(c as u32 - 0xff10 + 0x30),
        _ => None,
    }
}

/// The text before the score, and the score; `None` if there is no score at the end.
///
/// The score at the end of a post of an annual thread.
///
/// What: `评分：3.68` at the end is removed from the text and becomes a number.
///
/// Why: the judges' mean is a property of the joke and worth a column; in the text it would make two copies
/// of the joke differ.
///
/// Known problems: only `评分` and `得分` are known.
///
/// ```
/// # use riddlemill_text::text::clean::annual::split_score;
/// assert_eq!(split_score("雨伞怕雨吗？\n评分：3.68"), Some(("雨伞怕雨吗？", 3.68)));
/// assert_eq!(split_score("老师给我的评分：不及格"), None);
/// ```
pub fn split_score(text: &str) -> Option<(&str, f64)> {
    let end = text.trim_end();
    let end = end.strip_suffix('分').unwrap_or(end);
    let head = end.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let value = &end[head.len()..];
    if value.is_empty() || value.len() > 6 || value.starts_with('.') || value.ends_with('.') {
        return None;
    }
    let head = head.trim_end();
    let head = head.strip_suffix(['：', ':']).unwrap_or(head).trim_end();
    let text = head.strip_suffix("评分").or_else(|| head.strip_suffix("得分"))?;
    Some((text.trim_end(), value.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_number_or_score_is_no_obstacle() {
        let scored = numbered("云会不会恐高\n评分：4.01").unwrap();
        assert_eq!((scored.number, scored.score, scored.text), (None, Some(4.01), "云会不会恐高"));
        let starred = numbered("*:云会不会恐高").unwrap();
        assert_eq!((starred.number, starred.starred, starred.text), (None, true, "云会不会恐高"));
    }

    #[test]
    fn notes_are_distinguished_from_jokes() {
        for (text, remark) in [
            ("*：云被罚款", "云被罚款"),
            ("＊:云被罚款", "云被罚款"),
            ("** ： 云被罚款", "云被罚款"),
            ("注：云被罚款", "云被罚款"),
            ("PS：云被罚款", "云被罚款"),
            ("P.S.: 云被罚款", "云被罚款"),
            ("【注】云被罚款", "云被罚款"),
            ("（注：云被罚款）", "云被罚款"),
            ("背景：云被罚款\n罚了两次", "云被罚款\n罚了两次"),
        ] {
            assert_eq!(note(text), Some(remark), "{text}");
        }
        let jokes = [
            "12*：云被罚款",
            "*：云被罚款\n评分：3.1",
            "注意安全",
            "psp：云",
            "*",
            "**",
            "*：",
            "*云",
            "“注：”是什么",
            "云（注：云）",
        ];
        for text in jokes {
            assert_eq!(note(text), None, "{text}");
        }
    }

    #[test]
    fn chatter_is_chatter() {
        for text in ["", "看一楼", "2020总结完了", "**", "评分：3.3", "12."] {
            assert_eq!(numbered(text), None, "{text}");
        }
    }

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
            let mark = rank_mark(text).unwrap();
            assert_eq!((mark.number, mark.starred, &text[mark.len..]), (number, starred, rest), "{text}");
        }
    }

    #[test]
    fn leaves_other_numbers() {
        for text in ["2020年总结", "2020 总结", "**", "*", "25岁了", "12345.云", "云", "", "7.", "****:云"]
        {
            assert_eq!(rank_mark(text), None, "{text}");
        }
    }

    #[test]
    fn takes_glued_scores_and_leaves_prices() {
        assert_eq!(split_score("他问道。评分：3.9"), Some(("他问道。", 3.9)));
        assert_eq!(split_score("他问道。评分:4分"), Some(("他问道。", 4.0)));
        for text in ["一共3.68", "评分：3..", "评分：", "", "3.68", "我考了 3.68 分"] {
            assert_eq!(split_score(text), None, "{text}");
        }
    }
}
