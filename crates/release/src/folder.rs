//! A complete release folder: data, descriptions, cards, tasks, manifest and checksums.

use std::collections::BTreeMap;
use std::path::Path;

use super::facts::{Facts, Shape};
use super::layout::Layout;
use super::manifest::{CandidateManifest, Link, MADE_WITH, MANIFEST, SUMS};
use super::{croissant, schema, templates};
use crate::store::{Error, durable, sha256_of_file};
use riddlemill_files::fence;

/// Writes everything except the data files, which exist already, and returns the manifest.
///
/// # Errors
/// [`Error`] if a file cannot be written.
pub fn finish_folder(
    folder: &Path,
    facts: &Facts,
    layouts: &[Layout],
    stages: Vec<Link>,
    fingerprint: String,
) -> Result<CandidateManifest, Error> {
    let data: Vec<(String, String)> = list_files(folder)?
        .into_iter()
        .map(|path| {
            let sum = sha256_of_file(&folder.join(&path))?;
            Ok((path, sum))
        })
        .collect::<Result<_, Error>>()?;
    let template = |e: minijinja::Error| Error::io("render", folder)(std::io::Error::other(e));
    let mut texts = templates::render_files(facts).map_err(template)?;
    for layout in layouts {
        texts.push((
            format!("schema/{}.schema.json", layout.config),
            pretty_json(&schema::json_schema(layout)),
        ));
    }
    // Used by `verify` and `restore`, whatever the benchmark's folder contains by then.
    for benchmark in
        riddlemill_benchmarks::find_benchmark(facts.recipe).into_iter().flat_map(|b| b.with_others())
    {
        let path = |file: &str| format!("{MADE_WITH}/{}/{file}", benchmark.name);
        texts.extend(benchmark.files.iter().map(|(file, text)| (path(file), (*text).to_owned())));
    }
    texts.push(("datapackage.json".into(), pretty_json(&schema::datapackage_json(facts, layouts))));
    texts.push(("croissant.json".into(), pretty_json(&croissant::croissant_json(facts, layouts, &data))));
    let mut sums: BTreeMap<String, String> = data.into_iter().collect();
    for (path, text) in &texts {
        write_file(folder, path, text.as_bytes())?;
        sums.insert(path.clone(), sha256_of_file(&folder.join(path))?);
    }
    let manifest = CandidateManifest {
        recipe: facts.recipe.into(),
        version: if facts.candidate { "candidate".into() } else { facts.version.clone() },
        date: facts.date.clone(),
        riddlemill: facts.riddlemill.into(),
        rows: facts.configs.first().map_or(0, |c| c.written.rows),
        configs: facts.configs.iter().map(|c| (c.name.to_string(), c.written.rows)).collect(),
        splits: facts.configs.iter().filter_map(splits_of_config).collect(),
        draft: facts.draft.clone(),
        yanked: None,
        left_out: facts.left_out.clone(),
        waiting: facts.waiting,
        crossing: facts.crossing.clone(),
        refused: facts.refused.clone(),
        alike: facts.alike.clone(),
        licence: facts.licence.spdx.clone(),
        fingerprint,
        raw: facts.raw.clone(),
        stages,
        files: sums.clone(),
    };
    write_file(folder, MANIFEST, &manifest.to_bytes())?;
    sums.insert(MANIFEST.into(), sha256_of_file(&folder.join(MANIFEST))?);
    write_file(folder, SUMS, sums_text(&sums).as_bytes())?;
    Ok(manifest)
}

/// The splits of a config, if it is divided.
fn splits_of_config(shape: &Shape) -> Option<(String, Vec<(String, u64)>)> {
    let splits = shape.written.splits.iter().map(|split| (split.name.clone(), split.rows));
    shape.written.divided.then(|| (shape.name.to_owned(), splits.collect()))
}

/// The checksums of a folder's files, in the format of `sha256sum --check`.
pub(super) fn sums_text(sums: &BTreeMap<String, String>) -> String {
    sums.iter().map(|(path, sum)| format!("{sum}  {path}\n")).collect()
}

fn pretty_json(json: &serde_json::Value) -> String {
    format!("{json:#}\n")
}

fn write_file(folder: &Path, path: &str, bytes: &[u8]) -> Result<(), Error> {
    let place = folder.join(path);
    if let Some(parent) = place.parent() {
        durable::create_folder(parent)?;
    }
    durable::write_synced(&place, bytes)
}

/// Every file under a folder, relative, with `/`, sorted.
///
/// # Errors
/// [`Error::Io`] if a folder cannot be listed.
pub fn list_files(folder: &Path) -> Result<Vec<String>, Error> {
    Ok(list_entries(folder)?.into_iter().map(|(path, _)| path).collect())
}

/// [`list_files`], each with whether it is readable as a file: pipes, devices and links to folders or to nothing
/// are not, and below output/ no link out of the workspace is. Another link to a file is.
///
/// # Errors
/// Those of [`list_files`].
pub fn list_entries(folder: &Path) -> Result<Vec<(String, bool)>, Error> {
    let mut found = Vec::new();
    let mut waiting = vec![folder.to_path_buf()];
    while let Some(place) = waiting.pop() {
        for entry in fence::list(&place).map_err(Error::io("list", &place))? {
            let entry = entry.map_err(Error::io("list", &place))?;
            let path = entry.path();
            // Links to folders are not followed: one to a parent folder would loop.
            if entry.file_type().map_err(Error::io("read", &path))?.is_dir() {
                waiting.push(path);
            } else if let Ok(relative) = path.strip_prefix(folder) {
                let parts: Vec<_> = relative.iter().map(|p| p.to_string_lossy().into_owned()).collect();
                found.push((parts.join("/"), fence::is_file(&path)));
            }
        }
    }
    found.sort_unstable();
    Ok(found)
}
