//! The curator's page: how far everybody is, how far they agree, what is stale, who gets what, and the
//! votes to take away.

use std::sync::{Arc, PoisonError};

use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse, Redirect, Response};
use rustc_hash::FxHashMap;
use serde::Serialize;
use serde_json::json;

use super::review::ballot;
use crate::config::Config;
use crate::pipeline::Tasks;
use crate::recipe::{self, Recipe};
use crate::review::agreement::{self, Bootstrap, Estimate};
use crate::review::ballot::{Qualification, Round};
use crate::review::qualify::{FEWEST, trials};
use crate::review::{
    AssignSettings, Item, Outcome, Pending, Resolution, Task, Values, Vote, assign, resolve_all, status,
};
use crate::web::app::{App, reading, recipe};
use crate::web::desk::{Ballot, Note, Skip, standing};
use crate::web::error::Oops;
use crate::web::guard::{Form, Visitor};
use crate::web::view;

#[derive(Serialize)]
struct Curated {
    recipe: &'static str,
    step: &'static str,
    paper: &'static str,
    items: usize,
    confirmed: usize,
    waiting: usize,
    disputed: usize,
    stale: usize,
    /// Open items that lack somebody to vote on them.
    unassigned: usize,
    people: Vec<Person>,
    agreement: Vec<Agreed>,
    /// The last items that were passed over.
    passed: Vec<Skip>,
    /// What people remarked on their votes, the last first.
    notes: Vec<Note>,
}

#[derive(Serialize)]
struct Person {
    name: String,
    assigned: usize,
    done: usize,
    votes: usize,
    stale: usize,
    seconds: Option<f64>,
    /// Items with a known answer: right, of.
    gold: Option<(usize, usize)>,
    share: usize,
}

#[derive(Serialize)]
struct Agreed {
    field: String,
    items: usize,
    percent: Option<[f64; 3]>,
    alpha: Option<[f64; 3]>,
}

/// Every step that people vote on.
pub(in crate::web) async fn page(State(app): State<Arc<App>>, visitor: Visitor) -> Result<Response, Oops> {
    let steps = reading(move || {
        let (config, _) = app.config();
        let mut steps = Vec::new();
        for recipe in recipe::used(&config) {
            for review in recipe.reviews() {
                if let Some(ballot) = app.ballots.open(&config, recipe, review.place().1)? {
                    steps.push(curated(&app, recipe, &ballot)?);
                }
            }
        }
        Ok(steps)
    })
    .await?;
    view::page(&visitor, "curate.html", json!({ "steps": steps }))
}

fn curated(app: &App, recipe: &'static Recipe, ballot: &Ballot) -> Result<Curated, Oops> {
    let Ballot { step, items, .. } = ballot;
    let board = app.desk.board().map_err(Oops::broken)?;
    let votes = board.by_item(recipe.name, step.name);
    let resolved = resolve_all(step, items, &votes);
    let given = app.desk.given(recipe.name, step.name)?;
    let tasks = given.tasks();
    let status = status(items, &resolved, &votes, tasks.all());
    let gold = gold(ballot, &resolved, tasks, &votes);
    let person = |(name, p): (&String, &crate::review::status::Progress)| Person {
        name: name.clone(),
        assigned: p.assigned,
        done: p.done,
        votes: p.votes,
        stale: p.stale,
        seconds: p.median_seconds,
        gold: gold.get(name).copied(),
        share: (p.done * 1000).checked_div(p.assigned).unwrap_or(0),
    };
    let three = |e: &Option<Estimate>| e.as_ref().map(|e| [e.value, e.low, e.high]);
    // Only people are curated: a sample's voters are nobody here.
    let told = agreement::agreed(step, items, &votes, Bootstrap::AGREEMENT);
    Ok(Curated {
        recipe: recipe.name,
        step: step.name,
        paper: step.paper,
        items: status.items,
        confirmed: status.confirmed,
        waiting: status.waiting.values().map(|(items, _)| items).sum(),
        disputed: status.disputed,
        stale: status.stale,
        unassigned: unassigned(ballot, &resolved, tasks, Round::Vote).len(),
        people: status.annotators.iter().map(person).collect(),
        agreement: told
            .fields
            .iter()
            .filter(|field| !told.sample && field.items > 0)
            .map(|field| Agreed {
                field: field.field.clone(),
                items: field.items,
                percent: three(&field.percent),
                alpha: three(&field.alpha),
            })
            .collect(),
        notes: standing(&app.desk.notes(recipe.name, step.name)?).into_iter().take(50).cloned().collect(),
        passed: app.desk.skips(recipe.name, step.name)?.iter().rev().take(20).cloned().collect(),
    })
}

/// How many gold items each annotator got right: items that were given out as gold and are decided.
fn gold(
    ballot: &Ballot,
    resolved: &[Resolution],
    tasks: &Tasks,
    votes: &FxHashMap<&str, Vec<&Vote>>,
) -> FxHashMap<String, (usize, usize)> {
    let given: Vec<&str> = tasks.all().iter().filter(|t| t.gold).map(|t| t.item.as_str()).collect();
    let known: Vec<(&Item, &Values)> = ballot
        .items
        .iter()
        .zip(resolved)
        .filter(|(item, _)| given.contains(&item.id.as_str()))
        .filter_map(|(item, resolution)| match &resolution.outcome {
            Outcome::Confirmed { values, .. } => Some((item, values)),
            _ => None,
        })
        .collect();
    let cast: Vec<&Vote> = known
        .iter()
        .flat_map(|(item, _)| votes.get(item.id.as_str()).into_iter().flatten().copied())
        .collect();
    let shares = ballot.step.qualification.unwrap_or(Qualification { formal: 0.8, senior: 0.95 });
    let trials = trials(&ballot.step, &known, &cast, shares, FEWEST);
    trials.into_iter().map(|trial| (trial.annotator, (trial.right, trial.of))).collect()
}

/// Items that wait for votes of a round and have fewer tasks than they need.
fn unassigned<'b>(ballot: &'b Ballot, resolved: &[Resolution], tasks: &Tasks, round: Round) -> Vec<&'b str> {
    let mut given: FxHashMap<&str, usize> = FxHashMap::default();
    for task in tasks.current(round) {
        *given.entry(task.item.as_str()).or_default() += 1;
    }
    let waits = |resolution: &Resolution| matches!(resolution.pending(), Some(Pending::Waiting { round: r, .. }) if *r == round);
    let short =
        |item: &&Item| given.get(item.id.as_str()).copied().unwrap_or(0) < ballot.step.votes_in(round);
    let open = ballot.items.iter().zip(resolved).filter(|(_, resolution)| waits(resolution));
    open.map(|(item, _)| item).filter(short).map(|item| item.id.as_str()).collect()
}

/// Spreads the open items of a step over the annotators.
pub(in crate::web) async fn spread(
    State(app): State<Arc<App>>,
    Path((name, step)): Path<(String, String)>,
    form: Form,
) -> Result<Response, Oops> {
    let recipe = recipe(&name)?;
    let round = Round::from_name(form.get("round")).unwrap_or_default();
    let overlap = form.get("overlap").parse().unwrap_or(0.0_f64) / 100.0;
    if !(0.0..=1.0).contains(&overlap) {
        return Err(Oops::bad("the overlap is a share of 0 to 100 %"));
    }
    reading(move || {
        let (config, _) = app.config();
        let ballot = ballot(&app, &config, recipe, &step)?;
        give(&app, &config, recipe, &ballot, round, overlap)
    })
    .await?;
    Ok(Redirect::to("/curate").into_response())
}

fn give(
    app: &App,
    config: &Config,
    recipe: &'static Recipe,
    ballot: &Ballot,
    round: Round,
    overlap: f64,
) -> Result<Vec<Task>, Oops> {
    // Whoever presses twice finds the second time that all is given.
    let _alone = app.assigning.lock().unwrap_or_else(PoisonError::into_inner);
    let board = app.desk.board().map_err(Oops::broken)?;
    let votes = board.by_item(recipe.name, ballot.step.name);
    let resolved = resolve_all(&ballot.step, &ballot.items, &votes);
    let tasks = Tasks::open(&app.workspace, recipe.name, ballot.step.name)?;
    let open = unassigned(ballot, &resolved, &tasks, round);
    let settings = AssignSettings { round, overlap, ..AssignSettings::default() };
    let new = assign(&ballot.step, &open, &config.annotators, tasks.all(), &settings)
        .map_err(|e| Oops::bad(e.to_string()))?;
    tasks.append(&new)?;
    Ok(new)
}

/// The votes of a step, as they are stored.
pub(in crate::web) async fn votes(
    State(app): State<Arc<App>>,
    Path((name, step)): Path<(String, String)>,
) -> Result<Response, Oops> {
    let recipe = recipe(&name)?;
    let lines = reading(move || {
        let (config, _) = app.config();
        let ballot = ballot(&app, &config, recipe, &step)?;
        let board = app.desk.board().map_err(Oops::broken)?;
        let mut lines = Vec::new();
        for item in &ballot.items {
            for vote in board.on(recipe.name, ballot.step.name, &item.id) {
                serde_json::to_writer(&mut lines, vote).map_err(Oops::broken)?;
                lines.push(b'\n');
            }
        }
        Ok(lines)
    })
    .await?;
    let head = [
        (header::CONTENT_TYPE, "application/jsonl; charset=utf-8"),
        (header::CONTENT_DISPOSITION, "attachment; filename=\"votes.jsonl\""),
        (header::CACHE_CONTROL, "no-store"),
    ];
    Ok((head, lines).into_response())
}
