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

fn build_candidates(names: impl IntoIterator<Item = (String, String)>) -> Vec<CompletionCandidate> {
    let candidate = |(name, help): (String, String)| {
        CompletionCandidate::new(name).help((!help.is_empty()).then(|| help.into()))
    };
    names.into_iter().map(candidate).collect()
}

/// Names without descriptions, sorted, each once.
fn plain_candidates(names: impl IntoIterator<Item = String>) -> Vec<CompletionCandidate> {
    let names: BTreeSet<String> = names.into_iter().collect();
    build_candidates(names.into_iter().map(|name| (name, String::new())))
}

/// The workspace of the command line being completed, from its `-C`.
fn workspace_root() -> PathBuf {
    root_of(&std::env::args_os().collect::<Vec<_>>())
}

fn root_of(args: &[OsString]) -> PathBuf {
    let at = args.iter().position(|arg| arg == "-C" || arg == "--workspace");
    at.and_then(|at| args.get(at + 1)).map_or_else(|| PathBuf::from("."), PathBuf::from)
}

/// Its settings; there is no completion from invalid ones.
fn read_settings() -> Option<Config> {
    recipe::load_own_benchmarks(&workspace_root()).ok()?;
    Config::load(
        &workspace_root(),
        &recipe::recipe_names(),
        &recipe::changed_defaults(),
        &Overrides::default(),
    )
    .ok()
}

/// The settings as `--set` takes them, up to their value.
pub(super) fn settings() -> Vec<CompletionCandidate> {
    let keys = SECTIONS.iter().flat_map(|section| section.keys.iter().map(move |key| (section.name, key)));
    build_candidates(keys.map(|(section, key)| (format!("{section}.{}=", key.name), key.doc.to_string())))
}

pub(super) fn profiles() -> Vec<CompletionCandidate> {
    plain_candidates(Profiles::open(&workspace_root()).profile_names())
}

/// The recipes of the workspace of the command line.
fn opened_recipes() -> impl Iterator<Item = &'static recipe::Recipe> {
    // A faulty benchmark must not break completion in the shell.
    recipe::load_own_benchmarks(&workspace_root()).ok();
    RECIPES.iter()
}

pub(super) fn recipes() -> Vec<CompletionCandidate> {
    build_candidates(opened_recipes().map(|recipe| (recipe.name.to_string(), recipe.about.to_string())))
}

pub(super) fn stages() -> Vec<CompletionCandidate> {
    plain_candidates(opened_recipes().flat_map(|recipe| recipe.steps()).map(|step| step.name.to_string()))
}

pub(super) fn reviews() -> Vec<CompletionCandidate> {
    plain_candidates(
        opened_recipes()
            .flat_map(|recipe| recipe.review_steps())
            .map(|review| review.benchmark_and_ballot().1.to_string()),
    )
}

pub(super) fn states() -> Vec<CompletionCandidate> {
    build_candidates(State::ALL.into_iter().map(|state| (state.code().to_string(), String::new())))
}

pub(super) fn reasons() -> Vec<CompletionCandidate> {
    // The folders' own are known once the workspace is opened.
    recipe::load_own_benchmarks(&workspace_root()).ok();
    let described =
        |code: &str| (code.to_string(), stages::define_code(code).unwrap_or_default().to_string());
    build_candidates(stages::reason_codes().map(described))
}

pub(super) fn annotators() -> Vec<CompletionCandidate> {
    let people = read_settings().map(|config| config.annotators).unwrap_or_default();
    build_candidates(people.into_iter().map(|person| (person.name, person.role.name().to_string())))
}

pub(super) fn sources() -> Vec<CompletionCandidate> {
    let sources = read_settings().map(|config| config.sources).unwrap_or_default();
    build_candidates(sources.into_iter().map(|source| (source.name, source.path)))
}

pub(super) fn crawls() -> Vec<CompletionCandidate> {
    plain_candidates(
        read_settings().map(|config| config.crawls).unwrap_or_default().into_iter().map(|crawl| crawl.name),
    )
}

pub(super) fn endpoints() -> Vec<CompletionCandidate> {
    let endpoints = read_settings().map(|config| config.endpoints).unwrap_or_default();
    build_candidates(endpoints.into_iter().map(|endpoint| (endpoint.name, endpoint.model)))
}

pub(super) fn prompts() -> Vec<CompletionCandidate> {
    recipe::load_own_benchmarks(&workspace_root()).ok();
    let prompts = Prompts::load_prompts(Some(&workspace_root().join("prompts")));
    let prompts = prompts.map(|prompts| prompts.list_prompts()).unwrap_or_default();
    build_candidates(prompts.into_iter().map(|prompt| (prompt.name, prompt.about)))
}

/// Recipes, and their released versions as `recipe@version`.
pub(super) fn sets() -> Vec<CompletionCandidate> {
    let mut sets: Vec<String> = opened_recipes().map(|recipe| recipe.name.to_string()).collect();
    for recipe in RECIPES.iter() {
        sets.extend(
            released_versions(recipe.name).iter().map(|version| format!("{}@{version}", recipe.name)),
        );
    }
    plain_candidates(sets)
}

/// All released versions.
pub(super) fn versions() -> Vec<CompletionCandidate> {
    let of = |recipe: &recipe::Recipe| {
        let known = released_versions(recipe.name);
        known.into_iter().map(|version| (version.to_string(), recipe.name.to_string())).collect::<Vec<_>>()
    };
    build_candidates(opened_recipes().flat_map(of))
}

fn released_versions(recipe: &str) -> Vec<Version> {
    let entries =
        std::fs::read_dir(workspace_root().join("output").join(recipe)).into_iter().flatten().flatten();
    let mut versions: Vec<Version> =
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    versions.sort();
    versions
}

/// The arguments of `config --explain`.
pub(super) fn topics() -> Vec<CompletionCandidate> {
    let tables = SECTIONS.iter().chain(config::TABLES);
    build_candidates(tables.map(|table| (table.name.to_string(), table.doc.to_string())))
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
