//! Accounts of services, behind the name of the service.
//!
//! What: an account that looks like one (with a digit, a `_`, a `.` or a `#`) behind a service's name and a colon, `is`, `账号` or the
//! like: `Discord: john.doe`, `my ig is john_doe99`, `抖音号 abc123456`; `discord john#1234`, `skype live:john.doe`, `<@123456789012345678>`.
//!
//! Why not any word behind the name: `Discord: why is it down?` names nobody.
//!
//! Known problems: an account of letters alone is not found.

use std::sync::LazyLock;

use regex::Regex;

use super::account::ends_there;
use super::chinese::followed_by_count;
use super::{DataKind, FoundSpan};

static SERVICE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?xi)
        (?: (?P<latin> \b (?: discord | instagram | insta | ig | snapchat | snap | skype | telegram | tg | twitter | tiktok | kik | steam ) )
          | 抖音 | 小红书 | 支付宝 | 快手 | 微博 | 陌陌 | 知乎 | 哔哩哔哩 | [b]站 | 钉钉 | 旺旺 | 豆瓣 | 网易云 )
        (?P<called> \x20? (?: id \b | 账号 | 帐号 | 賬號 | 账户 | 号码? | 號 | 昵称 | username | user | handle | tag | name | account ) )?
        (?P<is> \x20? (?: is \b | 是 | 为 | 叫 ) )?
        (?P<sep> [\x20:：=@（(\[]{0,3} )
        (?P<id> live:[a-z0-9._-]{3,32} | [a-z0-9_] [a-z0-9._-]{3,31} (?: \# [0-9]{4} )? )",
    )
    .ok()
});

/// How Discord writes a mention down.
static MENTIONED: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"<@!?([0-9]{17,20})>").ok());

/// Finds accounts.
pub fn find_service_accounts(text: &str, found: &mut Vec<FoundSpan>) {
    let mut push = |start: usize, end: usize| found.push(FoundSpan { kind: DataKind::Name, start, end });
    for id in MENTIONED.iter().flat_map(|pattern| pattern.captures_iter(text)).filter_map(|one| one.get(1)) {
        push(id.start(), id.end());
    }
    for captures in SERVICE.iter().flat_map(|pattern| pattern.captures_iter(text)) {
        let Some(id) = captures.name("id") else { continue };
        // The full stop of the sentence.
        let name = id.as_str().trim_end_matches(['.', '-']);
        let end = id.start() + name.len();
        let separator = captures.name("sep").map_or("", |sep| sep.as_str());
        let (latin, called) = (captures.name("latin").is_some(), captures.name("called").is_some());
        let introduced = called || captures.name("is").is_some() || separator.contains([':', '：', '=', '@']);
        let tagged = name.contains('#') || name.to_ascii_lowercase().starts_with("live:");
        let number = name.bytes().all(|b| b.is_ascii_digit());
        let like = match number {
            true => called && name.len() > 5,
            false => {
                name.contains(|c: char| c.is_ascii_digit() || matches!(c, '_' | '.'))
                    && name.starts_with(char::is_alphabetic)
            }
        };
        let apart = !latin || called || !separator.is_empty();
        let goes_on = text[end..].starts_with(|c: char| c.is_ascii_alphanumeric() || c == '/');
        if apart
            && !goes_on
            && !followed_by_count(&text[end..])
            && (tagged || introduced && like && (number || latin || ends_there(&text[end..])))
        {
            push(id.start(), end);
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn patterns_compile() {
        assert!(super::SERVICE.is_some() && super::MENTIONED.is_some());
    }
}
