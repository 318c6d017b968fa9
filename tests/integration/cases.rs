//! Inputs made after public bug reports: what becomes of each of their records.

use std::fmt::Write;
use std::fs;

use crate::harness::{Workspace, reference};

/// Dumps go through the stages of texts. Each way is compared as a whole: a record that is lost, or kept where it was set
/// aside, shows.
#[test]
fn dumps_of_bug_reports_end_as_they_did() {
    let Some(reference) = reference() else { return };
    let mut folders: Vec<_> =
        fs::read_dir(reference.join("cases")).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.retain(|folder| folder.join("sources.toml").exists());
    folders.sort();
    assert!(folders.len() > 20, "{folders:?}");
    let mut ends = String::new();
    for folder in folders {
        let ws = Workspace::folder();
        ws.call(["init", "--empty"]).expect(0);
        for entry in fs::read_dir(folder.join("input")).unwrap() {
            let file = entry.unwrap().path();
            let name = file.file_name().unwrap().to_str().unwrap().to_owned();
            ws.write(&format!("raw/dumps/{name}"), fs::read(&file).unwrap());
        }
        let sources = fs::read_to_string(folder.join("sources.toml")).unwrap();
        ws.write("pipeline.toml", ws.read("pipeline.toml") + &sources);
        let told = ws.call(["run", "--recipe", "chumor", "--to", "dedup"]);
        let name = folder.file_name().unwrap().to_str().unwrap();
        assert!(told.code == 0 || told.code == 3, "{name}: {}", told.err);
        ws.audit_clean();
        let reasons = ws.reasons("chumor");
        let failed: u64 = reasons.iter().filter(|(way, _)| way.starts_with("failed/")).map(|(_, n)| n).sum();
        assert_eq!(
            told.code == 3,
            failed > 0,
            "{name}: what could not be read is told by the exit code: {reasons:?}"
        );
        writeln!(ends, "{name}: {} {reasons:?}", told.code).unwrap();
    }
    insta::assert_snapshot!("cases", ends);
}
