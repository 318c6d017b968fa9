//! `丨` and `匚` set between characters to dodge a word filter.
//!
//! What: `弱丨智` becomes `弱智`, `T匚M匚D` becomes `TMD`.
//!
//! Why: the dodge hides a word from every later comparison, and the bar is a CJK ideograph, so
//! dropping punctuation does not drop it.
//!
//! If a post's heading is separated by a bar, bars are its style: then those in a name in brackets (`「文艺丨组」`)
//! are kept.
//!
//! Known problems: one bar that splits a heading into two longer parts (`公示丨持续更新`) is taken for a
//! separator and stays, so a single dodge in the middle of a long unpunctuated line stays with it.

use std::borrow::Cow;

const BARS: [char; 2] = ['丨', '匚'];

/// Most characters between a dodge and the next boundary on one of its sides.
const NEAR: usize = 3;

/// Most characters between a bar and the bracket of the name that it is part of.
const NAME: usize = 10;

fn is_boundary(c: char) -> bool {
    !c.is_alphanumeric() || BARS.contains(&c)
}

/// How many characters precede the next boundary, as far as it matters.
fn reach<'a>(side: impl Iterator<Item = &'a char>) -> usize {
    side.take(NEAR + 1).take_while(|c| !is_boundary(**c)).count()
}

/// The text without bars that dodge a filter; borrowed if there are none.
///
/// ```
/// # use riddlemill_text::text::clean::bars::join;
/// assert_eq!(join("是谁丨偷丨走丨了我的丨饭"), "是谁偷走了我的饭");
/// assert_eq!(join("吃饭大赛结果公示丨持续更新"), "吃饭大赛结果公示丨持续更新");
/// ```
pub fn join(text: &str) -> Cow<'_, str> {
    join_under("", text)
}

/// [`join`] of a content under its title, whose style it shares.
///
/// ```
/// # use riddlemill_text::text::clean::bars::join_under;
/// let content = "分「甲丨组」和「乙丨组」，弱丨智免费";
/// assert_eq!(join_under("吃饭大赛结果公示丨持续更新", content), "分「甲丨组」和「乙丨组」，弱智免费");
/// assert_eq!(join_under("吃饭大赛", content), "分「甲组」和「乙组」，弱智免费");
/// ```
pub fn join_under<'a>(title: &str, text: &'a str) -> Cow<'a, str> {
    if !BARS.iter().any(|bar| text.contains(*bar)) {
        return Cow::Borrowed(text);
    }
    // Lines are judged one by one: the text after a heading does not decide about the heading's separator.
    let lines: Vec<Vec<char>> = text.split_inclusive('\n').map(|line| line.chars().collect()).collect();
    let title: Vec<char> = title.chars().collect();
    let styled = lines.iter().chain([&title]).any(|line| separator(line).is_some());
    let joined: String = lines.iter().flat_map(|line| join_line(line, styled)).collect();
    // Bars are only removed, so equal lengths mean that all of them stay.
    if joined.len() == text.len() { Cow::Borrowed(text) } else { Cow::Owned(joined) }
}

/// Where a line's only bar separates two longer pieces, as in a heading.
fn separator(line: &[char]) -> Option<usize> {
    let mut bars = line.iter().enumerate().filter(|(_, c)| BARS.contains(c));
    let (at, _) = bars.next()?;
    let heading = bars.next().is_none() && !line.iter().any(|c| "，。！？,!?；“”".contains(*c));
    let parts = reach(line[..at].iter().rev()) > NEAR && reach(line[at + 1..].iter()) > NEAR;
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
    let heading = separator(line);
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
