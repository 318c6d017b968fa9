//! Every recipe at a glance: its funnel, what is stale, who is waited for, and the spending.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use serde::Serialize;

use super::causes::{self, CauseLine};
use crate::config::Config;
use crate::pipeline::{self, Cause, Freshness, Planned, plan};
use crate::recipe::{self, Recipe};
use crate::record::State as Left;
use crate::stages::draft;
use crate::store::Manifest;
use crate::web::app::{App, reading};
use crate::web::error::PageError;
use crate::web::i18n::{self, Language};
use crate::web::view;
use crate::web::visitor::Visitor;

#[derive(Serialize)]
struct Overview {
    recipes: Vec<Funnel>,
    spent: Vec<Spent>,
    /// The errors in pipeline.toml.
    problem: Option<String>,
}

#[derive(Serialize)]
struct Funnel {
    recipe: &'static str,
    about: &'static str,
    read: u64,
    out: u64,
    waiting: u64,
    stale: usize,
    made: usize,
    steps: Vec<Step>,
}

#[derive(Serialize)]
struct Step {
    stage: &'static str,
    /// `fresh`, `stale`, `depends`, `missing` or `damaged`.
    freshness: &'static str,
    why: String,
    records_in: u64,
    records_out: u64,
    /// The share of imported records that remains, in thousandths.
    left: u64,
    /// Records by state, without those that went on.
    gone: Vec<(String, u64)>,
    held: u64,
    /// What keeps records back, grouped by cause.
    causes: Vec<CauseLine>,
    /// Whether causes are loaded after the page.
    causes_later: bool,
    compares: bool,
}

#[derive(Serialize)]
struct Spent {
    budget: String,
    dollars: f64,
    attempts: u64,
}

pub(in crate::web) async fn page(
    State(app): State<Arc<App>>,
    visitor: Visitor,
) -> Result<Response, PageError> {
    let language = visitor.language;
    let overview = reading(move || {
        let (config, problem) = app.config();
        let recipes: Vec<Funnel> = recipe::used(&config)
            .map(|recipe| funnel(&config, recipe, language))
            .collect::<Result<_, _>>()?;
        Ok(Overview { recipes, spent: spent(&app, &config)?, problem })
    })
    .await?;
    view::page(&visitor, "overview.html", overview)
}

fn funnel(config: &Config, recipe: &'static Recipe, language: Language) -> Result<Funnel, PageError> {
    let planned = plan(config, recipe)?;
    let read = planned.first().and_then(Planned::manifest).map_or(0, |m| m.counts.records_in);
    let made: Vec<Manifest> = planned.iter().filter_map(|step| step.manifest().cloned()).collect();
    let few: Vec<Manifest> = made.into_iter().filter(causes::come_at_once).collect();
    let causes = pipeline::causes(config, recipe, &few)?;
    let steps: Vec<Step> = planned.iter().map(|planned| step(planned, read, &causes, language)).collect();
    Ok(Funnel {
        recipe: recipe.name,
        about: language.pick(recipe.about, recipe.about_zh),
        read,
        out: planned.last().and_then(Planned::manifest).map_or(0, |m| m.counts.records_out),
        waiting: steps.iter().map(|step| step.held).sum(),
        stale: steps.iter().filter(|step| step.freshness == "stale" || step.freshness == "damaged").count(),
        made: steps.iter().filter(|step| step.freshness != "missing").count(),
        steps,
    })
}

fn step(planned: &Planned, read: u64, causes: &[Cause], language: Language) -> Step {
    let (freshness, why) = match (&planned.freshness, planned.after) {
        (Freshness::Fresh(_), None) => ("fresh", String::new()),
        (Freshness::Fresh(_), Some(after)) => ("depends", after.to_string()),
        (Freshness::Stale(_, why), _) => ("stale", i18n::stale(language, why)),
        (Freshness::Missing, _) => ("missing", String::new()),
        (Freshness::Layout(layout), _) => {
            ("stale", i18n::sentence(language, &Freshness::of_layout(*layout).1))
        }
        (Freshness::Damaged(what), _) => ("damaged", what.lines().next().unwrap_or_default().to_string()),
    };
    let counts = planned.manifest().map(|m| m.counts.clone()).unwrap_or_default();
    let goes_on = |state: &str| matches!(state, "kept" | "changed" | "expanded" | "joined");
    Step {
        stage: planned.step,
        freshness,
        why,
        records_in: counts.records_in,
        records_out: counts.records_out,
        // Records may be expanded into more than were imported.
        left: (counts.records_out.min(read) * 1000).checked_div(read).unwrap_or(0),
        held: counts.state(Left::Held),
        gone: counts.states.into_iter().filter(|(state, n)| !goes_on(state) && *n > 0).collect(),
        causes: causes
            .iter()
            .filter(|cause| cause.stage == planned.step)
            .map(|cause| CauseLine::new(language, cause))
            .collect(),
        causes_later: planned.manifest().is_some_and(|made| !causes::come_at_once(made)),
        compares: planned.manifest().is_some_and(|m| m.tables.contains_key("pairs")),
    }
}

/// The reply store's charges; empty if no model was ever asked. Does not create a store.
fn spent(app: &App, config: &Config) -> Result<Vec<Spent>, PageError> {
    if !app.workspace.raw().join("replies").exists() {
        return Ok(Vec::new());
    }
    let stats = draft::open_store(config)?.stats().map_err(PageError::broken)?;
    let budget = |(budget, usd, attempts): (String, crate::llm::Usd, u64)| Spent {
        budget,
        dollars: usd.dollars(),
        attempts,
    };
    Ok(stats.budgets.into_iter().map(budget).collect())
}
