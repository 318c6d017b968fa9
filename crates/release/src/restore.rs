//! Restores every released version from the registry alone, with the notice in the folder of a yanked one: on the card, in
//! YANKED.md and in the manifest.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::path::{Path, PathBuf};

use riddlemill_benchmarks::splits::WHOLE;
use riddlemill_files::fence;

use super::error::ReleaseError;
use super::layout::{self, Layout};
use super::manifest::{CandidateManifest, MANIFEST, SUMS, Yanked};
use super::read_rows::JsonRow;
use super::registry::{Registry, Release, TEXTS, open_sealed};
use super::row::Row;
use super::source::CandidateSource;
use super::{data, eval_files};
use crate::recipe::Recipe;
use crate::store::{Error, Workspace, durable, path_inside, sha256_of_file};

/// Rows read at a time.
const BATCH: usize = 1 << 16;

/// A restored version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    pub version: String,
    /// Files that differ from the released ones: Parquet written by another version of the library.
    pub differs: Vec<String>,
}

/// Writes every registered version of a recipe that output/ lacks.
///
/// # Errors
/// [`ReleaseError`] if the registry cannot be read or a folder not written.
pub fn restore_versions(
    workspace: &Workspace,
    recipe: &'static Recipe,
) -> Result<Vec<Restored>, ReleaseError> {
    let registry = Registry::open(workspace, recipe.name)?;
    registry.name_sealed()?;
    let mut restored = Vec::new();
    for release in &registry.releases {
        let place = workspace.candidate_folder(recipe.name).with_file_name(release.version.to_string());
        let yanked = registry.yanked.get(&release.version);
        let is_there = match yanked {
            Some(yanked) => is_marked(&place, yanked),
            None => is_intact(&place, release),
        };
        if is_there {
            continue;
        }
        let temp_dir = durable::name_while_making(&place);
        durable::remove_folder(&temp_dir)?;
        durable::create_folder(&temp_dir)?;
        let differs = build_version(&registry, release, recipe, &temp_dir)?;
        if let Some(yanked) = yanked {
            mark_yanked(&temp_dir, yanked)?;
        }
        durable::swap_folder(&temp_dir, &place)?;
        restored.push(Restored { version: release.version.to_string(), differs });
    }
    Ok(restored)
}

/// Whether a version's folder exists with the released checksums and all their files.
fn is_intact(folder: &Path, release: &Release) -> bool {
    let Ok(sums) = fence::read_to_string(folder.join(SUMS)) else { return false };
    sha256_of_file(&folder.join(SUMS)).is_ok_and(|sum| sum == release.sums)
        && sums
            .lines()
            .filter_map(|line| line.split_once("  "))
            .all(|(_, file)| path_inside(folder, file).is_ok_and(|file| file.is_file()))
}

/// Builds a version's folder from the sealed files. Returns the files that differ from the released ones.
fn build_version(
    registry: &Registry,
    release: &Release,
    recipe: &'static Recipe,
    making: &Path,
) -> Result<Vec<String>, ReleaseError> {
    let path = find_sealed_file(registry, release, TEXTS)?;
    for line in open_sealed(&path)?.lines() {
        let line = line.map_err(Error::io("read", &path))?;
        let (name, text): (String, String) =
            serde_json::from_str(&line).map_err(|e| damaged_file(&path, e))?;
        let file = path_inside(making, &name)?;
        if let Some(parent) = file.parent() {
            durable::create_folder(parent)?;
        }
        durable::write_synced(&file, text.as_bytes())?;
    }
    for name in release.sealed.keys() {
        let Some(items) = eval_files::path_of_sealed(name) else { continue };
        let (from, to) = (find_sealed_file(registry, release, name)?, path_inside(making, &items)?);
        if let Some(parent) = to.parent() {
            durable::create_folder(parent)?;
        }
        let mut file = std::fs::File::create(&to).map_err(Error::io("create", &to))?;
        std::io::copy(&mut open_sealed(&from)?, &mut file).map_err(Error::io("write", &to))?;
        file.sync_data().map_err(Error::io("write", &to))?;
    }
    // The benchmark's folder used at the time is among its texts.
    let today =
        layout::layouts_of_recipe(recipe, CandidateSource::of_chain(recipe, release.stages).row_kind());
    let mut kept = Vec::new();
    for config in release.configs.keys() {
        let today = today.iter().find(|layout| layout.config == config);
        kept.extend(released_layout(registry, release, config, making, today)?);
    }
    for layout in &kept {
        rows_again(registry, release, layout, making)?;
    }
    let sums = fence::read_to_string(making.join(SUMS)).map_err(Error::io("read", &making.join(SUMS)))?;
    let mut differs = Vec::new();
    for (sum, file) in sums.lines().filter_map(|line| line.split_once("  ")) {
        let same =
            || Ok::<_, Error>(sha256_of_file(&path_inside(making, file)?).is_ok_and(|found| found == sum));
        if same()? {
            continue;
        }
        // An earlier version of the program stated other types in Parquet files.
        if let Some(layout) = kept.iter().find(|layout| data::parquet_of(layout) == file) {
            let (path, lines) = kept_lines(registry, release, layout.config)?;
            data::write_views(making, layout, parse_batches(lines, *layout, path))?;
            if same()? {
                continue;
            }
            // Written by another library: then the types supported by every reader are better.
            rows_again(registry, release, layout, making)?;
        }
        differs.push(file.to_string());
    }
    Ok(differs)
}

/// Writes the files of a config's rows, whose splits the manifest names.
fn rows_again(
    registry: &Registry,
    release: &Release,
    layout: &Layout,
    temp_dir: &Path,
) -> Result<(), ReleaseError> {
    // That of an earlier version of the program may have another form, and names no splits.
    let manifest = CandidateManifest::read_manifest(temp_dir).ok().flatten();
    let splits = manifest.map_or_else(|| vec![(WHOLE.to_owned(), 0)], |known| known.splits_of(layout.config));
    let mut parts = Vec::new();
    let mut before = 0;
    for (name, rows) in &splits {
        let (path, lines) = kept_lines(registry, release, layout.config)?;
        let rows = usize::try_from(*rows).unwrap_or(usize::MAX);
        // The one file of a set that is not divided has every row, whatever its manifest says.
        let rows = if splits.len() == 1 { usize::MAX } else { rows };
        parts.push((name.as_str(), parse_batches(lines.skip(before).take(rows), *layout, path)));
        before = before.saturating_add(rows);
    }
    data::write_data(temp_dir, layout, parts, |_| ())?;
    Ok(())
}

/// The layout of a release's rows: by the benchmark's folder inside it, else by today's.
fn released_layout(
    registry: &Registry,
    release: &Release,
    config: &str,
    temp_dir: &Path,
    today: Option<&Layout>,
) -> Result<Option<Layout>, Error> {
    let (path, mut lines) = kept_lines(registry, release, config)?;
    // Without rows nothing shows which columns the release had.
    let Some(line) = lines.next() else { return Ok(today.copied()) };
    let line = line.map_err(Error::io("read", &path))?;
    let row: JsonRow =
        serde_json::from_str(&line).map_err(|e| damaged_file(&path, format!("line 1: {e}")))?;
    let keys = row.keys().map(String::as_str);
    let then = layout::made_with(temp_dir, config, keys.clone());
    Ok(then.or_else(|| Some(today?.of_keys(keys))))
}

/// A sealed file of a release, checked against the registry.
fn find_sealed_file(registry: &Registry, release: &Release, name: &str) -> Result<PathBuf, Error> {
    let path = registry.version_folder(release.version).join(name);
    let stated =
        release.sealed.get(name).ok_or_else(|| damaged_file(&path, "the registry does not name it"))?;
    match sha256_of_file(&path)? == *stated {
        true => Ok(path),
        false => Err(damaged_file(&path, "its bytes are not those the registry names")),
    }
}

/// Problems of a recipe's registry and its sealed files: where, and what.
pub fn registry_problems(workspace: &Workspace, recipe: &'static Recipe) -> Vec<(PathBuf, String)> {
    let registry = match Registry::open(workspace, recipe.name) {
        Ok(registry) => registry,
        Err(e) => return vec![(workspace.raw_folder().join("releases").join(recipe.name), e.to_string())],
    };
    let mut found = Vec::new();
    for release in &registry.releases {
        for name in release.sealed.keys() {
            if let Err(e) = find_sealed_file(&registry, release, name) {
                found.push((registry.version_folder(release.version).join(name), e.to_string()));
            }
        }
    }
    found
}

/// The lines of a release's rows as sealed, and the sealed file.
pub(super) fn kept_lines(
    registry: &Registry,
    release: &Release,
    config: &str,
) -> Result<(PathBuf, impl Iterator<Item = std::io::Result<String>> + use<>), Error> {
    let path = find_sealed_file(registry, release, &format!("rows-{config}.jsonl.zst"))?;
    let lines = open_sealed(&path)?.lines();
    Ok((path, lines))
}

/// JSON Lines as rows of a layout, a batch at a time.
pub(super) fn parse_batches(
    mut lines: impl Iterator<Item = std::io::Result<String>>,
    layout: Layout,
    path: PathBuf,
) -> impl Iterator<Item = Result<Vec<Row>, Error>> {
    let mut number = 0;
    std::iter::from_fn(move || {
        let mut rows = Vec::new();
        for line in lines.by_ref().take(BATCH) {
            number += 1;
            let row = line.map_err(Error::io("read", &path)).and_then(|line| {
                let json = serde_json::from_str(&line)
                    .map_err(|e| damaged_file(&path, format!("line {number}: {e}")))?;
                Row::from_json(&layout, &json)
                    .map_err(|what| damaged_file(&path, format!("line {number}: {what}")))
            });
            match row {
                Ok(row) => rows.push(row),
                Err(e) => return Some(Err(e)),
            }
        }
        (!rows.is_empty()).then_some(Ok(rows))
    })
}

fn damaged_file(path: &Path, what: impl std::fmt::Display) -> Error {
    Error::Damaged {
        path: path.to_path_buf(),
        what: what.to_string(),
        hint: "it is not derived: restore it from a backup".into(),
    }
}

/// The notice's file name.
const NOTICE: &str = "YANKED.md";

/// The card in Chinese.
const CHINESE: &str = "README.zh.md";

/// Adds the notice to a release's folder, which is as released.
///
/// # Errors
/// [`Error`] if a file cannot be read or written.
pub(super) fn mark_yanked(folder: &Path, yanked: &Yanked) -> Result<(), Error> {
    let Some(mut manifest) = CandidateManifest::read_manifest(folder)? else { return Ok(()) };
    let date = &yanked.date;
    // The notice on the card is a quote of one line.
    let reason = yanked.reason.replace(['\n', '\r'], " ");
    let notice = format!(
        "# Yanked\n\n{} {} was yanked on {date}: {reason}\n\nDo not use it. A later version takes its place.\n",
        manifest.recipe, manifest.version
    );
    let card = folder.join("README.md");
    let text = fence::read_to_string(&card).map_err(Error::io("read", &card))?;
    let stated = format!("Version {}, ", manifest.version);
    let line =
        format!("> **Yanked on {date}:** {}. Do not use this version.\n\n", reason.trim_end_matches('.'));
    let mut noted = vec![("README.md", insert_before(&text, &stated, &line)), (NOTICE, notice)];
    let chinese = folder.join(CHINESE);
    // A version that was released before there was one has none.
    if chinese.is_file() {
        let text = fence::read_to_string(&chinese).map_err(Error::io("read", &chinese))?;
        let line = format!("> **已于 {date} 撤下：**{reason} 请勿使用此版本。\n\n");
        noted.push((CHINESE, insert_before(&text, &format!("版本 {}，", manifest.version), &line)));
    }
    for (name, text) in noted {
        let path = folder.join(name);
        durable::write_synced(&path, text.as_bytes())?;
        manifest.files.insert(name.into(), sha256_of_file(&path)?);
    }
    // The manifest has the hashes of the other files, and the checksums have that of the manifest.
    manifest.yanked = Some(yanked.clone());
    durable::write_synced(&folder.join(MANIFEST), &manifest.to_bytes())?;
    let mut sums: BTreeMap<String, String> = manifest.files;
    sums.insert(MANIFEST.into(), sha256_of_file(&folder.join(MANIFEST))?);
    let text: String = sums.iter().map(|(path, sum)| format!("{sum}  {path}\n")).collect();
    durable::write_synced(&folder.join(SUMS), text.as_bytes())
}

/// A text with a line before the place that begins so.
fn insert_before(text: &str, place: &str, line: &str) -> String {
    let at = text.find(place).unwrap_or(text.len());
    [&text[..at], line, &text[at..]].concat()
}

/// Whether a yanked version's folder is complete and has the notice.
pub(super) fn is_marked(folder: &Path, yanked: &Yanked) -> bool {
    let Ok(Some(manifest)) = CandidateManifest::read_manifest(folder) else { return false };
    manifest.yanked.as_ref() == Some(yanked)
        && folder.join(SUMS).is_file()
        && manifest.files.keys().all(|file| folder.join(file).is_file())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::changes::Changes;
    use crate::version::Version;

    /// A registry may come from somebody else with its workspace: its names cannot be trusted.
    #[test]
    fn a_name_in_somebodys_registry_leads_nowhere_else() {
        let dir = tempfile::tempdir().unwrap();
        let workspace = Workspace::new(dir.path().join("workspace"));
        let registry = Registry::open(&workspace, "flub").unwrap();
        let folder = registry.version_folder(Version::FIRST);
        durable::create_folder(&folder).unwrap();
        let absolute = dir.path().join("absolute");
        for name in ["../../../../../escaped", absolute.to_str().unwrap(), "a/../../escaped", ""] {
            let line = serde_json::to_vec(&(name, "text")).unwrap();
            let path = folder.join(TEXTS);
            durable::write_synced(&path, &zstd::encode_all(&line[..], 1).unwrap()).unwrap();
            let release = Release {
                version: Version::FIRST,
                date: String::new(),
                riddlemill: String::new(),
                configs: BTreeMap::new(),
                sums: String::new(),
                sealed: BTreeMap::from([(TEXTS.to_string(), sha256_of_file(&path).unwrap())]),
                stages: 5,
                changes: Changes::default(),
                allotted: Vec::new(),
                split: Vec::new(),
                retired: Vec::new(),
            };
            let making = dir.path().join("workspace/output/flub/.making");
            durable::create_folder(&making).unwrap();
            let recipe = crate::recipe::find_recipe("flub").unwrap();
            let error = build_version(&registry, &release, recipe, &making).unwrap_err().to_string();
            assert!(error.contains("it names the file"), "{error}");
        }
        let folders = std::fs::read_dir(dir.path()).unwrap().count();
        assert_eq!(folders, 1, "something was written outside the workspace");
    }

    #[test]
    fn a_sealed_file_of_kilobytes_gives_no_gigabytes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(TEXTS);
        let file = std::fs::File::create(&path).unwrap();
        let zeros = std::io::Read::take(std::io::repeat(b' '), 300 << 20);
        zstd::stream::copy_encode(zeros, file, 1).unwrap();
        let line = open_sealed(&path).unwrap().lines().next().unwrap();
        assert!(line.unwrap_err().to_string().contains("more than 256 MiB"));
    }
}
