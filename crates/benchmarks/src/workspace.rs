//! The folders of a workspace: `benchmarks/<name>/`, read like the built-in ones.

use std::fs;
use std::io;
use std::path::Path;

use crate::reader::{Problem, leak_text};

/// Largest file of a declaration.
const LARGEST: u64 = 4 << 20;

/// The files of a folder beside its prompts; the Chinese of the second edition is in files of its own.
const FILES: [&str; 6] = [
    "benchmark.toml",
    "benchmark.zh.toml",
    "ballots.toml",
    "ballots.zh.toml",
    "report.toml",
    "report.zh.toml",
];

/// The name of a folder, and its files by their paths in it.
pub(crate) type OwnFolder = (&'static str, Vec<(&'static str, &'static str)>);

/// Every folder with its files, sorted by name, and the problems of those with files that cannot be read; empty if there
/// is no such place.
pub(crate) fn read_folders(parent: &Path) -> (Vec<OwnFolder>, Vec<Problem>) {
    let mut problems = Vec::new();
    let mut found = Vec::new();
    for (name, is_folder) in list_entries(parent, "benchmarks", &mut problems) {
        if !is_folder {
            continue;
        }
        let shown = format!("benchmarks/{name}");
        if !name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-') {
            let what = "a benchmark's name has small letters, digits and `-`".to_owned();
            problems.push(Problem { place: shown, what });
            continue;
        }
        let folder = parent.join(&name);
        let mut files = Vec::new();
        for file in FILES {
            read_file(&folder.join(file), file, &shown, &mut files, &mut problems);
        }
        for (prompt, _) in list_entries(&folder.join("prompts"), &format!("{shown}/prompts"), &mut problems) {
            if prompt.ends_with(".jinja") {
                let path = format!("prompts/{prompt}");
                read_file(&folder.join(&path), &path, &shown, &mut files, &mut problems);
            }
        }
        found.push((leak_text(&name), files));
    }
    (found, problems)
}

/// The entries of a folder, sorted, with whether each is a folder.
fn list_entries(folder: &Path, display_name: &str, problems: &mut Vec<Problem>) -> Vec<(String, bool)> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Vec::new(),
        Err(e) => {
            problems.push(Problem { place: display_name.to_owned(), what: format!("cannot be read: {e}") });
            return Vec::new();
        }
    };
    let name = |entry: fs::DirEntry| Some((entry.file_name().into_string().ok()?, entry.path().is_dir()));
    let mut names: Vec<(String, bool)> = entries.flatten().filter_map(name).collect();
    names.retain(|(name, _)| !name.starts_with('.'));
    names.sort();
    names
}

fn read_file(
    path: &Path,
    name: &str,
    shown: &str,
    files: &mut Vec<(&'static str, &'static str)>,
    problems: &mut Vec<Problem>,
) {
    let mut wrong = |what: String| problems.push(Problem { place: format!("{shown}/{name}"), what });
    match fs::metadata(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return,
        Err(e) => return wrong(format!("cannot be read: {e}")),
        // Reading a pipe would block.
        Ok(found) if !found.is_file() => return wrong("is not a file".into()),
        Ok(found) if found.len() > LARGEST => return wrong(format!("is larger than {} MiB", LARGEST >> 20)),
        Ok(_) => {}
    }
    match fs::read_to_string(path) {
        Ok(text) => files.push((leak_text(name), leak_text(&text))),
        Err(e) => wrong(format!("cannot be read: {e}")),
    }
}
