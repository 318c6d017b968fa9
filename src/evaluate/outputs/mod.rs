//! Outputs made elsewhere, read and scored as if they had been asked for here: plain lines, lm_eval's logs of
//! samples, inspect_ai's logs in JSON. What is no output is set aside with file and line.

mod inspect;
mod lines;
mod lm_eval;
#[cfg(test)]
mod tests;

use std::fs;
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;
use serde_json::Value as Json;

use super::answer::{Answer, Given};
use super::error::EvaluateError;
use super::item::{Body, Item};
use super::set::Set;
use super::skipped::SetAside;
use super::task::{Setting, Task};
use crate::store::Error;

/// A file of outputs, and the model that they are taken for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// The file.
    pub path: PathBuf,
    /// The model, where the command line names it.
    pub model: Option<String>,
}

impl File {
    /// `FILE` or `MODEL=FILE`.
    pub fn named(text: &str) -> File {
        let whole = || File { path: text.into(), model: None };
        match text.split_once('=') {
            Some((model, path)) if !model.is_empty() && !Path::new(text).exists() => {
                File { path: path.into(), model: Some(model.into()) }
            }
            _ => whole(),
        }
    }
}

/// What one line of outputs says.
struct Output {
    /// The item, by id or record.
    item: String,
    /// The task; none where the form does not say.
    task: Option<Task>,
    setting: Setting,
    /// The model; none where the form does not say.
    model: Option<String>,
    said: Said,
}

enum Said {
    Words(String),
    /// The place of an option in the release's own order, and the words it was taken from.
    Place(usize, String),
}

/// The lines of a file: where each stands, and what it says or why it says nothing.
type Lines = Vec<(String, Result<Output, String>)>;

/// Reads files of outputs to a set. Of two answers to the same the first counts, also before `answers`.
///
/// # Errors
/// [`EvaluateError`] where a file cannot be read, or is in none of the forms.
pub fn read(set: &Set, files: &[File], answers: &mut Vec<Answer>) -> Result<Vec<SetAside>, EvaluateError> {
    let places = set.places();
    let mut seen: FxHashMap<(String, Task, Setting, String), String> =
        answers.iter().map(|answer| (key(answer), "what was asked here".to_string())).collect();
    let mut aside = Vec::new();
    for file in files {
        let bytes = fs::read(&file.path).map_err(Error::io("read", &file.path))?;
        let text = String::from_utf8_lossy(&bytes);
        for (place, line) in parsed(&file.path, &text)? {
            let read = line.and_then(|output| answer(set, &places, file, &place, output));
            let problem = match read {
                Err(what) => what,
                Ok(answer) => match seen.get(&key(&answer)) {
                    Some(first) => format!("the same item, task and model as {first}"),
                    None => {
                        seen.insert(key(&answer), place);
                        answers.push(answer);
                        continue;
                    }
                },
            };
            aside.push(SetAside { place, what: problem });
        }
    }
    Ok(aside)
}

fn key(answer: &Answer) -> (String, Task, Setting, String) {
    (answer.item.clone(), answer.task, answer.setting, answer.model.clone())
}

fn parsed(path: &Path, text: &str) -> Result<Lines, EvaluateError> {
    let form = |what: &str, hint: &str| EvaluateError::Form {
        path: path.into(),
        what: what.into(),
        hint: hint.into(),
    };
    if text.starts_with("PK") {
        return Err(form(
            "a packed log of inspect_ai",
            "`inspect log dump FILE > FILE.json` writes it as JSON",
        ));
    }
    if text.trim_start().starts_with('{')
        && let Ok(log) = serde_json::from_str::<Json>(text)
        && log.get("samples").is_some_and(Json::is_array)
    {
        return Ok(inspect::lines(path, &log));
    }
    let mut lines = Vec::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let place = format!("{}:{}", path.display(), at + 1);
        let output = match serde_json::from_str::<Json>(line) {
            Ok(json) if json.get("doc").is_some() => lm_eval::output(path, &json),
            Ok(_) => lines::output(line),
            Err(error) => Err(format!("no JSON: {error}\n  hint: {}", lines::HINT)),
        };
        lines.push((place, output));
    }
    if lines.is_empty() {
        return Err(form("it holds no output", lines::HINT));
    }
    Ok(lines)
}

fn answer(
    set: &Set,
    places: &FxHashMap<&str, usize>,
    file: &File,
    place: &str,
    output: Output,
) -> Result<Answer, String> {
    let Some(item) = places.get(output.item.as_str()).map(|&at| &set.items[at]) else {
        return Err(format!("no item {:?} in {}", output.item, set.name()));
    };
    let task = match output.task {
        Some(task) => task,
        None => usual(item)?,
    };
    if !item.takes(task) {
        return Err(format!("{task} is no task on {:?} of {}", output.item, set.name()));
    }
    let model = file.model.clone().or(output.model).filter(|model| !model.trim().is_empty());
    let Some(model) = model else {
        return Err("no model is named\n  hint: --outputs MODEL=FILE names it for the whole file".into());
    };
    let basis = format!("made:{place}");
    let given = |text: String| Given { task, setting: output.setting, model, person: false, basis, text };
    match output.said {
        Said::Words(text) => Ok(Answer::read(item, given(text))),
        Said::Place(_, _) if !task.is_choice() => Err(format!("{task} has no options to choose from")),
        Said::Place(at, text) => Ok(Answer::chosen(item, given(text), at)),
    }
}

/// The task that a set's own eval/ files put.
fn usual(item: &Item) -> Result<Task, String> {
    Ok(match &item.body {
        Body::Question { .. } => Task::Answer,
        Body::Pair { good_first: true, .. } => Task::GoodFirst,
        Body::Pair { .. } => Task::BadFirst,
        Body::Text { .. } => Task::Select,
        Body::Joke { .. } => Task::ExplainJoke,
        Body::Puzzle { .. } => Task::Solve,
        Body::Declared { posed } => {
            let task = posed.keys().next().and_then(|name| riddlemill_benchmarks::task(name));
            Task::Declared(task.ok_or_else(|| "the item has no task".to_string())?.name)
        }
    })
}
