//! Machine-readable descriptions: JSON Schema, Croissant and Data Package.

use serde_json::{Map, Value as Json, json};

use super::facts::Facts;
use super::layout::{Column, Kind, Layout};

/// A closed JSON Schema of a config's rows.
pub fn json_schema(layout: &Layout) -> Json {
    let properties: Map<String, Json> =
        layout.columns.iter().map(|c| (c.name.to_string(), property(c))).collect();
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

fn property(column: &Column) -> Json {
    let (list, item) = column.kind.item();
    let simple = |kind: Kind| match kind {
        Kind::Count => "integer",
        Kind::Real => "number",
        Kind::Flag => "boolean",
        _ => "string",
    };
    let name = if list { "array" } else { simple(item) };
    let mut property = Map::new();
    property.insert("type".into(), if column.nullable { json!([name, "null"]) } else { json!(name) });
    property.insert("description".into(), json!(column.about));
    if list {
        property.insert("items".into(), json!({ "type": simple(item) }));
    }
    if item == Kind::Count && !list {
        property.insert("minimum".into(), json!(0));
    }
    if !column.values.is_empty() {
        let mut values: Vec<Json> = column.values.iter().map(|value| json!(value)).collect();
        // JSON Schema holds null to be one of the values, too.
        values.extend(column.nullable.then_some(Json::Null));
        property.insert("enum".into(), values.into());
    }
    Json::Object(property)
}

/// The Data Package of a release: a resource a config.
pub fn datapackage(facts: &Facts, layouts: &[Layout]) -> Json {
    let resources: Vec<Json> = layouts
        .iter()
        .map(|layout| {
            let fields: Vec<Json> = layout.columns.iter().map(field).collect();
            json!({
                "name": layout.config,
                "description": layout.about,
                "path": format!("data/{}/test.jsonl", layout.config),
                "format": "jsonl",
                "mediatype": "application/jsonl",
                "encoding": "utf-8",
                "schema": { "fields": fields, "primaryKey": [layout.columns[0].name] },
            })
        })
        .collect();
    let mut package = json!({
        "name": facts.recipe,
        "title": title(facts),
        "version": facts.version,
        "licenses": [{ "name": facts.licence.spdx, "path": facts.licence.url }],
        "sources": facts.raw.iter().map(|r| json!({ "title": r.file })).collect::<Vec<_>>(),
        "resources": resources,
    });
    if let Some(date) = &facts.date {
        package["created"] = json!(format!("{date}T00:00:00Z"));
    }
    package
}

fn field(column: &Column) -> Json {
    let kind = match column.kind {
        Kind::Text => "string",
        Kind::Count => "integer",
        Kind::Real => "number",
        Kind::Flag => "boolean",
        Kind::Texts | Kind::Counts | Kind::Reals => "array",
    };
    json!({
        "name": column.name, "type": kind, "description": column.about,
        "constraints": { "required": !column.nullable },
    })
}

fn title(facts: &Facts) -> String {
    format!("{}, rebuilt: {}", facts.paper.set, facts.recipe)
}

/// The Croissant description (1.0, with its RAI fields). `files` are path and SHA-256 of data files.
pub fn croissant(facts: &Facts, layouts: &[Layout], files: &[(String, String)]) -> Json {
    let distribution: Vec<Json> = files
        .iter()
        .map(|(path, sha256)| {
            json!({
                "@type": "cr:FileObject", "@id": path, "name": path, "contentUrl": path,
                "encodingFormat": encoding(path), "sha256": sha256,
            })
        })
        .collect();
    let creator: Vec<Json> = match facts.curator.get("authors").cloned().flatten() {
        Some(names) => names.lines().map(|name| json!({ "@type": "Person", "name": name.trim() })).collect(),
        None => vec![json!({ "@type": "Organization", "name": format!("the curator of {}", facts.recipe) })],
    };
    let words = |subject: &str| facts.curator.get(subject).cloned().flatten();
    let mut json = json!({
        "@context": context(),
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": facts.recipe,
        "description": format!("{}: {}. {}", title(facts), facts.about, layouts.first().map_or("", |l| l.about)),
        "license": facts.licence.url,
        "url": facts.url,
        "creator": creator,
        "version": facts.version,
        "inLanguage": facts.paper.languages,
        "isLiveDataset": false,
        "citeAs": format!("{} ({}). {}. {}", facts.paper.authors, facts.paper.year, facts.paper.title, facts.paper.url),
        "distribution": distribution,
        "recordSet": layouts.iter().map(record_set).collect::<Vec<_>>(),
        "rai:dataCollection": format!("Posts of {} were imported from dumps; every stage keeps a ledger of what it let through and why.", files_of(facts)),
        "rai:dataCollectionType": ["Web Scraping"],
        "rai:dataPreprocessingProtocol": facts.funnel.iter().map(|s| format!("{}: {} in, {} out", s.stage, s.records_in, s.records_out)).collect::<Vec<_>>(),
        "rai:personalSensitiveInformation": ["Names and ids of users are hashed at import; personal data in texts is replaced by marks."],
        "rai:dataReleaseMaintenancePlan": "Versions follow the rows: MAJOR where a row is edited, removed or moved, MINOR where rows are added, PATCH where the same rows are packaged anew. A version is never overwritten.",
    });
    if let Some(date) = &facts.date {
        json["datePublished"] = json!(date);
    }
    for (key, subject) in [("rai:dataUseCases", "uses"), ("rai:dataLimitations", "limits")] {
        if let Some(text) = words(subject) {
            json[key] = json!([text]);
        }
    }
    json
}

fn files_of(facts: &Facts) -> String {
    facts.raw.iter().map(|r| r.file.as_str()).collect::<Vec<_>>().join(", ")
}

fn encoding(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, end)| end) {
        Some("parquet") => "application/x-parquet",
        Some("json") => "application/json",
        _ => "application/jsonlines",
    }
}

fn record_set(layout: &Layout) -> Json {
    let file = format!("data/{}/test.jsonl", layout.config);
    let fields: Vec<Json> = layout
        .columns
        .iter()
        .map(|column| {
            let (list, item) = column.kind.item();
            let kind = match item {
                Kind::Count => "sc:Integer",
                Kind::Real => "sc:Float",
                Kind::Flag => "sc:Boolean",
                _ => "sc:Text",
            };
            let mut field = json!({
                "@type": "cr:Field", "@id": format!("{}/{}", layout.config, column.name), "name": column.name,
                "description": column.about, "dataType": kind,
                "source": { "fileObject": { "@id": file }, "extract": { "column": column.name } },
            });
            if list {
                field["repeated"] = json!(true);
            }
            field
        })
        .collect();
    json!({
        "@type": "cr:RecordSet", "@id": layout.config, "name": layout.config, "description": layout.about,
        "key": { "@id": format!("{}/{}", layout.config, layout.columns[0].name) },
        "field": fields,
    })
}

/// The context that the format prescribes, whole.
fn context() -> Json {
    json!({
        "@language": "en",
        "@vocab": "https://schema.org/",
        "citeAs": "cr:citeAs",
        "column": "cr:column",
        "conformsTo": "dct:conformsTo",
        "cr": "http://mlcommons.org/croissant/",
        "rai": "http://mlcommons.org/croissant/RAI/",
        "data": { "@id": "cr:data", "@type": "@json" },
        "dataType": { "@id": "cr:dataType", "@type": "@vocab" },
        "dct": "http://purl.org/dc/terms/",
        "examples": { "@id": "cr:examples", "@type": "@json" },
        "extract": "cr:extract",
        "field": "cr:field",
        "fileProperty": "cr:fileProperty",
        "fileObject": "cr:fileObject",
        "fileSet": "cr:fileSet",
        "format": "cr:format",
        "includes": "cr:includes",
        "isLiveDataset": "cr:isLiveDataset",
        "jsonPath": "cr:jsonPath",
        "key": "cr:key",
        "md5": "cr:md5",
        "parentField": "cr:parentField",
        "path": "cr:path",
        "recordSet": "cr:recordSet",
        "references": "cr:references",
        "regex": "cr:regex",
        "repeated": "cr:repeated",
        "replace": "cr:replace",
        "sc": "https://schema.org/",
        "separator": "cr:separator",
        "source": "cr:source",
        "subField": "cr:subField",
        "transform": "cr:transform",
    })
}
