//! Loads a set: a release or candidate, by its folder or as `recipe[@version]`, or a published file.

use std::borrow::Cow;
use std::path::Path;

use super::error::{EvaluateError, SetAside};
use super::item::Item;
use super::set::Set;
use super::task::Task;
use crate::pipeline::Withheld;
use crate::recipe;
use crate::release::layout::{self, Column};
use crate::release::read_rows::{self, JsonRow};
use crate::release::{CandidateManifest, Value};
use crate::store::Workspace;
use riddlemill_text::hint::unknown;

/// Loads a set named on the command line. Rows withdrawn from the workspace are left out: they are shown to
/// no model or judge, and appear in no result. With a split, only its rows are loaded.
///
/// # Errors
/// [`EvaluateError`] if it is not a set; rows that are not items are set aside.
pub fn load_set(
    workspace: &Workspace,
    named: &str,
    split: Option<&str>,
) -> Result<(Set, Vec<SetAside>), EvaluateError> {
    let path = Path::new(named);
    if path.is_file() {
        return match split {
            None => load_published(workspace, path),
            Some(split) => Err(EvaluateError::Unknown(format!(
                "--split {split}: {named} is a file and has no splits\n  hint: name the release's folder"
            ))),
        };
    }
    if path.is_dir() {
        return of_folder(workspace, path, split);
    }
    let (name, version) = named.split_once('@').unwrap_or((named, "candidate"));
    if let Some(problems) = recipe::problems_of(name) {
        return Err(EvaluateError::Unknown(problems.to_string()));
    }
    let Some(recipe) = recipe::find_recipe(name) else {
        return Err(EvaluateError::Unknown(format!(
            "{named:?} is not a folder, a file or a recipe\n  hint: there are {}, each with @version or as its candidate",
            recipe::recipe_names().join(", ")
        )));
    };
    // Releases are next to the candidate, each in a folder named after its version.
    let folder = workspace.candidate_folder(recipe.name).with_file_name(version);
    if !folder.is_dir() {
        let what = format!(
            "{}: not there\n  hint: `riddlemill run` builds candidates, `release` versions",
            folder.display()
        );
        return Err(EvaluateError::Unknown(what));
    }
    of_folder(workspace, &folder, split)
}

fn of_folder(
    workspace: &Workspace,
    folder: &Path,
    split: Option<&str>,
) -> Result<(Set, Vec<SetAside>), EvaluateError> {
    let Some(manifest) = CandidateManifest::read_manifest(folder)? else {
        let what = "no MANIFEST.json".to_string();
        let hint = "name a release's or candidate's folder, or a recipe".into();
        return Err(EvaluateError::Form { path: folder.into(), what, hint });
    };
    if let Some(problems) = recipe::problems_of(&manifest.recipe) {
        return Err(EvaluateError::Unknown(problems.to_string()));
    }
    let known = manifest.configs.keys().find(|config| !Task::of_config(config).is_empty());
    let Some(config) = known.cloned() else {
        let what = "it holds no finished set".to_string();
        let hint = "there are tasks only for the papers' sets, not for a recipe that ends at posts".into();
        return Err(EvaluateError::Form { path: folder.into(), what, hint });
    };
    let splits = manifest.splits_of(&config);
    let mut version = if manifest.version.is_empty() { "candidate".to_string() } else { manifest.version };
    if let Some(split) = split {
        let names = splits.iter().map(|(name, _)| name.as_str());
        if !names.clone().any(|name| name == split) {
            let what = unknown("split", split, names);
            return Err(EvaluateError::Unknown(format!("--split: {config}@{version}: {what}")));
        }
        version.push_str(&format!("+{split}"));
    }
    let of_split = |split: &str| -> Result<_, EvaluateError> {
        let name = format!("data/{config}/{split}.jsonl");
        let file = folder.join(&name);
        // Figures of other rows would be told as those of this version.
        if manifest.files.get(&name).is_some_and(|stated| is_other(&file, stated)) {
            let what =
                format!("its rows are not those of {config}@{version}: it was changed after it was written");
            let hint = "`riddlemill verify` says what differs; to evaluate the rows as they are, name a copy of the \
                        file itself";
            return Err(EvaluateError::Form { path: file, what, hint: hint.into() });
        }
        let rows = read_rows::of_file(&file)?;
        Ok((parse_items(workspace, &config, &file, &rows)?, rows))
    };
    let (mut all, mut rows, mut aside, mut withdrawn) = (Vec::new(), Vec::new(), Vec::new(), 0);
    // Rows for solved examples are only asked about on request.
    let declared = layout::find_layout(&config)
        .and_then(layout::Layout::declared_splits)
        .and_then(|splits| splits.fewshot);
    let fewshot =
        declared.filter(|name| split != Some(name) && splits.iter().any(|(known, _)| known == name));
    let is_asked = |name: &str| split.map_or(fewshot != Some(name), |split| split == name);
    for (name, _) in splits.iter().filter(|(name, _)| is_asked(name)) {
        let ((items, set_aside, gone), of_file) = of_split(name)?;
        all.extend(items);
        aside.extend(set_aside);
        withdrawn += gone;
        rows.extend(of_file);
    }
    let examples = match fewshot {
        Some(name) => of_split(name)?.0.0,
        None => Vec::new(),
    };
    let (draft, rows_hash) = (manifest.draft, hash(&rows));
    Ok((Set { config, version, items: all, examples, draft, withdrawn, rows_hash, sample: None }, aside))
}

/// Whether a file's bytes are others than those of this SHA-256; a file that cannot be read fails where it is read.
fn is_other(file: &Path, stated: &str) -> bool {
    riddlemill_files::durable::sha256_of_file(file).is_ok_and(|found| found != stated)
}

/// A file as published by the set's authors, or a release's own test.jsonl.
fn load_published(workspace: &Workspace, path: &Path) -> Result<(Set, Vec<SetAside>), EvaluateError> {
    let mut config: Option<&'static str> = None;
    let mut rows = Vec::new();
    let mut skipped = Vec::new();
    for (at, row) in read_rows::of_file(path).map_err(EvaluateError::Store)?.into_iter().enumerate() {
        let place = format!("{}:{}", path.display(), at + 1);
        match recognise_row(row) {
            Some((of, row)) if config.is_none_or(|known| known == of) => {
                config = Some(of);
                rows.push(row);
            }
            Some((of, _)) => skipped.push(SetAside { place, what: format!("an item of {of} among others") }),
            None => skipped.push(SetAside { place, what: "an item of no known set".into() }),
        }
    }
    let Some(config) = config else {
        let what = "it holds no items of a known set".to_string();
        let known: Vec<&str> =
            riddlemill_benchmarks::all_benchmarks().iter().map(|benchmark| benchmark.name).collect();
        let hint = format!("expected a release's test.jsonl, or a published file of {}", known.join(", "));
        return Err(EvaluateError::Form { path: path.into(), what, hint });
    };
    let version = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let (items, more, withdrawn) = parse_items(workspace, config, path, &rows)?;
    skipped.extend(more);
    let (config, draft, rows_hash) = (config.to_owned(), Vec::new(), hash(&rows));
    let examples = Vec::new();
    Ok((Set { config, version, items, examples, draft, withdrawn, rows_hash, sample: None }, skipped))
}

/// The hash of rows, those that were withdrawn too: another workspace may not have withdrawn them.
fn hash(rows: &[JsonRow]) -> String {
    let mut hasher = blake3::Hasher::new();
    for row in rows {
        // Cells as JSON always serialise.
        hasher.update(&serde_json::to_vec(row).unwrap_or_default());
        hasher.update(b"\n");
    }
    hasher.finalize().to_hex().to_string()
}

/// The items of these rows, the rows that are not items, and the number of withdrawn rows.
fn parse_items(
    workspace: &Workspace,
    config: &str,
    path: &Path,
    rows: &[JsonRow],
) -> Result<(Vec<Item>, Vec<SetAside>, usize), EvaluateError> {
    let is_withdrawn = match recipe::find_recipe(config) {
        Some(recipe) => Withheld::open(workspace, recipe)?.withdrawn_rows(rows)?,
        None => vec![false; rows.len()],
    };
    let (mut items, mut aside) = (Vec::new(), Vec::new());
    // Numbered before withdrawn rows are dropped, so that the numbers are those of the file.
    for (at, (row, _)) in
        rows.iter().zip(&is_withdrawn).enumerate().filter(|(_, (_, is_withdrawn))| !**is_withdrawn)
    {
        let place = || format!("{}:{}", path.display(), at + 1);
        match Item::of_row(config, &relabel_row(config, row)) {
            Ok((item, unposed)) => {
                items.push(item);
                // Whatever task is asked: who reads the others' results has to know.
                aside.extend(unposed.into_iter().map(|unposed| SetAside {
                    place: place(),
                    what: format!("not asked in {}: {}", unposed.task, unposed.error),
                }));
            }
            Err(error) => aside.push(SetAside { place: place(), what: error.to_string() }),
        }
    }
    let withdrawn = is_withdrawn.into_iter().filter(|withdrawn| *withdrawn).count();
    Ok((items, aside, withdrawn))
}

/// A row with the set's labels: one that was published keeps the labels of its file in a rebuilt set, and would be of no kind.
fn relabel_row<'r>(config: &str, row: &'r JsonRow) -> Cow<'r, JsonRow> {
    let mut row = Cow::Borrowed(row);
    let Some(layout) = layout::find_layout(config) else { return row };
    for column in layout.columns.iter() {
        let theirs = row.get(column.name).and_then(serde_json::Value::as_str);
        if let Some(ours) = theirs.and_then(|theirs| layout.label_for(column.name, theirs)) {
            row.to_mut().insert(column.name.to_owned(), ours.into());
        }
    }
    row
}

/// The set of a row and the row in its columns.
fn recognise_row(row: JsonRow) -> Option<(&'static str, JsonRow)> {
    let own = layout::finished_layouts().find(|l| l.columns.iter().all(|c| row.contains_key(c.name)));
    if let Some(layout) = own {
        return Some((layout.config, row));
    }
    let (layout, made) = layout::from_published(&row)?;
    let cells = layout.columns.iter().zip(made.0);
    let cell = |(column, value): (&Column, Value)| {
        let value = value.to_json();
        let label = value.as_str().and_then(|theirs| layout.label_for(column.name, theirs));
        (column.name.to_string(), label.map_or(value, Into::into))
    };
    Some((layout.config, cells.map(cell).collect()))
}
