//! Checks the folder's descriptions against each other: hash chain, versions, counts, canary.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value as Json;

use super::Verified;
use crate::manifest::{CandidateManifest, MANIFEST};
use riddlemill_files::fence;
use riddlemill_text::text::count_with_noun;

pub(super) fn check_chain(folder: &Path, manifest: &CandidateManifest, verified: &mut Verified) {
    let mut found = Vec::new();
    check_links(manifest, &mut found);
    check_versions(folder, manifest, &mut found);
    check_canary(folder, manifest, &mut found);
    verified.findings.append(&mut found);
}

/// Checks that every stage's fingerprint follows from the manifest, its inputs are rows of stages before it,
/// the dumps are those that the first stage read, and the last stage's records are the rows.
fn check_links(manifest: &CandidateManifest, findings: &mut Vec<String>) {
    let mut made: BTreeMap<&str, &str> = BTreeMap::new();
    for link in &manifest.stages {
        if link.fingerprint_of(&manifest.recipe) != link.fingerprint {
            findings.push(format!(
                "{MANIFEST}: the fingerprint of {} is not that of its settings and inputs",
                link.stage
            ));
        }
        // Stages of another recipe are verified in that recipe's folder.
        for input in link.inputs.iter().filter(|input| input.recipe == manifest.recipe) {
            if made.get(input.stage.as_str()).is_none_or(|rows| *rows != input.rows) {
                findings
                    .push(format!("{MANIFEST}: {} was made from other rows of {}", link.stage, input.stage));
            }
        }
        made.insert(&link.stage, &link.rows);
    }
    let evidence: Vec<&String> =
        manifest.stages.first().map(|l| l.evidence.values().collect()).unwrap_or_default();
    // A recipe that continues another one lists dumps that its own first stage did not read.
    let imports = manifest.stages.first().is_some_and(|link| link.inputs.is_empty());
    for raw in manifest.raw.iter().filter(|_| imports) {
        if !evidence.iter().any(|e| e.contains(&raw.sha256)) {
            findings.push(format!("{MANIFEST}: {} is not what the first stage read", raw.file));
        }
    }
    let out = manifest.stages.last().map(|l| l.counts.records_out);
    let rows = manifest.rows + manifest.count_incomplete();
    if out.is_some_and(|out| out != rows) {
        findings.push(format!(
            "{MANIFEST}: {}, but the last stage has {}",
            count_with_noun(rows, "row"),
            out.unwrap_or(0)
        ));
    }
}

fn check_versions(folder: &Path, manifest: &CandidateManifest, findings: &mut Vec<String>) {
    let version = match manifest.version.as_str() {
        "candidate" => "0.0.0-candidate",
        version => version,
    };
    for file in ["croissant.json", "datapackage.json"] {
        let json: Option<Json> =
            fence::read(folder.join(file)).ok().and_then(|b| serde_json::from_slice(&b).ok());
        match json.as_ref().and_then(|j| j["version"].as_str()) {
            Some(stated) if stated == version => {}
            Some(stated) => findings.push(format!("{file}: version {stated}, {MANIFEST} says {version}")),
            None => findings.push(format!("{file}: cannot be read, or states no version")),
        }
    }
    for (file, line) in
        [("CITATION.cff", format!("version: {version}")), ("README.md", format!("Version {version}, "))]
    {
        // A set whose curator named no author has no citation file.
        if file == "CITATION.cff" && !manifest.files.contains_key(file) {
            continue;
        }
        // A file that cannot be read states no version, and is reported so.
        let text = fence::read_to_string(folder.join(file)).unwrap_or_default();
        if !text.contains(&line) {
            findings.push(format!("{file}: does not state version {version}"));
        }
    }
    let card = fence::read_to_string(folder.join("README.md")).unwrap_or_default();
    for config in manifest.configs.keys() {
        for (split, rows) in manifest.splits_of(config) {
            if stated_rows(&card, config, &split) != Some(rows) {
                findings.push(format!("README.md: num_examples of {config}, {split} is not {rows}"));
            }
        }
    }
}

/// The rows of a split that a card states for whoever loads it.
fn stated_rows(card: &str, config: &str, split: &str) -> Option<u64> {
    let (_, info) = card.split_once("\ndataset_info:\n")?;
    let of_config = info.split("- config_name: ").find(|block| block.lines().next() == Some(config))?;
    let (_, of_split) = of_config.split_once(&format!("  - name: {split}\n"))?;
    of_split.lines().find_map(|line| line.trim().strip_prefix("num_examples: "))?.parse().ok()
}

/// Checks that a release has one canary, on the card and in its file, and in no row.
fn check_canary(folder: &Path, manifest: &CandidateManifest, findings: &mut Vec<String>) {
    if manifest.version == "candidate" {
        return;
    }
    let guid = |file: &str| {
        let text = fence::read_to_string(folder.join(file)).unwrap_or_default();
        let guid = text.split_once("Canary GUID ").map(|(_, rest)| rest.chars().take(36).collect::<String>());
        guid.filter(|g| g.len() == 36 && g.bytes().all(|b| b == b'-' || b.is_ascii_hexdigit()))
    };
    match (guid("CANARY.txt"), guid("README.md")) {
        (Some(canary), Some(card)) if canary == card => {
            for file in manifest.configs.keys().flat_map(|config| manifest.files_of(config)) {
                let text = fence::read(folder.join(&file)).unwrap_or_default();
                if memchr::memmem::find(&text, canary.as_bytes()).is_some() {
                    findings.push(format!("{file}: the canary string occurs in a row"));
                }
            }
        }
        (Some(_), Some(_)) => findings.push("CANARY.txt: another GUID than README.md has".into()),
        (None, _) => findings.push("CANARY.txt: no GUID".into()),
        (_, None) => findings.push("README.md: no canary".into()),
    }
}
