//! Fields that one crawler wrote as numbers and another as strings.

use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// A string, or a number as it would be written; anything else is absent. Numbers never pass
/// through a float: ids are whole or they are text.
pub(super) fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(match Value::deserialize(deserializer)? {
        Value::String(text) => Some(text),
        value => plain(&value),
    })
}

/// [`text`] of a value that is read already.
pub(super) fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(s) => Some(s.clone()),
        Value::Number(n) => Some(n.to_string()),
        _ => None,
    }
}

/// true, 1, "1", "true".
pub(super) fn flag<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Ok(match Value::deserialize(deserializer)? {
        Value::Bool(b) => b,
        Value::Number(n) => n.as_u64() == Some(1),
        Value::String(s) => matches!(s.as_str(), "1" | "true" | "True"),
        _ => false,
    })
}

/// The length of a list; anything else has none.
pub(super) fn length<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    Ok(Value::deserialize(deserializer)?.as_array().map_or(0, |list| list.len() as u64))
}

/// A number, or a string that reads as one; what is not finite is absent.
pub(super) fn real<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    Ok(match Value::deserialize(deserializer)? {
        Value::Number(n) => n.as_f64(),
        Value::String(s) => s.trim().parse().ok().filter(|x: &f64| x.is_finite()),
        _ => None,
    })
}

/// Seconds since 1970, as a number, a string, or either with a fraction that is cut.
pub(super) fn seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let written = text(deserializer)?;
    Ok(written.map(|time| match time.split_once('.') {
        Some((whole, fraction)) if fraction.bytes().all(|b| b.is_ascii_digit()) => whole.to_string(),
        _ => time,
    }))
}
