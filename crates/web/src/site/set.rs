//! What is shown of a release and its workspace, read once.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rustc_hash::FxHashMap;
use serde::Serialize;
use serde_json::Value as Json;

use super::SiteError;
use super::way::{Prompt, RowWay, of_rows};
use crate::audit::find_ways;
use crate::config::{Config, sections};
use crate::left::Left;
use crate::pipeline::Withheld;
use crate::recipe::{Recipe, find_recipe};
use crate::release::read_rows::{JsonRow, of_folder};
use crate::release::verify::verify_folder;
use crate::release::{
    CandidateManifest, CurrentRows, KeptVersion, RowState, Since, compare_releases, kept_versions, last_stops,
};
use crate::store::Workspace;
use riddlemill_files::fence;

/// A release, with what its workspace knows of it.
pub(super) struct Set {
    pub(super) recipe: &'static Recipe,
    pub(super) title: String,
    pub(super) manifest: CandidateManifest,
    /// Whether texts are shown as they were before they were changed.
    pub(super) originals: bool,
    /// The rows that are shown, by config.
    pub(super) configs: Vec<(String, Vec<JsonRow>)>,
    /// This version and those before it, oldest first.
    pub(super) versions: Vec<KeptVersion>,
    /// Rows that are not shown: withdrawn ones, and those of earlier versions only.
    pub(super) gone: Vec<Gone>,
    /// What would become of shown rows now, by id, where that is not the row as released.
    pub(super) fates: BTreeMap<String, &'static str>,
    /// The ways of the rows, by id.
    pub(super) ways: FxHashMap<String, RowWay>,
    pub(super) prompts: Vec<Prompt>,
    /// `CITATION.cff`, if the curator named authors.
    pub(super) citation: Option<String>,
    /// The argument of `load_dataset`.
    pub(super) place: String,
}

/// A row that had a page and has no content any more.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Gone {
    pub(super) id: String,
    /// Whether its removal was requested.
    pub(super) withdrawn: bool,
    /// The day of the request, if a run has followed it.
    pub(super) day: Option<String>,
    /// The last version that had it.
    pub(super) last: String,
    /// Whether that is the version shown.
    pub(super) of_this: bool,
    /// What became of it, where the stages know.
    pub(super) fate: Option<&'static str>,
    /// Why it left, where the ledgers say it now.
    pub(super) why: Option<Left>,
}

/// The id of a row: its first column.
pub(super) fn id_of(row: &JsonRow) -> &str {
    row.values().next().and_then(Json::as_str).unwrap_or_default()
}

impl Set {
    /// Reads a release's folder, and what its workspace knows of its rows.
    ///
    /// # Errors
    /// [`SiteError`] if the folder is no release, does not verify, or is not of this workspace; and if anything cannot be
    /// read.
    pub(super) fn read_release(config: &Config, folder: &Path) -> Result<Set, SiteError> {
        let workspace = Workspace::new(&config.root);
        let manifest = CandidateManifest::read_manifest(folder)?.filter(|manifest| !manifest.is_no_release());
        let found = manifest.and_then(|manifest| Some((find_recipe(&manifest.recipe)?, manifest)));
        let Some((recipe, manifest)) = found else { return Err(SiteError::NoRelease(folder.into())) };
        let findings = verify_folder(folder)?.findings;
        if !findings.is_empty() {
            return Err(SiteError::Findings { folder: folder.into(), findings });
        }
        let versions = kept_versions(&workspace, recipe.name, &manifest.version)?;
        if versions.is_empty() {
            let (recipe, version) = (recipe.name.to_owned(), manifest.version);
            return Err(SiteError::Unregistered { recipe, version });
        }
        let withheld = Withheld::open(&workspace, recipe)?;
        let current = CurrentRows::of_recipe(&workspace, recipe);
        let now = compare_releases(&current)?;
        let mut configs = of_folder(folder)?;
        let mut gone = Vec::new();
        for (_, rows) in &mut configs {
            let mut withdrawn = withheld.withdrawn_rows(rows)?.into_iter();
            let mut shown = Vec::with_capacity(rows.len());
            for row in rows.drain(..) {
                match withdrawn.next().unwrap_or_default() {
                    false => shown.push(row),
                    true => {
                        gone.push(Gone::new(id_of(&row), &manifest.version, &manifest.version, true, &now))
                    }
                }
            }
            *rows = shown;
        }
        gone.extend(find_gone_rows(&versions, &manifest.version, &withheld, &now)?);
        let shown: BTreeSet<&str> = configs.iter().flat_map(|(_, rows)| rows.iter().map(id_of)).collect();
        gone.retain(|gone| !shown.contains(gone.id.as_str()));
        explain_gone(&current, &versions, &mut gone)?;
        let (ids, ends) = end_records(&current, &shown)?;
        let originals = config.typed_settings::<sections::Site>(Some(recipe.name), "site").originals;
        let (of_rows, prompts) = of_rows(config, find_ways(&workspace, recipe, &ends)?, originals)?;
        let of_this = now.iter().find(|since| since.version.to_string() == manifest.version);
        let fates = of_this.into_iter().flat_map(|since| &since.otherwise);
        let fates = fates.map(|row| (row.id.clone(), row.fate.name())).collect();
        let url = config.typed_settings::<sections::Release>(Some(recipe.name), "release").url;
        let text = |name: &str| fence::read_to_string(folder.join(name)).ok();
        let package = text("datapackage.json").and_then(|text| serde_json::from_str::<Json>(&text).ok());
        let title = package.as_ref().and_then(|package| package["title"].as_str());
        Ok(Set {
            title: title.unwrap_or(recipe.name).to_owned(),
            recipe,
            originals,
            fates,
            ways: ids.into_iter().zip(of_rows).collect(),
            prompts,
            citation: text("CITATION.cff"),
            place: match url.strip_prefix("https://huggingface.co/datasets/") {
                Some(name) => name.trim_end_matches('/').to_owned(),
                None => format!("{}-{}", recipe.name, manifest.version),
            },
            versions,
            gone,
            configs,
            manifest,
        })
    }

    /// The version before this one.
    pub(super) fn version_before(&self) -> Option<&KeptVersion> {
        self.versions.iter().rev().nth(1)
    }

    /// Number of rows that are shown.
    pub(super) fn count_rows(&self) -> usize {
        self.configs.iter().map(|(_, rows)| rows.len()).sum()
    }
}

/// The ids of rows, and the records of the recipe's end behind each.
fn end_records(
    current: &CurrentRows,
    shown: &BTreeSet<&str>,
) -> Result<(Vec<String>, Vec<BTreeSet<String>>), SiteError> {
    let records = current.find_records()?;
    let ids: Vec<String> = shown.iter().map(|id| (*id).to_owned()).collect();
    let ends = ids.iter().map(|id| records.get(id).cloned().into_iter().collect()).collect();
    Ok((ids, ends))
}

/// The rows that only earlier versions have, each once.
fn find_gone_rows(
    versions: &[KeptVersion],
    this: &str,
    withheld: &Withheld,
    now: &[Since],
) -> Result<Vec<Gone>, SiteError> {
    let mut seen: BTreeSet<String> = BTreeSet::new();
    let mut gone = Vec::new();
    for version in versions.iter().rev() {
        let withdrawn = withheld.withdrawn_rows(&version.rows)?;
        for (row, withdrawn) in version.rows.iter().zip(withdrawn) {
            if seen.insert(id_of(row).to_owned()) && version.version != this {
                gone.push(Gone::new(id_of(row), &version.version, this, withdrawn, now));
            }
        }
    }
    gone.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(gone)
}

/// Says of rows that left why they did.
fn explain_gone(current: &CurrentRows, versions: &[KeptVersion], gone: &mut [Gone]) -> Result<(), SiteError> {
    let mut records: FxHashMap<&str, &str> = FxHashMap::default();
    for row in versions.iter().flat_map(|version| &version.rows) {
        let source = row.get("source_id").and_then(Json::as_str).filter(|source| !source.is_empty());
        records.insert(id_of(row), source.unwrap_or(id_of(row)));
    }
    let of_gone = gone.iter().filter(|gone| !gone.withdrawn);
    let ids: BTreeSet<&str> = of_gone.filter_map(|gone| records.get(gone.id.as_str()).copied()).collect();
    let last = last_stops(current, &ids)?;
    for gone in gone.iter_mut().filter(|gone| !gone.withdrawn) {
        let last = records.get(gone.id.as_str()).and_then(|record| last.get(*record));
        // Evidence quotes texts, of which none is shown here.
        gone.why = last.and_then(Left::from_passage).map(|left| Left { evidence: None, ..left });
    }
    Ok(())
}

impl Gone {
    fn new(id: &str, last: &str, this: &str, withdrawn: bool, now: &[Since]) -> Gone {
        let then = now.iter().find(|since| since.version.to_string() == last);
        let row = then.and_then(|since| since.otherwise.iter().find(|row| row.id == id));
        let requested = row.filter(|row| row.fate == RowState::Withdrawn);
        Gone {
            id: id.to_owned(),
            withdrawn: withdrawn || requested.is_some(),
            day: requested.map(|row| row.why.clone()).filter(|day| !day.is_empty()),
            last: last.to_owned(),
            of_this: last == this,
            fate: row.map(|row| row.fate.name()),
            why: None,
        }
    }
}
