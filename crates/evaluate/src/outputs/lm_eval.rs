//! lm_eval's `samples_<task>_<time>.jsonl`: one line per document. For multiple choice, the option with the
//! highest log-likelihood is chosen, the first of equal ones, as in lm_eval.

use std::path::Path;

use serde_json::Value as Json;

use super::error::OutputError;
use super::{ItemKey, Output, Response};
use crate::llm::without_reasoning;
use crate::task::{Setting, Task};

/// Where lm_eval stores a model's output, in order of preference.
const RESPONSES: [&str; 2] = ["filtered_resps", "resps"];

pub(super) fn parse_output(path: &Path, line: &Json) -> Result<Output, OutputError> {
    let id = line["doc"].get("id").and_then(Json::as_str);
    let Some(item) = id else {
        return Err(OutputError::DocumentUnnamed);
    };
    // lm_eval names the folder after the model.
    let model = path.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().replace("__", "/"));
    let response = response_of(line)
        .ok_or(OutputError::NothingSaid { keys: RESPONSES, wanted: "a reply or log-likelihoods" })?;
    let setting = line["doc"].get("setting").and_then(Json::as_str).and_then(|text| text.parse().ok());
    let setting: Setting = setting.unwrap_or_default();
    Ok(Output {
        which: ItemKey::Named(item.into()),
        // Files of earlier releases do not name it.
        task: line["doc"].get("task").and_then(Json::as_str).and_then(Task::find_task),
        setting,
        sample: None,
        model,
        response,
        ratings: Vec::new(),
    })
}

fn response_of(line: &Json) -> Option<Response> {
    RESPONSES.iter().find_map(|key| parse_response(&line[*key]))
}

fn parse_response(json: &Json) -> Option<Response> {
    let list = json.as_array()?;
    if let Some(text) = first_text(list.first()?) {
        return Some(Response::Words(without_reasoning(&text)));
    }
    let scores: Option<Vec<f64>> = list.iter().map(parse_likelihood).collect();
    // A single likelihood chooses nothing.
    let scores = scores.filter(|scores| scores.len() > 1)?;
    let best =
        scores.iter().enumerate().fold(0, |best, (at, score)| if *score > scores[best] { at } else { best });
    let shown: Vec<String> = scores.iter().map(f64::to_string).collect();
    Some(Response::Place(best, format!("log-likelihoods {}", shown.join(", "))))
}

/// A generated reply: a string, or the first of a list of strings. A log-likelihood written as text is not
/// one.
fn first_text(json: &Json) -> Option<String> {
    match json {
        Json::String(text) => Some(text.clone()),
        Json::Array(list) if list.len() == 1 => list[0].as_str().map(str::to_string),
        _ => None,
    }
}

/// `[-1.5, false]`, possibly with texts as parts, or inside a list of one.
fn parse_likelihood(json: &Json) -> Option<f64> {
    let list = json.as_array()?;
    if let [only] = list.as_slice() {
        return parse_likelihood(only);
    }
    let [score, greedy] = list.as_slice() else { return None };
    let is_flag = greedy.is_boolean() || matches!(greedy.as_str(), Some("True" | "False"));
    let score = score.as_f64().or_else(|| score.as_str()?.parse().ok())?;
    is_flag.then_some(score)
}
