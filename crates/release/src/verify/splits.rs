//! Checks that nothing that belongs together is in two splits, except rows that became near after their release and that the
//! manifest names, and that no row moved since the version before.

use std::path::{Path, PathBuf};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::division::{comparison_settings, near_pairs};
use crate::layout::Layout;
use crate::manifest::CandidateManifest;
use crate::read_rows::of_file;
use crate::row::Row;
use crate::version::Version;
use riddlemill_files::fence;

/// Checks the rows of a config that is divided, by file.
pub(super) fn check_splits(
    folder: &Path,
    manifest: &CandidateManifest,
    layout: &Layout,
    files: &[(String, Vec<Row>)],
    findings: &mut Vec<String>,
) {
    if !manifest.splits.contains_key(layout.config) {
        return;
    }
    report_moved_rows(folder, manifest, layout, files, findings);
    let rows: Vec<(&str, &Row)> =
        files.iter().flat_map(|(file, rows)| rows.iter().map(move |row| (file.as_str(), row))).collect();
    let mut known: FxHashMap<String, (&str, &str)> = FxHashMap::default();
    let source = layout.place_of_column("source_id");
    for (file, row) in &rows {
        let group = layout.group_of(row).map(|group| format!("in the group {group:?}"));
        let record = source.map(|at| row.text_of_column(at)).filter(|id| !id.is_empty());
        for what in group.into_iter().chain(record.map(|id| format!("made from {id}"))) {
            let (other_file, other) = *known.entry(what.clone()).or_insert((*file, row.id()));
            if other_file != *file {
                findings.push(format!("{file}: {} is {what}, and so is {other} in {other_file}", row.id()));
            }
        }
    }
    let text = layout.text_column().and_then(|column| layout.place_of_column(column));
    let texts: Vec<&str> = rows.iter().map(|(_, row)| text.map_or("", |at| row.text_of_column(at))).collect();
    let dedup = comparison_settings(manifest.stages.iter().map(|link| &link.settings));
    let mut crossing: Vec<(usize, usize)> = near_pairs(&texts, &dedup)
        .into_iter()
        .map(|(a, b)| (a.min(b), a.max(b)))
        .filter(|(a, b)| rows[*a].0 != rows[*b].0)
        .collect();
    crossing.sort_unstable();
    crossing.dedup();
    let stays: FxHashSet<&(String, String)> = manifest.crossing.iter().collect();
    for (a, b) in crossing {
        let ((file, row), (other_file, other)) = (rows[a], rows[b]);
        // Both were released before they were near, and neither is taken back: the manifest and the card say so.
        let pair = (row.id().min(other.id()).to_owned(), row.id().max(other.id()).to_owned());
        if stays.contains(&pair) {
            continue;
        }
        findings.push(format!("{file}: {} is a near duplicate of {} in {other_file}", row.id(), other.id()));
    }
}

/// Compares the splits with those of the version before, if its folder is beside this one.
fn report_moved_rows(
    folder: &Path,
    manifest: &CandidateManifest,
    layout: &Layout,
    files: &[(String, Vec<Row>)],
    findings: &mut Vec<String>,
) {
    let Some((version, before, place)) = version_before(folder, manifest, layout.config) else { return };
    let mut then: FxHashMap<String, String> = FxHashMap::default();
    for file in before.files_of(layout.config) {
        // A file that cannot be read is a finding of that version.
        for row in of_file(&place.join(&file)).unwrap_or_default() {
            let id = row.values().next().and_then(|id| id.as_str()).unwrap_or_default();
            then.insert(id.to_owned(), file.clone());
        }
    }
    for (file, rows) in files {
        for row in rows {
            if let Some(was) = then.get(row.id()).filter(|was| *was != file) {
                findings.push(format!(
                    "{file}: {} was in {was} of {version}, and a released row never moves",
                    row.id()
                ));
            }
        }
    }
}

/// The greatest earlier version beside a folder in which the config is divided.
fn version_before(
    folder: &Path,
    manifest: &CandidateManifest,
    config: &str,
) -> Option<(Version, CandidateManifest, PathBuf)> {
    let own: Option<Version> = manifest.version.parse().ok();
    let mut versions: Vec<(Version, PathBuf)> = Vec::new();
    for entry in fence::list(folder.parent()?).ok()?.flatten() {
        let place = entry.path();
        let named = place.file_name().and_then(|name| name.to_str()?.parse::<Version>().ok());
        versions.extend(named.filter(|version| own.is_none_or(|own| *version < own)).map(|v| (v, place)));
    }
    versions.sort_by(|(a, _), (b, _)| b.cmp(a));
    versions.into_iter().find_map(|(version, place)| {
        let before = CandidateManifest::read_manifest(&place).ok()??;
        let divided = before.recipe == manifest.recipe && before.splits.contains_key(config);
        divided.then_some((version, before, place))
    })
}
