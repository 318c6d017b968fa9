//! Names of models, judges and tasks as they are given: each a name, or a pattern such as `qwen-*`. They are
//! looked up when the workspace is read, which may declare tasks of its own.

use super::error::EvaluateError;
use super::task::{Task, UnknownTask};
use crate::config::Config;
use crate::llm::settings::Provider;

/// Whether it is a pattern and not a name.
fn is_pattern(given: &str) -> bool {
    given.contains(['*', '?', '['])
}

/// The names that a pattern stands for, in the order of `known`.
fn expand_pattern<'n>(
    flag: &str,
    given: &str,
    known: impl Iterator<Item = &'n str>,
) -> Result<Vec<String>, EvaluateError> {
    let known: Vec<&str> = known.collect();
    let pattern = glob::Pattern::new(given)
        .map_err(|e| EvaluateError::Unknown(format!("{flag} {given:?} is not a pattern: {e}")))?;
    let found: Vec<String> =
        known.iter().filter(|name| pattern.matches(name)).map(|name| (*name).to_owned()).collect();
    if found.is_empty() {
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        return Err(EvaluateError::Unknown(format!(
            "{flag} {given:?} matches nothing\n  hint: there are {known}"
        )));
    }
    Ok(found)
}

/// Each once, in the order given.
fn drop_repeats(names: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for name in names {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    all
}

/// The models or judges that names and patterns stand for, each once, in the order given. A pattern stands
/// for endpoints of the workspace that can be asked; a name is not checked here.
///
/// # Errors
/// [`EvaluateError::Unknown`] if a pattern matches no endpoint.
pub fn expand_endpoints(config: &Config, flag: &str, given: &[String]) -> Result<Vec<String>, EvaluateError> {
    let mut names = Vec::new();
    for one in given.iter().map(|one| one.trim()).filter(|one| !one.is_empty()) {
        match is_pattern(one) {
            true => {
                // A pattern is a choice among models, and translators answer nothing.
                let asked = config.endpoints.iter().filter(|one| one.provider != Provider::Libretranslate);
                names.extend(expand_pattern(flag, one, asked.map(|endpoint| endpoint.name.as_str()))?);
            }
            false => names.push(one.to_owned()),
        }
    }
    Ok(drop_repeats(names))
}

/// The tasks that names and patterns stand for.
///
/// # Errors
/// [`EvaluateError::Unknown`] if there is no such task in any benchmark.
pub fn expand_tasks(given: &[String]) -> Result<Vec<Task>, EvaluateError> {
    let known = || {
        riddlemill_benchmarks::all_benchmarks()
            .iter()
            .flat_map(|benchmark| &benchmark.tasks)
            .map(|task| task.name)
    };
    let mut names = Vec::new();
    for one in given.iter().map(|one| one.trim()).filter(|one| !one.is_empty()) {
        match is_pattern(one) {
            true => names.extend(expand_pattern("--task", one, known())?),
            false => names.push(one.to_owned()),
        }
    }
    let task = |name: String| {
        name.parse().map_err(|what: UnknownTask| EvaluateError::Unknown(format!("--task: {what}")))
    };
    drop_repeats(names).into_iter().map(task).collect()
}
