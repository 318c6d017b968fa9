//! Names of the forum's users.
//!
//! What: the names handed in with a post (its author, the thread's), mentions (`@某人`, `u/somebody`), and the name in
//! the forum's own `回复 某人 :`.
//!
//! Why not names in general: a joke's people (`葛军`, `李宁`, `小明`) are its content. So a handed-in name
//! of two characters counts only behind `@` or `回复`, and public names never count; nor does a name whose characters are
//! other words in this text.
//!
//! Known problems: a user named like an everyday phrase has that phrase marked.
//!
//! The characters of a user's name are other words in a text where users call themselves after what people say: the name is part of longer words (`热线希望` for `线希望`); it is what several are or own (`我们卖草莓星人`, `卖草莓星人们`); it is counted
//! (`一只病死鸡`); it is eaten, worn, bought or hunted (`穿百慕大三角裤衩`); or it is a sentence (`大夫吃病人`).
//!
//! Why not after `我` or `这个`: `我云中鹤不服` and `这个云中鹤又来了` name somebody.
//!
//! Known problems: a phrase that does something in a text (`病死鸡高喊`) is taken for the user.

use std::cell::LazyCell;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::spelling::Spelling;
use super::{DataKind, FoundSpan, mention};
use crate::text::segment;

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
const ANYBODY: [&str; 20] = [
    "all",
    "channel",
    "everyone",
    "here",
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
pub fn find_names(text: &str, handed: &[&str], at: bool, public: &[String], found: &mut Vec<FoundSpan>) {
    let is_public = |name: &str| public.iter().any(|p| p == name);
    let mut push = |start: usize, end: usize| found.push(FoundSpan { kind: DataKind::Name, start, end });
    let spelling = LazyCell::new(|| Spelling::new(text));
    for name in handed.iter().map(|name| name.trim()).filter(|name| !is_public(name) && !name.is_empty()) {
        let long = name.chars().nth(2).is_some();
        let addressed = |start: usize| {
            let before = &text[..start];
            before.ends_with(['@', '＠']) || before.trim_end().ends_with("回复")
        };
        let places = spelling.places_of(name);
        // A text that uses the words for something else uses them so throughout.
        let meant =
            long && !places.iter().any(|place| !addressed(place.start) && is_no_person(text, place.clone()));
        for Range { start, end } in places {
            if (meant || addressed(start)) && is_whole(text, start, end) {
                push(start, end);
            }
        }
    }
    if at {
        for captures in MENTION.iter().flat_map(|pattern| pattern.captures_iter(text)) {
            let Some(run) = captures.get(1) else { continue };
            let at = captures.get(0).map_or(0, |whole| whole.start());
            let Some(end) = mention::end_of_name(text, run.start(), run.end()) else { continue };
            let name = &text[run.start()..end];
            // An at-sign right after letters or digits is part of an e-mail address.
            let glued = text[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || "._%+-$".contains(c));
            let next = text[end..].chars().next();
            // `@Test(expected = 1)`, `@media{`, `@angular/core`; a stop or an aside of the sentence is no code.
            let behind = &text[end..];
            let called = || {
                behind
                    .split_once(')')
                    .is_some_and(|(inside, _)| inside.len() == 1 || inside.contains(['=', '"']))
            };
            let code = name.is_ascii()
                && match next {
                    Some('=' | '{' | '/') => true,
                    Some('(') => called(),
                    Some('.') => {
                        behind[1..].starts_with(|c: char| c.is_ascii_lowercase()) && is_member(&behind[1..])
                    }
                    _ => false,
                };
            // `@bob.smith99` is one name.
            let end = match next {
                Some('.') if !code => {
                    let more = behind[1..]
                        .bytes()
                        .take_while(|b| b.is_ascii_alphanumeric() || b"_-".contains(b))
                        .count();
                    end + if more > 0 { 1 + more } else { 0 }
                }
                _ => end,
            };
            // `@5元` is a price.
            // So is `@5pm` no user.
            let number = name.trim_end_matches(['a', 'p', 'm', 'k']).chars().all(char::is_numeric)
                || name.starts_with(char::is_numeric) && name.ends_with(['元', '块', '个', '斤']);
            let lower = name.to_ascii_lowercase();
            let listed = CODE.contains(&lower.as_str()) || ANYBODY.contains(&name) || is_public(name);
            // `@_@` is a face.
            let face = name.trim_matches(['_', '-']).is_empty();
            if !glued && !code && !number && !listed && !face {
                push(run.start(), end);
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

/// Whether a call follows, as of a member of something in a program: `@obj.method(`.
fn is_member(text: &str) -> bool {
    text.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_').starts_with('(')
}

/// Finds accounts of Reddit, `u/name` and `/u/name`.
pub fn find_accounts(text: &str, found: &mut Vec<FoundSpan>) {
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
            found.push(FoundSpan { kind: DataKind::Name, start: name.start(), end: name.end() });
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

/// What several people are called, right before what they are.
const SEVERAL: [&str; 9] = ["我们", "你们", "他们", "她们", "它们", "咱们", "俺们", "这些", "那些"];

/// Words that count things, after a number or on their own.
const COUNTED: [&str; 18] = [
    "一个", "两个", "几个", "每个", "各个", "一种", "这种", "那种", "各种", "一只", "这只", "那只", "一条",
    "这条", "一件", "这件", "一群", "某种",
];

/// What is done to things. A particle may follow.
const DONE: [&str; 16] =
    ["穿", "戴", "吃", "喝", "买", "卖", "煮", "炖", "养", "喂", "骑", "种", "捕杀", "捕捉", "宰杀", "屠宰"];

const PARTICLES: [&str; 4] = ["了", "着", "过", "完"];

/// Whether a name in a text, in bytes, stands for no person.
pub fn is_no_person(text: &str, name: Range<usize>) -> bool {
    let (before, after) = (&text[..name.start], &text[name.end..]);
    let han = |c: char| ('\u{4e00}'..='\u{9fff}').contains(&c);
    if !text[name.clone()].contains(han) {
        return false;
    }
    let ends = |words: &[&str]| words.iter().any(|word| before.ends_with(word));
    let bare = PARTICLES.iter().find_map(|particle| before.strip_suffix(particle)).unwrap_or(before);
    let done =
        |verb: &&str| bare.ends_with(*verb) && segment::last_word(bare).is_some_and(|word| word == *verb);
    after.starts_with("们")
        || ends(&SEVERAL)
        || ends(&COUNTED)
        || DONE.iter().any(done)
        || segment::is_sentence(&text[name.clone()])
        || segment::cuts_a_word(text, name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_compile() {
        assert!(super::MENTION.is_some() && super::REPLY.is_some() && super::ACCOUNT.is_some());
    }

    #[test]
    fn a_mention_ends_where_its_name_does() {
        let named = |text: &'static str| -> Vec<&str> {
            let mut found = Vec::new();
            find_names(text, &[], true, &[], &mut found);
            found.iter().map(|one| &text[one.start..one.end]).collect()
        };
        for text in ["Thanks @cloud_man.", "Thanks @cloud_man; you too", "ask @cloud_man(the mod)"] {
            assert_eq!(named(text), ["cloud_man"], "{text}");
        }
        assert_eq!(named("Look at @bob.smith99 now"), ["bob.smith99"]);
        for text in
            ["@Test(expected = 1)", "npm i @angular/core", "@obj.method()", "@_@ 晕", "@everyone sleep"]
        {
            assert!(named(text).is_empty(), "{text}");
        }
    }

    fn no_person(text: &str, name: &str) -> bool {
        let start = text.find(name).unwrap();
        is_no_person(text, start..start + name.len())
    }

    #[test]
    fn other_words_are_no_person() {
        for (text, name) in [
            ("我们卖草莓星人为什么要侵略地球", "卖草莓星人"),
            ("卖草莓星人们为什么要侵略地球", "卖草莓星人"),
            ("一男子穿完百慕大三角裤衩后神秘失踪", "百慕大三角裤衩"),
            ("用鼠夹和苹果筐捕杀病死鸡的", "病死鸡"),
            ("门口有一只病死鸡", "病死鸡"),
            ("大夫吃病人有什么注意事项吗", "大夫吃病人"),
            ("打了热线希望有人接", "线希望"),
        ] {
            assert!(no_person(text, name), "{text}");
        }
    }

    #[test]
    fn users_are_persons() {
        for (text, name) in [
            ("“干掉了。”云中鹤看着掉了的防盗门", "云中鹤"),
            ("我云中鹤不服", "云中鹤"),
            ("这个云中鹤又来了", "云中鹤"),
            ("好消息精神病钱会计收钱收到受抽", "精神病钱会计"),
            ("震惊:挖鼻孔的院长义务为灾区人民挖井", "挖鼻孔的院长"),
            ("是你用大力金刚缺钙娃的马甲煽动大家", "大力金刚缺钙娃"),
            ("你们说敢放屁的精神病出国深造了", "敢放屁的精神病"),
            ("我把幼儿园小兔崽子的奶妈拐到这来了", "幼儿园小兔崽子"),
            ("院长下令把病死鸡拖出去", "病死鸡"),
            ("问rainman99去", "rainman99"),
        ] {
            assert!(!no_person(text, name), "{text}");
        }
    }
}
