//! A record as expressions see it: its post, the groups that steps have left, and the names that the benchmark gives to
//! expressions over them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use minijinja::value::{Object, Value};

use crate::expression::{Expression, Trouble};
pub use crate::value::{group, listed, text, texts};

/// A record's names with their values. What [`Scope::value`] asks for of `[fields]` is computed then: a name may stand for
/// what a later step makes.
pub struct Scope<'f> {
    names: Value,
    fields: &'f [(&'static str, Expression)],
}

impl<'f> Scope<'f> {
    /// Over these names, a map, and those of `[fields]` in their order.
    pub fn new(names: Value, fields: &'f [(&'static str, Expression)]) -> Scope<'f> {
        Scope { names, fields }
    }

    /// The value of an expression.
    ///
    /// # Errors
    /// [`Trouble`] where it, or a field that it asks for, cannot be computed.
    pub fn value(&self, expression: &Expression) -> Result<Value, Trouble> {
        if !self.fields.iter().any(|(name, _)| expression.names().contains(*name)) {
            return expression.value(&self.names);
        }
        let mut asked: BTreeSet<&str> = expression.names().iter().map(String::as_str).collect();
        // From the last to the first: a field asks for those before it alone.
        for (name, field) in self.fields.iter().rev() {
            if asked.contains(*name) {
                asked.extend(field.names().iter().map(String::as_str));
            }
        }
        let mut named = BTreeMap::new();
        for (name, field) in self.fields.iter().filter(|(name, _)| asked.contains(*name)) {
            let value = field.value(&above(named.clone(), &self.names))?;
            named.insert(*name, value);
        }
        expression.value(&above(named, &self.names))
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

/// Names that go before those of another value.
#[derive(Debug)]
struct Above {
    names: BTreeMap<&'static str, Value>,
    others: Value,
}

impl Object for Above {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let own = self.names.get(key.as_str()?).cloned();
        own.or_else(|| self.others.get_item(key).ok().filter(|value| !value.is_undefined()))
    }
}

/// These names, and where there is none the other's.
pub fn above(names: BTreeMap<&'static str, Value>, others: &Value) -> Value {
    Value::from_object(Above { names, others: others.clone() })
}
