//! The declarations of benchmarks. A benchmark is a folder, `src/benchmarks/<name>`:
//!
//! - `benchmark.toml`: its steps in order, its settings that differ from the defaults, its paper and how it differs from it;
//! - `ballots.toml`: what annotators are asked, in both languages, and the rule that decides;
//! - `report.toml`: which tables and figures of its paper `report` shows;
//! - `prompts/*.jinja`: what models are asked.
//!
//! # In reading order
//!
//! - [`reader`]: TOML with the place of every value, so that all problems are reported at once.
//! - [`choice`]: texts in two languages, and options. [`ballot`]: the parts of a ballot; `faults`: checks of a ballot;
//!   [`asked`]: what a ballot takes from a record; [`ballots`]: `ballots.toml`. [`paper`]: the published set.
//! - [`expression`]: computed over a record or a row; `value`: its result as a text or a list of texts; [`data`]: the
//!   columns of a release; [`compat`]: the published files.
//! - `checks`: functions that expressions may call. [`reply`]: how a reply is parsed.
//! - [`draft`]: the table of a draft step; [`arranged`]: those of options and marked texts; [`native`]: that of a named operation; [`scope`]: a record as expressions see it; `records`: kinds of records with
//!   columns.
//! - [`published`]: how rows of a published file become records; [`notation`]: JSON as Python writes it.
//! - [`setting`]: settings that a benchmark declares.
//! - [`task`]: what models are asked about a released set (`tasks` reads it); [`script`]: outputs of the paper's authors;
//!   [`table`]: the tables of their results (`tables` reads them).
//! - [`figure`]: what `report` shows (`figures` reads it).
//! - [`edition2`]: the second edition of folders, lowered to what is read here; `origin`: where a lowered line was written.
//! - [`benchmark`]: a whole folder. `own`: the folders of a workspace.
//! - Here: the built-in benchmarks. `derived`: what is made once of all.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

pub mod arranged;
pub mod asked;
pub mod ballot;
pub mod ballots;
pub mod benchmark;
pub mod bounds;
mod checks;
pub mod choice;
pub mod compat;
pub mod data;
mod declares;
mod derived;
pub mod draft;
pub mod edition2;
pub mod expression;
mod faults;
pub mod figure;
mod figures;
mod known;
pub mod native;
pub mod notation;
mod origin;
mod own;
pub mod paper;
pub mod published;
pub mod reader;
pub mod record_kind;
mod records;
pub mod reply;
mod row;
pub mod scope;
pub mod script;
pub mod setting;
mod shown;
pub mod table;
mod tables;
pub mod task;
mod tasks;
mod value;

pub use benchmark::{Benchmark, Kind, Prompt, Step};
pub use data::Data;
pub use derived::Derived;
pub use expression::{Expression, Trouble};
pub use paper::{Difference, Paper};
pub use reader::{Problem, Problems};
pub use row::ColumnError;

/// The files of the built-in folders, by `<benchmark>/<path>`, sorted.
static FILES: &[(&str, &str)] = &include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// The built-in benchmarks, for what comes before a workspace is read, or without one.
static BUILT_IN: OnceLock<Vec<Benchmark>> = OnceLock::new();

/// Those of the workspace that was read, and its folder.
static OPENED: OnceLock<(PathBuf, Vec<Benchmark>)> = OnceLock::new();

/// Adds the folders in `folder` to the built-in ones, or replaces those with the same name: [`all`] and every
/// [`Derived`] value have them from now on, whatever was used before. A program works with one workspace.
///
/// # Errors
/// All problems of all files, read errors, and another workspace's folders after those of the first.
pub fn open(folder: &Path) -> Result<(), Problems> {
    if OPENED.get().is_some_and(|(opened, _)| opened == folder) {
        return Ok(());
    }
    let mut folders = folders();
    for own in own::folders(folder)? {
        match folders.iter_mut().find(|(name, _)| *name == own.0) {
            Some(found) => *found = own,
            None => folders.push(own),
        }
    }
    let all = benchmark::load(&folders, true)?;
    let (opened, _) = OPENED.get_or_init(|| (folder.to_path_buf(), all));
    derived::mark_open();
    if opened != folder {
        let what =
            format!("the benchmarks of {} are in use, and a program reads one workspace", opened.display());
        return Err(Problems(vec![Problem { place: folder.display().to_string(), what }]));
    }
    Ok(())
}

/// The built-in benchmarks, in the order of lists, followed by the workspace's own once they are read.
pub fn all() -> &'static [Benchmark] {
    let built_in = || {
        let read = benchmark::load(&folders(), true);
        read.unwrap_or_else(|problems| unreachable!("a test reads them: {problems}"))
    };
    match OPENED.get() {
        Some((_, all)) => all,
        None => BUILT_IN.get_or_init(built_in),
    }
}

/// Only the benchmarks whose folders are in `place`: those with which a release was made.
///
/// # Errors
/// All problems of all files, and read errors.
pub fn standing_in(place: &Path) -> Result<Vec<Benchmark>, Problems> {
    benchmark::load(&own::folders(place)?, false)
}

/// A declared task by its name, `<benchmark>/<name>`.
pub fn task(name: &str) -> Option<&'static task::Task> {
    all().iter().flat_map(|benchmark| &benchmark.tasks).find(|task| task.name == name)
}

/// The files of a built-in folder, by path.
pub fn built_in(name: &str) -> Option<Vec<(&'static str, &'static str)>> {
    folders().into_iter().find(|(folder, _)| *folder == name).map(|(_, files)| files)
}

/// The benchmark with a name.
pub fn find(name: &str) -> Option<&'static Benchmark> {
    all().iter().find(|benchmark| benchmark.name == name)
}

/// The current name of a renamed benchmark; `None` if none had this name.
pub fn named_now(then: &str) -> Option<&'static str> {
    all().iter().find(|benchmark| benchmark.was.contains(&then)).map(|benchmark| benchmark.name)
}

/// The built-in folders, each with its files.
fn folders() -> Vec<(&'static str, Vec<(&'static str, &'static str)>)> {
    let mut folders: Vec<(&str, Vec<(&str, &str)>)> = Vec::new();
    for (path, text) in FILES {
        let Some((folder, file)) = path.split_once('/') else { continue };
        match folders.last_mut().filter(|(last, _)| *last == folder) {
            Some((_, files)) => files.push((file, text)),
            None => folders.push((folder, vec![(file, text)])),
        }
    }
    folders
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_evaluation;
#[cfg(test)]
mod tests_report;
