//! Asks models, through the engine, so that stored replies are not asked for again.

use std::collections::BTreeMap;

use riddlemill_benchmarks::ExpressionError;

use super::answer::{Answer, NoAnswer, OF_A_REPLY, RawAnswer, is_first};
use super::builtin::BuiltIn;
use super::error::EvaluateError;
use super::item::Item;
use super::prompt;
use super::set::Set;
use super::task::{Setting, Task};
use crate::llm::parse::Unreadable;
use crate::llm::prompt::PromptError;
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
    /// Whether it is an endpoint.
    pub(super) fn is_asked(&self) -> bool {
        matches!(self, Model::Endpoint(_))
    }

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
    /// Replies to players of conversations; `None` if nobody does.
    pub host: Option<Endpoint>,
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
    /// Which of its answers, from 0.
    #[serde(skip_serializing_if = "is_first")]
    pub sample: u32,
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

/// A request of a plan.
#[derive(Clone, Copy, Debug)]
pub struct PlannedRequest {
    /// The item's index.
    pub(super) item: usize,
    pub(super) task: Task,
    pub(super) setting: Setting,
    /// Which of several answers, from 0.
    pub(super) sample: u32,
}

impl Plan {
    /// The given tasks of a set (all if none is given), with the requested settings.
    pub fn select_tasks(set: &str, wanted: &[Task], shots: &[u8], cot: bool) -> Vec<(Task, Setting)> {
        let asked = |task: &Task| {
            if wanted.is_empty() { !task.is_on_request() } else { wanted.contains(task) }
        };
        let tasks = Task::of_config(set).into_iter().filter(asked);
        let mut plan = Vec::new();
        for task in tasks {
            match task.takes_shots() {
                true => plan.extend(shots.iter().map(|&shots| (task, Setting::with_shots(shots)))),
                false => plan.push((task, Setting::default())),
            }
            plan.extend((cot && task.takes_cot()).then_some((task, Setting::COT)));
        }
        plan
    }

    /// Options of the call that change nothing about these tasks.
    pub(super) fn describe_unused(&self, shots: &[u8], cot: bool) -> Vec<String> {
        let mut tasks: Vec<Task> = self.tasks.iter().map(|(task, _)| *task).collect();
        tasks.dedup();
        let without = |takes: fn(Task) -> bool| -> Option<String> {
            let names: Vec<&str> =
                tasks.iter().filter(|task| !takes(**task)).map(|task| task.name()).collect();
            (!names.is_empty()).then(|| names.join(", "))
        };
        let shots = shots.iter().any(|shots| *shots > 0).then(|| without(Task::takes_shots)).flatten();
        let cot = cot.then(|| without(Task::takes_cot)).flatten();
        let shots =
            shots.map(|names| format!("No `shots` in the folder, so that --shots changes nothing: {names}"));
        let cot =
            cot.map(|names| format!("No `reasoned` in the folder, so that --cot changes nothing: {names}"));
        shots.into_iter().chain(cot).collect()
    }

    /// What is to be known of how the items were asked: how each endpoint draws several answers to an item, which of them
    /// repeat one answer, and items without a prompt in their language.
    pub(super) fn describe_requests(&self, set: &Set) -> Vec<String> {
        let endpoints: Vec<Endpoint> = self.asked_endpoints();
        let mut all = describe_draws(&self.tasks, &endpoints);
        all.extend(describe_repeats(&self.tasks, &endpoints));
        if !endpoints.is_empty() {
            // What cannot be computed of an item ended the evaluation before it was asked.
            all.extend(self.list_findings(set).unwrap_or_default());
        }
        all
    }

    /// What is found about how the items are asked.
    fn list_findings(&self, set: &Set) -> Result<Vec<String>, EvaluateError> {
        let trouble = |trouble: ExpressionError| {
            let name = set.config.clone();
            StageError::from(PromptError::Values { name, what: trouble.to_string() })
        };
        let mut findings = prompt::list_findings(&set.items, &self.tasks).map_err(trouble)?;
        let with_shots = self.tasks.iter().filter(|(_, setting)| setting.shots > 0);
        findings.extend(with_shots.filter_map(|&(task, setting)| self.lack_of_examples(set, task, setting)));
        Ok(findings)
    }

    /// That a set has fewer examples to draw from than are wanted.
    fn lack_of_examples(&self, set: &Set, task: Task, setting: Setting) -> Option<String> {
        let asked = set.items.iter().enumerate().filter(|(_, item)| item.has_task(task));
        let drawn = asked.map(|(at, _)| set.draw_shots(at, task, setting.shots, self.seed).len());
        let short: Vec<usize> = drawn.filter(|drawn| *drawn < usize::from(setting.shots)).collect();
        let (count, fewest) = (short.len(), short.iter().min()?);
        Some(format!(
            "{count} item{} of {task}: only {fewest} of {} examples can be drawn; --shots {fewest} asks for no more",
            if count == 1 { "" } else { "s" },
            setting.shots
        ))
    }

    /// The endpoints that are asked.
    pub(super) fn asked_endpoints(&self) -> Vec<Endpoint> {
        let endpoint = |model: &Model| match model {
            Model::Endpoint(endpoint) => Some((**endpoint).clone()),
            Model::BuiltIn(_) => None,
        };
        self.models.iter().filter_map(endpoint).collect()
    }

    /// Every request for an endpoint with this model, in the order of tasks, answers to an item, and items: so a budget
    /// that is too small lacks further answers, and not items.
    ///
    /// # Errors
    /// [`EvaluateError::Stage`] if a workspace's prompt uses a value that an item lacks.
    pub fn build_requests(
        &self,
        set: &Set,
        prompts: &Prompts,
        model: &str,
    ) -> Result<Vec<(PlannedRequest, Ask)>, EvaluateError> {
        let form = prompt::Form::of_model(model);
        let mut requests = Vec::new();
        for &(task, setting) in self.tasks.iter().filter(|(task, _)| task.conversation().is_none()) {
            let begin = requests.len();
            for (at, item) in set.items.iter().enumerate().filter(|(_, item)| item.has_task(task)) {
                let shots = set.draw_shots(at, task, setting.shots, self.seed);
                let ask = prompt::build_ask(prompts, item, task, setting, &shots, form)
                    .map_err(StageError::from)?;
                requests.push((PlannedRequest { item: at, task, setting, sample: 0 }, ask));
            }
            let end = requests.len();
            for sample in 1..task.samples_per_item() {
                for at in begin..end {
                    let (place, ask) = requests[at].clone();
                    requests.push((PlannedRequest { sample, ..place }, Ask { sample, ..ask }));
                }
            }
        }
        Ok(requests)
    }

    /// Asks every model, and parses the answers. Missing answers are reported, and the rest continues.
    ///
    /// # Errors
    /// [`EvaluateError::Stage`] after a Ctrl-C, and if prompts, endpoints or the store cannot be used.
    pub fn ask_models(
        &self,
        set: &Set,
        prompts: &Prompts,
        context: &LlmContext<'_>,
    ) -> Result<(Vec<Answer>, Vec<Missing>), EvaluateError> {
        let endpoints = self.asked_endpoints();
        let mut places: BTreeMap<String, Vec<PlannedRequest>> = BTreeMap::new();
        let mut asks: Vec<Vec<Ask>> = Vec::new();
        for endpoint in &endpoints {
            let (of_items, of_it) = self.build_requests(set, prompts, &endpoint.model)?.into_iter().unzip();
            places.insert(endpoint.name.clone(), of_items);
            asks.push(of_it);
        }
        describe_repeats(&self.tasks, &endpoints).iter().for_each(|what| context.pulse.notify_user(what));
        if !endpoints.is_empty() {
            self.list_findings(set)?.iter().for_each(|what| context.pulse.notify_user(what));
        }
        // Replies are never re-asked here: a model that does not keep the format has made a format error.
        let as_text = |_: &Ask, reply: &str| Ok::<String, Unreadable>(reply.to_owned());
        let names: Vec<String> = endpoints.iter().map(|endpoint| endpoint.name.clone()).collect();
        let replied = if asks.iter().all(Vec::is_empty) {
            names.iter().map(|_| Vec::new()).collect()
        } else {
            ask_endpoints(endpoints, asks, as_text, 0, context)?
        };
        // After a Ctrl-C the unsent requests would be reported as answers that the models owe.
        context.stop.fail_if_stopped()?;
        let mut by_name: BTreeMap<String, Vec<Parsed<String>>> = names.into_iter().zip(replied).collect();
        let (mut answers, mut missing) = (Vec::new(), Vec::new());
        for model in &self.models {
            match model {
                Model::BuiltIn(model) => answers.extend(self.built_in(set, *model)),
                Model::Endpoint(endpoint) => {
                    let replies = by_name.remove(&endpoint.name).unwrap_or_default();
                    let places = places.remove(&endpoint.name).unwrap_or_default();
                    for (place, parsed) in places.iter().zip(replies) {
                        match answer_or_missing(set, *place, &endpoint.name, parsed) {
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
        for &(task, setting) in self.tasks.iter().filter(|(task, _)| task.conversation().is_none()) {
            for item in set.items.iter().filter(|item| item.has_task(task)) {
                for sample in 0..task.samples_per_item() {
                    let Some(text) = model.answer_item(item, task, setting, self.seed, sample) else {
                        continue;
                    };
                    let place = PlannedRequest { item: 0, task, setting, sample };
                    answers.push(Answer::parse_raw(
                        item,
                        build_raw_answer(place, model.name(), "built-in".into(), text),
                    ));
                }
            }
        }
        answers
    }
}

/// How each endpoint draws several answers: its temperature and its seed.
pub(super) fn describe_draws(tasks: &[(Task, Setting)], endpoints: &[Endpoint]) -> Vec<String> {
    let most = tasks.iter().map(|(task, _)| task.samples_per_item()).max().unwrap_or(1);
    let sent = endpoints.iter().filter(|endpoint| most > 1 && !endpoint.provider.is_pack());
    let one = |endpoint: &Endpoint| {
        let name = &endpoint.name;
        let temperature = match endpoint.sampling.temperature {
            Some(temperature) => format!("temperature {temperature}"),
            None => "the server's temperature".to_owned(),
        };
        let seeds = match endpoint.sampling.seed {
            Some(seed) => format!("seeds from {seed}"),
            None => "the server's seeds".to_owned(),
        };
        format!("{name} gives up to {most} answers to an item, at {temperature}, with {seeds}")
    };
    sent.map(one).collect()
}

/// Endpoints that give several answers at a temperature of 0: their answers are as good as one.
pub(super) fn describe_repeats(tasks: &[(Task, Setting)], endpoints: &[Endpoint]) -> Vec<String> {
    let Some((task, _)) = tasks.iter().find(|(task, _)| task.samples_per_item() > 1) else {
        return Vec::new();
    };
    let cold = endpoints.iter().filter(|endpoint| {
        !endpoint.provider.is_pack() && endpoint.sampling.temperature.is_some_and(|at| at <= 0.0)
    });
    let one = |Endpoint { name, .. }: &Endpoint| {
        format!(
            "{name} is asked for {} answers to an item of {task} at temperature 0, where further answers repeat the first: \
             `sampling.temperature` of [llm.{name}] makes them differ",
            task.samples_per_item()
        )
    };
    cold.map(one).collect()
}

pub(super) fn build_raw_answer(place: PlannedRequest, model: &str, basis: String, text: String) -> RawAnswer {
    let PlannedRequest { task, setting, sample, .. } = place;
    RawAnswer { task, setting, model: model.into(), person: false, sample, basis, text }
}

/// The answer in what came of a model, or what is missing.
pub(super) fn answer_or_missing(
    set: &Set,
    place: PlannedRequest,
    model: &str,
    parsed: Parsed<String>,
) -> Result<Answer, Box<Missing>> {
    let PlannedRequest { task, setting, sample, .. } = place;
    let item: &Item = &set.items[place.item];
    let no_answer = without_answer(&parsed);
    // What came holds no answer, and counts as wrong: left out, it would make a figure better.
    let without = |basis: String, text: String, why: NoAnswer, what: String| {
        Ok(Answer::from_reply_without_answer(item, build_raw_answer(place, model, basis, text), why, what))
    };
    let (reason, what) = match (parsed, no_answer) {
        (Parsed::Value { value, reply, .. }, None) => {
            return Ok(Answer::parse_raw(
                item,
                build_raw_answer(place, model, basis_of_reply(&reply), value),
            ));
        }
        (Parsed::Value { value, reply, .. }, Some(why)) => {
            return without(basis_of_reply(&reply), value, why, "the model refused".into());
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
    Err(Box::new(Missing { item, task, setting, model, sample, judge: None, reason, what, no_answer }))
}

/// `reply:<key>`, or `made:<key>`, `sample:<key>` of a pack.
pub(super) fn basis_of_reply(reply: &Reply) -> String {
    format!("{}:{}", reply.marks.basis_prefix(), reply.key)
}

/// An answer that is still owed.
pub(super) struct OwedAnswer<'a> {
    pub(super) item: &'a str,
    pub(super) task: Task,
    pub(super) setting: Setting,
    pub(super) model: &'a str,
    pub(super) sample: u32,
}

impl<'a> OwedAnswer<'a> {
    pub(super) fn of_answer(answer: &'a Answer) -> OwedAnswer<'a> {
        let Answer { item, task, setting, model, sample, .. } = answer;
        OwedAnswer { item, task: *task, setting: *setting, model, sample: *sample }
    }

    pub(super) fn of_missing(missing: &'a Missing) -> OwedAnswer<'a> {
        let Missing { item, task, setting, model, sample, .. } = missing;
        OwedAnswer { item, task: *task, setting: *setting, model, sample: *sample }
    }
}
