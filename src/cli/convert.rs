//! `benchmark convert`: a benchmark's folder of the first edition in the second.

use std::fs;
use std::path::Path;

use riddlemill_benchmarks::edition2::{self, Converted};
use serde_json::json;

use super::args::Global;
use super::exit::{Exit, Failure};
use super::output;
use crate::recipe::Recipe;
use crate::store::{Error, durable};

/// The files of a folder that are no prompts.
const FILES: [&str; 3] = ["benchmark.toml", "ballots.toml", "report.toml"];

/// Writes the folder in the second edition, if that says the same; else tells what it could not say, and writes nothing.
pub(super) fn convert_folder(folder: &Path, out: &Path, global: &Global) -> Result<Exit, Failure> {
    let (folder, out) = (global.workspace.join(folder), global.workspace.join(out));
    let files = read_files(&folder)?;
    if out.exists() && out.read_dir().is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(Failure::usage(format!(
            "{} is not empty; nothing was written\n  hint: --out names a folder that is not there yet",
            out.display()
        )));
    }
    let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let texts: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let converted = edition2::convert_folder(&name, &texts)?;
    if !converted.lost.is_empty() {
        return report_refused(&name, &folder, &converted, global);
    }
    let prompts = files.iter().filter(|(path, _)| path.starts_with("prompts/"));
    for (path, text) in converted.files.iter().chain(prompts) {
        let path = out.join(path);
        if let Some(folder) = path.parent() {
            durable::create_folder(folder)?;
        }
        durable::replace_file(&path, text.as_bytes())?;
    }
    let (before, after) = (count_lines(&files), count_lines(&converted.files));
    if global.json {
        output::print_json(
            &json!({ "benchmark": name, "out": out, "lines_before": before, "lines_after": after, "lost": [] }),
        )?;
    } else {
        output::print_text(&format!(
            "{}: {name} in the second edition, {} for {before}, Chinese texts apart. It says the same: votes and replies stay valid\n",
            out.display(),
            output::count(after as u64, "line")
        ))?;
    }
    Ok(Exit::Done)
}

/// What could not be said. The folder stays as it is, and is read as before.
fn report_refused(
    name: &str,
    folder: &Path,
    converted: &Converted,
    global: &Global,
) -> Result<Exit, Failure> {
    if global.json {
        output::print_json(&json!({ "benchmark": name, "lost": converted.lost }))?;
    } else {
        let lost: String = converted.lost.iter().map(|lost| format!("  {lost}\n")).collect();
        output::print_text(&format!(
            "{name} cannot be said in the second edition as it is; nothing was written:\n{lost}  hint: {} is read as before; change \
             what is named here and convert it again\n",
            folder.display()
        ))?;
    }
    Ok(Exit::Gap)
}

/// One line for each folder of the workspace that is of the first edition, of these recipes.
pub(super) fn hint_convert<'r>(recipes: impl IntoIterator<Item = &'r Recipe>, global: &Global) {
    for recipe in recipes.into_iter().filter(|_| !global.quiet) {
        let Some(benchmark) = riddlemill_benchmarks::find_benchmark(recipe.name) else { continue };
        let own = global.workspace.join("benchmarks").join(recipe.name).is_dir();
        if own && edition2::is_first(&benchmark.files) {
            eprintln!(
                "note: benchmarks/{name} is of the first edition and is read as before; `riddlemill benchmark convert \
                 benchmarks/{name} --out {name}-2` writes it in the second",
                name = recipe.name
            );
        }
    }
}

/// Lines with values, without those of Chinese texts.
fn count_lines(files: &[(String, String)]) -> usize {
    let counted = files.iter().filter(|(path, _)| path.ends_with(".toml") && !path.ends_with(".zh.toml"));
    let said = |line: &&str| !line.trim().is_empty() && !line.trim().starts_with('#');
    counted.map(|(_, text)| text.lines().filter(said).count()).sum()
}

/// The files of a folder, by their paths in it.
fn read_files(folder: &Path) -> Result<Vec<(String, String)>, Failure> {
    let text = |path: &Path| fs::read_to_string(path).map_err(Error::io("read", path));
    if !folder.join(FILES[0]).is_file() {
        return Err(Failure::usage(format!(
            "{} has no benchmark.toml\n  hint: FOLDER is a benchmark's folder, as benchmarks/my-own",
            folder.display()
        )));
    }
    let mut files = Vec::new();
    for file in FILES {
        let path = folder.join(file);
        if path.exists() {
            files.push((file.to_owned(), text(&path)?));
        }
    }
    let prompts = folder.join("prompts");
    if prompts.is_dir() {
        let entries = fs::read_dir(&prompts).map_err(Error::io("read", &prompts))?;
        let mut names: Vec<String> =
            entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.retain(|name| name.ends_with(".jinja"));
        names.sort();
        for name in names {
            let text = text(&prompts.join(&name))?;
            files.push((format!("prompts/{name}"), text));
        }
    }
    Ok(files)
}
