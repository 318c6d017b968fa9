//! Outputs of the paper authors' scripts, as the benchmark's folder declares them: responses, judges' ratings and
//! predictions.
//!
//! A set built here has its own numbers and ids: items are matched by their questions, and by id if several
//! have the same. If options are in another order than here, the chosen one is found by its text.

use std::path::Path;

use riddlemill_benchmarks::benchmark::Benchmark;
use riddlemill_benchmarks::script::{FileName, Rating, Script};
use serde_json::Value as Json;

use super::error::OutputError;
use super::{ItemKey, Output, Response};
use crate::llm::{parse, without_reasoning};
use crate::options::LETTERS;
use crate::task::{Setting, Task};

/// The outputs in a line, if a script wrote it: one of the set's benchmark, or else of another.
pub(super) fn parse_outputs(
    config: &str,
    path: &Path,
    line: &Json,
) -> Option<Vec<Result<Output, OutputError>>> {
    let (own, others): (Vec<&Benchmark>, Vec<&Benchmark>) =
        riddlemill_benchmarks::all_benchmarks().iter().partition(|benchmark| benchmark.name == config);
    own.into_iter().chain(others).find_map(|benchmark| outputs_of(benchmark, path, line))
}

fn outputs_of(
    benchmark: &'static Benchmark,
    path: &Path,
    line: &Json,
) -> Option<Vec<Result<Output, OutputError>>> {
    let written: Vec<(Task, &Script)> = Task::of_config(benchmark.name)
        .into_iter()
        .flat_map(|task| task.task_declaration().outputs.iter().map(move |script| (task, script)))
        .filter(|(_, script)| script.has_written(line))
        .collect();
    let (_, first) = written.first()?;
    let name = super::unpacked_name(path);
    let stem = name.file_stem().unwrap_or_default().to_string_lossy();
    let named = written.iter().filter_map(|(task, script)| Some((*task, *script, script.file_name(&stem)?)));
    let outputs: Vec<_> =
        named.map(|(task, script, file)| parse_output(task, script, file, path, line)).collect();
    if outputs.is_empty() {
        let example = first.example.unwrap_or("files with other names");
        return Some(vec![Err(OutputError::FileName {
            stem: stem.into(),
            benchmark: benchmark.name,
            example,
        })]);
    }
    Some(outputs)
}

fn parse_output(
    task: Task,
    script: &Script,
    file: FileName,
    path: &Path,
    line: &Json,
) -> Result<Output, OutputError> {
    let response = match script.letter {
        Some(keys) => option_of_reply(script, keys, line)?,
        None => reply_of_line(script, line)?,
    };
    // The lines do not name their judge, but its folder does.
    let judge = || match path.parent().and_then(Path::file_name) {
        Some(folder) => folder.to_string_lossy().into_owned(),
        None => "judge".to_owned(),
    };
    let rating = script.rating.and_then(|rating| Some((rating, line.get(rating.key)?)));
    let rating = rating.map(|(rating, value)| Ok::<_, OutputError>((judge(), parse_rating(rating, value)?)));
    let (text, id) = script.question_and_id(line)?;
    let cot = script.cot && file.shots == 0;
    Ok(Output {
        which: ItemKey::Asked { id, text },
        task: Some(task.name().to_owned()),
        setting: Setting { cot, shots: file.shots },
        sample: None,
        model: file.model,
        response,
        no_answer: None,
        ratings: rating.transpose()?.into_iter().collect(),
    })
}

/// The reply in a line; their clients write null or false if a model did not answer.
fn reply_of_line(script: &Script, line: &Json) -> Result<Response, OutputError> {
    let (key, value) = (script.reply, &line[script.reply]);
    let unanswered = || OutputError::Unanswered { key, value: value.clone() };
    let text = without_reasoning(value.as_str().ok_or_else(unanswered)?);
    Ok(match script.prompt.and_then(|key| line[key].as_str()) {
        Some(prompt) => Response::Labelled { prompt: prompt.to_owned(), text },
        None => Response::Words(text),
    })
}

/// The option whose letter the script, or else this program, finds in a reply.
fn option_of_reply(
    script: &Script,
    [letter, options]: [&'static str; 2],
    line: &Json,
) -> Result<Response, OutputError> {
    let texts: Vec<&str> = line[options].as_array().into_iter().flatten().filter_map(Json::as_str).collect();
    let response = line[script.reply].as_str().map(without_reasoning);
    let letters: Vec<char> = LETTERS.iter().take(texts.len()).flat_map(|letter| letter.chars()).collect();
    let found = line[letter].as_str().and_then(|letter| parse::parse_letter(letter, &letters).ok());
    let found = found.or_else(|| parse::parse_letter(response.as_deref()?, &letters).ok());
    let chosen = found.and_then(|letter| texts.get(letters.iter().position(|known| *known == letter)?));
    match (chosen, response) {
        (Some(option), text) => {
            Ok(Response::Option((*option).to_owned(), text.unwrap_or_else(|| (*option).to_owned())))
        }
        (None, Some(text)) => Ok(Response::Words(text)),
        (None, None) => Err(OutputError::NothingSaid { keys: [script.reply, letter], wanted: "an answer" }),
    }
}

/// A whole number on the task's scale, or a judge's reply with `[[7]]`. Their scripts write -1 if they could
/// not parse one.
fn parse_rating(rating: Rating, value: &Json) -> Result<String, OutputError> {
    let Rating { key, scale: [min, max] } = rating;
    if let Some(reply) = value.as_str() {
        let rating = parse::parse_bracketed_rating(reply, min..=max);
        return rating
            .map(|rating| rating.to_string())
            .map_err(|what| OutputError::UnreadableRating { key, what });
    }
    let on_scale = |rating: &f64| (f64::from(min)..=f64::from(max)).contains(rating) && rating.fract() == 0.0;
    let rating = value.as_f64().filter(on_scale).map(|rating| rating.to_string());
    rating.ok_or_else(|| OutputError::NoRating { key, value: value.clone(), scale: [min, max] })
}
