//! pipeline.toml as JSON Schema, with which editors complete and check it.

use riddlemill_schema::{Key, Table as _, json_schema as schema};
use serde_json::{Map, Value, json};

use super::own;
use super::sections::{Run, SECTIONS};
use super::source::{PUBLISHED, SOURCE};
use super::{VERSION, reference};
use riddlemill_harvest::crawl;
use riddlemill_review::Annotator;

/// The schema of pipeline.toml for these recipes, in the dialect of 2020-12.
pub fn json_schema(recipes: &[&str]) -> Value {
    let mut properties = Map::new();
    properties.insert("version".into(), json!({ "type": "integer", "maximum": VERSION }));
    for section in SECTIONS {
        properties.insert(section.name.into(), schema::table(section.doc, section.keys));
    }
    for section in [SOURCE, PUBLISHED, Annotator::SECTION, crawl::settings::Source::SECTION] {
        properties.insert(section.name.into(), schema::list(schema::table(section.doc, section.keys)));
    }
    let endpoint = schema::table(reference::LLM.doc, reference::LLM.keys);
    properties.insert("llm".into(), json!({ "type": "object", "additionalProperties": endpoint }));
    // What a folder that is set aside declares is not known.
    let aside = riddlemill_benchmarks::aside().iter().map(|aside| (aside.name.to_owned(), json!({})));
    let of_recipes: Map<String, Value> =
        recipes.iter().map(|recipe| ((*recipe).to_owned(), of_recipe(recipe))).chain(aside).collect();
    let of_recipes = json!({ "type": "object", "properties": of_recipes, "additionalProperties": false });
    properties.insert("recipe".into(), of_recipes);
    json!({
        "$schema": schema::DIALECT,
        "title": "Settings of a riddlemill workspace",
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    })
}

/// What one recipe may set: all but what concerns a run as a whole, and what its benchmark declares.
fn of_recipe(recipe: &str) -> Value {
    let shared = SECTIONS.iter().filter(|section| section.name != Run::SECTION.name);
    let own =
        own::sections(recipe).into_iter().filter(|name| SECTIONS.iter().all(|section| section.name != *name));
    let shared = shared.map(|section| (section.name, section.doc, section.keys));
    let tables = shared.chain(own.map(|name| (name, "", &[] as &[Key])));
    let table = |(name, doc, keys): (&str, &str, &[Key])| {
        let keys: Vec<Key> = keys.iter().copied().chain(own::keys(recipe, name)).collect();
        (name.to_owned(), schema::table(doc, &keys))
    };
    let tables: Map<String, Value> = tables.map(table).collect();
    json!({ "type": "object", "properties": tables, "additionalProperties": false })
}
