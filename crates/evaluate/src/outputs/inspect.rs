//! inspect_ai's logs in JSON: `eval.model`, and a list of `samples` with the model's output. A reply to a
//! multiple-choice question ends with `ANSWER: B`; the letter is the index of the option in the release.

use std::path::Path;

use serde_json::Value as Json;

use super::error::OutputError;
use super::{ItemKey, Lines, Output, Response};
use crate::llm::parse;
use crate::llm::without_reasoning;
use crate::options::LETTERS;
use crate::task::{Setting, Task};

pub(super) fn parse_outputs(path: &Path, log: &Json) -> Lines {
    let model = log["eval"]["model"].as_str();
    let samples = log["samples"].as_array().map(Vec::as_slice).unwrap_or_default();
    let line = |(at, sample): (usize, &Json)| {
        let place = format!("{} sample {}", path.display(), at + 1);
        (place, parse_output(sample, model))
    };
    samples.iter().enumerate().map(line).collect()
}

fn parse_output(sample: &Json, model: Option<&str>) -> Result<Output, OutputError> {
    let item = match &sample["id"] {
        Json::String(id) => id.clone(),
        Json::Number(id) => id.to_string(),
        _ => return Err(OutputError::SampleLacks("\"id\"")),
    };
    if let Some(error) = sample.get("error").filter(|error| !error.is_null()) {
        let message = error["message"].as_str().unwrap_or("unknown");
        return Err(OutputError::SampleFailed(message.to_owned()));
    }
    // Epochs are numbered from 1, and an epoch is a sample of each item.
    let epoch = sample["epoch"].as_u64().map(|epoch| u32::try_from(epoch.max(1) - 1).unwrap_or(u32::MAX));
    let out = &sample["output"];
    let text = out["completion"].as_str().or_else(|| text_of(&out["choices"][0]["message"]["content"]));
    let Some(text) = text.map(without_reasoning) else { return Err(OutputError::SampleLacks("output")) };
    let options = sample["choices"].as_array().map_or(0, Vec::len);
    let response = match options {
        0 => Response::Words(text),
        // Replies without a letter are parsed as text, and reported as format errors.
        _ => option_of_letter(&text, options)
            .map_or_else(|| Response::Words(text.clone()), |at| Response::Place(at, text.clone())),
    };
    Ok(Output {
        which: ItemKey::Named(item),
        // Files of earlier releases do not name it.
        task: sample["metadata"].get("task").and_then(Json::as_str).and_then(Task::find_task),
        setting: Setting::default(),
        sample: epoch,
        model: model.map(str::to_string),
        response,
        ratings: Vec::new(),
    })
}

/// A message's text, plain or in its first text part.
fn text_of(content: &Json) -> Option<&str> {
    match content {
        Json::String(text) => Some(text),
        Json::Array(parts) => parts.iter().find_map(|part| part["text"].as_str()),
        _ => None,
    }
}

fn option_of_letter(text: &str, options: usize) -> Option<usize> {
    let letters: Vec<char> =
        LETTERS.iter().take(options).filter_map(|letter| letter.chars().next()).collect();
    let answer = parse::text_after_label(text, &["answer"])?;
    let letter = parse::parse_letter(answer, &letters).ok()?;
    letters.iter().position(|known| *known == letter)
}
