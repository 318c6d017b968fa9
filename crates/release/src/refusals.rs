//! What speaks against a release of a candidate, and which records are no rows of it.

use riddlemill_text::options::SplitSize;

use super::error::{ReleaseError, SHORT_SPLITS_REMEDY};
use super::licence::Licence;
use super::manifest::{CandidateManifest, LeftOut, Raw, licences_by_source};
use super::numbered::data_of;
use super::registry::Registry;
use super::relicensed::{find_allowed_licence, licence_refusal};
use crate::config::{Config, sections};
use crate::recipe::Recipe;
use crate::store::Workspace;

/// The records that reached the end of a recipe and are no rows of its candidate, by why; none without a candidate.
pub fn list_rowless_records(config: &Config, recipe: &'static Recipe) -> Vec<LeftOut> {
    let place = Workspace::new(&config.root).candidate_folder(recipe.name);
    let candidate = CandidateManifest::read_manifest(&place).ok().flatten();
    candidate.iter().flat_map(CandidateManifest::rowless_records).cloned().collect()
}

/// Why `release` would refuse a recipe's candidate as it is, each with its remedy; empty if nothing speaks against it, or
/// there is no candidate.
pub fn list_refusals(config: &Config, recipe: &'static Recipe) -> Vec<String> {
    let place = Workspace::new(&config.root).candidate_folder(recipe.name);
    let Some(candidate) = CandidateManifest::read_manifest(&place).ok().flatten() else { return Vec::new() };
    let mut why = candidate.refused.clone();
    let registry = Registry::open(&Workspace::new(&config.root), recipe.name);
    let rows = |name: &str| {
        let splits = candidate.splits.values().flatten();
        splits.filter(|(split, _)| split == name).map(|(_, rows)| rows).sum()
    };
    let short = registry.map(|registry| list_short_splits(&registry, recipe, rows)).unwrap_or_default();
    why.extend(short.into_iter().map(|short| format!("{short}; {SHORT_SPLITS_REMEDY}")));
    // A draft states its reasons, and needs a licence like every release; without rows there is nothing to licence.
    if candidate.rows > 0 {
        why.extend(
            find_licence_problem(config, recipe).map(|error| error.to_string().replace("\n  hint: ", "; ")),
        );
    }
    why
}

/// Whether no licence is stated for the whole of a recipe's set, by the settings and the candidate's sources, or one that the
/// licence of a source forbids; `None` also where there is no candidate yet.
pub fn find_licence_problem(config: &Config, recipe: &'static Recipe) -> Option<ReleaseError> {
    let candidate =
        CandidateManifest::read_manifest(&Workspace::new(&config.root).candidate_folder(recipe.name))
            .ok()??;
    let settings: sections::Release = config.typed_settings(Some(recipe.name), "release");
    // The settings of today: the candidate may have been made before a licence was stated.
    let stated = |file: &Raw| {
        let source =
            config.sources.iter().find(|source| Some(source.name.as_str()) == file.file.split('/').next());
        Raw {
            licence: source.and_then(|source| source.licence.clone()).or_else(|| file.licence.clone()),
            ..file.clone()
        }
    };
    let raw: Vec<Raw> = candidate.raw.iter().map(stated).collect();
    match Licence::combine_licences(&settings, &raw).spdx {
        None => Some(no_licence(recipe, &raw)),
        Some(whole) => licence_refusal(recipe, &raw, Some(&whole)),
    }
}

/// What is said where no licence is stated for the whole of a set.
pub(super) fn no_licence(recipe: &Recipe, raw: &[Raw]) -> ReleaseError {
    // By source: a workspace may have thousands of dumps.
    let stated = licences_by_source(raw).into_iter().map(|(source, licence)| format!("{source}: {licence}"));
    ReleaseError::Unlicensed {
        recipe: recipe.name.into(),
        stated: stated.collect(),
        allowed: find_allowed_licence(raw),
    }
}

/// The splits that would have fewer rows than their folder says, or none, in words; `rows` counts those of a split. Nothing once
/// something is released: the sizes hold for the first draw, and released rows never move.
pub(super) fn list_short_splits(
    registry: &Registry,
    recipe: &Recipe,
    rows: impl Fn(&str) -> u64,
) -> Vec<String> {
    let declared = data_of(recipe).and_then(|data| data.splits.as_ref());
    let Some(splits) = declared.filter(|_| registry.latest_release().is_none()) else { return Vec::new() };
    let short = |(name, size): (&str, SplitSize)| match (size, rows(name)) {
        (SplitSize::Count(wanted), rows) if rows < wanted as u64 => {
            Some(format!("the split {name:?} has {rows} of its {wanted} rows"))
        }
        (SplitSize::Share(_) | SplitSize::Rest, 0) => Some(format!("the split {name:?} has no row")),
        _ => None,
    };
    splits.splits.iter().map(|split| (split.name, split.size)).filter_map(short).collect()
}
