//! `estimate`: the drafts' requests and cost, before anything is sent.

use std::time::Duration;

use serde_json::{Value, json};

use super::args::{Global, Only};
use super::exit::{Exit, Failure};
use super::output::{self, count, number};
use super::progress::time;
use super::terminal::HANG;
use crate::config::{Config, sections};
use crate::llm::Estimate;
use crate::pipeline::{Forecast, StepForecast, forecast};

pub(super) fn estimate(args: &Only, global: &Global) -> Result<Exit, Failure> {
    let config = output::load(global)?;
    let mut text = String::new();
    let mut machine = Vec::new();
    for forecast in forecast(&config, &output::recipes(&config, args)?)? {
        text.push_str(&format!("{}\n", forecast.recipe));
        if !forecast.imported {
            text.push_str(
                "  not imported yet: `riddlemill run --offline --to dedup` costs nothing and \
                           shows how many there are\n",
            );
            machine.push(json!({ "recipe": forecast.recipe, "imported": false }));
            continue;
        }
        for step in &forecast.steps {
            if step.now.items > 0 || step.later.requests == 0 {
                text.push_str(&line(step.step, &step.now.endpoint, &step.now));
            }
            text.push_str(&later(step));
            let mut entry = row(forecast.recipe, step.step, &step.now);
            entry["later_requests"] = step.later.requests.into();
            entry["later_likely"] = step.later.likely.into();
            entry["later_max_usd"] = json!(step.later.max_usd.map(|usd| usd.dollars()));
            machine.push(entry);
        }
        let reasks = config.typed::<sections::Draft>(Some(forecast.recipe), "draft").max_reasks;
        text.push_str(&total(&forecast, reasks));
        text.push_str(&lacking(&config, forecast.steps.iter().map(|step| &step.now)));
        machine.push(json!({
            "recipe": forecast.recipe, "imported": true,
            "now_min_usd": forecast.now().map(|(min, _)| min.dollars()),
            "now_max_usd": forecast.now().map(|(_, max)| max.dollars()),
            "max_usd": forecast.max_usd().map(|usd| usd.dollars()),
        }));
    }
    if global.json {
        output::json(&machine)?
    } else {
        output::print(&text)?
    }
    Ok(Exit::Done)
}

/// What may come later, if anything.
fn later(step: &StepForecast) -> String {
    let later = &step.later;
    if later.requests == 0 {
        return String::new();
    }
    let money = later.max_usd.map_or("no price is set".into(), |usd| format!("at most {usd}"));
    let likely = match later.likely == later.requests {
        true => String::new(),
        false => format!(", probably {} at the share kept so far", number(later.likely)),
    };
    let (name, and) = match step.now.items {
        0 => (step.step, format!("llm.{}:", step.now.endpoint)),
        _ => ("", "and".to_string()),
    };
    format!("  {name:<14} {HANG}{and} up to {} later{likely}: {money}\n", count(later.requests, "request"))
}

/// The total of a recipe, with its assumptions.
fn total(forecast: &Forecast, reasks: u32) -> String {
    let (Some((min, max)), Some(all)) = (forecast.now(), forecast.max_usd()) else {
        return format!("  {:<14} {HANG}a price is missing, so nothing is sent there\n", "all");
    };
    if all.pico() == 0 {
        return String::new();
    }
    format!(
        "  {:<14} {HANG}{min} to {max} for the records that reach their drafts now, at most {all} to the \
         end of the recipe: if every reply is as long as possible, is cut and requested once more at \
         max_tokens_ceiling, and is asked for again {reasks}×, and if all waiting records are kept. A request \
         that fails after it was sent is charged, too.\n",
        "all"
    )
}

/// The endpoint settings that `estimate` needs and that are missing.
pub(super) fn lacking<'e>(config: &Config, estimates: impl Iterator<Item = &'e Estimate>) -> String {
    let mut text = String::new();
    let mut seen: Vec<&str> = Vec::new();
    for estimate in estimates {
        let Some(endpoint) = config.endpoints.iter().find(|endpoint| endpoint.name == estimate.endpoint)
        else {
            continue;
        };
        // Several steps may use one endpoint.
        if seen.contains(&endpoint.name.as_str()) {
            continue;
        }
        seen.push(&endpoint.name);
        let (prices, rates) = endpoint.missing_settings();
        let lacks = [
            (prices, "or free = true: without them nothing is sent"),
            (rates, "the limits of your account: without them the time cannot be estimated"),
        ];
        for (names, why) in lacks.into_iter().filter(|(names, _)| !names.is_empty()) {
            let (names, model) = (names.join(" and "), &endpoint.model);
            text.push_str(&format!(
                "  {:<14} {HANG}llm.{} lacks {names} for model {model:?}, {why}\n",
                "", endpoint.name
            ));
        }
    }
    text
}

/// What stored replies show about the costs.
fn learned(estimate: &Estimate) -> String {
    let Some(learned) = estimate.learned else { return String::new() };
    let likely = estimate.likely_usd.map_or(String::new(), |usd| format!(", likely {usd}"));
    let answer = learned.answer().map_or(String::new(), |n| format!(" and {} an answer", number(n)));
    format!(
        "{likely} (after {}: {:.2} tokens of a prompt for each counted here{answer})",
        count(learned.prompts, "reply"),
        learned.share()
    )
}

pub(super) fn line(step: &str, endpoint: &str, estimate: &Estimate) -> String {
    let money = match (estimate.min_usd, estimate.max_usd) {
        (Some(min), Some(max)) => format!("{min} to {max}"),
        _ => "no price is set".to_string(),
    };
    let money = money + &learned(estimate);
    let long = match estimate.at_least_secs {
        Some(secs) if secs >= 60 => format!("; at least {} at its rates", time(Duration::from_secs(secs))),
        _ => String::new(),
    };
    format!(
        "  {step:<14} {HANG}llm.{endpoint}: {}, {} stored, {}; {} tokens in, at most {} out: {money}{long}\n",
        count(estimate.items as u64, "item"),
        number(estimate.stored as u64),
        count(estimate.requests as u64, "request"),
        number(estimate.prompt_tokens),
        number(estimate.max_completion_tokens),
    )
}

pub(super) fn row(recipe: &str, step: &str, estimate: &Estimate) -> Value {
    json!({
        "recipe": recipe, "stage": step, "endpoint": estimate.endpoint, "items": estimate.items,
        "stored": estimate.stored, "requests": estimate.requests, "prompt_tokens": estimate.prompt_tokens,
        "max_completion_tokens": estimate.max_completion_tokens,
        "min_usd": estimate.min_usd.map(|usd| usd.dollars()),
        "max_usd": estimate.max_usd.map(|usd| usd.dollars()),
        "likely_usd": estimate.likely_usd.map(|usd| usd.dollars()),
        "prompt_tokens_share": estimate.learned.map(|learned| learned.share()),
        "at_least_secs": estimate.at_least_secs,
    })
}
