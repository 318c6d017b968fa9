//! The requests and cost of a recipe's drafts, from its current state to its end: a range whose upper bound
//! is never below the actual spending.
//!
//! An offline run is made in a rehearsal, so that stale stages count with their future output. Requests of
//! records that then reach a draft are counted one by one. Records that wait before it may still come, at
//! most all of them.

use super::evidence::RunContext;
use super::rehearsal::Rehearsal;
use super::rows::{draft_demands, most_items};
use super::{RunError, Selection, draft_requests};
use crate::config::{Config, sections};
use crate::recipe::{Recipe, Step};
use crate::stages::{StageRows, draft, same_joke};
use riddlemill_llm::parse::Unreadable;
use riddlemill_llm::{Ask, Endpoint, Estimate, Prompts, Reading, Usd, at_most, estimate_stage};
use riddlemill_record::{Reason, State};
use riddlemill_tables::{Manifest, StageReader, Workspace, json_parts};
use riddlemill_text::text::group_digits;

/// Most texts of people and models in a prompt, in addition to the imported one.
const TEXTS: u64 = 8;
/// Generous bound on what chat templates add around a prompt's messages.
const OVERHEAD: u64 = 64;
/// Most tokens of a schema sent with a prompt, including what a server adds to it.
const SCHEMA: u64 = 4096;

/// The forecast for a recipe.
#[derive(Clone, Debug)]
pub struct Forecast {
    pub recipe: &'static str,
    /// Its drafts, in order; empty before the import.
    pub steps: Vec<StepForecast>,
    /// Whether its dumps have been imported: before, the number of records is unknown.
    pub imported: bool,
}

/// The forecast for one draft and endpoint.
#[derive(Clone, Debug)]
pub struct StepForecast {
    pub step: &'static str,
    /// For records that reach it now.
    pub now: Estimate,
    /// For records that wait before it.
    pub later: LaterRequests,
}

/// Requests for records that wait for something else first.
#[derive(Clone, Copy, Debug, Default)]
pub struct LaterRequests {
    /// Requests, if all of them come.
    pub requests: u64,
    /// Requests, if reviews let through the same share as so far.
    pub likely: u64,
    /// The most that all of them cost; `None` if the endpoint has no price.
    pub max_usd: Option<Usd>,
}

impl Forecast {
    /// The least and most that the next run pays for records that reach its drafts now; `None` if a price is
    /// missing.
    pub fn next_run_cost(&self) -> Option<(Usd, Usd)> {
        self.steps.iter().try_fold((Usd::ZERO, Usd::ZERO), |(min, max), step| {
            Some((min + step.now.min_usd?, max + step.now.max_usd?))
        })
    }

    /// The most it costs to the end.
    pub fn max_usd(&self) -> Option<Usd> {
        let more = self.steps.iter().map(|step| step.later.max_usd).sum::<Option<Usd>>()?;
        Some(self.next_run_cost()?.1 + more)
    }
}

/// Forecasts recipes, each based on the output of the ones before it.
///
/// # Errors
/// [`RunError`] if an offline run could not make their stages, or prompts and replies cannot be read.
pub fn forecast_recipes(config: &Config, recipes: &[&'static Recipe]) -> Result<Vec<Forecast>, RunError> {
    let unknown =
        |recipe: &'static Recipe| Forecast { recipe: recipe.name, steps: Vec::new(), imported: false };
    let imported = |recipe: &'static Recipe| -> Result<bool, RunError> {
        let origin = recipe.origin_recipe();
        let import = Workspace::new(&config.root).stage_folder(origin.name, 1, origin.steps()[0].name);
        Ok(import.exists())
    };
    let mut rehearsal: Option<Rehearsal> = None;
    let mut made: Vec<&'static str> = Vec::new();
    let mut forecasts = Vec::new();
    for &recipe in recipes {
        if !imported(recipe)? {
            forecasts.push(unknown(recipe));
            continue;
        }
        if rehearsal.is_none() {
            rehearsal = Some(Rehearsal::new(config)?);
        }
        let Some(rehearsal) = &rehearsal else { continue };
        // A recipe that continues another one reads that one's stages, so these are made first.
        for recipe in [recipe.origin_recipe(), recipe] {
            if !made.contains(&recipe.name) {
                rehearsal.run_offline(recipe)?;
                made.push(recipe.name);
            }
        }
        let (_, steps) = walk_recipe(&rehearsal.config, recipe, None)?;
        forecasts.push(Forecast { recipe: recipe.name, steps, imported: true });
    }
    Ok(forecasts)
}

/// The most that the rest of a run would cost, as text, in addition to requests named already: of the
/// remaining recipes, the steps that the run makes. `None` if nothing more is known.
pub fn remaining_cost(
    config: &Config,
    recipes: &[&'static Recipe],
    selection: &Selection,
    requests: usize,
) -> Option<String> {
    let mut forecasts = forecast_recipes(config, recipes).ok()?;
    for (forecast, recipe) in forecasts.iter_mut().zip(recipes) {
        let made = selection.step_range(recipe).ok()?;
        let is_made = |name| recipe.place_of(name).is_some_and(|place| made.contains(&place));
        forecast.steps.retain(|step| is_made(step.step));
    }
    let steps = || forecasts.iter().flat_map(|forecast| &forecast.steps);
    let all: u64 = steps().map(|step| step.now.requests as u64 + step.later.requests).sum();
    let unknown = forecasts.iter().any(|forecast| !forecast.imported);
    let max = forecasts.iter().map(Forecast::max_usd).sum::<Option<Usd>>();
    let noun = if all == 1 { "request" } else { "requests" };
    let more =
        format!("up to {} {noun} until this run ends", group_digits(i64::try_from(all).unwrap_or(i64::MAX)));
    match max.filter(|_| !unknown) {
        _ if all <= requests as u64 => None,
        Some(max) => Some(format!("at most {} for {more}", max.in_cents())),
        None => Some(format!("and {more}, some without a price or of dumps that were not read yet")),
    }
}

/// Records that have not reached a step yet: all, and the share expected from reviews so far.
#[derive(Clone, Copy, Debug, Default)]
struct WaitingRecords {
    all: u64,
    likely: f64,
}

/// Walks through a recipe, to its end or to one of its steps.
fn walk_recipe(
    config: &Config,
    recipe: &'static Recipe,
    to: Option<&str>,
) -> Result<(WaitingRecords, Vec<StepForecast>), RunError> {
    let workspace = Workspace::new(&config.root);
    let prompts = draft::load_prompts(config)?;
    let context = RunContext::new(config, recipe);
    let mut waiting = WaitingRecords::default();
    let mut steps = Vec::new();
    for (at, step) in recipe.steps().iter().enumerate() {
        if let Some(foreign) = step.inputs.iter().find(|input| input.contains('/')) {
            // Records that wait in the other recipe enter where its rows do.
            if at == 0
                && let Some((from, _, before)) = recipe.find_input(foreign)
            {
                waiting = walk_recipe(config, from, Some(before.name))?.0;
            }
        }
        let asks = if to.is_none() { draft_requests(config, recipe, step)?.flatten() } else { None };
        for (endpoint, asks) in asks.into_iter().flatten() {
            steps.push(of_step(config, &prompts, recipe, step, &endpoint, &asks, waiting)?);
        }
        if let Some(made) =
            Manifest::read_from_stage(&workspace.stage_folder(recipe.name, step.number, step.name))?
        {
            waiting = waiting_after_step(&context, step, &made, waiting)?;
        }
        if to == Some(step.name) {
            break;
        }
    }
    Ok((waiting, steps))
}

/// Records still waiting after a step, once those before it have been processed.
fn waiting_after_step(
    context: &RunContext<'_>,
    step: &Step,
    made: &Manifest,
    waiting: WaitingRecords,
) -> Result<WaitingRecords, RunError> {
    let counts = &made.counts;
    let mut here = counts.records_in_state(State::Held);
    if step.stage.declared_draft().is_some() {
        // Failed requests may be answered another time; records without a draft may get one.
        let undrafted = [Reason::NotDrafted, Reason::Undraftable].map(|reason| {
            let key = format!("{}/{}", State::Changed.code(), reason.code());
            counts.reasons.get(&key).copied().unwrap_or(0)
        });
        here += counts.records_in_state(State::Failed) + undrafted.iter().sum::<u64>();
    }
    let on = counts.records_in_state(State::Kept) + counts.records_in_state(State::Changed);
    let decided = on + counts.records_in_state(State::Dropped);
    let share = if decided > 0 { on as f64 / decided as f64 } else { 1.0 };
    let each = step.stage.count_children(&context.step_context(step), made)?;
    Ok(WaitingRecords {
        all: (waiting.all + here) * each,
        likely: (waiting.likely + here as f64) * share * each as f64,
    })
}

fn of_step(
    config: &Config,
    prompts: &Prompts,
    recipe: &'static Recipe,
    step: &'static Step,
    endpoint: &Endpoint,
    asks: &[Ask],
    waiting: WaitingRecords,
) -> Result<StepForecast, RunError> {
    let settings: sections::Draft = config.typed_settings(Some(recipe.name), "draft");
    let store = draft::open_store(config)?;
    if step.stage.is_pair_judge() {
        let read =
            |_: &Ask, reply: &str| -> Result<(), Unreadable> { same_joke::parse_judgement(reply).map(drop) };
        let reading = Reading { read: &read, max_reasks: settings.max_reasks };
        let now = estimate_stage(&store, endpoint, step.name, asks, Some(&reading)).map_err(stage_error)?;
        // A future post is assumed to be in no more pairs than any of the existing ones.
        let each = same_joke::most_of_one(asks);
        let requests = if draft::may_answer_later(endpoint) { waiting.all * each } else { 0 };
        let max_usd = match (endpoint.token_price(), requests) {
            (_, 0) => Some(Usd::ZERO),
            (None, _) => None,
            (Some(price), _) => {
                let template = prompts.prompt_source(same_joke::PROMPT).map_or(0, str::len) as u64;
                let prompt = template + 4 * longest_text(config, recipe)? + OVERHEAD + SCHEMA;
                let ceiling = endpoint.larger_token_limit().map(u64::from);
                let tokens = endpoint.sampling.max_tokens.into();
                Some(multiply_cost(at_most(price, prompt, tokens, ceiling, settings.max_reasks), requests))
            }
        };
        let likely = ((waiting.likely * each as f64).ceil() as u64).min(requests);
        return Ok(StepForecast { step: step.name, now, later: LaterRequests { requests, likely, max_usd } });
    }
    let Some(kind) = step.stage.declared_draft() else {
        // A text is embedded unchanged, and never re-asked.
        let now = estimate_stage(&store, endpoint, step.name, asks, None).map_err(stage_error)?;
        let max_usd = endpoint.token_price().map(|price| {
            let one = at_most(price, longest_text(config, recipe).unwrap_or(0) + OVERHEAD, 0, None, 0);
            multiply_cost(one, waiting.all)
        });
        let later = LaterRequests { requests: waiting.all, likely: waiting.likely.ceil() as u64, max_usd };
        return Ok(StepForecast { step: step.name, now, later });
    };
    let demands = draft_demands(config, recipe, step, kind)?;
    let read =
        |ask: &Ask, reply: &str| -> Result<(), Unreadable> { demands.read_reply(ask, reply).map(drop) };
    let reading = Reading { read: &read, max_reasks: settings.max_reasks };
    let now = estimate_stage(&store, endpoint, step.name, asks, Some(&reading)).map_err(stage_error)?;
    let endpoints = draft::endpoints_of_draft(kind, config, recipe.name)?;
    let slots = draft::slots_of_draft(kind, config, recipe.name, &endpoints)?;
    let slots = slots.iter().filter(|slot| endpoints[slot.endpoint].name == endpoint.name).count() as u64;
    // Future records are assumed to have lists no longer than the existing ones.
    let each = slots * most_items(&Workspace::new(&config.root), recipe, step, kind)?;
    let requests = if draft::may_answer_later(endpoint) { waiting.all * each } else { 0 };
    let likely = (waiting.likely * each as f64).ceil() as u64;
    let mut max_usd = endpoint
        .token_price()
        .map(|_| Usd::ZERO)
        .or_else(|| (!draft::may_answer_later(endpoint)).then_some(Usd::ZERO));
    if let (Some(price), 1..) = (endpoint.token_price(), requests) {
        let templates = kind.templates().iter().filter_map(|name| prompts.prompt_source(name).ok());
        let template = templates.map(str::len).max().unwrap_or(0) as u64;
        let max_tokens = |endpoint: &Endpoint| {
            u64::from(endpoint.larger_token_limit().unwrap_or(endpoint.sampling.max_tokens))
        };
        // Earlier replies become texts of later prompts, whichever endpoint wrote them.
        let replies = config.endpoints.iter().map(max_tokens).max();
        let prompt = template + 2 * longest_text(config, recipe)? + TEXTS * replies.unwrap_or(0) + OVERHEAD;
        let completion = endpoint.sampling.max_tokens.into();
        let ceiling = endpoint.larger_token_limit().map(u64::from);
        let schema = if endpoint.structured { SCHEMA } else { 0 };
        let one = at_most(price, prompt + schema, completion, ceiling, settings.max_reasks);
        max_usd = Some(multiply_cost(one, requests));
    }
    let later = LaterRequests { requests, likely: likely.min(requests), max_usd };
    Ok(StepForecast { step: step.name, now, later })
}

fn multiply_cost(cost: Usd, n: u64) -> Usd {
    // An upper bound may be too high, but an overflow must not turn it into a small number.
    Usd::from_pico(cost.in_picodollars().saturating_mul(i64::try_from(n).unwrap_or(i64::MAX)))
}

fn stage_error(error: riddlemill_llm::store::StoreError) -> RunError {
    RunError::Stage(error.into())
}

/// Bytes of the longest text of a recipe's records, after its first rules.
fn longest_text(config: &Config, recipe: &'static Recipe) -> Result<u64, RunError> {
    let origin = recipe.origin_recipe();
    let workspace = Workspace::new(&config.root);
    let mut longest = 0;
    for step in origin.steps() {
        let columns: &'static [&'static str] = match step.stage.rows() {
            _ if step.stage.is_import() => continue,
            StageRows::Posts => &["text"],
            rows @ StageRows::Kind(_) if rows.has_column("question") && !rows.has_column("text") => {
                &["question", "answer"]
            }
            _ => break,
        };
        let Some(stage) = StageReader::open(&workspace.stage_folder(origin.name, step.number, step.name))?
        else {
            continue;
        };
        for part in json_parts(&stage, "rows", columns) {
            let bytes = |row: &serde_json::Map<String, serde_json::Value>| {
                row.values().filter_map(|value| value.as_str()).map(str::len).sum::<usize>()
            };
            longest = longest.max(part?.iter().map(bytes).max().unwrap_or(0) as u64);
        }
        // Later rules only shorten or drop texts.
        break;
    }
    Ok(longest)
}
