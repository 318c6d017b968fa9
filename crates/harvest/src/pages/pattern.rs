//! Patterns of addresses, as in robots.txt: `*` is any run, a final `$` the end.

use url::Url;

/// A canonical spelling for each octet: percent-encoded only if necessary, in upper case. Reserved characters
/// keep their spelling.
pub(crate) fn normalise_octets(text: &[u8]) -> Vec<u8> {
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

/// Whether an address matches one of these patterns: each is compared with path and query, or with the whole
/// address if it begins with `http`.
pub fn is_any_match(patterns: &[String], url: &Url) -> bool {
    let path = &url[url::Position::BeforePath..];
    patterns.iter().any(|pattern| {
        let address = if pattern.starts_with("http") { url.as_str() } else { path };
        is_match(&normalise_octets(pattern.as_bytes()), &normalise_octets(address.as_bytes()))
    })
}

/// Patterns match from the start; `*` is any run, a final `$` the end. Linear except for backtracking to the
/// last `*`.
pub(crate) fn is_match(pattern: &[u8], path: &[u8]) -> bool {
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
