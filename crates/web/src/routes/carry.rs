//! Votes on texts that have changed: old and new text side by side, to confirm that the answers still apply.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use serde::Serialize;

use super::decide::{DecisionDesk, decision_desk, find_decider};
use super::review::find_ballot;
use crate::app::{App, find_recipe, read_blocking};
use crate::error::PageError;
use crate::form::Form;
use crate::pipeline::current_time;
use crate::recipe::Recipe;
use crate::review::carry::{SeenLog, carry_votes, find_carryable, take_back, vote_line};
use crate::review::votes::Carried;
use crate::review::{Item, Vote};
use crate::view;
use crate::visitor::Visitor;
use crate::voting::CastResult;

/// Items per page; confirmed ones make room for the next.
const SHOWN: usize = 50;
/// Most characters of a reason.
const WHY_CHARS: usize = 500;

#[derive(Serialize)]
struct CarryPage {
    recipe: &'static str,
    step: String,
    items: Vec<CarryItem>,
    /// All that are outdated.
    found: usize,
    /// Outdated votes on a text that was not kept.
    unknown: usize,
    /// Items whose votes were carried over, with their answers.
    carried: Vec<(String, Vec<String>)>,
    desk: DecisionDesk,
}

/// An item whose votes refer to another text.
#[derive(Serialize)]
struct CarryItem {
    id: String,
    /// Identifies the votes and the text shown.
    old: String,
    new: String,
    /// Field, old and new.
    changes: Vec<(String, String, String)>,
    votes: Vec<String>,
}

/// Every item of a step whose text changed after people voted.
pub(crate) async fn show_carryable(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path((name, step)): Path<(String, String)>,
) -> Result<Response, PageError> {
    let recipe = find_recipe(&name)?;
    let who = visitor.clone();
    let found = read_blocking(move || carry_page(&app, recipe, step, &who)).await?;
    view::render_page(&visitor, "carry.html", found)
}

fn carry_page(
    app: &App,
    recipe: &'static Recipe,
    name: String,
    visitor: &Visitor,
) -> Result<CarryPage, PageError> {
    let (config, _) = app.current_config();
    let ballot = find_ballot(app, &config, recipe, &name)?;
    let vote_index = app.desk.current_votes().map_err(PageError::internal_error)?;
    let votes = vote_index.by_item(recipe.name, ballot.step.name);
    let seen =
        SeenLog::read_folder(&app.workspace.raw_folder().join("seen")).map_err(PageError::internal_error)?;
    let found = find_carryable(&ballot.step, &ballot.items, &votes, &seen);
    let shown = found.items.iter().take(SHOWN).map(|one| CarryItem {
        id: one.item.id.clone(),
        old: one.shown_votes().to_string(),
        new: one.item.content_hash.to_string(),
        changes: one.changed_fields(),
        votes: one.vote_lines(),
    });
    // Only shows which votes could be taken back; none of these is stored.
    let nobody = Carried { by: String::new(), why: String::new() };
    let back = |item: &Item| -> Option<(String, Vec<String>)> {
        let on_it = votes.get(item.id.as_str())?;
        let back = take_back(&ballot.step, item, on_it, &nobody, "", "");
        (!back.is_empty()).then(|| (item.id.clone(), back.iter().map(vote_line).collect()))
    };
    Ok(CarryPage {
        recipe: recipe.name,
        items: shown.collect(),
        found: found.items.len(),
        unknown: found.unknown,
        carried: ballot.items.iter().filter_map(back).take(SHOWN).collect(),
        desk: decision_desk(&config, visitor)?,
        step: name,
    })
}

/// Confirms that the answers apply to the current text, or reverts that.
pub(crate) async fn submit_carry(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path((name, step)): Path<(String, String)>,
    form: Form,
) -> Result<Response, PageError> {
    let recipe = find_recipe(&name)?;
    let back = format!("/curate/{}/{}/carry", recipe.name, view::encode_segment(&step));
    let desk = app.clone();
    let votes = read_blocking(move || new_votes(&desk, recipe, &step, &visitor, &form)).await?;
    for vote in votes {
        match app.desk.cast_vote(vote).await {
            CastResult::Saved(_) => {}
            CastResult::Overtaken(_) => return Err(content_changed()),
            CastResult::Failed(why) => return Err(PageError::internal_error(why)),
        }
    }
    Ok(Redirect::to(&back).into_response())
}

fn new_votes(
    app: &App,
    recipe: &'static Recipe,
    name: &str,
    visitor: &Visitor,
    form: &Form,
) -> Result<Vec<Vote>, PageError> {
    let (config, _) = app.current_config();
    let why = form.text_within("why", WHY_CHARS)?;
    if why.is_empty() {
        return Err(carry_refused("carrying votes over needs a reason"));
    }
    let by = Carried { by: find_decider(&config, visitor, form)?, why };
    let ballot = find_ballot(app, &config, recipe, name)?;
    let vote_index = app.desk.current_votes().map_err(PageError::internal_error)?;
    let votes = vote_index.by_item(recipe.name, ballot.step.name);
    let item = ballot.find_item(form.get("item")).ok_or_else(content_changed)?;
    let on_it = votes.get(item.id.as_str()).map(Vec::as_slice).unwrap_or_default();
    if !form.get("undo").is_empty() {
        return Ok(take_back(&ballot.step, item, on_it, &by, &current_time(), "page"));
    }
    let seen =
        SeenLog::read_folder(&app.workspace.raw_folder().join("seen")).map_err(PageError::internal_error)?;
    let found = find_carryable(&ballot.step, std::slice::from_ref(item), &votes, &seen);
    let one = found.items.iter().find(|one| {
        one.shown_votes().to_string() == form.get("old") && item.content_hash.to_string() == form.get("new")
    });
    let one = one.ok_or_else(content_changed)?;
    carry_votes(&ballot.step, one, on_it, &by, &current_time(), "page").map_err(carry_refused)
}

/// The confirmed content has changed meanwhile.
fn content_changed() -> PageError {
    PageError::new(StatusCode::CONFLICT, "item_changed")
}

fn carry_refused(why: impl std::fmt::Display) -> PageError {
    PageError::new(StatusCode::UNPROCESSABLE_ENTITY, "not_decided").with_detail(why)
}
