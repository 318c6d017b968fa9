//! JSON as programs write it: with `NaN`, `Infinity` and `-Infinity`, which Python writes for numbers that are none, with
//! halves of surrogate pairs, which Python and JavaScript write where a text was cut inside of an emoji, and with a mark of
//! byte order before it.

use std::borrow::Cow;

use serde::de::DeserializeSeed;
use serde_json::Deserializer;

/// Tokens that are not JSON.
const BARE: [&str; 3] = ["-Infinity", "Infinity", "NaN"];

/// The text without a mark of byte order before it.
pub fn strip_byte_mark(text: &str) -> &str {
    text.trim_start_matches('\u{feff}')
}

/// What [`strict_json`] replaced in a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mended {
    /// Tokens that are now null.
    pub bare: usize,
    /// Halves of surrogate pairs that are now U+FFFD.
    pub halves: usize,
}

impl Mended {
    /// Whether anything was replaced.
    pub fn has_changes(self) -> bool {
        self.bare + self.halves > 0
    }
}

/// The text with null in place of each token that is not JSON, and with U+FFFD in place of each half of a surrogate pair.
pub fn strict_json(text: &str) -> Cow<'_, str> {
    mend_json(text).0
}

/// [`strict_json`], and how much it replaced.
pub fn mend_json(text: &str) -> (Cow<'_, str>, Mended) {
    let mut mended = Mended::default();
    let has_bare = BARE[1..].iter().any(|bare| text.contains(bare));
    let has_half = memchr::memmem::find_iter(text.as_bytes(), b"\\u")
        .any(|at| text.as_bytes().get(at + 2).is_some_and(|byte| matches!(byte, b'd' | b'D')));
    if !has_bare && !has_half {
        return (Cow::Borrowed(text), mended);
    }
    let mut strict = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => {
                let length = string_length(rest.as_bytes());
                mended.halves += copy_string(&rest[..length], &mut strict);
                rest = &rest[length..];
                continue;
            }
            _ => match BARE.iter().find(|bare| rest.starts_with(**bare)) {
                Some(bare) => {
                    strict.push_str("null");
                    rest = &rest[bare.len()..];
                    mended.bare += 1;
                    continue;
                }
                None => first.len_utf8(),
            },
        };
        strict.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    if mended.has_changes() { (Cow::Owned(strict), mended) } else { (Cow::Borrowed(text), mended) }
}

/// Reads one value and nothing behind it. JSON is read as it stands; a text that is none is read again as [`strict_json`] has it.
///
/// # Errors
/// That of the first reading: it is about the text as it stands.
pub fn read_json<T, S>(text: &str, seed: impl Fn() -> S) -> Result<(T, Mended), serde_json::Error>
where
    S: for<'de> DeserializeSeed<'de, Value = T>,
{
    let parse = |text: &str| {
        let mut reader = Deserializer::from_str(text);
        let value = seed().deserialize(&mut reader)?;
        reader.end().map(|()| value)
    };
    let text = strip_byte_mark(text);
    parse(text).map(|value| (value, Mended::default())).or_else(|error| {
        let (strict, mended) = mend_json(text);
        if !mended.has_changes() {
            return Err(error);
        }
        parse(&strict).map(|value| (value, mended)).map_err(|_| error)
    })
}

/// [`read_json`], of any type that owns what it holds.
///
/// # Errors
/// As [`read_json`].
pub fn from_str<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, serde_json::Error> {
    read_json(text, || std::marker::PhantomData).map(|(value, _)| value)
}

/// The length of the string with which the bytes begin, including its quotes; all of them if it does not end.
pub fn string_length(bytes: &[u8]) -> usize {
    let mut at = 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Copies a string; halves of surrogate pairs become U+FFFD. Returns how many.
fn copy_string(text: &str, to: &mut String) -> usize {
    let bytes = text.as_bytes();
    let (mut at, mut from, mut halves) = (0, 0, 0);
    while let Some(found) = memchr::memchr(b'\\', &bytes[at..]) {
        at += found;
        let half = parse_unit(bytes, at).filter(|unit| (0xd800..0xe000).contains(unit));
        let Some(half) = half else {
            // The escaped character may be a backslash itself.
            at = (at + 2).min(bytes.len());
            continue;
        };
        let second = parse_unit(bytes, at + 6).is_some_and(|unit| (0xdc00..0xe000).contains(&unit));
        if half < 0xdc00 && second {
            at += 12;
            continue;
        }
        to.push_str(&text[from..at]);
        to.push_str("\\ufffd");
        halves += 1;
        at += 6;
        from = at;
    }
    to.push_str(&text[from..]);
    halves
}

/// The code unit of an escape `\u1234`.
fn parse_unit(bytes: &[u8], at: usize) -> Option<u32> {
    let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
    let digits =
        std::str::from_utf8(digits).ok().filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))?;
    u32::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn halves_of_pairs_are_replaced_and_whole_pairs_are_not() {
        for (text, want) in [
            (r#""a\ud83d""#, Some("a\u{fffd}")),
            (r#""\ude00a""#, Some("\u{fffd}a")),
            (r#""\uD83D\uDE00""#, Some("😀")),
            (r#""\ud83d\ud83d\ude00""#, Some("\u{fffd}😀")),
            (r#""\\ud83d""#, Some("\\ud83d")),
            (r#""\ud83""#, None),
            (r#""\ud83d"#, None),
        ] {
            assert_eq!(from_str::<String>(text).ok().as_deref(), want, "{text}");
        }
        let (value, mended) = read_json::<serde_json::Value, _>(r#"{"a\udc00": [NaN, "NaN"]}"#, || {
            std::marker::PhantomData::<serde_json::Value>
        })
        .unwrap();
        assert_eq!(value, serde_json::json!({"a\u{fffd}": [null, "NaN"]}));
        assert_eq!(mended, Mended { bare: 1, halves: 1 });
        assert_eq!(from_str::<u8>("\u{feff}7").unwrap(), 7);
        assert!(from_str::<u8>("7 8").is_err());
    }

    proptest! {
        #[test]
        fn json_is_left_as_it_is_and_mending_is_idempotent(
            text in "(\"|\\\\u[dD][89c][0-9a]{2}|\\\\|NaN|-?Infinity|[a, {}\\[\\]:]){0,24}",
            value in "[a\\\\\"\u{1f600}\u{e9}]{0,12}",
        ) {
            let json = serde_json::json!({ "k": value }).to_string();
            prop_assert!(matches!(strict_json(&json), Cow::Borrowed(_)));
            let once = strict_json(&text).into_owned();
            let twice = strict_json(&once).into_owned();
            prop_assert_eq!(&twice, &once);
            if serde_json::from_str::<serde_json::Value>(&text).is_ok() {
                prop_assert_eq!(once, text);
            }
        }
    }
}
