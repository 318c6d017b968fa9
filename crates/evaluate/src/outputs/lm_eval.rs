//! lm_eval's `samples_<task>_<time>.jsonl`: one line per document. For multiple choice, the option with the
//! highest log-likelihood is chosen, the first of equal ones, as in lm_eval.

use std::path::Path;

use serde_json::Value as Json;

use super::error::OutputError;
use super::{ItemKey, Output, Response};
use crate::llm::without_reasoning;
use crate::task::Setting;

/// Where lm_eval stores a model's output, in order of preference.
const RESPONSES: [&str; 2] = ["filtered_resps", "resps"];

/// The outputs of a line: several where the model was asked several times.
pub(super) fn parse_outputs(path: &Path, line: &Json) -> Vec<Result<Output, OutputError>> {
    let doc = &line["doc"];
    let Some(item) = doc.get("id").and_then(Json::as_str) else {
        return vec![Err(OutputError::DocumentUnnamed)];
    };
    let responses = match repeated_replies(line) {
        Some(replies) => replies,
        None => match RESPONSES.iter().find_map(|key| parse_response(&line[*key])) {
            Some(response) => vec![response],
            None => {
                let wanted = "a reply or log-likelihoods";
                return vec![Err(OutputError::NothingSaid { keys: RESPONSES, wanted })];
            }
        },
    };
    // lm_eval names the folder after the model.
    let model = path.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().replace("__", "/"));
    let setting = doc.get("setting").and_then(Json::as_str).and_then(|text| text.parse().ok());
    let setting: Setting = setting.unwrap_or_default();
    let choices = choices_of_doc(doc);
    let are_several = responses.len() > 1;
    let output = |(sample, response): (u32, Response)| Output {
        which: ItemKey::Named(item.to_owned()),
        // Files of earlier releases do not name it.
        task: doc.get("task").and_then(Json::as_str).map(str::to_owned),
        setting,
        sample: are_several.then_some(sample),
        model: model.clone(),
        response: with_choices(response, &choices),
        no_answer: None,
        ratings: Vec::new(),
    };
    (0..).zip(responses).map(output).map(Ok).collect()
}

/// The options that the document shows, if it has them; its `choices` may be their letters.
fn choices_of_doc(doc: &Json) -> Vec<String> {
    let list = |key: &&str| -> Option<Vec<String>> {
        doc.get(*key)?.as_array()?.iter().map(|choice| Some(choice.as_str()?.to_owned())).collect()
    };
    ["options", "choices", "choice_list"].iter().find_map(list).unwrap_or_default()
}

fn with_choices(response: Response, choices: &[String]) -> Response {
    let choices = choices.to_vec();
    match response {
        Response::Words(text) if !choices.is_empty() => Response::Among { choices, at: None, text },
        Response::Place(at, text) if !choices.is_empty() => Response::Among { choices, at: Some(at), text },
        other => other,
    }
}

/// The replies of a model that was asked several times, which filters may have left one of.
fn repeated_replies(line: &Json) -> Option<Vec<Response>> {
    let replies = |key: &str| -> Option<Vec<Response>> {
        let list = line[key].as_array()?.first()?;
        let texts: Option<Vec<&str>> = list.as_array()?.iter().map(Json::as_str).collect();
        let texts = texts.filter(|texts| texts.len() > 1 && parse_likelihood(list).is_none())?;
        Some(texts.into_iter().map(|text| Response::Words(without_reasoning(text))).collect())
    };
    RESPONSES.iter().find_map(|key| replies(key))
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
