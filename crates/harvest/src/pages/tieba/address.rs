//! Canonical addresses: one per page, however it was linked.

use std::fmt;

use encoding_rs::{GB18030, UTF_8};
use url::Url;

/// A page of a forum.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Address {
    /// A page of a forum's list of threads.
    List {
        /// The forum, decoded.
        forum: String,
        /// Recommended threads only.
        good: bool,
        /// Class of recommended threads.
        cid: Option<u64>,
        /// Offset in threads; a page steps by 50.
        offset: u64,
    },
    /// A page of a thread, counted from 1.
    Thread {
        /// Thread.
        tid: u64,
        /// Page.
        page: u64,
    },
    /// The first comments of every floor of a thread's page, as JSON.
    TotalComment {
        /// Thread.
        tid: u64,
        /// Forum's number.
        fid: u64,
        /// Page of the thread.
        page: u64,
    },
    /// One page of the comments under one floor.
    Comment {
        /// Thread.
        tid: u64,
        /// The floor's post.
        pid: u64,
        /// Page of comments.
        page: u64,
    },
}

impl Address {
    /// Parses an address. The host is ignored, since mirrors and archives have their own; `fr`, `see_lz`,
    /// fragments and other decorations of links are dropped.
    pub fn parse_address(url: &Url) -> Option<Address> {
        let path = url.path().trim_end_matches('/');
        let value = |name: &str| raw_query(url, name).map(|bytes| decode_guess(&bytes));
        let number = |name: &str| value(name).and_then(|text| text.trim().parse::<u64>().ok());
        // `pn=0` is the first page too.
        let page = number("pn").unwrap_or(1).max(1);
        match path {
            "/f" => Some(Address::List {
                forum: forum_name(url)?,
                good: value("tab").as_deref() == Some("good"),
                // `cid=0` is every class, the same list as without it.
                cid: number("cid").filter(|&cid| cid != 0),
                offset: number("pn").unwrap_or(0),
            }),
            "/p/totalComment" => {
                Some(Address::TotalComment { tid: number("tid")?, fid: number("fid")?, page })
            }
            "/p/comment" => Some(Address::Comment { tid: number("tid")?, pid: number("pid")?, page }),
            _ => {
                let tid = path.strip_prefix("/p/")?.parse().ok()?;
                Some(Address::Thread { tid, page })
            }
        }
    }

    /// The canonical form on the host and scheme of `base`.
    pub fn url_on_base(&self, base: &Url) -> Option<Url> {
        base.join(&self.to_string()).ok()
    }
}

/// Path and query in canonical form.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let paged = |page: u64| if page > 1 { format!("&pn={page}") } else { String::new() };
        match self {
            Address::List { forum, good, cid, offset } => {
                let kw: String = url::form_urlencoded::byte_serialize(forum.as_bytes()).collect();
                write!(f, "/f?kw={kw}&ie=utf-8")?;
                if *good {
                    f.write_str("&tab=good")?;
                }
                if let Some(cid) = cid {
                    write!(f, "&cid={cid}")?;
                }
                if *offset > 0 {
                    write!(f, "&pn={offset}")?;
                }
                Ok(())
            }
            Address::Thread { tid, page } if *page > 1 => write!(f, "/p/{tid}?pn={page}"),
            Address::Thread { tid, .. } => write!(f, "/p/{tid}"),
            Address::TotalComment { tid, fid, page } => {
                write!(f, "/p/totalComment?tid={tid}&fid={fid}{}", paged(*page))
            }
            Address::Comment { tid, pid, page } => {
                write!(f, "/p/comment?tid={tid}&pid={pid}{}", paged(*page))
            }
        }
    }
}

/// The forum's name: `kw`, in the encoding that `ie` names, else UTF-8, else GB18030.
fn forum_name(url: &Url) -> Option<String> {
    let bytes = raw_query(url, "kw")?;
    let ie = raw_query(url, "ie").map(|ie| ie.to_ascii_lowercase()).unwrap_or_default();
    let text = match ie.as_slice() {
        b"utf-8" | b"utf8" => UTF_8.decode_without_bom_handling(&bytes).0.into_owned(),
        b"gbk" | b"gb2312" | b"gb18030" => GB18030.decode_without_bom_handling(&bytes).0.into_owned(),
        _ => decode_guess(&bytes),
    };
    Some(text).filter(|name| !name.is_empty())
}

fn decode_guess(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_string(),
        Err(_) => GB18030.decode_without_bom_handling(bytes).0.into_owned(),
    }
}

/// A parameter's bytes with percent-encoding and `+` undone: their encoding is not known yet, so the usual
/// query parsers cannot be used.
fn raw_query(url: &Url, name: &str) -> Option<Vec<u8>> {
    let value = url.query()?.split('&').find_map(|pair| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        (key == name).then_some(value)
    })?;
    let value = value.as_bytes();
    let mut bytes = Vec::with_capacity(value.len());
    let mut at = 0;
    while at < value.len() {
        match (value[at], hex_pair(&value[at + 1..])) {
            (b'%', Some(decoded)) => {
                bytes.push(decoded);
                at += 2;
            }
            (b'+', _) => bytes.push(b' '),
            (byte, _) => bytes.push(byte),
        }
        at += 1;
    }
    Some(bytes)
}

fn hex_pair(bytes: &[u8]) -> Option<u8> {
    let digit = |at: usize| bytes.get(at).and_then(|&b| (b as char).to_digit(16));
    Some((digit(0)? * 16 + digit(1)?) as u8)
}

/// The thread number in a link: `/p/<number>?fr=good`, with anything before and after. None of a number that a spreadsheet rounded:
/// `/p/1.47E+11`.
pub fn thread_id(link: &str) -> Option<u64> {
    let start = link.as_bytes().windows(3).position(|window| window == b"/p/")? + 3;
    let digits = &link[start..];
    let end = digits.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(digits.len());
    let goes_on =
        digits[end..].starts_with(|c: char| c.is_alphanumeric() || matches!(c, '.' | ',' | '+' | '-' | '_'));
    digits[..end].parse().ok().filter(|_| !goes_on)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(url: &str) -> Option<String> {
        Some(Address::parse_address(&Url::parse(url).unwrap())?.to_string())
    }

    #[test]
    fn decorations_do_not_make_another_page() {
        for url in [
            "https://tieba.baidu.com/p/8370518555",
            "http://tieba.baidu.com/p/8370518555?fr=good#139203178916l",
            "https://tieba.baidu.com/p/8370518555?pn=1&see_lz=0",
            "https://tieba.baidu.com/p/8370518555/?red_tag=1",
        ] {
            assert_eq!(canonical(url).as_deref(), Some("/p/8370518555"), "{url}");
        }
        assert_eq!(canonical("https://tieba.baidu.com/p/1?pn=3&fr=x").as_deref(), Some("/p/1?pn=3"));
        assert_eq!(canonical("https://tieba.baidu.com/p/abc"), None);
        assert_eq!(canonical("https://tieba.baidu.com/home/main?id=1"), None);
    }

    #[test]
    fn a_rounded_number_is_no_threads() {
        for (link, id) in [
            ("/p/147346?fr=good", Some(147_346)),
            ("https://tieba.baidu.com/p/147346/", Some(147_346)),
            ("/p/147346#1l", Some(147_346)),
            ("/p/1.47E+11", None),
            ("/p/1,47E+11?fr=good", None),
            ("/p/1E+11", None),
            ("/p/147346.0", None),
            ("/p/nan", None),
            ("/p/", None),
        ] {
            assert_eq!(thread_id(link), id, "{link}");
        }
    }

    #[test]
    fn forum_names_are_read_in_their_own_encoding() {
        let want = Some("/f?kw=%E5%BC%B1%E6%99%BA&ie=utf-8".to_string());
        assert_eq!(canonical("https://tieba.baidu.com/f?kw=%E5%BC%B1%E6%99%BA&ie=utf-8&pn=0"), want);
        assert_eq!(canonical("https://tieba.baidu.com/f?kw=%C8%F5%D6%C7"), want);
        assert_eq!(canonical("https://tieba.baidu.com/f?ie=gbk&kw=%C8%F5%D6%C7&fr=home"), want);
        assert_eq!(canonical("https://tieba.baidu.com/f?kw=弱智"), want);
        assert_eq!(
            canonical("https://tieba.baidu.com/f?kw=a+b%2&tab=good&cid=0&pn=50").as_deref(),
            Some("/f?kw=a+b%252&ie=utf-8&tab=good&pn=50")
        );
    }

    #[test]
    fn nested_reply_addresses_survive_a_round_trip() {
        for path in
            ["/p/totalComment?tid=1&fid=2", "/p/totalComment?tid=1&fid=2&pn=3", "/p/comment?tid=1&pid=2&pn=2"]
        {
            assert_eq!(canonical(&format!("http://x{path}&t=99")).as_deref(), Some(path));
        }
        assert_eq!(canonical("http://x/p/comment?tid=1"), None);
    }
}
