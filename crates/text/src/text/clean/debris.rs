//! Control characters, zero-width characters and whitespace at the edges of lines and of the text.
//!
//! What: `\r\n` and a lone `\r` become `\n`; control and zero-width characters are removed; every line loses
//! its trailing whitespace; runs of empty lines become one; the ends are trimmed.
//!
//! Why: dumps keep what the page's markup and the phone's keyboard left between the words, and two
//! copies of a joke that differ by a U+200B are the same joke. Inner spacing is left alone, because a
//! poem's line and a spelled-out `弱   智` are content.
//!
//! Why joiners stay between two emoji and between two letters of a script that is written with them: they decide which
//! picture or which shape of a letter is shown (Persian, Devanagari).
//!
//! The rule is the same in every language: a mark of direction (U+202E) in a published text turns what is printed around it.

use std::borrow::Cow;

/// Whether a character is invisible and meaningless.
fn is_noise(c: char) -> bool {
    matches!(c,
        '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{ad}'
        | '\u{61c}' | '\u{180e}'
        | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{2064}' | '\u{2066}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffc}')
}

/// The text without such characters, and otherwise as it is; borrowed if it has none.
pub fn without_noise(text: &str) -> Cow<'_, str> {
    // Most English texts are told by their bytes alone.
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\r' | b'\t')) {
        return Cow::Borrowed(text);
    }
    let noise = |c: char| is_noise(c) || c == '\u{200c}';
    if !text.contains(noise) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().filter(|c| !noise(*c)).collect())
}

/// Whether a character only says something about its neighbours: joiners and the letters of tags.
fn is_dependent(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}' | '\u{e0000}'..='\u{e007f}')
}

/// Whether `c` means something between these characters.
fn depends_on(c: char, previous: Option<char>, next: Option<char>) -> bool {
    let both = |is: fn(char) -> bool| previous.is_some_and(is) && next.is_some_and(is);
    match c {
        '\u{200d}' => both(is_emoji) || both(is_joined),
        '\u{200c}' => both(is_joined),
        // A flag is a black flag with letters of tags behind it.
        _ => previous.is_some_and(|c| c == '\u{1f3f4}' || matches!(c, '\u{e0000}'..='\u{e007f}')),
    }
}

/// A letter or sign of a script whose letters change their shape with what is beside them.
fn is_joined(c: char) -> bool {
    matches!(c, '\u{600}'..='\u{7ff}' | '\u{840}'..='\u{dff}' | '\u{1000}'..='\u{109f}'
        | '\u{1780}'..='\u{18af}' | '\u{fb50}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}')
}

fn is_emoji(c: char) -> bool {
    matches!(c, '\u{2190}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}' | '\u{fe0f}')
}

/// A byte scan with false positives only.
fn may_need_work(text: &str) -> bool {
    let bytes = text.as_bytes();
    if text.starts_with(char::is_whitespace) || text.ends_with(char::is_whitespace) {
        return true;
    }
    // C0 controls and the lead bytes of every noise character; 0xe2 also leads “ ” … and needs a closer look.
    let mut i = 0;
    while i < bytes.len() {
        let b = bytes[i];
        // For the others the first byte is enough: most of a Chinese text is three bytes a step.
        if matches!(b, 0xe3..=0xee) {
            i += 3;
            continue;
        }
        if b < 0x20 || b == 0x7f {
            return true;
        }
        if b == 0xc2 && bytes.get(i + 1).is_some_and(|&n| n < 0xa0 || n == 0xad) {
            return true;
        }
        if b == 0xd8 && bytes.get(i + 1) == Some(&0x9c)
            || b == 0xe1 && bytes.get(i + 1..i + 3) == Some(&[0xa0, 0x8e])
            || b == 0xf3 && bytes.get(i + 1) == Some(&0xa0)
        {
            return true;
        }
        if b == 0xe2 {
            match (bytes.get(i + 1), bytes.get(i + 2)) {
                (Some(0x80), Some(n)) if (0x8b..=0x8f).contains(n) || (0xa8..=0xae).contains(n) => {
                    return true;
                }
                (Some(0x81), Some(n)) if (0xa0..=0xaf).contains(n) => return true,
                _ => {}
            }
        }
        if b == 0xef && matches!(bytes.get(i + 1), Some(0xbb | 0xbf)) {
            match (bytes[i + 1], bytes.get(i + 2)) {
                (0xbb, Some(0xbf)) => return true,
                (0xbf, Some(n)) if *n >= 0xb9 => return true,
                _ => {}
            }
        }
        i += 1;
    }
    false
}

/// The text without debris; borrowed if there was none.
///
/// ```
/// # use riddlemill_text::text::clean::debris::tidy;
/// assert_eq!(tidy("\u{feff} 门把手\u{200b}坏了 \r\n\r\n\r\n怎么敲门 "), "门把手坏了\n\n怎么敲门");
/// assert_eq!(tidy("“弱   智。”"), "“弱   智。”");
/// ```
pub fn tidy(text: &str) -> Cow<'_, str> {
    if !may_need_work(text) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut previous = None;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let kept = match c {
            '\r' if rest.peek() == Some(&'\n') => continue,
            '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => '\n',
            // They part words as a space does.
            '\u{b}' | '\u{c}' => ' ',
            '\u{91}'..='\u{97}' if is_beside_latin(previous, rest.peek()) => windows_mark(c).unwrap_or(c),
            c if is_dependent(c) => {
                if depends_on(c, previous, rest.peek().copied()) {
                    c
                } else {
                    continue;
                }
            }
            c if is_noise(c) => continue,
            c => c,
        };
        if kept == '\n' {
            out.truncate(out.trim_end_matches(|c: char| c != '\n' && c.is_whitespace()).len());
            if out.is_empty() || out.ends_with("\n\n") {
                previous = Some('\n');
                continue;
            }
        }
        out.push(kept);
        previous = Some(kept);
    }
    let tidy = out.trim();
    if tidy == text { Cow::Borrowed(text) } else { Cow::Owned(tidy.to_owned()) }
}

/// The quotation mark or dash that Windows has at the place of a control character: a text in CP1252 that was read as Latin-1
/// holds `don\u{92}t`.
fn windows_mark(c: char) -> Option<char> {
    const FROM_91: [char; 7] = ['‘', '’', '“', '”', '•', '–', '—'];
    FROM_91.get((c as usize).checked_sub(0x91)?).copied()
}

fn is_beside_latin(previous: Option<char>, next: Option<&char>) -> bool {
    previous.is_some_and(|c| c.is_ascii_alphanumeric()) || next.is_some_and(char::is_ascii_alphanumeric)
}

const BARS: [char; 2] = ['丨', '匚'];

/// Most characters between a dodge and the next boundary on one of its sides.
const NEAR: usize = 3;

/// Most characters between a bar and the bracket of the name that it is part of.
const NAME: usize = 10;

fn is_boundary(c: char) -> bool {
    !c.is_alphanumeric() || BARS.contains(&c)
}

/// How many characters precede the next boundary, as far as it matters.
fn reach_of<'a>(side: impl Iterator<Item = &'a char>) -> usize {
    side.take(NEAR + 1).take_while(|c| !is_boundary(**c)).count()
}

/// The text without bars that dodge a filter; borrowed if there are none.
///
/// `丨` and `匚` set between characters to dodge a word filter.
///
/// What: `弱丨智` becomes `弱智`, `T匚M匚D` becomes `TMD`.
///
/// Why: the dodge hides a word from every later comparison, and the bar is a CJK ideograph, so
/// dropping punctuation does not drop it.
///
/// If a post's heading is separated by a bar, bars are its style: then those in a name in brackets (`「文艺丨组」`)
/// are kept.
///
/// Known problems: one bar that splits a heading into two longer parts (`公示丨持续更新`) is taken for a
/// separator and stays, so a single dodge in the middle of a long unpunctuated line stays with it.
///
/// ```
/// # use riddlemill_text::text::clean::debris::join_bars;
/// assert_eq!(join_bars("是谁丨偷丨走丨了我的丨饭"), "是谁偷走了我的饭");
/// assert_eq!(join_bars("吃饭大赛结果公示丨持续更新"), "吃饭大赛结果公示丨持续更新");
/// ```
pub fn join_bars(text: &str) -> Cow<'_, str> {
    join_bars_under("", text)
}

/// [`join_bars`] of a content under its title, whose style it shares.
///
/// ```
/// # use riddlemill_text::text::clean::debris::join_bars_under;
/// let content = "分「甲丨组」和「乙丨组」，弱丨智免费";
/// assert_eq!(join_bars_under("吃饭大赛结果公示丨持续更新", content), "分「甲丨组」和「乙丨组」，弱智免费");
/// assert_eq!(join_bars_under("吃饭大赛", content), "分「甲组」和「乙组」，弱智免费");
/// ```
pub fn join_bars_under<'a>(title: &str, text: &'a str) -> Cow<'a, str> {
    if !BARS.iter().any(|bar| text.contains(*bar)) {
        return Cow::Borrowed(text);
    }
    // Lines are judged one by one: the text after a heading does not decide about the heading's separator.
    let lines: Vec<Vec<char>> = text.split_inclusive('\n').map(|line| line.chars().collect()).collect();
    let title: Vec<char> = title.chars().collect();
    let styled = lines.iter().chain([&title]).any(|line| find_separator(line).is_some());
    let joined: String = lines.iter().flat_map(|line| join_line(line, styled)).collect();
    // Bars are only removed, so equal lengths mean that all of them stay.
    if joined.len() == text.len() { Cow::Borrowed(text) } else { Cow::Owned(joined) }
}

/// Where a line's only bar separates two longer pieces, as in a heading.
fn find_separator(line: &[char]) -> Option<usize> {
    let mut bars = line.iter().enumerate().filter(|(_, c)| BARS.contains(c));
    let (at, _) = bars.next()?;
    let heading = bars.next().is_none() && !line.iter().any(|c| "，。！？,!?；“”".contains(*c));
    let parts = reach_of(line[..at].iter().rev()) > NEAR && reach_of(line[at + 1..].iter()) > NEAR;
    (heading && parts).then_some(at)
}

/// Whether the bar at `at` is in a name in brackets.
fn is_in_name(line: &[char], at: usize) -> bool {
    let open = line[..at].iter().rev().take(NAME).position(|c| "「『《【".contains(*c));
    let close = line[at + 1..].iter().take(NAME).position(|c| "」』》】".contains(*c));
    let plain = |part: &[char]| part.iter().all(|c| c.is_alphanumeric());
    matches!((open, close), (Some(open), Some(close)) if plain(&line[at - open..at]) && plain(&line[at + 1..at + 1 + close]))
}

fn join_line(line: &[char], styled: bool) -> impl Iterator<Item = char> + '_ {
    let bars = line.iter().filter(|c| BARS.contains(c)).count();
    let heading = find_separator(line);
    let stays = move |i: usize, bar: char| {
        let before = i.checked_sub(1).and_then(|i| line.get(i));
        let after = line.get(i + 1);
        let alone = |c: Option<&char>| c.is_none_or(|c| c.is_whitespace());
        let letter = bar == '匚' && (bars == 1 && (alone(before) || alone(after)) || after == Some(&'字'));
        alone(before) && alone(after) || letter || heading == Some(i) || styled && is_in_name(line, i)
    };
    line.iter().enumerate().filter(move |&(i, c)| !BARS.contains(c) || stays(i, *c)).map(|(_, c)| *c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_joined_emoji_and_content_in_angle_brackets() {
        let scotland = "🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}";
        let joined = ["می\u{200c}خواهم", "क\u{94d}\u{200d}ष"];
        for kept in
            ["👨\u{200d}👩\u{200d}👧", scotland, joined[0], joined[1], "<爸爸去哪了>", "一行\n二行", "a\tb"]
        {
            assert_eq!(tidy(kept), kept);
        }
    }

    #[test]
    fn removes_every_noise_character() {
        for noise in [
            '\0',
            '\u{1}',
            '\u{7}',
            '\u{8}',
            '\u{1b}',
            '\u{7f}',
            '\u{9b}',
            '\u{ad}',
            '\u{61c}',
            '\u{180e}',
            '\u{200b}',
            '\u{200c}',
            '\u{200d}',
            '\u{200e}',
            '\u{202a}',
            '\u{202e}',
            '\u{2060}',
            '\u{2066}',
            '\u{2069}',
            '\u{feff}',
            '\u{fffc}',
            '\u{e0041}',
        ] {
            assert_eq!(tidy(&format!("甲{noise}乙")), "甲乙", "{noise:?}");
            assert_eq!(tidy(&format!("a{noise}b")), "ab", "{noise:?}");
        }
        assert_eq!(tidy("甲\r乙"), "甲\n乙");
        assert_eq!(tidy("Why don\u{92}t cats fly \u{93}high\u{94}?"), "Why don’t cats fly “high”?");
        assert_eq!(tidy("cats\u{c}sleep all\u{b}day"), "cats sleep all day");
        assert_eq!(tidy("乙\u{2028}丙"), "乙\n丙");
    }

    #[test]
    fn bars_between_characters_go() {
        for (before, after) in [
            ("真丨丑丨得丨批丨爆丨", "真丑得批爆"),
            ("2丨0丨.丨小丨猫丨🐴", "20.小猫🐴"),
            ("长得真T匚M匚D丑", "长得真TMD丑"),
            ("大家都说我是弱丨智", "大家都说我是弱智"),
            ("“弱丨智的人都笑了，”他说", "“弱智的人都笑了，”他说"),
        ] {
            assert_eq!(join_bars(before), after);
        }
    }

    #[test]
    fn a_letter_of_its_own_stays() {
        for kept in ["匚字怎么念", "甲 丨 乙", "吃饭大赛结果公示丨持续更新\n第一名，云。"]
        {
            assert_eq!(join_bars(kept), kept);
        }
    }
}
