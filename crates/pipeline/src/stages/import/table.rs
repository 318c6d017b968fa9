//! Any table whose columns the settings name: JSON, JSONL, CSV or Parquet.
//!
//! `fields = { id = "tieba:{tid}", title = "subject", content = "body" }`: each of the post's fields is a
//! column, or a template with columns in braces. Further columns are stored in the post's note, from which declared records
//! read them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};

use serde_json::Value;

use super::native_id::{Damaged, as_meant};
use super::{Parsed, RawPost, loose};
use crate::config::TABLE;
use riddlemill_text::record::PostKind;

/// A row as a post. An id with a namespace (`tieba:42`) is an identity that other sources share; a bare
/// one is the table's own.
pub(super) fn post(line: &str, fields: &BTreeMap<String, String>) -> Parsed {
    let row = match super::object_of(line, Wanted(fields)) {
        Ok(row) => row,
        Err(bad) => return bad,
    };
    let field = |name: &str| fields.get(name).and_then(|pattern| value(&row, pattern));
    let (title, content) = (field("title"), field("content"));
    if title.is_none() && content.is_none() {
        let wanted: Vec<&str> =
            ["title", "content"].iter().filter_map(|n| fields.get(*n)).map(String::as_str).collect();
        return Parsed::Bad(format!("column {} is missing or not text", wanted.join(" or ")));
    }
    let (id, damaged_id) = match fields.get("id").map(|pattern| id(&row, pattern)) {
        Some(Ok(id)) => (id.filter(|id| !id.is_empty()), None),
        Some(Err(Damaged(written))) => (None, Some(written)),
        None => (None, None),
    };
    let author = field("author").filter(|name| !name.is_empty());
    let mentions = author.iter().filter(|name| super::mentioned(name, [&title, &content])).cloned().collect();
    Parsed::Post(Box::new(RawPost {
        id: id.map(|id| if id.contains(':') { id } else { format!("table:{id}") }),
        damaged_id,
        kind: if title.is_some() { PostKind::Thread } else { PostKind::Plain },
        title,
        content,
        author,
        mentions,
        time: field("time"),
        score: field("score")
            .and_then(|score| score.trim().parse().ok())
            .filter(|score: &f64| score.is_finite()),
        note: further(&row, fields),
        links: Vec::new(),
        images: 0,
    }))
}

/// The key under which a note holds further columns.
const COLUMNS: &str = "columns";

/// The further columns of a row as a note; `None` where the settings name none.
fn further(row: &Row<'_>, fields: &BTreeMap<String, String>) -> Option<String> {
    let named = fields.iter().filter_map(|(name, pattern)| Some((name.strip_prefix(TABLE)?, pattern)));
    let columns: Vec<(String, Option<String>)> =
        named.map(|(name, pattern)| (name.to_owned(), value(row, pattern))).collect();
    (!columns.is_empty()).then(|| note_of(columns))
}

/// A note that holds further columns.
pub fn note_of<T: Into<Value>>(columns: impl IntoIterator<Item = (String, T)>) -> String {
    let columns: serde_json::Map<String, Value> =
        columns.into_iter().map(|(name, text)| (name, text.into())).collect();
    serde_json::json!({ COLUMNS: columns }).to_string()
}

/// The further columns that a note holds; `None` where it is what people wrote.
pub(in crate::stages) fn columns_of(note: &str) -> Option<serde_json::Map<String, Value>> {
    let Value::Object(mut note) = serde_json::from_str(note).ok()? else { return None };
    match (note.remove(COLUMNS)?, note.is_empty()) {
        (Value::Object(columns), true) => Some(columns),
        _ => None,
    }
}

/// The columns of a row that the settings name, each with its text where it has one.
struct Row<'a>(Vec<(Cow<'a, str>, Option<Cow<'a, str>>)>);

impl Row<'_> {
    /// Of columns of one name the last counts.
    fn get(&self, name: &str) -> Option<Option<&str>> {
        self.0.iter().rev().find(|(column, _)| column == name).map(|(_, text)| text.as_deref())
    }
}

/// Reads of a row what these fields need.
struct Wanted<'f>(&'f BTreeMap<String, String>);

impl Wanted<'_> {
    fn names(&self, column: &str) -> bool {
        let in_braces = |pattern: &str| {
            pattern.contains('{')
                && pattern.split('{').skip(1).any(|rest| rest.split('}').next() == Some(column))
        };
        self.0.values().any(|pattern| pattern == column || in_braces(pattern))
    }
}

impl<'de> DeserializeSeed<'de> for Wanted<'_> {
    type Value = Row<'de>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Row<'de>, D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Wanted<'_> {
    type Value = Row<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Row<'de>, A::Error> {
        let mut row = Row(Vec::with_capacity(self.0.len()));
        while let Some(Name(name)) = map.next_key()? {
            if self.names(&name) {
                let text = map.next_value_seed(loose::Digits)?;
                row.0.push((name, text));
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(row)
    }
}

#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

/// A column's value, or a template's; `None` where a column it names has none.
fn value(row: &Row<'_>, pattern: &str) -> Option<String> {
    // Nothing is refused.
    filled::<std::convert::Infallible>(row, pattern, |text| Ok(text.into())).unwrap_or_default()
}

/// [`value`] of an id, with each column as its source meant it.
///
/// # Errors
/// [`Damaged`]: what one of the columns says instead of an id.
fn id(row: &Row<'_>, pattern: &str) -> Result<Option<String>, Damaged> {
    filled(row, pattern, as_meant)
}

/// A column's value, or a template's, with `read` applied to each column.
fn filled<E>(
    row: &Row<'_>,
    pattern: &str,
    read: impl Fn(&str) -> Result<Cow<'_, str>, E>,
) -> Result<Option<String>, E> {
    if let Some(text) = row.get(pattern) {
        return text.map(|text| read(text).map(Cow::into_owned)).transpose();
    }
    if !pattern.contains('{') {
        return Ok(None);
    }
    let mut out = String::new();
    let mut rest = pattern;
    while let Some((before, after)) = rest.split_once('{') {
        let Some((name, after)) = after.split_once('}') else { return Ok(None) };
        let Some(Some(text)) = row.get(name) else { return Ok(None) };
        out.push_str(before);
        out.push_str(&read(text)?);
        rest = after;
    }
    Ok(Some(out + rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect()
    }

    fn draft(line: &str, pairs: &[(&str, &str)]) -> RawPost {
        match post(line, &fields(pairs)) {
            Parsed::Post(draft) => *draft,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn ids_are_columns_or_templates() {
        let line = r#"{"tid": 18446744073709551615, "n": 7, "body": "冰箱会感冒吗", "up": "3.5"}"#;
        let of = |id: &str| draft(line, &[("id", id), ("content", "body"), ("score", "up")]);
        assert_eq!(of("tieba:{tid}:{n}").id.as_deref(), Some("tieba:18446744073709551615:7"));
        assert_eq!(of("n").id.as_deref(), Some("table:7"));
        assert_eq!(of("absent").id, None);
        assert_eq!(of("tieba:{tid").id, None);
        // Columns that no field names are not read; of two with one name the last counts.
        let twice = r#"{"body": 1, "x": {"body": [1]}, "body": "冰箱会感冒吗", "a{b}": "y", "b": 2}"#;
        assert_eq!(draft(twice, &[("content", "body")]).content.as_deref(), Some("冰箱会感冒吗"));
        assert_eq!(draft(twice, &[("content", "body"), ("id", "a{b}")]).id.as_deref(), Some("table:y"));
        assert_eq!(of("n").score, Some(3.5));
    }

    #[test]
    fn what_a_spreadsheet_made_of_an_id_is_none() {
        let of = |tid: &str, pid: &str| {
            let line = format!(r#"{{"tid": {tid}, "pid": {pid}, "body": "冰箱会感冒吗"}}"#);
            let post = draft(&line, &[("id", "tieba:{tid}:{pid}"), ("content", "body")]);
            (post.id, post.damaged_id)
        };
        let sound = (Some("tieba:9100000001:7".to_owned()), None);
        assert_eq!(of("9100000001.0", "7"), sound);
        assert_eq!(of("\"9100000001.0\"", "\"7\""), sound);
        assert_eq!(of("9.100000001e9", "7.0"), sound);
        assert_eq!(of("9100000001", "\"1.47346E+11\""), (None, Some("1.47346E+11".to_owned())));
        assert_eq!(of("9100000001", "1.4734612345678e17"), (None, Some("1.4734612345678e17".to_owned())));
        assert_eq!(of("9100000001", "null"), (None, None));
    }

    #[test]
    fn a_row_without_text_names_the_column_it_lacks() {
        let Parsed::Bad(why) = post(r#"{"a": 1}"#, &fields(&[("content", "body")])) else { panic!("read") };
        assert!(why.contains("body"));
    }
}
