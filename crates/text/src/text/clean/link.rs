//! Links outside of sentences, and what the forum's page leaves in place of an image.
//!
//! What: a line that is only a link, links at the end of the text, `[图片]`, `[img]…[/img]`, `帖子相关图片：` are
//! removed. A link inside a sentence is left to the anonymiser.
//!
//! Why: the posts are judged as text; the address of a page that is gone says nothing.
//!
//! Known problems: an address without `http` or `www` is not seen.

use memchr::memmem::Finder;
use regex::{NoExpand, Regex};
use std::borrow::Cow;
use std::sync::LazyLock;

static APART: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?imx)
        (?: ^ [\x20\t\u{3000}]* (?:https?://|www\.) [\x21-\x7e]+ [\x20\t\u{3000}]* $ \n? )   # a line of its own
        | (?: (?:^|[\s\u{3000}]+) (?:https?://|www\.) [\x21-\x7e]+ [\s\u{3000}]* )+ \z       # the text's end
        | \A [\s\u{3000}]* (?:https?://|www\.) [\x21-\x7e]+ [\s\u{3000}]+                    # the text's start
        ",
    )
    .ok()
});

static IMAGE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?ix)
        # No `\b`: the quick automata know none between Chinese characters.
        \[img (?: [^\w\]\n] [^\]\n]* )? \] [^\[\n]{0,400} \[/img\]
        | < img (?: [^\w>\n] [^>\n]{0,399} )? >
        | [\[【] (?:图片|圖片|动画表情|图片评论) [\]】]
        | 帖子相关图片 [：:]? [\s]*
        ",
    )
    .ok()
});

/// What the forum's page writes above images.
static RELATED: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("帖子相关图片"));

/// The text without links outside of sentences; borrowed if there are none.
///
/// ```
/// # use riddlemill_text::text::clean::link::drop_apart;
/// assert_eq!(drop_apart("云会恐高吗 http://example.com/p/1"), "云会恐高吗");
/// assert_eq!(drop_apart("打开 http://example.com/p/1 就能看云"), "打开 http://example.com/p/1 就能看云");
/// ```
pub fn drop_apart(text: &str) -> Cow<'_, str> {
    // A cheap check first: hardly any Chinese text has one of these.
    if memchr::memchr3(b':', b'w', b'W', text.as_bytes()).is_none()
        || !text.contains("://") && !text.contains("www.") && !text.contains("WWW.")
    {
        return Cow::Borrowed(text);
    }
    replace(&APART, text)
}

/// The text without the traces of images; borrowed if there are none.
///
/// ```
/// # use riddlemill_text::text::clean::link::drop_images;
/// assert_eq!(drop_images("[图片]云会恐高吗"), "云会恐高吗");
/// ```
pub fn drop_images(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    if memchr::memchr2(b'[', b'<', bytes).is_none() && !text.contains('【') && RELATED.find(bytes).is_none()
    {
        return Cow::Borrowed(text);
    }
    replace(&IMAGE, text)
}

fn replace<'a>(pattern: &LazyLock<Option<Regex>>, text: &'a str) -> Cow<'a, str> {
    match pattern.as_ref() {
        // A replacement without groups is faster.
        Some(pattern) => pattern.replace_all(text, NoExpand("")),
        None => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_compile() {
        assert!(APART.is_some() && IMAGE.is_some());
    }

    #[test]
    fn lines_and_ends_go() {
        for (before, after) in [
            ("http://a.example/f?kz=1", ""),
            ("http://a.example/f?kz=1\n云会恐高吗", "云会恐高吗"),
            ("云会\nwww.a.example\n恐高吗", "云会\n恐高吗"),
            ("云会恐高吗\nhttp://a.example/1 http://a.example/2 ", "云会恐高吗"),
        ] {
            assert_eq!(drop_apart(before), after, "{before}");
        }
        assert_eq!(drop_images("帖子相关图片：\n"), "");
        assert_eq!(drop_images("<爸爸去哪了>[doge]"), "<爸爸去哪了>[doge]");
    }
}
