//! The review page: items that wait for a person, one at a time, and their votes.
//!
//! A page contains only what its reader may see: nobody's votes in the first round, no drafts of a blind
//! ballot, never any names.

use std::collections::BTreeSet;
use std::sync::{Arc, RwLockReadGuard};

use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::ballot::{ItemQuestions, label_in, on_screen};
use crate::app::{App, find_recipe, read_blocking};
use crate::config::{Config, sections};
use crate::error::PageError;
use crate::form::Form;
use crate::i18n::Language;
use crate::pipeline::{current_time, stopped_annotators};
use crate::recipe::{self, Recipe};
use crate::review::ballot::Round;
use crate::review::{Annotator, Item};
use crate::view;
use crate::visitor::Visitor;
use crate::voting::{
    Assignments, BallotItems, BallotRound, ShownItem, Skip, VoteIndex, count_lacking_votes, is_waiting_for,
    own_vote, person_progress, record_skip, shown_item,
};

/// The voter: without tokens, the name in the URL.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Who {
    pub(super) r#as: String,
    /// The requested item; the next open one if empty.
    item: String,
    /// The previous item.
    after: String,
    /// Whether the page is fetched ahead, for a time without a network: that reserves no item.
    ahead: String,
}

/// The settings' entry of the visitor.
pub(super) fn find_person(config: &Config, visitor: &Visitor, named: &str) -> Result<Annotator, PageError> {
    let name = if visitor.open { named } else { visitor.name().unwrap_or_default() };
    let known = config.annotators.iter().find(|person| person.name == name);
    known.cloned().ok_or_else(|| match visitor.open {
        true => PageError::new(StatusCode::FORBIDDEN, "choose_voter"),
        false => PageError::forbidden(),
    })
}

#[derive(Serialize)]
struct WaitingBallot {
    recipe: &'static str,
    step: &'static str,
    round: &'static str,
    title: &'static str,
    done: usize,
    open: usize,
    share: usize,
    /// Whether it was assigned to the person.
    own: bool,
    /// The day by which the next of its open items is wanted.
    until: Option<String>,
}

/// Everything that waits for the person.
pub(crate) async fn show_waiting(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Query(who): Query<Who>,
) -> Result<Response, PageError> {
    let (config, _) = app.current_config();
    let names: Vec<String> = config.annotators.iter().map(|person| person.name.clone()).collect();
    let open = visitor.open;
    if (open && who.r#as.is_empty()) || (!open && find_person(&config, &visitor, "").is_err()) {
        // A curator or reader who is not an annotator has nothing to vote on.
        let found = json!({ "who": "", "names": if open { names } else { Vec::new() }, "places": [] });
        return view::render_page(&visitor, "queue.html", found);
    }
    let person = find_person(&config, &visitor, &who.r#as)?;
    let language = visitor.language;
    let name = person.name.clone();
    let places = read_blocking(move || waiting_places(&app, &config, &person, language)).await?;
    let names = if open { names } else { Vec::new() };
    view::render_page(&visitor, "queue.html", json!({ "who": name, "names": names, "places": places }))
}

fn waiting_places(
    app: &App,
    config: &Config,
    person: &Annotator,
    language: Language,
) -> Result<Vec<WaitingBallot>, PageError> {
    let mut waiting = Vec::new();
    let vote_index = app.desk.current_votes().map_err(PageError::internal_error)?;
    for recipe in recipe::used_recipes(config) {
        for review in recipe.review_steps() {
            let Some(ballot) = app.ballots.open_ballot(config, recipe, review.benchmark_and_ballot().1)?
            else {
                continue;
            };
            let given = app.desk.read_assignments(recipe.name, ballot.step.name)?;
            // Steps in a language that the person does not read are skipped, unless tasks were assigned to
            // them.
            let reads = person.unread_languages(&ballot.step).is_empty();
            for round in Round::ALL.into_iter().filter(|round| person.may_vote(&ballot.step, *round)) {
                let place = BallotRound { recipe, ballot: &ballot, round };
                let (done, mut open) = person_progress(&vote_index, place, &given, person);
                if !open.is_empty() && is_stopped(app, &vote_index, place, person)? {
                    open.clear();
                }
                let all = if reads || given.is_round_assigned(round) { done + open.len() } else { done };
                if let Some(share) = (done * 1000).checked_div(all) {
                    waiting.push(WaitingBallot {
                        recipe: recipe.name,
                        step: ballot.step.name,
                        round: round.name(),
                        title: label_in(language, ballot.step.title),
                        done,
                        open: open.len(),
                        share,
                        own: given.has_items(round, &person.name),
                        until: given.first_due_day(round, &person.name, &open),
                    });
                }
            }
        }
    }
    // What somebody was given comes first, and of that what is wanted first.
    waiting.sort_by_key(|place| {
        let done = place.own && place.open == 0;
        (!place.own, done, place.own && place.until.is_none(), place.until.clone())
    });
    Ok(waiting)
}

/// The page of one item.
#[derive(Serialize)]
struct Screen {
    recipe: &'static str,
    step: &'static str,
    round: &'static str,
    who: String,
    title: &'static str,
    guideline: String,
    /// The guideline's version, for the vote.
    version: String,
    examples: String,
    paper: &'static str,
    done: usize,
    open: usize,
    share: usize,
    item: Option<ItemQuestions>,
    /// The item that the person voted on before this one, for going back.
    previous: Option<String>,
    /// The next open item, for skipping this one.
    next: Option<String>,
}

/// One item.
pub(crate) async fn show_item(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path((name, step, round)): Path<(String, String, String)>,
    Query(who): Query<Who>,
) -> Result<Response, PageError> {
    let (config, _) = app.current_config();
    let person = find_person(&config, &visitor, &who.r#as)?;
    let (recipe, round) = (find_recipe(&name)?, Round::from_name(&round).ok_or_else(PageError::not_found)?);
    let language = visitor.language;
    let after = who.item.is_empty() && !who.after.is_empty();
    let ahead = if who.ahead.is_empty() { "" } else { "&ahead=1" };
    let screen = read_blocking(move || {
        let ballot = app.ballots.open_ballot(&config, recipe, &step)?.ok_or_else(PageError::not_found)?;
        prepare_screen(&app, BallotRound { recipe, ballot: &ballot, round }, &person, &who, language)
    })
    .await?;
    // Each item has an address of its own, so that going back in the browser shows that item again, and not
    // the next one with the answers of this one in its form.
    match &screen.item {
        Some(item) if after => {
            let who = if visitor.open {
                format!("as={}&", view::encode_segment(&screen.who))
            } else {
                String::new()
            };
            let (step, item) = (view::encode_segment(screen.step), view::encode_segment(item.id()));
            let address =
                format!("/review/{}/{step}/{}?{who}item={item}{ahead}", screen.recipe, screen.round);
            Ok(Redirect::to(&address).into_response())
        }
        _ => view::render_page(&visitor, "ballot.html", screen),
    }
}

fn prepare_screen(
    app: &App,
    place: BallotRound<'_>,
    person: &Annotator,
    who: &Who,
    language: Language,
) -> Result<Screen, PageError> {
    let BallotRound { recipe, ballot, round } = place;
    let step = &ballot.step;
    let (board, given) = votes_and_tasks(app, place, person)?;
    let (done, mut waiting) = person_progress(&board, place, &given, person);
    if is_stopped(app, &board, place, person)? {
        waiting.clear();
        // What they have voted on they may look at; nothing new is shown.
        if own_vote(&board, place, &who.item, &person.name).is_none() {
            return Err(PageError::new(StatusCode::FORBIDDEN, "stopped_you"));
        }
    }
    let skips = app.desk.read_skips(recipe.name, step.name)?;
    let passed: BTreeSet<&str> = skips
        .iter()
        .filter(|skip| skip.annotator == person.name && skip.round == round)
        .map(|skip| skip.item.as_str())
        .collect();
    // Two people who ask at once get different items, as far as there are any.
    let opening = app.leases.begin_opening(recipe.name, step.name, round);
    let mut taken = opening.of_others(&person.name);
    // What was assigned to somebody is theirs, whoever looks at it.
    taken.retain(|id, others| {
        !given.is_round_assigned(round)
            && ballot.find_item(id).is_some_and(|item| *others >= count_lacking_votes(&board, place, item))
    });
    // Items on others' pages, and then skipped ones, come last; otherwise the order of the ballot is kept.
    if !taken.is_empty() || !passed.is_empty() {
        waiting.sort_by_key(|item| (passed.contains(item.id.as_str()), taken.contains_key(&item.id)));
    }
    // The order of the ballot, from the previous item on, and around to its beginning.
    let after = |id: &str| {
        let place = |id: &str| ballot.items.iter().position(|item| item.id == id);
        let from = place(id);
        let fresh = |item: &&&Item| item.id != id && !passed.contains(item.id.as_str());
        let free = |item: &&&Item| fresh(item) && !taken.contains_key(&item.id);
        let later = waiting.iter().filter(free).find(|item| place(&item.id) > from);
        let later = later.or_else(|| waiting.iter().find(free)).or_else(|| waiting.iter().find(fresh));
        later.or_else(|| waiting.iter().find(|item| item.id != id)).map(|item| item.id.clone())
    };
    let id = match (who.item.as_str(), who.after.as_str()) {
        ("", "") => waiting.first().map(|item| item.id.clone()),
        ("", before) => after(before),
        (item, _) => Some(item.to_string()),
    };
    let item = match &id {
        Some(id) => Some(may_see(&board, place, &given, person, id).map_err(|refused| {
            // An address that was kept, of an item that others have answered since.
            match refused.status {
                StatusCode::FORBIDDEN => PageError::new(StatusCode::FORBIDDEN, "not_waiting"),
                _ => refused,
            }
        })?),
        None => None,
    };
    // Which item comes after this one is asked before the page counts as open.
    let next = id.as_deref().and_then(after);
    if let Some(id) = id.as_ref().filter(|_| who.ahead.is_empty()) {
        opening.lease_item(id, &person.name);
    }
    let voted = |item: &&Item| own_vote(&board, place, &item.id, &person.name).is_some();
    let here = id.as_ref().and_then(|id| ballot.items.iter().position(|item| item.id == *id));
    let before = &ballot.items[..here.unwrap_or(ballot.items.len())];
    let all = done + waiting.len();
    let guide = app.desk.read_guidelines(recipe.name, step)?.pop();
    let notes = app.desk.read_remarks(recipe.name, step.name)?;
    Ok(Screen {
        recipe: recipe.name,
        step: step.name,
        round: round.name(),
        who: person.name.clone(),
        title: label_in(language, step.title),
        guideline: guide.as_ref().map_or_else(String::new, |g| language.pick_text(&g.en, &g.zh).to_string()),
        version: guide.as_ref().map(|guide| guide.version().to_string()).unwrap_or_default(),
        examples: guide.map_or_else(String::new, |guide| {
            language.pick_text(&guide.examples, guide.examples_in_chinese()).to_string()
        }),
        paper: step.paper,
        done,
        open: waiting.len(),
        share: (done * 1000).checked_div(all).unwrap_or(0),
        previous: before.iter().rev().find(voted).map(|item| item.id.clone()),
        next,
        item: item.map(|seen| on_screen(&board, place, person, seen, &notes, language)),
    })
}

/// The votes and the tasks, for people who may vote in this round of the step.
pub(super) fn votes_and_tasks<'a>(
    app: &'a App,
    place: BallotRound<'_>,
    person: &Annotator,
) -> Result<(RwLockReadGuard<'a, VoteIndex>, Arc<Assignments>), PageError> {
    let step = &place.ballot.step;
    if !person.may_vote(step, place.round) {
        return Err(PageError::forbidden());
    }
    let vote_index = app.desk.current_votes().map_err(PageError::internal_error)?;
    Ok((vote_index, app.desk.read_assignments(place.recipe.name, step.name)?))
}

/// Whether the person gets no more work on the step, because too few of their answers to known items were right.
fn is_stopped(
    app: &App,
    vote_index: &VoteIndex,
    place: BallotRound<'_>,
    person: &Annotator,
) -> Result<bool, PageError> {
    let (config, _) = app.current_config();
    let (recipe, BallotItems { step, items, .. }) = (place.recipe, place.ballot);
    if config.typed_settings::<sections::Review>(Some(recipe.name), "review").gold_bound <= 0.0 {
        return Ok(false);
    }
    let votes = vote_index.by_item(recipe.name, step.name);
    let stopped = stopped_annotators(&config, recipe, step, items, &votes, &vote_index.asides())?;
    Ok(stopped.contains_key(&person.name))
}

/// An item that waits for the person, or that they have voted on; no other.
pub(super) fn may_see(
    vote_index: &VoteIndex,
    place: BallotRound<'_>,
    assignments: &Assignments,
    person: &Annotator,
    id: &str,
) -> Result<ShownItem, PageError> {
    let item = place.ballot.find_item(id).ok_or_else(PageError::not_found)?;
    let theirs = is_waiting_for(vote_index, place, assignments, person, item)
        || own_vote(vote_index, place, id, &person.name).is_some();
    if !theirs {
        return Err(PageError::new(StatusCode::FORBIDDEN, "not_given"));
    }
    shown_item(vote_index, place, item).ok_or_else(PageError::not_found)
}

/// Skips an item, with a reason.
pub(crate) async fn skip_item(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path((name, step, round)): Path<(String, String, String)>,
    form: Form,
) -> Result<Response, PageError> {
    let (config, _) = app.current_config();
    let person = find_person(&config, &visitor, form.get("as"))?;
    let (recipe, round) = (find_recipe(&name)?, Round::from_name(&round).ok_or_else(PageError::not_found)?);
    let who =
        if visitor.open { format!("as={}&", view::encode_segment(&person.name)) } else { String::new() };
    let id = form.get("item").to_string();
    let here = format!("/review/{}/{}/{}", recipe.name, view::encode_segment(&step), round.name());
    let next = format!("{here}?{who}after={}", view::encode_segment(&id));
    let reason = form.text_within("reason", 500)?;
    read_blocking(move || {
        let ballot = find_ballot(&app, &config, recipe, &step)?;
        let place = BallotRound { recipe, ballot: &ballot, round };
        let (board, given) = votes_and_tasks(&app, place, &person)?;
        may_see(&board, place, &given, &person, &id)?;
        app.leases.end_lease(recipe.name, ballot.step.name, round, &id, &person.name);
        let new = Skip { item: id, annotator: person.name, round, reason, at: current_time() };
        // Concurrent skips wait for each other instead of failing.
        let _turn = app.assigning.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        Ok(record_skip(&app.workspace, recipe.name, ballot.step.name, &new)?)
    })
    .await?;
    Ok(Redirect::to(&next).into_response())
}

/// A step's ballot by the names in a URL, for the curator's pages.
pub(crate) fn find_ballot(
    app: &App,
    config: &Config,
    recipe: &'static Recipe,
    step: &str,
) -> Result<Arc<BallotItems>, PageError> {
    app.ballots.open_ballot(config, recipe, step)?.ok_or_else(PageError::not_found)
}
