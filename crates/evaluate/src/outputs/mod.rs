//! Imports outputs made elsewhere, parsed and scored like answers asked for here: plain lines, lm_eval's logs
//! of samples, inspect_ai's logs in JSON, and outputs of the paper authors' scripts. Invalid lines are set
//! aside with file and line.

mod error;
mod files;
mod inspect;
mod lines;
mod lm_eval;
mod matching;
mod scripts;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use rustc_hash::{FxHashMap, FxHashSet};

use super::answer::{Answer, NoAnswer, OF_A_FILE, Rating, RawAnswer};
use super::ask::Missing;
use super::error::{EvaluateError, SetAside};
use super::item::Item;
use super::read;
use super::set::Set;
use super::task::{Setting, Task};
use crate::llm::parse;
use crate::options::LETTERS;
use crate::store::Error;
use crate::text::count_with_noun;
use crate::text::normalise::{Fold, fold};
use error::{NotMergeable, OutputError};
use files::Listed;
use lines::unpacked_name;
use matching::{Items, TaskOfOutput, places_of_choices, usual_tasks};

/// Why an answer to a row is missing: the files of `--outputs` have those to others.
pub const NO_OUTPUT: &str = "no_output";

/// A file of outputs, and the model it is from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// The file, or a folder of files.
    pub path: PathBuf,
    /// The model, if it is named on the command line.
    pub model: Option<String>,
}

impl File {
    /// `FILE` or `MODEL=FILE`.
    pub fn named(text: &str) -> File {
        let whole = || File { path: text.into(), model: None };
        match text.split_once('=') {
            // The name of a file may contain `=` itself.
            Some((model, path)) if !model.is_empty() && !Path::new(text).exists() => {
                File { path: path.into(), model: Some(model.into()) }
            }
            _ => whole(),
        }
    }
}

/// What files of outputs hold besides answers.
#[derive(Debug, Default)]
pub struct ReadOutputs {
    /// Lines that were set aside.
    pub skipped: Vec<SetAside>,
    /// Rows that a model does not answer, of tasks in which it answers others.
    pub missing: Vec<Missing>,
    /// What was assumed or left unread, in sentences.
    pub remarks: Vec<String>,
}

/// The contents of one line of outputs.
struct Output {
    which: ItemKey,
    /// The name of its task; `None` if the format does not state it.
    task: Option<String>,
    setting: Setting,
    /// Which of the model's answers, from 0; `None` if the format does not state it.
    sample: Option<u32>,
    /// The model; `None` if the format does not state it.
    model: Option<String>,
    response: Response,
    /// Why the reply holds no answer, whatever its text says, and how the format states it.
    no_answer: Option<(NoAnswer, String)>,
    /// Ratings made elsewhere: judge and value.
    ratings: Vec<(String, String)>,
}

/// How an output identifies its item.
enum ItemKey {
    /// By id or record.
    Named(String),
    /// By its question, in a file that may have other numbers; if several match, by its id there.
    Asked { id: Option<String>, text: String },
}

enum Response {
    Words(String),
    /// The index of an option in the release's order, and the text it was parsed from.
    Place(usize, String),
    /// The text of an option, and the text it was parsed from.
    Option(String, String),
    /// A reply to options in this order; the index among them, if the format states it.
    Among {
        choices: Vec<String>,
        at: Option<usize>,
        text: String,
    },
    /// A reply with the letter of an option in the prompt's list, `A: …`.
    Labelled {
        prompt: String,
        text: String,
    },
}

/// The lines of a file: the place of each, and its output or error.
type Lines = Vec<(String, Result<Output, OutputError>)>;

/// Reads files of outputs for a set, or all files in a folder. Of several answers to the same question as many count as
/// the task takes samples, including those in `answers`: by their numbers, else in the order that they come. Of a task with
/// one the first counts; ratings of the same text are added to it.
///
/// # Errors
/// [`EvaluateError`] if a file cannot be read, has none of the formats, or holds several models under one name.
pub fn read(set: &Set, files: &[File], answers: &mut Vec<Answer>) -> Result<ReadOutputs, EvaluateError> {
    let items = Items::index(set);
    let mut seen: FxHashMap<OutputKey, (usize, String)> = FxHashMap::default();
    for (at, answer) in answers.iter().enumerate() {
        seen.insert(key(answer), (at, "what was asked here".to_string()));
    }
    let asked = answers.len();
    let mut found = ReadOutputs::default();
    // Outputs that name no task, by that which is assumed.
    let mut assumed: BTreeMap<Task, (usize, Option<Task>)> = BTreeMap::new();
    // A file that is given twice, by itself or in its folder, holds no further answers.
    let mut known: FxHashSet<(PathBuf, usize, String)> = FxHashSet::default();
    for file in files {
        for (path, lines) in lines_of_files(set, file, &mut found.remarks)? {
            let (whole, mut is_again) = (fs::canonicalize(&path).unwrap_or_else(|_| path.clone()), false);
            for (at, (place, line)) in lines.into_iter().enumerate() {
                let is_numbered = line.as_ref().is_ok_and(|output| output.sample.is_some());
                let read = line.and_then(|output| answer(set, &items, file, &place, output));
                let read = read.map(|(answer, task)| {
                    if let TaskOfOutput::Assumed(task, other) = task {
                        let entry = assumed.entry(task).or_default();
                        *entry = (entry.0 + 1, entry.1.or(other));
                    }
                    answer
                });
                if let Ok(answer) = &read
                    && !is_numbered
                    && answer.ratings.is_empty()
                    && answer.task.samples_per_item() > 1
                    && !known.insert((whole.clone(), at, answer.model.clone()))
                {
                    is_again = true;
                    continue;
                }
                let read = read.map(|answer| if is_numbered { answer } else { next(answer, &seen) });
                let problem = match read {
                    Err(what) => what,
                    Ok(answer) => match seen.get(&key(&answer)) {
                        None => {
                            seen.insert(key(&answer), (answers.len(), place));
                            answers.push(answer);
                            continue;
                        }
                        // It would be taken for the first one, and left out unsaid.
                        Some(_)
                            if !is_numbered
                                && answer.ratings.is_empty()
                                && answer.task.samples_per_item() > 1 =>
                        {
                            let (task, samples) = (answer.task, answer.task.samples_per_item());
                            OutputError::FurtherAnswer { task, samples }
                        }
                        Some((at, first)) => match rate(&mut answers[*at], answer) {
                            Ok(()) => continue,
                            Err(unlike) => OutputError::Again { first: first.clone(), unlike },
                        },
                    },
                };
                found.skipped.push(SetAside { place, what: problem.to_string() });
            }
            if is_again {
                let place = path.display().to_string();
                found.skipped.push(SetAside { place, what: OutputError::GivenTwice.to_string() });
            }
        }
    }
    found.remarks.extend(assumed.iter().filter_map(describe_assumed));
    found.missing = list_missing(set, answers, asked, &assumed);
    Ok(found)
}

/// The lines of every file that an argument names.
fn lines_of_files(
    set: &Set,
    file: &File,
    remarks: &mut Vec<String>,
) -> Result<Vec<(PathBuf, Lines)>, EvaluateError> {
    let listed = Listed::list_files(&file.path)?;
    let others = listed.describe_others();
    remarks.extend(
        others.map(|others| format!("Not read, because their names are not those of outputs: {others}")),
    );
    let mut all = Vec::new();
    for path in listed.files {
        let bytes = files::unpacked_bytes(&path).map_err(Error::io("read", &path))?;
        let lines = files::parse_lines(&set.config, &path, &bytes)?;
        all.push((path, lines));
    }
    let outputs = all.iter().flat_map(|(_, lines)| lines).filter_map(|(_, line)| line.as_ref().ok());
    let models: BTreeSet<&str> = outputs.filter_map(|output| output.model.as_deref()).collect();
    match &file.model {
        Some(model) if models.len() > 1 => {
            let models: Vec<&str> = models.into_iter().collect();
            Err(EvaluateError::Form {
                path: file.path.clone(),
                what: format!(
                    "it holds answers of several models, {}, and {model}= would make them one",
                    models.join(", ")
                ),
                hint: format!("leave out `{model}=`, or give it a file of one model"),
            })
        }
        _ => Ok(all),
    }
}

/// That outputs name no task where another one fits, too.
fn describe_assumed((task, (count, other)): (&Task, &(usize, Option<Task>))) -> Option<String> {
    Some(format!(
        "{} without `task` read as of {task}, though {} fits, too: `\"task\": \"{task}\"` in the line says which is meant",
        count_with_noun(*count as u64, "output"),
        (*other)?
    ))
}

/// The rows that a model of these files does not answer, in each task and setting in which it answers others.
fn list_missing(
    set: &Set,
    answers: &[Answer],
    asked: usize,
    assumed: &BTreeMap<Task, (usize, Option<Task>)>,
) -> Vec<Missing> {
    let of_answer = |answer: &Answer| (answer.model.clone(), answer.task, answer.setting);
    let groups: BTreeSet<(String, Task, Setting)> = answers[asked..].iter().map(of_answer).collect();
    let mut missing = Vec::new();
    for (model, task, setting) in groups {
        let of_group = |answer: &&Answer| {
            !answer.person && answer.model == model && answer.task == task && answer.setting == setting
        };
        let given: FxHashSet<&str> =
            answers.iter().filter(of_group).map(|answer| answer.item.as_str()).collect();
        // Files that name no task ask the usual one of each row.
        let is_owed = |item: &&Item| {
            item.has_task(task)
                && (!assumed.contains_key(&task) || usual_tasks(set, item).next() == Some(task))
                && !given.contains(item.id.as_str())
        };
        missing.extend(set.items.iter().filter(is_owed).map(|item| Missing {
            item: item.id.clone(),
            task,
            setting,
            model: model.clone(),
            sample: 0,
            judge: None,
            reason: NO_OUTPUT,
            what: format!("no output of {model} answers it"),
            no_answer: None,
        }));
    }
    missing
}

/// Adds the ratings of an answer to an equal one.
fn rate(known: &mut Answer, again: Answer) -> Result<(), NotMergeable> {
    if known.text.trim() != again.text.trim() {
        return Err(NotMergeable::Words);
    }
    // The response that judges rated is also in a file of its own.
    if again.ratings.is_empty() {
        return Ok(());
    }
    let new = |rating: &Rating| known.ratings.iter().all(|other| other.judge != rating.judge);
    if !again.ratings.iter().all(new) {
        return Err(NotMergeable::Judge);
    }
    known.ratings.extend(again.ratings);
    Ok(())
}

/// An answer's item, task, setting, model and number.
type OutputKey = (String, Task, Setting, String, u32);

fn key(answer: &Answer) -> OutputKey {
    (answer.item.clone(), answer.task, answer.setting, answer.model.clone(), answer.sample)
}

/// An answer without a number, as the next of its model; as the first one, if its task takes no more, or if it holds the
/// ratings of an answer that is in another file, too.
fn next(mut answer: Answer, seen: &FxHashMap<OutputKey, (usize, String)>) -> Answer {
    let mut numbered = key(&answer);
    let mut is_free = |sample: &u32| {
        numbered.4 = *sample;
        !seen.contains_key(&numbered)
    };
    if answer.ratings.is_empty() {
        answer.sample = (0..answer.task.samples_per_item()).find(|sample| is_free(sample)).unwrap_or(0);
    }
    answer
}

/// The answer in an output, and its task.
fn answer(
    set: &Set,
    items: &Items<'_>,
    file: &File,
    place: &str,
    output: Output,
) -> Result<(Answer, TaskOfOutput), OutputError> {
    let item = items.find_item(set, &output.which)?;
    let of_task = TaskOfOutput::find_task(set, item, &output)?;
    let task = of_task.task();
    if task.conversation().is_some() {
        return Err(OutputError::Conversation(task));
    }
    let sample = output.sample.unwrap_or(0);
    if sample >= task.samples_per_item() {
        return Err(OutputError::FurtherAnswer { task, samples: task.samples_per_item() });
    }
    let model = file.model.clone().or(output.model).filter(|model| !model.trim().is_empty());
    let Some(model) = model else {
        return Err(OutputError::NoModel);
    };
    let basis = format!("{OF_A_FILE}{place}");
    let ratings = output.ratings.into_iter().map(|(judge, value)| {
        let basis = basis.clone();
        Rating { judge, person: false, value, basis }
    });
    let ratings: Vec<Rating> = ratings.collect();
    let setting = output.setting;
    let given = |text: String| RawAnswer { task, setting, model, person: false, sample, basis, text };
    if let Some((why, what)) = output.no_answer {
        let raw = given(output.response.into_text());
        return Ok((Answer::from_reply_without_answer(item, raw, why, what), of_task));
    }
    let answer = match output.response {
        Response::Words(text) => Answer::parse_raw(item, given(text)),
        Response::Place(_, _) if !task.is_choice() => {
            return Err(OutputError::NoChoice(task));
        }
        Response::Place(at, text) => Answer::from_option_index(item, given(text), at),
        Response::Option(option, text) => match place_of_option(item, task, &option) {
            Some(at) => Answer::from_option_index(item, given(text), at),
            None => return Err(OutputError::NoOption { item: item.id.clone(), option }),
        },
        Response::Among { at: Some(_), .. } if !task.is_choice() => return Err(OutputError::NoChoice(task)),
        Response::Among { choices, at, text } => {
            let places = places_of_choices(item, task, &choices, at.is_some())?;
            let is_same = places.as_ref().is_none_or(|places| places.iter().copied().eq(0..places.len()));
            match (at, places) {
                (Some(at), Some(places)) => {
                    Answer::from_option_index(item, given(text), places.get(at).copied().unwrap_or(at))
                }
                (Some(at), None) => Answer::from_option_index(item, given(text), at),
                (None, Some(places)) if !is_same => {
                    match read::place_among(item, task, setting, &choices, &text) {
                        Ok(at) => Answer::from_option_index(item, given(text), places[at]),
                        Err(what) => {
                            let what = what.to_string();
                            Answer::from_reply_without_answer(item, given(text), NoAnswer::Unread, what)
                        }
                    }
                }
                (None, _) => Answer::parse_raw(item, given(text)),
            }
        }
        Response::Labelled { prompt, text } => match labelled(item, task, &prompt, &text) {
            Some(at) => Answer::from_option_index(item, given(text), at),
            None => Answer::parse_raw(item, given(text)),
        },
    };
    Ok((Answer { ratings, ..answer }, of_task))
}

impl Response {
    fn into_text(self) -> String {
        match self {
            Response::Words(text)
            | Response::Place(_, text)
            | Response::Option(_, text)
            | Response::Among { text, .. }
            | Response::Labelled { text, .. } => text,
        }
    }
}

fn place_of_option(item: &Item, task: Task, option: &str) -> Option<usize> {
    let options = item.options_of_task(task).map(|(options, _)| options).unwrap_or_default();
    options.iter().position(|own| fold(own, Fold::KEY) == fold(option, Fold::KEY))
}

/// The index of the option that a prompt lists under the letter of a reply, `B: …`; `None` if the reply has no
/// letter, or the prompt does not list an option of the item.
fn labelled(item: &Item, task: Task, prompt: &str, reply: &str) -> Option<usize> {
    let (options, _) = item.options_of_task(task)?;
    let letters: Vec<char> = LETTERS.iter().take(options.len()).flat_map(|letter| letter.chars()).collect();
    let letter = parse::parse_letter(reply, &letters).ok()?;
    let prompt = Cow::Borrowed(prompt);
    let listed = |option: &str| prompt.contains(&format!("{letter}: {option}"));
    // If one option is a prefix of another, the longer one is meant.
    let found = options.iter().enumerate().filter(|(_, option)| listed(option));
    found.max_by_key(|(at, option)| (option.len(), LETTERS.len() - at)).map(|(at, _)| at)
}
