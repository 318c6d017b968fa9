//! Signs of numbers and of single letters, which folding keeps where it drops punctuation.

/// Signs by which two numbers, or two single letters, are not one: `1.5` and `15`, `-5` and `5`, `1+1=2` and `1-1=2`, `C` and
/// `C++`. Each becomes a letter of Ogham, which no post is written in, so that it stays where punctuation goes.
const SIGNS: [(char, char); 29] = [
    ('.', '\u{1681}'),
    (':', '\u{1682}'),
    ('/', '\u{1683}'),
    ('÷', '\u{1683}'),
    // Between the two numbers of `½`.
    ('⁄', '\u{1683}'),
    ('+', '\u{1684}'),
    ('-', '\u{1685}'),
    ('−', '\u{1685}'),
    ('*', '\u{1686}'),
    ('×', '\u{1686}'),
    ('=', '\u{1687}'),
    ('<', '\u{1688}'),
    ('>', '\u{1689}'),
    ('^', '\u{168a}'),
    ('%', '\u{168b}'),
    ('$', '\u{168c}'),
    ('€', '\u{168d}'),
    ('£', '\u{168e}'),
    ('¥', '\u{168f}'),
    ('#', '\u{1690}'),
    ('≠', '\u{1691}'),
    ('≤', '\u{1692}'),
    ('≥', '\u{1693}'),
    ('√', '\u{1694}'),
    ('±', '\u{1695}'),
    ('₹', '\u{1696}'),
    ('₩', '\u{1697}'),
    ('₽', '\u{1698}'),
    ('₿', '\u{1699}'),
];

pub(super) fn letter_of_sign(c: char) -> Option<char> {
    SIGNS.iter().find(|(sign, _)| *sign == c).map(|(_, letter)| *letter)
}

/// Whether it is the letter of a [sign](SIGNS) in a folded text.
pub(super) fn is_sign_letter(c: char) -> bool {
    ('\u{1681}'..='\u{1699}').contains(&c)
}

/// Puts letters for the signs that belong to a number or a single letter, without the spaces around one between two numbers.
/// Punctuation stays: a dash between two dates, the mark behind a number of a list, a slash between words.
pub(super) fn mark_signs(plain: &str) -> String {
    let chars: Vec<char> = plain.chars().collect();
    let (digit, latin) = (|c: &char| c.is_ascii_digit(), |c: &char| c.is_ascii_alphanumeric());
    let is_formula = plain.contains('=');
    let mut marked = String::with_capacity(plain.len());
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        let (before, behind) = (&chars[..at], &chars[at + 1..]);
        at += 1;
        let Some(letter) = letter_of_sign(c) else {
            marked.push(c);
            continue;
        };
        let (last, next) = (before.last(), behind.first());
        // What a formula puts between two numbers, with spaces or without.
        let spaces = behind.iter().take_while(|c| **c == ' ').count();
        let far_last = before.iter().rev().find(|c| **c != ' ');
        let far_next = behind.get(spaces);
        let between = match c {
            '.' | ':' | '/' | '⁄' => last.is_some_and(digit) && next.is_some_and(digit),
            '+' | '*' | '×' | '÷' | '=' | '<' | '>' | '^' | '≠' | '≤' | '≥' => {
                far_last.is_some_and(latin) && far_next.is_some_and(|c| latin(c) || matches!(c, '-' | '?'))
            }
            '-' | '−' => is_formula && far_last.is_some_and(digit) && far_next.is_some_and(digit),
            _ => false,
        };
        if between {
            marked.truncate(marked.trim_end_matches(' ').len());
            marked.push(letter);
            at += spaces;
            continue;
        }
        let starts = last.is_none_or(|c| c.is_whitespace() || "(（=<>*/".contains(*c));
        // Of `C#` and not of `#topic#`.
        let lone = before.last().is_some_and(char::is_ascii_alphabetic)
            && before.iter().nth_back(1).is_none_or(|c| !c.is_ascii_alphanumeric());
        let belongs = match c {
            '-' | '−' => starts && next.is_some_and(digit),
            '$' | '€' | '£' | '¥' | '₹' | '₩' | '₽' | '₿' | '√' | '±' => {
                next.is_some_and(digit)
            }
            '%' => last.is_some_and(digit),
            '+' => {
                let follows = marked.ends_with('\u{1684}');
                (last.is_some_and(latin) || follows) && !next.is_some_and(latin)
            }
            '#' => lone && !next.is_some_and(latin),
            _ => false,
        };
        marked.push(if belongs { letter } else { c });
    }
    marked
}

#[cfg(test)]
mod tests {
    use crate::text::sameness::{Verdict, compare};

    #[test]
    fn another_sign_is_another_number_or_letter() {
        for (a, b) in [
            ("Why is 1.5 more than 15 here?", "Why is 15 more than 15 here?"),
            ("Is -5 less than 3 for real?", "Is 5 less than 3 for real?"),
            ("Is $5 more than 5 in this shop?", "Is 5% more than 5 in this shop?"),
            ("Is 3:1 a ratio or a score?", "Is 31 a ratio or a score?"),
            ("What is 2*3 in plain English?", "What is 2/3 in plain English?"),
            ("Why is C so hard to learn?", "Why is C++ so hard to learn?"),
            ("Why is C# so hard to learn?", "Why is C++ so hard to learn?"),
            ("为什么1+1=2？", "为什么1-1=2？"),
            ("为什么5>3？", "为什么5<3？"),
            ("为什么1/2比2大？", "为什么12比2大？"),
            ("为什么½比2大呢？", "为什么12比2大呢？"),
            ("为什么2²等于4？", "为什么22等于4？"),
            ("为什么√16等于4？", "为什么16等于4？"),
            ("为什么5≠3？", "为什么5=3？"),
        ] {
            assert_ne!(compare(a, b).verdict, Verdict::Same, "{a} {b}");
        }
    }

    #[test]
    fn punctuation_is_no_sign() {
        for (a, b) in [
            ("1. 为什么鱼不会口渴？", "1、为什么鱼不会口渴？"),
            ("他去了3-5次", "他去了3～5次"),
            ("为什么1 + 1 = 2？", "为什么1+1=2？"),
            ("#冷笑话# 云会恐高吗？", "冷笑话 云会恐高吗？"),
            ("云会恐高吗？——好问题", "云会恐高吗 好问题"),
            ("2012-3-4那天下雨吗？", "2012－3－4那天下雨吗？"),
            ("他身家1,000元，富吗？", "他身家1000元，富吗？"),
            ("云和/或雨会恐高吗？", "云和或雨会恐高吗？"),
        ] {
            assert_eq!(compare(a, b).verdict, Verdict::Same, "{a} {b} {:?}", compare(a, b));
        }
    }
}
