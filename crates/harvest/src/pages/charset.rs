//! From bytes to text: Tieba served GBK for years, often without saying so.

use encoding_rs::{Encoding, GB18030, UTF_8};

/// How far a `meta` element is looked for; HTML demands the first 1,024 bytes, pages disagree.
const PRESCAN: usize = 4096;

/// A page's text and how it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// The text.
    pub text: String,
    /// Name of the encoding in the Encoding Standard.
    pub encoding: &'static str,
    /// Whether bytes had to be replaced by U+FFFD.
    pub replaced: bool,
}

/// Decodes a page: byte order mark, then the header's charset, then the page's own `meta`, then
/// UTF-8, then GB18030.
///
/// A declaration under which the bytes make no sense, while another candidate reads them without a
/// fault, is taken for a mislabel.
pub fn decode(bytes: &[u8], content_type: Option<&str>) -> Text {
    if let Some((encoding, length)) = Encoding::for_bom(bytes) {
        return read(encoding, &bytes[length..]);
    }
    let declared = content_type.and_then(charset_of_type);
    let candidates = [declared, meta(bytes), Some(UTF_8), Some(GB18030)];
    let mut first = None;
    for encoding in candidates.into_iter().flatten() {
        let text = read(encoding, bytes);
        if !text.replaced {
            return text;
        }
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

fn charset_of_type(content_type: &str) -> Option<&'static Encoding> {
    let lower = content_type.to_ascii_lowercase();
    let label = lower.split_once("charset=")?.1.split([';', ',']).next()?;
    Encoding::for_label(label.trim().trim_matches(['"', '\'']).as_bytes())
}

/// `charset=` inside a `meta` tag near the start.
fn meta(bytes: &[u8]) -> Option<&'static Encoding> {
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
        assert_eq!(decode(&gbk(page), None).text, page);
        assert_eq!(decode(&gbk("弱智"), Some("text/html; charset=GB2312")).encoding, "gb18030");
        assert_eq!(decode("弱智".as_bytes(), None).encoding, "UTF-8");
        assert_eq!(decode("\u{feff}弱智".as_bytes(), Some("text/html; charset=gbk")).text, "弱智");
    }

    #[test]
    fn mislabels_are_seen_through() {
        assert_eq!(decode(&gbk("为什么下雨"), Some("text/html; charset=utf-8")).text, "为什么下雨");
        let odd = decode("三个字".as_bytes(), Some("text/html; charset=gbk"));
        assert_eq!((odd.text.as_str(), odd.replaced), ("三个字", false));
        assert!(decode(&[0xff, 0xff, 0xff], Some("text/html; charset=utf-8")).replaced);
    }
}
