//! What all verbs share: loading a workspace, choosing recipes, writing to stdout.

use std::io::{self, Write};

use serde::Serialize;

use super::args::{Global, Only};
use super::exit::{Exit, Failure};
use crate::config::{Config, Overrides, Problem, Problems};
use crate::recipe::{self, Recipe};
use crate::text::grouped;

/// The settings of the workspace that the flags name.
pub(super) fn load(global: &Global) -> Result<Config, Failure> {
    load_with(global, &[])
}

/// The settings of the workspace where there is one, else the defaults.
pub(super) fn load_or_default(global: &Global) -> Result<Config, Failure> {
    match global.workspace.join(crate::config::FILE).exists() {
        true => load(global),
        false => {
            let mut config = Config::defaults();
            config.root.clone_from(&global.workspace);
            Ok(config)
        }
    }
}

/// The settings, with further flags that stand for settings.
pub(super) fn load_with(global: &Global, more: &[(String, String)]) -> Result<Config, Failure> {
    let overrides = Overrides::new(global.set.iter().chain(more).cloned().collect());
    Ok(Config::load(&global.workspace, &recipe::names(), &recipe::choices(), &overrides)?)
}

/// The recipes that flags or settings name; else every recipe that has a source.
pub(super) fn recipes(config: &Config, only: &Only) -> Result<Vec<&'static Recipe>, Failure> {
    let settings: crate::config::sections::Run = config.typed(None, "run");
    let named = if only.recipes.is_empty() { &settings.recipes } else { &only.recipes };
    if named.is_empty() {
        let recipes: Vec<_> = recipe::used(config).collect();
        if recipes.is_empty() {
            let what = "no [[source]] is named\n  hint: add one, or `riddlemill init` lays out the sample";
            return Err(
                Problems(vec![Problem { place: crate::config::FILE.into(), what: what.into() }]).into()
            );
        }
        return Ok(recipes);
    }
    let find = |name: &String| {
        recipe::find(name).ok_or_else(|| {
            Failure::usage(format!(
                "unknown recipe {name:?}\n  hint: there are {}",
                recipe::names().join(", ")
            ))
        })
    };
    named.iter().map(find).collect()
}

/// Prints a value as indented JSON.
pub(super) fn json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|e| Failure { exit: Exit::Io, message: e.to_string() })?;
    print(&format!("{text}\n"))
}

/// Writes to stdout. A reader that has seen enough (`| head`) is no error.
pub(super) fn print(text: &str) -> Result<(), Failure> {
    match io::stdout().lock().write_all(text.as_bytes()) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure { exit: Exit::Io, message: format!("cannot write to stdout: {e}") })
        }
        _ => Ok(()),
    }
}

/// A count with its thousands apart: 81700 as 81,700.
pub(super) fn number(n: u64) -> String {
    grouped(i64::try_from(n).unwrap_or(i64::MAX))
}

/// A count with its noun: `1 record`, `2 records`, `2 replies`.
pub(super) fn count(n: u64, noun: &str) -> String {
    let noun = match noun.strip_suffix('y') {
        _ if n == 1 => noun.to_string(),
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{stem}ies"),
        _ => format!("{noun}s"),
    };
    format!("{} {noun}", number(n))
}
