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
//!   [`ballot_source`]: what a ballot takes from a record; [`ballot::reader`]: `ballots.toml`. [`paper`]: the published set.
//! - [`expression`]: computed over a record or a row; `value`: its result as a text or a list of texts; [`data`]: the
//!   columns of a release; [`splits`]: the files of its rows; [`compat`]: the published files.
//! - `checks`: functions that expressions may call. [`reply`]: how a reply is parsed.
//! - [`requirement`]: what drafts, votes and rows must meet. [`selecting`]: steps that drop or hold records; `elements`: steps that
//!   make a record of every element of a list.
//! - [`draft`]: the table of a draft step; [`option_steps`]: those of options and marked texts; [`native`]: that of a named operation;
//!   [`scope`]: a record as expressions see it; `records`: kinds of records with columns.
//! - `published`: how rows of a published file become records; [`notation`]: JSON as Python writes it.
//! - [`setting`]: settings that a benchmark declares.
//! - [`task`]: what models are asked about a released set (its `reader` reads it); [`template`]: its prompt; [`script`]: outputs of the paper's authors;
//!   [`table`]: the tables of their results (its `reader` reads them).
//! - [`figure`]: what `report` shows (its `reader` reads it).
//! - [`edition2`]: the second edition of folders, lowered to what is read here; `origin`: where a lowered line was written.
//! - [`benchmark`]: a whole folder. `workspace`: the folders of a workspace.
//! - Here: the built-in benchmarks. `derived`: what is made once of all.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

pub mod ballot;
pub mod ballot_source;
pub mod benchmark;
pub mod bounds;
mod charts;
mod checks;
pub mod choice;
mod column;
pub mod compat;
pub mod data;
mod derived;
pub mod draft;
pub mod edition2;
pub mod expression;
mod faults;
pub mod figure;
mod fingerprint;
mod known;
mod known_answers;
mod majority;
pub mod native;
pub mod notation;
pub mod option_steps;
pub mod paper;
pub mod reader;
pub mod record_kind;
mod records;
pub mod reply;
pub mod requirement;
pub mod scope;
pub mod script;
pub mod selecting;
pub mod setting;
pub mod splits;
pub mod table;
pub mod task;
pub mod template;
mod value;
mod workspace;

pub use benchmark::{Benchmark, Prompt, Step, StepKind};
pub use data::{ColumnError, Data};
pub use derived::Derived;
pub use expression::{Expression, ExpressionError};
pub use paper::{Difference, Paper};
pub use reader::{Problem, Problems};
pub use splits::Splits;

/// The files of the built-in folders, by `<benchmark>/<path>`, sorted.
static FILES: &[(&str, &str)] = &include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// The built-in benchmarks, for what comes before a workspace is read, or without one.
static BUILT_IN: OnceLock<Vec<Benchmark>> = OnceLock::new();

/// Those of the workspace that was read.
static OPENED: OnceLock<Opened> = OnceLock::new();

/// Those of them that stay when some are set aside because of what their steps show.
static LEFT: OnceLock<Opened> = OnceLock::new();

/// The benchmarks of a workspace.
#[derive(Debug)]
struct Opened {
    folder: PathBuf,
    /// The workspace's folders with their files, as they were read.
    own: Vec<workspace::OwnFolder>,
    all: Vec<Benchmark>,
    aside: Vec<SetAside>,
}

/// A folder of the workspace that cannot be used, so that nothing knows its benchmark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetAside {
    /// The benchmark's name.
    pub name: &'static str,
    /// Everything that is wrong with the folder.
    pub problems: Vec<Problem>,
}

/// Adds the folders in `folder` to the built-in ones, or replaces those with the same name: [`all_benchmarks`] and every
/// [`Derived`] value have them from now on, whatever was used before. A program works with one workspace. Folders with
/// problems are [set aside](set_aside_folders), and those that need them.
///
/// # Errors
/// Problems that belong to no folder, read errors, and another workspace's folders after those of the first.
pub fn open(folder: &Path) -> Result<(), Problems> {
    if let Some(opened) = OPENED.get() {
        if opened.folder == folder {
            return Ok(());
        }
        let what = format!(
            "the benchmarks of {} are in use, and a program reads one workspace",
            opened.folder.display()
        );
        return Err(Problems(vec![Problem { place: folder.display().to_string(), what }]));
    }
    let (own, unread) = workspace::read_folders(folder);
    let mut aside = Vec::new();
    set_aside(&mut aside, unread)?;
    let opened = load_sound(folder, own, aside)?;
    OPENED.get_or_init(|| opened);
    derived::mark_changed();
    Ok(())
}

/// Sets further folders of the opened workspace aside: those that these problems are about, and those that need them.
///
/// # Errors
/// Problems that belong to no folder of a benchmark.
pub fn set_aside_for(problems: Vec<Problem>) -> Result<(), Problems> {
    let Some(opened) = OPENED.get().filter(|_| !problems.is_empty()) else {
        return if problems.is_empty() { Ok(()) } else { Err(Problems(problems)) };
    };
    let mut aside = opened.aside.clone();
    set_aside(&mut aside, problems)?;
    let left = load_sound(&opened.folder, opened.own.clone(), aside)?;
    LEFT.get_or_init(|| left);
    derived::mark_changed();
    Ok(())
}

/// Adds problems to those of the folders that they are about.
fn set_aside(aside: &mut Vec<SetAside>, problems: Vec<Problem>) -> Result<(), Problems> {
    let mut of_none = Vec::new();
    for problem in problems {
        let place = problem.place.strip_prefix("benchmarks/").unwrap_or(&problem.place);
        let (name, _) = place.split_once('/').unwrap_or((place, ""));
        match aside.iter_mut().find(|known| known.name == name) {
            _ if name.is_empty() || problem.place == "benchmarks" => of_none.push(problem),
            Some(known) => known.problems.push(problem),
            None => aside.push(SetAside { name: reader::leak_text(name), problems: vec![problem] }),
        }
    }
    aside.sort_by_key(|aside| aside.name);
    if of_none.is_empty() { Ok(()) } else { Err(Problems(of_none)) }
}

/// The benchmarks that can be read without those set aside; more are set aside until the rest is sound.
fn load_sound(
    folder: &Path,
    own: Vec<workspace::OwnFolder>,
    mut aside: Vec<SetAside>,
) -> Result<Opened, Problems> {
    loop {
        // A built-in benchmark does not stand in for a folder of its name: it makes other rows.
        let mut sound = built_in_folders();
        for read in &own {
            match sound.iter_mut().find(|(name, _)| *name == read.0) {
                Some(found) => found.clone_from(read),
                None => sound.push(read.clone()),
            }
        }
        sound.retain(|(name, _)| !aside.iter().any(|aside| aside.name == *name));
        match benchmark::load_benchmarks(&sound, true) {
            Ok(all) => return Ok(Opened { folder: folder.to_path_buf(), own, all, aside }),
            Err(problems) => {
                let before = aside.len();
                let told = problems.to_string();
                set_aside(&mut aside, problems.0)?;
                if aside.len() == before {
                    let what = format!("problems of folders that are not read: {told}");
                    return Err(Problems(vec![Problem { place: "benchmarks".into(), what }]));
                }
            }
        }
    }
}

/// The present benchmarks of a workspace; `None` before one is read.
fn current_workspace() -> Option<&'static Opened> {
    LEFT.get().or_else(|| OPENED.get())
}

/// The workspace's folders that cannot be used, by name. Empty before they are read.
pub fn set_aside_folders() -> &'static [SetAside] {
    current_workspace().map_or(&[], |opened| &opened.aside)
}

/// Whether a folder of this name is set aside.
pub fn is_aside(name: &str) -> bool {
    set_aside_folders().iter().any(|aside| aside.name == name)
}

/// The built-in benchmarks, in the order of lists, followed by the workspace's own once they are read.
pub fn all_benchmarks() -> &'static [Benchmark] {
    let built_in = || {
        let read = benchmark::load_benchmarks(&built_in_folders(), true);
        read.unwrap_or_else(|problems| unreachable!("a test reads them: {problems}"))
    };
    match current_workspace() {
        Some(opened) => &opened.all,
        None => BUILT_IN.get_or_init(built_in),
    }
}

/// Only the benchmarks whose folders are in `place`: those with which a release was made.
///
/// # Errors
/// All problems of all files, and read errors.
pub fn standing_in(folder: &Path) -> Result<Vec<Benchmark>, Problems> {
    let (folders, problems) = workspace::read_folders(folder);
    if problems.is_empty() { benchmark::load_benchmarks(&folders, false) } else { Err(Problems(problems)) }
}

/// A declared task by its name, `<benchmark>/<name>`.
pub fn find_task(name: &str) -> Option<&'static task::Task> {
    all_benchmarks().iter().flat_map(|benchmark| &benchmark.tasks).find(|task| task.name == name)
}

/// The files of a built-in folder, by path.
pub fn built_in(name: &str) -> Option<Vec<(&'static str, &'static str)>> {
    built_in_folders().into_iter().find(|(folder, _)| *folder == name).map(|(_, files)| files)
}

/// The benchmark with a name.
pub fn find_benchmark(name: &str) -> Option<&'static Benchmark> {
    all_benchmarks().iter().find(|benchmark| benchmark.name == name)
}

/// The reason of a folder with this code; `None` if no folder gives it.
pub fn find_reason(code: &str) -> Option<&'static riddlemill_record::OwnReason> {
    all_benchmarks().iter().flat_map(Benchmark::own_reasons).find(|own| own.code == code)
}

/// The current name of a renamed benchmark; `None` if none had this name.
pub fn named_now(then: &str) -> Option<&'static str> {
    all_benchmarks().iter().find(|benchmark| benchmark.was.contains(&then)).map(|benchmark| benchmark.name)
}

/// The built-in folders, each with its files.
fn built_in_folders() -> Vec<(&'static str, Vec<(&'static str, &'static str)>)> {
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
