//! Putting the tasks to models: through the engine, so that what is stored is not asked again.

use std::collections::BTreeMap;

use super::answer::{Answer, Given};
use super::builtin::BuiltIn;
use super::error::EvaluateError;
use super::item::Item;
use super::prompt;
use super::set::Set;
use super::task::{Setting, Task};
use crate::llm::parse::Unreadable;
use crate::llm::{Ask, Endpoint, Parsed, Prompts, Reply};
use crate::stages::StageError;
use crate::stages::draft::{Asking, ask_endpoints};

/// A model under evaluation.
#[derive(Clone, Debug)]
pub enum Model {
    /// One that is asked.
    Endpoint(Box<Endpoint>),
    /// One that needs no asking.
    BuiltIn(BuiltIn),
}

impl Model {
    /// What tables call it.
    pub fn name(&self) -> &str {
        match self {
            Model::Endpoint(endpoint) => &endpoint.name,
            Model::BuiltIn(model) => model.name(),
        }
    }
}

/// What is put to the models.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The models.
    pub models: Vec<Model>,
    /// The tasks, each in its settings.
    pub tasks: Vec<(Task, Setting)>,
    /// What the draws depend on.
    pub seed: u64,
}

/// A reply that is not there.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Missing {
    /// The item.
    pub item: String,
    /// The task.
    pub task: Task,
    /// How it was put.
    pub setting: Setting,
    /// The model that answers.
    pub model: String,
    /// The judge whose rating is missing; none where the answer is.
    pub judge: Option<String>,
    /// The reason, by its code.
    pub reason: &'static str,
    /// For what it waits, or what went wrong.
    pub what: String,
}

/// A request of a plan: item, task and setting.
type Place = (usize, Task, Setting);

impl Plan {
    /// The tasks on a set that are named (all where none is), in the settings that are asked for.
    pub fn tasks(set: &str, named: &[Task], shots: &[u8], cot: bool) -> Vec<(Task, Setting)> {
        let tasks = Task::of(set).into_iter().filter(|task| named.is_empty() || named.contains(task));
        let mut plan = Vec::new();
        for task in tasks {
            if !task.has_settings() {
                plan.push((task, Setting::default()));
                continue;
            }
            plan.extend(shots.iter().map(|&shots| (task, Setting::shots(shots))));
            plan.extend(cot.then_some((task, Setting::COT)));
        }
        plan
    }

    /// Every request that an endpoint is sent, in the order of tasks and items.
    ///
    /// # Errors
    /// [`EvaluateError::Stage`] where a workspace's prompt asks for what an item has not.
    pub fn requests(&self, set: &Set, prompts: &Prompts) -> Result<Vec<(Place, Ask)>, EvaluateError> {
        let mut requests = Vec::new();
        for &(task, setting) in &self.tasks {
            for (at, item) in set.items.iter().enumerate().filter(|(_, item)| item.takes(task)) {
                let shots = prompt::shots(&set.items, at, task, setting.shots, self.seed);
                let ask = prompt::ask(prompts, item, task, setting, &shots)
                    .map_err(|e| StageError::Settings(e.to_string()))?;
                requests.push(((at, task, setting), ask));
            }
        }
        Ok(requests)
    }

    /// Asks every model, and reads what it answers. What is not answered is said, and the rest goes on.
    ///
    /// # Errors
    /// [`EvaluateError::Stage`] after a Ctrl-C, and where prompts, endpoints or the store cannot be used.
    pub fn answers(
        &self,
        set: &Set,
        prompts: &Prompts,
        asking: &Asking<'_>,
    ) -> Result<(Vec<Answer>, Vec<Missing>), EvaluateError> {
        let requests = self.requests(set, prompts)?;
        let endpoints: Vec<Endpoint> = self
            .models
            .iter()
            .filter_map(|model| match model {
                Model::Endpoint(endpoint) => Some((**endpoint).clone()),
                Model::BuiltIn(_) => None,
            })
            .collect();
        let asks: Vec<Vec<Ask>> =
            endpoints.iter().map(|_| requests.iter().map(|(_, ask)| ask.clone()).collect()).collect();
        // A reply is taken as it comes: a model that does not keep to the form has made a format error.
        let words = |_: &Ask, reply: &str| Ok::<String, Unreadable>(reply.to_owned());
        let names: Vec<String> = endpoints.iter().map(|endpoint| endpoint.name.clone()).collect();
        let replied = if asks.iter().all(Vec::is_empty) {
            names.iter().map(|_| Vec::new()).collect()
        } else {
            ask_endpoints(endpoints, asks, words, 0, asking)?
        };
        asking.stop.check()?;
        let mut by_name: BTreeMap<String, Vec<Parsed<String>>> = names.into_iter().zip(replied).collect();
        let (mut answers, mut missing) = (Vec::new(), Vec::new());
        for model in &self.models {
            match model {
                Model::BuiltIn(model) => answers.extend(self.built_in(set, *model)),
                Model::Endpoint(endpoint) => {
                    let replies = by_name.remove(&endpoint.name).unwrap_or_default();
                    for ((place, _), parsed) in requests.iter().zip(replies) {
                        match taken(set, *place, &endpoint.name, parsed) {
                            Ok(answer) => answers.push(answer),
                            Err(one) => missing.push(*one),
                        }
                    }
                }
            }
        }
        Ok((answers, missing))
    }

    fn built_in(&self, set: &Set, model: BuiltIn) -> Vec<Answer> {
        let mut answers = Vec::new();
        for &(task, setting) in &self.tasks {
            for item in set.items.iter().filter(|item| item.takes(task)) {
                let Some(text) = model.answer(item, task, setting, self.seed) else { continue };
                answers.push(Answer::read(item, given(task, setting, model.name(), "built-in".into(), text)));
            }
        }
        answers
    }
}

fn given(task: Task, setting: Setting, model: &str, basis: String, text: String) -> Given {
    Given { task, setting, model: model.into(), person: false, basis, text }
}

fn taken(
    set: &Set,
    (at, task, setting): Place,
    model: &str,
    parsed: Parsed<String>,
) -> Result<Answer, Box<Missing>> {
    let item: &Item = &set.items[at];
    let (reason, what) = match parsed {
        Parsed::Value { value, reply, .. } => {
            return Ok(Answer::read(item, given(task, setting, model, basis(&reply), value)));
        }
        Parsed::Held(held) => (held.reason, held.what),
        Parsed::Failed(failed) => (failed.reason, failed.error),
    };
    let (item, model) = (item.id.clone(), model.to_owned());
    Err(Box::new(Missing { item, task, setting, model, judge: None, reason: reason.code(), what }))
}

/// `reply:<key>`, or `sample:<key>` of a pack.
pub(super) fn basis(reply: &Reply) -> String {
    format!("{}:{}", if reply.marks.sample { "sample" } else { "reply" }, reply.key)
}
