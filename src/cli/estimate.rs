//! `estimate`: what the drafts would ask and cost, before anything is sent.

use serde_json::{Value, json};

use super::args::{Global, Only};
use super::exit::{Exit, Failure};
use super::output::{self, count, number};
use super::terminal::HANG;
use crate::llm::Estimate;
use crate::pipeline::draft_requests;
use crate::stages::draft;

pub(super) fn estimate(args: &Only, global: &Global) -> Result<Exit, Failure> {
    let config = output::load(global)?;
    let mut text = String::new();
    let mut machine = Vec::new();
    for recipe in output::recipes(&config, args)? {
        text.push_str(&format!("{}\n", recipe.name));
        for step in recipe.steps {
            let Some(asks) = draft_requests(&config, recipe, step)? else { continue };
            let Some(asks) = asks else {
                text.push_str(&format!("  {:<14} its input is not made yet\n", step.name));
                continue;
            };
            for (endpoint, asks) in asks {
                let store = draft::open_store(&config)?;
                let estimate = crate::llm::estimate(&store, &endpoint, step.name, &asks)
                    .map_err(|e| Failure { exit: Exit::Io, message: e.to_string() })?;
                text.push_str(&line(step.name, &endpoint.name, &estimate));
                machine.push(row(recipe.name, step.name, &estimate));
            }
        }
    }
    if global.json {
        output::json(&machine)?
    } else {
        output::print(&text)?
    }
    Ok(Exit::Done)
}

pub(super) fn line(step: &str, endpoint: &str, estimate: &Estimate) -> String {
    let money = match (estimate.min_usd, estimate.max_usd) {
        (Some(min), Some(max)) => format!("{min} to {max}"),
        _ => "no price is set".to_string(),
    };
    format!(
        "  {step:<14} {HANG}llm.{endpoint}: {}, {} stored, {}; {} tokens in, at most {} out: {money}\n",
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
    })
}
