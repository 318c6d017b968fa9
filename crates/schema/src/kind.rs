//! The types and bounds of values, and what fits them.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::hint::near_miss;
use crate::json::toml_value;

/// The type and bounds of a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// true or false.
    Flag,
    /// A whole number in bounds, both included.
    Whole(i64, i64),
    /// A number in bounds, both included; kept as the decimal that was written.
    Number(f64, f64),
    /// One of these texts.
    Choice(&'static [&'static str]),
    /// Any text.
    Text,
    /// What a function accepts.
    Form(&'static Form),
    /// A list of texts.
    Texts,
    /// A list of a recipe's steps: drafts or reviews. Checked with the recipes.
    Steps,
    /// A table of texts under some of these keys.
    Map(&'static [&'static str]),
    /// A table of texts under keys of small letters, digits and `_`.
    Names,
    /// A table of texts under any keys.
    Words,
    /// A table with these keys.
    Table(&'static [Key]),
    /// A table with these keys that may be like another one: an empty text takes away what it has of that one.
    Like(&'static [Key]),
    /// A table with names of its own, each with a value of this kind.
    Each(&'static Kind),
    /// A list of values of this kind.
    List(&'static Kind),
    /// A value of one of these kinds.
    Either(&'static [Kind]),
    /// Any value.
    Any,
}

/// A table with more keys is called a table alone where another value stands in its place.
const MOST_NAMED: usize = 16;

/// One key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Key {
    /// Its name in the table.
    pub name: &'static str,
    /// Its type and bounds.
    pub kind: Kind,
    /// Its default, as in the file; empty for a key that may be missing, or must not be.
    pub default: &'static str,
    /// A description, with its unit.
    pub doc: &'static str,
    /// Whether the table must have it.
    pub is_required: bool,
}

impl Key {
    /// A key that may be missing.
    pub const fn new(name: &'static str, kind: Kind, doc: &'static str) -> Key {
        Key { name, kind, default: "", doc, is_required: false }
    }

    /// A key that the table must have.
    pub const fn required(name: &'static str, kind: Kind, doc: &'static str) -> Key {
        Key { is_required: true, ..Key::new(name, kind, doc) }
    }

    /// The same key with a default, as in the file.
    #[must_use]
    pub const fn or(self, default: &'static str) -> Key {
        Key { default, ..self }
    }

    /// Its default as a value; `None` if it has none.
    pub fn default_value(&self) -> Option<Value> {
        toml_value(self.default)
    }
}

/// A value that a function checks: the identifier of a licence, or what a type reads that is no plain value.
#[derive(Clone, Copy)]
pub struct Form {
    /// The valid values, as a fragment that follows `expected `.
    pub expected: &'static str,
    /// A hint about a value that is not valid.
    pub check: fn(&Value) -> Result<(), ValueHint>,
    /// Whether every valid value is a text.
    pub is_text: bool,
}

// Two forms with one description are one: addresses of functions are not compared.
impl PartialEq for Form {
    fn eq(&self, other: &Form) -> bool {
        (self.expected, self.is_text) == (other.expected, other.is_text)
    }
}

impl fmt::Debug for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Form").field(&self.expected).finish()
    }
}

/// The check of a [`Form`] that accepts what a type reads.
///
/// # Errors
/// What the type says about the value.
pub fn reads_as<T: DeserializeOwned>(value: &Value) -> Result<(), ValueHint> {
    T::deserialize(value).map(drop).map_err(|error| ValueHint::Said(error.to_string()))
}

/// A value that does not fit. The caller adds the key and its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected}{hint}")]
pub struct Mismatch {
    /// The valid values: `a number from 0 to 1`.
    pub expected: String,
    /// A hint about the value.
    pub hint: ValueHint,
}

/// A hint about an invalid value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ValueHint {
    /// Nothing.
    #[default]
    Nothing,
    /// It is close to this one, which fits.
    Near(String),
    /// This key in it is unknown.
    Strange(String),
    /// What its type says.
    Said(String),
}

impl ValueHint {
    /// The closest valid value, if one is close.
    pub fn from_nearest(near: Option<&str>) -> ValueHint {
        near.map_or(ValueHint::Nothing, |near| ValueHint::Near(near.to_owned()))
    }
}

impl fmt::Display for ValueHint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ValueHint::Nothing => Ok(()),
            ValueHint::Near(near) => write!(f, "; did you mean {near:?}?"),
            ValueHint::Strange(key) => write!(f, "; {key:?} is none of them"),
            ValueHint::Said(what) => write!(f, "; {what}"),
        }
    }
}

impl Kind {
    /// A number from 0 to 1.
    pub const SHARE: Kind = Kind::Number(0.0, 1.0);
    /// A number of at least 0.
    pub const AMOUNT: Kind = Kind::Number(0.0, f64::MAX);

    /// The kind of a type with closer bounds; the type's own bounds hold, too.
    ///
    /// # Panics
    /// If no value is of both; in a declaration this is an error of the compiler.
    #[must_use]
    pub const fn narrowed(self, bounds: Kind) -> Kind {
        match (self, bounds) {
            (Kind::Whole(low, high), Kind::Whole(least, most)) => {
                let low = if least > low { least } else { low };
                let high = if most < high { most } else { high };
                assert!(low <= high, "no whole number is in both bounds");
                Kind::Whole(low, high)
            }
            (Kind::Number(low, high), Kind::Number(least, most)) => {
                let low = if least > low { least } else { low };
                let high = if most < high { most } else { high };
                assert!(low <= high, "no number is in both bounds");
                Kind::Number(low, high)
            }
            (Kind::Text, Kind::Choice(_) | Kind::Form(_))
            | (Kind::Texts, Kind::Steps)
            | (Kind::Words, Kind::Map(_) | Kind::Names) => bounds,
            _ => panic!("the type of this key has no such values"),
        }
    }

    /// Whether a bare word, as in a shell, is a text of this kind.
    pub fn is_word(self) -> bool {
        match self {
            Kind::Text | Kind::Choice(_) => true,
            Kind::Form(form) => form.is_text,
            _ => false,
        }
    }

    /// Checks a value.
    ///
    /// # Errors
    /// [`Mismatch`] if it is invalid.
    pub fn check_value(self, value: &Value) -> Result<(), Mismatch> {
        let fits = match (self, value) {
            (Kind::Flag, Value::Bool(_))
            | (Kind::Text, Value::String(_))
            // The keys of a table are checked one by one.
            | (Kind::Table(_), Value::Object(_))
            | (Kind::Any, _) => true,
            (Kind::Like(_) | Kind::Each(_), Value::Object(_))
            | (Kind::List(_), Value::Array(_))
            | (Kind::Either(_), _) => self.find_faults(value).is_empty(),
            (Kind::Whole(low, high), Value::Number(n)) => n.as_i64().is_some_and(|n| (low..=high).contains(&n)),
            (Kind::Number(low, high), Value::Number(n)) => {
                n.as_f64().is_some_and(|x| (low..=high).contains(&x))
            }
            (Kind::Choice(words), Value::String(s)) => words.contains(&s.as_str()),
            (Kind::Texts | Kind::Steps, Value::Array(list)) => list.iter().all(Value::is_string),
            (Kind::Map(words), Value::Object(map)) => {
                map.iter().all(|(word, value)| words.contains(&word.as_str()) && value.is_string())
            }
            (Kind::Names, Value::Object(map)) => {
                map.iter().all(|(name, value)| is_name(name) && value.is_string())
            }
            (Kind::Words, Value::Object(map)) => map.values().all(Value::is_string),
            (Kind::Form(form), value) => match (form.check)(value) {
                Ok(()) => true,
                Err(hint) => return Err(Mismatch { expected: self.describe_expected(), hint }),
            },
            _ => false,
        };
        if fits {
            return Ok(());
        }
        let hint = match (self, value) {
            (Kind::Choice(words), Value::String(text)) => {
                ValueHint::from_nearest(near_miss(text, words.iter().copied()))
            }
            (Kind::Map(words), Value::Object(map)) => {
                let strange = map.keys().find(|key| !words.contains(&key.as_str()));
                strange.map_or(ValueHint::Nothing, |key| ValueHint::Strange(key.clone()))
            }
            _ => ValueHint::Nothing,
        };
        Err(Mismatch { expected: self.describe_expected(), hint })
    }

    /// The valid values, as a fragment that follows `expected `.
    pub fn describe_expected(self) -> String {
        let bounds = |low: Option<String>, high: Option<String>| match (low, high) {
            (None, None) => String::new(),
            (Some(low), None) => format!(" of at least {low}"),
            (None, Some(high)) => format!(" of at most {high}"),
            (Some(low), Some(high)) => format!(" from {low} to {high}"),
        };
        match self {
            Kind::Flag => "true or false".into(),
            Kind::Whole(low, high) => {
                let low = (low != i64::MIN).then(|| low.to_string());
                let high = (high != i64::MAX).then(|| high.to_string());
                format!("a whole number{}", bounds(low, high))
            }
            Kind::Number(low, high) => {
                let bound = |x: f64| (x != f64::MIN && x != f64::MAX).then(|| x.to_string());
                format!("a number{}", bounds(bound(low), bound(high)))
            }
            Kind::Choice(words) => format!("one of {}", words.join(", ")),
            Kind::Text => "a text in quotes".into(),
            Kind::Form(form) => form.expected.into(),
            Kind::Texts => "a list of texts, [\"…\", \"…\"]".into(),
            Kind::Steps => "a list of steps, [\"…\", \"…\"]".into(),
            Kind::Names => {
                "a table of texts, { name = \"…\" }, whose names have small letters, digits and `_`".into()
            }
            Kind::Map(words) => {
                let first = words.first().copied().unwrap_or("name");
                format!("a table of texts, {{ {first} = \"…\" }}, with some of {}", words.join(", "))
            }
            Kind::Words => "a table of texts, { name = \"…\" }".into(),
            Kind::Table(keys) if keys.len() <= MOST_NAMED => {
                let names: Vec<&str> = keys.iter().map(|key| key.name).collect();
                format!("a table with some of {}", names.join(", "))
            }
            Kind::Table(_) | Kind::Like(_) => "a table".into(),
            Kind::Each(Kind::Table(_) | Kind::Like(_)) => "tables with names of their own".into(),
            Kind::Each(kind) => {
                format!("a table, {{ name = … }}, of which each value is {}", kind.describe_expected())
            }
            Kind::List(Kind::Table(_) | Kind::Like(_)) => "a list of tables".into(),
            Kind::List(Kind::Text) => Kind::Texts.describe_expected(),
            Kind::List(kind) => format!("a list, of which each is {}", kind.describe_expected()),
            Kind::Either(kinds) => {
                let mut all: Vec<String> = Vec::new();
                for expected in kinds.iter().map(|kind| kind.describe_expected()) {
                    if !all.contains(&expected) {
                        all.push(expected);
                    }
                }
                all.join(", or ")
            }
            Kind::Any => "a value".into(),
        }
    }
}

/// Whether an expression can use it as a name.
fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    name.bytes().all(plain) && name.bytes().next().is_some_and(|first| !first.is_ascii_digit())
}

/// A type that values of settings have.
pub trait Setting {
    /// The values of the type.
    const KIND: Kind;
}

macro_rules! kinds {
    ($($type:ty = $kind:expr;)+) => {
        $(impl Setting for $type { const KIND: Kind = $kind; })+
    };
}

kinds! {
    bool = Kind::Flag;
    u32 = Kind::Whole(0, u32::MAX as i64);
    u64 = Kind::Whole(0, i64::MAX);
    usize = Kind::Whole(0, if usize::BITS < 64 { usize::MAX as i64 } else { i64::MAX });
    i64 = Kind::Whole(i64::MIN, i64::MAX);
    f64 = Kind::AMOUNT;
    String = Kind::Text;
    PathBuf = Kind::Text;
    Vec<String> = Kind::Texts;
    BTreeMap<String, String> = Kind::Words;
}

impl<T: Setting> Setting for Option<T> {
    const KIND: Kind = T::KIND;
}
