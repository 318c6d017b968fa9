//! Choices in a reply: a letter, a name from a list, a tag on the last line, categories by priority.

use std::ops::RangeInclusive;

use super::denied::{is_denied, speaks_of_exceptions};
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
