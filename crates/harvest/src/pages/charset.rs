//! From bytes to text: Tieba served GBK for years, often undeclared, and English sites windows-1252.

use encoding_rs::{Encoding, GB18030, UTF_8, WINDOWS_1252};

use super::Site;
use super::mojibake::find_glued;

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
pub fn decode_page(bytes: &[u8], content_type: Option<&str>, site: &Site) -> Text {
    if let Some((encoding, length)) = Encoding::for_bom(bytes) {
        return decode_as(encoding, &bytes[length..]);
    }
    let declared = content_type.and_then(charset_of_type);
    let before = match site {
        Site::Profile(profile) => profile.encoding().unwrap_or_else(|| guess_encoding(bytes)),
        Site::Tieba | Site::Plain => GB18030,
    };
    let candidates = [declared, encoding_in_meta(bytes), Some(UTF_8), Some(before)];
    let mut first = None;
    for encoding in candidates.into_iter().flatten() {
        let text = decode_as(encoding, bytes);
        if !text.replaced {
            return text;
        }
        // If no candidate fits, the one that is trusted most is used, with some characters replaced.
        first.get_or_insert(text);
    }
    first.unwrap_or_else(|| decode_as(UTF_8, bytes))
}

fn decode_as(encoding: &'static Encoding, bytes: &[u8]) -> Text {
    // GB18030 is a superset of GBK, which pages mean by `gb2312` too.
    let encoding = if encoding == encoding_rs::GBK { GB18030 } else { encoding };
    let (text, replaced) = encoding.decode_without_bom_handling(bytes);
    Text { text: text.into_owned(), encoding: encoding.name(), replaced }
}

/// The encoding of undeclared bytes that are not UTF-8: GB18030, unless that puts letters next to rare
/// characters, which happens with windows-1252.
fn guess_encoding(bytes: &[u8]) -> &'static Encoding {
    let chinese = decode_as(GB18030, bytes);
    if chinese.replaced || find_glued(&chinese.text).is_some() { WINDOWS_1252 } else { GB18030 }
}

fn charset_of_type(content_type: &str) -> Option<&'static Encoding> {
    let lower = content_type.to_ascii_lowercase();
    let label = lower.split_once("charset=")?.1.split([';', ',']).next()?;
    Encoding::for_label(label.trim().trim_matches(['"', '\'']).as_bytes())
}

/// `charset=` inside a `meta` tag near the start.
fn encoding_in_meta(bytes: &[u8]) -> Option<&'static Encoding> {
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
    use super::super::Profile;
    use super::*;

    fn gbk(text: &str) -> Vec<u8> {
        GB18030.encode(text).0.into_owned()
    }

    #[test]
    fn encodings_are_found_in_order() {
        let page = "<meta http-equiv=\"Content-Type\" content=\"text/html; charset=gbk\">弱智";
        assert_eq!(decode_page(&gbk(page), None, &Site::Tieba).text, page);
        assert_eq!(
            decode_page(&gbk("弱智"), Some("text/html; charset=GB2312"), &Site::Tieba).encoding,
            "gb18030"
        );
        assert_eq!(decode_page("弱智".as_bytes(), None, &Site::Tieba).encoding, "UTF-8");
        assert_eq!(
            decode_page("\u{feff}弱智".as_bytes(), Some("text/html; charset=gbk"), &Site::Tieba).text,
            "弱智"
        );
    }

    #[test]
    fn mislabels_are_seen_through() {
        assert_eq!(
            decode_page(&gbk("为什么下雨"), Some("text/html; charset=utf-8"), &Site::Tieba).text,
            "为什么下雨"
        );
        let odd = decode_page("三个字".as_bytes(), Some("text/html; charset=gbk"), &Site::Tieba);
        assert_eq!((odd.text.as_str(), odd.replaced), ("三个字", false));
        assert!(decode_page(&[0xff, 0xff, 0xff], Some("text/html; charset=utf-8"), &Site::Tieba).replaced);
    }

    #[test]
    fn an_english_page_is_no_chinese_one() {
        let page = WINDOWS_1252.encode("Why don’t fish drown? – “They can’t.”").0.into_owned();
        let profile = serde_json::json!({ "item": "p", "encoding": "windows-1252" });
        let site = Site::Profile(Profile::from_json(&profile).unwrap());
        for declared in [None, Some("text/html; charset=utf-8")] {
            let text = decode_page(&page, declared, &site);
            assert_eq!(
                (text.text.as_str(), text.encoding),
                ("Why don’t fish drown? – “They can’t.”", "windows-1252")
            );
        }
        // Decoded as a Chinese page it becomes mojibake, which is detected.
        let wrong = GB18030.decode(&WINDOWS_1252.encode("Why don’t fish drown?").0).0.into_owned();
        assert_eq!((wrong.as_str(), find_glued(&wrong).as_deref()), ("Why don抰 fish drown?", Some("don抰")));
    }
}
