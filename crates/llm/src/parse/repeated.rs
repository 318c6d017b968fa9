//! A key that a reply gives two values, which is why no object can be made of it.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// JSON with every pair of an object. The parser bounds how deep it is.
#[derive(Debug, PartialEq)]
enum Node {
    Object(Vec<(String, Node)>),
    List(Vec<Node>),
    Other(Value),
}

/// The first key of an object, or of one in it, that stands there twice with different values.
pub(super) fn repeated_key(json: &str) -> Option<String> {
    serde_json::from_str::<Node>(json).ok()?.find_repeated_key()
}

impl Node {
    fn find_repeated_key(&self) -> Option<String> {
        match self {
            Node::Object(pairs) => pairs.iter().enumerate().find_map(|(at, (key, value))| {
                let is_twice = pairs[..at].iter().any(|(other, before)| other == key && before != value);
                if is_twice { Some(key.clone()) } else { value.find_repeated_key() }
            }),
            Node::List(list) => list.iter().find_map(Node::find_repeated_key),
            Node::Other(_) => None,
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Node, D::Error> {
        from.deserialize_any(Nodes)
    }
}

struct Nodes;

impl<'de> Visitor<'de> for Nodes {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Node, E> {
        Ok(Node::Other(flag.into()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Node, E> {
        Ok(Node::Other(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Node, E> {
        Ok(Node::Other(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Node, E> {
        Ok(Node::Other(number.into()))
    }

    fn visit_str<E>(self, text: &str) -> Result<Node, E> {
        Ok(Node::Other(text.into()))
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Other(Value::Null))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Node, A::Error> {
        let mut all = Vec::new();
        while let Some(one) = list.next_element()? {
            all.push(one);
        }
        Ok(Node::List(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut all = Vec::new();
        while let Some(pair) = map.next_entry()? {
            all.push(pair);
        }
        Ok(Node::Object(all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_with_two_values_is_found_wherever_it_stands() {
        for (json, key) in [
            (r#"{"rating": 1, "rating": 2}"#, Some("rating")),
            (r#"{"a": {"b": "x", "c": 1, "b": "y"}}"#, Some("b")),
            (r#"{"a": [{"b": null, "b": true}]}"#, Some("b")),
            // The same value twice leaves no doubt.
            (r#"{"rating": 1, "rating": 1}"#, None),
            (r#"{"a": {"b": 1}, "c": {"b": 2}}"#, None),
            ("no JSON", None),
        ] {
            assert_eq!(repeated_key(json).as_deref(), key, "{json}");
        }
        let deep = format!("{}1{}", "{\"a\":".repeat(100_000), "}".repeat(100_000));
        assert_eq!(repeated_key(&deep), None);
    }
}
