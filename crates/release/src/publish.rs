//! `release`: assigns a version by the changes, writes its folder, and registers it, or tells beforehand why it would be refused.

use std::collections::BTreeMap;
use std::path::Path;

use riddlemill_files::fence;
use serde::Serialize;

use super::candidate::{compute_fingerprint, read_intact_candidate};
use super::changes::{Changes, Digests};
use super::current_rows::CurrentRows;
use super::division::is_below_share;
use super::error::ReleaseError;
use super::facts::{Facts, Origin};
use super::left_out::RowsPerItem;
use super::manifest::{CandidateManifest, LeftOut, Link, SUMS};
use super::numbered::{is_published, lock_numbers, released_rows, rows_by_file};
use super::refusals::{find_licence_problem, list_short_splits, no_licence};
use super::registry::{Ordinals, Registry, Release, TEXTS, create_sealing_folder, seal_files};
use super::relicensed::{licence_changes, licence_refusal};
use super::restore::kept_lines;
use super::row_faults::RowFaults;
use super::source::CandidateSource;
use super::version::{Bump, Version};
use super::{data, eval_files, folder, shortcuts, verify};
use crate::config::Config;
use crate::pipeline::{StaleStage, Withheld, secrets_stand, stale_stages};
use crate::recipe::Recipe;
use crate::store::{Error, StageReader, Workspace, durable, json_parts, sha256_of_file};

/// A proposed or completed release.
#[derive(Clone, Debug, Serialize)]
pub struct Proposal {
    pub version: Version,
    /// The increase required by the rows.
    pub bump: Bump,
    /// What changed since the release before.
    pub changes: Changes,
    /// Why it is a draft; empty where it is stable.
    pub draft: Vec<String>,
}

/// Options of a release.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted<'a> {
    /// The version; `None` takes the one that fits the changes.
    pub version: Option<Version>,
    /// Its date, `YYYY-MM-DD`.
    pub date: &'a str,
    /// Whether it is a draft, which may be based on stages that do not match raw/ as it is now.
    pub draft: bool,
    /// Whether a stable version may hold a smaller share of the items than the settings name.
    pub partial: bool,
}

/// Assigns a version to a recipe's candidate and writes `output/<recipe>/<version>`.
///
/// # Errors
/// [`ReleaseError`] if a stage under it does not match raw/ as it is now, or if the version is too small,
/// exists already, or may not be stable; nothing is written then.
pub fn make_release(
    config: &Config,
    recipe: &'static Recipe,
    wanted: Wanted<'_>,
) -> Result<(Proposal, CandidateManifest), ReleaseError> {
    let date = wanted.date;
    check_date(date)?;
    if !is_published(recipe) {
        return Err(ReleaseError::NoData { recipe: recipe.name.into() });
    }
    let workspace = Workspace::new(&config.root);
    secrets_stand(&workspace)?;
    // Before the registry is read: two releases at once could assign the same number or version.
    let _locks = lock_numbers(&workspace, recipe)?;
    let mut registry = Registry::open(&workspace, recipe.name)?;
    registry.name_sealed()?;
    let of_now = CurrentRows::of_recipe(&workspace, recipe);
    let Fresh { end, stages, readers, numbers, stale } =
        match find_fresh_candidate(config, &of_now, wanted.draft) {
            Ok(fresh) => fresh,
            // The licence can be stated before the next run: whoever releases learns of both at once.
            Err(e @ (ReleaseError::Outdated { .. } | ReleaseError::StaleCandidate { .. })) => {
                return Err(match find_licence_problem(config, recipe) {
                    Some(unlicensed) => ReleaseError::Several(vec![unlicensed, e]),
                    None => e,
                });
            }
            Err(e) => return Err(e),
        };
    let Some(last) = readers.last() else {
        return Err(ReleaseError::NoCandidate { recipe: recipe.name.into() });
    };
    let layouts = end.published_layouts(last)?;

    let output = workspace.candidate_folder(recipe.name);
    // The version follows from the rows, so the folder has a temporary name until they are written.
    let temp_dir = durable::name_while_making(&output.with_file_name("release"));
    durable::remove_folder(&temp_dir)?;
    durable::create_folder(&temp_dir)?;
    let mut now = Digests::default();
    let mut written = Vec::new();
    let mut faults = RowFaults::new(recipe);
    let mut per_item = RowsPerItem::default();
    for layout in &layouts {
        written.push(data::write_data(&temp_dir, layout, rows_by_file(end, last, numbers), |rows| {
            now.add(layout.config, rows, layout);
            faults.look_at(layout, rows);
            per_item.look_at(layout, rows);
        })?);
    }
    let guessed = shortcuts::measure_release(config, recipe, end, last, numbers)?;
    let origin = Origin::new(config, end, &readers, numbers)?;
    let mut facts = Facts::gather(config, recipe, &layouts, written, guessed, origin, &stages)?;
    facts.waiting = per_item.count_waiting_rows(end, &facts.left_out);
    if facts.configs.iter().all(|config| config.written.rows == 0) {
        durable::remove_folder(&temp_dir)?;
        let waits = facts.left_out.iter().map(LeftOut::describe).collect();
        return Err(ReleaseError::Empty { recipe: recipe.name.into(), waits });
    }
    let mut refused = Vec::new();
    if facts.licence.spdx.is_none() {
        refused.push(no_licence(recipe, &facts.raw));
    }
    refused.extend(licence_refusal(recipe, &facts.raw, facts.licence.spdx.as_deref()));
    let found = faults.into_texts();
    if !found.is_empty() {
        refused.push(ReleaseError::Rows { recipe: recipe.name.into(), found });
    }
    if let Some(last) = refused.pop() {
        durable::remove_folder(&temp_dir)?;
        if refused.is_empty() {
            return Err(last);
        }
        refused.push(last);
        return Err(ReleaseError::Several(refused));
    }
    facts.draft.extend(stale.iter().map(|stage| format!("built before this change: {stage}")));
    if wanted.draft && facts.draft.is_empty() {
        facts.draft.push("asked for as a draft".into());
    }
    let relicensed = since_latest(&registry, &output);
    let (proposal, retired) =
        propose_version(&registry, recipe, &now, &facts.draft, relicensed, wanted.version)?;
    let short = list_short_splits(&registry, recipe, |name| {
        let splits = facts.configs.iter().flat_map(|config| &config.written.splits);
        splits.filter(|split| split.name == name).map(|split| split.rows).sum()
    });
    // A draft puts its rows into splits for good, too.
    if !wanted.partial && !short.is_empty() {
        durable::remove_folder(&temp_dir)?;
        return Err(ReleaseError::ShortSplits { recipe: recipe.name.into(), short });
    }
    let standing = facts.configs.first().map_or(0, |config| config.written.rows);
    if proposal.version.draft.is_none()
        && !wanted.partial
        && is_below_share(config, recipe, standing, facts.waiting)
    {
        durable::remove_folder(&temp_dir)?;
        return Err(ReleaseError::Partial {
            recipe: recipe.name.into(),
            version: proposal.version,
            rows: standing,
            all: standing + facts.waiting,
            left: facts.left_out.iter().map(LeftOut::describe).collect(),
        });
    }

    facts.candidate = false;
    facts.version = proposal.version.to_string();
    facts.date = Some(date.into());
    // After `propose`, so that a refused release registers no canary.
    facts.canary = Some(registry.ensure_canary()?);
    let changes = Changes { version: facts.version.clone(), date: date.into(), ..proposal.changes.clone() };
    facts.changes = std::iter::once(changes.clone())
        .chain(
            registry
                .releases
                .iter()
                .rev()
                .map(|r| Changes { yanked: registry.yanked.get(&r.version).cloned(), ..r.changes.clone() }),
        )
        .collect();
    if proposal.version.draft.is_none() {
        facts.draft.clear();
    }
    facts.exported = eval_files::write_eval_files(&temp_dir, config, &layouts, &facts.files_of_configs())?;
    let fingerprint = compute_fingerprint(config, recipe, &layouts, numbers);
    let manifest = folder::finish_folder(&temp_dir, &facts, &layouts, stages, fingerprint)?;
    // A version is never replaced, so its folder is verified before it is registered.
    let findings = verify::verify_folder(&temp_dir)?.findings;
    if !findings.is_empty() {
        durable::remove_folder(&temp_dir)?;
        return Err(ReleaseError::Findings { findings });
    }

    // Sealed files first, then the entry, then the name: a version in the registry can always be restored.
    let sealed = seal_release(&registry, proposal.version, &temp_dir, &manifest)?;
    let split = numbers.division().map(|division| division.new_splits().to_vec()).unwrap_or_default();
    registry.record_release(Release {
        version: proposal.version,
        date: date.into(),
        riddlemill: crate::VERSION.into(),
        configs: manifest.configs.clone(),
        sums: sha256_of_file(&temp_dir.join(SUMS))?,
        sealed,
        stages: manifest.stages.len(),
        changes,
        allotted: numbers.new_numbers().to_vec(),
        split,
        retired,
    })?;
    registry.name_sealed()?;
    // Last, because `restore` can write this folder again.
    durable::swap_folder(&temp_dir, &output.with_file_name(proposal.version.to_string()))?;
    Ok((proposal, manifest))
}

/// A candidate that can be released: the source of its rows, and their numbers.
struct Fresh<'r> {
    end: CandidateSource,
    stages: Vec<Link>,
    readers: Vec<StageReader>,
    numbers: &'r Ordinals,
    /// Stages that are out of date, for a draft.
    stale: Vec<StaleStage>,
}

/// What differs between the licences of a candidate's folder and of the latest release, as text.
fn since_latest(registry: &Registry, candidate: &Path) -> Option<String> {
    let latest = candidate.with_file_name(registry.latest_release()?.version.to_string());
    licence_changes(&latest, candidate)
}

/// Checks that a recipe's candidate is up to date with raw/, the settings and the registry.
///
/// # Errors
/// [`ReleaseError::Outdated`] or [`ReleaseError::StaleCandidate`] if it is not.
pub fn require_fresh_candidate(config: &Config, recipe: &'static Recipe) -> Result<(), ReleaseError> {
    find_fresh_candidate(config, &CurrentRows::of_recipe(&Workspace::new(&config.root), recipe), false)
        .map(drop)
}

/// Whether a recipe's candidate can be released as stable, and differs from the last release.
///
/// # Errors
/// [`ReleaseError`] if stages, rows or the registry cannot be read.
pub fn is_release_due(config: &Config, of_now: &CurrentRows) -> Result<bool, ReleaseError> {
    let (workspace, recipe) = (&of_now.workspace, of_now.recipe());
    let stable = read_intact_candidate(&workspace.candidate_folder(recipe.name))
        .is_some_and(|candidate| candidate.draft.is_empty() && candidate.rows > 0);
    if !stable {
        return Ok(false);
    }
    let Fresh { end, readers, numbers, .. } = match find_fresh_candidate(config, of_now, false) {
        Ok(fresh) => fresh,
        Err(ReleaseError::Outdated { .. } | ReleaseError::StaleCandidate { .. }) => return Ok(false),
        Err(e) => return Err(e),
    };
    let Some(last) = readers.last() else { return Ok(false) };
    let mut now = Digests::default();
    for layout in end.published_layouts(last)? {
        for batch in released_rows(end, last, numbers) {
            now.add(layout.config, &batch?, &layout);
        }
    }
    let registry = Registry::open(workspace, recipe.name)?;
    let relicensed = since_latest(&registry, &workspace.candidate_folder(recipe.name));
    match propose_version(&registry, recipe, &now, &[], relicensed, None) {
        Ok(_) => Ok(true),
        Err(ReleaseError::Unchanged { .. }) => Ok(false),
        Err(e) => Err(e),
    }
}

/// The candidate, if it is up to date with raw/, settings and the registry. A draft may be older than votes,
/// replies, dumps and settings, but must match its stages.
fn find_fresh_candidate<'r>(
    config: &Config,
    of_now: &'r CurrentRows,
    draft: bool,
) -> Result<Fresh<'r>, ReleaseError> {
    let (workspace, recipe) = (&of_now.workspace, of_now.recipe());
    let stale = || ReleaseError::StaleCandidate { recipe: recipe.name.into() };
    let Some(candidate) = read_intact_candidate(&workspace.candidate_folder(recipe.name)) else {
        return Err(ReleaseError::NoCandidate { recipe: recipe.name.into() });
    };
    let newer = stale_stages(config, recipe)?;
    if !newer.is_empty() && !draft {
        return Err(ReleaseError::Outdated { recipe: recipe.name.into(), stages: newer });
    }
    let end = of_now.end;
    let readers = end.open_stages(workspace)?;
    let stages = CandidateSource::links_of_stages(&readers);
    let last = readers.last().ok_or_else(stale)?;
    // A draft may be older than a withdrawal, but must not publish what was withdrawn.
    if draft {
        let withheld = Withheld::open(workspace, recipe)?;
        let mut withdrawn = 0;
        for part in json_parts(last, "rows", &[]) {
            withdrawn += withheld.withdrawn_rows(&part?)?.into_iter().filter(|gone| *gone).count();
        }
        if withdrawn > 0 {
            return Err(ReleaseError::Withdrawn { recipe: recipe.name.into(), rows: withdrawn });
        }
    }
    let (numbers, layouts) = (of_now.row_numbers(last)?, end.published_layouts(last)?);
    if stages != candidate.stages
        || candidate.fingerprint != compute_fingerprint(config, recipe, &layouts, numbers)
    {
        return Err(stale());
    }
    Ok(Fresh { end, stages, readers, numbers, stale: newer })
}

/// The version that fits the changes, or the requested one if it is large enough; and the ids that no row has
/// any longer.
fn propose_version(
    registry: &Registry,
    recipe: &'static Recipe,
    now: &Digests,
    draft: &[String],
    relicensed: Option<String>,
    wanted: Option<Version>,
) -> Result<(Proposal, Vec<String>), ReleaseError> {
    let digests = |release: Option<&Release>| match release {
        Some(release) => kept_digests(registry, release),
        None => Ok(Digests::default()),
    };
    let (stable, latest) = (registry.latest_stable(), registry.latest_release());
    // The number is relative to the last stable version; the change log to the last version of any kind.
    let base = digests(stable)?;
    let bump = now.changes_since(&base).required_bump();
    let core = stable.map_or(Version::FIRST, |release| release.version.next_stable(bump));
    let before = digests(latest)?;
    let mut changes = now.changes_since(&before);
    changes.since = latest.map(|release| release.version.to_string());
    changes.licence = relicensed;
    let retired = now.retired_ids(&before).into_iter().collect();
    let proposed = number_draft(registry, core, draft);
    if let (None, Some(latest), Bump::Patch) = (wanted, latest, changes.required_bump()) {
        // A set whose review is complete may become stable without a change of rows.
        let same = changes.licence.is_none();
        if same && (latest.version.draft.is_none() || !draft.is_empty()) {
            return Err(ReleaseError::Unchanged { recipe: recipe.name.into(), version: latest.version });
        }
    }
    let version = wanted.unwrap_or(proposed);
    if registry.find_release(version).is_some() {
        return Err(ReleaseError::Exists { recipe: recipe.name.into(), version, proposed });
    }
    if version.to_stable() < core
        || registry.releases.iter().any(|r| {
            r.version > version && version.draft.is_some() && r.version.to_stable() == version.to_stable()
        })
    {
        let why = match stable {
            Some(stable) => format!(
                "{} since {} make a {} version",
                now.changes_since(&base).describe(),
                stable.version,
                bump.level_name()
            ),
            None => format!("the first version is {core}"),
        };
        return Err(ReleaseError::TooSmall { version, why, proposed });
    }
    if version.draft.is_none() && !draft.is_empty() {
        let proposed = number_draft(registry, version, draft);
        return Err(ReleaseError::Draft { version, why: draft.to_vec(), proposed });
    }
    Ok((Proposal { version, bump, changes, draft: draft.to_vec() }, retired))
}

/// A stable version, or the next draft of it if it must be one.
fn number_draft(registry: &Registry, core: Version, draft: &[String]) -> Version {
    if draft.is_empty() {
        return core;
    }
    let drafts =
        registry.releases.iter().filter(|r| r.version.to_stable() == core).filter_map(|r| r.version.draft);
    Version { draft: Some(drafts.max().unwrap_or(0) + 1), ..core }
}

/// The rows of a release as digests of its lines, whatever columns its layout had.
fn kept_digests(registry: &Registry, release: &Release) -> Result<Digests, ReleaseError> {
    let mut digests = Digests::default();
    for config in release.configs.keys() {
        let (path, lines) = kept_lines(registry, release, config)?;
        for line in lines {
            let line = line.map_err(Error::io("read", &path))?;
            let json: serde_json::Map<String, serde_json::Value> =
                serde_json::from_str(&line).map_err(|e| Error::io("read", &path)(e.into()))?;
            let id = json.values().next().and_then(|id| id.as_str()).unwrap_or_default();
            // The digest of a row includes the line break, which `lines` removes.
            digests.add_line(config, id, format!("{line}\n").as_bytes());
        }
    }
    Ok(digests)
}

/// Seals everything needed to restore the folder: rows, and every text that does not follow from them.
fn seal_release(
    registry: &Registry,
    version: Version,
    from: &Path,
    manifest: &CandidateManifest,
) -> Result<BTreeMap<String, String>, ReleaseError> {
    let place = create_sealing_folder(registry, version)?;
    let mut sealed = BTreeMap::new();
    for config in manifest.configs.keys() {
        let name = format!("rows-{config}.jsonl.zst");
        let files: Vec<_> = manifest.files_of(config).iter().map(|file| from.join(file)).collect();
        seal_files(&files, &place.join(&name))?;
        sealed.insert(name.clone(), sha256_of_file(&place.join(&name))?);
    }
    let mut texts = Vec::new();
    for path in folder::list_files(from)? {
        if path.starts_with("data/") || path.starts_with("compat/") {
            continue;
        }
        let file = from.join(&path);
        // Each by itself, like the rows: all of them in memory could be too much.
        if let Some(items) = eval_files::sealed_name(&path) {
            seal_files(std::slice::from_ref(&file), &place.join(&items))?;
            sealed.insert(items.clone(), sha256_of_file(&place.join(&items))?);
            continue;
        }
        let text = fence::read_to_string(&file).map_err(Error::io("read", &file))?;
        serde_json::to_writer(&mut texts, &(path, text)).map_err(|e| Error::io("write", &file)(e.into()))?;
        texts.push(b'\n');
    }
    let packed = zstd::encode_all(&texts[..], 9).map_err(Error::io("write", &place.join(TEXTS)))?;
    durable::write_synced(&place.join(TEXTS), &packed)?;
    sealed.insert(TEXTS.into(), sha256_of_file(&place.join(TEXTS))?);
    // The names have to be on the disk, too, before the registry refers to them.
    durable::sync_folder(&place)?;
    Ok(sealed)
}

pub(super) fn check_date(date: &str) -> Result<(), ReleaseError> {
    // The calendar's own reader would also accept `20260102`; the form is fixed, and 29 February only in leap years.
    let form = date.len() == 10 && date.bytes().all(|b| b.is_ascii_digit() || b == b'-');
    if form && date.parse::<jiff::civil::Date>().is_ok() {
        Ok(())
    } else {
        Err(ReleaseError::Date(date.into()))
    }
}
