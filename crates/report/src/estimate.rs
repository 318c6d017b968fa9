//! The requests of drafts and of evaluations, and what they cost, before anything is sent.

use serde::{Serialize, Serializer};

use crate::llm::{Estimate, Usd};
use crate::pipeline::{Forecast, StepForecast};

/// What one stage or one task would ask one endpoint. Without a price it costs `None`.
#[derive(Clone, Debug, Serialize)]
pub struct RequestCost<'e> {
    recipe: &'e str,
    stage: &'e str,
    endpoint: &'e str,
    items: usize,
    stored: usize,
    requests: usize,
    prompt_tokens: u64,
    max_completion_tokens: u64,
    #[serde(serialize_with = "dollars")]
    min_usd: Option<Usd>,
    #[serde(serialize_with = "dollars")]
    max_usd: Option<Usd>,
    #[serde(serialize_with = "dollars")]
    likely_usd: Option<Usd>,
    prompt_tokens_share: Option<f64>,
    at_least_secs: Option<u64>,
}

/// One of the list as which the forecast of a recipe is written.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum ForecastLine<'f> {
    /// A recipe without its posts.
    NotImported { recipe: &'static str, imported: bool },
    /// What a step asks of the records that reach it now, and of those that may come later.
    Step {
        #[serde(flatten)]
        now: RequestCost<'f>,
        later_requests: u64,
        later_likely: u64,
        #[serde(serialize_with = "dollars")]
        later_max_usd: Option<Usd>,
    },
    /// A recipe as a whole.
    Recipe {
        recipe: &'static str,
        imported: bool,
        #[serde(serialize_with = "dollars")]
        now_min_usd: Option<Usd>,
        #[serde(serialize_with = "dollars")]
        now_max_usd: Option<Usd>,
        #[serde(serialize_with = "dollars")]
        max_usd: Option<Usd>,
    },
}

/// What a step would ask a model that nobody has set up.
#[derive(Clone, Debug, Serialize)]
pub struct ImaginedCost {
    pub model: String,
    pub recipe: &'static str,
    pub stage: &'static str,
    pub requests: usize,
    pub prompt_tokens: u64,
    pub max_completion_tokens: u64,
    pub later_requests: u64,
    #[serde(serialize_with = "dollars")]
    pub min_usd: Option<Usd>,
    /// With all that may come later.
    #[serde(serialize_with = "dollars")]
    pub max_usd: Option<Usd>,
}

fn dollars<S: Serializer>(usd: &Option<Usd>, serializer: S) -> Result<S::Ok, S::Error> {
    usd.map(|usd| usd.in_dollars()).serialize(serializer)
}

impl<'e> RequestCost<'e> {
    /// The cost of one stage of a recipe, or of one task of a set.
    pub fn new(recipe: &'e str, stage: &'e str, estimate: &'e Estimate) -> RequestCost<'e> {
        RequestCost {
            recipe,
            stage,
            endpoint: &estimate.endpoint,
            items: estimate.items,
            stored: estimate.stored,
            requests: estimate.requests,
            prompt_tokens: estimate.prompt_tokens,
            max_completion_tokens: estimate.max_completion_tokens,
            min_usd: estimate.min_usd,
            max_usd: estimate.max_usd,
            likely_usd: estimate.likely_usd,
            prompt_tokens_share: estimate.learned.map(|learned| learned.token_ratio()),
            at_least_secs: estimate.at_least_secs,
        }
    }
}

/// The forecasts of recipes as they are written: the steps of each, and it as a whole.
pub fn forecast_lines(forecasts: &[Forecast]) -> Vec<ForecastLine<'_>> {
    let mut lines = Vec::new();
    for forecast in forecasts {
        let Forecast { recipe, ref steps, imported } = *forecast;
        if !imported {
            lines.push(ForecastLine::NotImported { recipe, imported });
            continue;
        }
        lines.extend(steps.iter().map(|step| ForecastLine::Step {
            now: RequestCost::new(recipe, step.step, &step.now),
            later_requests: step.later.requests,
            later_likely: step.later.likely,
            later_max_usd: step.later.max_usd,
        }));
        lines.push(ForecastLine::Recipe {
            recipe,
            imported,
            now_min_usd: forecast.next_run_cost().map(|(min, _)| min),
            now_max_usd: forecast.next_run_cost().map(|(_, max)| max),
            max_usd: forecast.max_usd(),
        });
    }
    lines
}

/// What the steps of a recipe would ask the endpoint of an imagined model.
pub fn imagined_costs(forecast: &Forecast, endpoint: &str, model: &str) -> Vec<ImaginedCost> {
    let asks = |step: &&StepForecast| {
        step.now.endpoint == endpoint && (step.now.requests > 0 || step.later.requests > 0)
    };
    let cost = |step: &StepForecast| ImaginedCost {
        model: model.to_owned(),
        recipe: forecast.recipe,
        stage: step.step,
        requests: step.now.requests,
        prompt_tokens: step.now.prompt_tokens,
        max_completion_tokens: step.now.max_completion_tokens,
        later_requests: step.later.requests,
        min_usd: step.now.min_usd,
        max_usd: step.now.max_usd.zip(step.later.max_usd).map(|(now, later)| now + later),
    };
    forecast.steps.iter().filter(asks).map(cost).collect()
}
