//! E-mail addresses, QQ numbers, WeChat accounts and links.
//!
//! What: e-mail and links by their form; QQ and WeChat by the word before them, since a bare number or
//! word can be anything.
//!
//! Known problems: an account without the word is not found; a bare domain without a path
//! (`百度.com`) is content.

use std::sync::LazyLock;

use regex::Regex;

use super::chinese::followed_by_count;
use super::{DataKind, FoundSpan};

static LINK: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?ix)
        (?: https?:// | ftp:// | www\. ) [a-z0-9\x21\x23-\x3b\x3d\x3f-\x7e]+
        | (?: [a-z0-9-]+ \. )+ (?: com | cn | net | org | tv | cc | me | io | top | xyz | vip ) / [a-z0-9\x23-\x3b\x3d\x3f-\x7e]+
        ",
    )
    .ok()
});

static EMAIL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?x)
        [A-Za-z0-9][A-Za-z0-9._%+-]* (?: [@＠]\s? | \s[@＠]\s | \s? [\[(（{] \s? (?i: at | 艾特 ) \s? [\])）}] \s? )
        (?: [A-Za-z0-9-]+ (?: [.．。][A-Za-z0-9-]+ )* (?: [.．。] | \s? [\[(（{] \s? (?i: dot | 点 ) \s? [\])）}] \s? ) [A-Za-z]{2,12}
          | [\p{Han}A-Za-z0-9-]+ (?: [.．。][\p{Han}A-Za-z0-9-]+ )*? [.．。] (?: 中国 | 中國 | 公司 | 网络 | 網絡 | 香港 | 台湾 | 台灣 | com | cn | net | org ) )",
    )
    .ok()
});

static QQ: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?ix)
        (?: (?: [qｑ]{2} | 扣扣 | [qｑ]号 | 企?鹅号 | 球球 | 抠抠 )
            (?: 同? [/／、和&+]? (?: 微信 | 威信 | 薇信 | wx | vx | v | 电话 | 手机 ) )? (?: 同号 | 群号?码? | 号码? )? (?: 是 | 为 )?
          | [qｑ]群号?码? (?: 是 | 为 )? | (?: 群号 | 交流群 | 加群 | 进群 | 讨论群 ) (?: 是 | 为 )?
          | (?: 加 | [+＋] ) (?: 我 )? (?: [qｑ]{1,2} | 扣 | 企鹅 ) | (?: 扣 | 私扣 ) 我 | 我的? (?: [qｑ] | 企鹅 ) (?: 是 | 为 )?
          | (?P<weak> (?: [qｑ] | 企鹅 ) [\s]? [:：] ) )
        [\s:：=]{0,3} (?P<number> [1-9１-９] (?: \d{2,3} (?: [\s-] \d{3,4} ){1,2} | \d{4,10} | (?: [\s.·-] \d ){4,10} ) )",
    )
    .ok()
});

static WECHAT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?ix)
        (?: (?P<strong> 微信号 | 威信号 | 薇信 | 维信 | 徽信 | v信 | 卫星号 | 微[❤♥]\x{fe0f}? | [+＋] (?: v | 薇 )
                | (?: 加 | 私 | 私聊 ) 我? (?: v | 薇 | 微 | 微信 | 威信 ) | 我的? (?: v | 微信 | 威信 ) | vx | wx )
            | 微信 | 威信 | weixin | wechat | (?P<weak> [vｖ] ) )
        (?: \x20? id | 号 )? (?: 同号 )? (?: 是 | 为 | (?P<said> \x20 is \b ) )?
        (?P<sep> [\s:：=（(\[【「“→➡>]{0,3} )
        (?P<id> [a-z][a-z0-9_-]{5,19} | 1[3-9]\d{9} | [1-9]\d{5,10} )",
    )
    .ok()
});

/// The form of an account that was not named by its owner.
static GIVEN: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"(?i)wxid_[a-z0-9]{6,20}").ok());

/// Finds links.
pub fn find_links(text: &str, found: &mut Vec<FoundSpan>) {
    let Some(pattern) = LINK.as_ref() else { return };
    for hit in pattern.find_iter(text) {
        // Punctuation after the address belongs to the sentence.
        let link = hit.as_str().trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '\'']);
        // `http://` alone is no link.
        if link.len() > 7 {
            found.push(FoundSpan { kind: DataKind::Link, start: hit.start(), end: hit.start() + link.len() });
        }
    }
}

/// Finds e-mail addresses.
pub fn find_emails(text: &str, found: &mut Vec<FoundSpan>) {
    let hits = EMAIL.iter().flat_map(|pattern| pattern.find_iter(text));
    found.extend(hits.map(|hit| FoundSpan { kind: DataKind::Email, start: hit.start(), end: hit.end() }));
}

/// Finds QQ numbers.
pub fn find_qq_numbers(text: &str, found: &mut Vec<FoundSpan>) {
    for captures in QQ.iter().flat_map(|pattern| pattern.captures_iter(text)) {
        let (Some(whole), Some(number)) = (captures.get(0), captures.name("number")) else { continue };
        // `Q:` also asks, and a letter is a variable.
        let doubtful = captures.name("weak").is_some()
            && (is_within_word(text, whole.start()) || !ends_there(&text[number.end()..]));
        if !doubtful && !followed_by_count(&text[number.end()..]) {
            found.push(FoundSpan { kind: DataKind::Qq, start: number.start(), end: number.end() });
        }
    }
}

/// Whether a letter or digit stands before a place.
fn is_within_word(text: &str, start: usize) -> bool {
    text[..start].ends_with(char::is_alphanumeric)
}

/// Whether a sentence or a part of one ends where an account does, and no sum or question goes on.
pub(super) fn ends_there(after: &str) -> bool {
    after.trim_start_matches(' ').chars().next().is_none_or(|c| {
        !c.is_alphanumeric() && !"+-*/×÷=<>^%?？".contains(c) || after.starts_with(' ') && !c.is_ascii_digit()
    })
}

/// Finds WeChat accounts.
pub fn find_wechat_accounts(text: &str, found: &mut Vec<FoundSpan>) {
    let given = GIVEN.iter().flat_map(|pattern| pattern.find_iter(text));
    found.extend(given.map(|hit| FoundSpan { kind: DataKind::WeChat, start: hit.start(), end: hit.end() }));
    for captures in WECHAT.iter().flat_map(|pattern| pattern.captures_iter(text)) {
        let (Some(whole), Some(id)) = (captures.get(0), captures.name("id")) else { continue };
        let separator = captures.name("sep").map_or("", |s| s.as_str());
        let introduced = separator.contains([':', '：', '=']);
        // `微信（windows版）` names no account.
        let enclosed = separator.contains(['（', '(', '[', '【', '「', '“', '→', '➡', '>']);
        let numeric = id.as_str().contains(|c: char| c.is_ascii_digit() || c == '_');
        let strong = captures.name("strong").is_some();
        let said = captures.name("said").is_some();
        let latin_word = whole.as_str().starts_with(['w', 'W']);
        let latin_before = text[..whole.start()].ends_with(|c: char| c.is_ascii_alphanumeric());
        let cut = followed_by_count(&text[id.end()..]);
        let (mixed, all) = (id.as_str(), id.as_str().bytes());
        let letters = mixed.starts_with(|c: char| c.is_ascii_alphabetic());
        let ends = ends_there(&text[id.end()..]);
        // A letter alone is a variable, too: what it names has to look like an account.
        let is_account = match captures.name("weak") {
            Some(_) => introduced && letters && numeric && ends && !is_within_word(text, whole.start()),
            // Without a colon, the word has to name an account, and the account has to look like one.
            None => {
                let digits = all.filter(|b| b.is_ascii_digit()).count();
                let like = letters && ends && (digits >= 3 || mixed.contains('_')) && !latin_word;
                introduced && !enclosed
                    || (strong || enclosed || said)
                        && numeric
                        && (!enclosed || !text[id.end()..].starts_with(char::is_alphanumeric))
                    || like
            }
        };
        if is_account && !(latin_before && whole.as_str().starts_with(|c: char| c.is_ascii())) && !cut {
            found.push(FoundSpan { kind: DataKind::WeChat, start: id.start(), end: id.end() });
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn patterns_compile() {
        assert!(
            super::LINK.is_some()
                && super::EMAIL.is_some()
                && super::QQ.is_some()
                && super::WECHAT.is_some()
                && super::GIVEN.is_some()
        );
    }
}
