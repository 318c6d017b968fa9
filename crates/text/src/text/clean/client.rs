//! What the forum's page and its clients leave in a post: links outside of sentences, marks in place of images,
//! and lines that a client adds.

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memmem::Finder;
use regex::{NoExpand, Regex};

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
/// Links outside of sentences, and what the forum's page leaves in place of an image.
///
/// What: a line that is only a link, links at the end of the text, `[图片]`, `[img]…[/img]`, `帖子相关图片：` are
/// removed. A link inside a sentence is left to the anonymiser.
///
/// Why: the posts are judged as text; the address of a page that is gone says nothing.
///
/// Known problems: an address without `http` or `www` is not seen.
///
/// ```
/// # use riddlemill_text::text::clean::client::drop_apart;
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
    replace_matches(&APART, text)
}

/// The text without the traces of images; borrowed if there are none.
///
/// ```
/// # use riddlemill_text::text::clean::client::drop_images;
/// assert_eq!(drop_images("[图片]云会恐高吗"), "云会恐高吗");
/// ```
pub fn drop_images(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    if memchr::memchr2(b'[', b'<', bytes).is_none() && !text.contains('【') && RELATED.find(bytes).is_none()
    {
        return Cow::Borrowed(text);
    }
    replace_matches(&IMAGE, text)
}

fn replace_matches<'a>(pattern: &LazyLock<Option<Regex>>, text: &'a str) -> Cow<'a, str> {
    match pattern.as_ref() {
        // A replacement without groups is faster.
        Some(pattern) => pattern.replace_all(text, NoExpand("")),
        None => Cow::Borrowed(text),
    }
}

/// What mail is sent from. Not what anybody can put in its place: `Sent from my toaster` is a joke.
const DEVICE: &str = r"(?: i?(?:phone|pad|pod|mac) | macbook | ipad | android | mobile | cell\\s?phone | smart\\s?phone | tablet
    | samsung | galaxy | pixel | huawei | honor | xiaomi | redmi | oneplus | oppo | vivo | nokia | lumia | htc | lg | moto(?:rola)? | sony
    | xperia | blackberry | kindle | verizon | t-mobile | windows | outlook | yahoo | gmail | mail | proton | 安卓 | 手机 )";

static SIGNATURE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let pattern = r"(?ix)
        (?: ^ | [\s。！？!?…~～”）)] | [—\-－]{2} )       # a line of its own, or set off by a dash or a stop
        [\s—\-－(（\[【]*
        (?: (?:来自|來自|发自|發自|发送自) [^\n，。！？]{0,24}?
              (?: 客户端 | 客戶端 | iphone[\p{Han}a-z0-9_\x20]{0,12} | ipad[\p{Han}a-z0-9_\x20]{0,8} | android[\p{Han}a-z0-9_\x20]{0,8} | 安卓(?:手机)? | 手机贴吧 | 掌上百度 | 贴吧客户端 | 手机版 )
          | (?: 发自|發自|发送自 ) \x20? (?: 我的 | 我 )? \x20? (?: [\p{Han}a-z0-9\x20]{0,12}? (?: 手机 | 手機 | 平板 | 电脑 )
              | (?: 华为 | 華為 | 小米 | 红米 | 荣耀 | 三星 | 一加 | 魅族 | 真我 | oppo | vivo | huawei | xiaomi ) [\p{Han}a-z0-9_\x20+-]{0,14} )
          | sent \x20 from \x20 (?: my \x20 )? DEVICE (?: [\p{Han}0-9_\x20'+-] [\p{Han}a-z0-9_\x20'+-]{0,24} )? )
        [\s)）\]】.。]* $";
    Regex::new(&pattern.replace("DEVICE", DEVICE)).ok()
});

/// Lines that programs add under mail and posts, in the languages of phones that are sold in most countries.
static LINES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let pattern = r"(?imx)
        ^ [\s—–\-_(\[]*
        (?: (?: sent | posted | written ) \x20 (?: from | via | using | on ) \x20 (?: my \x20 )? DEVICE (?: [^\n.!?a-z] [^\n.!?]{0,40} )?
          | (?: sent | posted ) \x20 (?: from \x20 my \x20 [^\n]{1,30} )? (?: using | via | with ) \x20 tapatalk [^\n]{0,10}
          | get \x20 outlook \x20 for \x20 [^\n]{1,20}
          | enviado \x20 (?: desde | do | de ) \x20 (?: mi | meu ) \x20 DEVICE (?: [^\n.!?a-z] [^\n.!?]{0,30} )?
          | envoyé \x20 (?: de | depuis ) \x20 mon \x20 DEVICE (?: [^\n.!?a-z] [^\n.!?]{0,30} )?
          | (?: von \x20 meinem \x20 DEVICE [^\n.!?]{0,20} gesendet ) | gesendet \x20 von \x20 mein \w* \x20 DEVICE (?: [^\n.!?a-z] [^\n.!?]{0,30} )?
          | inviato \x20 da(?:l \x20 mio)? \x20 DEVICE (?: [^\n.!?a-z] [^\n.!?]{0,30} )?
          | отправлено \x20 с \x20 (?: моего \x20 )? DEVICE (?: [^\n.!?a-z] [^\n.!?]{0,30} )?
          | DEVICE から送信 | 나의 \x20 DEVICE 에서 \x20 보냄 )
        [\s.)\]]* \z";
    Regex::new(&pattern.replace("DEVICE", DEVICE)).ok()
});

/// The text without the line that a client added at its end; in other languages than Chinese such words are a client's only on a line
/// of their own.
///
/// ```
/// # use riddlemill_text::text::clean::client::strip_client_line;
/// assert_eq!(strip_client_line("Why do clouds cry?\nSent from my iPhone"), "Why do clouds cry?");
/// assert_eq!(strip_client_line("Who cries in mail sent from my iPhone"), "Who cries in mail sent from my iPhone");
/// assert_eq!(strip_client_line("Why toast?\nSent from my toaster"), "Why toast?\nSent from my toaster");
/// ```
pub fn strip_client_line(text: &str) -> &str {
    match LINES.as_ref().and_then(|lines| lines.find(text)) {
        Some(found) => text[..found.start()].trim_end(),
        None => text,
    }
}

/// The things that signatures name, folded.
const THINGS: [&str; 22] = [
    "客户端",
    "客戶端",
    "iphone",
    "ipad",
    "android",
    "安卓",
    "掌上百度",
    "手机",
    "手機",
    "平板",
    "电脑",
    "华为",
    "華為",
    "小米",
    "红米",
    "荣耀",
    "三星",
    "一加",
    "魅族",
    "真我",
    "oppo",
    "vivo",
];

/// Whether a text contains a word, ignoring ASCII case.
fn contains_word(text: &str, word: &str) -> bool {
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

static NOTICES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?xm)
        [^\s，]{1,30}，如果您要查看本帖隐藏内容请\s*回复
        | ^ \s* 本帖隐藏的内容 (?: 需要 [^\n]* )? [:：]? \s* $ \n?
        | ^ \s* 复制代码 \s* $ \n?
        | 本帖最后由\x20 [^\n]{1,40}? \x20于\x20 \d{4}-\d{1,2}-\d{1,2} [^\n]{0,12}? \x20编辑
        | 您需要 \s* 登录 \s* 才可以下载或查看 [^\n]*",
    )
    .ok()
});

/// What forum programs write into posts: who edited it, that something is hidden from guests, what copies a code. As part of a
/// sentence the words are the author's.
///
/// ```
/// # use riddlemill_text::text::clean::client::drop_notices;
/// assert_eq!(drop_notices("本帖最后由 云中鹤 于 2012-3-4 12:34 编辑\n云会恐高吗？"), "\n云会恐高吗？");
/// assert_eq!(drop_notices("程序员为什么只会复制代码"), "程序员为什么只会复制代码");
/// assert_eq!(drop_notices("为什么本帖隐藏的内容我看不见？"), "为什么本帖隐藏的内容我看不见？");
/// ```
pub fn drop_notices(text: &str) -> Cow<'_, str> {
    const WORDS: [&str; 4] = ["本帖隐藏", "复制代码", "本帖最后由", "才可以下载或查看"];
    match NOTICES.as_ref().filter(|_| WORDS.iter().any(|word| text.contains(word))) {
        Some(notices) => notices.replace_all(text, ""),
        None => Cow::Borrowed(text),
    }
}

/// The text before a client's signature; the whole text if there is none.
///
/// The line a client adds under a post.
///
/// What: `——来自 某某 客户端`, `发自我的iPhone`, `Sent from my iPad` at the end of the text are removed.
///
/// Why: the phone's maker is not part of the joke, and where the forum demands content the line may be all
/// there is.
///
/// Known problems: a signature in the middle of a text is kept; a joke that ends in such a line on purpose
/// loses it.
///
/// ```
/// # use riddlemill_text::text::clean::client::strip_signature;
/// assert_eq!(strip_signature("云会恐高吗？\n——来自 某某贴吧 客户端"), "云会恐高吗？");
/// assert_eq!(strip_signature("天黑了。——来自北方的人"), "天黑了。——来自北方的人");
/// ```
pub fn strip_signature(text: &str) -> &str {
    // Every signature begins with one of a few words and names one of a few things: check these before any
    // regex runs.
    let lead = text.contains('自') && THINGS.iter().any(|thing| contains_word(text, thing))
        || contains_word(text, "from");
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
    use super::*;

    #[test]
    fn patterns_compile() {
        assert!(APART.is_some() && IMAGE.is_some() && NOTICES.is_some());
        assert!(SIGNATURE.is_some() && LINES.is_some());
    }

    #[test]
    fn only_a_device_or_a_program_signs() {
        assert_eq!(strip_signature("为什么每封信都写着 sent from 火星"), "为什么每封信都写着 sent from 火星");
        assert_eq!(strip_signature("云会恐高吗？ Sent from Huawei Mate"), "云会恐高吗？");
        assert_eq!(strip_signature("云会恐高吗？\nSent from my iPhone 15 Pro"), "云会恐高吗？");
        for kept in
            ["信的最后写着 sent from my heart", "云会恐高吗？来自火星的你", "云会恐高吗\n——来自火星的云"]
        {
            assert_eq!(strip_signature(kept), kept);
        }
    }

    #[test]
    fn a_client_signs_on_a_line_of_its_own_in_any_language() {
        for line in [
            "Sent from my iPhone",
            "-- Sent from my Samsung Galaxy S9.",
            "Sent from my SM-G900F using Tapatalk",
            "Sent via mobile",
            "Sent from Yahoo Mail on Android",
            "Get Outlook for iOS",
            "Enviado desde mi iPhone",
            "Envoyé de mon iPhone",
            "Von meinem iPhone gesendet",
            "Отправлено с iPhone",
            "iPhoneから送信",
            "나의 iPhone에서 보냄",
        ] {
            assert_eq!(
                strip_client_line(&format!("Why do clouds cry?\n\n{line}")),
                "Why do clouds cry?",
                "{line}"
            );
            assert_eq!(strip_client_line(line), "", "{line}");
        }
        for kept in [
            "The last line of my resignation? Sent from my iPhone.",
            "Why?\nSent from my heart",
            "Sent from my iPhone\nis how I sign my will",
            "Why?\nSent from my phonebook of enemies. Who are they?",
        ] {
            assert_eq!(strip_client_line(kept), kept);
        }
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

    #[test]
    fn strips_what_clients_add() {
        for (before, after) in [
            (" ——来自 爱猫 Windows Phone 客户端", ""),
            ("发自我的iPhone", ""),
            ("云会恐高吗？ 来自Android客户端", "云会恐高吗？"),
            ("云会恐高吗？发自手机贴吧", "云会恐高吗？"),
            ("sent from my iPad", ""),
            ("云会恐高吗？——发自我的华为手机", "云会恐高吗？"),
            ("云会恐高吗\n发自我的小米14 Pro", "云会恐高吗"),
        ] {
            assert_eq!(strip_signature(before), after, "{before}");
        }
    }

    #[test]
    fn leaves_people_and_places() {
        for kept in [
            "夕阳西下。——来自山里的人",
            "我来自客户端开发部",
            "这封信发自北京",
            "自行车客户端",
            "我的话发自内心，不是发自手机",
        ] {
            assert_eq!(strip_signature(kept), kept);
        }
    }
}
