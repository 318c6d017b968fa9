//! Sitemaps: the addresses in them, and the sitemaps an index names.

use std::io::Read;

use flate2::bufread::MultiGzDecoder;

/// Addresses of pages and of further sitemaps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sitemap {
    pub pages: Vec<String>,
    pub sitemaps: Vec<String>,
}

/// Reads a sitemap's bytes, packed ones too; what is over `limit` bytes is not read.
pub(super) fn read(bytes: &[u8], limit: u64) -> Sitemap {
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return parse(&String::from_utf8_lossy(bytes));
    }
    let mut unpacked = Vec::new();
    // A stream that breaks off still gives the addresses before the break.
    let _ = MultiGzDecoder::new(bytes).take(limit).read_to_end(&mut unpacked);
    parse(&String::from_utf8_lossy(&unpacked))
}

/// Reads `<loc>` elements. An index holds them in `<sitemap>`, a sitemap in `<url>`; a plain text
/// sitemap is one address a line.
fn parse(text: &str) -> Sitemap {
    let mut found = Sitemap::default();
    if !text.contains('<') {
        found.pages =
            text.lines().map(str::trim).filter(|l| l.starts_with("http")).map(str::to_string).collect();
        return found;
    }
    let mut rest = text;
    let mut in_index = false;
    while let Some(open) = rest.find('<') {
        rest = &rest[open + 1..];
        let name = rest.split(|c: char| c == '>' || c == '/' || c.is_whitespace()).next().unwrap_or_default();
        match name {
            "sitemap" => in_index = true,
            "url" => in_index = false,
            "loc" => {
                let Some((_, after)) = rest.split_once('>') else { break };
                let Some((inner, after)) = after.split_once("</loc") else { break };
                rest = after;
                let inner = inner.trim();
                let inner =
                    inner.strip_prefix("<![CDATA[").and_then(|i| i.strip_suffix("]]>")).unwrap_or(inner);
                let address = unescape(inner.trim());
                if in_index { &mut found.sitemaps } else { &mut found.pages }.push(address);
            }
            _ => {}
        }
    }
    found
}

fn unescape(text: &str) -> String {
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&apos;", "'")
        .replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indexes_sitemaps_and_plain_lists_are_read() {
        let index = "<?xml version='1.0'?><sitemapindex><sitemap><loc> http://a/s1.xml </loc></sitemap></sitemapindex>";
        assert_eq!(parse(index).sitemaps, ["http://a/s1.xml"]);
        let map = "<urlset><url><loc>http://a/?x=1&amp;y=2</loc></url><url>\n<loc><![CDATA[http://a/b]]></loc></url></urlset>";
        assert_eq!(parse(map).pages, ["http://a/?x=1&y=2", "http://a/b"]);
        assert_eq!(parse("http://a/1\r\nhttp://a/2\n").pages, ["http://a/1", "http://a/2"]);
        assert_eq!(parse("<loc>unclosed"), Sitemap::default());
    }
}
