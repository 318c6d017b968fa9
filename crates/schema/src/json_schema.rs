//! Tables as JSON Schema, for editors.

use serde_json::{Map, Value, json};

use crate::kind::{Key, Kind};

/// The dialect.
pub const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// A table with these keys, and no others.
pub fn table_schema<'k>(doc: &str, keys: impl IntoIterator<Item = &'k Key>) -> Value {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for key in keys {
        properties.insert(key.name.to_owned(), property_schema(key));
        required.extend(key.is_required.then_some(key.name));
    }
    let mut schema = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    if !doc.is_empty() {
        schema["description"] = doc.into();
    }
    if !required.is_empty() {
        schema["required"] = required.into();
    }
    schema
}

/// A file with these keys, and no others.
pub fn file_schema<'k>(title: &str, keys: impl IntoIterator<Item = &'k Key>) -> Value {
    let mut schema = table_schema("", keys);
    schema["$schema"] = DIALECT.into();
    schema["title"] = title.into();
    schema
}

/// Tables of one form that may occur several times.
pub fn list_schema(element: Value) -> Value {
    json!({ "type": "array", "items": element })
}

fn property_schema(key: &Key) -> Value {
    let mut schema = kind_schema(key.kind);
    schema["description"] = key.doc.into();
    if let Some(default) = key.default_value() {
        schema["default"] = default;
    }
    schema
}

/// The values of a kind.
pub fn kind_schema(of: Kind) -> Value {
    let text = json!({ "type": "string" });
    let bounds = |mut schema: Value, low: Option<Value>, high: Option<Value>| {
        for (name, bound) in [("minimum", low), ("maximum", high)] {
            if let Some(bound) = bound {
                schema[name] = bound;
            }
        }
        schema
    };
    match of {
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Whole(low, high) => bounds(
            json!({ "type": "integer" }),
            (low != i64::MIN).then(|| low.into()),
            (high != i64::MAX).then(|| high.into()),
        ),
        Kind::Number(low, high) => bounds(
            json!({ "type": "number" }),
            (low != f64::MIN).then(|| low.into()),
            (high != f64::MAX).then(|| high.into()),
        ),
        Kind::Choice(words) => json!({ "enum": words }),
        Kind::Text => text,
        Kind::Form(form) if form.is_text => text,
        Kind::Form(_) => json!({}),
        Kind::Texts | Kind::Steps => json!({ "type": "array", "items": text }),
        Kind::Map(words) => {
            let properties: Map<String, Value> =
                words.iter().map(|word| ((*word).to_owned(), text.clone())).collect();
            json!({ "type": "object", "properties": properties, "additionalProperties": false })
        }
        Kind::Names => json!({
            "type": "object",
            "propertyNames": { "pattern": "^[a-z_][a-z0-9_]*$" },
            "additionalProperties": text,
        }),
        Kind::Words => json!({ "type": "object", "additionalProperties": text }),
        Kind::Table(keys) => table_schema("", keys),
        Kind::Like(keys) => {
            // What it is like may have the rest, and an empty text takes a key away.
            let property = |key: &Key| {
                let schema =
                    json!({ "description": key.doc, "anyOf": [kind_schema(key.kind), { "const": "" }] });
                (key.name.to_owned(), schema)
            };
            let properties: Map<String, Value> = keys.iter().map(property).collect();
            json!({ "type": "object", "properties": properties, "additionalProperties": false })
        }
        Kind::Each(of) => json!({ "type": "object", "additionalProperties": kind_schema(*of) }),
        Kind::List(of) => list_schema(kind_schema(*of)),
        Kind::Either(kinds) => {
            json!({ "anyOf": kinds.iter().map(|one| kind_schema(*one)).collect::<Vec<_>>() })
        }
        Kind::Any => json!({}),
    }
}
