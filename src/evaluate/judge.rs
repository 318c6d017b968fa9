//! Judging answers that are no choice: RuozhiBench's 0 to 4 (figures 12 and 13), FLUB's 1 to 10 (figure 6),
//! BrainTeaser's 0 to 5 (A.5), Chumor's preference between a person's explanation and a model's (3).

use std::collections::BTreeMap;

use super::answer::{Answer, Rating};
use super::ask::{Missing, basis};
use super::error::EvaluateError;
use super::item::{Body, Item};
use super::pair_order::{person_first, side};
use super::set::Set;
use super::task::Task;
use crate::config::sections;
use crate::llm::parse::{self, Unreadable};
use crate::llm::{Ask, Endpoint, Parsed, Prompts};
use crate::record::Response;
use crate::stages::StageError;
use crate::stages::draft::{Draft, LlmContext, Slot, ask_endpoints, requests, slots};

/// BrainTeaser's scale (A.5).
pub const PUZZLE_SCALE: std::ops::RangeInclusive<u32> = 0..=5;

/// FLUB's scale (2.3).
pub const FLUB_SCALE: std::ops::RangeInclusive<u32> = 1..=10;

/// A rating that is asked for.
struct Wanted {
    /// The answer's place.
    answer: usize,
    slot: Slot,
    ask: Ask,
}

/// Has every answer that needs it judged by every judge that may. A rating that is there already in a judge's
/// name stays, and is not asked for.
///
/// # Errors
/// [`EvaluateError::Stage`] after a Ctrl-C, and where prompts, endpoints or the store cannot be used.
pub fn judge(
    set: &Set,
    answers: &mut [Answer],
    judges: Vec<Endpoint>,
    identities: &BTreeMap<String, String>,
    prompts: &Prompts,
    seed: u64,
    asking: &LlmContext<'_>,
) -> Result<Vec<Missing>, EvaluateError> {
    if judges.is_empty() {
        return Ok(Vec::new());
    }
    let settings: sections::Draft = asking.config.typed(Some(asking.recipe), "draft");
    let wanted = wanted(set, answers, &judges, identities, prompts, seed, asking)?;
    let mut of_judge: Vec<Vec<usize>> = judges.iter().map(|_| Vec::new()).collect();
    wanted.iter().enumerate().for_each(|(at, one)| of_judge[one.slot.endpoint].push(at));
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let asks =
        of_judge.iter().map(|places| places.iter().map(|&at| wanted[at].ask.clone()).collect()).collect();
    let names: Vec<String> = judges.iter().map(|judge| judge.name.clone()).collect();
    let read = |ask: &Ask, reply: &str| read(&ask.template, reply);
    let replied = ask_endpoints(judges, asks, read, settings.max_reasks, asking)?;
    asking.stop.check()?;
    let mut missing = Vec::new();
    for (places, replies) in of_judge.into_iter().zip(replied) {
        for (at, parsed) in places.into_iter().zip(replies) {
            let Wanted { answer, slot, .. } = &wanted[at];
            let judge = &names[slot.endpoint];
            let answer = &mut answers[*answer];
            let (reason, what) = match parsed {
                Parsed::Value { value, reply, .. } => {
                    let value = side(value, seed, answer);
                    answer.ratings.push(Rating {
                        judge: judge.clone(),
                        person: false,
                        value,
                        basis: basis(&reply),
                    });
                    continue;
                }
                Parsed::Held(held) => (held.reason, held.what),
                Parsed::Failed(failed) => (failed.reason, failed.error),
            };
            let (item, model) = (answer.item.clone(), answer.model.clone());
            let (task, setting, judge) = (answer.task, answer.setting, Some(judge.clone()));
            missing.push(Missing { item, task, setting, model, judge, reason: reason.code(), what });
        }
    }
    Ok(missing)
}

/// The judges' requests, for an estimate.
///
/// # Errors
/// As of [`judge`].
pub fn asks(
    set: &Set,
    answers: &[Answer],
    judges: &[Endpoint],
    identities: &BTreeMap<String, String>,
    prompts: &Prompts,
    seed: u64,
    asking: &LlmContext<'_>,
) -> Result<Vec<Vec<Ask>>, EvaluateError> {
    let mut asks: Vec<Vec<Ask>> = judges.iter().map(|_| Vec::new()).collect();
    for one in wanted(set, answers, judges, identities, prompts, seed, asking)? {
        asks[one.slot.endpoint].push(one.ask);
    }
    Ok(asks)
}

fn wanted(
    set: &Set,
    answers: &[Answer],
    judges: &[Endpoint],
    identities: &BTreeMap<String, String>,
    prompts: &Prompts,
    seed: u64,
    asking: &LlmContext<'_>,
) -> Result<Vec<Wanted>, EvaluateError> {
    let slots = slots(Draft::Judge, asking.config, asking.recipe, judges)?;
    let places = set.places();
    let mut wanted = Vec::new();
    for (at, answer) in answers.iter().enumerate() {
        // Experts score people's answers to puzzles as they score models' (A.5); a judge may as well.
        let of_person = answer.person && answer.task != Task::SolveOpen;
        if answer.task.is_choice() || of_person || answer.format_error.is_some() {
            continue;
        }
        let Some(item) = places.get(answer.item.as_str()).map(|&at| &set.items[at]) else { continue };
        let model = identities.get(&answer.model).unwrap_or(&answer.model);
        for slot in &slots {
            let judge = &judges[slot.endpoint].name;
            let rated = answer.ratings.iter().filter(|rating| rating.judge == *judge).count();
            if rated > slot.sample as usize {
                continue;
            }
            if let Some(ask) = request(item, answer, model, slot, prompts, seed)? {
                wanted.push(Wanted { answer: at, slot: slot.clone(), ask });
            }
        }
    }
    Ok(wanted)
}

/// The request to one judge; `None` where it may not judge this model.
fn request(
    item: &Item,
    answer: &Answer,
    model: &str,
    slot: &Slot,
    prompts: &Prompts,
    seed: u64,
) -> Result<Option<Ask>, EvaluateError> {
    if slot.bars.iter().any(|barred| barred.matches(model)) {
        return Ok(None);
    }
    let failed = |e: crate::llm::prompt::PromptError| StageError::from(e);
    let text = answer.text.trim();
    let (template, values) = match &item.body {
        Body::Question { .. } => {
            let response = response(item, answer, model);
            let mut requests =
                requests(Draft::Judge, prompts, std::slice::from_ref(slot), std::slice::from_ref(&response))?;
            return Ok(requests.pop().map(|request| request.ask));
        }
        Body::Text { text: question, explanation, .. } => {
            let values = [("question", question.as_str()), ("reference", explanation), ("response", text)];
            ("flub/judge", values)
        }
        Body::Joke { joke, explanation, .. } => {
            let (first, second) = match person_first(seed, &item.id, &answer.model) {
                true => (explanation.as_str(), text),
                false => (text, explanation.as_str()),
            };
            (
                "chumor/preference",
                [("joke", joke.as_str()), ("explanation_1", first), ("explanation_2", second)],
            )
        }
        Body::Puzzle { question, options, answer, .. } => {
            let reference = options.get(*answer).map(String::as_str).unwrap_or_default();
            (
                "brainteaser/judge",
                [("puzzle", question.as_str()), ("reference", reference), ("response", text)],
            )
        }
        Body::Pair { .. } | Body::Declared { .. } => return Ok(None),
    };
    let rendered = prompts.render(template, BTreeMap::from(values)).map_err(failed)?;
    let setting = if answer.task.takes_cot() { format!(" {}", answer.setting) } else { String::new() };
    Ok(Some(Ask::new(format!("{} {model}{setting}", item.record), rendered, slot.sample)))
}

/// An answer as the stage `judge` of RuozhiBench-MC knows it: the same prompts, packs and bars.
fn response(item: &Item, answer: &Answer, model: &str) -> Response {
    let normal = answer.task == Task::AnswerNormal;
    let (asked, irrationality) = match &item.body {
        Body::Question { pair: Some(pair), .. } if normal => (pair.clone(), None),
        Body::Question { question, irrationality, .. } => (question.clone(), Some(irrationality.clone())),
        _ => (String::new(), None),
    };
    Response {
        id: Response::id_of(&item.record, normal, model, 0),
        question: item.record.clone(),
        normal,
        asked,
        irrationality,
        model: model.into(),
        text: answer.text.trim().into(),
        ..Response::default()
    }
}

/// What a judge says, as it says it.
fn read(template: &str, reply: &str) -> Result<String, Unreadable> {
    match template {
        "brainteaser/judge" => parse::bracketed(reply, PUZZLE_SCALE).map(|rating| rating.to_string()),
        "flub/judge" => parse::bracketed(reply, FLUB_SCALE).map(|rating| rating.to_string()),
        "chumor/preference" => parse::choice(reply, &["1", "2", "tie"]).map(str::to_string),
        _ => {
            let values = Draft::Judge.read(reply)?;
            let rating = values.get("rating").and_then(crate::review::Value::as_number);
            rating.map(|rating| rating.to_string()).ok_or_else(|| Unreadable::new("no rating"))
        }
    }
}
