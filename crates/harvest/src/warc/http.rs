//! Parses an archived HTTP response: head, chunks, content-encoding.

use std::io::{self, Read};

use super::Truncated;

/// Status and fields of a response.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// The three digits.
    pub status: u16,
    /// Names as written; comparison ignores case.
    pub fields: Vec<(String, String)>,
}

impl Head {
    /// The first value of a field.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}

/// A body with its encodings undone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// At most the limit's bytes.
    pub bytes: Vec<u8>,
    /// Why it is incomplete.
    pub truncated: Option<Truncated>,
    /// A content-encoding that does not exist (`none`, `utf-8`): the bytes are as they were sent, as browsers take them.
    pub unknown: Option<String>,
}

impl Decoded {
    fn from_bytes(bytes: Vec<u8>, truncated: Option<Truncated>) -> Decoded {
        Decoded { bytes, truncated, unknown: None }
    }
}

/// Parses a response's head and returns the offset of its body. `None` if it is not an HTTP response.
pub fn parse_head(block: &[u8]) -> Option<(Head, usize)> {
    let mut lines = HeaderLines { rest: block, offset: 0 };
    let first = lines.next()?;
    let mut status_line = first.split_ascii_whitespace();
    if !status_line.next()?.starts_with("HTTP/") {
        return None;
    }
    let mut head = Head { status: status_line.next()?.parse().ok()?, fields: Vec::new() };
    for line in lines.by_ref() {
        if line.is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':') {
            head.fields.push((name.trim().into(), value.trim().into()));
        }
    }
    Some((head, lines.offset))
}

struct HeaderLines<'a> {
    rest: &'a [u8],
    offset: usize,
}

impl Iterator for HeaderLines<'_> {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        if self.rest.is_empty() {
            return None;
        }
        let end = self.rest.iter().position(|&b| b == b'\n').map_or(self.rest.len(), |at| at + 1);
        let (line, rest) = self.rest.split_at(end);
        self.rest = rest;
        self.offset += end;
        Some(String::from_utf8_lossy(line).trim_end_matches(['\r', '\n']).into())
    }
}

/// Undoes chunked transfer, then the content-encodings from the last to the first.
///
/// Archives often keep a header whose encoding their tool has already undone: bytes that are not chunked, or
/// not in that encoding, are used unchanged. The result has at most `limit` bytes; a truncated stream yields
/// what it contains. An encoding that is not known is passed over and noted.
pub fn decode_body(head: &Head, raw: &[u8], limit: u64) -> Decoded {
    let chunked = head.get("transfer-encoding").is_some_and(|v| v.to_ascii_lowercase().contains("chunked"));
    let mut decoded = match chunked.then(|| unchunk_body(raw)).flatten() {
        Some(decoded) => decoded,
        None => Decoded::from_bytes(raw.to_vec(), None),
    };
    let encodings = head.get("content-encoding").unwrap_or_default().to_ascii_lowercase();
    for encoding in encodings.split(',').map(str::trim).rev().filter(|e| !e.is_empty() && *e != "identity") {
        match undo_encoding(encoding, &decoded.bytes, limit) {
            Some(undone) => {
                decoded.truncated = undone.truncated.or(decoded.truncated);
                decoded.bytes = undone.bytes;
            }
            None => decoded.unknown = Some(encoding.to_owned()),
        }
    }
    if decoded.bytes.len() as u64 > limit {
        decoded.bytes.truncate(limit as usize);
        decoded.truncated = Some(Truncated::Length);
    }
    decoded
}

/// `None` if there is no such encoding.
fn undo_encoding(encoding: &str, bytes: &[u8], limit: u64) -> Option<Decoded> {
    let as_is = || Decoded::from_bytes(bytes.to_vec(), None);
    Some(match encoding {
        "gzip" | "x-gzip" if !bytes.starts_with(&[0x1f, 0x8b]) => as_is(),
        "gzip" | "x-gzip" => drain_reader(flate2::bufread::MultiGzDecoder::new(bytes), limit),
        // The registered meaning is zlib; some servers send the bare stream.
        "deflate" => match drain_reader(flate2::bufread::ZlibDecoder::new(bytes), limit) {
            Decoded { bytes: none, truncated: Some(_), .. } if none.is_empty() => {
                drain_reader(flate2::bufread::DeflateDecoder::new(bytes), limit)
            }
            decoded => decoded,
        },
        // Brotli has no magic number: what fails at the first byte was not brotli.
        "br" => match drain_reader(brotli_decompressor::Decompressor::new(bytes, 32 << 10), limit) {
            Decoded { bytes: none, truncated: Some(_), .. } if none.is_empty() => as_is(),
            decoded => decoded,
        },
        "zstd" if bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) => match zstd::Decoder::with_buffer(bytes) {
            Ok(decoder) => drain_reader(decoder, limit),
            Err(_) => as_is(),
        },
        "zstd" => as_is(),
        _ => return None,
    })
}

fn drain_reader(mut reader: impl Read, limit: u64) -> Decoded {
    let mut bytes = Vec::new();
    let mut chunk = [0u8; 16 << 10];
    loop {
        match reader.read(&mut chunk) {
            Ok(0) => return Decoded::from_bytes(bytes, None),
            Ok(n) => {
                let room = (limit - bytes.len() as u64).min(n as u64) as usize;
                bytes.extend_from_slice(&chunk[..room]);
                if room < n {
                    return Decoded::from_bytes(bytes, Some(Truncated::Length));
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return Decoded::from_bytes(bytes, Some(Truncated::Disconnect)),
        }
    }
}

/// `None` if the bytes are not chunked.
fn unchunk_body(mut raw: &[u8]) -> Option<Decoded> {
    let mut bytes = Vec::with_capacity(raw.len());
    let mut first = true;
    loop {
        // The line with a size is short; a body that is not chunked would be searched to its end.
        let line_end = raw.iter().take(64).position(|&b| b == b'\n');
        let size = line_end.and_then(|end| {
            let line = std::str::from_utf8(&raw[..end]).ok()?;
            usize::from_str_radix(line.split(';').next()?.trim(), 16).ok()
        });
        let (Some(end), Some(size)) = (line_end, size) else {
            if first {
                return None;
            }
            return Some(Decoded::from_bytes(bytes, Some(Truncated::Disconnect)));
        };
        raw = &raw[end + 1..];
        if size == 0 {
            return Some(Decoded::from_bytes(bytes, None));
        }
        if size > raw.len() {
            // A text may begin with hex digits by chance: then the chunk would end far after the body.
            if first && size > raw.len().saturating_mul(2) {
                return None;
            }
            bytes.extend_from_slice(raw);
            return Some(Decoded::from_bytes(bytes, Some(Truncated::Disconnect)));
        }
        bytes.extend_from_slice(&raw[..size]);
        raw = &raw[size..];
        raw = raw.strip_prefix(b"\r\n").or_else(|| raw.strip_prefix(b"\n")).unwrap_or(raw);
        first = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(fields: &[(&str, &str)]) -> Head {
        Head { status: 200, fields: fields.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect() }
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        flate2::read::GzEncoder::new(bytes, flate2::Compression::best()).read_to_end(&mut out).unwrap();
        out
    }

    #[test]
    fn heads_are_parsed_with_either_line_end() {
        for block in [&b"HTTP/1.1 404 Not Found\r\nA: b\r\n\r\nbody"[..], b"HTTP/2 404\nA:b\n\nbody"] {
            let (head, body) = parse_head(block).unwrap();
            assert_eq!((head.status, head.get("a")), (404, Some("b")));
            assert_eq!(&block[body..], b"body");
        }
        assert_eq!(parse_head(b"GET / HTTP/1.1\r\n\r\n"), None);
    }

    #[test]
    fn chunked_is_undone_before_the_content_encoding() {
        let packed = gzip("你好".as_bytes());
        let mut chunked = Vec::new();
        for part in packed.chunks(7) {
            chunked.extend_from_slice(format!("{:x};ext=1\r\n", part.len()).as_bytes());
            chunked.extend_from_slice(part);
            chunked.extend_from_slice(b"\r\n");
        }
        chunked.extend_from_slice(b"0\r\n\r\n");
        let fields = head(&[("Transfer-Encoding", "chunked"), ("Content-Encoding", "gzip")]);
        let whole = decode_body(&fields, &chunked, 100);
        assert_eq!(whole, Decoded::from_bytes("你好".into(), None));
        // Tools that undo the chunks and keep the header.
        assert_eq!(decode_body(&fields, &packed, 100), whole);
        // … and the content-encoding too.
        assert_eq!(decode_body(&fields, "你好".as_bytes(), 100), whole);
    }

    #[test]
    fn bombs_stop_at_the_limit_and_short_streams_are_marked() {
        let zeros = vec![0u8; 4 << 20];
        // 64 MiB of zeros in a hundred bytes, by the reference encoder.
        let brotli = include_bytes!("../../../../tests/fixtures/zeros-64m.br");
        let decoded = decode_body(&head(&[("content-encoding", "br")]), brotli, 1000);
        assert_eq!((decoded.bytes.len(), decoded.truncated), (1000, Some(Truncated::Length)));
        let all = decode_body(&head(&[("content-encoding", "br")]), brotli, 65 << 20);
        assert_eq!((all.bytes.len(), all.truncated), (64 << 20, None));
        let bomb = gzip(&gzip(&zeros));
        let decoded = decode_body(&head(&[("content-encoding", "gzip, gzip")]), &bomb, 1000);
        assert_eq!((decoded.bytes.len(), decoded.truncated), (1000, Some(Truncated::Length)));
        let short = &gzip(&zeros)[..200];
        let decoded = decode_body(&head(&[("content-encoding", "gzip")]), short, 8 << 20);
        assert_eq!(decoded.truncated, Some(Truncated::Disconnect));
    }

    #[test]
    fn an_encoding_that_does_not_exist_is_passed_over_and_noted() {
        for none in ["none", "utf-8", "binary", "7bit", "UTF8", "rot13"] {
            let plain = decode_body(&head(&[("content-encoding", none)]), b"x", 10);
            assert_eq!((plain.bytes.as_slice(), plain.unknown), (&b"x"[..], Some(none.to_ascii_lowercase())));
            let packed = gzip(b"x");
            let undone = decode_body(&head(&[("content-encoding", &format!("gzip, {none}"))]), &packed, 10);
            assert_eq!(undone.bytes, b"x", "{none}");
        }
    }
}
