//! Traces every row: row, last stage, ledgers, dumps.

use std::path::Path;

use rustc_hash::FxHashMap;

use super::Verified;
use crate::CandidateSource;
use crate::audit::{Proof, prove_stages};
use crate::config::Config;
use crate::manifest::{CandidateManifest, Link, MANIFEST, SUMS};
use crate::numbered::{allot_numbers, rows_by_file};
use crate::pipeline::{RunError, stale_stages};
use crate::recipe;
use crate::registry::{Registry, Release};
use crate::source::open_stage;
use crate::stages::import;
use crate::store::{Error, Workspace, sha256_of_file};
use riddlemill_files::fence;

/// What is said of a version whose files are not those that the registry knows; its checksums may have been renewed. A yanked
/// one has a notice in its files.
fn find_other_bytes(
    folder: &Path,
    workspace: &Workspace,
    recipe: &str,
    manifest: &CandidateManifest,
) -> Result<Option<String>, RunError> {
    let registry = Registry::open(workspace, recipe)?;
    let of_version = |release: &&Release| release.version.to_string() == manifest.version;
    let Some(release) = registry.releases.iter().find(of_version) else {
        let is_foreign = !manifest.is_no_release();
        return Ok(is_foreign.then(|| {
            format!("{MANIFEST}: {recipe} {} was not released from this workspace", manifest.version)
        }));
    };
    let is_yanked = registry.yanked.contains_key(&release.version);
    let sums = sha256_of_file(&folder.join(SUMS))?;
    Ok((sums != release.sums && !is_yanked).then(|| {
        format!(
            "{SUMS}: not that of {recipe} {} when it was released: a file was edited, added or removed\n  hint: move the folder \
             away, and `riddlemill run --recipe {recipe}` writes it again from raw/releases",
            manifest.version
        )
    }))
}

/// Traces each row of a verified folder to a line of a dump: the folder's stages are those of the workspace,
/// their accounting closes, the dumps in raw/ have the stated hashes, and each row equals one made from the
/// last stage.
///
/// # Errors
/// [`RunError`] if a stage or dump cannot be read.
pub fn trace_rows(folder: &Path, config: &Config, verified: &mut Verified) -> Result<(), RunError> {
    let Some(manifest) = CandidateManifest::read_manifest(folder)? else { return Ok(()) };
    if let Some(problems) = recipe::problems_of(&manifest.recipe) {
        let told = problems.0.iter().map(|problem| format!("{}: {}", problem.place, problem.what));
        verified.findings.extend(told);
        return Ok(());
    }
    let Some(recipe) = recipe::find_recipe(&manifest.recipe) else {
        verified.findings.push(format!("{MANIFEST}: recipe {:?} is not known", manifest.recipe));
        return Ok(());
    };
    let workspace = Workspace::new(&config.root);
    let found = &mut verified.findings;
    let mut dumps = Vec::new();
    for origin in recipe.origin_recipes() {
        dumps.extend(import::find_source_files(config, origin.name, origin.is_of_riddles())?);
    }
    for raw in &manifest.raw {
        match dumps.iter().find(|d| format!("{}/{}", d.source, d.file) == raw.file) {
            None => found.push(format!("{}: no source names it any longer", raw.file)),
            Some(dump) if dump.sha256 != raw.sha256 => {
                found.push(format!("{}: the dump in raw/ has other bytes", raw.file))
            }
            Some(_) => {}
        }
    }
    found.extend(find_other_bytes(folder, &workspace, recipe.name, &manifest)?);
    let mut steps = recipe.steps_made(&workspace)?.iter();
    for link in &manifest.stages {
        let Some(step) = steps.next() else {
            found.push(format!("{MANIFEST}: stage {} is not one of recipe {}", link.stage, recipe.name));
            return Ok(());
        };
        let stage = open_stage(&workspace, recipe, step)?;
        if Link::from_manifest(stage.manifest()) != *link {
            found.push(format!(
                "{MANIFEST}: stage {} is not what staged/ holds now\n  hint: restore the \
                                settings and dumps that it names, and run",
                link.stage
            ));
            return Ok(());
        }
    }
    let newer = stale_stages(config, recipe)?;
    found.extend(newer.iter().map(|stage| format!("raw/ and the settings hold something newer: {stage}")));
    let mut proof = Proof::default();
    prove_stages(&workspace, recipe, &mut proof);
    let stages = proof.gaps.into_iter().filter(|gap| gap.stage != "candidate");
    found.extend(stages.map(|gap| format!("{} {}: {}", gap.recipe, gap.stage, gap.what)));
    let end = CandidateSource::of_chain(recipe, manifest.stages.len());
    let last = open_stage(&workspace, recipe, end.step())?;
    let numbers = allot_numbers(&workspace, end, &last)?;
    let layouts = end.published_layouts(&last)?;
    let files = layouts
        .iter()
        .flat_map(|layout| rows_by_file(end, &last, &numbers).into_iter().map(move |part| (layout, part)));
    for (layout, (split, batches)) in files {
        let file = format!("data/{}/{split}.jsonl", layout.config);
        let path = folder.join(&file);
        let text = fence::read_to_string(&path).map_err(Error::io("read", &path))?;
        let mut released: FxHashMap<blake3::Hash, usize> =
            text.lines().enumerate().map(|(i, line)| (blake3::hash(line.as_bytes()), i + 1)).collect();
        for batch in batches {
            for row in batch? {
                let mut line = Vec::new();
                // Writing into a vector cannot fail.
                let _ = row.write_json(layout, &mut line);
                // The lines of the file were hashed without their line breaks.
                line.pop();
                if released.remove(&blake3::hash(&line)).is_none() {
                    found.push(format!(
                        "{file}: {} is a row of the last stage, but not in this file",
                        row.id()
                    ));
                }
            }
        }
        let mut unexpected: Vec<usize> = released.into_values().collect();
        unexpected.sort_unstable();
        found.extend(unexpected.iter().map(|line| format!("{file}:{line}: no stage wrote this row")));
    }
    Ok(())
}
