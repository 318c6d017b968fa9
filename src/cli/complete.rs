//! Shell completion: names known to the program, and those of the workspace in the command line.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;

use clap_complete::CompletionCandidate;

use crate::config::sections::SECTIONS;
use crate::config::{self, Config, Overrides, Profiles};
use crate::llm::Prompts;
use crate::recipe::{self, RECIPES};
use crate::record::State;
use crate::release::Version;
use crate::stages;

fn candidates(names: impl IntoIterator<Item = (String, String)>) -> Vec<CompletionCandidate> {
    let candidate = |(name, help): (String, String)| {
        CompletionCandidate::new(name).help((!help.is_empty()).then(|| help.into()))
    };
    names.into_iter().map(candidate).collect()
}

/// Names without descriptions, sorted, each once.
fn plain(names: impl IntoIterator<Item = String>) -> Vec<CompletionCandidate> {
    let names: BTreeSet<String> = names.into_iter().collect();
    candidates(names.into_iter().map(|name| (name, String::new())))
}

/// The workspace of the command line being completed, from its `-C`.
fn root() -> PathBuf {
    root_of(&std::env::args_os().collect::<Vec<_>>())
}

fn root_of(args: &[OsString]) -> PathBuf {
    let at = args.iter().position(|arg| arg == "-C" || arg == "--workspace");
    at.and_then(|at| args.get(at + 1)).map_or_else(|| PathBuf::from("."), PathBuf::from)
}

/// Its settings; there is no completion from invalid ones.
fn settings() -> Option<Config> {
    recipe::open(&root()).ok()?;
    Config::load(&root(), &recipe::names(), &recipe::choices(), &Overrides::default()).ok()
}

pub(super) fn profiles() -> Vec<CompletionCandidate> {
    plain(Profiles::open(&root()).names())
}

/// The recipes of the workspace of the command line.
fn opened() -> impl Iterator<Item = &'static recipe::Recipe> {
    // A faulty benchmark must not break completion in the shell.
    recipe::open(&root()).ok();
    RECIPES.iter()
}

pub(super) fn recipes() -> Vec<CompletionCandidate> {
    candidates(opened().map(|recipe| (recipe.name.to_string(), recipe.about.to_string())))
}

pub(super) fn stages() -> Vec<CompletionCandidate> {
    plain(opened().flat_map(|recipe| recipe.steps()).map(|step| step.name.to_string()))
}

pub(super) fn reviews() -> Vec<CompletionCandidate> {
    plain(opened().flat_map(|recipe| recipe.reviews()).map(|review| review.place().1.to_string()))
}

pub(super) fn states() -> Vec<CompletionCandidate> {
    candidates(State::ALL.into_iter().map(|state| (state.code().to_string(), String::new())))
}

pub(super) fn reasons() -> Vec<CompletionCandidate> {
    // The folders' own are known once the workspace is opened.
    recipe::open(&root()).ok();
    let described = |code: &str| (code.to_string(), stages::definition(code).unwrap_or_default().to_string());
    candidates(stages::reasons().map(described))
}

pub(super) fn annotators() -> Vec<CompletionCandidate> {
    let people = settings().map(|config| config.annotators).unwrap_or_default();
    candidates(people.into_iter().map(|person| (person.name, person.role.name().to_string())))
}

pub(super) fn sources() -> Vec<CompletionCandidate> {
    let sources = settings().map(|config| config.sources).unwrap_or_default();
    candidates(sources.into_iter().map(|source| (source.name, source.path)))
}

pub(super) fn crawls() -> Vec<CompletionCandidate> {
    plain(settings().map(|config| config.crawls).unwrap_or_default().into_iter().map(|crawl| crawl.name))
}

pub(super) fn endpoints() -> Vec<CompletionCandidate> {
    let endpoints = settings().map(|config| config.endpoints).unwrap_or_default();
    candidates(endpoints.into_iter().map(|endpoint| (endpoint.name, endpoint.model)))
}

pub(super) fn prompts() -> Vec<CompletionCandidate> {
    recipe::open(&root()).ok();
    let prompts = Prompts::load(Some(&root().join("prompts")));
    let prompts = prompts.map(|prompts| prompts.list()).unwrap_or_default();
    candidates(prompts.into_iter().map(|prompt| (prompt.name, prompt.about)))
}

/// Recipes, and their released versions as `recipe@version`.
pub(super) fn sets() -> Vec<CompletionCandidate> {
    let mut sets: Vec<String> = opened().map(|recipe| recipe.name.to_string()).collect();
    for recipe in RECIPES.iter() {
        sets.extend(released(recipe.name).iter().map(|version| format!("{}@{version}", recipe.name)));
    }
    plain(sets)
}

/// All released versions.
pub(super) fn versions() -> Vec<CompletionCandidate> {
    let of = |recipe: &recipe::Recipe| {
        let known = released(recipe.name);
        known.into_iter().map(|version| (version.to_string(), recipe.name.to_string())).collect::<Vec<_>>()
    };
    candidates(opened().flat_map(of))
}

fn released(recipe: &str) -> Vec<Version> {
    let entries = std::fs::read_dir(root().join("output").join(recipe)).into_iter().flatten().flatten();
    let mut versions: Vec<Version> =
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    versions.sort();
    versions
}

/// The arguments of `config --explain`.
pub(super) fn topics() -> Vec<CompletionCandidate> {
    let tables = SECTIONS.iter().chain(config::TABLES);
    candidates(tables.map(|table| (table.name.to_string(), table.doc.to_string())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_workspace_is_the_one_in_the_line() {
        let args = |line: &[&str]| line.iter().map(OsString::from).collect::<Vec<_>>();
        assert_eq!(
            root_of(&args(&["riddlemill", "--", "riddlemill", "-C", "mill", "run", ""])),
            PathBuf::from("mill")
        );
        assert_eq!(root_of(&args(&["riddlemill", "--", "riddlemill", "run"])), PathBuf::from("."));
    }
}
