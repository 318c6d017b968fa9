//! The named fields before a record's block.

/// A record's version line and fields, in the order they were written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// `WARC/1.1`, as written.
    pub version: String,
    /// Names as written; comparison ignores case.
    pub fields: Vec<(String, String)>,
}

impl Header {
    /// An empty header of version 1.1 and the given `WARC-Type`.
    pub fn new(kind: &str) -> Self {
        Header { version: "WARC/1.1".into(), fields: vec![("WARC-Type".into(), kind.into())] }
    }

    /// Adds a field. Line ends in the value become spaces, so that no value can start a new field.
    pub fn with_field(mut self, name: &str, value: impl Into<String>) -> Self {
        let value: String = value.into();
        let value = if value.contains(['\r', '\n']) { value.replace(['\r', '\n'], " ") } else { value };
        self.fields.push((name.into(), value));
        self
    }

    /// The first value of a field.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// `WARC-Type` in lower case, empty if it is missing.
    pub fn kind(&self) -> String {
        self.get("WARC-Type").unwrap_or_default().to_ascii_lowercase()
    }

    /// `WARC-Target-URI`; version 1.0 drafts put it in angle brackets.
    pub fn target_uri(&self) -> Option<&str> {
        let uri = self.get("WARC-Target-URI")?;
        Some(uri.strip_prefix('<').and_then(|u| u.strip_suffix('>')).unwrap_or(uri))
    }

    /// Parses the lines of a header without the empty line that ends it.
    ///
    /// Lines may end in LF alone and may be folded; a line without a colon is skipped, since archives of some
    /// tools contain such lines. `None` if the first line is not a version.
    pub fn parse_header(bytes: &[u8]) -> Option<Header> {
        let text = String::from_utf8_lossy(bytes);
        let mut lines = text.split('\n').map(|line| line.trim_end_matches('\r'));
        let version = lines.next()?.trim();
        if !version.starts_with("WARC/") {
            return None;
        }
        let mut fields: Vec<(String, String)> = Vec::new();
        for line in lines.filter(|line| !line.is_empty()) {
            if line.starts_with([' ', '\t']) {
                if let Some((_, value)) = fields.last_mut() {
                    value.push(' ');
                    value.push_str(line.trim());
                }
            } else if let Some((name, value)) = line.split_once(':') {
                fields.push((name.trim().into(), value.trim().into()));
            }
        }
        Some(Header { version: version.into(), fields })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_in_any_case_and_unfolded() {
        let header = Header::parse_header(b"WARC/1.0\r\nwarc-type: Response\r\nX-Long: a\r\n  b\r\nnonsense\r\nWARC-Target-URI: <http://a/>\r\n");
        let header = header.unwrap();
        assert_eq!(header.kind(), "response");
        assert_eq!(header.get("x-long"), Some("a b"));
        assert_eq!(header.target_uri(), Some("http://a/"));
        assert_eq!(Header::parse_header(b"HTTP/1.1 200 OK"), None);
    }

    #[test]
    fn a_value_cannot_start_a_new_field() {
        let header = Header::new("response").with_field("WARC-Target-URI", "http://a/\r\nWARC-Type: request");
        assert_eq!(header.get("WARC-Target-URI"), Some("http://a/  WARC-Type: request"));
    }
}
