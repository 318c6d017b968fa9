//! Patterns of addresses, of the kind that robots.txt has: `*` is any run, `$` at the end the end.

use url::Url;

/// One spelling for each octet: what need not be percent-encoded is not, everything else is, in
/// upper case. Reserved characters keep the spelling they have.
pub(crate) fn normal(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let digit = |offset: usize| text.get(at + offset).and_then(|&b| (b as char).to_digit(16));
        match (text[at], digit(1), digit(2)) {
            (b'%', Some(high), Some(low)) => {
                let byte = (high * 16 + low) as u8;
                if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
                    out.push(byte);
                } else {
                    out.extend_from_slice(format!("%{byte:02X}").as_bytes());
                }
                at += 2;
            }
            (byte, _, _) if byte.is_ascii_graphic() => out.push(byte),
            (byte, _, _) => out.extend_from_slice(format!("%{byte:02X}").as_bytes()),
        }
        at += 1;
    }
    out
}

/// Whether an address matches one of these patterns: each is of path and query, or of the whole address where it begins
/// with `http`.
pub fn any(patterns: &[String], url: &Url) -> bool {
    let path = &url[url::Position::BeforePath..];
    patterns.iter().any(|pattern| {
        let address = if pattern.starts_with("http") { url.as_str() } else { path };
        matches(&normal(pattern.as_bytes()), &normal(address.as_bytes()))
    })
}

/// Patterns match from the start; `*` is any run, `$` at the end the end. Linear but for the
/// last `*`, to which it goes back.
pub(crate) fn matches(pattern: &[u8], path: &[u8]) -> bool {
    let (pattern, to_end) = match pattern.strip_suffix(b"$") {
        Some(pattern) => (pattern, true),
        None => (pattern, false),
    };
    let (mut p, mut s) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    loop {
        if p == pattern.len() && (!to_end || s == path.len()) {
            return true;
        }
        if pattern.get(p) == Some(&b'*') {
            star = Some((p + 1, s));
            p += 1;
        } else if p < pattern.len() && path.get(s) == Some(&pattern[p]) {
            (p, s) = (p + 1, s + 1);
        } else if let Some((after, from)) = star.filter(|&(_, from)| from < path.len()) {
            star = Some((after, from + 1));
            (p, s) = (after, from + 1);
        } else {
            return false;
        }
    }
}
