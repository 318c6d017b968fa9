//! Fields that one crawler wrote as numbers and another as strings.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::known_columns::NAMES;
use super::native_id::{as_meant, is_no_value};

/// A string, or a number as it would be written; anything else is absent. Numbers never pass
/// through a float: ids are whole or they are text.
pub(super) fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(LooseText.deserialize(deserializer)?.map(Cow::into_owned))
}

/// A text, or a number in the digits that it was written in: an id never passes through a float. A whole number written as a
/// decimal one is that number.
pub(super) fn id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let written = Digits.deserialize(deserializer)?;
    Ok(written.map(|id| as_meant(&id).map_or_else(|_| id.to_string(), Cow::into_owned)))
}

/// [`LooseText`] with numbers in the digits that they were written in.
#[derive(Clone, Copy)]
pub(super) struct Digits;

impl<'de> DeserializeSeed<'de> for Digits {
    type Value = Option<Cow<'de, str>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        let raw = <&'de RawValue>::deserialize(deserializer)?.get();
        match raw.as_bytes().first() {
            Some(b'"') => {
                LooseText.deserialize(&mut serde_json::Deserializer::from_str(raw)).map_err(D::Error::custom)
            }
            Some(b'-' | b'0'..=b'9') => Ok(Some(Cow::Borrowed(raw))),
            Some(b'{') => serde_json::Deserializer::from_str(raw)
                .deserialize_map(Unwrapped(Digits))
                .map_err(D::Error::custom),
            Some(b'[') => Ok(in_segments(raw).map(Cow::Owned)),
            _ => Ok(None),
        }
    }
}

/// A text that is written in segments, as messengers write one with links in it:
/// `["see ", {"type": "link", "text": "example.org"}, "!"]`. `None` of any other list.
fn in_segments(list: &str) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Segment {
        Plain(String),
        Marked { text: String },
    }
    let segments: Vec<Segment> = serde_json::from_str(list).ok()?;
    // A list of one is that one: `"author": ["…"]`.
    if let [Segment::Plain(text)] = segments.as_slice() {
        return Some(text.clone());
    }
    segments.iter().any(|segment| matches!(segment, Segment::Marked { .. })).then(|| {
        let text = |segment| match segment {
            Segment::Plain(text) | Segment::Marked { text } => text,
        };
        segments.into_iter().map(text).collect()
    })
}

/// Of names with points those that go on inside of a member: `name` of `author.name` for `author`.
pub(super) fn paths_within<'n>(names: impl Iterator<Item = &'n str>, member: &str) -> Vec<&'n str> {
    names.filter_map(|name| name.trim().strip_prefix(member.trim())?.strip_prefix('.')).collect()
}

/// The value at a path of keys with points between them, as [`Digits`] reads it.
pub(super) fn value_within(object: &RawValue, path: &str) -> Option<String> {
    let (key, rest) = path.split_once('.').unwrap_or((path, ""));
    let members: BTreeMap<Cow<'_, str>, &RawValue> = serde_json::from_str(object.get()).ok()?;
    let value = members.get(key)?;
    match rest {
        "" => Digits
            .deserialize(&mut serde_json::Deserializer::from_str(value.get()))
            .ok()?
            .map(Cow::into_owned),
        rest => value_within(value, rest),
    }
}

/// The value in an object that wraps one, as [`LooseText`] or [`Digits`] reads it.
struct Unwrapped<S>(S);

impl<'de, S: DeserializeSeed<'de, Value = Option<Cow<'de, str>>> + Copy> Visitor<'de> for Unwrapped<S> {
    type Value = Option<Cow<'de, str>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (mut wrapped, mut named) = (None, None);
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                key if WRAPPED.contains(&key) => wrapped = map.next_value_seed(self.0)?,
                key if named.is_none() && NAMES.contains(&key) => named = map.next_value_seed(self.0)?,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(wrapped.or(named))
    }
}

/// [`text`] of a value that is read already.
pub(super) fn plain_text(value: &Value) -> Option<String> {
    match value {
        Value::String(s) => Some(s.clone()),
        Value::Number(n) => Some(n.to_string()),
        _ => None,
    }
}

/// Keys in which databases of documents wrap the values that JSON has no type for.
const WRAPPED: [&str; 6] = ["$oid", "$numberLong", "$numberInt", "$numberDouble", "$numberDecimal", "$date"];

/// [`text`] that need not be copied where it is in the item as it reads.
#[derive(Clone, Copy)]
pub(super) struct LooseText;

impl<'de> DeserializeSeed<'de> for LooseText {
    type Value = Option<Cow<'de, str>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for LooseText {
    type Value = Option<Cow<'de, str>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Some(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Some(Cow::Owned(text.to_string())))
    }

    fn visit_u64<E>(self, n: u64) -> Result<Self::Value, E> {
        Ok(Some(Cow::Owned(n.to_string())))
    }

    fn visit_i64<E>(self, n: i64) -> Result<Self::Value, E> {
        Ok(Some(Cow::Owned(n.to_string())))
    }

    fn visit_f64<E>(self, x: f64) -> Result<Self::Value, E> {
        Ok(plain_text(&Value::from(x)).map(Cow::Owned))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        Unwrapped(self).visit_map(map)
    }
}

/// true, 1, and what programs write for them: `"true"`, `TRUE`, `1.0`, `yes`, `是`; likewise false. Any other word is an error: taken
/// for false, it would make another post of this one in silence.
pub(super) fn flag<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    let written = match Value::deserialize(deserializer)? {
        Value::Bool(flag) => return Ok(flag),
        Value::Null => return Ok(false),
        Value::String(written) => written,
        other => other.to_string(),
    };
    match written.trim().to_lowercase().as_str() {
        "1" | "1.0" | "true" | "t" | "yes" | "y" | "on" | "是" | "真" | "对" | "√" | "✓" => Ok(true),
        "" | "0" | "0.0" | "false" | "f" | "no" | "n" | "off" | "否" | "不是" | "假" | "错" | "×" | "✗"
        | "-" => Ok(false),
        written if is_no_value(written) => Ok(false),
        _ => Err(D::Error::custom(format!("{written:?} is neither true nor false"))),
    }
}

/// The length of a list; anything else has none.
pub(super) fn length<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    Ok(Value::deserialize(deserializer)?.as_array().map_or(0, |list| list.len() as u64))
}

/// A number, or a string that reads as one; what is not finite is absent.
pub(super) fn real<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    Ok(match Value::deserialize(deserializer)? {
        Value::Number(n) => n.as_f64(),
        Value::String(s) => parse_number(&s),
        _ => None,
    })
}

/// A number as people and sites write it: `1,204`, `1 204`, `3k`, `1.2万`, `10万+`.
pub(super) fn parse_number(written: &str) -> Option<f64> {
    let narrow = |c: char| match c {
        '０'..='９' => char::from_u32(c as u32 - '０' as u32 + '0' as u32).unwrap_or(c),
        '，' => ',',
        // Sites part groups of digits by blanks that do not break.
        '\u{a0}' | '\u{202f}' | '\u{2009}' => ' ',
        c => c,
    };
    let text: String = written.replace("&nbsp;", " ").chars().map(narrow).collect();
    let text = text.trim().trim_start_matches('+').trim_end_matches('+');
    let (text, times) = match text.char_indices().last() {
        Some((at, 'k' | 'K' | '千')) => (&text[..at], 1e3),
        Some((at, 'w' | 'W' | '万' | '萬')) => (&text[..at], 1e4),
        Some((at, 'm' | 'M')) => (&text[..at], 1e6),
        Some((at, '亿' | '億')) => (&text[..at], 1e8),
        _ => (text, 1.0),
    };
    let text = text.trim();
    let plain = match text.split_once([',', ' ']) {
        // Groups of three digits, and nothing else with a comma: it could be a decimal one.
        Some((first, rest)) => {
            let mut groups = rest.split('.').next().unwrap_or_default().split([',', ' ']);
            let grouped = (1..=4).contains(&first.len()) && groups.all(|group| group.len() == 3);
            grouped.then(|| text.replace([',', ' '], ""))?
        }
        None => text.to_owned(),
    };
    let number: f64 = plain.parse().ok()?;
    // 1.2 is not exact in binary: without rounding, 1.2万 would be a little less than 12,000.
    let number = if times > 1.0 { (number * times * 1e3).round() / 1e3 } else { number };
    Some(number).filter(|number| number.is_finite())
}

/// Seconds since 1970, as a number, a string, or either with a fraction that is cut.
pub(super) fn seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let written = text(deserializer)?;
    Ok(written.map(|time| match time.split_once('.') {
        Some((whole, fraction)) if fraction.bytes().all(|b| b.is_ascii_digit()) => whole.to_string(),
        _ => time,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_people_write_them() {
        for (written, want) in [
            ("3k", Some(3000.0)),
            ("1.2万", Some(12000.0)),
            ("10万+", Some(100_000.0)),
            ("1.2 W", Some(12000.0)),
            ("1\u{a0}204", Some(1204.0)),
            ("1&nbsp;204", Some(1204.0)),
            ("&nbsp;12&nbsp;", Some(12.0)),
            ("１，２０４", Some(1204.0)),
            ("1,5", None),
            ("12", Some(12.0)),
            ("-1,234,567.5", Some(-1_234_567.5)),
            ("many", None),
            ("", None),
        ] {
            assert_eq!(parse_number(written), want, "{written}");
        }
        let read = |json: &str| real(&mut serde_json::Deserializer::from_str(json)).unwrap();
        assert_eq!((read("\"1,204\""), read("\"3k\""), read("7")), (Some(1204.0), Some(3000.0), Some(7.0)));
    }

    #[test]
    fn a_text_is_that_of_the_whole_value_and_not_copied_where_it_need_not_be() {
        let items = [
            "\"云\"",
            "\"a\\nb\"",
            "7",
            "-7",
            "18446744073709551615",
            "18446744073709551616",
            "1.50",
            "1e3",
            "true",
            "null",
            "[1, [2]]",
            "{\"a\": {\"b\": 1}}",
            "\"",
            "[1",
            "nul",
        ];
        for item in items {
            let whole = serde_json::from_str(item).map(|value| plain_text(&value));
            let read = text(&mut serde_json::Deserializer::from_str(item));
            assert_eq!(read.ok(), whole.ok(), "{item}");
        }
        for (item, read) in [
            ("7", "7"),
            ("9100000001.0", "9100000001"),
            ("123456789012345678901234567890", "123456789012345678901234567890"),
            ("123456789012345678.0", "123456789012345678.0"),
            ("\"9100000001.0\"", "9100000001"),
            ("\"a\\u4e91\"", "a云"),
        ] {
            let id = id(&mut serde_json::Deserializer::from_str(item));
            assert_eq!(id.ok().flatten().as_deref(), Some(read), "{item}");
        }
        let segments = r#"["see ", {"type": "link", "text": "x.org"}, "!"]"#;
        let of = |json: &str| {
            let read = Digits.deserialize(&mut serde_json::Deserializer::from_str(json)).unwrap();
            read.map(Cow::into_owned)
        };
        assert_eq!(of(segments).as_deref(), Some("see x.org!"));
        assert_eq!([of(r#"["a", "b"]"#), of(r#"[{"text": 1}]"#), of("[]")], [None, None, None]);
        let wrapped = r#"{"$date": {"$numberLong": "1704067200000"}}"#;
        let read = text(&mut serde_json::Deserializer::from_str(wrapped)).unwrap();
        assert_eq!(read.as_deref(), Some("1704067200000"));
        let borrowed = LooseText.deserialize(&mut serde_json::Deserializer::from_str("\"云\""));
        assert!(matches!(borrowed, Ok(Some(Cow::Borrowed("云")))));
    }
}
