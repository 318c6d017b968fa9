//! Choices in a reply: a letter, a name from a list, a tag on the last line, categories by priority.

use std::ops::RangeInclusive;

use super::denied::{is_denied, is_denied_first, speaks_of_exceptions};
use super::{Unreadable, narrow_forms, strip_fence};

/// The text in `<choice>…</choice>` on the last non-blank line, one of `allowed` (RuozhiBench-MC: `AnswerA`
/// or `AnswerB`). Case and spaces in it are ignored; anything after it on that line is an error.
///
/// # Errors
/// If the last line is anything else: a format error, not a wrong answer.
pub fn parse_choice<'a>(reply: &str, allowed: &[&'a str]) -> Result<&'a str, Unreadable> {
    let reply = narrow_forms(strip_fence(reply));
    let last = reply.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default();
    // Models like to emphasise their final line in Markdown.
    let last = last.trim_matches(['*', '`']);
    let inner = strip_tag(last).map(|inner| inner.split_whitespace().collect::<String>());
    let chosen =
        inner.and_then(|inner| allowed.iter().find(|name| inner.eq_ignore_ascii_case(name)).copied());
    chosen.ok_or_else(|| {
        let forms: Vec<String> = allowed.iter().map(|name| format!("<choice>{name}</choice>")).collect();
        Unreadable::new(format!("the last line must be exactly {}", forms.join(" or ")))
    })
}

/// The first `<choice>…</choice>` anywhere in a reply with exactly one of `allowed` in it: how the authors of
/// RuozhiBench parse it.
///
/// # Errors
/// If there is none.
pub fn choice_within<'a>(reply: &str, allowed: &[&'a str]) -> Result<&'a str, Unreadable> {
    let chosen = reply.split("<choice>").skip(1).find_map(|rest| {
        let rest = rest.trim_start();
        let name = allowed.iter().find(|name| rest.starts_with(**name))?;
        rest[name.len()..].trim_start().starts_with("</choice>").then_some(*name)
    });
    chosen.ok_or_else(|| {
        let forms: Vec<String> = allowed.iter().map(|name| format!("<choice>{name}</choice>")).collect();
        Unreadable::new(format!("{} must be in the reply", forms.join(" or ")))
    })
}

fn strip_tag(line: &str) -> Option<&str> {
    const OPEN: &str = "<choice>";
    const CLOSE: &str = "</choice>";
    let head = line.get(..OPEN.len())?;
    let tail_at = line.len().checked_sub(CLOSE.len())?;
    let matches = head.eq_ignore_ascii_case(OPEN) && line.get(tail_at..)?.eq_ignore_ascii_case(CLOSE);
    if matches { line.get(OPEN.len()..tail_at) } else { None }
}

/// The one letter of a reply to "answer with A, B, C or D only" (FLUB, task 1): alone, or with brackets, a
/// full stop, a label such as `答案：`, or followed by its option's text.
///
/// # Errors
/// If there is no letter of `letters` that the reply does not deny, or it does not open with one and names several.
pub fn parse_letter(reply: &str, letters: &[char]) -> Result<char, Unreadable> {
    let reply = narrow_forms(strip_fence(reply));
    let text =
        text_after_label(&reply, &["答案", "选项", "answer", "option", "choice"]).unwrap_or(reply.trim());
    let head = text.trim_start_matches(|c: char| c.is_whitespace() || "([{【「\"'*".contains(c));
    let mut chars = head.chars();
    let first = chars.next().map(|c| c.to_ascii_uppercase()).filter(|c| letters.contains(c));
    let stands_alone = chars.next().is_none_or(|next| !next.is_ascii_alphanumeric());
    // "A" as the first word of a sentence is not an answer, "A." and "A 因为" are.
    let is_word = head.strip_prefix("A ").is_some_and(|rest| {
        rest.starts_with(|c: char| c.is_ascii_lowercase())
            && !rest.starts_with("or ")
            && !rest.starts_with("and ")
    });
    let opens = stands_alone && !is_word && !is_denied_first(head.get(1..).unwrap_or_default());
    // "A or B" and "A、B" choose nothing; an explanation that names another letter later is harmless.
    if let Some(first) = first.filter(|_| opens && !joined_to_another(&head[1..], letters)) {
        return Ok(first);
    }
    if let Some(only) = only_letter(if is_word { &head[1..] } else { text }, letters) {
        return Ok(only);
    }
    let letters: Vec<String> = letters.iter().map(char::to_string).collect();
    Err(Unreadable::new(format!("the answer must be exactly one of {}", letters.join(", "))))
}

/// Whether a text begins with a conjunction or separator and another letter.
fn joined_to_another(text: &str, letters: &[char]) -> bool {
    let text = text.trim_start();
    let rest = text.trim_start_matches(|c: char| c.is_whitespace() || "、,/&和或".contains(c));
    let rest = rest.strip_prefix("or ").or_else(|| rest.strip_prefix("and ")).unwrap_or(rest);
    let mut chars = rest.chars();
    rest.len() < text.len()
        && chars.next().is_some_and(|c| letters.contains(&c))
        && chars.next().is_none_or(|next| !next.is_ascii_alphanumeric())
}

/// The one letter that a text names and does not deny.
fn only_letter(text: &str, letters: &[char]) -> Option<char> {
    if speaks_of_exceptions(text) {
        return None;
    }
    let named = lone_letters(text, letters);
    let mut kept = Vec::new();
    // "A, B and D are wrong": letters that stand together are denied together.
    for group in named.chunk_by(|(before, _), (after, _)| is_list(&text[before + 1..*after])) {
        let (first, last) = (group.first()?.0, group.last()?.0);
        if !is_denied(text, first, last + 1) {
            kept.extend(group.iter().map(|(_, letter)| *letter));
        }
    }
    kept.dedup();
    match kept[..] {
        [only] => Some(only),
        _ => None,
    }
}

/// Whether a text between two letters only lists them.
fn is_list(between: &str) -> bool {
    let words = between.split(|c: char| c.is_whitespace() || "、,/&".contains(c));
    words
        .filter(|word| !word.is_empty())
        .all(|word| matches!(word, "or" | "and" | "nor" | "和" | "或" | "与" | "及"))
}

/// The letters of `letters` that are separate upper-case words in `text`, with their places.
fn lone_letters(text: &str, letters: &[char]) -> Vec<(usize, char)> {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '\'';
    let alone = |at: usize, c: char| {
        let before = text[..at].chars().next_back();
        let after = text[at + c.len_utf8()..].chars().next();
        !before.is_some_and(word) && !after.is_some_and(word)
    };
    text.char_indices().filter(|&(at, c)| letters.contains(&c) && alone(at, c)).collect()
}

/// Whether a text has a word or name somewhere where it is not denied.
pub fn has_name(text: &str, name: &str) -> bool {
    !name.is_empty() && text.match_indices(name).any(|(at, name)| !is_denied(text, at, at + name.len()))
}

/// The text after the last line's label, for replies that must end `答案: B` or `分类: 歧义` (FLUB, figure 5): the
/// rest of the last line that begins with one of the labels and a colon.
pub fn text_after_label<'a>(reply: &'a str, labels: &[&str]) -> Option<&'a str> {
    reply.lines().rev().find_map(|line| {
        let line = line.trim_start_matches(|c: char| c.is_whitespace() || "*#->".contains(c));
        labels.iter().find_map(|label| {
            // `get`, because the end of the label may fall inside a character of the line.
            let head = line.get(..label.len())?;
            let rest = line[label.len()..].trim_start_matches(['*', ' ']);
            let rest = rest.strip_prefix([':', '：']).filter(|_| head.eq_ignore_ascii_case(label))?;
            Some(rest.trim_matches(|c: char| c.is_whitespace() || c == '*'))
        })
    })
}

/// The one name of those that are known in a reply (FLUB, task 2), alone or in a sentence that does not deny it.
///
/// # Errors
/// If there is none, or several.
pub fn one_of<'a>(reply: &str, known: &[&'a str]) -> Result<&'a str, Unreadable> {
    let reply = narrow_forms(strip_fence(reply));
    let exact =
        reply.trim().trim_matches(|c: char| c.is_whitespace() || "。.，,“”\"'「」*`【】[]()".contains(c));
    // One name may contain another, so a reply that is exactly a name is tried first.
    if let Some(name) = known.iter().find(|name| exact.eq_ignore_ascii_case(name)) {
        return Ok(name);
    }
    let lower = reply.to_lowercase();
    let exceptions = speaks_of_exceptions(&lower);
    let mut named = known.iter().filter(|name| !exceptions && has_name(&lower, &name.to_lowercase()));
    match (named.next(), named.next()) {
        (Some(name), None) => Ok(name),
        _ => Err(Unreadable::new(format!("the answer must be exactly one of {}", known.join(", ")))),
    }
}

/// `count` different numbers by priority, `like` "2 6 3" (RuozhiBench, figure 11). Commas and full-width
/// digits are accepted; so are a label and prose without other numbers.
///
/// # Errors
/// If there are more or fewer, or one is not allowed or repeated.
pub fn parse_numbers(
    reply: &str,
    count: usize,
    range: RangeInclusive<u8>,
    example: &str,
) -> Result<Vec<u8>, Unreadable> {
    const WORDS: [&str; 9] = ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    let (from, to) = (range.start(), range.end());
    let wrong = || {
        Unreadable::new(match count.checked_sub(2).and_then(|at| WORDS.get(at)) {
            Some(many) => format!(
                "the output must be {many} different numbers from {from} to {to} with a space between, such as {example}"
            ),
            None => format!("the output must be one number from {from} to {to}, such as {example}"),
        })
    };
    let reply = narrow_forms(strip_fence(reply));
    // A reply that explains itself has other numbers too; the list is then on a line of its own.
    let on_one_line = reply.lines().map(all_numbers).find(|numbers| numbers.len() == count);
    let numbers = on_one_line.unwrap_or_else(|| all_numbers(&reply));
    let repeats = |(at, number): (usize, &u8)| numbers[..at].contains(number);
    let fits = numbers.len() == count && numbers.iter().all(|number| range.contains(number));
    if fits && !numbers.iter().enumerate().any(repeats) { Ok(numbers) } else { Err(wrong()) }
}

/// Every number of a text; one too large for a byte reads as 255, which is never allowed.
fn all_numbers(text: &str) -> Vec<u8> {
    text.split(|c: char| !c.is_ascii_digit())
        .filter(|digits| !digits.is_empty())
        .map(|digits| digits.parse().unwrap_or(u8::MAX))
        .collect()
}
