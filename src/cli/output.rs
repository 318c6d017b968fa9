//! Functions shared by all verbs: loading a workspace, choosing recipes, writing to stdout.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::Serialize;

use super::args::{Global, RecipeArgs};
use super::exit::{Exit, Failure};
use super::terminal;
use crate::config::{Config, Overrides, Problem, Problems, unknown};
use crate::recipe::{self, Recipe};
pub(super) use crate::report::{count, format_count};
use crate::stages::review::Votes;
use riddlemill_benchmarks::SetAside;

/// The settings of the workspace in the flags.
pub(super) fn load_config(global: &Global) -> Result<Config, Failure> {
    load_with(global, &[])
}

/// The settings of the workspace if there is one, else the defaults.
pub(super) fn load_or_default(global: &Global) -> Result<Config, Failure> {
    match global.workspace.join(crate::config::FILE).exists() {
        true => load_config(global),
        false => {
            let mut config = Config::defaults();
            config.root.clone_from(&global.workspace);
            Ok(config)
        }
    }
}

/// What overrides pipeline.toml in this call.
pub(super) fn collect_overrides(global: &Global, more: &[(String, String)]) -> Overrides {
    Overrides {
        trust: global.trust.clone(),
        ask: Some(super::ask::ask_first),
        ..Overrides::new(global.set.iter().chain(more).cloned().collect())
    }
}

/// The settings, with additional flags that override settings.
pub(super) fn load_with(global: &Global, more: &[(String, String)]) -> Result<Config, Failure> {
    let overrides = collect_overrides(global, more);
    let config =
        Config::load(&global.workspace, &recipe::recipe_names(), &recipe::changed_defaults(), &overrides)?;
    match [recipe::unknown_steps(&config), recipe::unknown_columns(&config)].concat() {
        problems if problems.is_empty() => {
            recipe::give_settings(&config);
            warn_of_absent(&config, global);
            Ok(config)
        }
        problems => Err(Problems(problems).into()),
    }
}

/// Warns of files that the settings name and that are not there, where everything works without them.
fn warn_of_absent(config: &Config, global: &Global) {
    for Problem { place, what } in
        crate::pipeline::list_setting_warnings(config).iter().filter(|_| !global.quiet)
    {
        eprintln!("warning: {place}: {what}");
    }
}

/// Warns of keys that are too short to be removed from servers' responses, before anything is sent.
pub(super) fn warn_of_short_keys(config: &Config, global: &Global) {
    let names = config.endpoints.iter().flat_map(|endpoint| endpoint.environment_variables());
    for name in crate::llm::short_keys(names).into_iter().filter(|_| !global.quiet) {
        eprintln!(
            "warning: the key in {name} has fewer than eight characters: it is sent, but not removed from stored replies, as ordinary text may contain it too"
        );
    }
}

/// Warns of settings of endpoints that their APIs have no parameter for.
pub(super) fn warn_of_unsent(config: &Config, global: &Global) {
    for endpoint in config.endpoints.iter().filter(|_| !global.quiet) {
        for unsent in crate::llm::unsent_settings(endpoint) {
            eprintln!("warning: llm.{}: {} is not sent: {}", endpoint.name, unsent.setting, unsent.why);
        }
    }
}

/// Prints what requests showed of their endpoints although nothing failed.
pub(super) fn print_remarks(run: &crate::llm::Run, global: &Global) {
    run.list_remarks().iter().filter(|_| !global.quiet).for_each(|remark| eprintln!("warning: {remark}"));
}

/// The recipes in the flags or settings; else every recipe that has a source. Those of the settings whose folders are set
/// aside are left out; what is named in the flags is an error then.
pub(super) fn select_recipes(config: &Config, only: &RecipeArgs) -> Result<Vec<&'static Recipe>, Failure> {
    if !only.recipes.is_empty() {
        return only.recipes.iter().map(|name| find_recipe(name)).collect();
    }
    let settings: crate::config::sections::Run = config.typed_settings(None, "run");
    let aside = riddlemill_benchmarks::set_aside_folders();
    if settings.recipes.is_empty() {
        let recipes: Vec<_> = recipe::used_recipes(config).collect();
        if recipes.is_empty() && !aside.is_empty() {
            return Err(problems_set_aside(aside).into());
        }
        if recipes.is_empty() {
            return Err(lacks_source("").into());
        }
        return Ok(recipes);
    }
    let left: Vec<&String> =
        settings.recipes.iter().filter(|name| !riddlemill_benchmarks::is_aside(name)).collect();
    match left.is_empty() {
        true => Err(problems_set_aside(named_in(aside, &settings.recipes)).into()),
        false => left.into_iter().map(|name| find_recipe(name)).collect(),
    }
}

/// That no source is named, or none for one recipe.
fn lacks_source(for_recipe: &str) -> Problems {
    let what = format!(
        "no [[source]] is named{for_recipe}\n  hint: `riddlemill init . FILE…` proposes one for each file of posts, and with --write adds it; \
         `riddlemill init DIR` creates a workspace with the sample in another folder"
    );
    Problems(vec![Problem { place: crate::config::FILE.into(), what }])
}

/// The folders set aside that a list names.
fn named_in(aside: &'static [SetAside], named: &[String]) -> impl Iterator<Item = &'static SetAside> {
    aside.iter().filter(move |aside| named.iter().any(|name| name == aside.name))
}

/// The recipe of a name.
pub(super) fn find_recipe(name: &str) -> Result<&'static Recipe, Failure> {
    if let Some(problems) = recipe::problems_of(name) {
        return Err(problems.into());
    }
    recipe::find_recipe(name).ok_or_else(|| Failure::usage(unknown("recipe", name, recipe::recipe_names())))
}

/// As [`select_recipes`], for what would be done by halves without those whose folders are set aside.
pub(super) fn recipes_to_make(config: &Config, only: &RecipeArgs) -> Result<Vec<&'static Recipe>, Failure> {
    let settings: crate::config::sections::Run = config.typed_settings(None, "run");
    let aside = riddlemill_benchmarks::set_aside_folders();
    let lacking: Vec<&SetAside> = match settings.recipes.is_empty() {
        true => aside.iter().collect(),
        false => named_in(aside, &settings.recipes).collect(),
    };
    if only.recipes.is_empty() && !lacking.is_empty() {
        return Err(problems_set_aside(lacking).into());
    }
    let recipes = select_recipes(config, only)?;
    // One that reads another recipe's records needs none of its own. A source that only other recipes can use is told by the run.
    let needs_source = |recipe: &&&'static Recipe| {
        config.sources.is_empty() && matches!(&recipe.origin_recipes()[..], [own] if own.name == recipe.name)
    };
    match recipes.iter().find(needs_source) {
        Some(recipe) => Err(lacks_source(&format!(" for {}", recipe.name)).into()),
        None => Ok(recipes),
    }
}

/// Everything that is wrong with the folders that are set aside.
pub(super) fn problems_set_aside(aside: impl IntoIterator<Item = &'static SetAside>) -> Problems {
    Problems(aside.into_iter().flat_map(|aside| aside.problems.clone()).collect())
}

/// Tells of benchmarks' folders that cannot be used, for verbs that go on without them.
pub(super) fn warn_of_folders_set_aside(global: &Global) {
    for aside in riddlemill_benchmarks::set_aside_folders().iter().filter(|_| !global.quiet) {
        let name = aside.name;
        let first = aside.problems.first().map(|problem| format!("{}: {}", problem.place, problem.what));
        let shown = first.as_deref().and_then(|first| first.lines().next()).unwrap_or_default();
        let problems = match aside.problems.len() {
            1 => "1 problem, which is".to_owned(),
            count => format!("{count} problems, the first is"),
        };
        eprintln!(
            "warning: the benchmark {name} is left out until its folder is mended: {problems} {shown}\n  hint: `riddlemill benchmark check {name}` lists them"
        );
    }
}

/// The recipe given, or the workspace's only one with the review.
pub(super) fn recipe_of(
    config: &Config,
    name: &str,
    recipe: Option<&str>,
) -> Result<&'static Recipe, Failure> {
    if let Some(recipe) = recipe {
        return self::find_recipe(recipe);
    }
    let recipes = self::select_recipes(config, &RecipeArgs::default())?;
    let with: Vec<&'static Recipe> =
        recipes.iter().copied().filter(|recipe| recipe.find_review(name).is_some()).collect();
    match with[..] {
        [] => Err(Failure::usage(unknown_review(&recipes, name))),
        [recipe] => Ok(recipe),
        _ => {
            let names: Vec<&str> = with.iter().map(|recipe| recipe.name).collect();
            let hint = format!("hint: --recipe {}", names[0]);
            Err(Failure::usage(format!(
                "review:{name} is a step of {}; name one\n  {hint}",
                names.join(" and ")
            )))
        }
    }
}

/// The error for an unknown review.
pub(super) fn unknown_review(recipes: &[&'static Recipe], name: &str) -> String {
    let known =
        recipes.iter().flat_map(|recipe| recipe.review_steps()).map(|review| review.benchmark_and_ballot().1);
    let known: std::collections::BTreeSet<&str> = known.collect();
    match recipes {
        [recipe] => unknown(&format!("review step of {}", recipe.name), name, known),
        _ => unknown("review step", name, known),
    }
}

/// Warns of people whose votes count although pipeline.toml no longer has them.
pub(super) fn warn_of_missing_people(config: &Config, recipes: &[&'static Recipe]) -> Result<(), Failure> {
    for recipe in recipes {
        let votes = Votes::load(config, recipe.name)?;
        votes.missing_people(config, recipe.name).iter().for_each(|line| eprintln!("warning: {line}"));
    }
    Ok(())
}

/// The error for an unknown annotator.
pub(super) fn unknown_annotator(config: &Config, name: &str) -> String {
    let known = config.annotators.iter().map(|person| person.name.as_str());
    unknown("annotator", name, known)
}

/// The words of verbs that have no report of their own, under `--json`: `None` without the flag.
static WORDS: Mutex<Option<String>> = Mutex::new(None);

/// With `--json`, what is printed as text is kept, so that stdout is one document: see [`finish_output`].
pub(super) fn expect_json() {
    *WORDS.lock().unwrap_or_else(PoisonError::into_inner) = Some(String::new());
}

/// Prints the words that were kept, as `{"text": …}`, if nothing else was printed.
pub(super) fn finish_output() -> Result<(), Failure> {
    let words = WORDS.lock().unwrap_or_else(PoisonError::into_inner).take();
    match words.filter(|words| !words.is_empty()) {
        Some(text) => print_json(&serde_json::json!({ "text": text })),
        None => Ok(()),
    }
}

/// Prints a value as indented JSON.
pub(super) fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    // A report says more than the words beside it, and two documents could not be read as one.
    if let Some(words) = WORDS.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
        words.clear();
    }
    let text = serde_json::to_string_pretty(value)
        .map_err(|e| Failure { exit: Exit::Io, message: e.to_string() })?;
    print_raw(&format!("{text}\n"))
}

/// Writes for people to stdout: see [`terminal::fit_text`].
pub(super) fn print_text(text: &str) -> Result<(), Failure> {
    if let Some(words) = WORDS.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
        words.push_str(&super::commands::runnable_quoted(text));
        return Ok(());
    }
    print_raw(&terminal::fit_text(&super::commands::runnable_quoted(text), terminal::stdout_style()))
}

/// Writes to stdout unchanged. A closed pipe (`| head`) is not an error.
pub(super) fn print_raw(text: &str) -> Result<(), Failure> {
    // The spinner may be on the same terminal and must be gone first.
    super::spinner::stop_spinner();
    match io::stdout().lock().write_all(text.as_bytes()) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure { exit: Exit::Io, message: format!("cannot write to stdout: {e}") })
        }
        _ => Ok(()),
    }
}

/// The name of a file, with its folders where another one is called the same.
pub(super) fn short_name(path: &Path, files: &[PathBuf]) -> String {
    let is_shared = files.iter().any(|other| other != path && other.file_name() == path.file_name());
    match path.file_name() {
        Some(name) if !is_shared => name.to_string_lossy().into_owned(),
        _ => path.display().to_string(),
    }
}
