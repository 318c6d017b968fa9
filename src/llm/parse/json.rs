//! A JSON object somewhere in a reply.

use serde_json::{Map, Value};

use super::Unreadable;

/// Deeper nesting is no answer to any prompt, and a lenient reader may be made to recurse by it.
const MAX_DEPTH: usize = 32;
/// Starts that are tried in one reply; a reply of ten thousand braces is no answer.
const MAX_STARTS: usize = 64;

/// The one object of a reply that has all of `keys`. Fences and prose around it, single quotes, bare keys, comments
/// and trailing commas are read over; further keys are kept.
///
/// # Errors
/// Where no object has the keys, or two different ones do.
pub fn object(reply: &str, keys: &[&str]) -> Result<Map<String, Value>, Unreadable> {
    let mut found: Option<Map<String, Value>> = None;
    let mut any = false;
    let mut at = 0;
    for _ in 0..MAX_STARTS {
        let Some(start) = reply[at..].find('{').map(|offset| at + offset) else { break };
        let Some((map, end)) = object_at(reply, start) else {
            at = start + 1;
            continue;
        };
        any = true;
        at = end;
        if keys.iter().all(|key| map.contains_key(*key)) {
            match &found {
                Some(other) if *other != map => {
                    return Err(Unreadable::new("the reply holds two different JSON objects"));
                }
                _ => found = Some(map),
            }
        }
    }
    found.ok_or_else(|| match any {
        true => Unreadable::new(format!("the JSON object must have the keys {}", quoted(keys))),
        false => Unreadable::new(format!("the reply holds no JSON object with the keys {}", quoted(keys))),
    })
}

/// The object that opens at byte `start`, and the byte after it.
fn object_at(reply: &str, start: usize) -> Option<(Map<String, Value>, usize)> {
    let rest = &reply[start..];
    // Braces inside strings may mislead the count in either reading; both are tried.
    for end in [closing_brace(rest, true), closing_brace(rest, false)].into_iter().flatten() {
        let text = &rest[..end];
        let strict = serde_json::from_str::<Value>(text).ok();
        if let Some(Value::Object(map)) = strict.or_else(|| json5::from_str::<Value>(text).ok()) {
            return Some((map, start + end));
        }
    }
    None
}

/// The byte after the brace that closes the first one; `None` where there is none or the nesting is too deep.
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
            (None, '{' | '[') => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return None;
                }
            }
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

/// A text field that may be null; blank text and words that say "none" are null too.
pub fn optional_text<'a>(map: &'a Map<String, Value>, key: &str) -> Result<Option<&'a str>, Unreadable> {
    match map.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => {
            let text = text.trim();
            let none = ["", "null", "none", "none fits", "n/a", "无"]
                .iter()
                .any(|word| text.eq_ignore_ascii_case(word));
            Ok((!none).then_some(text))
        }
        Some(_) => Err(Unreadable::new(format!("\"{key}\" must be a text or null"))),
    }
}

/// A yes or no, as a boolean or in words.
pub fn flag(map: &Map<String, Value>, key: &str) -> Result<bool, Unreadable> {
    let words = |text: &str| match text.trim().to_ascii_lowercase().as_str() {
        "true" | "yes" | "是" => Some(true),
        "false" | "no" | "否" => Some(false),
        _ => None,
    };
    match map.get(key) {
        Some(Value::Bool(flag)) => Some(*flag),
        Some(Value::String(text)) => words(text),
        _ => None,
    }
    .ok_or_else(|| Unreadable::new(format!("\"{key}\" must be true or false")))
}

/// A list of so many texts, none of them blank.
pub fn strings(map: &Map<String, Value>, key: &str, count: usize) -> Result<Vec<String>, Unreadable> {
    let texts: Option<Vec<String>> = map.get(key).and_then(Value::as_array).and_then(|list| {
        let text =
            |value: &Value| value.as_str().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
        list.iter().map(text).collect()
    });
    texts.filter(|texts| texts.len() == count).ok_or_else(|| {
        Unreadable::new(format!("\"{key}\" must be a list of {count} texts that are not empty"))
    })
}

fn quoted(keys: &[&str]) -> String {
    keys.iter().map(|key| format!("\"{key}\"")).collect::<Vec<_>>().join(", ")
}
