//! Rows from JSON and back, column by column, without building a tree of values per line.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

use riddlemill_record::{Cell, Cells, Column, Record, Typed, Values};

/// A row as an object of its columns; values that are absent, or of another type, are null. An id may be a
/// number, whose digits are used.
#[derive(Clone, Debug, PartialEq)]
pub struct Plain<R>(pub R);

impl<'de, R: Typed> Deserialize<'de> for Plain<R> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(Object(PhantomData)).map(Plain)
    }
}

/// A row as an object of its columns that are not null.
pub(super) struct ObjectColumns<'a, R>(pub &'a R);

impl<R: Record> Serialize for ObjectColumns<'_, R> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut sink = Fields {
            map: to.serialize_map(None)?,
            columns: R::described(self.0.columns()).iter(),
            error: None,
        };
        self.0.append_to(&mut sink);
        sink.error.map_or_else(|| sink.map.end(), Err)
    }
}

struct Fields<M: SerializeMap> {
    map: M,
    columns: std::slice::Iter<'static, Column>,
    error: Option<M::Error>,
}

impl<M: SerializeMap> Cells for Fields<M> {
    fn append(&mut self, cell: Cell<'_>) {
        let Some(Column { name, .. }) = self.columns.next().filter(|_| self.error.is_none()) else { return };
        let put = match cell {
            Cell::Null => Ok(()),
            Cell::Text(text) => self.map.serialize_entry(name, text),
            Cell::Count(n) => self.map.serialize_entry(name, &n),
            Cell::Real(x) => self.map.serialize_entry(name, &x),
            Cell::Flag(flag) => self.map.serialize_entry(name, &flag),
            Cell::Texts(texts) => self.map.serialize_entry(name, texts),
        };
        self.error = put.err();
    }
}

struct Object<R>(PhantomData<R>);

impl<'de, R: Typed> Visitor<'de> for Object<R> {
    type Value = R;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<R, A::Error> {
        let mut slots: Vec<ColumnValue> = R::COLUMNS.iter().map(|_| ColumnValue::Null).collect();
        let mut likely = 0;
        while let Some(column) = map.next_key_seed(ColumnOf { columns: R::COLUMNS, likely })? {
            match column {
                Some(0) => slots[0] = parse_id(map.next_value()?).map_err(A::Error::custom)?,
                Some(i) => slots[i] = map.next_value()?,
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
            likely = column.map_or(likely, |i| i + 1);
        }
        Ok(R::take((), &mut Slots(slots.into_iter())))
    }
}

/// The index of the column that a key names. Rows written from the same columns have them in order.
struct ColumnOf {
    columns: &'static [Column],
    likely: usize,
}

impl<'de> DeserializeSeed<'de> for ColumnOf {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_str(self)
    }
}

impl Visitor<'_> for ColumnOf {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Self::Value, E> {
        if self.columns.get(self.likely).is_some_and(|column| column.name == name) {
            return Ok(Some(self.likely));
        }
        Ok(self.columns.iter().position(|column| column.name == name))
    }
}

/// A value that a column may have.
enum ColumnValue {
    /// Null, or not of any column's type.
    Null,
    Text(String),
    Count(u64),
    Negative(i64),
    Real(f64),
    Flag(bool),
    Texts(Vec<String>),
}

/// An id, which may have more digits than any number type.
fn parse_id(raw: &RawValue) -> serde_json::Result<ColumnValue> {
    match raw.get() {
        digits if digits.starts_with(|c: char| c == '-' || c.is_ascii_digit()) => {
            Ok(ColumnValue::Text(digits.into()))
        }
        other => serde_json::from_str(other),
    }
}

impl<'de> Deserialize<'de> for ColumnValue {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(AnySlot)
    }
}

struct AnySlot;

impl<'de> Visitor<'de> for AnySlot {
    type Value = ColumnValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<ColumnValue, E> {
        Ok(ColumnValue::Null)
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<ColumnValue, E> {
        Ok(ColumnValue::Flag(flag))
    }

    fn visit_u64<E: Error>(self, n: u64) -> Result<ColumnValue, E> {
        Ok(ColumnValue::Count(n))
    }

    fn visit_i64<E: Error>(self, n: i64) -> Result<ColumnValue, E> {
        Ok(u64::try_from(n).map_or(ColumnValue::Negative(n), ColumnValue::Count))
    }

    fn visit_f64<E: Error>(self, x: f64) -> Result<ColumnValue, E> {
        Ok(ColumnValue::Real(x))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<ColumnValue, E> {
        Ok(ColumnValue::Text(text.into()))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<ColumnValue, E> {
        Ok(ColumnValue::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<ColumnValue, A::Error> {
        let mut texts: Option<Vec<String>> = Some(Vec::new());
        while let Some(slot) = list.next_element::<ColumnValue>()? {
            match (slot, &mut texts) {
                (ColumnValue::Text(text), Some(texts)) => texts.push(text),
                // The list is still read to its end, because the parser has to get past it.
                _ => texts = None,
            }
        }
        Ok(texts.map_or(ColumnValue::Null, ColumnValue::Texts))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ColumnValue, A::Error> {
        // No column has objects, but the parser has to get past them.
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(ColumnValue::Null)
    }
}

struct Slots(std::vec::IntoIter<ColumnValue>);

impl Slots {
    fn next(&mut self) -> ColumnValue {
        self.0.next().unwrap_or(ColumnValue::Null)
    }
}

impl Values for Slots {
    fn text(&mut self) -> Option<String> {
        if let ColumnValue::Text(text) = self.next() { Some(text) } else { None }
    }

    fn count(&mut self) -> Option<u64> {
        if let ColumnValue::Count(n) = self.next() { Some(n) } else { None }
    }

    fn real(&mut self) -> Option<f64> {
        match self.next() {
            ColumnValue::Count(n) => Some(n as f64),
            ColumnValue::Negative(n) => Some(n as f64),
            ColumnValue::Real(x) => Some(x),
            _ => None,
        }
    }

    fn flag(&mut self) -> Option<bool> {
        if let ColumnValue::Flag(flag) = self.next() { Some(flag) } else { None }
    }

    fn texts(&mut self) -> Option<Vec<String>> {
        if let ColumnValue::Texts(texts) = self.next() { Some(texts) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use riddlemill_record::Post;

    fn read(line: &str) -> Result<Post, serde_json::Error> {
        serde_json::from_str::<Plain<Post>>(line).map(|Plain(post)| post)
    }

    #[test]
    fn keys_come_in_any_order_and_what_is_of_another_type_is_null() {
        let line = r#"{"score": 3, "unknown": {"a": [1, {}]}, "text": "云\u4f1a恐高吗", "id": "a",
            "mentions": ["某人", "他人"], "links": ["x", 1], "title": 5, "images": -1, "number": 7, "time": null}"#;
        let expected = Post {
            id: "a".into(),
            text: "云会恐高吗".into(),
            mentions: vec!["某人".into(), "他人".into()],
            score: Some(3.0),
            number: Some(7),
            ..Post::default()
        };
        assert_eq!(read(line).unwrap(), expected);
        assert!(read("[]").is_err() && read(r#"{"id": "a""#).is_err());
    }

    #[test]
    fn a_numbers_digits_are_an_id() {
        for (id, digits) in [
            ("17", "17"),
            ("-3", "-3"),
            ("1.5", "1.5"),
            ("123456789012345678901234", "123456789012345678901234"),
        ] {
            assert_eq!(read(&format!(r#"{{"id": {id}}}"#)).unwrap().id, digits);
        }
        assert_eq!(read(r#"{"id": ["a"]}"#).unwrap().id, "");
    }
}
