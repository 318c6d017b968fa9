//! `eval/items/`: the questions of a set's tasks as `evaluate` asks them, one line an item, which the files for lm_eval,
//! inspect_ai and OpenCompass read. They are rendered here, with the set's own prompts: none of these programs knows the
//! expressions of a benchmark's folder.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;

use minijinja::value::{Serde, Value};
use rayon::prelude::*;
use riddlemill_benchmarks::data::{AnswerForm, Poses};
use riddlemill_benchmarks::scope::layer_variables;
use riddlemill_benchmarks::table::{ColumnMeasure, Measures};
use riddlemill_benchmarks::task::{self, AnswerParsing, Asks, PosedQuestion, Task};
use riddlemill_benchmarks::{Benchmark, Data};
use riddlemill_files::fence;
use serde::Serialize;
use serde_json::{Map, Value as Json, json};

use super::data::WrittenSplit;
use super::eval_names::describe_task_notes;
pub(super) use super::eval_names::{ITEMS, ItemSplits, item_file, path_of_sealed, python_name, sealed_name};
use super::layout::Layout;
use super::read_rows::JsonRow;
use crate::config::Config;
use crate::llm::{Prompts, Rendered, Role};
use crate::options::LETTERS;
use crate::pipeline::RunError;
use crate::recipe::Recipe;
use crate::stages::draft::{load_prompts, papers_own};
use crate::store::{Error, durable};

/// What is asked about a row, with what is said of it; `None` for a row that is not asked about.
type Asked = Result<Option<(Json, Vec<String>)>, NoItem>;

/// Items rendered at a time.
const CHUNK: usize = 1 << 12;

/// What stands for the answer in a judge's prompt. Between tags it becomes `&lt;response-here>`, by which its reader knows
/// that the answer has to be escaped there.
const RESPONSE: &str = "<response-here>";

/// A task in the files of eval/.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExportedTask {
    /// A Python name: `flub_select`.
    pub name: String,
    /// Its name for `evaluate`; null if the set declares no tasks and its question alone is asked.
    pub task: Option<&'static str>,
    pub config: &'static str,
    /// What it asks, in one sentence.
    pub about: &'static str,
    /// How an answer is read.
    pub form: ScoringForm,
    /// Parts of a group that have to be right together, by the names of their figures.
    pub groups: BTreeMap<String, Vec<&'static str>>,
    /// Whether the set's figure is the macro F1, and whether of the set's own labels alone.
    pub f1: Option<bool>,
    /// Whether its prompt has a message of the system.
    pub system: bool,
    pub items: u64,
    /// How many rows have no question.
    pub failed: u64,
    /// Why the first of these has none.
    pub why: Option<String>,
    /// The splits that have items, if the set is divided.
    pub splits: ItemSplits,
    /// How many answers `evaluate` takes to an item. The files ask once.
    pub samples: u32,
    /// Whether an answer states a confidence.
    pub confidence: bool,
    /// What is found about how items are asked, each with the number of items.
    pub found: BTreeMap<String, u64>,
    /// What the other programs do not do as `evaluate` does, in sentences.
    pub notes: Vec<String>,
}

/// How an answer is read, for `scoring.py`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum ScoringForm {
    /// The letter of an option, or its words.
    Letter { words: bool },
    /// A name in `<choice>`, on the last line or anywhere.
    Tag { anywhere: bool },
    /// One label; each has the same place in the other language.
    Label { others: Vec<&'static str> },
    /// Several labels.
    Labels { codes: Vec<&'static str> },
    /// A whole number, compared with people's by Pearson's correlation.
    Rating { scale: [i64; 2] },
    /// A text that a judge rates on a scale, or compares with a person's.
    Judged { scale: Option<[u32; 2]>, json: bool },
    /// A text that is compared with one in the row: a set that declares no judge.
    Text,
}

/// What is asked about a row.
enum Question {
    Task(&'static Task),
    /// The question of a set without tasks.
    Posed(&'static Poses),
}

/// Writes the items of every task of these layouts, whose rows are in these files of the folder already.
///
/// # Errors
/// [`RunError`] if a prompt of the workspace or the rows cannot be read, or a file not written.
pub(super) fn write_eval_files(
    folder: &Path,
    config: &Config,
    layouts: &[Layout],
    files: &[&[WrittenSplit]],
) -> Result<Vec<ExportedTask>, RunError> {
    let prompts = load_prompts(config)?;
    let mut exported = Vec::new();
    for (layout, files) in layouts.iter().zip(files) {
        let benchmark = riddlemill_benchmarks::find_benchmark(layout.config);
        for question in questions_of_layout(layout, benchmark) {
            let task = describe_task(layout.config, benchmark, &question, papers_own(config));
            let Some(mut task) = task else { continue };
            for file in *files {
                let before = task.items;
                task = write_items(folder, layout, task, &file.name, &question, &prompts)?;
                if task.items > before {
                    task.splits.note_split(layout, &file.name);
                }
            }
            task.notes = describe_task_notes(&task.found, layout.config, task.samples, task.confidence);
            exported.push(task);
        }
    }
    exported.retain(|task| task.items + task.failed > 0);
    Ok(exported)
}

/// The hashes of the prompts of a recipe's tasks, on which the items depend besides the rows.
pub(super) fn prompt_hashes(config: &Config, recipe: &Recipe) -> Vec<String> {
    let Ok(prompts) = load_prompts(config) else { return Vec::new() };
    let tasks =
        riddlemill_benchmarks::find_benchmark(recipe.name).map(|benchmark| benchmark.tasks.as_slice());
    let templates = tasks.unwrap_or_default().iter().flat_map(|task| {
        let judge = task.judged.iter().flat_map(|judged| judged.template.prompt_names());
        task.template.prompt_names().chain(judge)
    });
    templates.filter_map(|name| prompts.hash(name).ok().map(str::to_owned)).collect()
}

fn questions_of_layout(layout: &Layout, benchmark: Option<&'static Benchmark>) -> Vec<Question> {
    let tasks = benchmark.map(|benchmark| benchmark.tasks.as_slice()).unwrap_or_default();
    if tasks.is_empty() {
        return layout.task.map(Question::Posed).into_iter().collect();
    }
    tasks.iter().map(Question::Task).collect()
}

/// A task without its items; `None` for free texts that nobody judges, which have no figure, and for conversations.
fn describe_task(
    config: &'static str,
    benchmark: Option<&Benchmark>,
    question: &Question,
    paper: bool,
) -> Option<ExportedTask> {
    let form = match question {
        Question::Posed(poses) => match poses.answer {
            AnswerForm::Choice { .. } => ScoringForm::Letter { words: false },
            AnswerForm::Words(_) => ScoringForm::Text,
        },
        // Other programs ask one question.
        Question::Task(task) if task.conversation.is_some() => return None,
        Question::Task(task) => match (&task.wants, &task.judged) {
            (AnswerParsing::Choice { words, .. }, _) => ScoringForm::Letter { words: *words },
            (AnswerParsing::Tag { .. }, _) => ScoringForm::Tag { anywhere: paper },
            (AnswerParsing::Labels { many: false, others, .. }, _) => {
                ScoringForm::Label { others: others.clone() }
            }
            (AnswerParsing::Labels { codes, .. }, _) => ScoringForm::Labels { codes: codes.clone() },
            (AnswerParsing::Rating { min, max, .. }, _) => ScoringForm::Rating { scale: [*min, *max] },
            (AnswerParsing::Words { .. }, Some(judged)) => {
                let json = matches!(judged.asks, Asks::Rating { json: true, .. });
                ScoringForm::Judged { scale: judged.rating_scale(), json }
            }
            (AnswerParsing::Words { .. }, None) => return None,
        },
    };
    let (title, about, task) = match question {
        Question::Task(task) => (format!("{config}_{}", task.title), task.about, Some(task.name)),
        Question::Posed(_) => (config.to_owned(), "", None),
    };
    let (samples, confidence) = match question {
        Question::Task(task) => (task.samples, task.confidence.is_some()),
        Question::Posed(_) => (1, false),
    };
    let mut measures: Vec<&ColumnMeasure> = Vec::new();
    for table in benchmark.into_iter().flat_map(|benchmark| &benchmark.evaluation) {
        if let Some(Measures::Columns { columns, .. }) = table.of_answers() {
            measures.extend(columns.iter().map(|column| &column.measure));
        }
    }
    let group = |measure: &&ColumnMeasure| match measure {
        ColumnMeasure::Groups(of, parts) if Some(*of) == task => {
            Some((python_name(&format!("groups_{}", parts.join("_"))), parts.clone()))
        }
        _ => None,
    };
    let f1 = |measure: &&ColumnMeasure| match measure {
        ColumnMeasure::F1 { task: of, of_set } if Some(*of) == task => Some(*of_set),
        _ => None,
    };
    Some(ExportedTask {
        name: python_name(&title),
        task,
        config,
        about,
        form,
        groups: measures.iter().filter_map(group).collect(),
        f1: measures.iter().find_map(f1),
        system: false,
        items: 0,
        failed: 0,
        why: None,
        splits: ItemSplits::default(),
        samples,
        confidence,
        found: BTreeMap::new(),
        notes: Vec::new(),
    })
}

/// Writes the items of one file of rows and counts them.
fn write_items(
    folder: &Path,
    layout: &Layout,
    mut task: ExportedTask,
    split: &str,
    question: &Question,
    prompts: &Prompts,
) -> Result<ExportedTask, RunError> {
    let source = folder.join("data").join(layout.config).join(format!("{split}.jsonl"));
    let read = Error::io("read", &source);
    let mut lines = BufReader::new(fence::open(&source).map_err(read)?).lines();
    let path = folder.join(ITEMS).join(item_file(layout, &task.name, split));
    let mut out: Option<BufWriter<File>> = None;
    loop {
        let chunk: Vec<String> =
            lines.by_ref().take(CHUNK).collect::<Result<_, _>>().map_err(Error::io("read", &source))?;
        if chunk.is_empty() {
            break;
        }
        let items: Vec<Asked> =
            chunk.par_iter().map(|line| make_item(question, &task, layout.declared, prompts, line)).collect();
        for item in items {
            let (item, found) = match item {
                Ok(Some(asked)) => asked,
                Ok(None) => continue,
                Err(what) => {
                    task.failed += 1;
                    task.why.get_or_insert_with(|| what.to_string());
                    continue;
                }
            };
            if out.is_none() {
                durable::create_folder(&folder.join(ITEMS))?;
                let file = File::create(&path).map_err(Error::io("create", &path))?;
                out = Some(BufWriter::new(file));
            }
            if let Some(out) = &mut out {
                writeln!(out, "{item}").map_err(Error::io("write", &path))?;
            }
            task.items += 1;
            found.into_iter().for_each(|finding| *task.found.entry(finding).or_default() += 1);
            task.system |= item["system"] != "";
        }
    }
    if let Some(mut out) = out {
        let synced = out.flush().and_then(|()| out.get_ref().sync_data());
        synced.map_err(Error::io("write", &path))?;
    }
    Ok(task)
}

/// Why a row gives no item of a task, in words.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct NoItem(String);

impl NoItem {
    fn because_of(why: impl std::fmt::Display) -> NoItem {
        NoItem(why.to_string())
    }
}

/// The item of a row, and what is found about how it is asked; `None` if the task does not apply to it.
fn make_item(
    question: &Question,
    task: &ExportedTask,
    data: Option<&Data>,
    prompts: &Prompts,
    line: &str,
) -> Result<Option<(Json, Vec<String>)>, NoItem> {
    let row: JsonRow = serde_json::from_str(line).map_err(NoItem::because_of)?;
    let columns = Value::from(Serde(&row));
    let id = row.values().next().cloned().unwrap_or_default();
    let (group, parts) = match data {
        Some(data) => data.group_and_parts(&columns).map_err(NoItem::because_of)?,
        None => (None, Vec::new()),
    };
    let (asked, found) = match question {
        Question::Posed(poses) => (render_plain_question(poses, &row)?, Vec::new()),
        Question::Task(declared) => {
            let Some(asked) = render_prompt(declared, &columns, prompts)? else { return Ok(None) };
            (asked, declared.compute_findings(&columns).map_err(NoItem::because_of)?)
        }
    };
    let mut item = json!({ "id": id, "task": task.task.unwrap_or(task.name.as_str()) });
    if let Some(item) = item.as_object_mut() {
        item.extend(asked);
        item.insert("group".into(), group.map_or(id, Json::from));
        item.insert("parts".into(), parts.into());
    }
    Ok(Some((item, found)))
}

/// The prompt of a task, and how its answer is scored.
fn render_prompt(
    task: &Task,
    columns: &Value,
    prompts: &Prompts,
) -> Result<Option<Map<String, Json>>, NoItem> {
    let Some(posed) = task.pose_question(columns).map_err(NoItem::because_of)? else { return Ok(None) };
    let mut values: Map<String, Json> =
        posed.values.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    if task.shots.is_some() {
        values.insert("shots".to_owned(), Json::Array(Vec::new()));
    }
    let template = task.template.prompt_of_row(|| columns.clone()).map_err(NoItem::because_of)?;
    let prompt = prompts.render_prompt(template, values).map_err(NoItem::because_of)?;
    let mut asked = messages_by_role(&prompt);
    asked.extend(scoring_fields(task, posed));
    if let (AnswerParsing::Words { .. }, Some(judged)) = (&task.wants, &task.judged) {
        asked.insert("judge".into(), render_judge_prompts(judged, columns, prompts)?.into());
    }
    Ok(Some(asked))
}

/// The system's message, if there is one, and the others.
fn messages_by_role(prompt: &Rendered) -> Map<String, Json> {
    let of = |system: bool| {
        let of_role = prompt.messages.iter().filter(|message| (message.role == Role::System) == system);
        of_role.map(|message| message.content.as_str()).collect::<Vec<_>>().join("\n\n")
    };
    [("system".to_owned(), of(true).into()), ("prompt".to_owned(), of(false).into())].into_iter().collect()
}

/// The answers to choose from, their texts, and the right one.
fn scoring_fields(task: &Task, posed: PosedQuestion) -> Map<String, Json> {
    let PosedQuestion { options, gold, .. } = posed;
    let choices: Vec<String> = match &task.wants {
        AnswerParsing::Choice { .. } => LETTERS.iter().take(options.len()).map(|l| (*l).to_owned()).collect(),
        AnswerParsing::Tag { names, .. } => names.iter().map(|name| (*name).to_owned()).collect(),
        AnswerParsing::Labels { codes, many: false, .. } => {
            codes.iter().map(|code| (*code).to_owned()).collect()
        }
        AnswerParsing::Labels { .. } | AnswerParsing::Rating { .. } | AnswerParsing::Words { .. } => {
            Vec::new()
        }
    };
    let mut scored = Map::new();
    if !options.is_empty() {
        scored.insert("options".into(), options.into());
    }
    if let Some(place) = choices.iter().position(|choice| Some(choice) == gold.as_ref()) {
        scored.insert("gold".into(), place.into());
        scored.insert("choices".into(), choices.into());
    }
    if let Some(gold) = gold {
        scored.insert("answer".into(), gold.into());
    }
    scored
}

/// The judge's prompts with a place for the answer: one, or one for each order of the two texts that are compared, the
/// person's first and the answer first.
fn render_judge_prompts(
    judged: &task::AnswerJudging,
    columns: &Value,
    prompts: &Prompts,
) -> Result<Vec<Json>, NoItem> {
    let over = layer_variables(BTreeMap::from([("said", RESPONSE.into())]), columns);
    let values = task::compute_values(&judged.with, &over).map_err(NoItem::because_of)?;
    let values: Map<String, Json> =
        values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    let template = judged.template.prompt_of_row(|| columns.clone()).map_err(NoItem::because_of)?;
    let orders: Vec<Map<String, Json>> = match &judged.asks {
        Asks::Rating { .. } => vec![values],
        Asks::Better { person, sides } => {
            let person = person.compute_value(columns).map_err(NoItem::because_of)?;
            let person = riddlemill_benchmarks::scope::text_of_value(&person).unwrap_or_default();
            let order = |texts: [&str; 2]| {
                let mut values = values.clone();
                values.extend(sides.iter().zip(texts).map(|(name, text)| ((*name).to_owned(), text.into())));
                values
            };
            vec![order([person.as_str(), RESPONSE]), order([RESPONSE, person.as_str()])]
        }
    };
    let render = |values: Map<String, Json>| match prompts.render_prompt(template, values) {
        Ok(prompt) => Ok(Json::Object(messages_by_role(&prompt))),
        Err(e) => Err(NoItem::because_of(e)),
    };
    orders.into_iter().map(render).collect()
}

/// The question of a set without tasks: its instruction, the question, and the options with letters.
fn render_plain_question(poses: &Poses, row: &JsonRow) -> Result<Map<String, Json>, NoItem> {
    let text = |column: &str| row.get(column).and_then(Json::as_str).unwrap_or_default();
    let mut prompt = format!("{}\n\n{}", poses.instruction, text(poses.question));
    let mut asked = Map::from_iter([("system".to_owned(), Json::from(""))]);
    match poses.answer {
        AnswerForm::Words(gold) => {
            let gold = row.get(gold).and_then(Json::as_str);
            let gold =
                gold.ok_or_else(|| NoItem::because_of("the row has no text to compare an answer with"))?;
            asked.insert("prompt".into(), prompt.into());
            asked.insert("answer".into(), gold.into());
        }
        AnswerForm::Choice { options, gold } => {
            let of_row = row.get(options).and_then(Json::as_array).map(Vec::as_slice).unwrap_or_default();
            let options: Vec<&str> = of_row.iter().filter_map(Json::as_str).collect();
            let place = match row.get(gold) {
                Some(Json::String(letter)) => LETTERS.iter().position(|known| *known == letter.as_str()),
                number => number.and_then(Json::as_u64).and_then(|number| usize::try_from(number).ok()),
            };
            let place = place.filter(|place| *place < options.len().min(LETTERS.len()));
            let place = place
                .ok_or_else(|| NoItem::because_of(format!("{gold}: it is not the place of an option")))?;
            for (letter, option) in LETTERS.iter().zip(&options) {
                let before = if *letter == LETTERS[0] { "\n\n" } else { "\n" };
                prompt.push_str(&format!("{before}{letter}. {option}"));
            }
            let choices = &LETTERS[..options.len().min(LETTERS.len())];
            asked.insert("prompt".into(), prompt.into());
            asked.insert("options".into(), options.into());
            asked.insert("gold".into(), place.into());
            asked.insert("choices".into(), choices.into());
            asked.insert("answer".into(), LETTERS[place].into());
        }
    }
    Ok(asked)
}

impl ExportedTask {
    /// Whether a judge has to read its answers, which only inspect_ai's files have one for.
    pub(super) fn is_judged(&self) -> bool {
        matches!(self.form, ScoringForm::Judged { .. })
    }

    /// The names of its figures, in the order of `scoring.py`.
    pub(super) fn figure_names(&self) -> Vec<String> {
        let first = if matches!(self.form, ScoringForm::Rating { .. }) { "correlation" } else { "acc" };
        let f1 = self.f1.map(|_| "macro_f1".to_owned());
        let groups = self.groups.keys().cloned();
        std::iter::once(first.to_owned()).chain(f1).chain(groups).chain(["in_form".to_owned()]).collect()
    }
}

#[cfg(test)]
#[path = "eval_files_tests.rs"]
mod tests;
