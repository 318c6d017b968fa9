//! Trials of a step: who has passed, in which attempt, and grading votes on known items.

use std::sync::{Arc, PoisonError};

use axum::extract::{Path, State};
use axum::response::{IntoResponse, Redirect, Response};
use serde::Serialize;

use super::ballot::label_in;
use super::review::find_ballot;
use crate::app::{App, find_recipe, read_blocking};
use crate::error::PageError;
use crate::form::Form;
use crate::i18n::Language;
use crate::pipeline::{current_time, known_answers};
use crate::recipe::Recipe;
use crate::review::ballot::{Qualification, Round};
use crate::review::grades::{self, Grade, TrialLine, grade_against};
use crate::review::qualify::{FEWEST, Trial, wants_a_senior};
use crate::review::{Item, Values, Vote};
use crate::view;
use crate::visitor::Visitor;

#[derive(Serialize)]
struct TrialsPage {
    recipe: &'static str,
    step: &'static str,
    title: &'static str,
    /// Percent that voters have to exceed.
    formal: f64,
    /// Percent that seniors have to exceed.
    senior: f64,
    /// Whether voting requires a trial here.
    required: bool,
    /// Whether answers are texts, which a person grades.
    by_hand: bool,
    /// The fewest answers that a trial is judged by.
    fewest: usize,
    /// Known items of the settings' folder.
    known: usize,
    people: Vec<TrialPerson>,
}

/// An annotator who may be tried.
#[derive(Serialize)]
struct TrialPerson {
    name: String,
    role: &'static str,
    may_vote: bool,
    /// By `qualified = true` in the settings, without a trial that was judged.
    by_settings: bool,
    /// Latest first.
    attempts: Vec<Attempt>,
    /// Right and answered among the votes on known items that no grade covers yet.
    votes: Option<(usize, usize)>,
}

#[derive(Serialize)]
struct Attempt {
    /// From 1.
    number: usize,
    at: String,
    right: usize,
    of: usize,
    level: &'static str,
    by: Option<String>,
    /// Items that were in an earlier attempt.
    seen: usize,
}

/// The trials of a step.
pub(crate) async fn show_trials(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path((name, step)): Path<(String, String)>,
) -> Result<Response, PageError> {
    let (recipe, language) = (find_recipe(&name)?, visitor.language);
    let found = read_blocking(move || prepare_trials_page(&app, recipe, &step, language)).await?;
    view::render_page(&visitor, "trials.html", found)
}

/// Grades everybody's votes on known items, as `review qualify` does.
pub(crate) async fn grade_trials(
    State(app): State<Arc<App>>,
    Path((name, step)): Path<(String, String)>,
    _: Form,
) -> Result<Response, PageError> {
    let recipe = find_recipe(&name)?;
    let here = format!("/curate/{}/{}/trials", recipe.name, view::encode_segment(&step));
    read_blocking(move || {
        let (config, _) = app.current_config();
        let ballot = find_ballot(&app, &config, recipe, &step)?;
        if wants_a_senior(&ballot.step) {
            return Err(PageError::bad_request(
                "texts are graded by a senior: `riddlemill review qualify --sheet` writes them without their authors",
            ));
        }
        let _alone = app.assigning.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, made) = compute_grades(&app, recipe, &step)?;
        let lines: Vec<TrialLine> = made.into_iter().map(TrialLine::Grade).collect();
        grades::append_trials(&app.workspace.raw_folder(), recipe.name, ballot.step.name, &lines).map_err(PageError::internal_error)
    })
    .await?;
    Ok(Redirect::to(&here).into_response())
}

/// Everybody's votes on known items, graded but not stored.
fn compute_grades(
    app: &App,
    recipe: &'static Recipe,
    step: &str,
) -> Result<(Vec<Trial>, Vec<Grade>), PageError> {
    let (config, _) = app.current_config();
    let ballot = find_ballot(app, &config, recipe, step)?;
    let known = known_answers(&config, recipe.name, &ballot.step, &ballot.items)?;
    let gold: Vec<(&Item, &Values)> = known.iter().map(|gold| (gold.item, &gold.answers)).collect();
    let vote_index = app.desk.current_votes().map_err(PageError::internal_error)?;
    let on = vote_index.by_item(recipe.name, ballot.step.name);
    let of = |(item, _): &(&Item, &Values)| on.get(item.id.as_str()).cloned().unwrap_or_default();
    // A sample's votes qualify nobody.
    let votes: Vec<&Vote> = gold.iter().flat_map(of).filter(|vote| !vote.synthetic).collect();
    Ok(grade_against(&ballot.step, &gold, &votes, FEWEST, &current_time()))
}

fn prepare_trials_page(
    app: &App,
    recipe: &'static Recipe,
    name: &str,
    language: Language,
) -> Result<TrialsPage, PageError> {
    let (config, _) = app.current_config();
    let ballot = find_ballot(app, &config, recipe, name)?;
    let step = &ballot.step;
    let made = grades::read_attempts(&app.workspace.raw_folder(), recipe.name, step.name)
        .map_err(PageError::internal_error)?;
    let (counted, _) = compute_grades(app, recipe, name)?;
    let shares = step.qualification.unwrap_or(Qualification::USUAL);
    let people = config.annotators.iter().filter(|person| step.voters.contains(&person.role));
    let person = |person: &crate::review::Annotator| {
        let made = made.get(&person.name).map(Vec::as_slice).unwrap_or_default();
        let attempt = |(at, grade): (usize, &Grade)| Attempt {
            number: at + 1,
            at: grade.at.clone(),
            right: grade.right,
            of: grade.of,
            level: grade.level.name(),
            by: grade.by.clone(),
            seen: grades::seen_before(&made[..=at]),
        };
        let votes = counted.iter().find(|trial| trial.annotator == person.name);
        let votes = votes.map(|trial| (trial.right, trial.of));
        let last = made.last().map(|grade| (grade.right, grade.of));
        TrialPerson {
            name: person.name.clone(),
            role: person.role.name(),
            may_vote: person.may_vote(step, Round::Vote),
            by_settings: person.qualified && person.trial_level(step).is_none(),
            attempts: made.iter().enumerate().map(attempt).rev().collect(),
            votes: votes.filter(|votes| Some(*votes) != last),
        }
    };
    Ok(TrialsPage {
        recipe: recipe.name,
        step: step.name,
        title: label_in(language, step.title),
        formal: shares.formal * 100.0,
        senior: shares.senior * 100.0,
        required: step.qualification.is_some(),
        by_hand: wants_a_senior(step),
        fewest: FEWEST,
        known: known_answers(&config, recipe.name, step, &ballot.items)?.len(),
        people: people.map(person).collect(),
    })
}
