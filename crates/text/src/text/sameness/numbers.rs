//! Issue numbers and years in a text, and numbers of any kind.

use std::sync::LazyLock;

use regex::Regex;

/// The numbers that place a text in a series, in rising order, each once. A year of two digits is
/// one of this century.
pub(super) fn series_numbers(plain: &str) -> Vec<u32> {
    let mut numbers: Vec<u32> = SERIES
        .captures_iter(plain)
        .filter_map(|found| {
            let year = found.name("year").and_then(|y| y.as_str().parse().ok()).map(|y: u32| 2000 + y);
            year.or_else(|| found.iter().skip(1).flatten().next().and_then(|n| number_value(n.as_str())))
        })
        .collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// Numerals that are also parts of words (`一下`, `万一`), and make a number only together with others.
fn is_numeral(c: char) -> bool {
    matches!(c, '零' | '一' | '二' | '两' | '三' | '四' | '五' | '六' | '七' | '八' | '九' | '十' | '百')
}

/// Numerals and digits of any size, for places where another numeral is.
pub(super) fn is_any_numeral(c: char) -> bool {
    c.is_ascii_digit() || is_numeral(c) || matches!(c, '〇' | '千' | '万' | '亿' | '半')
}

/// The runs of digits and numerals among folded characters, each with its value.
fn number_runs(chars: &[char]) -> impl Iterator<Item = (usize, usize, u32)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let is_digit = |c: &char| c.is_ascii_digit();
            let of = match chars.get(at)? {
                c if is_digit(c) => chars[at..].iter().take_while(|c| is_digit(c)).count(),
                c if is_numeral(*c) => chars[at..].iter().take_while(|c| is_numeral(**c)).count(),
                _ => 0,
            };
            let start = at;
            at += of.max(1);
            if of > 0
                && let Some(value) = number_value(&chars[start..at].iter().collect::<String>())
            {
                return Some((start, at, value));
            }
        }
    })
}

/// The characters with each number as one, by its value: a character that no script uses.
pub(super) fn with_numbers(chars: &[char]) -> Vec<char> {
    let (mut with, mut done) = (Vec::with_capacity(chars.len()), 0);
    for (start, end, value) in number_runs(chars) {
        with.extend(&chars[done..start]);
        with.push(char::from_u32(0xf_0000 + value % 0xffff).unwrap_or('0'));
        done = end;
    }
    with.extend(&chars[done..]);
    with
}

/// Whether each of two texts has a number that the other lacks. A numeral alone is mostly a part of a word.
pub(super) fn have_differing_numbers(a: &[char], b: &[char]) -> bool {
    let of = |chars: &[char]| -> Vec<u32> {
        let clear = |(start, end, _): &(usize, usize, u32)| end - start > 1 || chars[*start].is_ascii_digit();
        number_runs(chars).filter(clear).map(|(.., value)| value).collect()
    };
    let lacks = |x: &[u32], y: &[u32]| x.iter().any(|number| !y.contains(number));
    let (a, b) = (of(a), of(b));
    lacks(&a, &b) && lacks(&b, &a)
}

static SERIES: LazyLock<Regex> = LazyLock::new(|| {
    const NUMBER: &str = "([0-9]{1,4}|[零〇一二两三四五六七八九十百]{1,5})";
    let pattern = format!(
        r"第\s*{NUMBER}|\(\s*(上|中|下|[0-9]{{1,3}}|[一二三四五六七八九十]{{1,3}})\s*\)|((?:19|20)[0-9]{{2}})(?:\s*年|$)|(?P<year>[0-9]{{2}})年(?:度|年)|{NUMBER}\s*[期届季集弹章辑]"
    );
    Regex::new(&pattern).expect("constant pattern")
});

/// The value of digits, of numerals up to 999, or of `上`, `中`, `下` (1, 2, 3); `None` of anything else.
pub(super) fn number_value(number: &str) -> Option<u32> {
    if let Ok(value) = number.parse() {
        return Some(value);
    }
    let (mut sum, mut digit) = (0, None);
    for c in number.chars() {
        match c {
            '上' => return Some(1),
            '中' => return Some(2),
            '下' => return Some(3),
            '十' => sum += 10 * digit.take().unwrap_or(1),
            '百' => sum += 100 * digit.take().unwrap_or(1),
            '零' | '〇' => digit = None,
            '两' => digit = Some(2),
            c => digit = Some("一二三四五六七八九".chars().position(|d| d == c)? as u32 + 1),
        }
    }
    Some(sum + digit.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_a_series() {
        assert_eq!(series_numbers("第十二届"), [12]);
        assert_eq!(series_numbers("总结2021年度 365佳"), [2021]);
        assert_eq!(series_numbers("19年年度"), [2019]);
        assert_eq!(series_numbers("故事(二)"), [2]);
        assert_eq!(series_numbers("第一百零三章、两集"), [2, 103]);
        assert!(series_numbers("等了20年，花了2021元").is_empty());
    }
}
