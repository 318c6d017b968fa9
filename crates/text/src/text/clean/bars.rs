//! `丨` and `匚` set between characters to dodge a word filter.
//!
//! What: `弱丨智` becomes `弱智`, `T匚M匚D` becomes `TMD`.
//!
//! Why: the dodge hides a word from every later comparison, and the bar is a CJK ideograph, so
//! dropping punctuation does not drop it.
//!
//! Known problems: one bar that splits a heading into two longer parts (`公示丨持续更新`) is taken for a
//! separator and stays, so a single dodge in the middle of a long unpunctuated line stays with it.

use std::borrow::Cow;

const BARS: [char; 2] = ['丨', '匚'];

/// At most so many characters stand between a dodge and the next boundary on one of its sides.
const NEAR: usize = 3;

fn is_boundary(c: char) -> bool {
    !c.is_alphanumeric() || BARS.contains(&c)
}

/// How many characters stand before the next boundary, as far as it matters.
fn reach<'a>(side: impl Iterator<Item = &'a char>) -> usize {
    side.take(NEAR + 1).take_while(|c| !is_boundary(**c)).count()
}

/// The text without bars that dodge a filter; borrowed where there is none.
///
/// ```
/// # use riddlemill_text::text::clean::bars::join;
/// assert_eq!(join("是谁丨偷丨走丨了我的丨饭"), "是谁偷走了我的饭");
/// assert_eq!(join("吃饭大赛结果公示丨持续更新"), "吃饭大赛结果公示丨持续更新");
/// ```
pub fn join(text: &str) -> Cow<'_, str> {
    if !BARS.iter().any(|bar| text.contains(*bar)) {
        return Cow::Borrowed(text);
    }
    // A line is judged by itself: what follows a heading does not decide about its separator.
    let joined: String = text.split_inclusive('\n').map(join_line).collect();
    if joined.len() == text.len() { Cow::Borrowed(text) } else { Cow::Owned(joined) }
}

fn join_line(line: &str) -> String {
    let chars: Vec<char> = line.chars().collect();
    let bars = chars.iter().filter(|c| BARS.contains(c)).count();
    let heading = bars == 1 && !chars.iter().any(|c| "，。！？,!?；“”".contains(*c));
    let stays = |i: usize, bar: char| {
        let before = i.checked_sub(1).and_then(|i| chars.get(i));
        let after = chars.get(i + 1);
        let alone = |c: Option<&char>| c.is_none_or(|c| c.is_whitespace());
        let letter = bar == '匚' && (bars == 1 && (alone(before) || alone(after)) || after == Some(&'字'));
        let separates = || reach(chars[..i].iter().rev()) > NEAR && reach(chars[i + 1..].iter()) > NEAR;
        alone(before) && alone(after) || letter || heading && separates()
    };
    let kept = chars.iter().enumerate().filter(|&(i, c)| !BARS.contains(c) || stays(i, *c));
    kept.map(|(_, c)| *c).collect()
}

#[cfg(test)]
mod tests {
    use super::join;

    #[test]
    fn bars_between_characters_go() {
        for (before, after) in [
            ("真丨丑丨得丨批丨爆丨", "真丑得批爆"),
            ("2丨0丨.丨小丨猫丨🐴", "20.小猫🐴"),
            ("长得真T匚M匚D丑", "长得真TMD丑"),
            ("大家都说我是弱丨智", "大家都说我是弱智"),
            ("“弱丨智的人都笑了，”他说", "“弱智的人都笑了，”他说"),
        ] {
            assert_eq!(join(before), after);
        }
    }

    #[test]
    fn a_letter_of_its_own_stays() {
        for kept in ["匚字怎么念", "甲 丨 乙", "吃饭大赛结果公示丨持续更新\n第一名，云。"]
        {
            assert_eq!(join(kept), kept);
        }
    }
}
