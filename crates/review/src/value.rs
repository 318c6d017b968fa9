//! Answers in votes.

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use riddlemill_files::digest::Digester;

/// One answer: a choice's code or a text; the codes of several choices; a score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// The code of a choice, a preferred side, `keep`, or a text as written.
    Text(String),
    /// The codes of a multiple choice or of picked candidates, in ballot order; the reasons of a rejection;
    /// or, collected from several people, one text each.
    List(Vec<String>),
    /// A score or a mean of scores. Always finite.
    Number(f64),
}

impl Value {
    /// The code or text, where the answer is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The codes, where the answer is a list.
    pub fn as_list(&self) -> Option<&[String]> {
        match self {
            Value::List(list) => Some(list),
            _ => None,
        }
    }

    /// The number, where the answer is one.
    pub fn as_number(&self) -> Option<f64> {
        match self {
            Value::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// Without spaces around a text.
    pub fn trim_text(self) -> Value {
        match self {
            Value::Text(text) => Value::Text(text.trim().to_owned()),
            other => other,
        }
    }

    /// Whether the answer is empty.
    pub fn is_blank(&self) -> bool {
        match self {
            Value::Text(text) => text.trim().is_empty(),
            Value::List(list) => list.iter().all(|text| text.trim().is_empty()),
            Value::Number(_) => false,
        }
    }

    pub(crate) fn add_to_digest(&self, digester: &mut Digester) {
        match self {
            Value::Text(text) => {
                digester.hash_part(b"t");
                digester.hash_part(text.as_bytes());
            }
            Value::List(list) => {
                digester.hash_part(b"l");
                digester.hash_part(&(list.len() as u64).to_le_bytes());
                for text in list {
                    digester.hash_part(text.as_bytes());
                }
            }
            Value::Number(number) => {
                digester.hash_part(b"n");
                digester.hash_part(&number.to_bits().to_le_bytes());
            }
        }
    }
}

/// For people: codes joined by `; `.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Text(text) => f.write_str(text),
            Value::List(list) => f.write_str(&list.join("; ")),
            Value::Number(number) => write!(f, "{number}"),
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.to_owned())
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Value {
        Value::Number(number)
    }
}

impl From<Vec<String>> for Value {
    fn from(list: Vec<String>) -> Value {
        Value::List(list)
    }
}

/// The answers of a ballot by field name, sorted by name.
///
/// A sorted vector: for a million ballots of two or three fields each it takes a third of the memory of tree
/// maps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values(Vec<(Box<str>, Value)>);

impl Values {
    /// No answers.
    pub fn new() -> Values {
        Values::default()
    }

    /// The answer to `field`.
    pub fn get(&self, field: &str) -> Option<&Value> {
        self.position(field).ok().map(|at| &self.0[at].1)
    }

    /// The answer to `field`, if it is one code or text.
    pub fn text_of(&self, field: &str) -> Option<&str> {
        self.get(field)?.as_text()
    }

    /// Sets the answer to `field`.
    pub fn set(&mut self, field: &str, value: impl Into<Value>) {
        match self.position(field) {
            Ok(at) => self.0[at].1 = value.into(),
            Err(at) => self.0.insert(at, (field.into(), value.into())),
        }
    }

    /// The answers by name.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Value)> {
        self.0.iter().map(|(field, value)| (&**field, value))
    }

    /// How many fields are answered.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn position(&self, field: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|(name, _)| (**name).cmp(field))
    }

    pub(crate) fn add_to_digest(&self, digester: &mut Digester) {
        for (field, value) in self.iter() {
            digester.hash_part(field.as_bytes());
            value.add_to_digest(digester);
        }
    }
}

impl<N: AsRef<str>, V: Into<Value>> FromIterator<(N, V)> for Values {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(pairs: I) -> Values {
        let mut values = Values::new();
        for (field, value) in pairs {
            values.set(field.as_ref(), value);
        }
        values
    }
}

impl Serialize for Values {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (field, value) in self.iter() {
            map.serialize_entry(field, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Values {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Values, D::Error> {
        struct Pairs;
        impl<'de> Visitor<'de> for Pairs {
            type Value = Values;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of answers by field")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Values, A::Error> {
                let mut values = Values::new();
                while let Some((field, value)) = map.next_entry::<Box<str>, Value>()? {
                    values.set(&field, value);
                }
                Ok(values)
            }
        }
        deserializer.deserialize_map(Pairs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_sorted_and_go_through_json() {
        let values: Values =
            [("type", Value::from("paradox")), ("also", Value::List(vec!["word_game".into()]))]
                .into_iter()
                .chain([("score", Value::from(3.0))])
                .collect();
        let json = serde_json::to_string(&values).unwrap();
        assert_eq!(json, r#"{"also":["word_game"],"score":3.0,"type":"paradox"}"#);
        assert_eq!(serde_json::from_str::<Values>(&json).unwrap(), values);
        assert_eq!(values.text_of("type"), Some("paradox"));
        assert_eq!(values.get("none"), None);
    }
}
