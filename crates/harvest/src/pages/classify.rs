//! The kind of a page, decided before anything is read from it.

use scraper::Html;
use serde::{Deserialize, Serialize};
use url::Url;

use super::dom::{self, selectors};
use super::text::text_of;

/// The kind of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// It contains what its address promises.
    Ok,
    /// The site demands a captcha or refuses access. Nothing is read, and the host is left alone.
    Blocked,
    /// This page is not open to visitors; others may be.
    Forbidden,
    /// A script's empty frame: the content comes by other requests.
    Shell,
    /// Taken down.
    Deleted,
    /// Hidden from visitors.
    Hidden,
    /// The forum was merged into another.
    Merged,
    /// The right structure with nothing in it.
    Empty,
    /// None of these: a layout that this version does not support, a server error, a truncated or hostile
    /// page.
    Unparsed,
}

impl Class {
    /// The name in ledgers and archives.
    pub fn code(self) -> &'static str {
        match self {
            Class::Ok => "ok",
            Class::Blocked => "blocked",
            Class::Forbidden => "forbidden",
            Class::Shell => "shell",
            Class::Deleted => "deleted",
            Class::Hidden => "hidden",
            Class::Merged => "merged",
            Class::Empty => "empty",
            Class::Unparsed => "unparsed",
        }
    }

    /// The inverse of [`Class::code`].
    pub fn from_code(code: &str) -> Option<Class> {
        use Class::{Blocked, Deleted, Empty, Forbidden, Hidden, Merged, Ok, Shell, Unparsed};
        [Ok, Blocked, Forbidden, Shell, Deleted, Hidden, Merged, Empty, Unparsed]
            .into_iter()
            .find(|class| class.code() == code)
    }
}

/// Classification without a body: challenges, and hosts that are requested too often.
pub(super) fn by_answer(url: &str, status: u16) -> Option<Class> {
    let challenged = Url::parse(url).is_ok_and(|url| {
        url.host_str().is_some_and(|host| host.starts_with("wappass."))
            || url.path_segments().is_some_and(|mut parts| parts.any(|p| p.eq_ignore_ascii_case("captcha")))
    });
    (challenged || status == 429).then_some(Class::Blocked)
}

/// Classifies a page answered with 401 or 403: with a challenge in it, the host refuses access; otherwise
/// only this page is meant.
pub(super) fn classify_refused(body: &str) -> Class {
    match dom::parse_document(body) {
        Ok(page) if is_challenge(&page) => Class::Blocked,
        _ => Class::Forbidden,
    }
}

/// Whether a page without content asks for proof of being a person: by its title, or by the typical parts of
/// such pages.
fn is_challenge(page: &Html) -> bool {
    selectors! {
        CHALLENGE = "[action*='captcha' i], [src*='captcha' i], [id*='captcha' i], [class*='captcha' i], [name*='captcha' i], [id^='challenge-'], [src*='/cdn-cgi/challenge'], .cf-turnstile";
    }
    let title = dom::page_title(page).to_lowercase();
    let phrases = ["安全验证", "验证码", "captcha", "just a moment"];
    phrases.iter().any(|phrase| title.contains(phrase)) || page.select(&CHALLENGE).next().is_some()
}

/// Classifies a page without the structure it should have.
pub(super) fn without_structure(page: &Html, status: u16) -> Class {
    selectors! {
        BODY = "body";
        SCRIPT = "script";
    }
    let title = dom::page_title(page);
    if title == "百度安全验证" {
        return Class::Blocked;
    }
    let text = page.select(&BODY).next().map(|body| text_of(body, &[])).unwrap_or_default();
    if matches!(status, 404 | 410) || title == "贴吧404" || class_of_removal(&title).is_some() {
        return class_of_removal(&title).or_else(|| class_of_removal(&text)).unwrap_or(Class::Deleted);
    }
    let scripted = page.select(&SCRIPT).next().is_some();
    // The known shells have at most a dozen words, in a noscript element.
    if status == 200 && scripted && text.chars().count() < 200 {
        return Class::Shell;
    }
    Class::Unparsed
}

fn class_of_removal(text: &str) -> Option<Class> {
    let contains = |phrase: &str| text.contains(phrase);
    if contains("该吧被合并") {
        Some(Class::Merged)
    } else if contains("贴子被隐藏") || contains("帖子被隐藏") {
        Some(Class::Hidden)
    } else if contains("该贴已被删除") || contains("该帖已被删除") || contains("已被系统删除")
    {
        Some(Class::Deleted)
    } else {
        None
    }
}
