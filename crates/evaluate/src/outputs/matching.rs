//! What an output is about: its item, its task, and the options that its model was shown.

use rustc_hash::FxHashMap;

use super::error::OutputError;
use super::{ItemKey, Output, Response};
use crate::item::Item;
use crate::options::LETTERS;
use crate::read;
use crate::set::Set;
use crate::task::Task;
use crate::text::normalise::{Fold, fold};

/// The items of a set, by names and by questions.
pub(super) struct Items<'s> {
    named: FxHashMap<&'s str, usize>,
    asked: FxHashMap<String, Vec<usize>>,
}

impl<'s> Items<'s> {
    pub fn index(set: &'s Set) -> Items<'s> {
        let mut asked: FxHashMap<String, Vec<usize>> = FxHashMap::default();
        for (at, item) in set.items.iter().enumerate() {
            asked.entry(fold(&item.question, Fold::KEY)).or_default().push(at);
        }
        Items { named: set.index_by_id(), asked }
    }

    /// The item that an output names.
    ///
    /// # Errors
    /// [`OutputError`] if there is none, or several have its question.
    pub fn find_item(&self, set: &'s Set, which: &ItemKey) -> Result<&'s Item, OutputError> {
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

/// The task of an output.
pub(super) enum TaskOfOutput {
    Named(Task),
    /// It names none: the first that it may answer, and another one.
    Assumed(Task, Option<Task>),
}

impl TaskOfOutput {
    /// The task that an output names, by its whole name or by that in its benchmark; else the first that it may answer.
    ///
    /// # Errors
    /// [`OutputError`] if there is no such task, or it cannot be asked about the item.
    pub fn find_task(set: &Set, item: &Item, output: &Output) -> Result<TaskOfOutput, OutputError> {
        let Some(name) = &output.task else {
            let is_choice = matches!(
                output.response,
                Response::Place(..) | Response::Option(..) | Response::Among { at: Some(_), .. }
            );
            let mut tasks = usual_tasks(set, item).filter(|task| !is_choice || task.is_choice());
            let task = tasks.next().ok_or(OutputError::NoTask)?;
            return Ok(TaskOfOutput::Assumed(task, tasks.next()));
        };
        let own = Task::of_config(&set.config);
        let is_short = |task: &&Task| task.name().rsplit('/').next() == Some(name.as_str());
        let task = own.iter().find(|task| task.name() == name).or_else(|| own.iter().find(is_short));
        let task = match task {
            Some(task) => *task,
            None => name.parse().map_err(OutputError::UnknownTask)?,
        };
        match item.has_task(task) {
            true => Ok(TaskOfOutput::Named(task)),
            false => Err(OutputError::TaskUnfit { task, item: item.id.clone(), set: set.name() }),
        }
    }

    pub fn task(&self) -> Task {
        let (TaskOfOutput::Named(task) | TaskOfOutput::Assumed(task, _)) = self;
        *task
    }
}

/// The tasks that outputs which name none may be about, in the order of the folder: those that apply to the item, as the eval/
/// files of earlier releases asked it.
pub(super) fn usual_tasks(set: &Set, item: &Item) -> impl Iterator<Item = Task> {
    let columns = item.column_values();
    let tasks = Task::of_config(&set.config).into_iter().filter(|task| item.has_task(*task));
    tasks.filter(move |task| match &task.task_declaration().usual {
        Some(usual) => usual.is_true(&columns).unwrap_or(false),
        None => true,
    })
}

/// The place in the release of each option that a model was shown; `None` if nothing is to choose from, or the list has nothing
/// but letters. `is_by_place` says that a place in the list was chosen.
///
/// # Errors
/// [`OutputError::OtherChoices`] if they are not the options of the item.
pub(super) fn places_of_choices(
    item: &Item,
    task: Task,
    choices: &[String],
    is_by_place: bool,
) -> Result<Option<Vec<usize>>, OutputError> {
    let options = item.question_of_task(task).map(|posed| posed.options.as_slice()).unwrap_or_default();
    let names = read::names_of_choices(task, options.len());
    let own: Vec<&str> = match options {
        [] => names,
        options => options.iter().map(String::as_str).collect(),
    };
    let are_letters = choices.iter().zip(LETTERS).all(|(choice, letter)| choice == letter);
    if own.is_empty() || choices.is_empty() || are_letters && options.iter().ne(choices) {
        return Ok(None);
    }
    let keys = |texts: &mut dyn Iterator<Item = &str>| -> Vec<String> {
        texts.map(|text| fold(text, Fold::KEY)).collect()
    };
    let (own, shown) = (keys(&mut own.into_iter()), keys(&mut choices.iter().map(String::as_str)));
    if own == shown {
        return Ok(Some((0..own.len()).collect()));
    }
    let place = |choice: &String| own.iter().position(|option| option == choice);
    let mut places: Vec<usize> = shown.iter().filter_map(place).collect();
    let found = places.clone();
    places.sort_unstable();
    places.dedup();
    match places.len() == own.len() && shown.len() == own.len() {
        true => Ok(Some(found)),
        // Labels are read by their names, and the list may be of another task of the row.
        false if options.is_empty() && !is_by_place => Ok(None),
        false => Err(OutputError::OtherChoices { item: item.id.clone(), choices: choices.join(" | ") }),
    }
}
