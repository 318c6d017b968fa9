//! Any table whose columns the settings name: JSON, JSONL, CSV or Parquet.
//!
//! `fields = { id = "tieba:{tid}", title = "subject", content = "body" }`: each of the post's fields is a
//! column, or a template with columns in braces; `author.name` is the `name` in a column that is an object. Further columns are stored in the post's note, from which declared records
//! read them.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};

use serde_json::Value;
use serde_json::value::RawValue;

use super::native_id::{Damaged, as_meant, is_no_value};
use super::wanted::in_braces;
use super::{Parsed, RawPost, loose};
use crate::config::{TABLE, toml_string};
use riddlemill_harvest::pages::text_of_html;
use riddlemill_record::{PostKind, Reason};
use riddlemill_text::text::time::unix_seconds;

/// A row as a post. An id with a namespace (`tieba:42`) is an identity that other sources share; a bare
/// one is the table's own.
pub(super) fn parse_post(line: &str, fields: &BTreeMap<String, String>) -> Parsed {
    let row = match super::object_of(line, WantedFields(fields)) {
        Ok(row) => row,
        Err(bad) => return bad,
    };
    let noted = RefCell::new(row.twice.iter().map(|name| format!("{name:?} {TWICE}")).collect::<Vec<_>>());
    let field = |name: &str| {
        let pattern = fields.get(name)?;
        let value = value_of_pattern(&row, pattern)?;
        if is_no_value(&value) {
            noted.borrow_mut().push(format!("{pattern} is {value:?}, which is no value"));
            return None;
        }
        Some(value)
    };
    let (title, content) = (field("title"), field("content"));
    if title.is_none() && content.is_none() {
        let wanted: Vec<&str> =
            ["title", "content"].iter().filter_map(|n| fields.get(*n)).map(String::as_str).collect();
        if row.is_deleted {
            return Parsed::Out(Reason::TakenAway, "the row says that it was deleted".to_owned());
        }
        let noted = noted.into_inner();
        return Parsed::Bad(match noted.is_empty() {
            true => describe_no_text(line, &wanted)
                .unwrap_or_else(|| format!("column {} is missing or not text", wanted.join(" or "))),
            false => format!("there is no text: {}", noted.join("; ")),
        });
    }
    let (id, damaged_id) = match fields.get("id").map(|pattern| id_of_pattern(&row, pattern)) {
        Some(Ok(id)) => (id.filter(|id| !id.is_empty()), None),
        Some(Err(Damaged(written))) => (None, Some(written)),
        None => (None, None),
    };
    let score = field("score").and_then(|score| {
        let number = loose::parse_number(&score);
        if number.is_none() && !score.trim().is_empty() {
            noted.borrow_mut().push(format!("the score {score:?} {NO_NUMBER}"));
        }
        number
    });
    let author = field("author").map(|name| bare_name(&name)).filter(|name| !name.is_empty());
    let time = field("time");
    if let Some(time) = time.as_deref().filter(|time| !time.trim().is_empty() && unix_seconds(time).is_none())
    {
        noted.borrow_mut().push(format!("the time {time:?} {NO_TIME}"));
    }
    let mentions = author.iter().filter(|name| super::mentioned(name, [&title, &content])).cloned().collect();
    Parsed::Post(Box::new(RawPost {
        id: id.map(|id| if id.contains(':') { id } else { format!("table:{id}") }),
        damaged_id,
        kind: if title.is_some() { PostKind::Thread } else { PostKind::Plain },
        title,
        content,
        author,
        mentions,
        time,
        score,
        note: note_further_columns(&row, fields),
        links: Vec::new(),
        images: 0,
        noted: noted.into_inner().join("; "),
    }))
}

/// What is noted of a row's values that were not read.
const TWICE: &str = "comes twice in the object, and the last one is read";
const NO_NUMBER: &str = "is no number";
const NO_TIME: &str = "says no day that can be told";

/// Values of rows that were not read: what is noted of each, what it is, and what mends it.
pub(super) const LOSSES: [(&str, &str, &str); 3] = [
    (TWICE, "with a key twice, of which the first value is not read", "write each key of an object once"),
    (NO_NUMBER, "with a score that is no number, read as without one", "write scores as numbers"),
    (
        NO_TIME,
        "with a time that says no day that can be told, which `dedup.keep = \"earliest\"` passes over",
        "write times as 2024-03-05, 2024-03-05T12:30+08:00 or seconds since 1970",
    ),
];

/// What is in the column of a text that is none, and what to do; `None` where nothing is there.
fn describe_no_text(line: &str, wanted: &[&str]) -> Option<String> {
    let row: Value = serde_json::from_str(line).ok()?;
    wanted.iter().find_map(|column| {
        let value = row.get(*column).or_else(|| row.pointer(&format!("/{}", column.replace('.', "/"))))?;
        let path = format!(".{column}");
        match value {
            Value::Array(list) if !list.is_empty() => Some(format!(
                "column {column} is a list of {} and no text\n  hint: where the pieces are one text, `jq -c '{path} |= join(\"\\n\")' FILE > posts.jsonl` joins them; where each is a post, `jq -c '{path}[] as $one | . + {{{column:?}: $one}}' FILE > posts.jsonl` makes a row of each; then name that file",
                list.len()
            )),
            Value::Object(members) => Some(format!(
                "column {column} is an object ({}) and no text\n  hint: name the member with the text: {}",
                members.keys().take(NAMED).cloned().collect::<Vec<_>>().join(", "),
                members
                    .keys()
                    .take(NAMED)
                    .map(|member| toml_string(&format!("{column}.{member}")))
                    .collect::<Vec<_>>()
                    .join(" or ")
            )),
            Value::Bool(_) => Some(format!("column {column} is {value} and no text")),
            _ => None,
        }
    })
}

/// Most members of an object that a message names.
const NAMED: usize = 6;

/// A user's name as sites write it, as text and without the sign of a mention: `@云中鹤`, `<a href="/u/1">云中鹤</a>`.
fn bare_name(name: &str) -> String {
    let shown = text_of_html(name);
    shown.as_deref().unwrap_or(name).trim().trim_start_matches(['@', '＠']).trim_start().to_owned()
}

/// Whether a field is read from this column.
pub(super) fn uses_column(fields: &BTreeMap<String, String>, column: &str) -> bool {
    WantedFields(fields).has_column(column)
}

/// The key under which a note holds further columns.
const COLUMNS: &str = "columns";

/// The further columns of a row as a note; `None` where the settings name none.
fn note_further_columns(row: &TableRow<'_>, fields: &BTreeMap<String, String>) -> Option<String> {
    let named = fields.iter().filter_map(|(name, pattern)| Some((name.strip_prefix(TABLE)?, pattern)));
    let columns: Vec<(String, Option<String>)> =
        named.map(|(name, pattern)| (name.to_owned(), value_of_pattern(row, pattern))).collect();
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
#[derive(Default)]
struct TableRow<'a> {
    columns: Vec<(Cow<'a, str>, Option<Cow<'a, str>>)>,
    /// Names that come again with another text.
    twice: Vec<String>,
    /// Whether it says that it was deleted.
    is_deleted: bool,
}

impl<'a> TableRow<'a> {
    fn push(&mut self, name: Cow<'a, str>, text: Option<Cow<'a, str>>) {
        if self.get(&name).flatten().is_some_and(|before| Some(before) != text.as_deref()) {
            self.twice.push(name.trim().to_owned());
        }
        self.columns.push((name, text));
    }

    /// Of columns of one name the last counts.
    fn get(&self, name: &str) -> Option<Option<&str>> {
        self.columns
            .iter()
            .rev()
            .find(|(column, _)| column.trim() == name.trim())
            .map(|(_, text)| text.as_deref())
    }
}

/// Reads of a row what these fields need.
struct WantedFields<'f>(&'f BTreeMap<String, String>);

impl WantedFields<'_> {
    fn has_column(&self, column: &str) -> bool {
        // A blank behind a name is seen by nobody.
        let column = column.trim();
        let is_in_braces = |pattern: &str| in_braces(pattern).any(|name| name == column);
        self.0.values().any(|pattern| pattern.trim() == column || is_in_braces(pattern))
    }

    /// The rest of the names that go on inside of a column.
    fn paths_within(&self, column: &str) -> Vec<&str> {
        let dotted = self.0.values().filter(|pattern| pattern.contains('.'));
        let names = dotted.flat_map(|pattern| {
            let inner: Vec<&str> = in_braces(pattern).collect();
            if inner.is_empty() { vec![pattern.as_str()] } else { inner }
        });
        loose::paths_within(names, column)
    }
}

impl<'de> DeserializeSeed<'de> for WantedFields<'_> {
    type Value = TableRow<'de>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<TableRow<'de>, D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for WantedFields<'_> {
    type Value = TableRow<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<TableRow<'de>, A::Error> {
        let mut row = TableRow { columns: Vec::with_capacity(self.0.len()), ..TableRow::default() };
        while let Some(Name(name)) = map.next_key()? {
            let (is_named, paths) = (self.has_column(&name), self.paths_within(&name));
            if paths.is_empty() {
                match is_named {
                    true => {
                        let text = map.next_value_seed(loose::Digits)?;
                        row.push(name, text);
                    }
                    false if DELETED.contains(&&*name) => {
                        row.is_deleted |= map.next_value::<Value>()? == true;
                    }
                    false => drop(map.next_value::<IgnoredAny>()?),
                }
                continue;
            }
            let object: &'de RawValue = map.next_value()?;
            for path in paths {
                let text = loose::value_within(object, path).map(Cow::Owned);
                row.push(format!("{}.{path}", name.trim()).into(), text);
            }
            // One field may take the column itself, and another what is in it.
            if is_named {
                let mut itself = serde_json::Deserializer::from_str(object.get());
                let text = loose::Digits.deserialize(&mut itself).map_err(A::Error::custom)?;
                row.push(name, text);
            }
        }
        Ok(row)
    }
}

/// Keys that say that a site deleted what was there.
const DELETED: [&str; 4] = ["deleted", "is_deleted", "isDeleted", "removed"];

#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

/// A column's value, or a template's; `None` where a column it names has none.
fn value_of_pattern(row: &TableRow<'_>, pattern: &str) -> Option<String> {
    // Nothing is refused.
    fill_pattern::<std::convert::Infallible>(row, pattern, |_, text| Ok(text.into())).unwrap_or_default()
}

/// [`value_of_pattern`] of an id, with each column as its source meant it.
///
/// # Errors
/// [`Damaged`]: what one of the columns says instead of an id.
fn id_of_pattern(row: &TableRow<'_>, pattern: &str) -> Result<Option<String>, Damaged> {
    fill_pattern(row, pattern, |column, written| match is_day(written) && !names_day(column) {
        true => Err(Damaged(written.to_owned())),
        false => as_meant(written),
    })
}

/// `2024-01-02`, `2024/1/2`, `1/2/2024` or `2024年1月2日`, also with a time: in a column of ids it is what a spreadsheet made of one.
fn is_day(written: &str) -> bool {
    let day = written.trim().split([' ', 'T']).next().unwrap_or_default().trim_end_matches('日');
    let parts: Vec<&str> = day.split(['-', '/', '.', '年', '月']).collect();
    let number = |part: &str, digits: &[usize]| {
        digits.contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit())
    };
    let is_year = |part: &str| number(part, &[4]) && (part.starts_with("19") || part.starts_with("20"));
    match parts[..] {
        [first, month, last] if number(month, &[1, 2]) => {
            is_year(first) && number(last, &[1, 2]) || number(first, &[1, 2]) && is_year(last)
        }
        _ => false,
    }
}

/// Whether a column says that it holds days, for what is published once a day.
fn names_day(column: &str) -> bool {
    let column = column.to_lowercase();
    ["date", "day", "time", "日", "时间", "created", "published"].iter().any(|word| column.contains(word))
}

/// A column's value, or a template's, with `read` applied to each column's name and value.
fn fill_pattern<E>(
    row: &TableRow<'_>,
    pattern: &str,
    read: impl for<'t> Fn(&str, &'t str) -> Result<Cow<'t, str>, E>,
) -> Result<Option<String>, E> {
    if let Some(text) = row.get(pattern) {
        return text.map(|text| read(pattern, text).map(Cow::into_owned)).transpose();
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
        out.push_str(&read(name, text)?);
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
        match parse_post(line, &fields(pairs)) {
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
    fn a_column_is_read_itself_and_by_its_paths() {
        let line = r#"{"body": "冰箱会感冒吗", "author": {"$oid": "77", "name": "kim"}}"#;
        let pairs = [("content", "body"), ("table.user", "author"), ("table.name", "author.name")];
        let further = |pairs: &[(&str, &str)]| columns_of(&draft(line, pairs).note.unwrap()).unwrap();
        let columns = further(&pairs);
        assert_eq!(columns["user"], "77");
        assert_eq!(columns["name"], "kim");
        assert_eq!(further(&[pairs[0], ("table.both", "{ author.name }/{author}")])["both"], "kim/77");
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
        assert_eq!(of("9100000001", "\"2024-01-02\""), (None, Some("2024-01-02".to_owned())));
        for day in [
            "2021-03-04",
            "2021-03-04 00:00:00",
            "2021-03-04T00:00:00",
            "2021/3/4",
            "3/4/2021",
            "2021年3月4日",
        ] {
            assert_eq!(of("9100000001", &format!("\"{day}\"")), (None, Some(day.to_owned())));
        }
        let daily =
            draft(r#"{"day": "2024-01-02", "body": "云"}"#, &[("id", "daily:{day}"), ("content", "body")]);
        assert_eq!(daily.id.as_deref(), Some("daily:2024-01-02"));
    }

    #[test]
    fn values_that_are_none_are_noted() {
        let line = r##"{"body ": "冰箱会感冒吗", "who": "NULL", "at": "#N/A", "up": "1,204"}"##;
        let pairs = [("content", "body"), ("author", "who"), ("time", "at"), ("score", "up")];
        let read = draft(line, &pairs);
        assert_eq!((read.author, read.time, read.score), (None, None, Some(1204.0)));
        assert_eq!(read.noted, "who is \"NULL\", which is no value; at is \"#N/A\", which is no value");
        let odd = draft(r#"{"body": "云", "up": "many"}"#, &[("content", "body"), ("score", "up")]);
        assert_eq!((odd.score, odd.noted.as_str()), (None, "the score \"many\" is no number"));
        let none = parse_post(r#"{"body": "&nbsp;"}"#, &fields(&[("content", "body")]));
        assert!(matches!(none, Parsed::Bad(why) if why.contains("&nbsp;")));
    }

    #[test]
    fn values_that_are_not_read_are_noted_and_what_is_no_text_is_named() {
        let pairs = [("content", "text"), ("time", "at")];
        let noted = |line: &str| draft(line, &pairs).noted;
        assert!(noted(r#"{"text": "云", "text": "鱼"}"#).contains(TWICE));
        assert_eq!(noted(r#"{"text": "云", "text": "云"}"#), "");
        assert!(noted(r#"{"text": "云", "at": "3/4/2023"}"#).contains(NO_TIME));
        for day in ["2024年1月2日", "Jan 2, 2023", "15/12/2023", "1704067200"] {
            assert_eq!(noted(&format!(r#"{{"text": "云", "at": "{day}"}}"#)), "", "{day}");
        }
        let bad = |line: &str| match parse_post(line, &fields(&pairs)) {
            Parsed::Bad(why) => why,
            other => panic!("{other:?}"),
        };
        assert!(bad(r#"{"text": ["云", "鱼"]}"#).contains("a list of 2 and no text"));
        assert!(bad(r#"{"text": {"zh": "云", "en": "cloud"}}"#).contains("\"text.zh\" or \"text.en\""));
        let deleted = parse_post(r#"{"id": 1, "deleted": true, "type": "comment"}"#, &fields(&pairs));
        assert!(matches!(deleted, Parsed::Out(Reason::TakenAway, _)), "{deleted:?}");
    }

    #[test]
    fn a_row_without_text_names_the_column_it_lacks() {
        let Parsed::Bad(why) = parse_post(r#"{"a": 1}"#, &fields(&[("content", "body")])) else {
            panic!("read")
        };
        assert!(why.contains("body"));
    }
}
