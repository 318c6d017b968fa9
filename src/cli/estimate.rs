//! `estimate`: the drafts' requests and cost, before anything is sent.

use std::time::Duration;

use super::args::{self, Global};
use super::exit::{Exit, Failure};
use super::output::{self, count, format_count};
use super::progress::format_time;
use super::terminal::HANG;
use crate::config::{Config, sections, unknown};
use crate::llm::prices::Prices;
use crate::llm::{Endpoint, Estimate, Usd};
use crate::pipeline::{Forecast, StepForecast, forecast_recipes};
use crate::report::{ImaginedCost, forecast_lines, imagined_costs};

/// The name of an endpoint that is only imagined.
const IMAGINED: &str = "any model";

pub(super) fn print_estimate(args: &args::Estimate, global: &Global) -> Result<Exit, Failure> {
    let config = output::load_config(global)?;
    let recipes = output::recipes_to_make(&config, &args.only)?;
    if !args.models.is_empty() {
        return estimate_imagined(&args.models, args, global);
    }
    let forecasts = forecast_recipes(&config, &recipes)?;
    // Nobody would be asked: what drafts would need is said nevertheless.
    if forecasts.iter().any(|one| one.imported) && forecasts.iter().all(|one| one.steps.is_empty()) {
        return estimate_imagined(&[], args, global);
    }
    if global.json {
        output::print_json(&forecast_lines(&forecasts))?;
        return Ok(Exit::Done);
    }
    let mut text = String::new();
    for forecast in &forecasts {
        text.push_str(&format!("{}\n", forecast.recipe));
        if !forecast.imported {
            text.push_str(NOT_IMPORTED);
            continue;
        }
        for step in &forecast.steps {
            if step.now.items > 0 {
                text.push_str(&estimate_line(step.step, &step.now.endpoint, &step.now));
            }
            text.push_str(&later_requests(step));
        }
        let reasks = config.typed_settings::<sections::Draft>(Some(forecast.recipe), "draft").max_reasks;
        text.push_str(&total_line(forecast, reasks));
        text.push_str(&missing_settings(&config, forecast.steps.iter().map(|step| &step.now)));
    }
    text.push_str(&grand_total(&forecasts));
    output::print_text(&text)?;
    Ok(Exit::Done)
}

const NOT_IMPORTED: &str =
    "  not imported yet: `riddlemill run --offline --to dedup` costs nothing and shows how many there are\n";

/// The total of several recipes that cost something.
fn grand_total(forecasts: &[Forecast]) -> String {
    let all: Vec<(Usd, Usd, Usd)> = forecasts
        .iter()
        .filter_map(|one| Some((one.next_run_cost()?.0, one.next_run_cost()?.1, one.max_usd()?)))
        .filter(|(.., most)| most.in_picodollars() > 0)
        .collect();
    if all.len() < 2 {
        return String::new();
    }
    let (min, max, most) = all
        .iter()
        .fold((Usd::ZERO, Usd::ZERO, Usd::ZERO), |sum, one| (sum.0 + one.0, sum.1 + one.1, sum.2 + one.2));
    format!("all recipes: {min} to {max} now, at most {most} to their ends\n")
}

/// What drafts would need, and cost with each of these models.
fn estimate_imagined(models: &[String], args: &args::Estimate, global: &Global) -> Result<Exit, Failure> {
    let config = output::load_with(global, &[("draft.endpoint".into(), IMAGINED.into())])?;
    let recipes = output::recipes_to_make(&config, &args.only)?;
    let prices = Prices::read_prices(&config.root)?;
    let mut endpoints = Vec::new();
    for model in models {
        let mut endpoint = Endpoint::new(IMAGINED, "https://api.example.org/v1", model);
        endpoint.price_of = Some(model.clone());
        prices.fill_prices(&mut endpoint);
        if endpoint.token_price().is_none() {
            let known = prices.models.keys().map(String::as_str);
            let hint = match prices.models.is_empty() {
                true => "there is no price\n  hint: `riddlemill prices import FILE` reads litellm's list"
                    .to_owned(),
                false => unknown(
                    "model with a price",
                    model,
                    known.filter(|name| name.contains(model.as_str())).take(10),
                ),
            };
            return Err(Failure::usage(format!("{model}: {hint}")));
        }
        endpoints.push(endpoint);
    }
    if endpoints.is_empty() {
        endpoints.push(Endpoint::new(IMAGINED, "https://api.example.org/v1", IMAGINED));
    }
    let (mut text, mut machine) = (String::new(), Vec::new());
    for endpoint in endpoints {
        let mut config = config.clone();
        config.endpoints.retain(|known| known.name != IMAGINED);
        config.endpoints.push(endpoint.clone());
        let forecasts = forecast_recipes(&config, &recipes)?;
        let name = &endpoint.model;
        let of_model = |forecast: &Forecast| imagined_costs(forecast, IMAGINED, name);
        let costs: Vec<ImaginedCost> = forecasts.iter().flat_map(of_model).collect();
        if !models.is_empty() {
            text.push_str(&format!("{name}\n"));
        }
        for forecast in &forecasts {
            if !forecast.imported {
                text.push_str(&format!("  {}\n  {NOT_IMPORTED}", forecast.recipe));
                continue;
            }
            for cost in costs.iter().filter(|cost| cost.recipe == forecast.recipe) {
                text.push_str(&format!(
                    "  {:<32} {HANG}{}, {} tokens in, at most {} out; up to {} later\n",
                    format!("{} {}", cost.recipe, cost.stage),
                    count(cost.requests as u64, "request"),
                    format_count(cost.prompt_tokens),
                    format_count(cost.max_completion_tokens),
                    format_count(cost.later_requests),
                ));
            }
        }
        let sum = |of: fn(&ImaginedCost) -> u64| costs.iter().map(of).sum::<u64>();
        let usd = |of: fn(&ImaginedCost) -> Option<Usd>| costs.iter().map(of).sum::<Option<Usd>>();
        let money = match (usd(|cost| cost.min_usd), usd(|cost| cost.max_usd)) {
            (Some(min), Some(max)) => format!("; from {min}, at most {max} to the end"),
            _ => String::new(),
        };
        text.push_str(&format!(
            "  {:<32} {HANG}{}, {} tokens in, at most {} out; up to {} later{money}\n",
            "all",
            count(sum(|cost| cost.requests as u64), "request"),
            format_count(sum(|cost| cost.prompt_tokens)),
            format_count(sum(|cost| cost.max_completion_tokens)),
            format_count(sum(|cost| cost.later_requests)),
        ));
        machine.extend(costs);
    }
    if models.is_empty() {
        text.push_str(
            "no endpoint is asked: draft.endpoint names none that pipeline.toml has, and this is what drafts would need. \
             `riddlemill estimate --model NAME` says what a model of `riddlemill prices list` costs\n",
        );
    }
    if global.json {
        output::print_json(&machine)?
    } else {
        output::print_text(&text)?
    }
    Ok(Exit::Done)
}

/// What may come later, if anything.
fn later_requests(step: &StepForecast) -> String {
    let later = &step.later;
    if later.requests == 0 {
        return String::new();
    }
    let money = later.max_usd.map_or("no price is set".into(), |usd| format!("at most {usd}"));
    let likely = match later.likely == later.requests {
        true => String::new(),
        false => format!(", probably {} at the share kept so far", format_count(later.likely)),
    };
    let (name, and) = match step.now.items {
        0 => (step.step, format!("llm.{}:", step.now.endpoint)),
        _ => ("", "and".to_string()),
    };
    format!("  {name:<14} {HANG}{and} up to {} later{likely}: {money}\n", count(later.requests, "request"))
}

/// The total of a recipe, with its assumptions.
fn total_line(forecast: &Forecast, reasks: u32) -> String {
    let (Some((min, max)), Some(all)) = (forecast.next_run_cost(), forecast.max_usd()) else {
        return format!("  {:<14} {HANG}a price is missing, so nothing is sent there\n", "all");
    };
    if all.in_picodollars() == 0 {
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
pub(super) fn missing_settings<'e>(config: &Config, estimates: impl Iterator<Item = &'e Estimate>) -> String {
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
        let needed = endpoint.needed_settings();
        if !needed.is_empty() {
            text.push_str(&format!(
                "  {:<14} {HANG}llm.{} lacks {}: nothing can be asked of it\n",
                "",
                endpoint.name,
                needed.join(" and ")
            ));
            continue;
        }
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
fn learned_costs(estimate: &Estimate) -> String {
    let Some(learned) = estimate.learned else { return String::new() };
    let likely = estimate.likely_usd.map_or(String::new(), |usd| format!(", likely {usd}"));
    let answer =
        learned.mean_answer_tokens().map_or(String::new(), |n| format!(" and {} an answer", format_count(n)));
    format!(
        "{likely} (after {}: {:.2} tokens of a prompt for each counted here{answer})",
        count(learned.prompts, "reply"),
        learned.token_ratio()
    )
}

pub(super) fn estimate_line(step: &str, endpoint: &str, estimate: &Estimate) -> String {
    let money = match (estimate.min_usd, estimate.max_usd) {
        (Some(min), Some(max)) => format!("{min} to {max}"),
        _ => "no price is set".to_string(),
    };
    let money = money + &learned_costs(estimate);
    let long = match estimate.at_least_secs {
        Some(secs) if secs >= 60 => {
            format!("; at least {} at its rates", format_time(Duration::from_secs(secs)))
        }
        _ => String::new(),
    };
    format!(
        "  {step:<14} {HANG}llm.{endpoint}: {}, {} stored, {}; {} tokens in, at most {} out: {money}{long}\n",
        count(estimate.items as u64, "item"),
        format_count(estimate.stored as u64),
        count(estimate.requests as u64, "request"),
        format_count(estimate.prompt_tokens),
        format_count(estimate.max_completion_tokens),
    )
}
