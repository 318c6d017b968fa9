//! Sitemaps: the addresses in them, and the sitemaps an index names.

use std::io::Read;

use flate2::bufread::MultiGzDecoder;
use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::Event;

use crate::pages::number_of;

/// Addresses of pages and of further sitemaps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sitemap {
    pub pages: Vec<String>,
    /// For each page a number that differs when the sitemap states a change; 0 if it states nothing.
    pub marks: Vec<u64>,
    pub sitemaps: Vec<String>,
}

/// Parses a sitemap's bytes, compressed or not; anything beyond `limit` bytes is ignored.
pub(super) fn read_sitemap(bytes: &[u8], limit: u64) -> Sitemap {
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return parse_sitemap(&String::from_utf8_lossy(bytes));
    }
    let mut unpacked = Vec::new();
    // A truncated stream still gives the addresses before its end.
    let _ = MultiGzDecoder::new(bytes).take(limit).read_to_end(&mut unpacked);
    parse_sitemap(&String::from_utf8_lossy(&unpacked))
}

/// Reads `<loc>` elements, and the `<lastmod>` of pages. An index has them in `<sitemap>`, a sitemap in
/// `<url>`; a plain text sitemap has one address per line. From truncated text the part before the end is
/// used.
fn parse_sitemap(text: &str) -> Sitemap {
    let mut found = Sitemap::default();
    if !text.contains('<') {
        found.pages =
            text.lines().map(str::trim).filter(|l| l.starts_with("http")).map(str::to_string).collect();
        return found;
    }
    let mut reader = Reader::from_str(text);
    // Addresses with a bare & are common.
    reader.config_mut().check_end_names = false;
    let (mut in_index, mut inside, mut value) = (false, None, String::new());
    while let Ok(event) = reader.read_event() {
        match event {
            Event::Eof => break,
            Event::Start(start) => match start.local_name().as_ref() {
                "sitemap" => in_index = true,
                "url" => in_index = false,
                name @ ("loc" | "lastmod") => (inside, value) = (Some(name == "loc"), String::new()),
                _ => {}
            },
            Event::Text(text) => value.push_str(&text),
            Event::CData(text) => value.push_str(&text),
            Event::GeneralRef(entity) => match entity.resolve_char_ref() {
                Ok(Some(c)) => value.push(c),
                _ => value.push_str(resolve_predefined_entity(&entity).unwrap_or_default()),
            },
            Event::End(_) => match inside.take() {
                Some(true) if in_index => found.sitemaps.push(value.trim().to_owned()),
                Some(true) => {
                    found.pages.push(value.trim().to_owned());
                    found.marks.push(0);
                }
                Some(false) if !in_index => {
                    if let Some(mark) = found.marks.last_mut() {
                        *mark = number_of(value.trim());
                    }
                }
                _ => {}
            },
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indexes_sitemaps_and_plain_lists_are_read() {
        let index = "<?xml version='1.0'?><sitemapindex><sitemap><loc> http://a/s1.xml </loc></sitemap></sitemapindex>";
        assert_eq!(parse_sitemap(index).sitemaps, ["http://a/s1.xml"]);
        let map = "<urlset><url><loc>http://a/?x=1&amp;y=2</loc></url><url>\n<loc><![CDATA[http://a/b]]></loc></url></urlset>";
        assert_eq!(parse_sitemap(map).pages, ["http://a/?x=1&y=2", "http://a/b"]);
        let dated = |day: u32| {
            parse_sitemap(&format!("<urlset><url><loc>http://a/</loc><lastmod>2024-03-{day}</lastmod></url><url><loc>http://b/</loc></url></urlset>")).marks
        };
        assert!(dated(10) != dated(11) && dated(10)[1] == 0);
        assert_eq!(parse_sitemap("http://a/1\r\nhttp://a/2\n").pages, ["http://a/1", "http://a/2"]);
        assert_eq!(parse_sitemap("<loc>unclosed"), Sitemap::default());
    }
}
