//! A page that a browser saved together with what belongs to it, as one message of several parts (MHTML).

use mailparse::{MailHeaderMap, ParsedMail};

/// The page of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saved {
    /// Its bytes, in the encoding that it states.
    pub body: Vec<u8>,
    /// Its `Content-Type`.
    pub content_type: Option<String>,
    /// Its address.
    pub url: Option<String>,
}

/// Why a message has no page.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MhtmlError {
    /// It is no whole message.
    #[error("the saved page (MHTML) is damaged: {0}")]
    Damaged(String),
    /// None of its parts is one.
    #[error("the saved page (MHTML) has no part that is HTML; was it saved to its end?")]
    NoHtml,
}

/// Whether bytes begin like such a message.
pub fn is_mhtml(head: &[u8]) -> bool {
    let head = String::from_utf8_lossy(&head[..head.len().min(4096)]).to_ascii_lowercase();
    let field = head.trim_start_matches('\u{feff}').split(':').next().unwrap_or_default();
    let named = !field.is_empty()
        && field.len() < 40
        && field.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    let page = head.contains("multipart/related") || head.contains("content-type: text/html");
    named && page && head.contains("mime-version:")
}

/// The page that a message is about: the first one in it.
///
/// # Errors
/// What is wrong with it.
pub fn main_page(bytes: &[u8]) -> Result<Saved, MhtmlError> {
    let mail = mailparse::parse_mail(bytes).map_err(|error| MhtmlError::Damaged(error.to_string()))?;
    let found = find_html_part(&mail, 0).ok_or(MhtmlError::NoHtml)?;
    let body = found.get_body_raw().map_err(|error| MhtmlError::Damaged(error.to_string()))?;
    let address = |part: &ParsedMail<'_>, name: &str| part.headers.get_first_value(name);
    let url = address(&mail, "Snapshot-Content-Location")
        .or_else(|| address(found, "Content-Location"))
        .or_else(|| address(&mail, "Content-Location"))
        .map(|url| url.trim().to_owned())
        .filter(|url| url.starts_with("http"));
    Ok(Saved { body, content_type: found.headers.get_first_value("Content-Type"), url })
}

fn find_html_part<'m, 'a>(part: &'m ParsedMail<'a>, depth: usize) -> Option<&'m ParsedMail<'a>> {
    if matches!(part.ctype.mimetype.as_str(), "text/html" | "application/xhtml+xml") {
        return Some(part);
    }
    if depth > 8 {
        return None;
    }
    part.subparts.iter().find_map(|part| find_html_part(part, depth + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_of_a_message_has_its_bytes_and_its_address() {
        let gbk = encoding_rs::GB18030.encode("<meta charset=gbk><p>冰箱会感冒吗").0.into_owned();
        let quoted: String = gbk.iter().map(|byte| format!("={byte:02X}")).collect();
        let message = format!(
            "From: <Saved by Blink>\r\nSnapshot-Content-Location: https://a.example/1\r\nMIME-Version: 1.0\r\nContent-Type: multipart/related; type=\"text/html\"; boundary=\"--b\"\r\n\r\n\r\n----b\r\nContent-Type: text/css\r\nContent-Location: https://a.example/c\r\n\r\np {{}}\r\n----b\r\nContent-Type: text/html\r\nContent-Transfer-Encoding: quoted-printable\r\nContent-Location: https://a.example/2\r\n\r\n{quoted}\r\n----b--\r\n"
        );
        assert!(is_mhtml(message.as_bytes()) && !is_mhtml(b"<p>MIME-Version: multipart/related"));
        let saved = main_page(message.as_bytes()).unwrap();
        assert_eq!(saved.url.as_deref(), Some("https://a.example/1"));
        assert!(saved.body.starts_with(&gbk), "{:?}", saved.body);
        let none = message.replace("text/html\r\n", "text/plain\r\n");
        assert!(main_page(none.as_bytes()).unwrap_err() == MhtmlError::NoHtml);
    }
}
