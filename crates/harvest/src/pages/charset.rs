//! From bytes to text: Tieba served GBK for years, often undeclared, and English sites windows-1252.
//!
//! [`garbled`] detects English text that was decoded with the wrong encoding.

use encoding_rs::{Encoding, GB18030, UTF_8, WINDOWS_1252};

use super::Site;

/// How far a `meta` element is searched; HTML requires the first 1,024 bytes, pages differ.
const PRESCAN: usize = 4096;

/// A page's text and how it was decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    pub text: String,
    /// Name of the encoding in the Encoding Standard.
    pub encoding: &'static str,
    /// Whether bytes had to be replaced by U+FFFD.
    pub replaced: bool,
}

/// Decodes a page: byte order mark, then the header's charset, then the page's own `meta`, then UTF-8, then
/// the older default of its language: GB18030, or windows-1252 for English.
///
/// A declared encoding under which the bytes are invalid, while another candidate decodes them without an
/// error, is treated as a mislabel.
pub fn decode(bytes: &[u8], content_type: Option<&str>, site: &Site) -> Text {
    if let Some((encoding, length)) = Encoding::for_bom(bytes) {
        return read(encoding, &bytes[length..]);
    }
    let declared = content_type.and_then(charset_of_type);
    let before = match site {
        Site::Riddles | Site::Rd => WINDOWS_1252,
        Site::Profile(profile) => profile.encoding().unwrap_or_else(|| seen(bytes)),
        Site::Tieba | Site::Plain => GB18030,
    };
    let candidates = [declared, meta(bytes), Some(UTF_8), Some(before)];
    let mut first = None;
    for encoding in candidates.into_iter().flatten() {
        let text = read(encoding, bytes);
        if !text.replaced {
            return text;
        }
        // If no candidate fits, the one that is trusted most is used, with some characters replaced.
        first.get_or_insert(text);
    }
    first.unwrap_or_else(|| read(UTF_8, bytes))
}

fn read(encoding: &'static Encoding, bytes: &[u8]) -> Text {
    // GB18030 is a superset of GBK, which pages mean by `gb2312` too.
    let encoding = if encoding == encoding_rs::GBK { GB18030 } else { encoding };
    let (text, replaced) = encoding.decode_without_bom_handling(bytes);
    Text { text: text.into_owned(), encoding: encoding.name(), replaced }
}

/// The encoding of undeclared bytes that are not UTF-8: GB18030, unless that puts letters next to rare
/// characters, which happens with windows-1252.
fn seen(bytes: &[u8]) -> &'static Encoding {
    let chinese = read(GB18030, bytes);
    if chinese.replaced || garbled(&chinese.text).is_some() { WINDOWS_1252 } else { GB18030 }
}

/// The first piece of an English text that shows a wrong encoding: U+FFFD, UTF-8 decoded as windows-1252
/// (`donâ€™t`), windows-1252 decoded as GB18030 (`don抰`).
pub fn garbled(text: &str) -> Option<String> {
    let foreign = |c: char| !c.is_ascii();
    let mut before = None;
    let mut rest = text;
    while let Some(at) = rest.find(foreign) {
        before = rest[..at].chars().next_back().or(before.filter(|_| at == 0));
        let run = &rest[at..at + rest[at..].find(|c: char| !foreign(c)).unwrap_or(rest.len() - at)];
        let (bytes, _, lost) = WINDOWS_1252.encode(run);
        let twice = !lost && std::str::from_utf8(&bytes).is_ok();
        let glued = before.is_some_and(|c| c.is_ascii_alphabetic())
            && run.chars().next().is_some_and(|first| {
                let mut buffer = [0; 4];
                let (bytes, _, lost) = GB18030.encode(first.encode_utf8(&mut buffer));
                // 80 to 9F are punctuation in windows-1252; GB18030 takes the next letter for a second byte.
                !lost && matches!(*bytes, [0x80..=0x9f, second] if second.is_ascii_alphabetic())
            });
        if run.contains('\u{fffd}') || twice || glued {
            let word = rest[..at].rfind(char::is_whitespace).map_or(0, |space| space + 1);
            let end = at + run.len();
            let end = end + rest[end..].find(char::is_whitespace).unwrap_or(rest.len() - end);
            return Some(rest[word..end].to_owned());
        }
        before = run.chars().next_back();
        rest = &rest[at + run.len()..];
    }
    None
}

fn charset_of_type(content_type: &str) -> Option<&'static Encoding> {
    let lower = content_type.to_ascii_lowercase();
    let label = lower.split_once("charset=")?.1.split([';', ',']).next()?;
    Encoding::for_label(label.trim().trim_matches(['"', '\'']).as_bytes())
}

/// `charset=` inside a `meta` tag near the start.
fn meta(bytes: &[u8]) -> Option<&'static Encoding> {
    // Only ASCII matters here, which all candidate encodings share.
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(PRESCAN)]).to_ascii_lowercase();
    head.split("<meta").skip(1).find_map(|tag| {
        let tag = tag.split('>').next()?;
        let label = tag.split_once("charset")?.1.trim_start().strip_prefix('=')?;
        let label = label.trim_start().trim_start_matches(['"', '\'']);
        Encoding::for_label(label.split(['"', '\'', ' ', ';', '/']).next()?.as_bytes())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gbk(text: &str) -> Vec<u8> {
        GB18030.encode(text).0.into_owned()
    }

    #[test]
    fn encodings_are_found_in_order() {
        let page = "<meta http-equiv=\"Content-Type\" content=\"text/html; charset=gbk\">弱智";
        assert_eq!(decode(&gbk(page), None, &Site::Tieba).text, page);
        assert_eq!(decode(&gbk("弱智"), Some("text/html; charset=GB2312"), &Site::Tieba).encoding, "gb18030");
        assert_eq!(decode("弱智".as_bytes(), None, &Site::Tieba).encoding, "UTF-8");
        assert_eq!(
            decode("\u{feff}弱智".as_bytes(), Some("text/html; charset=gbk"), &Site::Tieba).text,
            "弱智"
        );
    }

    #[test]
    fn mislabels_are_seen_through() {
        assert_eq!(
            decode(&gbk("为什么下雨"), Some("text/html; charset=utf-8"), &Site::Tieba).text,
            "为什么下雨"
        );
        let odd = decode("三个字".as_bytes(), Some("text/html; charset=gbk"), &Site::Tieba);
        assert_eq!((odd.text.as_str(), odd.replaced), ("三个字", false));
        assert!(decode(&[0xff, 0xff, 0xff], Some("text/html; charset=utf-8"), &Site::Tieba).replaced);
    }

    #[test]
    fn an_english_page_is_no_chinese_one() {
        let page = WINDOWS_1252.encode("Why don’t fish drown? – “They can’t.”").0.into_owned();
        for (site, declared) in [(Site::Riddles, None), (Site::Rd, Some("text/html; charset=utf-8"))] {
            let text = decode(&page, declared, &site);
            assert_eq!(
                (text.text.as_str(), text.encoding),
                ("Why don’t fish drown? – “They can’t.”", "windows-1252")
            );
        }
        // Decoded as a Chinese page it becomes mojibake, which is detected.
        let wrong = GB18030.decode(&WINDOWS_1252.encode("Why don’t fish drown?").0).0.into_owned();
        assert_eq!((wrong.as_str(), garbled(&wrong).as_deref()), ("Why don抰 fish drown?", Some("don抰")));
        let twice = WINDOWS_1252.decode("A café’s “guest” left. Why?".as_bytes()).0.into_owned();
        assert_eq!(garbled(&twice).as_deref(), Some("cafÃ©â€™s"));
        assert_eq!(garbled("It is\u{fffd} odd").as_deref(), Some("is\u{fffd}"));
        for text in [
            "Why don’t fish drown? “So.” – café naïve …",
            "The word 弱智 is Chinese, and so is日本.",
            "£5 or 5€?",
        ] {
            assert_eq!(garbled(text), None, "{text}");
        }
    }
}
