//! The key of an endpoint: read from its environment variable when it is first needed, sent in one header (in the
//! body, where a server takes it nowhere else), and struck out of everything a server says before that is kept or shown.

use std::borrow::Cow;

use secrecy::{ExposeSecret, SecretString};

/// Printed where a key stood.
const STRUCK: &str = "[key]";

/// A key that prints nothing. Cloning shares no file, log or error with it.
#[derive(Clone, Debug)]
pub struct ApiKey(SecretString);

impl ApiKey {
    /// The value of the environment variable `name`, without surrounding white space; `None` where it is unset,
    /// empty or not Unicode.
    pub fn from_env(name: &str) -> Option<ApiKey> {
        std::env::var(name).ok().and_then(|value| ApiKey::new(&value))
    }

    /// A key from its text; `None` where it is blank.
    pub fn new(value: &str) -> Option<ApiKey> {
        let value = value.trim();
        (!value.is_empty()).then(|| ApiKey(SecretString::from(value)))
    }

    /// The one header that carries the key; `None` where it holds characters a header cannot.
    pub(super) fn bearer(&self) -> Option<reqwest::header::HeaderValue> {
        let mut value =
            reqwest::header::HeaderValue::from_str(&format!("Bearer {}", self.0.expose_secret())).ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    /// A JSON object with the key as its `api_key`, which is where LibreTranslate looks for it. Such a body is sent
    /// and dropped.
    pub(super) fn within(&self, object: &str) -> String {
        let key = serde_json::to_string(self.0.expose_secret()).unwrap_or_default();
        match object.strip_suffix('}') {
            Some(open) => format!("{open},\"api_key\":{key}}}"),
            None => object.to_owned(),
        }
    }

    /// `text` with the key struck out, also where it was escaped for JSON or a URL: some servers quote the key
    /// they refuse.
    pub fn strike<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let key = self.0.expose_secret();
        let escaped = serde_json::to_string(key).unwrap_or_default();
        let percent: String = key.bytes().map(percent_encoded).collect();
        let forms =
            [key, escaped.trim_matches('"'), &escaped.trim_matches('"').replace('/', "\\/"), &percent];
        let mut text = Cow::Borrowed(text);
        for form in forms {
            if text.contains(form) {
                text = Cow::Owned(text.replace(form, STRUCK));
            }
        }
        text
    }
}

fn percent_encoded(byte: u8) -> String {
    if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
        char::from(byte).to_string()
    } else {
        format!("%{byte:02X}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_takes_the_key_once() {
        let key = ApiKey::new("a\"b").unwrap();
        let body = key.within(r#"{"q":"水"}"#);
        assert_eq!(body, r#"{"q":"水","api_key":"a\"b"}"#);
        assert_eq!(key.strike(&body), r#"{"q":"水","api_key":"[key]"}"#);
    }

    #[test]
    fn a_key_prints_nothing_of_itself() {
        let key = ApiKey::new(" sk-verysecret \n").unwrap();
        assert!(!format!("{key:?}").contains("secret"));
        assert!(!format!("{:?}", key.bearer().unwrap()).contains("secret"));
        assert!(ApiKey::new("  ").is_none());
    }

    #[test]
    fn a_key_is_struck_out_in_every_form() {
        let key = ApiKey::new(r#"sk/a"b+c"#).unwrap();
        let text = r#"plain sk/a"b+c json sk/a\"b+c slashed sk\/a\"b+c url sk%2Fa%22b%2Bc end"#;
        assert_eq!(key.strike(text), "plain [key] json [key] slashed [key] url [key] end");
        assert!(matches!(key.strike("nothing here"), Cow::Borrowed(_)));
    }
}
