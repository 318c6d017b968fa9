//! A JSON object somewhere in a reply.

use std::borrow::Cow;

use riddlemill_benchmarks::notation;
use riddlemill_text::text::clean::debris::without_noise;
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::Unreadable;
use super::mended::{self, MAX_DEPTH, Pair};
use super::repeated::repeated_key;

/// Most opening braces that are tried in one reply.
const MAX_STARTS: usize = 64;

/// The one object of a reply that has all of `keys`, which may be wrapped in another one. Fences and prose
/// around it, single quotes, bare keys, comments and trailing commas are accepted, and slips that leave no
/// doubt; other keys are kept.
///
/// # Errors
/// If no object has the keys, or two different ones do, or one has two different values for a key.
pub fn parse_object(reply: &str, keys: &[&str]) -> Result<Map<String, Value>, Unreadable> {
    let reply = &*without_halves(reply);
    let mut found: Option<Map<String, Value>> = None;
    let mut any = false;
    let mut at = 0;
    for _ in 0..MAX_STARTS {
        let Some(start) = reply[at..].find('{').map(|offset| at + offset) else { break };
        let Some((map, end)) = object_at(reply, start) else {
            // A brace in prose is skipped, and an object may still open inside it.
            at = start + 1;
            continue;
        };
        any = true;
        at = end;
        let mut with_keys = Vec::new();
        find_within(map, keys, &mut with_keys);
        for map in with_keys {
            match &found {
                // The same object twice, for example as a draft and as the result, is unambiguous.
                Some(other) if *other != map => {
                    return Err(Unreadable::new("the reply holds two different JSON objects"));
                }
                _ => found = Some(map),
            }
        }
    }
    found.ok_or_else(|| {
        let lacks = match any {
            true => format!("the JSON object must have the keys {}", quote_keys(keys)),
            false => format!("the reply holds no JSON object with the keys {}", quote_keys(keys)),
        };
        match repeated_name(reply) {
            Some(key) => {
                let what = format!("the JSON object gives the key \"{key}\" two different values");
                Unreadable::new(what).said_before(lacks)
            }
            None => Unreadable::new(lacks),
        }
    })
}

/// The key that an object of the reply gives two different values.
fn repeated_name(reply: &str) -> Option<String> {
    let starts = reply.match_indices('{').take(MAX_STARTS);
    starts.map(|(start, _)| &reply[start..]).find_map(|rest| {
        let ends = [closing_brace(rest, true), closing_brace(rest, false)];
        ends.into_iter().flatten().find_map(|end| repeated_key(&rest[..end]))
    })
}

/// The object itself if it has the keys, else those in it that have them.
fn find_within(map: Map<String, Value>, keys: &[&str], found: &mut Vec<Map<String, Value>>) {
    if keys.iter().all(|key| map.contains_key(*key)) {
        found.push(map);
        return;
    }
    for (_, value) in map {
        if let Value::Object(inner) = value {
            find_within(inner, keys, found);
        }
    }
}

/// Whether a reply ends with an object that is closed, with nothing open around it and at most the end of a
/// fence behind it.
pub fn ends_with_object(reply: &str) -> bool {
    let reply = &*without_halves(reply);
    let reply = reply.trim_end().trim_end_matches('`').trim_end().trim_end_matches(']').trim_end();
    let (mut at, mut is_closed) = (0, false);
    while let Some(start) = reply[at..].find('{').map(|offset| at + offset) {
        let Some((_, end)) = closed_at(reply, start) else { return false };
        (at, is_closed) = (end, true);
    }
    is_closed && at == reply.len()
}

/// JSON with U+FFFD for every escaped half of a character that lacks its other half, as scripts write them that
/// cut texts by their units. Borrowed if there is none.
pub fn without_halves(json: &str) -> Cow<'_, str> {
    if !json.contains("\\ud") && !json.contains("\\uD") {
        return Cow::Borrowed(json);
    }
    let unit = |at: usize| {
        let digits = json.get(at..at + 6)?.strip_prefix("\\u")?;
        u32::from_str_radix(digits, 16).ok()
    };
    let (mut whole, mut from, mut at) = (String::new(), 0, 0);
    while let Some(escape) = json[at..].find('\\').map(|offset| at + offset) {
        at = match unit(escape) {
            Some(0xd800..0xdc00) if unit(escape + 6).is_some_and(|low| (0xdc00..0xe000).contains(&low)) => {
                escape + 12
            }
            Some(0xd800..0xe000) => {
                whole.push_str(&json[from..escape]);
                whole.push_str("\\ufffd");
                from = escape + 6;
                from
            }
            // The next character, which may be a backslash of its own.
            _ => escape + 1 + json[escape + 1..].chars().next().map_or(0, char::len_utf8),
        };
    }
    if from == 0 {
        return Cow::Borrowed(json);
    }
    whole.push_str(&json[from..]);
    Cow::Owned(whole)
}

/// JSON that is written as dumps are, with a mark of the byte order, NaN and Infinity, and halves of characters, as
/// strict JSON. `None` if there is nothing of that kind in it.
pub fn make_strict_json(json: &str) -> Option<String> {
    let whole = without_halves(json.trim_start_matches('\u{feff}'));
    let strict = notation::strict_json(&whole);
    (*strict != *json).then(|| strict.into_owned())
}

/// The object that opens at byte `start`, and the byte after it.
fn object_at(reply: &str, start: usize) -> Option<(Map<String, Value>, usize)> {
    closed_at(reply, start).or_else(|| mended::object_at(reply, start))
}

/// The same, in JSON or JSON5.
fn closed_at(reply: &str, start: usize) -> Option<(Map<String, Value>, usize)> {
    let rest = &reply[start..];
    // Braces inside strings may mislead the count with either rule for apostrophes; both are tried.
    for end in [closing_brace(rest, true), closing_brace(rest, false)].into_iter().flatten() {
        let text = &rest[..end];
        let strict = serde_json::from_str::<Bounded>(text).ok();
        if let Some(Bounded(Value::Object(map))) = strict.or_else(|| json5::from_str(text).ok()) {
            return Some((map, start + end));
        }
    }
    None
}

/// A value that is nested at most [`MAX_DEPTH`] deep, checked in both parsers at each opening bracket.
struct Bounded(Value);

impl<'de> de::Deserialize<'de> for Bounded {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Bounded, D::Error> {
        Nested { left: MAX_DEPTH }.deserialize(from).map(Bounded)
    }
}

/// Reads a value with at most `left` further levels of brackets.
#[derive(Clone, Copy)]
struct Nested {
    left: usize,
}

impl Nested {
    fn descend_level<E: de::Error>(self) -> Result<Nested, E> {
        let left = self.left.checked_sub(1);
        let left = left.ok_or_else(|| E::custom(format!("nested deeper than {MAX_DEPTH}")))?;
        Ok(Nested { left })
    }
}

impl<'de> DeserializeSeed<'de> for Nested {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Nested {
    type Value = Value;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E: de::Error>(self, flag: bool) -> Result<Value, E> {
        Ok(Value::Bool(flag))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Number(number.into()))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Value, E> {
        Ok(Value::Number(number.into()))
    }

    fn visit_i128<E: de::Error>(self, number: i128) -> Result<Value, E> {
        Number::from_i128(number).map(Value::Number).ok_or_else(|| E::custom("a number out of range"))
    }

    fn visit_u128<E: de::Error>(self, number: u128) -> Result<Value, E> {
        Number::from_u128(number).map(Value::Number).ok_or_else(|| E::custom("a number out of range"))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Value, E> {
        // JSON5 allows NaN and Infinity, which a JSON value cannot represent.
        Ok(Number::from_f64(number).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Value, E> {
        Ok(Value::String(without_noise(text).into_owned()))
    }

    fn visit_string<E: de::Error>(self, text: String) -> Result<Value, E> {
        self.visit_str(&text)
    }

    fn visit_none<E: de::Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_unit<E: de::Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        self.deserialize(from)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let inside = self.descend_level()?;
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(inside)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let inside = self.descend_level()?;
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            let value = entries.next_value_seed(inside)?;
            // Taking either of two values would be a guess.
            Pair { key, value }.into(&mut map).ok_or_else(|| de::Error::custom("two values for one key"))?;
        }
        Ok(Value::Object(map))
    }
}

/// The byte after the brace that closes the first one, as far as quotes and escapes show; `None` if there is
/// none.
fn closing_brace(text: &str, apostrophes_quote: bool) -> Option<usize> {
    let (mut depth, mut quote, mut escaped) = (0_usize, None, false);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(_), _) if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(open), _) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"') => quote = Some('"'),
            (None, '\'') if apostrophes_quote => quote = Some('\''),
            (None, '{' | '[') => depth += 1,
            (None, '}' | ']') => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at + c.len_utf8());
                }
            }
            _ => {}
        }
    }
    None
}

/// A text field that is not blank.
pub fn text_field<'a>(map: &'a Map<String, Value>, key: &str) -> Result<&'a str, Unreadable> {
    match map.get(key).and_then(Value::as_str).map(str::trim) {
        Some(text) if !text.is_empty() => Ok(text),
        _ => Err(Unreadable::new(format!("\"{key}\" must be a text that is not empty"))),
    }
}

/// A text field that may be null; blank text and words that mean "none" count as null.
pub fn optional_text<'a>(map: &'a Map<String, Value>, key: &str) -> Result<Option<&'a str>, Unreadable> {
    match map.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => {
            let text = text.trim();
            // Models write these words where a prompt allows null.
            let none = ["", "null", "none", "none fits", "n/a", "无"]
                .iter()
                .any(|word| text.eq_ignore_ascii_case(word));
            Ok((!none).then_some(text))
        }
        Some(_) => Err(Unreadable::new(format!("\"{key}\" must be a text or null"))),
    }
}

/// A yes or no, as a boolean, in words, or as 1 or 0.
pub fn parse_flag(map: &Map<String, Value>, key: &str) -> Result<bool, Unreadable> {
    let from_text = |text: &str| match text.trim().to_ascii_lowercase().as_str() {
        "true" | "yes" | "是" => Some(true),
        "false" | "no" | "否" => Some(false),
        _ => None,
    };
    match map.get(key) {
        Some(Value::Bool(flag)) => Some(*flag),
        Some(Value::String(text)) => from_text(text),
        Some(Value::Number(number)) => match number.as_u64() {
            Some(1) => Some(true),
            Some(0) => Some(false),
            _ => None,
        },
        _ => None,
    }
    .ok_or_else(|| Unreadable::new(format!("\"{key}\" must be true or false")))
}

/// A list of exactly `count` texts, none of them blank.
pub fn parse_strings(map: &Map<String, Value>, key: &str, count: usize) -> Result<Vec<String>, Unreadable> {
    let texts: Option<Vec<String>> = map.get(key).and_then(Value::as_array).and_then(|list| {
        let text =
            |value: &Value| value.as_str().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
        list.iter().map(text).collect()
    });
    texts.filter(|texts| texts.len() == count).ok_or_else(|| {
        Unreadable::new(format!("\"{key}\" must be a list of {count} texts that are not empty"))
    })
}

fn quote_keys(keys: &[&str]) -> String {
    keys.iter().map(|key| format!("\"{key}\"")).collect::<Vec<_>>().join(", ")
}
