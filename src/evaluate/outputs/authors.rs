//! Outputs of the paper authors' scripts: responses, judges' ratings, and predictions.
//!
//! | script | file | what a line adds to its row |
//! |---|---|---|
//! | ruozhibench `get_response.py` | `response_gen/MODEL.jsonl`, `response_normal/MODEL.jsonl` | `response`; `pair_response` |
//! | ruozhibench `evaluate.py` | `evaluation_gen/JUDGE/MODEL.jsonl`, `evaluation_normal/…` | `gen_rating`; `normal_rating`; -1 where the judge could not be read |
//! | ruozhibench `evaluate_mc.py` | `evaluation_mc/MODEL.jsonl` | `good_first_response`, `bad_first_response` |
//! | FLUB `tasks.py` | `outputs/TASK_output_MODEL.jsonl` | `response`, after `id`, `text`, `prompt` and `answer` |
//! | FLUB `evaluation.py` | `evaluations/TASK_output_MODEL.jsonl` | `evaluation_response`, with `[[7]]` in it |
//! | BrainTeaser's notebooks | an array of numpy's, or the same as JSON | `response`, and `predict` where they found a letter |
//!
//! A set built here has its own numbers and ids: items are matched by their questions, and by id if several
//! have the same. If options are in another order than here, the chosen one is found by its text.

use std::path::Path;

use serde_json::Value as Json;

use super::error::OutputError;
use super::{ItemKey, Output, Response};
use crate::evaluate::task::{Setting, Task};
use crate::llm::{parse, without_reasoning};
use crate::options::LETTERS;

/// The tasks of FLUB's `tasks.py`, by file prefix: the task, and whether the model reasons first.
const FLUB: [(&str, &str, bool); 8] = [
    ("classification_v2_nocot", "classify", false),
    ("classification_nocot", "classify", false),
    ("classification_v2", "classify", true),
    ("classification", "classify", true),
    ("selection_nocot", "select", false),
    ("selection", "select", true),
    ("explanation_cot", "explain", true),
    ("explanation", "explain", false),
];

/// The outputs in a line, if one of the authors' scripts wrote it.
pub(super) fn outputs(path: &Path, line: &Json) -> Option<Vec<Result<Output, OutputError>>> {
    let has = |key: &str| line.get(key).is_some();
    if has("good_first_response") || has("bad_first_response") {
        return Some(choices(path, line));
    }
    if has("question_en") && (has("response") || has("pair_response")) {
        return Some(responses(path, line));
    }
    if has("choice_list") && (has("response") || has("predict")) {
        return Some(vec![solved(line)]);
    }
    if has("prompt") && has("response") && has("text") {
        return Some(vec![flub(path, line)]);
    }
    None
}

/// RuozhiBench-MC in both orders.
fn choices(path: &Path, line: &Json) -> Vec<Result<Output, OutputError>> {
    let of = |key: &'static str, task: &str| {
        let response = line.get(key)?;
        let task = Task::named(task);
        Some(reply_text(response, key).map(|text| Output {
            which: ruozhibench(line),
            task,
            setting: Setting::default(),
            model: stem(path),
            response: Response::Words(without_reasoning(text)),
            ratings: Vec::new(),
        }))
    };
    let both = [("good_first_response", "good-first"), ("bad_first_response", "bad-first")];
    both.into_iter().filter_map(|(key, task)| of(key, task)).collect()
}

/// RuozhiBench-Gen: a response to the question or to its normal one, and a judge's rating if there is one.
fn responses(path: &Path, line: &Json) -> Vec<Result<Output, OutputError>> {
    let of = |key: &'static str, rating: &'static str, task: &str| {
        let response = line.get(key)?;
        let output = || {
            let text = reply_text(response, key)?;
            let rating = line.get(rating).map(|value| rated(value, rating)).transpose()?;
            let judge = || path.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into());
            let ratings = rating.map(|value| (judge().unwrap_or_else(|| "judge".to_owned()), value));
            Ok(Output {
                which: ruozhibench(line),
                task: Task::named(task),
                setting: Setting::default(),
                model: stem(path),
                response: Response::Words(without_reasoning(text)),
                ratings: ratings.into_iter().collect(),
            })
        };
        Some(output())
    };
    let both = [("response", "gen_rating", "answer"), ("pair_response", "normal_rating", "answer-normal")];
    both.into_iter().filter_map(|(key, rating, task)| of(key, rating, task)).collect()
}

/// A rating from 0 to 4. Their scripts write -1 if they could not parse one.
fn rated(value: &Json, key: &'static str) -> Result<String, OutputError> {
    let whole = value.as_f64().filter(|rating| (0.0..=4.0).contains(rating) && rating.fract() == 0.0);
    whole.map(|rating| rating.to_string()).ok_or_else(|| OutputError::NoRating { key, value: value.clone() })
}

fn ruozhibench(line: &Json) -> ItemKey {
    let id = line["index"].as_u64().map(|index| format!("RB-{index}"));
    ItemKey::Asked { id, text: line["question_en"].as_str().unwrap_or_default().to_owned() }
}

/// FLUB's three tasks. A judge's reply on an explanation is in a copy of the line.
fn flub(path: &Path, line: &Json) -> Result<Output, OutputError> {
    let name = stem(path).unwrap_or_default();
    let unnamed = || OutputError::NoFlubTask(name.clone());
    let (task, model) = name.split_once("_output_").ok_or_else(unnamed)?;
    let (task, shots) = match task.rsplit_once('_').filter(|(_, end)| end.ends_with("shot")) {
        Some((task, shots)) => (task, shots.trim_end_matches("shot").parse().map_err(|_| unnamed())?),
        None => (task, 0),
    };
    let (_, task, cot) = *FLUB.iter().find(|(known, ..)| *known == task).ok_or_else(unnamed)?;
    let named = Task::named(task);
    // With examples there is no chain of thought.
    let setting = if shots > 0 { Setting::shots(shots) } else { Setting { cot, shots } };
    let text = without_reasoning(reply_text(&line["response"], "response")?);
    let response = match (task, line["prompt"].as_str()) {
        ("select", Some(prompt)) => match parse::letter(&text, &['A', 'B', 'C', 'D']) {
            Ok(letter) => Response::Labelled { letter, prompt: prompt.to_owned(), text },
            Err(_) => Response::Words(text),
        },
        _ => Response::Words(text),
    };
    let judged = line.get("evaluation_response").and_then(Json::as_str);
    let ratings = judged
        .map(|judged| {
            let [min, max] = named.and_then(Task::scale).unwrap_or([1, 10]);
            let rating = parse::bracketed(judged, min..=max)?;
            let judge = path.parent().and_then(Path::file_name).unwrap_or_default();
            Ok::<_, OutputError>((judge.to_string_lossy().into_owned(), rating.to_string()))
        })
        .transpose()?;
    Ok(Output {
        which: ItemKey::Asked {
            id: line["id"].as_str().map(str::to_owned),
            text: line["text"].as_str().unwrap_or_default().to_owned(),
        },
        task: named,
        setting,
        model: Some(model.to_owned()),
        response,
        ratings: ratings.into_iter().collect(),
    })
}

/// BrainTeaser: the letter is the index of an option in `choice_list`.
fn solved(line: &Json) -> Result<Output, OutputError> {
    let texts: Vec<&str> =
        line["choice_list"].as_array().into_iter().flatten().filter_map(Json::as_str).collect();
    let response = line["response"].as_str().map(without_reasoning);
    let letters: Vec<char> = LETTERS.iter().take(texts.len()).flat_map(|letter| letter.chars()).collect();
    let predicted = line["predict"].as_str().and_then(|letter| parse::letter(letter, &letters).ok());
    let letter = predicted.or_else(|| parse::letter(response.as_deref()?, &letters).ok());
    let chosen = letter.and_then(|letter| texts.get(letters.iter().position(|known| *known == letter)?));
    let said = match (chosen, response) {
        (Some(option), text) => {
            Response::Option((*option).to_owned(), text.unwrap_or_else(|| (*option).to_owned()))
        }
        (None, Some(said)) => Response::Words(said),
        (None, None) => {
            return Err(OutputError::NothingSaid { keys: ["response", "predict"], wanted: "an answer" });
        }
    };
    Ok(Output {
        which: ItemKey::Asked {
            id: line["id"].as_str().map(str::to_owned),
            text: line["question"].as_str().unwrap_or_default().to_owned(),
        },
        task: Task::named("solve"),
        setting: Setting::default(),
        model: None,
        response: said,
        ratings: Vec::new(),
    })
}

/// The text of a reply; their clients write null or false if a model did not answer.
fn reply_text<'a>(value: &'a Json, key: &'static str) -> Result<&'a str, OutputError> {
    value.as_str().ok_or_else(|| OutputError::Unanswered { key, value: value.clone() })
}

/// The file's name without its extension: the model, in RuozhiBench's files.
fn stem(path: &Path) -> Option<String> {
    path.file_stem().map(|name| name.to_string_lossy().into_owned())
}
