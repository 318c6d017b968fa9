//! A run from the page: a preview with costs, start, live progress, and end.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Redirect, Response};
use futures_util::{StreamExt, stream};
use serde::Serialize;
use serde_json::json;

use super::overview::{benchmarks_aside, warn_of_settings};
use crate::access::Rank;
use crate::app::{App, read_blocking};
use crate::config::{Config, sections};
use crate::error::PageError;
use crate::form::Form;
use crate::i18n::{self, Language};
use crate::pipeline::{Forecast, Freshness, forecast_recipes, plan_recipe};
use crate::recipe;
use crate::running::{RunState, Running};
use crate::view;
use crate::visitor::Visitor;

/// Shortest time between two events: a stage of a million records reports progress a thousand times a second.
const PACE: Duration = Duration::from_millis(300);

/// The stages that a run of a recipe would make.
#[derive(Serialize)]
struct Due {
    recipe: &'static str,
    about: &'static str,
    /// Consecutive stages, and why they would be made.
    stages: Vec<(Vec<&'static str>, String)>,
}

/// What a recipe's drafts would ask and cost.
#[derive(Serialize)]
struct Costs {
    recipe: &'static str,
    imported: bool,
    steps: Vec<Cost>,
    /// Least and most dollars for items that reach the drafts now; `None` without prices.
    now: Option<(f64, f64)>,
    /// Most dollars to the end.
    all: Option<f64>,
}

#[derive(Serialize)]
struct Cost {
    step: &'static str,
    endpoint: String,
    requests: u64,
    stored: u64,
    later: u64,
}

/// Whether the visitor may start runs here.
fn may_run(config: &Config, visitor: &Visitor) -> bool {
    let settings: sections::Run = config.typed_settings(None, "run");
    let needed = match settings.from_pages {
        sections::FromPages::Curator => Rank::Curator,
        sections::FromPages::Reader => Rank::Reader,
        sections::FromPages::Nobody => return false,
    };
    visitor.rank() >= Some(needed)
}

/// A preview of a run, and the current or last run.
pub(crate) async fn show_run(State(app): State<Arc<App>>, visitor: Visitor) -> Result<Response, PageError> {
    let language = visitor.language;
    let looking = app.clone();
    let ((due, warnings), may) = {
        let (config, _) = app.current_config();
        let may = may_run(&config, &visitor);
        let due = read_blocking(move || {
            let (config, _) = looking.current_config();
            let due = recipe::used_recipes(&config)
                .map(|recipe| due_stages(&config, recipe, language))
                .collect::<Result<Vec<_>, _>>()?;
            Ok::<_, PageError>((due, warn_of_settings(&config, language)))
        });
        (due.await?, may)
    };
    let state = app.runner.current_run().map(|running| running.run_state());
    view::render_page(
        &visitor,
        "run.html",
        json!({ "due": due, "may": may, "run": state, "aside": benchmarks_aside(), "warnings": warnings }),
    )
}

fn due_stages(
    config: &Config,
    recipe: &'static recipe::Recipe,
    language: Language,
) -> Result<Due, PageError> {
    let mut stages: Vec<(Vec<&'static str>, String)> = Vec::new();
    for planned in plan_recipe(config, recipe)? {
        let why = match (&planned.freshness, planned.after) {
            (Freshness::Fresh(_), None) => continue,
            (Freshness::Fresh(_), Some(after)) => {
                i18n::fill_text(language, "depends_on", &[&i18n::stage_name(language, after)])
            }
            (Freshness::Stale(_, why), _) => i18n::explain_stale(language, why),
            (Freshness::Missing, _) => {
                i18n::text_of_key(language, "not_made").unwrap_or_default().to_string()
            }
            (Freshness::Layout(layout), _) => {
                i18n::translate_sentence(language, &Freshness::of_layout(*layout).1)
            }
            (Freshness::Damaged(what), _) => {
                i18n::translate_sentence(language, what.lines().next().unwrap_or_default())
            }
        };
        match stages.last_mut() {
            Some((names, reason)) if *reason == why => names.push(planned.step),
            _ => stages.push((vec![planned.step], why)),
        }
    }
    Ok(Due { recipe: recipe.name, about: language.pick_text(recipe.about, recipe.about_zh), stages })
}

/// What the drafts would ask and cost, computed on request by rehearsing an offline run.
pub(crate) async fn show_costs(State(app): State<Arc<App>>, visitor: Visitor) -> Result<Response, PageError> {
    let costs = read_blocking(move || {
        let (config, _) = app.current_config();
        let recipes: Vec<_> = recipe::used_recipes(&config).collect();
        let costs_of = |forecast: &Forecast| Costs {
            recipe: forecast.recipe,
            imported: forecast.imported,
            now: forecast.next_run_cost().map(|(min, max)| (min.in_dollars(), max.in_dollars())),
            all: forecast.max_usd().map(|usd| usd.in_dollars()),
            steps: forecast
                .steps
                .iter()
                .map(|step| Cost {
                    step: step.step,
                    endpoint: step.now.endpoint.clone(),
                    requests: step.now.requests as u64,
                    stored: step.now.stored as u64,
                    later: step.later.requests,
                })
                .collect(),
        };
        Ok(forecast_recipes(&config, &recipes)?.iter().map(costs_of).collect::<Vec<_>>())
    })
    .await?;
    view::render_page(&visitor, "costs.html", json!({ "costs": costs }))
}

/// Starts a run, answers its question, or stops it.
pub(crate) async fn act_on_run(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    form: Form,
) -> Result<Response, PageError> {
    let (config, problem) = app.current_config();
    if !may_run(&config, &visitor) {
        return Err(PageError::forbidden());
    }
    let back = Redirect::to("/run").into_response();
    match (form.get("answer"), form.get("stop"), app.runner.current_run()) {
        ("", "", _) => {}
        (answer, "", Some(running)) => {
            running.answer_question(answer == "yes");
            return Ok(back);
        }
        (_, _, running) => {
            running.iter().for_each(|running| running.request_stop());
            return Ok(back);
        }
    }
    if let Some(problem) = problem {
        return Err(PageError::bad_request(problem));
    }
    let wanted: Vec<&str> = form.values_of("recipe").collect();
    let recipes: Vec<_> =
        recipe::used_recipes(&config).filter(|recipe| wanted.contains(&recipe.name)).collect();
    if recipes.is_empty() {
        return Err(PageError::bad_request("a run needs at least one recipe").about("recipe"));
    }
    let offline = !form.get("offline").is_empty();
    let by = visitor.name().unwrap_or("").to_string();
    match app.runner.start_run((*config).clone(), recipes, offline, &by) {
        Some(_) => Ok(back),
        None => Err(PageError::new(StatusCode::CONFLICT, "run_under_way")),
    }
}

/// The run's progress: a part of the page at every change.
pub(crate) async fn stream_events(
    State(app): State<Arc<App>>,
    visitor: Visitor,
) -> Result<Response, PageError> {
    let running = app.runner.current_run().ok_or_else(PageError::not_found)?;
    let (config, _) = app.current_config();
    let may = may_run(&config, &visitor);
    let changes = running.watch_changes();
    // The initial state, then every change, until the run is over.
    let begun = Some((running, changes, true));
    let events = stream::unfold(begun, move |state| {
        let visitor = visitor.clone();
        async move {
            let (running, mut changes, first) = state?;
            if !first {
                changes.changed().await.ok()?;
                tokio::time::sleep(PACE).await;
                // What changed during the pause is part of this event.
                changes.borrow_and_update();
            }
            let over = running.is_over();
            let event = render_event(&visitor, &running, may, over);
            Some((Ok::<Event, Infallible>(event), (!over).then_some((running, changes, false))))
        }
    });
    Ok(Sse::new(events.fuse()).keep_alive(KeepAlive::default()).into_response())
}

fn render_event(visitor: &Visitor, running: &Running, may: bool, over: bool) -> Event {
    let state: RunState = running.run_state();
    let html = view::render_html(visitor, "running.html", json!({ "run": state, "may": may }));
    Event::default().event(if over { "over" } else { "progress" }).data(html.unwrap_or_default())
}
