//! Pointers into JSON: RFC 6901 with two extensions.
//!
//! `/data/children/*/data` goes through a list, and so does a name applied to one. `row[@PostTypeId=1]` and
//! `*[is_accepted=true]` keep elements with this value of the field. XML is read as JSON: an attribute is
//! `@name`, the text of an element with attributes or children is `#text`, elements of one name are a list.

use serde_json::Value;

use super::error::RuleError;

/// A parsed pointer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pointer(pub(super) Vec<Step>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// The name of a field; `*` matches each element.
    pub name: String,
    /// A field and its required value.
    pub filter: Option<(String, String)>,
}

impl Pointer {
    /// Parses a pointer; an empty one is the whole value.
    ///
    /// # Errors
    /// [`RuleError`] if it is invalid.
    pub fn parse_pointer(text: &str) -> Result<Pointer, RuleError> {
        if text.is_empty() {
            return Ok(Pointer(Vec::new()));
        }
        let Some(rest) = text.strip_prefix('/') else {
            return Err(RuleError::NoPointer(text.to_owned()));
        };
        rest.split('/').map(parse_step).collect::<Result<_, _>>().map(Pointer)
    }

    /// The pointer without the filter of its last step.
    pub(super) fn without_filter(&self) -> Pointer {
        let mut pointer = self.clone();
        if let Some(last) = pointer.0.last_mut() {
            last.filter = None;
        }
        pointer
    }

    /// Every value that it points at.
    pub fn find_all<'v>(&self, value: &'v Value) -> Vec<&'v Value> {
        let mut found = Vec::new();
        walk_steps(&self.0, value, &mut found);
        found
    }
}

fn parse_step(text: &str) -> Result<Step, RuleError> {
    // In this order, as RFC 6901 demands: `~01` means `~1` and not a slash.
    let plain = |name: &str| name.replace("~1", "/").replace("~0", "~");
    let Some((name, filter)) = text.split_once('[') else {
        return Ok(Step { name: plain(text), filter: None });
    };
    let filter = filter.strip_suffix(']').and_then(|filter| filter.split_once('='));
    let Some((field, says)) = filter else {
        return Err(RuleError::NoStep(text.to_owned()));
    };
    Ok(Step {
        name: plain(name),
        filter: Some((plain(field.trim()), says.trim().trim_matches(['"', '\'']).to_owned())),
    })
}

impl Step {
    /// Whether a value passes the filter.
    pub(super) fn is_kept(&self, value: &Value) -> bool {
        let Some((field, says)) = &self.filter else { return true };
        value.get(field).and_then(scalar_text).is_some_and(|found| found == *says)
    }
}

fn walk_steps<'v>(steps: &[Step], value: &'v Value, found: &mut Vec<&'v Value>) {
    let Some((step, rest)) = steps.split_first() else { return found.push(value) };
    let onwards = |value: &'v Value| match value {
        // A filter applies to the elements of a list.
        Value::Array(list) if step.filter.is_some() && step.name != "*" => {
            list.iter().filter(|value| step.is_kept(value)).for_each(|value| walk_steps(rest, value, found));
        }
        value if step.is_kept(value) => walk_steps(rest, value, found),
        _ => {}
    };
    match value {
        Value::Object(fields) if step.name == "*" => fields.values().for_each(onwards),
        Value::Object(fields) => fields.get(&step.name).into_iter().for_each(onwards),
        Value::Array(list) if step.name == "*" => list.iter().for_each(onwards),
        Value::Array(list) => match step.name.parse::<usize>() {
            Ok(at) => list.get(at).into_iter().for_each(onwards),
            Err(_) => list.iter().for_each(|value| walk_steps(steps, value, found)),
        },
        _ => {}
    }
}

/// A single value as text; `None` for `null`, lists, and objects without `#text`. Integers are not converted through floats.
pub(super) fn scalar_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(n) => Some(n.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Object(fields) => fields.get("#text").and_then(scalar_text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(pointer: &str, value: &Value) -> Vec<String> {
        Pointer::parse_pointer(pointer).unwrap().find_all(value).into_iter().filter_map(scalar_text).collect()
    }

    #[test]
    fn pointers_go_through_lists_and_filters() {
        let value = json!({ "items": [
            { "id": 18446744073709551615u64, "answers": [{ "ok": false, "t": "no" }, { "ok": true, "t": "yes" }] },
            { "id": "b", "answers": [] },
        ], "a/b": { "~": 1.5 }, "row": { "@T": "1", "#text": "x" } });
        assert_eq!(found("/items/*/id", &value), ["18446744073709551615", "b"]);
        assert_eq!(found("/items/id", &value), ["18446744073709551615", "b"]);
        assert_eq!(found("/items/1/id", &value), ["b"]);
        assert_eq!(found("/items/*/answers/*[ok=true]/t", &value), ["yes"]);
        assert_eq!(found("/items/0/answers[ok=true]/t", &value), ["yes"]);
        assert_eq!(found("/a~1b/~0", &value), ["1.5"]);
        assert_eq!(found("/row[@T=1]", &value), ["x"]);
        assert_eq!(found("/row[@T=2]", &value), [""; 0]);
        assert_eq!(found("/nowhere/*", &value), [""; 0]);
        assert!(Pointer::parse_pointer("items").unwrap_err().to_string().contains("begins with"));
        assert!(Pointer::parse_pointer("/items[ok]").unwrap_err().to_string().contains("filter"));
    }
}
