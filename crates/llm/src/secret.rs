//! The key of an endpoint: read from its environment variable on first use, sent in one header (in the body,
//! if a server accepts it nowhere else), and removed from all responses before they are stored or shown.

mod parts;

use std::borrow::Cow;

use parts::KeyParts;
use secrecy::{ExposeSecret, SecretString};

/// Replaces a removed key.
const STRUCK: &str = "[key]";
/// Fewest characters of a key that is removed.
const SHORTEST: usize = 8;
/// How many levels of JSON within JSON strings are searched.
const NESTED: usize = 3;

/// A key whose formatted output is hidden, so that it cannot reach a file, log or error.
#[derive(Clone, Debug)]
pub struct ApiKey(SecretString);

impl ApiKey {
    /// The value of the environment variable `name`, without surrounding white space; `None` if it is unset,
    /// empty or not Unicode.
    pub fn from_env(name: &str) -> Option<ApiKey> {
        std::env::var(name).ok().and_then(|value| ApiKey::new(&value))
    }

    /// A key from its text; `None` if it is blank.
    pub fn new(value: &str) -> Option<ApiKey> {
        let value = value.trim();
        (!value.is_empty()).then(|| ApiKey(SecretString::from(value)))
    }

    /// A header with the key after a word such as `Bearer `; `None` if the key contains characters that a
    /// header cannot.
    pub(super) fn header_value(&self, word: &str) -> Option<reqwest::header::HeaderValue> {
        let value = format!("{word}{}", self.0.expose_secret());
        let mut value = reqwest::header::HeaderValue::from_str(&value).ok()?;
        // The client then leaves it out of its debug output.
        value.set_sensitive(true);
        Some(value)
    }

    /// The key without a word before it, such as the `Bearer` of a whole header: a server may quote only the
    /// key.
    pub(super) fn without_scheme(&self) -> ApiKey {
        let value = self.0.expose_secret();
        ApiKey(SecretString::from(value.rsplit(' ').next().unwrap_or(value)))
    }

    /// A JSON object with the key as its `api_key`, where LibreTranslate expects it. Such a body is sent and
    /// dropped.
    pub(super) fn insert_into_object(&self, object: &str) -> String {
        let key = serde_json::to_string(self.0.expose_secret()).unwrap_or_default();
        match object.strip_suffix('}') {
            Some(open) => format!("{open},\"api_key\":{key}}}"),
            None => object.to_owned(),
        }
    }

    /// Whether the key is too short to be removed: ordinary text may contain it, and removing `x`, for a
    /// server that wants any key, would make every reply unreadable.
    pub fn is_short(&self) -> bool {
        self.0.expose_secret().chars().count() < SHORTEST
    }

    /// `text` with the key removed: some servers quote the key they refuse, or the parts of it that they do not
    /// mask. The key and each part of eight characters are found in JSON strings after unescaping, also in JSON nested
    /// in a string; elsewhere literally, escaped for a URL or HTML, or in base64, with or without a name before it. What
    /// could be an ordinary word or number is removed only as a separate word, not inside a longer one. A key of fewer
    /// than eight characters is not removed.
    pub fn strike_key<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.is_short() {
            return Cow::Borrowed(text);
        }
        self.strike_within(text, &KeyParts::of_key(self.0.expose_secret()), NESTED)
    }

    fn strike_within<'a>(&self, text: &'a str, parts: &KeyParts, depth: usize) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        if depth > 0
            && let Some(struck) = self.strike_literals(&text, parts, depth)
        {
            text = Cow::Owned(struck);
        }
        for form in written_forms(self.0.expose_secret()) {
            if let Some(struck) = without_word(&text, &form) {
                text = Cow::Owned(struck);
            }
        }
        match parts.strike_parts(&text) {
            Some(struck) => Cow::Owned(struck),
            None => text,
        }
    }

    /// The text with the key removed from every JSON string in it; `None` if none contains it. Anything
    /// between two quotes is taken for a string: outside of JSON that is harmless, as nothing else is
    /// changed.
    fn strike_literals(&self, text: &str, parts: &KeyParts, depth: usize) -> Option<String> {
        let (mut out, mut done, mut at) = (String::new(), 0, 0);
        while let Some(open) = memchr::memchr(b'"', &text.as_bytes()[at..]).map(|found| at + found) {
            let end = closing_quote(text, open + 1);
            let literal = &text[open..end.unwrap_or(text.len())];
            // The quote that ends this string may open the next, if the text is not JSON.
            at = end.map_or(text.len(), |end| end - 1);
            // A string without a backslash is literal, and is searched with the rest.
            if memchr::memchr(b'\\', literal.as_bytes()).is_none() {
                continue;
            }
            let Some(unescaped_text) = unescape_literal(literal, end.is_some()) else { continue };
            at = end.unwrap_or(text.len());
            if let Cow::Owned(struck) = self.strike_within(&unescaped_text, parts, depth - 1) {
                let written = serde_json::to_string(&struck).unwrap_or_default();
                out.push_str(&text[done..open]);
                out.push_str(if end.is_some() { &written } else { written.trim_end_matches('"') });
                done = at;
            }
        }
        (done > 0).then(|| out + &text[done..])
    }
}

/// A text as it stands in other texts: literally, and escaped for a URL or HTML.
fn written_forms(text: &str) -> [String; 5] {
    let percent: String = text.bytes().map(percent_encoded).collect();
    let html = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;");
    let lower = percent.to_ascii_lowercase();
    let quoted = html.replace('\'', "&#39;");
    [text.to_owned(), percent, lower, html, quoted]
}

/// The value of a JSON string; of one that was cut off, the part before any cut-off escape.
fn unescape_literal(literal: &str, whole: bool) -> Option<String> {
    if whole {
        return serde_json::from_str(literal).ok();
    }
    // A character takes at most two escapes of six bytes each.
    let ends = literal.char_indices().rev().take(12).map(|(at, _)| at);
    std::iter::once(literal.len())
        .chain(ends)
        .find_map(|end| serde_json::from_str(&format!("{}\"", &literal[..end])).ok())
}

/// The byte after the quote that ends a JSON string, given the byte after the opening one.
fn closing_quote(text: &str, from: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = from;
    loop {
        at += memchr::memchr2(b'"', b'\\', &bytes[at..])?;
        match bytes[at] {
            b'"' => return Some(at + 1),
            _ if at + 2 > bytes.len() => return None,
            _ => at += 2,
        }
        if at > bytes.len() {
            return None;
        }
    }
}

/// Whether a word goes on with it.
fn is_letter(c: Option<char>) -> bool {
    c.is_some_and(|c| c.is_alphanumeric() || c == '_')
}

/// The text with every whole word equal to `word` replaced; `None` if there is none.
fn without_word(text: &str, word: &str) -> Option<String> {
    let (first, last) = (is_letter(word.chars().next()), is_letter(word.chars().next_back()));
    let (mut out, mut done) = (String::new(), 0);
    for (at, _) in text.match_indices(word) {
        let (before, after) = (text[..at].chars().next_back(), text[at + word.len()..].chars().next());
        let in_a_word = first && is_letter(before) || last && is_letter(after);
        if !in_a_word {
            out.push_str(&text[done..at]);
            out.push_str(STRUCK);
            done = at + word.len();
        }
    }
    (done > 0).then(|| out + &text[done..])
}

pub(super) fn percent_encoded(byte: u8) -> String {
    if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
        char::from(byte).to_string()
    } else {
        format!("%{byte:02X}")
    }
}

/// The named variables whose keys are too short to be removed; users are warned once per command.
pub fn short_keys<'n>(names: impl IntoIterator<Item = &'n str>) -> Vec<&'n str> {
    let mut short: Vec<&str> =
        names.into_iter().filter(|name| ApiKey::from_env(name).is_some_and(|key| key.is_short())).collect();
    short.sort_unstable();
    short.dedup();
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_takes_the_key_once() {
        let key = ApiKey::new("abcdef\"b").unwrap();
        let body = key.insert_into_object(r#"{"q":"水"}"#);
        assert_eq!(body, r#"{"q":"水","api_key":"abcdef\"b"}"#);
        assert_eq!(key.strike_key(&body), r#"{"q":"水","api_key":"[key]"}"#);
    }

    #[test]
    fn a_key_prints_nothing_of_itself() {
        let key = ApiKey::new(" sk-verysecret \n").unwrap();
        assert!(!format!("{key:?}").contains("secret"));
        assert!(!format!("{:?}", key.header_value("Bearer ").unwrap()).contains("secret"));
        assert!(ApiKey::new("  ").is_none());
    }

    #[test]
    fn a_key_is_struck_out_in_every_form() {
        let key = ApiKey::new(r#"sk/a"b+c"#).unwrap();
        let text = r#"plain sk/a"b+c url sk%2Fa%22b%2Bc or sk%2fa%22b%2bc html sk/a&quot;b+c end"#;
        assert_eq!(key.strike_key(text), "plain [key] url [key] or [key] html [key] end");
        assert!(matches!(key.strike_key("nothing here"), Cow::Borrowed(_)));
        let json = |key_text: &str| format!(r#"{{"error": "key {key_text} is none", "b": "a\n"}}"#);
        for escaped in
            [r#"sk/a\"b+c"#, r#"sk\/a\"b+c"#, r#"sk/a\u0022b+c"#, r#"\u0073k\u002fa\u0022\u0062+c"#]
        {
            assert_eq!(key.strike_key(&json(escaped)), json("[key]"), "{escaped}");
        }
        // Another server's answer inside this one's, as an event of a stream.
        let inner = serde_json::to_string(&json(r#"sk\/a\"b+c"#)).unwrap();
        let cut = r#"{"error": "key sk\/a\u0022b+c is no\u00"#;
        assert!(key.strike_key(cut).starts_with(r#"{"error": "key [key] is no"#), "{}", key.strike_key(cut));
        let outer = format!("data: {{\"message\": {inner}}}\n\ndata: [DONE]\n");
        assert!(!key.strike_key(&outer).contains("b+c"), "{}", key.strike_key(&outer));
        assert!(key.strike_key(&outer).starts_with("data: {\"message\": \"{"));
    }

    #[test]
    fn a_key_is_a_word_and_a_short_one_is_none() {
        let key = ApiKey::new("password").unwrap();
        assert_eq!(
            key.strike_key("the passwords, a mypassword: password"),
            "the passwords, a mypassword: [key]"
        );
        for short in ["x", "EMPTY", "sk-1234"] {
            let key = ApiKey::new(short).unwrap();
            let reply = format!("{{\"text\": \"x EMPTY sk-1234 {short}\"}}");
            assert!(key.is_short() && key.strike_key(&reply) == reply);
        }
        assert!(!ApiKey::new("12345678").unwrap().is_short());
    }

    #[test]
    fn half_a_string_is_no_reason_to_stop() {
        let key = ApiKey::new("sk-12345\"6").unwrap();
        for text in ["\"", "\\", "\"\\", "\"a\\", "say \"hi", "\"\"\"", "a \"b\\\" c", "\"\\u12"] {
            assert_eq!(key.strike_key(text), text);
        }
    }
}
