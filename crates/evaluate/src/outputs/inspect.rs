//! inspect_ai's logs in JSON: `eval.model`, and a list of `samples` with the model's output. A reply to a
//! multiple-choice question ends with `ANSWER: B`; the letter is the index of the option in the release.

use std::path::Path;

use serde_json::Value as Json;

use super::error::OutputError;
use super::{ItemKey, Lines, Output, Response};
use crate::answer::NoAnswer;
use crate::llm::parse;
use crate::llm::without_reasoning;
use crate::options::LETTERS;
use crate::task::Setting;

pub(super) fn parse_outputs(path: &Path, log: &Json) -> Lines {
    let model = log["eval"]["model"].as_str();
    let samples = log["samples"].as_array().map(Vec::as_slice).unwrap_or_default();
    let line = |(at, sample): (usize, &Json)| {
        let place = format!("{} sample {}", path.display(), at + 1);
        (place, parse_output(sample, model))
    };
    let unfinished = log["status"].as_str().filter(|status| *status != "success").map(|status| {
        let what = OutputError::LogUnfinished(status.to_owned());
        (path.display().to_string(), Err(what))
    });
    unfinished.into_iter().chain(samples.iter().enumerate().map(line)).collect()
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
    if let Some(error) = out["error"].as_str() {
        return Err(OutputError::SampleFailed(error.to_owned()));
    }
    let text = out["completion"].as_str().or_else(|| text_of(&out["choices"][0]["message"]["content"]));
    let no_answer = no_answer_of(sample);
    let text = text.or_else(|| no_answer.is_some().then_some(""));
    let Some(text) = text.map(without_reasoning) else { return Err(OutputError::SampleLacks("output")) };
    let choices = sample["choices"].as_array().map(Vec::as_slice).unwrap_or_default();
    let choices: Vec<String> = choices.iter().filter_map(Json::as_str).map(str::to_owned).collect();
    let response = match choices.len() {
        0 => Response::Words(text),
        // Replies without a letter are parsed as text, and reported as format errors.
        count => Response::Among { at: option_of_letter(&text, count), choices, text },
    };
    Ok(Output {
        which: ItemKey::Named(item),
        // Files of earlier releases do not name it.
        task: sample["metadata"].get("task").and_then(Json::as_str).map(str::to_owned),
        setting: Setting::default(),
        sample: epoch,
        model: model.map(str::to_string),
        response,
        no_answer,
        ratings: Vec::new(),
    })
}

/// Why a sample's reply holds no answer, by how it ended.
fn no_answer_of(sample: &Json) -> Option<(NoAnswer, String)> {
    let reason = sample["output"]["choices"][0]["stop_reason"].as_str().unwrap_or_default();
    let limit = sample["limit"]["type"].as_str();
    match (reason, limit) {
        ("content_filter", _) => {
            Some((NoAnswer::Refused, "the reply was withheld: its stop_reason is content_filter".into()))
        }
        ("max_tokens" | "model_length", _) => {
            Some((NoAnswer::Cut, format!("the reply was cut: its stop_reason is {reason}")))
        }
        (_, Some(limit)) => Some((NoAnswer::Cut, format!("the sample was cut at its limit of {limit}"))),
        _ => None,
    }
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
