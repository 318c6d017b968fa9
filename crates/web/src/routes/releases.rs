//! Candidates and releases: their contents, differences, and comparison with the published sets.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::response::Response;
use serde::{Deserialize, Serialize};

use super::counted::{Counted, count_config};
use super::faults::field_name;
use crate::app::{App, find_recipe, read_blocking};
use crate::config::Config;
use crate::error::PageError;
use crate::i18n::Language;
use crate::join::Unwatched;
use crate::pipeline::{RunError, review_items};
use crate::recipe::{RECIPES, Recipe};
use crate::release::compare::{self, Comparison};
use crate::release::layout;
use crate::release::registry::Registry;
use crate::release::{CandidateManifest, CurrentRows, Since, compare_releases, list_entries, read_rows};
use crate::review::agreement::{self, Bootstrap, Estimate};
use crate::tables::ReleaseTable;
use crate::view;
use crate::visitor::Visitor;
use riddlemill_files::fence;
use riddlemill_pipeline::stages::review::Votes;

/// The name of a run's result.
const CANDIDATE: &str = "candidate";
/// Most differences listed.
const SHOWN: usize = 100;

#[derive(Serialize)]
struct ListedRecipe {
    recipe: &'static str,
    about: &'static str,
    versions: Vec<ReleaseVersion>,
}

#[derive(Serialize)]
pub(super) struct ReleaseVersion {
    pub(super) version: String,
    date: String,
    configs: BTreeMap<String, u64>,
    /// Why it is a draft.
    draft: Vec<String>,
    /// Whether its folder is in output/.
    pub(super) here: bool,
    words: String,
    /// The current state of its rows; `None` for a candidate.
    since: Option<Since>,
}

/// Every recipe's candidate and releases.
pub(crate) async fn show_releases(
    State(app): State<Arc<App>>,
    visitor: Visitor,
) -> Result<Response, PageError> {
    let language = visitor.language;
    let listed = read_blocking(move || {
        let listed = |recipe: &'static Recipe| {
            Ok(ListedRecipe {
                recipe: recipe.name,
                about: language.pick_text(recipe.about, recipe.about_zh),
                versions: list_versions(&app, recipe)?,
            })
        };
        RECIPES.iter().map(listed).collect::<Result<Vec<_>, PageError>>()
    })
    .await?;
    view::render_page(&visitor, "releases.html", serde_json::json!({ "recipes": listed }))
}

/// The candidate first, then the newest release.
pub(super) fn list_versions(app: &App, recipe: &'static Recipe) -> Result<Vec<ReleaseVersion>, PageError> {
    let mut versions = Vec::new();
    if let Some(candidate) = CandidateManifest::read_manifest(&version_folder(app, recipe, CANDIDATE))? {
        versions.push(ReleaseVersion {
            version: CANDIDATE.into(),
            date: candidate.date.unwrap_or_default(),
            configs: candidate.configs,
            draft: candidate.draft,
            here: true,
            words: String::new(),
            since: None,
        });
    }
    let registry = Registry::open(&app.workspace, recipe.name)?;
    let mut otherwise = compare_releases(&CurrentRows::of_recipe(&app.workspace, recipe))?;
    for release in registry.releases.iter().rev() {
        let version = release.version.to_string();
        versions.push(ReleaseVersion {
            date: release.date.clone(),
            configs: release.configs.clone(),
            draft: Vec::new(),
            here: CandidateManifest::read_manifest(&version_folder(app, recipe, &version))?.is_some(),
            words: describe_changes(&release.changes),
            since: otherwise
                .iter()
                .position(|since| since.version == release.version)
                .map(|place| otherwise.swap_remove(place)),
            version,
        });
    }
    Ok(versions)
}

fn describe_changes(changes: &crate::release::changes::Changes) -> String {
    format!("+{} −{} ~{}", changes.added.count, changes.removed.count, changes.changed.count)
}

fn version_folder(app: &App, recipe: &'static Recipe, version: &str) -> PathBuf {
    app.workspace.root().join("output").join(recipe.name).join(version)
}

/// The folder of a listed version: nothing else in a URL becomes a path.
pub(super) fn find_version_folder(
    app: &App,
    recipe: &'static Recipe,
    version: &str,
) -> Result<PathBuf, PageError> {
    let here = list_versions(app, recipe)?.into_iter().any(|known| known.here && known.version == version);
    if here { Ok(version_folder(app, recipe, version)) } else { Err(PageError::not_found()) }
}

#[derive(Serialize)]
struct ReleasePage {
    recipe: &'static str,
    version: String,
    manifest: CandidateManifest,
    configs: Vec<Counted>,
    /// Rows withdrawn since, which no figure counts.
    withdrawn: usize,
    agreement: Vec<AgreementRow>,
    versions: Vec<ReleaseVersion>,
    references: Vec<String>,
    compared: Option<ReferenceComparison>,
    /// Files with their sizes.
    files: Vec<(String, u64)>,
}

#[derive(Serialize)]
pub(crate) struct AgreementRow {
    step: &'static str,
    /// In English and in Chinese.
    field: [String; 2],
    items: usize,
    sample: bool,
    percent: Option<[f64; 3]>,
    alpha: Option<[f64; 3]>,
    fleiss: Option<[f64; 3]>,
    /// Why a coefficient is not defined.
    undefined: Option<String>,
}

#[derive(Serialize)]
struct ReferenceComparison {
    reference: String,
    found: Comparison,
}

/// Query parameters of a release.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ReferenceQuery {
    /// A file of raw/reference to compare with.
    reference: String,
}

/// One candidate or release.
pub(crate) async fn show_release(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path((name, version)): Path<(String, String)>,
    Query(with): Query<ReferenceQuery>,
) -> Result<Response, PageError> {
    let recipe = find_recipe(&name)?;
    let shown = read_blocking(move || {
        let folder = find_version_folder(&app, recipe, &version)?;
        let manifest = CandidateManifest::read_manifest(&folder)?.ok_or_else(PageError::not_found)?;
        // Figures and first rows are those of the table: without rows withdrawn since.
        let table = app.tables.get(&app.workspace, recipe, &folder)?;
        let (config, _) = app.current_config();
        let size = |path: String| {
            let bytes = folder.join(&path).metadata().map_or(0, |meta| meta.len());
            (path, bytes)
        };
        // What cannot be downloaded is no file; `verify` names it.
        let files = list_entries(&folder)?.into_iter().filter(|(_, is_file)| *is_file);
        let files = files.map(|(path, _)| size(path)).collect();
        let references = list_references(&app);
        let compared = match references.contains(&with.reference) {
            true => Some(compare_reference(&app, recipe, &table, with.reference)?),
            false => None,
        };
        Ok(ReleasePage {
            recipe: recipe.name,
            configs: table
                .configs
                .iter()
                .map(|of| count_config(&config, recipe, &of.name, &of.rows))
                .collect(),
            withdrawn: table.withdrawn,
            agreement: agreement_rows(&config, recipe)?,
            versions: list_versions(&app, recipe)?,
            version,
            manifest,
            references,
            compared,
            files,
        })
    })
    .await?;
    view::render_page(&visitor, "release.html", shown)
}

/// Agreement on every review of the recipe; of a sample's voters if no person voted.
///
/// # Errors
/// [`RunError`] if the votes cannot be read.
pub(crate) fn agreement_rows(
    config: &Config,
    recipe: &'static Recipe,
) -> Result<Vec<AgreementRow>, RunError> {
    let votes = Votes::load(config, recipe.name)?;
    let mut agreed = Vec::new();
    for review in recipe.review_steps() {
        let Ok(Some((step, items))) = review_items(config, recipe, review.benchmark_and_ballot().1) else {
            continue;
        };
        let on = votes.by_item(step.recipe, step.name);
        let agreement = agreement::step_agreement(&step, &items, &on, Bootstrap::AGREEMENT);
        let three = |e: &Option<Estimate>| e.as_ref().map(|e| [e.value, e.low, e.high]);
        for field in &agreement.fields {
            agreed.push(AgreementRow {
                step: step.name,
                field: [Language::En, Language::Zh].map(|language| field_name(language, &step, &field.field)),
                items: field.items,
                sample: agreement.sample,
                percent: three(&field.percent),
                alpha: three(&field.alpha),
                fleiss: three(&field.fleiss),
                undefined: field.why_undefined().map(|why| why.to_string()),
            });
        }
    }
    Ok(agreed)
}

/// Files of raw/reference, by name: published sets to compare with.
fn list_references(app: &App) -> Vec<String> {
    let Ok(files) = fence::list(app.workspace.raw_folder().join("reference")) else { return Vec::new() };
    let names = files.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> =
        names.filter(|n| [".json", ".jsonl", ".npy"].iter().any(|end| n.ends_with(end))).collect();
    names.sort();
    names
}

fn compare_reference(
    app: &App,
    recipe: &'static Recipe,
    table: &ReleaseTable,
    reference: String,
) -> Result<ReferenceComparison, PageError> {
    let mut theirs = read_rows::of_file(&app.workspace.raw_folder().join("reference").join(&reference))?;
    let mut ours: Vec<_> = table.configs.iter().flat_map(|config| config.rows.iter().cloned()).collect();
    compare::same_form(&mut ours, &mut theirs);
    let types = layout::renamed_labels();
    let likeness = app.current_config().0.typed_settings(Some(recipe.name), "dedup");
    let mut found = compare::compare(&ours, &theirs, &types, &likeness, &Unwatched);
    found.missing.truncate(SHOWN);
    found.near.truncate(SHOWN);
    found.follow(&app.current_config().0, recipe)?;
    Ok(ReferenceComparison { reference, found })
}
