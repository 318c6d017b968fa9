//! The candidate of a recipe: the rows that reached its end, packaged like a release.

use std::path::Path;

use sha2::{Digest, Sha256};

use super::alike::RowTexts;
use super::facts::{Facts, Origin, SUBJECTS, read_curator_texts};
use super::layout::Layout;
use super::left_out::{self, RowsPerItem};
use super::manifest::{CandidateManifest, Link, MANIFEST, Raw, SUMS};
use super::numbered::{allot_numbers, released_rows, rows_by_file};
use super::read_rows::JsonRow;
use super::registry::Ordinals;
use super::row_faults::RowFaults;
use super::source::{CandidateSource, open_stage};
use super::{data, eval_files, folder, shortcuts};
use crate::config::{Config, sections};
use crate::pipeline::RunError;
use crate::recipe::Recipe;
use crate::stages::draft::papers_own;
use crate::stages::import::FileRow;
use crate::store::{
    Error, Lock, Manifest, StageReader, Workspace, durable, json_parts, path_inside, sha256_of_file,
};
use riddlemill_files::fence;

/// Builds `output/<recipe>/candidate` from the recipe's stages, unless it is up to date. Returns its manifest
/// and whether it was written.
///
/// # Errors
/// [`RunError`] if a stage cannot be read or a file not written.
pub fn build_candidate(
    config: &Config,
    recipe: &'static Recipe,
    stages: &[Manifest],
) -> Result<(CandidateManifest, bool), RunError> {
    let workspace = Workspace::new(&config.root);
    let place = workspace.candidate_folder(recipe.name);
    let _lock = Lock::take_lock(&workspace.recipe_folder(recipe.name))?;
    if let Some(folder) = place.parent() {
        // Unfinished folders are what a stopped process left.
        durable::sweep_folder(folder)?;
    }
    let end = CandidateSource::new(recipe);
    let chain: Vec<Link> = stages.iter().map(Link::from_manifest).collect();
    let last = open_stage(&workspace, recipe, end.step())?;
    let layouts = end.published_layouts(&last)?;
    let numbers = allot_numbers(&workspace, end, &last)?;
    let fingerprint = compute_fingerprint(config, recipe, &layouts, &numbers);
    if let Some(candidate) =
        read_intact_candidate(&place).filter(|c| c.stages == chain && c.fingerprint == fingerprint)
    {
        return Ok((candidate, false));
    }
    let temp_dir = durable::name_while_making(&place);
    durable::remove_folder(&temp_dir)?;
    durable::create_folder(&temp_dir)?;
    let mut written = Vec::new();
    let mut faults = RowFaults::new(recipe);
    let mut texts = RowTexts::new(recipe);
    let mut per_item = RowsPerItem::default();
    for layout in &layouts {
        written.push(data::write_data(&temp_dir, layout, rows_by_file(end, &last, &numbers), |rows| {
            faults.look_at(layout, rows);
            texts.look_at(layout, rows);
            per_item.look_at(layout, rows);
        })?);
    }
    let guessed = shortcuts::measure_release(config, recipe, end, &last, &numbers)?;
    let origin = Origin::new(config, end, &end.open_stages(&workspace)?, &numbers)?;
    let mut facts = Facts::gather(config, recipe, &layouts, written, guessed, origin, &chain)?;
    facts.waiting = per_item.count_waiting_rows(end, &facts.left_out);
    facts.refused = faults.into_texts();
    facts.alike = texts.find_alike_pairs(config, &workspace, recipe)?;
    facts.exported = eval_files::write_eval_files(&temp_dir, config, &layouts, &facts.files_of_configs())?;
    let candidate = folder::finish_folder(&temp_dir, &facts, &layouts, chain, fingerprint)?;
    durable::swap_folder(&temp_dir, &place)?;
    Ok((candidate, true))
}

/// A hash of everything that determines a folder in addition to its stages: program, layouts, release
/// settings, the curator's texts, and the numbers of its rows.
pub(super) fn compute_fingerprint(
    config: &Config,
    recipe: &'static Recipe,
    layouts: &[Layout],
    numbers: &Ordinals,
) -> String {
    let settings: sections::Release = config.typed_settings(Some(recipe.name), "release");
    let curator = read_curator_texts(&config.root, &settings, recipe.name);
    let mut sources: Vec<(&str, bool)> =
        config.sources.iter().map(|s| (s.name.as_str(), is_sample_path(&s.path))).collect();
    sources.sort_unstable();
    let columns: Vec<(&str, Vec<&str>)> =
        layouts.iter().map(|l| (l.config, l.columns.iter().map(|c| c.name).collect())).collect();
    let mut decides = serde_json::json!({
        "riddlemill": crate::VERSION, "columns": columns, "sources": sources, "subjects": SUBJECTS.len(),
        "settings": config.stage_settings(Some(recipe.name), "release"), "curator": curator,
        "numbers": numbers.requested_numbers(),
        "origin": fingerprint_imports(config, recipe),
        "declared": declaration_hashes(recipe),
        // The version of a folder's other contents: 2 lists what was left out; in 3 a missing optional value
        // makes no row provisional; 4 states types that every reader supports; 5 contains the benchmark's own
        // folder; 6 states the licences of every upstream, and what a release would refuse; 7 asks every task with
        // the set's own prompts, and compares rewritten texts again.
        "folder": 7, "prompts": eval_files::prompt_hashes(config, recipe), "paper": papers_own(config),
    });
    if let Some(division) = numbers.division() {
        decides["splits"] = division.fingerprint_json();
    }
    blake3::hash(decides.to_string().as_bytes()).to_hex().to_string()
}

/// The hashes of the benchmark's folder and of those it builds on.
fn declaration_hashes(recipe: &Recipe) -> Vec<&'static str> {
    let found = riddlemill_benchmarks::find_benchmark(recipe.name).map(|benchmark| benchmark.with_others());
    found.unwrap_or_default().into_iter().map(|benchmark| benchmark.declared.as_str()).collect()
}

/// The imports that other recipes made for this one: their dumps and dates belong in the folder, but are not in the
/// recipe's own chain.
fn fingerprint_imports(config: &Config, recipe: &'static Recipe) -> Vec<String> {
    let of = |from: &'static Recipe| {
        let place = Workspace::new(&config.root).stage_folder(from.name, 1, from.steps().first()?.name);
        let manifest = Manifest::read_from_stage(&place).ok()??;
        let rows = manifest.tables.get("rows").map(|table| table.hash.clone()).unwrap_or_default();
        Some(format!("{} {rows}", manifest.fingerprint))
    };
    recipe.origin_recipes().into_iter().filter(|origin| origin.name != recipe.name).filter_map(of).collect()
}

/// Whether a source belongs to the sample that comes with the program.
fn is_sample_path(path: &str) -> bool {
    Path::new(path).components().collect::<std::path::PathBuf>().starts_with("raw/sample")
}

/// The existing candidate, if all its files match their checksums.
pub(super) fn read_intact_candidate(folder_path: &Path) -> Option<CandidateManifest> {
    use rayon::prelude::*;
    let candidate = CandidateManifest::read_manifest(folder_path).ok()??;
    let mut sums = candidate.files.clone();
    sums.insert(MANIFEST.into(), sha256_of_file(&folder_path.join(MANIFEST)).ok()?);
    let stated = fence::read_to_string(folder_path.join(SUMS)).ok()?;
    let whole = folder::sums_text(&sums) == stated
        && candidate.files.par_iter().all(|(file, sum)| {
            path_inside(folder_path, file)
                .and_then(|path| sha256_of_file(&path))
                .is_ok_and(|found| found == *sum)
        });
    whole.then_some(candidate)
}

/// The rows of a recipe's end in the form of its data/; empty if nothing is released of it.
///
/// # Errors
/// [`RunError`] if a stage or the registry cannot be read.
pub fn rows_json(workspace: &Workspace, recipe: &'static Recipe) -> Result<Vec<JsonRow>, RunError> {
    let end = CandidateSource::new(recipe);
    let last = open_stage(workspace, recipe, end.step())?;
    let numbers = allot_numbers(workspace, end, &last)?;
    let mut found = Vec::new();
    let mut line = Vec::new();
    for layout in end.published_layouts(&last)?.iter().take(1) {
        for batch in released_rows(end, &last, &numbers) {
            for row in &batch? {
                line.clear();
                // Writing into a vector cannot fail, and the line is valid JSON.
                row.write_json(layout, &mut line).ok();
                found.extend(serde_json::from_slice::<JsonRow>(&line).ok());
            }
        }
    }
    Ok(found)
}

impl Origin {
    /// Reads it from the stages of a recipe.
    pub(super) fn new(
        config: &Config,
        end: CandidateSource,
        stages: &[StageReader],
        numbers: &Ordinals,
    ) -> Result<Origin, RunError> {
        let workspace = Workspace::new(&config.root);
        let mut origin = Origin {
            left_out: left_out::list_left_out(end, stages, numbers)?,
            crossing: numbers.division().map(|division| division.crossing.clone()).unwrap_or_default(),
            ..Origin::default()
        };
        for recipe in end.recipe().origin_recipes() {
            let import = open_stage(&workspace, recipe, &recipe.declared_steps()[0])?;
            origin.newest = origin.newest.max(find_newest_day(&import)?);
            // Two recipes may read the same dump.
            for file in list_dumps(config, &import)? {
                if origin.raw.iter().all(|known| known.file != file.file) {
                    origin.raw.push(file);
                }
            }
        }
        Ok(origin)
    }
}

/// The day of the newest record with a date.
fn find_newest_day(import: &StageReader) -> Result<Option<String>, Error> {
    let mut newest = None;
    for part in json_parts(import, "rows", &["time"]) {
        let days = part?;
        let days = days.iter().filter_map(|row| data::parse_day(row.get("time")?.as_str()?));
        newest = newest.max(days.max());
    }
    Ok(newest)
}

/// The dumps that the import stage read.
fn list_dumps(config: &Config, import: &StageReader) -> Result<Vec<Raw>, Error> {
    let files: Vec<FileRow> = import.read_table("files")?;
    let of_sample = |source: &str| config.sources.iter().any(|s| s.name == source && is_sample_path(&s.path));
    let raw = files.into_iter().map(|f| Raw {
        sample: of_sample(&f.source),
        file: f.id,
        kind: f.kind,
        sha256: f.sha256,
        items: f.items,
        licence: f.licence,
    });
    Ok(raw.collect())
}

/// The SHA-256 of the JSON Lines of the last step's rows, with which an audit compares a candidate.
///
/// # Errors
/// [`Error`] if a part or the registry cannot be read.
pub fn rows_sha256(
    workspace: &Workspace,
    end: CandidateSource,
    stage: &StageReader,
) -> Result<String, Error> {
    let numbers = allot_numbers(workspace, end, stage)?;
    let mut hasher = Sha256::new();
    let mut lines = Vec::new();
    for layout in end.published_layouts(stage)?.iter().take(1) {
        for batch in released_rows(end, stage, &numbers) {
            lines.clear();
            // Writing into a vector cannot fail.
            batch?.iter().for_each(|row| drop(row.write_json(layout, &mut lines)));
            hasher.update(&lines);
        }
    }
    Ok(hex::encode(hasher.finalize()))
}
