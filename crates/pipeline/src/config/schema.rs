//! The types of settings.

use riddlemill_text::hint::near_miss;
use serde_json::Value;

use super::licence;
use super::mismatch::{Mismatch, ValueHint};

/// A table of settings.
#[derive(Clone, Copy, Debug)]
pub struct Section {
    /// The table's name in pipeline.toml.
    pub name: &'static str,
    /// A description, for the commented file.
    pub doc: &'static str,
    pub keys: &'static [Key],
}

/// One setting.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name in the table.
    pub name: &'static str,
    /// Its type.
    pub kind: Kind,
    /// Its default, as in pipeline.toml.
    pub default: &'static str,
    /// A description, with its unit.
    pub doc: &'static str,
}

/// The type and bounds of a value.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// true or false.
    Flag,
    /// A whole number in bounds, both included.
    Whole(i64, i64),
    /// A number from 0 to 1, kept as the decimal that was written.
    Share,
    /// A number of at least 0.
    Amount,
    /// One of these values.
    Choice(&'static [&'static str]),
    /// Any text.
    Text,
    /// The SPDX expression of a licence, or empty.
    Licence,
    /// A list of texts.
    Texts,
    /// A list of a recipe's steps: drafts or reviews. Checked with the recipes.
    Steps,
    /// A table of texts under some of these keys.
    Map(&'static [&'static str]),
    /// A table of texts under keys of small letters, digits and `_`.
    Names,
}

impl Kind {
    /// Checks a value and converts it into its canonical form.
    ///
    /// # Errors
    /// [`Mismatch`] if it is invalid.
    pub fn check(self, value: &Value) -> Result<Value, Mismatch> {
        let fits = match (self, value) {
            (Kind::Flag, Value::Bool(_)) | (Kind::Text, Value::String(_)) => true,
            (Kind::Whole(low, high), Value::Number(n)) => {
                n.as_i64().is_some_and(|n| (low..=high).contains(&n))
            }
            (Kind::Share, Value::Number(n)) => n.as_f64().is_some_and(|x| (0.0..=1.0).contains(&x)),
            (Kind::Amount, Value::Number(n)) => n.as_f64().is_some_and(|x| x >= 0.0 && x.is_finite()),
            (Kind::Licence, Value::String(s)) => s.is_empty() || licence::check(s).is_ok(),
            (Kind::Choice(words), Value::String(s)) => words.contains(&s.as_str()),
            (Kind::Texts | Kind::Steps, Value::Array(list)) => list.iter().all(Value::is_string),
            (Kind::Map(words), Value::Object(map)) => {
                map.iter().all(|(word, value)| words.contains(&word.as_str()) && value.is_string())
            }
            (Kind::Names, Value::Object(map)) => {
                map.iter().all(|(name, value)| is_name(name) && value.is_string())
            }
            _ => false,
        };
        if fits {
            return Ok(value.clone());
        }
        let mismatch = Mismatch::new(self.expected());
        Err(match self {
            Kind::Choice(words) => {
                mismatch.near(value.as_str().and_then(|v| near_miss(v, words.iter().copied())))
            }
            Kind::Licence => {
                let near = value.as_str().and_then(|text| licence::check(text).err()?);
                mismatch.near(near)
            }
            Kind::Map(words) => {
                let unexpected =
                    value.as_object().and_then(|map| map.keys().find(|k| !words.contains(&k.as_str())));
                let hint = unexpected.map_or(ValueHint::Nothing, |key| ValueHint::Strange(key.clone()));
                Mismatch { hint, ..mismatch }
            }
            _ => mismatch,
        })
    }

    /// The valid values, as a fragment that follows `expected `.
    pub fn expected(self) -> String {
        match self {
            Kind::Flag => "true or false".into(),
            Kind::Whole(low, i64::MAX) => format!("a whole number of at least {low}"),
            Kind::Whole(low, high) => format!("a whole number from {low} to {high}"),
            Kind::Share => "a number from 0 to 1".into(),
            Kind::Amount => "a number of at least 0".into(),
            Kind::Choice(words) => format!("one of {}", words.join(", ")),
            Kind::Text => "a text in quotes".into(),
            Kind::Licence => "an SPDX identifier, or \"LicenseRef-…\" for a licence that has none".into(),
            Kind::Texts => "a list of texts, [\"…\", \"…\"]".into(),
            Kind::Steps => "a list of steps, [\"…\", \"…\"]".into(),
            Kind::Names => {
                "a table of texts, { name = \"…\" }, whose names have small letters, digits and `_`".into()
            }
            Kind::Map(words) => {
                format!("a table of texts, {{ {} = \"…\" }}, with some of {}", words[0], words.join(", "))
            }
        }
    }
}

/// Whether an expression can use it as a name.
fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    name.bytes().all(plain) && name.bytes().next().is_some_and(|first| !first.is_ascii_digit())
}
