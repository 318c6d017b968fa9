//! A record's variables in expressions: its post, the groups that steps have added, and the benchmark's
//! `[fields]`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use minijinja::value::{Object, Value};

use crate::expression::{Expression, ExpressionError};
pub use crate::value::{group_name, split_list_lines, text_of_value, texts_of_value};

/// Most characters of a value in evidence.
const SEEN: usize = 200;

/// A record's variables with their values. `[fields]` are computed when [`Scope::compute_value`] uses them, because a
/// field may depend on a later step.
pub struct Scope<'f> {
    names: Value,
    fields: &'f [(&'static str, Expression)],
}

impl<'f> Scope<'f> {
    /// Over these variables, a map, and those of `[fields]` in order.
    pub fn new(names: Value, fields: &'f [(&'static str, Expression)]) -> Scope<'f> {
        Scope { names, fields }
    }

    /// The variables, and those of `[fields]`.
    pub fn variables_and_fields(&self) -> (&Value, &'f [(&'static str, Expression)]) {
        (&self.names, self.fields)
    }

    /// What an expression saw, as evidence: each path that it uses with its value, `tries.right = 2; text = "…"`.
    pub fn describe_evidence(&self, expression: &Expression) -> String {
        let value = |path: &str| -> Option<Value> {
            let mut parts = path.split('.');
            let first = parts.next()?;
            let field = self.fields.iter().find(|(name, _)| *name == first);
            let mut value = match field {
                Some((_, field)) => self.compute_value(field).ok()?,
                None if expression.is_call_or_setting(first) => return None,
                None => self.find_variable(first).unwrap_or_default(),
            };
            for part in parts {
                value = value.get_attr(part).unwrap_or_default();
            }
            Some(if value.is_undefined() { Value::from(()) } else { value })
        };
        let shown = |path: String| {
            let json = serde_json::to_string(&value(&path)?).unwrap_or_default();
            let short =
                json.char_indices().nth(SEEN).map_or(json.clone(), |(end, _)| format!("{}…", &json[..end]));
            Some(format!("{path} = {short}"))
        };
        expression.used_paths().into_iter().filter_map(shown).collect::<Vec<_>>().join("; ")
    }

    /// A variable; `None` if there is none of this name.
    pub fn find_variable(&self, name: &str) -> Option<Value> {
        self.names.get_attr(name).ok().filter(|value| !value.is_undefined())
    }

    /// The value of an expression.
    ///
    /// # Errors
    /// [`ExpressionError`] if it, or a field that it uses, cannot be computed.
    pub fn compute_value(&self, expression: &Expression) -> Result<Value, ExpressionError> {
        if !self.fields.iter().any(|(name, _)| expression.names().contains(*name)) {
            return expression.compute_value(&self.names);
        }
        let mut asked: BTreeSet<&str> = expression.names().iter().map(String::as_str).collect();
        // From last to first: a field only uses those before it.
        for (name, field) in self.fields.iter().rev() {
            if asked.contains(*name) {
                asked.extend(field.names().iter().map(String::as_str));
            }
        }
        let mut named = BTreeMap::new();
        for (name, field) in self.fields.iter().filter(|(name, _)| asked.contains(*name)) {
            let value = field.compute_value(&layer_variables(named.clone(), &self.names))?;
            named.insert(*name, value);
        }
        expression.compute_value(&layer_variables(named, &self.names))
    }

    /// Whether an expression is true; a missing one is.
    ///
    /// # Errors
    /// Those of [`Scope::compute_value`].
    pub fn is_true(&self, expression: Option<&Expression>) -> Result<bool, ExpressionError> {
        expression.map_or(Ok(true), |expression| Ok(self.compute_value(expression)?.is_true()))
    }

    /// The value as a text: a list gives one line per element, null `None`.
    ///
    /// # Errors
    /// Those of [`Scope::compute_value`].
    pub fn compute_text(&self, expression: &Expression) -> Result<Option<String>, ExpressionError> {
        Ok(text_of_value(&self.compute_value(expression)?))
    }

    /// The value as a list of texts; a single text becomes a list.
    ///
    /// # Errors
    /// Those of [`Scope::compute_value`].
    pub fn compute_texts(&self, expression: &Expression) -> Result<Vec<String>, ExpressionError> {
        Ok(texts_of_value(&self.compute_value(expression)?))
    }
}

/// Variables that shadow those of another value.
#[derive(Debug)]
struct ShadowingScope {
    names: BTreeMap<&'static str, Value>,
    others: Value,
}

impl Object for ShadowingScope {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let own = self.names.get(key.as_str()?).cloned();
        own.or_else(|| self.others.get_item(key).ok().filter(|value| !value.is_undefined()))
    }
}

/// These variables, falling back to the other's.
pub fn layer_variables(names: BTreeMap<&'static str, Value>, others: &Value) -> Value {
    Value::from_object(ShadowingScope { names, others: others.clone() })
}

/// The names that expressions of a responding step may use for an answer besides its fields and basis: the record that was asked
/// about, what it was asked, the model, and which of its answers it is.
pub(crate) const ANSWERED: [&str; 4] = ["of", "ask", "model", "sample"];

/// The names of replies in expressions: the first one's answers, all of them with `model` and `basis`, their
/// basis, and one of them. Where the elements of a list are asked about, `it` is the element.
pub(crate) const REPLIED: [&str; 4] = ["said", "drafts", "basis", "it"];

/// The names of replies in a responding step's expressions: those of an answer in addition.
pub(crate) const RESPONDED: [&str; 8] = ["said", "drafts", "basis", "it", "of", "ask", "model", "sample"];

/// What a requirement may name besides the record: the fields of the reply, and the element.
pub(crate) const REQUIRED: [&str; 3] = ["said", "drafted", "it"];

/// What `keeps` may name where the elements of a list are asked about.
pub(crate) const KEPT_OF_EACH: [&str; 2] = ["each", "basis"];

/// An element's own names in what a step leaves of it.
pub(crate) const OF_ELEMENT: [&str; 2] = ["it", "called"];

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::choice::Lists;
    use crate::expression::{bind_variables, build_language};

    #[test]
    fn evidence_has_every_value_that_an_expression_saw() {
        let language = build_language(Lists::new(), &Arc::default());
        let parse = |source| Expression::parse(language, String::new(), source).unwrap();
        let grade = bind_variables(
            [("noticed", Value::from("yes")), ("by", Value::from(vec!["a", "b"]))].into_iter(),
        );
        let record = bind_variables([("grade", grade), ("text", Value::from("x".repeat(300)))].into_iter());
        let fields = [("long", parse("characters(text) > 9"))];
        let scope = Scope::new(record, &fields);
        let rule = parse("grade.noticed == 'yes' and grade.by | length > 1 and long and none_such is none");
        let seen = scope.describe_evidence(&rule);
        assert_eq!(seen, "grade.by = [\"a\",\"b\"]; grade.noticed = \"yes\"; long = true; none_such = null");
        let cut = scope.describe_evidence(&parse("text"));
        assert!(cut.len() < 230 && cut.ends_with('…'), "{cut}");
    }
}
