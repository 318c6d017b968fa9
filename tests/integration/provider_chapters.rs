//! The chapters on providers: their settings are valid, and the same in both languages.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::chapter::blocks;
use crate::harness::Workspace;

fn pages(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut pages: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    pages.sort();
    pages
}

/// The blocks of a page that are settings or commands.
fn typed(page: &Path) -> Vec<(String, String)> {
    let text = fs::read_to_string(page).unwrap();
    let blocks = blocks(&text).into_iter().filter_map(Result::ok);
    blocks.map(|block| (block.language.to_owned(), block.text.to_owned())).collect()
}

#[test]
fn each_chapter_has_valid_settings_and_the_same_in_both_languages() {
    let (english, chinese) = (pages("docs/providers"), pages("docs/zh/providers"));
    let names = |pages: &[PathBuf]| -> BTreeSet<String> {
        pages.iter().map(|page| page.file_name().unwrap().to_string_lossy().into_owned()).collect()
    };
    assert_eq!(names(&english), names(&chinese));
    assert_eq!(english.len(), 8);
    let index = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/index.md")).unwrap();
    for (page, other) in english.iter().zip(&chinese) {
        let name = page.file_stem().unwrap().to_string_lossy().into_owned();
        assert!(
            index.contains(&format!("\nproviders/{name}\n"))
                && index.contains(&format!("\nzh/providers/{name}\n")),
            "{name}"
        );
        let blocks = typed(page);
        assert_eq!(blocks, typed(other), "{name}");
        let ws = Workspace::sample();
        for (_, settings) in blocks.iter().filter(|(language, _)| language == "toml") {
            ws.write("pipeline.toml", ws.read("pipeline.toml") + "\n" + settings);
        }
        ws.call(["config"]).expect(0);
        // The command that a page shows is one for its endpoint: only the key is missing, or nobody answers.
        let (_, typed) = blocks.iter().find(|(language, _)| language == "sh").unwrap();
        let line = typed.lines().find_map(|line| line.strip_prefix("$ riddlemill ")).unwrap();
        let result = ws.call(line.split(' ').chain(["--set", "run.disk_check=false"]));
        assert!(result.code == 2 || result.code == 3, "{name}: {} {}", result.out, result.err);
        assert!(
            !result.err.contains("unknown endpoint") && !result.err.contains("is not sent"),
            "{name}: {}",
            result.err
        );
    }
}
