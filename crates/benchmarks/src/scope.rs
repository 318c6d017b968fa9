//! A record as expressions see it: its post, the groups that steps have left, and the names that the benchmark gives to
//! expressions over them.

use std::collections::BTreeMap;

use minijinja::value::Value;

use crate::expression::{Expression, Trouble};

/// A record's names with their values. What [`Scope::value`] asks for of `[fields]` is computed then: a name may stand for
/// what a later step makes.
pub struct Scope<'f> {
    names: BTreeMap<String, Value>,
    fields: &'f [(&'static str, Expression)],
}

impl<'f> Scope<'f> {
    /// Over these names, and those of `[fields]` in their order.
    pub fn new(names: BTreeMap<String, Value>, fields: &'f [(&'static str, Expression)]) -> Scope<'f> {
        Scope { names, fields }
    }

    /// The value of an expression.
    ///
    /// # Errors
    /// [`Trouble`] where it, or a field that it asks for, cannot be computed.
    pub fn value(&self, expression: &Expression) -> Result<Value, Trouble> {
        let mut asked = expression.names();
        // From the last to the first: a field asks for those before it alone.
        for (name, field) in self.fields.iter().rev() {
            if asked.contains(*name) {
                asked.extend(field.names());
            }
        }
        let mut names = self.names.clone();
        for (name, field) in self.fields.iter().filter(|(name, _)| asked.contains(*name)) {
            let value = field.value(&Value::from(names.clone()))?;
            names.insert((*name).to_owned(), value);
        }
        expression.value(&Value::from(names))
    }

    /// Whether an expression holds; one that is not there does.
    ///
    /// # Errors
    /// As [`Scope::value`].
    pub fn holds(&self, expression: Option<&Expression>) -> Result<bool, Trouble> {
        expression.map_or(Ok(true), |expression| Ok(self.value(expression)?.is_true()))
    }

    /// The value as a text: a list has a line for each, null is none.
    ///
    /// # Errors
    /// As [`Scope::value`].
    pub fn text(&self, expression: &Expression) -> Result<Option<String>, Trouble> {
        Ok(text(&self.value(expression)?))
    }

    /// The value as a list of texts; a text alone is a list of itself.
    ///
    /// # Errors
    /// As [`Scope::value`].
    pub fn texts(&self, expression: &Expression) -> Result<Vec<String>, Trouble> {
        Ok(texts(&self.value(expression)?))
    }
}

/// A value as a text: a list has a line for each, null is none.
pub fn text(value: &Value) -> Option<String> {
    if value.is_none() || value.is_undefined() {
        return None;
    }
    match value.kind() {
        minijinja::value::ValueKind::Seq => Some(texts(value).join("\n")),
        _ => Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned)),
    }
}

/// A value as a list of texts without what is null.
pub fn texts(value: &Value) -> Vec<String> {
    match value.kind() {
        minijinja::value::ValueKind::Seq | minijinja::value::ValueKind::Iterable => {
            value.try_iter().into_iter().flatten().filter_map(|value| text(&value)).collect()
        }
        _ => text(value).into_iter().collect(),
    }
}

/// A step's or ballot's name as expressions write it.
pub fn group(name: &str) -> String {
    name.replace('-', "_")
}
