//! Imports outputs made elsewhere, parsed and scored like answers asked for here: plain lines, lm_eval's logs
//! of samples, inspect_ai's logs in JSON, and outputs of the paper authors' scripts. Invalid lines are set
//! aside with file and line.

mod error;
mod inspect;
mod lines;
mod lm_eval;
mod scripts;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use riddlemill_benchmarks::notation;
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::Value as Json;

use super::answer::{Answer, Rating, RawAnswer};
use super::error::{EvaluateError, SetAside};
use super::item::Item;
use super::set::Set;
use super::task::{Setting, Task};
use crate::llm::parse;
use crate::options::LETTERS;
use crate::reading::{self, Packing};
use crate::review::exchange::table_rows;
use crate::stages::import::{NUMPY, numpy_rows};
use crate::store::Error;
use crate::text::normalise::{Fold, fold};
use error::{HINT, NotMergeable, OutputError};

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

/// The contents of one line of outputs.
struct Output {
    which: ItemKey,
    /// The task; `None` if the format does not state it.
    task: Option<Task>,
    setting: Setting,
    /// Which of the model's answers, from 0; `None` if the format does not state it.
    sample: Option<u32>,
    /// The model; `None` if the format does not state it.
    model: Option<String>,
    response: Response,
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
/// [`EvaluateError`] if a file cannot be read, or has none of the formats.
pub fn read(set: &Set, files: &[File], answers: &mut Vec<Answer>) -> Result<Vec<SetAside>, EvaluateError> {
    let items = Items::index(set);
    let mut seen: FxHashMap<OutputKey, (usize, String)> = FxHashMap::default();
    for (at, answer) in answers.iter().enumerate() {
        seen.insert(key(answer), (at, "what was asked here".to_string()));
    }
    let mut skipped = Vec::new();
    // A file that is given twice, by itself or in its folder, holds no further answers.
    let mut known: FxHashSet<(PathBuf, usize, String)> = FxHashSet::default();
    for file in files {
        for path in within(&file.path)? {
            let bytes = unpacked_bytes(&path).map_err(Error::io("read", &path))?;
            let (whole, mut is_again) = (fs::canonicalize(&path).unwrap_or_else(|_| path.clone()), false);
            for (at, (place, line)) in parsed(&set.config, &path, &bytes)?.into_iter().enumerate() {
                let is_numbered = line.as_ref().is_ok_and(|output| output.sample.is_some());
                let read = line.and_then(|output| answer(set, &items, file, &place, output));
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
                skipped.push(SetAside { place, what: problem.to_string() });
            }
            if is_again {
                let place = path.display().to_string();
                skipped.push(SetAside { place, what: OutputError::GivenTwice.to_string() });
            }
        }
    }
    Ok(skipped)
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

/// The bytes of a file without its compression. A workbook and a log of inspect_ai are zips of several files, which stay whole.
fn unpacked_bytes(path: &Path) -> io::Result<Vec<u8>> {
    if !path.is_file() || Packing::of_file(path) == Packing::Plain {
        return fs::read(path);
    }
    let mut bytes = Vec::new();
    reading::open_unpacked(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The name that a packed file has when it is unpacked.
fn unpacked_name(path: &Path) -> PathBuf {
    let packed = ["gz", "zst", "bz2", "xz", "lz4", "zip"];
    match path.extension().and_then(|end| end.to_str()) {
        Some(end) if packed.contains(&end) => path.with_extension(""),
        _ => path.to_owned(),
    }
}

/// A file, or the files of a folder and its subfolders, sorted. A spreadsheet beside JSON of its name is skipped: it has the
/// same contents.
fn within(path: &Path) -> Result<Vec<PathBuf>, EvaluateError> {
    if !path.is_dir() {
        return Ok(vec![path.to_path_buf()]);
    }
    let entries = fs::read_dir(path).map_err(Error::io("read", path))?;
    let mut entries: Vec<PathBuf> = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()
        .map_err(Error::io("read", path))?;
    // The first answer counts, so the order must not depend on the file system.
    entries.sort();
    let ends_in =
        |entry: &Path, ends: &[&str]| entry.extension().is_some_and(|end| ends.iter().any(|e| end == *e));
    let mut files = Vec::new();
    for entry in &entries {
        let name = unpacked_name(entry);
        // Scripts write a spreadsheet of the same contents beside their JSON.
        let is_copy = || {
            ["jsonl", "json", "npy"]
                .iter()
                .any(|end| entries.iter().any(|other| unpacked_name(other) == name.with_extension(end)))
        };
        let known = ends_in(&name, &["jsonl", "ndjson", "json", "npy"])
            || ends_in(&name, &["csv", "tsv", "xlsx", "ods"]) && !is_copy();
        if entry.is_dir() || known {
            files.extend(within(entry)?);
        }
    }
    Ok(files)
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

fn parsed(config: &str, path: &Path, bytes: &[u8]) -> Result<Lines, EvaluateError> {
    let form = |what: &str, hint: &str| EvaluateError::Form {
        path: path.into(),
        what: what.into(),
        hint: hint.into(),
    };
    if bytes.starts_with(NUMPY) {
        let rows = numpy_rows(bytes)
            .map_err(|what| form(what, "an array of objects, as numpy saves it, can be read"))?;
        let rows = rows.iter().map(String::as_str).zip(1..);
        return Ok(rows.flat_map(|(row, at)| outputs_of(config, path, &format!("row {at}"), row)).collect());
    }
    let decoded = decoded(bytes);
    let text = crate::notation::strip_byte_mark(&decoded);
    // inspect_ai's own logs are zip files, which begin with these letters.
    if text.starts_with("PK") && !is_workbook(path, bytes) {
        return Err(form(
            "a packed log of inspect_ai",
            "`inspect log dump FILE > FILE.json` writes it as JSON",
        ));
    }
    let has_json = || text.lines().any(|line| line.trim_start().starts_with(['{', '[']));
    if text.starts_with("PK") || !text.trim().is_empty() && !has_json() {
        let rows = table_rows(bytes).map_err(|trouble| form(&trouble.to_string(), HINT))?;
        let outputs = rows.into_iter().flat_map(|(at, cells)| {
            let row = Json::Object(cells.into_iter().map(|(name, cell)| (name, cell.into())).collect());
            outputs_of(config, path, &format!("row {at}"), &row.to_string())
        });
        let outputs: Lines = outputs.collect();
        return if outputs.is_empty() { Err(form("it holds no output", HINT)) } else { Ok(outputs) };
    }
    if text.trim_start().starts_with('{')
        && let Ok(log) = serde_json::from_str::<Json>(text)
        && log.get("samples").is_some_and(Json::is_array)
    {
        return Ok(inspect::parse_outputs(path, &log));
    }
    let lines: Lines = match notation::split_elements(text.trim()) {
        Ok(rows) => {
            let rows = rows.into_iter().zip(1..);
            rows.flat_map(|(row, at)| outputs_of(config, path, &format!("row {at}"), row)).collect()
        }
        Err(_) => {
            let lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
            lines.flat_map(|(line, at)| outputs_of(config, path, &at.to_string(), line)).collect()
        }
    };
    if lines.is_empty() {
        return Err(form("it holds no output", HINT));
    }
    Ok(lines)
}

/// A file's text, in any encoding that spreadsheets write.
fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    let (encoding, mark) = crate::reading::encoding_of(bytes);
    encoding.decode_without_bom_handling(&bytes[mark..]).0
}

fn is_workbook(path: &Path, bytes: &[u8]) -> bool {
    path.extension().is_none_or(|end| end != "eval") && crate::reading::workbook::open_workbook(bytes).is_ok()
}

/// The outputs of a line for the set with this config, in any of the formats.
fn outputs_of(config: &str, path: &Path, at: &str, line: &str) -> Lines {
    let place = format!("{}:{at}", path.display());
    let outputs = match serde_json::from_str::<Json>(&notation::strict_json(line)) {
        Ok(json) if json.get("doc").is_some() => vec![lm_eval::parse_output(path, &json)],
        Ok(json) => {
            scripts::parse_outputs(config, path, &json).unwrap_or_else(|| vec![lines::parse_output(line)])
        }
        Err(error) => vec![Err(OutputError::NoJson(error))],
    };
    outputs.into_iter().map(|output| (place.clone(), output)).collect()
}

/// The items of a set, by names and by questions.
struct Items<'s> {
    named: FxHashMap<&'s str, usize>,
    asked: FxHashMap<String, Vec<usize>>,
}

impl<'s> Items<'s> {
    fn index(set: &'s Set) -> Items<'s> {
        let mut asked: FxHashMap<String, Vec<usize>> = FxHashMap::default();
        for (at, item) in set.items.iter().enumerate() {
            asked.entry(fold(&item.question, Fold::KEY)).or_default().push(at);
        }
        Items { named: set.index_by_id(), asked }
    }

    fn find(&self, set: &'s Set, which: &ItemKey) -> Result<&'s Item, OutputError> {
        match which {
            ItemKey::Named(name) => self
                .named
                .get(name.as_str())
                .map(|&at| &set.items[at])
                .ok_or_else(|| OutputError::NoItem { name: name.clone(), set: set.name() }),
            ItemKey::Asked { id, text } => {
                let asked = self.asked.get(&fold(text, Fold::KEY)).map(Vec::as_slice).unwrap_or_default();
                let of_id = id.as_deref().and_then(|id| asked.iter().find(|at| set.items[**at].id == id));
                match (of_id, asked) {
                    (Some(&at), _) | (None, &[at]) => Ok(&set.items[at]),
                    (None, []) => Err(OutputError::NotAsked { question: text.clone(), set: set.name() }),
                    (None, _) => Err(OutputError::AskedBySeveral {
                        count: asked.len(),
                        question: text.clone(),
                        set: set.name(),
                    }),
                }
            }
        }
    }
}

fn answer(
    set: &Set,
    items: &Items<'_>,
    file: &File,
    place: &str,
    output: Output,
) -> Result<Answer, OutputError> {
    let item = items.find(set, &output.which)?;
    let task = match output.task {
        Some(task) => task,
        None => usual(set, item)?,
    };
    if !item.has_task(task) {
        return Err(OutputError::TaskUnfit { task, item: item.id.clone(), set: set.name() });
    }
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
    let basis = format!("made:{place}");
    let ratings = output.ratings.into_iter().map(|(judge, value)| {
        let basis = basis.clone();
        Rating { judge, person: false, value, basis }
    });
    let ratings: Vec<Rating> = ratings.collect();
    let setting = output.setting;
    let given = |text: String| RawAnswer { task, setting, model, person: false, sample, basis, text };
    let of_option = |option: &str| {
        let options = item.options_of_task(task).map(|(options, _)| options).unwrap_or_default();
        options.iter().position(|own| fold(own, Fold::KEY) == fold(option, Fold::KEY))
    };
    let answer = match output.response {
        Response::Words(text) => Answer::parse_raw(item, given(text)),
        Response::Place(_, _) if !task.is_choice() => {
            return Err(OutputError::NoChoice(task));
        }
        Response::Place(at, text) => Answer::from_option_index(item, given(text), at),
        Response::Option(option, text) => match of_option(&option) {
            Some(at) => Answer::from_option_index(item, given(text), at),
            None => return Err(OutputError::NoOption { item: item.id.clone(), option }),
        },
        Response::Labelled { prompt, text } => match labelled(item, task, &prompt, &text) {
            Some(at) => Answer::from_option_index(item, given(text), at),
            None => Answer::parse_raw(item, given(text)),
        },
    };
    Ok(Answer { ratings, ..answer })
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

/// The task of outputs that do not name one: the first that applies to the item, as the eval/ files of earlier releases asked it.
fn usual(set: &Set, item: &Item) -> Result<Task, OutputError> {
    let columns = item.column_values();
    let puts = |task: &Task| match &task.task_declaration().usual {
        Some(usual) => usual.is_true(&columns).unwrap_or(false),
        None => true,
    };
    let mut tasks = Task::of_config(&set.config).into_iter().filter(|task| item.has_task(*task));
    tasks.find(puts).ok_or(OutputError::NoTask)
}
