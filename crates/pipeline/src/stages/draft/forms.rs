//! Schemas of the parts of a reply. Every field of an object is required, and there are no others.

use serde_json::{Map, Value as Json, json};

pub(super) fn object(fields: Vec<(&str, Json)>) -> Json {
    let names: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    let required = json!(names);
    let properties: Map<String, Json> =
        fields.into_iter().map(|(name, form)| (name.to_owned(), form)).collect();
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

pub(super) fn text() -> Json {
    json!({"type": "string"})
}

pub(super) fn text_or_none() -> Json {
    json!({"type": ["string", "null"]})
}

pub(super) fn flag() -> Json {
    json!({"type": "boolean"})
}

pub(super) fn integer() -> Json {
    json!({"type": "integer"})
}

pub(super) fn one_of(names: &[&str]) -> Json {
    json!({"type": "string", "enum": names})
}

pub(super) fn list(of: &Json, fewest: usize, most: usize) -> Json {
    json!({"type": "array", "items": of, "minItems": fewest, "maxItems": most})
}
