//! Machine-readable descriptions: JSON Schema and Data Package.

use serde_json::{Map, Value as Json, json};

use super::facts::Facts;
use super::layout::{Column, ColumnKind, Layout};

/// A closed JSON Schema of a config's rows.
pub fn json_schema(layout: &Layout) -> Json {
    let properties: Map<String, Json> =
        layout.columns.iter().map(|c| (c.name.to_string(), schema_property(c))).collect();
    let required: Vec<&str> = layout.columns.iter().map(|c| c.name).collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": layout.config,
        "description": layout.about,
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn schema_property(column: &Column) -> Json {
    let (list, item) = column.kind.split_list_kind();
    let simple = |kind: ColumnKind| match kind {
        ColumnKind::Count => "integer",
        ColumnKind::Real => "number",
        ColumnKind::Flag => "boolean",
        _ => "string",
    };
    let name = if list { "array" } else { simple(item) };
    let mut property = Map::new();
    property.insert("type".into(), if column.nullable { json!([name, "null"]) } else { json!(name) });
    property.insert("description".into(), json!(column.about));
    if list {
        let mut items = json!({ "type": simple(item) });
        if !column.values.is_empty() {
            items["enum"] = column.values.iter().map(|value| json!(value)).collect();
        }
        property.insert("items".into(), items);
    }
    if item == ColumnKind::Count && !list {
        property.insert("minimum".into(), json!(0));
    }
    if !column.values.is_empty() && !list {
        let mut values: Vec<Json> = column.values.iter().map(|value| json!(value)).collect();
        // In JSON Schema, null has to be listed among the values.
        values.extend(column.nullable.then_some(Json::Null));
        property.insert("enum".into(), values.into());
    }
    Json::Object(property)
}

/// The Data Package of a release: one resource per file of rows.
pub fn datapackage_json(facts: &Facts, layouts: &[Layout]) -> Json {
    let files = layouts.iter().zip(&facts.configs).flat_map(|(layout, shape)| {
        shape.written.splits.iter().map(move |split| (layout, split, shape.written.divided))
    });
    let resources: Vec<Json> = files
        .map(|(layout, split, divided)| {
            let fields: Vec<Json> = layout.columns.iter().map(datapackage_field).collect();
            let of_split = || format!("{}-{}", layout.config, split.name);
            json!({
                "name": if divided { of_split() } else { layout.config.to_owned() },
                "description": layout.about,
                "path": format!("data/{}/{}.jsonl", layout.config, split.name),
                "format": "jsonl",
                "mediatype": "application/jsonl",
                "encoding": "utf-8",
                "schema": { "fields": fields, "primaryKey": [layout.columns[0].name] },
            })
        })
        .collect();
    let mut package = json!({
        "name": facts.recipe,
        "title": facts.title,
        "version": facts.version,
        "sources": facts.raw.iter().map(|r| json!({ "title": r.file })).collect::<Vec<_>>(),
        "resources": resources,
    });
    if !facts.licence.texts.is_empty() {
        let licence = |(name, path): &(String, String)| json!({ "name": name, "path": path });
        package["licenses"] = facts.licence.texts.iter().map(licence).collect();
    }
    if let Some(date) = &facts.date {
        package["created"] = json!(format!("{date}T00:00:00Z"));
    }
    package
}

fn datapackage_field(column: &Column) -> Json {
    let kind = match column.kind {
        ColumnKind::Text => "string",
        ColumnKind::Count => "integer",
        ColumnKind::Real => "number",
        ColumnKind::Flag => "boolean",
        ColumnKind::Texts | ColumnKind::Counts | ColumnKind::Reals => "array",
    };
    json!({
        "name": column.name, "type": kind, "description": column.about,
        "constraints": { "required": !column.nullable },
    })
}
