//! The kind of a page, decided before anything is read from it.

use riddlemill_text::text::normalise::simplify_char;
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
    CHALLENGES.iter().any(|phrase| title.contains(phrase)) || page.select(&CHALLENGE).next().is_some()
}

/// Words of the titles of pages that ask for proof of being a person.
const CHALLENGES: [&str; 5] = ["安全验证", "验证码", "captcha", "just a moment", "attention required!"];

/// What a site's title says, as one of its parts, where there is something else than the page.
const TITLES: [(Class, &[&str]); 2] = [
    (
        Class::Forbidden,
        &["登录", "用户登录", "请登录", "login", "log in", "sign in", "access denied", "forbidden"],
    ),
    (Class::Deleted, &["404", "404 not found", "not found", "page not found", "页面不存在", "找不到页面"]),
];

/// What a site says in the place of a page.
const NOTICES: [(Class, &[&str]); 3] = [
    (
        Class::Forbidden,
        &[
            "需要登录",
            "请登录",
            "请先登录",
            "登录后",
            "没有权限",
            "无权",
            "权限不足",
            "log in to",
            "logged in",
            "login required",
            "sign in to",
            "not have permission",
            "members only",
            "登入",
            "权限访问",
            "未登录",
            "没有登录",
        ],
    ),
    (Class::Hidden, &["正在审核", "等待审核", "被屏蔽", "被隐藏", "awaiting moderation", "has been hidden"]),
    (
        Class::Deleted,
        &[
            "不存在",
            "已被删除",
            "已删除",
            "被管理员删除",
            "does not exist",
            "doesn't exist",
            "has been deleted",
            "has been removed",
            "was deleted",
            "could not be found",
            "no longer available",
            "invalid thread",
        ],
    ),
];

/// Most characters of a notice. What is longer may be a post that speaks of one.
const NOTICE: usize = 200;

/// What a page says that stands in the place of another: by its title, by the element in which forum programs say so, or
/// by its whole text if that is short.
fn class_of_notice(page: &Html, title: &str, text: &str) -> Option<Class> {
    selectors! {
        NOTICES_OF_PROGRAMS = "#messagetext, #message, .alert_error, .alert_info, .blockMessage, .errorbox, .standard_error, .page-not-found, [role=alert]";
    }
    let title = title.to_lowercase();
    if CHALLENGES.iter().any(|phrase| title.contains(phrase)) {
        return Some(Class::Blocked);
    }
    let mut parts = title.split(['-', '|', '–', '_', '·']).map(str::trim);
    let of_title = parts.find_map(|part| find_class(&TITLES, |known| part == known));
    let notices = page.select(&NOTICES_OF_PROGRAMS).map(|notice| text_of(notice, &[]));
    let mut texts = notices.chain([text.to_owned()]).filter(|text| text.chars().count() <= NOTICE);
    of_title.or_else(|| {
        texts.find_map(|text| {
            let text = fold_notice(&text);
            find_class(&NOTICES, |phrase| text.contains(phrase))
        })
    })
}

/// A notice in the spelling of [`NOTICES`].
fn fold_notice(text: &str) -> String {
    let plain = |c: char| match c {
        '’' => '\'',
        '-' => ' ',
        c => simplify_char(c),
    };
    text.to_lowercase().chars().map(plain).collect()
}

fn find_class(words: &[(Class, &[&str])], says: impl Fn(&str) -> bool) -> Option<Class> {
    words.iter().find(|(_, words)| words.iter().any(|word| says(word))).map(|(class, _)| *class)
}

/// The error of a server that a page is, whatever its status says: `502 Bad Gateway`.
pub(super) fn server_error(page: &Html) -> Option<String> {
    let title = dom::page_title(page);
    let words = title.to_lowercase();
    let errors = [
        "internal server error",
        "bad gateway",
        "service unavailable",
        "service temporarily unavailable",
        "gateway time",
    ];
    errors.iter().any(|error| words.contains(error)).then_some(title)
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
    if let Some(class) = class_of_notice(page, &title, &text) {
        return class;
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
