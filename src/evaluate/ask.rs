//! Asks models, through the engine, so that stored replies are not asked for again.

use std::collections::BTreeMap;

use super::answer::{Answer, NoAnswer, OF_A_REPLY, RawAnswer};
use super::builtin::BuiltIn;
use super::error::EvaluateError;
use super::item::Item;
use super::prompt;
use super::set::Set;
use super::task::{Setting, Task};
use crate::llm::parse::Unreadable;
use crate::llm::{self, Ask, Endpoint, Failed, Held, Parsed, Prompts, Reply};
use crate::record::Reason;
use crate::stages::StageError;
use crate::stages::draft::{LlmContext, ask_endpoints};

/// A model under evaluation.
#[derive(Clone, Debug)]
pub enum Model {
    Endpoint(Box<Endpoint>),
    /// A built-in baseline.
    BuiltIn(BuiltIn),
}

impl Model {
    /// Its name in tables.
    pub fn name(&self) -> &str {
        match self {
            Model::Endpoint(endpoint) => &endpoint.name,
            Model::BuiltIn(model) => model.name(),
        }
    }
}

/// What is asked of which models.
#[derive(Clone, Debug)]
pub struct Plan {
    pub models: Vec<Model>,
    /// The tasks with their settings.
    pub tasks: Vec<(Task, Setting)>,
    /// The seed of all draws.
    pub seed: u64,
}

/// A missing reply.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Missing {
    pub item: String,
    pub task: Task,
    pub setting: Setting,
    /// The model that answers.
    pub model: String,
    /// The judge whose rating is missing; `None` if the answer is.
    pub judge: Option<String>,
    /// The reason, by its code.
    pub reason: &'static str,
    /// What it waits for, or the error.
    pub what: String,
    /// Why the reply holds nothing, if one came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_answer: Option<NoAnswer>,
}

/// Why a reply came and holds no answer; `None` if it is still waited for, or if none came.
pub(super) fn without_answer<T>(parsed: &Parsed<T>) -> Option<NoAnswer> {
    match parsed {
        Parsed::Value { reply, .. } => reply.marks.withheld.then_some(NoAnswer::Refused),
        Parsed::Held(Held { reason, .. }) => (*reason == Reason::AnswerCut).then_some(NoAnswer::Cut),
        Parsed::Failed(Failed { reason: Reason::ReplyUnparseable, .. }) => Some(NoAnswer::Unread),
        Parsed::Failed(failed) => failed.no_answer().map(|why| match why {
            llm::NoAnswer::Refused => NoAnswer::Refused,
            llm::NoAnswer::Unread => NoAnswer::Unread,
        }),
    }
}

/// A request of a plan: item, task and setting.
type Place = (usize, Task, Setting);

impl Plan {
    /// The given tasks of a set (all if none is given), with the requested settings.
    pub fn tasks(set: &str, named: &[Task], shots: &[u8], cot: bool) -> Vec<(Task, Setting)> {
        let asked = |task: &Task| {
            if named.is_empty() { !task.is_on_request() } else { named.contains(task) }
        };
        let tasks = Task::of_config(set).into_iter().filter(asked);
        let mut plan = Vec::new();
        for task in tasks {
            match task.takes_shots() {
                true => plan.extend(shots.iter().map(|&shots| (task, Setting::shots(shots)))),
                false => plan.push((task, Setting::default())),
            }
            plan.extend((cot && task.takes_cot()).then_some((task, Setting::COT)));
        }
        plan
    }

    /// Every request for an endpoint with this model, in the order of tasks and items.
    ///
    /// # Errors
    /// [`EvaluateError::Stage`] if a workspace's prompt uses a value that an item lacks.
    pub fn requests(
        &self,
        set: &Set,
        prompts: &Prompts,
        model: &str,
    ) -> Result<Vec<(Place, Ask)>, EvaluateError> {
        let form = prompt::Form::of_model(model);
        let mut requests = Vec::new();
        for &(task, setting) in &self.tasks {
            for (at, item) in set.items.iter().enumerate().filter(|(_, item)| item.takes(task)) {
                let shots = match set.examples.is_empty() {
                    true => prompt::shots(&set.items, at, task, setting.shots, self.seed),
                    false => prompt::examples(&set.examples, item, task, setting.shots, self.seed),
                };
                let ask =
                    prompt::ask(prompts, item, task, setting, &shots, form).map_err(StageError::from)?;
                requests.push(((at, task, setting), ask));
            }
        }
        Ok(requests)
    }

    /// Asks every model, and parses the answers. Missing answers are reported, and the rest continues.
    ///
    /// # Errors
    /// [`EvaluateError::Stage`] after a Ctrl-C, and if prompts, endpoints or the store cannot be used.
    pub fn answers(
        &self,
        set: &Set,
        prompts: &Prompts,
        asking: &LlmContext<'_>,
    ) -> Result<(Vec<Answer>, Vec<Missing>), EvaluateError> {
        let endpoints: Vec<Endpoint> = self
            .models
            .iter()
            .filter_map(|model| match model {
                Model::Endpoint(endpoint) => Some((**endpoint).clone()),
                Model::BuiltIn(_) => None,
            })
            .collect();
        let mut places: BTreeMap<String, Vec<Place>> = BTreeMap::new();
        let mut asks: Vec<Vec<Ask>> = Vec::new();
        for endpoint in &endpoints {
            let (of_items, of_it) = self.requests(set, prompts, &endpoint.model)?.into_iter().unzip();
            places.insert(endpoint.name.clone(), of_items);
            asks.push(of_it);
        }
        // Replies are never re-asked here: a model that does not keep the format has made a format error.
        let as_text = |_: &Ask, reply: &str| Ok::<String, Unreadable>(reply.to_owned());
        let names: Vec<String> = endpoints.iter().map(|endpoint| endpoint.name.clone()).collect();
        let replied = if asks.iter().all(Vec::is_empty) {
            names.iter().map(|_| Vec::new()).collect()
        } else {
            ask_endpoints(endpoints, asks, as_text, 0, asking)?
        };
        // After a Ctrl-C the unsent requests would be reported as answers that the models owe.
        asking.stop.check()?;
        let mut by_name: BTreeMap<String, Vec<Parsed<String>>> = names.into_iter().zip(replied).collect();
        let (mut answers, mut missing) = (Vec::new(), Vec::new());
        for model in &self.models {
            match model {
                Model::BuiltIn(model) => answers.extend(self.built_in(set, *model)),
                Model::Endpoint(endpoint) => {
                    let replies = by_name.remove(&endpoint.name).unwrap_or_default();
                    let places = places.remove(&endpoint.name).unwrap_or_default();
                    for (place, parsed) in places.iter().zip(replies) {
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

fn given(task: Task, setting: Setting, model: &str, basis: String, text: String) -> RawAnswer {
    RawAnswer { task, setting, model: model.into(), person: false, basis, text }
}

fn taken(
    set: &Set,
    (at, task, setting): Place,
    model: &str,
    parsed: Parsed<String>,
) -> Result<Answer, Box<Missing>> {
    let item: &Item = &set.items[at];
    let no_answer = without_answer(&parsed);
    // What came holds no answer, and counts as wrong: left out, it would make a figure better.
    let without = |basis: String, text: String, why: NoAnswer, what: String| {
        Ok(Answer::without(item, given(task, setting, model, basis, text), why, what))
    };
    let (reason, what) = match (parsed, no_answer) {
        (Parsed::Value { value, reply, .. }, None) => {
            return Ok(Answer::read(item, given(task, setting, model, basis(&reply), value)));
        }
        (Parsed::Value { value, reply, .. }, Some(why)) => {
            return without(basis(&reply), value, why, "the model refused".into());
        }
        (Parsed::Held(held), Some(why)) => {
            return without(OF_A_REPLY.into(), String::new(), why, held.what.into_text());
        }
        (Parsed::Failed(failed), Some(why)) => {
            return without(
                format!("{OF_A_REPLY}:{}", failed.key),
                String::new(),
                why,
                failed.error.into_text(),
            );
        }
        (Parsed::Held(held), None) => (held.reason, held.what.into_text()),
        (Parsed::Failed(failed), None) => (failed.reason, failed.error.into_text()),
    };
    let (item, model) = (item.id.clone(), model.to_owned());
    let reason = reason.code();
    Err(Box::new(Missing { item, task, setting, model, judge: None, reason, what, no_answer }))
}

/// `reply:<key>`, or `made:<key>`, `sample:<key>` of a pack.
pub(super) fn basis(reply: &Reply) -> String {
    format!("{}:{}", reply.marks.origin(), reply.key)
}
