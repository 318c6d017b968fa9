//! Judges answers without a choice, as their tasks declare it: by a rating on a scale, or by a preference
//! between a person's text and a model's.

use std::collections::BTreeMap;

use riddlemill_benchmarks::ExpressionError;
use riddlemill_benchmarks::scope::{layer_variables, text_of_value};
use riddlemill_benchmarks::task::{self as declared, Asks};
use serde_json::{Map, Value as Json};

use super::answer::{Answer, Rating};
use super::ask::{Missing, basis_of_reply, without_answer};
use super::error::EvaluateError;
use super::item::Item;
use super::pair_order::{author_of_side, person_first};
use super::set::Set;
use super::task::Task;
use crate::config::sections;
use crate::llm::parse::{self, Unreadable};
use crate::llm::prompt::PromptError;
use crate::llm::{Ask, Endpoint, Parsed, Prompts};
use crate::record::derive_id;
use crate::stages::StageError;
use crate::stages::draft::{
    LlmContext, Slot, ask_endpoints, rating_of_reply, rating_schema, slots_of_judges,
};

/// A rating to ask for.
struct Wanted {
    /// The index of the answer.
    answer: usize,
    slot: Slot,
    ask: Ask,
}

/// Has every answer that needs it rated by every judge that may rate it. Existing ratings of a judge are kept
/// and not asked for again.
///
/// # Errors
/// [`EvaluateError::Stage`] after a Ctrl-C, and if prompts, endpoints or the store cannot be used.
pub fn judge_answers(
    set: &Set,
    answers: &mut [Answer],
    judges: Vec<Endpoint>,
    identities: &BTreeMap<String, String>,
    prompts: &Prompts,
    seed: u64,
    context: &LlmContext<'_>,
) -> Result<Vec<Missing>, EvaluateError> {
    if judges.is_empty() {
        return Ok(Vec::new());
    }
    let settings: sections::Draft = context.config.typed_settings(Some(context.recipe), "draft");
    let wanted = list_wanted_ratings(set, answers, &judges, identities, prompts, seed, context)?;
    let mut of_judge: Vec<Vec<usize>> = judges.iter().map(|_| Vec::new()).collect();
    wanted.iter().enumerate().for_each(|(at, one)| of_judge[one.slot.endpoint].push(at));
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let asks =
        of_judge.iter().map(|places| places.iter().map(|&at| wanted[at].ask.clone()).collect()).collect();
    let names: Vec<String> = judges.iter().map(|judge| judge.name.clone()).collect();
    let judged: Vec<&declared::AnswerJudging> = Task::of_config(&set.config)
        .into_iter()
        .filter_map(|task| task.task_declaration().judged.as_ref())
        .collect();
    let read = |ask: &Ask, reply: &str| parse_rating(&judged, &ask.template, reply);
    let replied = ask_endpoints(judges, asks, read, settings.max_reasks, context)?;
    // After a Ctrl-C the unsent requests would be reported as ratings that the judges owe.
    context.stop.fail_if_stopped()?;
    let mut missing = Vec::new();
    for (places, replies) in of_judge.into_iter().zip(replied) {
        for (at, parsed) in places.into_iter().zip(replies) {
            let Wanted { answer, slot, .. } = &wanted[at];
            let judge = &names[slot.endpoint];
            let answer = &mut answers[*answer];
            let no_answer = without_answer(&parsed);
            let (reason, what) = match parsed {
                Parsed::Value { value, reply, .. } => {
                    let value = author_of_side(value, seed, answer);
                    answer.ratings.push(Rating {
                        judge: judge.clone(),
                        person: false,
                        value,
                        basis: basis_of_reply(&reply),
                    });
                    continue;
                }
                Parsed::Held(held) => (held.reason, held.what.into_text()),
                Parsed::Failed(failed) => (failed.reason, failed.error.into_text()),
            };
            let (item, model) = (answer.item.clone(), answer.model.clone());
            let (task, setting, sample) = (answer.task, answer.setting, answer.sample);
            let judge = Some(judge.clone());
            let reason = reason.code();
            missing.push(Missing { item, task, setting, model, sample, judge, reason, what, no_answer });
        }
    }
    Ok(missing)
}

/// The judges' requests, for an estimate.
///
/// # Errors
/// Those of [`judge_answers`].
pub fn list_requests(
    set: &Set,
    answers: &[Answer],
    judges: &[Endpoint],
    identities: &BTreeMap<String, String>,
    prompts: &Prompts,
    seed: u64,
    context: &LlmContext<'_>,
) -> Result<Vec<Vec<Ask>>, EvaluateError> {
    let mut asks: Vec<Vec<Ask>> = judges.iter().map(|_| Vec::new()).collect();
    for one in list_wanted_ratings(set, answers, judges, identities, prompts, seed, context)? {
        asks[one.slot.endpoint].push(one.ask);
    }
    Ok(asks)
}

fn list_wanted_ratings(
    set: &Set,
    answers: &[Answer],
    judges: &[Endpoint],
    identities: &BTreeMap<String, String>,
    prompts: &Prompts,
    seed: u64,
    context: &LlmContext<'_>,
) -> Result<Vec<Wanted>, EvaluateError> {
    let slots = slots_of_judges(context.config, context.recipe, judges)?;
    let places = set.index_by_id();
    let mut wanted = Vec::new();
    for (at, answer) in answers.iter().enumerate() {
        let Some(judged) = &answer.task.task_declaration().judged else { continue };
        if (answer.person && !judged.people) || answer.format_error.is_some() {
            continue;
        }
        let Some(item) = places.get(answer.item.as_str()).map(|&at| &set.items[at]) else { continue };
        // Bars name models, and an endpoint may have any name.
        let model = identities.get(&answer.model).unwrap_or(&answer.model);
        for slot in &slots {
            let judge = &judges[slot.endpoint].name;
            let rated = answer.ratings.iter().filter(|rating| rating.judge == *judge).count();
            // The samples of a judge are numbered, and its earlier ratings fill the first ones.
            if rated > slot.sample as usize {
                continue;
            }
            if let Some(ask) = request_to_judge(item, judged, answer, model, slot, prompts, seed)? {
                wanted.push(Wanted { answer: at, slot: slot.clone(), ask });
            }
        }
    }
    Ok(wanted)
}

/// The request to one judge; `None` if it may not judge this model.
fn request_to_judge(
    item: &Item,
    judged: &declared::AnswerJudging,
    answer: &Answer,
    model: &str,
    slot: &Slot,
    prompts: &Prompts,
    seed: u64,
) -> Result<Option<Ask>, EvaluateError> {
    if slot.bars.iter().any(|barred| barred.matches(model)) {
        return Ok(None);
    }
    let reply = answer.text.trim();
    let template = judged.template.prompt_of_row(|| item.column_values()).map_err(|trouble| {
        let name = judged.template.default_prompt().to_owned();
        StageError::from(PromptError::Values { name, what: trouble.to_string() })
    })?;
    let values = values_for_judge(item, judged, answer, reply, seed).map_err(|trouble| {
        StageError::from(PromptError::Values { name: template.to_owned(), what: trouble.to_string() })
    })?;
    let rendered = prompts.render_prompt(template, values).map_err(StageError::from)?;
    let further = if answer.sample == 0 { String::new() } else { format!(" {}", answer.sample) };
    let about = match judged.role {
        Some(role) => derive_id(role, &[&item.record, model, &answer.sample.to_string()]),
        None if answer.task.takes_cot() => format!("{} {model} {}{further}", item.record, answer.setting),
        None => format!("{} {model}{further}", item.record),
    };
    let ask = Ask::new(about, rendered, slot.sample);
    Ok(Some(match judged.asks {
        Asks::Rating { json: true, .. } => Ask { schema: rating_schema(), ..ask },
        _ => ask,
    }))
}

/// The values of the judge's prompt: those of the row, and the answer; or the two texts to compare, in their
/// drawn order.
fn values_for_judge(
    item: &Item,
    judged: &declared::AnswerJudging,
    answer: &Answer,
    reply: &str,
    seed: u64,
) -> Result<Map<String, Json>, ExpressionError> {
    let columns = item.column_values();
    let over = layer_variables(BTreeMap::from([("said", reply.into())]), &columns);
    let declared = declared::compute_values(&judged.with, &over)?;
    let mut values: Map<String, Json> =
        declared.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    if let Asks::Better { person, sides } = &judged.asks {
        let person = text_of_value(&person.compute_value(&columns)?).unwrap_or_default();
        let mut both = [person, reply.to_owned()];
        if !person_first(seed, &item.id, &answer.model) {
            both.reverse();
        }
        values.extend(sides.iter().zip(both).map(|(name, text)| ((*name).to_owned(), text.into())));
    }
    Ok(values)
}

/// Parses a judge's rating by the prompt.
fn parse_rating(
    judged: &[&declared::AnswerJudging],
    template: &str,
    reply: &str,
) -> Result<String, Unreadable> {
    let asked = judged.iter().find(|judged| judged.template.has_prompt(template));
    match asked.ok_or_else(|| Unreadable::new("nobody asked"))?.asks {
        Asks::Rating { min, max, json: false } => {
            parse::parse_bracketed_rating(reply, min..=max).map(|rating| rating.to_string())
        }
        Asks::Rating { min, max, json: true } => rating_of_reply(reply, min..=max),
        Asks::Better { .. } => parse::parse_choice(reply, &["1", "2", "tie"]).map(str::to_string),
    }
}
