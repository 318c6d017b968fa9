//! The values of one layer of settings with their origins, and TOML as JSON.

use std::collections::BTreeMap;

use serde_json::Value;
use toml_edit::Item;

use super::FILE;

/// The origin of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Built in.
    Default,
    /// The recipe's own default, from its paper.
    Recipe,
    /// The paper's value where the recipe's own default differs: `run.profile = "paper"`.
    Profile,
    /// pipeline.toml, at this line.
    File(usize),
    /// An environment variable.
    Env(String),
    Flag,
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Origin::Default => f.write_str("default"),
            Origin::Recipe => f.write_str("recipe"),
            Origin::Profile => f.write_str("profile"),
            Origin::File(line) => write!(f, "{FILE}:{line}"),
            Origin::Env(name) => f.write_str(name),
            Origin::Flag => f.write_str("flag"),
        }
    }
}

/// Values by dotted key: `dedup.metric`, `recipe.flub.dedup.metric`.
pub(super) type Layer = BTreeMap<String, (Value, Origin)>;

/// A value or a table in any notation.
pub(super) fn item_json(item: &Item) -> Option<Value> {
    match item {
        Item::Value(toml_edit::Value::InlineTable(table)) => table
            .iter()
            .map(|(k, v)| Some((k.to_string(), item_json(&Item::Value(v.clone()))?)))
            .collect::<Option<_>>()
            .map(Value::Object),
        Item::Value(toml_edit::Value::Array(list)) => list
            .iter()
            .map(|v| item_json(&Item::Value(v.clone())))
            .collect::<Option<Vec<_>>>()
            .map(Value::Array),
        Item::Value(value) => value_json(value),
        Item::Table(table) => table
            .iter()
            .map(|(k, v)| Some((k.to_string(), item_json(v)?)))
            .collect::<Option<_>>()
            .map(Value::Object),
        _ => None,
    }
}

/// A TOML value as JSON; dates and inline tables are not allowed in these settings.
pub(crate) fn value_json(value: &toml_edit::Value) -> Option<Value> {
    Some(match value {
        toml_edit::Value::String(s) => s.value().clone().into(),
        toml_edit::Value::Integer(n) => (*n.value()).into(),
        toml_edit::Value::Float(x) => serde_json::Number::from_f64(*x.value())?.into(),
        toml_edit::Value::Boolean(b) => (*b.value()).into(),
        toml_edit::Value::Array(list) => list.iter().map(value_json).collect::<Option<Vec<_>>>()?.into(),
        _ => return None,
    })
}
