//! JSON as written by Python: with `NaN`, `Infinity` and `-Infinity`, which JSON lacks but published files
//! contain. The text of every value is kept, so that a row can be written exactly as it was.

use std::borrow::Cow;

pub use riddlemill_text::notation::strict_json;
use riddlemill_text::notation::string_length;
use serde_json::Value;

/// Why a text is not an object or array.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{wrong} at byte {at}")]
pub struct NotationError {
    wrong: Wrong,
    /// Byte offset from 0.
    at: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum Wrong {
    #[error("`{0}` is missing")]
    Missing(char),
    #[error("a key must be a string")]
    Key,
    #[error("no value")]
    NoValue,
    #[error("unexpected text after it")]
    More,
}

/// The members of an object in order: each key with the text of its value. A repeated key is returned twice.
///
/// # Errors
/// The byte at which the text stops being an object.
pub fn split_members(text: &str) -> Result<Vec<(String, &str)>, NotationError> {
    let mut cursor = Cursor { text, at: 0 };
    cursor.expect_byte(b'{')?;
    let mut members = Vec::new();
    if cursor.next_is(b'}') {
        return cursor.expect_end().map(|()| members);
    }
    loop {
        let key = cursor.read_value()?;
        let key: String =
            serde_json::from_str(&strict_json(key)).map_err(|_| cursor.make_error(Wrong::Key))?;
        cursor.expect_byte(b':')?;
        members.push((key, cursor.read_value()?));
        if cursor.next_is(b'}') {
            return cursor.expect_end().map(|()| members);
        }
        cursor.expect_byte(b',')?;
    }
}

/// The texts of an array's elements.
///
/// # Errors
/// The byte at which the text stops being an array.
pub fn split_elements(text: &str) -> Result<Vec<&str>, NotationError> {
    let mut cursor = Cursor { text, at: 0 };
    cursor.expect_byte(b'[')?;
    let mut elements = Vec::new();
    if cursor.next_is(b']') {
        return cursor.expect_end().map(|()| elements);
    }
    loop {
        elements.push(cursor.read_value()?);
        if cursor.next_is(b']') {
            return cursor.expect_end().map(|()| elements);
        }
        cursor.expect_byte(b',')?;
    }
}

/// The value with null in place of each such token; `None` if it is still not JSON.
pub fn parse_value(text: &str) -> Option<Value> {
    serde_json::from_str(&strict_json(text)).ok()
}

/// Whether it is JSON: it contains no such token outside of strings.
pub fn is_json(text: &str) -> bool {
    matches!(strict_json(text), Cow::Borrowed(_))
}

struct Cursor<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Cursor<'t> {
    fn skip_blanks(&mut self) {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest.iter().take_while(|b| b.is_ascii_whitespace()).count();
    }

    fn next_is(&mut self, byte: u8) -> bool {
        self.skip_blanks();
        let found = self.text.as_bytes().get(self.at) == Some(&byte);
        self.at += usize::from(found);
        found
    }

    fn expect_byte(&mut self, byte: u8) -> Result<(), NotationError> {
        if self.next_is(byte) { Ok(()) } else { Err(self.make_error(Wrong::Missing(byte.into()))) }
    }

    fn make_error(&self, wrong: Wrong) -> NotationError {
        NotationError { wrong, at: self.at }
    }

    fn expect_end(&mut self) -> Result<(), NotationError> {
        self.skip_blanks();
        if self.at == self.text.len() { Ok(()) } else { Err(self.make_error(Wrong::More)) }
    }

    /// The text of the next value, which must be JSON apart from such tokens.
    fn read_value(&mut self) -> Result<&'t str, NotationError> {
        self.skip_blanks();
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut depth = 0usize;
        while let Some(&byte) = bytes.get(self.at) {
            match byte {
                b'"' => {
                    self.at += string_length(&bytes[self.at..]);
                    continue;
                }
                b'[' | b'{' => depth += 1,
                // The kinds of brackets are not compared: the value is parsed below.
                b']' | b'}' if depth > 0 => depth -= 1,
                b']' | b'}' | b',' | b':' if depth == 0 => break,
                _ => {}
            }
            self.at += 1;
        }
        let found = self.text[start..self.at.min(self.text.len())].trim_end();
        parse_value(found).map(|_| found).ok_or(NotationError { wrong: Wrong::NoValue, at: start })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_keep_the_text_of_their_values() {
        let row = r#" {"a": NaN, "b" : [1, NaN, {"x": -Infinity}], "c":"NaN, \" }", "d": 1.0 } "#;
        let read = split_members(row).unwrap();
        let actual: Vec<(&str, &str)> = read.iter().map(|(key, text)| (key.as_str(), *text)).collect();
        let expected =
            [("a", "NaN"), ("b", r#"[1, NaN, {"x": -Infinity}]"#), ("c", r#""NaN, \" }""#), ("d", "1.0")];
        assert_eq!(actual, expected);
        let json: Vec<bool> = read.iter().map(|(_, text)| is_json(text)).collect();
        assert_eq!(json, [false, false, true, true]);
        assert_eq!(parse_value("[1, NaN]"), Some(serde_json::json!([1, null])));
        assert_eq!(strict_json(r#""NaN""#), r#""NaN""#);
        assert!(split_members("{}").unwrap().is_empty() && split_elements(" [ ] ").unwrap().is_empty());
        assert_eq!(split_elements("[{\"a\": 1}, NaN]").unwrap(), ["{\"a\": 1}", "NaN"]);
    }

    #[test]
    fn errors_name_the_byte() {
        let read_error = |text: &str| split_members(text).unwrap_err().to_string();
        assert_eq!(read_error("[1]"), "`{` is missing at byte 0");
        assert_eq!(read_error("{1: 2}"), "a key must be a string at byte 2");
        assert_eq!(read_error("{\"a\": nan}"), "no value at byte 6");
        assert_eq!(read_error("{\"a\": 1} x"), "unexpected text after it at byte 9");
    }

    #[test]
    fn what_is_neither_is_reported_and_never_panics() {
        for wrong in
            ["", "{", "{]", "{\"a\"", "{\"a\": }", "{\"a\": nan}", "{\"a\": 1} x", "{1: 2}", "{\"a\": \"x"]
        {
            assert!(split_members(wrong).is_err(), "{wrong}");
        }
        for wrong in ["", "[", "[1,]", "[NaNo]", "{}", "[\"\\"] {
            assert!(split_elements(wrong).is_err(), "{wrong}");
        }
    }
}
