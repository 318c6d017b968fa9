//! Reads rows from a release, a candidate, a stage, or a published file.

use std::path::Path;

use serde_json::{Map, Value as Json};

use super::manifest::CandidateManifest;
use crate::recipe::{Recipe, find_recipe};
use crate::stages::import::{NUMPY, numpy_rows};
use crate::store::{Error, Manifest, StageReader, json_parts};
use riddlemill_files::fence;

/// A row as JSON, with its keys in order.
pub type JsonRow = Map<String, Json>;

/// The recipe of a folder's rows: a release or candidate, or a stage; `None` if it is neither, or of an
/// unknown recipe.
///
/// # Errors
/// [`Error`] if a manifest cannot be read.
pub fn recipe_of_folder(folder: &Path) -> Result<Option<&'static Recipe>, Error> {
    let name = match CandidateManifest::read_manifest(folder)? {
        Some(candidate) => Some(candidate.recipe),
        None => Manifest::read_from_stage(folder)?.map(|manifest| manifest.recipe),
    };
    Ok(name.as_deref().and_then(find_recipe))
}

/// The rows of a folder by config: a release or candidate, or a stage.
///
/// # Errors
/// [`Error`] if it is neither, or a row cannot be read.
pub fn of_folder(folder: &Path) -> Result<Vec<(String, Vec<JsonRow>)>, Error> {
    if folder.is_file() {
        return Err(not_a_set(folder));
    }
    if let Some(manifest) = CandidateManifest::read_manifest(folder)? {
        let rows = |config: &String| -> Result<_, Error> {
            let mut rows = Vec::new();
            for file in manifest.files_of(config) {
                rows.append(&mut of_file(&folder.join(file))?);
            }
            Ok((config.clone(), rows))
        };
        return manifest.configs.keys().map(rows).collect();
    }
    let Some(stage) = StageReader::open(folder)? else {
        return Err(not_a_set(folder));
    };
    let mut rows = Vec::new();
    for part in json_parts(&stage, "rows", &[]) {
        rows.append(&mut part?);
    }
    Ok(vec![(stage.manifest().stage.clone(), rows)])
}

fn not_a_set(path: &Path) -> Error {
    Error::WrongKind {
        path: path.to_path_buf(),
        expected: "the folder of a release, candidate or stage",
        hint: "releases and candidates are in output/RECIPE/, stages in staged/RECIPE/",
    }
}

/// The rows of a folder or of a file.
///
/// # Errors
/// Those of [`of_folder`] and [`of_file`].
pub fn of_path(path: &Path) -> Result<Vec<JsonRow>, Error> {
    match path.is_dir() {
        true => Ok(of_folder(path)?.into_iter().flat_map(|(_, rows)| rows).collect()),
        false => of_file(path),
    }
}

/// The rows of a JSON or JSON Lines file, or of a numpy array as published for BrainTeaser. The bare token
/// `NaN`, which is not JSON but occurs in published files, is read as null.
///
/// # Errors
/// [`Error::Damaged`] with the line that cannot be read.
pub fn of_file(path: &Path) -> Result<Vec<JsonRow>, Error> {
    let bytes = fence::read(path).map_err(Error::io("read", path))?;
    let damaged = |what: String| Error::Damaged {
        path: path.to_path_buf(),
        what,
        hint: "expected JSON objects, one a line or in one array".into(),
    };
    if bytes.starts_with(NUMPY) {
        let rows = numpy_rows(&bytes).map_err(|what| damaged(what.into()))?;
        let row = |(at, row): (usize, &String)| {
            serde_json::from_str(&without_nan(row)).map_err(|e| damaged(format!("row {}: {e}", at + 1)))
        };
        return rows.iter().enumerate().map(row).collect();
    }
    let text = String::from_utf8(bytes).map_err(|e| damaged(e.to_string()))?;
    // Editors on Windows may write a byte order mark, which is not JSON.
    let text = text.trim_start_matches('\u{feff}');
    if text.trim_start().starts_with('[') {
        return serde_json::from_str(&without_nan(text)).map_err(|e| damaged(e.to_string()));
    }
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(i, line)| {
            serde_json::from_str(&without_nan(line)).map_err(|e| damaged(format!("line {}: {e}", i + 1)))
        })
        .collect()
}

/// JSON with null for every `NaN` outside of strings.
fn without_nan(json: &str) -> String {
    let mut out = String::with_capacity(json.len() + 8);
    let (mut inside, mut escaped, mut rest) = (false, false, json);
    while let Some(c) = rest.chars().next() {
        if !inside && rest.starts_with("NaN") {
            out.push_str("null");
            rest = &rest[3..];
            continue;
        }
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = inside,
            '"' => inside = !inside,
            _ => {}
        }
        out.push(c);
        rest = &rest[c.len_utf8()..];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nan_is_null_outside_of_strings_only() {
        let json = r#"{"a": NaN, "b": "NaN \" NaN", "c": [NaN, 1]}"#;
        assert_eq!(without_nan(json), r#"{"a": null, "b": "NaN \" NaN", "c": [null, 1]}"#);
    }
}
