//! Checks a config's rows against their schema, their layout, the Parquet file and the published form.

use std::path::Path;

use riddlemill_benchmarks::compat::CompatFormat;
use riddlemill_benchmarks::notation;
use rustc_hash::FxHashSet;
use serde_json::{Map, Value as Json};
use unicode_normalization::is_nfc;

use super::{Verified, splits};
use crate::layout::{self, Compat, Layout};
use crate::manifest::CandidateManifest;
use crate::parquet;
use crate::row::Row;
use crate::tabled;
use riddlemill_files::fence;
use riddlemill_text::text::count_with_noun;

/// Most findings per config; with more, it is simply another file.
const LISTED: usize = 20;

pub(super) fn check_rows(
    folder: &Path,
    manifest: &CandidateManifest,
    config: &str,
    stated: u64,
    verified: &mut Verified,
) {
    let mut found = Vec::new();
    let mut ids = FxHashSet::default();
    let mut files = Vec::new();
    for (split, stated) in manifest.splits_of(config) {
        let file = format!("data/{config}/{split}.jsonl");
        let rows = match fence::read_to_string(folder.join(&file)) {
            Ok(text) => check_lines(folder, config, &file, &text, &mut ids, &mut found),
            Err(e) => {
                found.push(format!("{file}: {e}"));
                Vec::new()
            }
        };
        if rows.len() as u64 != stated {
            found.push(format!(
                "{file}: {}, MANIFEST.json says {stated}",
                count_with_noun(rows.len() as u64, "row")
            ));
        }
        files.push((file, rows));
    }
    let all: u64 = files.iter().map(|(_, rows)| rows.len() as u64).sum();
    verified.rows += all;
    if all != stated && manifest.splits.contains_key(config) {
        found.push(format!("data/{config}: {}, MANIFEST.json says {stated}", count_with_noun(all, "row")));
    }
    let first = files.iter().find_map(|(_, rows)| rows.first());
    if let Some(layout) = first.and_then(|row| layout_of(folder, config, row)) {
        let rows = against_layout(folder, &layout, &files, &mut found);
        splits::check_splits(folder, manifest, &layout, &rows, &mut found);
    }
    found.truncate(LISTED);
    verified.findings.append(&mut found);
}

/// The layout of a config, if this row fits it: from the benchmark's folder inside, else today's.
fn layout_of(folder: &Path, config: &str, row: &Map<String, Json>) -> Option<Layout> {
    let posts = || crate::recipe::find_recipe(config).map(|recipe| layout::layout_of_posts(recipe.name));
    let keys = row.keys().map(String::as_str);
    if let Some(layout) = layout::made_with(folder, config, keys.clone()) {
        return Some(layout);
    }
    let layout = layout::find_layout(config).copied().or_else(posts)?.of_keys(keys.clone());
    keys.eq(layout.columns.iter().map(|c| c.name)).then_some(layout)
}

/// The rows of a file, each checked against its schema.
fn check_lines(
    folder: &Path,
    config: &str,
    file: &str,
    text: &str,
    ids: &mut FxHashSet<String>,
    findings: &mut Vec<String>,
) -> Vec<Map<String, Json>> {
    let name = format!("schema/{config}.schema.json");
    let bytes = fence::read(folder.join(&name));
    let schema: Json = match bytes.and_then(|bytes| Ok(serde_json::from_slice(&bytes)?)) {
        Ok(schema) => schema,
        Err(e) => {
            findings.push(format!("{name}: {e}"));
            return Vec::new();
        }
    };
    if !text.is_empty() && !text.ends_with('\n') {
        findings.push(format!("{file}: its last line is cut"));
    }
    let mut rows = Vec::new();
    let mut keys: Option<Vec<String>> = None;
    // `lines` would hide a carriage return, which is reported below.
    for (i, line) in text.split_terminator('\n').enumerate() {
        let row: Map<String, Json> = match serde_json::from_str(line) {
            Ok(row) => row,
            Err(e) => {
                findings.push(format!("{file}:{}: {e}", i + 1));
                continue;
            }
        };
        let mut wrong = |what: String| findings.push(format!("{file}:{}: {what}", i + 1));
        if let Err(error) = fits_schema(&schema, &row) {
            wrong(error.to_string());
        }
        if !is_nfc(line) || line.contains('\r') {
            wrong("not in NFC, or with a carriage return".into());
        }
        let order: Vec<String> = row.keys().cloned().collect();
        if keys.get_or_insert_with(|| order.clone()) != &order {
            wrong("other keys, or in another order, than the first row".into());
        }
        let id = row.values().next().and_then(Json::as_str).unwrap_or_default();
        if !ids.insert(id.to_string()) {
            wrong(format!("id {id:?} occurs twice"));
        }
        rows.push(row);
    }
    rows
}

/// Where a row and its schema differ.
#[derive(Debug, thiserror::Error)]
enum Misfit {
    #[error("the schema has no properties")]
    NoProperties,
    #[error("{0:?} is not in the schema")]
    Unknown(String),
    #[error("no {0:?}")]
    Missing(String),
    /// A value, or one in a list, is of another type.
    #[error("{key}: {value} is not {types}")]
    Type { key: String, value: Json, types: String },
    /// A value, or one in a list, is not in the closed list.
    #[error("{key}: {value} is none of the allowed values")]
    NotAllowed { key: String, value: Json },
}

/// Checks against a closed schema of one object: the part of JSON Schema that releases use.
fn fits_schema(schema: &Json, row: &Map<String, Json>) -> Result<(), Misfit> {
    let properties = schema["properties"].as_object().ok_or(Misfit::NoProperties)?;
    if let Some(key) = row.keys().find(|key| !properties.contains_key(*key)) {
        return Err(Misfit::Unknown(key.clone()));
    }
    for (key, property) in properties {
        let value = row.get(key).ok_or_else(|| Misfit::Missing(key.clone()))?;
        let other_type =
            |value: &Json, types: String| Misfit::Type { key: key.clone(), value: value.clone(), types };
        let not_allowed = |value: &Json| Misfit::NotAllowed { key: key.clone(), value: value.clone() };
        let types: Vec<&str> = match &property["type"] {
            Json::Array(types) => types.iter().filter_map(Json::as_str).collect(),
            one => one.as_str().into_iter().collect(),
        };
        if !types.iter().any(|t| is_of_type(value, t)) {
            return Err(other_type(value, types.join(" or ")));
        }
        if let Some(allowed) = property["enum"].as_array().filter(|_| !value.is_null())
            && !allowed.contains(value)
        {
            return Err(not_allowed(value));
        }
        if let (Some(item), Some(list)) = (property["items"]["type"].as_str(), value.as_array())
            && let Some(strange) = list.iter().find(|v| !is_of_type(v, item))
        {
            return Err(other_type(strange, item.to_owned()));
        }
        if let (Some(allowed), Some(list)) = (property["items"]["enum"].as_array(), value.as_array())
            && let Some(strange) = list.iter().find(|value| !allowed.contains(value))
        {
            return Err(not_allowed(strange));
        }
    }
    Ok(())
}

fn is_of_type(value: &Json, name: &str) -> bool {
    match name {
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "null" => value.is_null(),
        _ => false,
    }
}

/// Checks options and labels, the same rows in Parquet, and the published form. Returns the rows by file, those that fit.
fn against_layout(
    folder: &Path,
    layout: &Layout,
    files: &[(String, Vec<Map<String, Json>>)],
    findings: &mut Vec<String>,
) -> Vec<(String, Vec<Row>)> {
    let mut typed = Vec::new();
    for (file, rows) in files {
        typed.push((file.clone(), file_against_layout(folder, layout, file, rows, findings)));
    }
    // The published form is made from the rows: where one of them fails, it cannot be told whether the form fits, and a second
    // finding would hide the first.
    let whole = typed.iter().zip(files).all(|((_, typed), (_, rows))| typed.len() == rows.len());
    let all: Vec<Row> = match whole && !layout.compat.is_empty() {
        true => typed.iter().flat_map(|(_, rows)| rows.iter().cloned()).collect(),
        false => Vec::new(),
    };
    for compat in layout.compat.iter().filter(|_| whole) {
        let name = format!("compat/{}", compat.file);
        if !is_published(&folder.join(&name), layout, compat, &all) {
            findings.push(format!("{name}: not the published form of the rows"));
        }
    }
    typed
}

/// Checks the rows of one file, and the same rows in Parquet. Returns those that fit.
fn file_against_layout(
    folder: &Path,
    layout: &Layout,
    file: &str,
    rows: &[Map<String, Json>],
    findings: &mut Vec<String>,
) -> Vec<Row> {
    let mut typed = Vec::with_capacity(rows.len());
    for (i, row) in rows.iter().enumerate() {
        match Row::from_json(layout, row).and_then(|row| layout.check_row(&row).map(|()| row)) {
            Ok(row) => typed.push(row),
            Err(what) => findings.push(format!("{file}:{}: {what}", i + 1)),
        }
    }
    let name = file.replace(".jsonl", ".parquet");
    match parquet::read_parquet(&folder.join(&name), layout.columns) {
        Ok(columns) if columns.len() != rows.len() => findings.push(format!(
            "{name}: {}, {file} has {}",
            count_with_noun(columns.len() as u64, "row"),
            rows.len()
        )),
        // If a row could not be read, later rows would be compared with the wrong ones.
        Ok(columns) if typed.len() == rows.len() => {
            if let Some(i) = (0..columns.len()).find(|i| columns[*i] != typed[*i]) {
                findings.push(format!("{name}: row {} differs from {file}", i + 1));
            }
        }
        Ok(_) => {}
        Err(e) => findings.push(format!("{name}: {e}")),
    }
    typed
}

/// Whether a file holds the rows in its published form.
fn is_published(path: &Path, layout: &Layout, compat: &Compat, rows: &[Row]) -> bool {
    let text = || fence::read_to_string(path).unwrap_or_default();
    match compat.form {
        CompatFormat::Parquet => {
            let cells: Vec<_> =
                rows.iter().filter_map(|row| tabled::table_cells(layout, compat, row).ok()?).collect();
            let (columns, rows) = tabled::parquet_columns(layout, compat, &cells);
            parquet::read_parquet(path, &columns).is_ok_and(|read| read == rows)
        }
        CompatFormat::Csv | CompatFormat::Tsv => {
            let lines = rows.iter().filter_map(|row| tabled::table_line(layout, compat, row).ok()?);
            let whole: String = tabled::header_line(compat).into_iter().chain(lines).collect();
            text() == whole
        }
        CompatFormat::Json | CompatFormat::JsonLines => {
            let text = text();
            let read: Result<Vec<&str>, _> = match compat.form {
                CompatFormat::JsonLines => Ok(text.lines().collect()),
                _ => notation::split_elements(&text),
            };
            // Compared as text, because the order of keys is part of the published form. Text that is not JSON (a
            // bare NaN) is unchanged.
            let as_text = |line: &str| match serde_json::from_str::<Json>(line) {
                Ok(json) => json.to_string(),
                Err(_) => line.to_owned(),
            };
            let expected: Vec<String> =
                rows.iter().filter_map(|row| layout.published_line(compat, row).ok()?).collect();
            read.is_ok_and(|read| read.into_iter().map(as_text).eq(expected.iter().map(|line| as_text(line))))
        }
    }
}
