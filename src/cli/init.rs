//! `init`: creates a workspace that can be run.

use std::fs;
use std::path::{Path, PathBuf};

use include_flate::flate;

use super::args::Global;
use super::commands::workspace_option;
use super::exit::{Exit, Failure};
use super::output;
use crate::config::{FILE, default_pipeline, sample_pipeline};
use crate::store::{Error, durable};

/// Embeds files of the repository compressed: as they are, the sample is two megabytes of the program.
macro_rules! compressed {
    ($($path:literal),+ $(,)?) => {
        [$({
            flate!(static TEXT: str from $path with zstd);
            ($path, TEXT.as_str())
        }),+]
    };
}

/// The sample that comes with the program: paths in a workspace, and contents.
fn sample_files() -> [(&'static str, &'static str); 17] {
    compressed![
        "raw/sample/dumps/titles.json",
        "raw/sample/dumps/annual.json",
        "raw/sample/dumps/thread.jsonl",
        "raw/sample/replies.jsonl",
        "raw/sample/evaluation.jsonl",
        "raw/sample/responses.jsonl",
        "raw/sample/votes.jsonl",
        "raw/sample/puzzles/list.html",
        "raw/sample/puzzles/single-900106.html",
        "raw/sample/puzzles/single-900107.html",
        "raw/sample/puzzles/rd-article.html",
        "raw/sample/puzzles/puzzles.jsonl",
        "raw/sample/puzzles/premises.jsonl",
        "raw/sample/puzzles/replies.jsonl",
        "raw/sample/puzzles/votes.jsonl",
        "raw/sample/wordnet/index.noun",
        "raw/sample/wordnet/data.noun",
    ]
}

/// Creates a workspace, with the sample or `empty`.
pub(super) fn create_workspace(root: &Path, empty: bool, global: &Global) -> Result<(), Failure> {
    let settings = root.join(FILE);
    if settings.exists() {
        let gone = if empty || !has_sample(&settings) { Vec::new() } else { missing_files(root)? };
        if !gone.is_empty() {
            let written = gone.len();
            write_files(gone)?;
            if !global.quiet {
                let files = output::count(written as u64, "file");
                output::print_text(&format!(
                    "{files} of the sample written again; {} was not changed\n",
                    settings.display()
                ))?;
            }
            return Ok(());
        }
        return Err(Failure::usage(format!(
            "{} already exists; it was not changed\n  hint: `riddlemill{} init . FILE…` proposes sources for files of posts, `riddlemill init DIR` creates a workspace in another folder",
            settings.display(),
            workspace_option(root)
        )));
    }
    // Checked before anything is written.
    let missing = if empty { Vec::new() } else { missing_files(root)? };
    for folder in ["dumps", "warc", "replies", "responses", "votes", "releases"] {
        durable::create_folder(&root.join("raw").join(folder))?;
    }
    let mut text = default_pipeline();
    if !empty {
        text = sample_pipeline();
        write_files(missing)?;
    }
    let unlisted = keep_private(root)?;
    // Before the settings: a workspace made here may name places of this machine.
    let kept = crate::trust::Trust::for_workspace(root, []).made_here();
    // Written last: without settings it is not a workspace, and `init` can be repeated.
    durable::replace_file(&settings, text.as_bytes())?;
    if let Err(error) = kept
        && !global.quiet
    {
        eprintln!(
            "note: that this workspace was made here could not be kept, so paths outside of it are asked about: {error}"
        );
    }
    if !global.quiet {
        let place = root.display();
        output::print_text(&format!("{place}: a workspace with {FILE} and raw/\n"))?;
        if !unlisted.is_empty() {
            eprintln!(
                "note: {} was there and is unchanged; add these lines, which keep private and derived files out of repositories: {}",
                root.join(".gitignore").display(),
                unlisted.join("  ")
            );
        }
    }
    Ok(())
}

/// Whether settings name a source of the sample.
fn has_sample(settings: &Path) -> bool {
    let is_path = |line: &str| line.starts_with("path") && line.contains("\"raw/sample/");
    fs::read_to_string(settings).is_ok_and(|text| text.lines().any(is_path))
}

fn write_files(files: Vec<(PathBuf, &'static str)>) -> Result<(), Failure> {
    for (path, content) in files {
        if let Some(folder) = path.parent() {
            durable::create_folder(folder)?;
        }
        durable::replace_file(&path, content.as_bytes())?;
    }
    Ok(())
}

/// What must not be published with a workspace.
const IGNORED: &str = "\
# Private: whoever has these can undo pseudonyms, see blind sides, or log in. Back them up elsewhere.
/raw/salt
/raw/blinding
/raw/access.jsonl
# Private: posts as people wrote them, with their names.
/raw/dumps/
/raw/warc/
/staged/
# Derived: `riddlemill run` makes them again, and restores releases.
/output/
/.index/
# The rest of raw/ is what money and people made: texts of posts, replies, votes with annotators' names.
";

/// A log whose line ends were changed is damaged.
const ATTRIBUTES: &str = "/raw/** -text\n";

/// Writes .gitignore and .gitattributes where there are none; which lines the former lacks.
fn keep_private(root: &Path) -> Result<Vec<&'static str>, Failure> {
    let mut unlisted = Vec::new();
    for (name, text) in [(".gitignore", IGNORED), (".gitattributes", ATTRIBUTES)] {
        let path = root.join(name);
        match fs::read_to_string(&path) {
            Ok(there) if name == ".gitignore" => {
                let bare = |line: &str| line.trim().trim_matches('/').to_owned();
                let listed: Vec<String> = there.lines().map(bare).collect();
                let wanted = text.lines().filter(|line| !line.starts_with('#'));
                unlisted.extend(wanted.filter(|line| !listed.contains(&bare(line))));
            }
            Ok(_) => {}
            Err(_) if !path.exists() => durable::replace_file(&path, text.as_bytes())?,
            Err(e) => return Err(Error::io("read", &path)(e).into()),
        }
    }
    Ok(unlisted)
}

/// Copies a built-in benchmark's folder into the workspace. Existing files are not changed.
pub(super) fn copy_out(name: &str, root: &Path, global: &Global) -> Result<Exit, Failure> {
    let Some(files) = riddlemill_benchmarks::built_in(name) else {
        let names = crate::recipe::recipe_names();
        return Err(Failure::usage(crate::config::unknown("built-in benchmark", name, names)));
    };
    let folder = root.join("benchmarks").join(name);
    if folder.exists() {
        return Err(Failure::usage(format!(
            "{} already exists; it was not changed\n  hint: move it away to copy the built-in folder again",
            folder.display()
        )));
    }
    // Under a temporary name first: a partial copy would replace the whole folder.
    let partial = root.join("benchmarks").join(format!(".{name}.part"));
    if partial.exists() {
        fs::remove_dir_all(&partial).map_err(Error::io("remove", &partial))?;
    }
    for (file, text) in files {
        let path = partial.join(file);
        if let Some(folder) = path.parent() {
            durable::create_folder(folder)?;
        }
        durable::replace_file(&path, text.as_bytes())?;
    }
    fs::rename(&partial, &folder).map_err(Error::io("rename", &partial))?;
    if !global.quiet {
        output::print_text(&format!(
            "{}: replaces the built-in {name}; `riddlemill{} benchmark check` lists its problems\n",
            folder.display(),
            workspace_option(root)
        ))?;
    }
    Ok(Exit::Done)
}

/// The sample's files that are missing, or incomplete after a killed `init`.
fn missing_files(root: &Path) -> Result<Vec<(PathBuf, &'static str)>, Failure> {
    let mut missing = Vec::new();
    for (name, content) in sample_files() {
        let path = root.join(name);
        let there = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(e) => return Err(Error::io("read", &path)(e).into()),
        };
        match (there == content.as_bytes(), content.as_bytes().starts_with(&there)) {
            (true, _) => {}
            (false, true) => missing.push((path, content)),
            (false, false) => {
                return Err(Failure::usage(format!(
                    "{} already exists and is not the sample's; it was not changed\n  hint: move it away, \
                     or --empty \
                     leaves the sample out",
                    path.display()
                )));
            }
        }
    }
    Ok(missing)
}
