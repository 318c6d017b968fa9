//! Names of the forum's users.
//!
//! What: the names handed in with a post (its author, the thread's), mentions (`@某人`, `u/somebody`), and the name in
//! the forum's own `回复 某人 :`.
//!
//! Why not names in general: a joke's people (`葛军`, `李宁`, `小明`) are its content. So a handed-in name
//! of two characters counts only behind `@` or `回复`, and public names never count; nor does a name whose characters are
//! other words in this text ([`context`]).
//!
//! Known problems: a mention without a space after it takes up to 14 characters of the sentence with it; a
//! user named like an everyday phrase has that phrase marked.

use std::sync::LazyLock;

use regex::Regex;

use super::{Found, Kind, context};

static MENTION: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"[@＠]([\p{L}\p{N}_-][\p{L}\p{N}_·-]{0,13})").ok());

static REPLY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?m)^\s*回复(?:[\s\u{3000}]+@?|@)([^\s:：\[\]，。！？]{1,20})[\s\u{3000}]*[:：]").ok()
});

static ACCOUNT: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"/?[uU]/([A-Za-z0-9_-]{3,20})").ok());

/// What follows `@` in programs and style sheets.
const CODE: [&str; 24] = [
    "override",
    "property",
    "staticmethod",
    "classmethod",
    "media",
    "import",
    "author",
    "param",
    "return",
    "returns",
    "test",
    "autowired",
    "dataclass",
    "deprecated",
    "component",
    "service",
    "controller",
    "interface",
    "echo",
    "font",
    "keyframes",
    "nullable",
    "data",
    "bean",
];

/// Words that name nobody in particular.
const ANYBODY: [&str; 16] = [
    "我",
    "你",
    "他",
    "她",
    "我们",
    "你们",
    "他们",
    "大家",
    "所有人",
    "全体成员",
    "楼主",
    "楼上",
    "楼下",
    "吧主",
    "层主",
    "某人",
];

/// Finds names. `at`: whether the text contains an at-sign; `public`: names that are always kept.
pub fn names(text: &str, handed: &[&str], at: bool, public: &[String], found: &mut Vec<Found>) {
    let is_public = |name: &str| public.iter().any(|p| p == name);
    let mut push = |start: usize, end: usize| found.push(Found { kind: Kind::Name, start, end });
    for name in handed.iter().map(|name| name.trim()).filter(|name| !is_public(name) && !name.is_empty()) {
        let long = name.chars().nth(2).is_some();
        let addressed = |start: usize| {
            let before = &text[..start];
            before.ends_with(['@', '＠']) || before.trim_end().ends_with("回复")
        };
        // A text that uses the words for something else uses them so throughout.
        let words = || {
            text.match_indices(name)
                .any(|(at, _)| !addressed(at) && context::is_no_person(text, at..at + name.len()))
        };
        let meant = long && text.contains(name) && !words();
        for (start, _) in text.match_indices(name) {
            if (meant || addressed(start)) && is_whole(text, start, start + name.len()) {
                push(start, start + name.len());
            }
        }
    }
    if at {
        for captures in MENTION.iter().flat_map(|pattern| pattern.captures_iter(text)) {
            let Some(name) = captures.get(1) else { continue };
            let at = captures.get(0).map_or(0, |whole| whole.start());
            // An at-sign right after letters or digits is part of an e-mail address.
            let glued = text[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || "._%+-$".contains(c));
            let next = text[name.end()..].chars().next();
            let code = name.as_str().is_ascii() && matches!(next, Some('(' | '=' | '{' | '.' | ';'));
            // `@5元` is a price.
            // So is `@5pm` no user.
            let number = name.as_str().trim_end_matches(['a', 'p', 'm', 'k']).chars().all(char::is_numeric)
                || name.as_str().starts_with(char::is_numeric)
                    && name.as_str().ends_with(['元', '块', '个', '斤']);
            let lower = name.as_str().to_ascii_lowercase();
            let listed = CODE.contains(&lower.as_str())
                || ANYBODY.contains(&name.as_str())
                || is_public(name.as_str());
            if !glued && !code && !number && !listed {
                push(name.start(), name.end());
            }
        }
    }
    if text.contains("回复") {
        for captures in REPLY.iter().flat_map(|pattern| pattern.captures_iter(text)) {
            let Some(name) = captures.get(1) else { continue };
            // `回复 3楼：` names a floor and no user.
            let floor = name.as_str().trim_end_matches(['楼', 'L', 'l', '#']).chars().all(char::is_numeric);
            if !floor && !ANYBODY.contains(&name.as_str()) && !is_public(name.as_str()) {
                push(name.start(), name.end());
            }
        }
    }
}

/// Finds accounts of Reddit, `u/name` and `/u/name`.
pub fn accounts(text: &str, found: &mut Vec<Found>) {
    if !text.contains("u/") && !text.contains("U/") {
        return;
    }
    for captures in ACCOUNT.iter().flat_map(|pattern| pattern.captures_iter(text)) {
        let (Some(whole), Some(name)) = (captures.get(0), captures.get(1)) else { continue };
        // `menu/file` and `a/u/b` are paths.
        let before = text[..whole.start()].chars().next_back();
        let within =
            before.is_some_and(|c| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '~'));
        let more =
            text[name.end()..].starts_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '/'));
        if !within && !more {
            found.push(Found { kind: Kind::Name, start: name.start(), end: name.end() });
        }
    }
}

/// Whether a name in Latin letters or digits is not part of a longer word.
fn is_whole(text: &str, start: usize, end: usize) -> bool {
    let word = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    let name = &text[start..end];
    !(word(name.chars().next()) && word(text[..start].chars().next_back())
        || word(name.chars().next_back()) && word(text[end..].chars().next()))
}

#[cfg(test)]
mod tests {
    #[test]
    fn patterns_compile() {
        assert!(super::MENTION.is_some() && super::REPLY.is_some() && super::ACCOUNT.is_some());
    }
}
