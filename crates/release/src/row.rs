//! Rows of a release: values in the order of a layout's columns, to JSON and back.

use std::io::{self, Write};

use riddlemill_benchmarks::Data;
use riddlemill_benchmarks::compat::Compat;
use riddlemill_benchmarks::data::{ColumnKind, Poses};
use serde_json::{Map, Number, Value as Json};

/// Why an object is not a row of a layout.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RowError {
    /// A key is not that of the next column.
    #[error("key {key:?} where {column:?} is expected")]
    Order {
        key: String,
        /// The expected column.
        column: &'static str,
    },
    /// It ends before this column.
    #[error("no {0:?}")]
    Lacks(&'static str),
    /// A value is of another type than its column.
    #[error("{column}: not {}", kind.name())]
    Type {
        column: &'static str,
        /// Its required type.
        kind: ColumnKind,
    },
    /// A column that must not be null has no value.
    #[error("{0}: null")]
    Null(&'static str),
    /// It has more keys than there are columns.
    #[error("key {0:?} is in no column")]
    Strange(String),
    /// A check of the benchmark's folder fails, with its message.
    #[error("{0}")]
    Check(String),
}

/// One value of a released row.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Unknown, or there is none.
    Null,
    /// Text, in NFC.
    Text(String),
    /// A count, a position or a label.
    Count(u64),
    /// A score.
    Real(f64),
    /// Yes or no.
    Flag(bool),
    /// A list of texts.
    Texts(Vec<String>),
    /// A list of counts.
    Counts(Vec<u64>),
    /// A list of scores.
    Reals(Vec<f64>),
}

/// A row: a value for each of its layout's columns, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Row(pub Vec<Value>);

impl Row {
    /// The row's id: its first column.
    pub fn id(&self) -> &str {
        self.text_of_column(0)
    }

    /// A text; empty if the column has none.
    pub fn text_of_column(&self, column: usize) -> &str {
        match self.0.get(column) {
            Some(Value::Text(text)) => text,
            _ => "",
        }
    }

    /// Writes the row as one line of JSON, keys in the order of the columns.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_json(&self, layout: &Layout, out: &mut impl Write) -> io::Result<()> {
        for (i, (column, value)) in layout.columns.iter().zip(&self.0).enumerate() {
            out.write_all(if i == 0 { b"{" } else { b"," })?;
            serde_json::to_writer(&mut *out, column.name)?;
            out.write_all(b":")?;
            serde_json::to_writer(&mut *out, value)?;
        }
        out.write_all(b"}\n")
    }

    /// Reads a row that was written as JSON.
    ///
    /// # Errors
    /// [`RowError`] for the first fault: a key that is missing, unknown or out of order, or a value of
    /// another type.
    pub fn from_json(layout: &Layout, json: &Map<String, Json>) -> Result<Row, RowError> {
        let mut keys = json.keys();
        let mut values = Vec::with_capacity(layout.columns.len());
        for column in layout.columns {
            match keys.next() {
                Some(key) if key == column.name => {}
                Some(key) => return Err(RowError::Order { key: key.clone(), column: column.name }),
                None => return Err(RowError::Lacks(column.name)),
            }
            let value = Value::from_json(column.kind, &json[column.name])
                .ok_or(RowError::Type { column: column.name, kind: column.kind })?;
            if value == Value::Null && !column.nullable {
                return Err(RowError::Null(column.name));
            }
            values.push(value);
        }
        match keys.next() {
            Some(key) => Err(RowError::Strange(key.clone())),
            None => Ok(Row(values)),
        }
    }
}

impl Value {
    /// Converts from JSON; `None` if the value has another type.
    pub fn from_json(kind: ColumnKind, json: &Json) -> Option<Value> {
        fn parse_list<T>(json: &Json, item: impl Fn(&Json) -> Option<T>) -> Option<Vec<T>> {
            json.as_array()?.iter().map(item).collect()
        }
        if json.is_null() {
            return Some(Value::Null);
        }
        Some(match kind {
            ColumnKind::Text => Value::Text(json.as_str()?.into()),
            ColumnKind::Count => Value::Count(json.as_u64()?),
            ColumnKind::Real => Value::Real(json.as_f64()?),
            ColumnKind::Flag => Value::Flag(json.as_bool()?),
            ColumnKind::Texts => Value::Texts(parse_list(json, |v| v.as_str().map(str::to_string))?),
            ColumnKind::Counts => Value::Counts(parse_list(json, Json::as_u64)?),
            ColumnKind::Reals => Value::Reals(parse_list(json, Json::as_f64)?),
        })
    }

    /// The value as JSON.
    pub fn to_json(&self) -> Json {
        match self {
            Value::Null => Json::Null,
            Value::Text(text) => text.as_str().into(),
            Value::Count(n) => (*n).into(),
            Value::Real(x) => Number::from_f64(*x).map_or(Json::Null, Json::Number),
            Value::Flag(flag) => (*flag).into(),
            Value::Texts(list) => list.clone().into(),
            Value::Counts(list) => list.clone().into(),
            Value::Reals(list) => list.clone().into(),
        }
    }

    /// Size of the value in Arrow: texts and lists with their offsets.
    pub(super) fn arrow_bytes(&self) -> u64 {
        const OFFSET: u64 = 4;
        match self {
            Value::Null | Value::Flag(_) => 1,
            Value::Text(text) => text.len() as u64 + OFFSET,
            Value::Count(_) | Value::Real(_) => 8,
            Value::Texts(list) => list.iter().map(|text| text.len() as u64 + OFFSET).sum::<u64>() + OFFSET,
            Value::Counts(list) => 8 * list.len() as u64 + OFFSET,
            Value::Reals(list) => 8 * list.len() as u64 + OFFSET,
        }
    }

    /// The value for people, in a table cell.
    pub fn as_text(&self) -> String {
        match self {
            Value::Null => String::new(),
            Value::Text(text) => text.clone(),
            Value::Texts(list) => list.join(" | "),
            other => other.to_json().to_string(),
        }
    }
}

impl serde::Serialize for Value {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Null => to.serialize_none(),
            Value::Text(text) => to.serialize_str(text),
            Value::Count(n) => to.serialize_u64(*n),
            // JSON has no NaN; `serde_json` writes null for it, as a release has to.
            Value::Real(x) => to.serialize_f64(*x),
            Value::Flag(flag) => to.serialize_bool(*flag),
            Value::Texts(list) => list.serialize(to),
            Value::Counts(list) => list.serialize(to),
            Value::Reals(list) => list.serialize(to),
        }
    }
}

macro_rules! value {
    ($($type:ty => $variant:ident($convert:expr)),+ $(,)?) => {$(
        impl From<$type> for Value {
            fn from(value: $type) -> Value {
                Value::$variant($convert(value))
            }
        }
        impl From<Option<$type>> for Value {
            fn from(value: Option<$type>) -> Value {
                value.map_or(Value::Null, Value::from)
            }
        }
    )+};
}

value! {
    String => Text(nfc),
    u64 => Count(|n| n),
    f64 => Real(|x| x),
    bool => Flag(|b| b),
    Vec<String> => Texts(|list: Vec<String>| list.into_iter().map(nfc).collect()),
    Vec<u64> => Counts(|list| list),
    Vec<f64> => Reals(|list| list),
}

/// A text in NFC. Most are already.
pub(crate) fn nfc(text: String) -> String {
    use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};
    match is_nfc_quick(text.chars()) {
        IsNormalized::Yes => text,
        _ => text.nfc().collect(),
    }
}

/// The shape of one config of a release.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// The config's name: its folder under data/ and the argument of `load_dataset`.
    pub config: &'static str,
    /// A description of a row, in one sentence.
    pub about: &'static str,
    /// The columns, in order; the first is the id.
    pub columns: &'static [Column],
    /// The published form, if it is known.
    pub compat: &'static [Compat],
    /// The task for a model, if the rows contain the answer.
    pub task: Option<&'static Poses>,
    /// Columns whose values are counted on the card and cross-tabulated in a diff.
    pub labels: &'static [&'static str],
    /// The column with `confirmed`, `provisional` or `synthetic`, if people review the rows.
    pub standing: Option<&'static str>,
    /// Columns that only some releases have.
    pub sometimes: &'static [&'static str],
    /// The declaration in the benchmark's folder; `None` for candidate posts.
    pub(crate) declared: Option<&'static Data>,
}

/// A column of a layout.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its key in JSON and its name in Parquet.
    pub name: &'static str,
    /// Its type.
    pub kind: ColumnKind,
    /// Whether it may be null.
    pub nullable: bool,
    /// Its meaning, in one sentence.
    pub about: &'static str,
    /// The allowed values; empty if any is.
    pub values: &'static [&'static str],
}
