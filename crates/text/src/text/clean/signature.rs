//! The line a client adds under a post.
//!
//! What: `——来自 某某 客户端`, `发自我的iPhone`, `Sent from my iPad` at the end of the text are removed.
//!
//! Why: the phone's maker is not part of the joke, and where the forum demands content the line may be all
//! there is.
//!
//! Known problems: a signature in the middle of a text is kept; a joke that ends in such a line on purpose
//! loses it.

use regex::Regex;
use std::sync::LazyLock;

static SIGNATURE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?ix)
        (?: ^ | [\s。！？!?…~～”）)] | [—\-－]{2} )       # a line of its own, or set off by a dash or a stop
        [\s—\-－(（\[【]*
        (?: (?:来自|來自|发自|發自|发送自) [^\n，。！？]{0,24}?
              (?: 客户端 | 客戶端 | iphone[\p{Han}a-z0-9_\x20]{0,12} | ipad[\p{Han}a-z0-9_\x20]{0,8} | android[\p{Han}a-z0-9_\x20]{0,8} | 安卓(?:手机)? | 手机贴吧 | 掌上百度 | 贴吧客户端 | 手机版 )
          | sent \x20 from \x20 (?:my \x20)? [\p{Han}a-z0-9_\x20]{2,30} )
        [\s)）\]】.。]* $",
    )
    .ok()
});

/// The things that signatures name, folded.
const THINGS: [&str; 9] =
    ["客户端", "客戶端", "iphone", "ipad", "android", "安卓", "手机贴吧", "掌上百度", "手机版"];

/// Whether a text contains a word, ignoring ASCII case.
fn contains(text: &str, word: &str) -> bool {
    let (bytes, word) = (text.as_bytes(), word.as_bytes());
    match word.first() {
        Some(first) if first.is_ascii() => {
            let starts = memchr::memchr2_iter(*first, first.to_ascii_uppercase(), bytes);
            starts
                .filter_map(|at| bytes.get(at..at + word.len()))
                .any(|found| found.eq_ignore_ascii_case(word))
        }
        _ => memchr::memmem::find(bytes, word).is_some(),
    }
}

/// The text before a client's signature; the whole text if there is none.
///
/// ```
/// # use riddlemill_text::text::clean::signature::strip;
/// assert_eq!(strip("云会恐高吗？\n——来自 某某贴吧 客户端"), "云会恐高吗？");
/// assert_eq!(strip("天黑了。——来自北方的人"), "天黑了。——来自北方的人");
/// ```
pub fn strip(text: &str) -> &str {
    // Every signature begins with one of a few words and names one of a few things: check these before any
    // regex runs.
    let lead =
        text.contains('自') && THINGS.iter().any(|thing| contains(text, thing)) || contains(text, "from");
    if !lead {
        return text;
    }
    match SIGNATURE.as_ref().and_then(|signature| signature.find(text)) {
        Some(found) => {
            let head = &text[..found.start()];
            // Punctuation before the signature belongs to the text unless it is a dash.
            let first = found.as_str().chars().next().filter(|c| "。！？!?…~～”）)".contains(*c));
            text[..head.len() + first.map_or(0, char::len_utf8)].trim_end()
        }
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::strip;

    #[test]
    fn strips_what_clients_add() {
        for (before, after) in [
            (" ——来自 爱猫 Windows Phone 客户端", ""),
            ("发自我的iPhone", ""),
            ("云会恐高吗？ 来自Android客户端", "云会恐高吗？"),
            ("云会恐高吗？发自手机贴吧", "云会恐高吗？"),
            ("sent from my iPad", ""),
        ] {
            assert_eq!(strip(before), after, "{before}");
        }
    }

    #[test]
    fn leaves_people_and_places() {
        for kept in ["夕阳西下。——来自山里的人", "我来自客户端开发部", "这封信发自北京", "自行车客户端"]
        {
            assert_eq!(strip(kept), kept);
        }
    }
}
