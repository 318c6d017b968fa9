//! The review page: items that wait for a person, one at a time, and their votes.
//!
//! A page contains only what its reader may see: nobody's votes in the first round, no drafts of a blind
//! ballot, never any names.

use std::collections::BTreeSet;
use std::sync::{Arc, RwLockReadGuard};

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::ballot::{Shown, label_in, on_screen};
use super::cast_vote::{Remarked, note_of, remark, vote_of};
use super::faults;
use crate::config::Config;
use crate::pipeline::now;
use crate::recipe::{self, Recipe};
use crate::review::answers::{self, Answers, Fault};
use crate::review::ballot::{Field, Round};
use crate::review::{Annotator, Digest, Handed, Item, Value, Vote};
use crate::shortcuts::Cue;
use crate::web::app::{App, reading, recipe};
use crate::web::error::PageError;
use crate::web::guard::Form;
use crate::web::i18n::Language;
use crate::web::view;
use crate::web::visitor::Visitor;
use crate::web::voting::{
    Assignments, BallotItems, Cast, Guide, Place, ShownItem, Skip, VoteIndex, far, lacks, own, shown, skip,
    takes_more, waits,
};

/// The voter: without tokens, the name in the URL.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::web) struct Who {
    pub(super) r#as: String,
    /// The requested item; the next open one if empty.
    item: String,
    /// The previous item.
    after: String,
}

/// The settings' entry of the visitor.
pub(super) fn person(config: &Config, visitor: &Visitor, named: &str) -> Result<Annotator, PageError> {
    let name = if visitor.open { named } else { visitor.name().unwrap_or_default() };
    let known = config.annotators.iter().find(|person| person.name == name);
    known.cloned().ok_or_else(PageError::forbidden)
}

#[derive(Serialize)]
struct Waiting {
    recipe: &'static str,
    step: &'static str,
    round: &'static str,
    title: &'static str,
    done: usize,
    open: usize,
    share: usize,
}

/// Everything that waits for the person.
pub(in crate::web) async fn list(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Query(who): Query<Who>,
) -> Result<Response, PageError> {
    let (config, _) = app.config();
    let names: Vec<String> = config.annotators.iter().map(|person| person.name.clone()).collect();
    let open = visitor.open;
    if (open && who.r#as.is_empty()) || (!open && person(&config, &visitor, "").is_err()) {
        // A curator or reader who is not an annotator has nothing to vote on.
        let found = json!({ "who": "", "names": if open { names } else { Vec::new() }, "places": [] });
        return view::page(&visitor, "queue.html", found);
    }
    let person = person(&config, &visitor, &who.r#as)?;
    let language = visitor.language;
    let name = person.name.clone();
    let places = reading(move || places(&app, &config, &person, language)).await?;
    let names = if open { names } else { Vec::new() };
    view::page(&visitor, "queue.html", json!({ "who": name, "names": names, "places": places }))
}

fn places(
    app: &App,
    config: &Config,
    person: &Annotator,
    language: Language,
) -> Result<Vec<Waiting>, PageError> {
    let mut waiting = Vec::new();
    let board = app.desk.board().map_err(PageError::broken)?;
    for recipe in recipe::used(config) {
        for review in recipe.reviews() {
            let Some(ballot) = app.ballots.open(config, recipe, review.place().1)? else { continue };
            let given = app.desk.given(recipe.name, ballot.step.name)?;
            // Steps in a language that the person does not read are skipped, unless tasks were assigned to
            // them.
            let reads = person.unread(&ballot.step).is_empty();
            for round in Round::ALL.into_iter().filter(|round| person.may_vote(&ballot.step, *round)) {
                let (done, open) = far(&board, Place { recipe, ballot: &ballot, round }, &given, person);
                let all = if reads || given.spread(round) { done + open.len() } else { done };
                if let Some(share) = (done * 1000).checked_div(all) {
                    waiting.push(Waiting {
                        recipe: recipe.name,
                        step: ballot.step.name,
                        round: round.name(),
                        title: label_in(language, ballot.step.title),
                        done,
                        open: open.len(),
                        share,
                    });
                }
            }
        }
    }
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
    item: Option<Shown>,
    /// The item that the person voted on before this one, for going back.
    previous: Option<String>,
    /// The next open item, for skipping this one.
    next: Option<String>,
}

/// One item.
pub(in crate::web) async fn page(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path((name, step, round)): Path<(String, String, String)>,
    Query(who): Query<Who>,
) -> Result<Response, PageError> {
    let (config, _) = app.config();
    let person = person(&config, &visitor, &who.r#as)?;
    let (recipe, round) = (recipe(&name)?, Round::from_name(&round).ok_or_else(PageError::not_found)?);
    let language = visitor.language;
    let screen = reading(move || {
        let ballot = app.ballots.open(&config, recipe, &step)?.ok_or_else(PageError::not_found)?;
        screen(&app, Place { recipe, ballot: &ballot, round }, &person, &who, language)
    })
    .await?;
    view::page(&visitor, "ballot.html", screen)
}

fn screen(
    app: &App,
    place: Place<'_>,
    person: &Annotator,
    who: &Who,
    language: Language,
) -> Result<Screen, PageError> {
    let Place { recipe, ballot, round } = place;
    let step = &ballot.step;
    let (board, given) = seat(app, place, person)?;
    let (done, mut waiting) = far(&board, place, &given, person);
    let skips = app.desk.skips(recipe.name, step.name)?;
    let passed: BTreeSet<&str> = skips
        .iter()
        .filter(|skip| skip.annotator == person.name && skip.round == round)
        .map(|skip| skip.item.as_str())
        .collect();
    // Two people who ask at once get different items, as far as there are any.
    let opening = app.leases.open(recipe.name, step.name, round);
    let mut taken = opening.of_others(&person.name);
    // What was assigned to somebody is theirs, whoever looks at it.
    taken.retain(|id, others| {
        !given.spread(round) && ballot.item(id).is_some_and(|item| *others >= lacks(&board, place, item))
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
        Some(id) => Some(may_see(&board, place, &given, person, id)?),
        None => None,
    };
    // Which item comes after this one is asked before the page counts as open.
    let next = id.as_deref().and_then(after);
    if let Some(id) = &id {
        opening.take(id, &person.name);
    }
    let voted = |item: &&Item| own(&board, place, &item.id, &person.name).is_some();
    let here = id.as_ref().and_then(|id| ballot.items.iter().position(|item| item.id == *id));
    let before = &ballot.items[..here.unwrap_or(ballot.items.len())];
    let all = done + waiting.len();
    let guide = app.desk.guides(recipe.name, step)?.pop();
    let notes = app.desk.notes(recipe.name, step.name)?;
    Ok(Screen {
        recipe: recipe.name,
        step: step.name,
        round: round.name(),
        who: person.name.clone(),
        title: label_in(language, step.title),
        guideline: guide.as_ref().map_or_else(String::new, |g| language.pick(&g.en, &g.zh).to_string()),
        version: guide.as_ref().map(|guide| guide.version().to_string()).unwrap_or_default(),
        examples: guide.map_or_else(String::new, |guide| {
            language.pick(&guide.examples, guide.examples_in_chinese()).to_string()
        }),
        paper: step.paper,
        done,
        open: waiting.len(),
        share: (done * 1000).checked_div(all).unwrap_or(1000),
        previous: before.iter().rev().find(voted).map(|item| item.id.clone()),
        next,
        item: item.map(|seen| on_screen(&board, place, person, seen, &notes, language)),
    })
}

/// The votes and the tasks, for people who may vote in this round of the step.
fn seat<'a>(
    app: &'a App,
    place: Place<'_>,
    person: &Annotator,
) -> Result<(RwLockReadGuard<'a, VoteIndex>, Arc<Assignments>), PageError> {
    let step = &place.ballot.step;
    if !person.may_vote(step, place.round) {
        return Err(PageError::forbidden());
    }
    let board = app.desk.board().map_err(PageError::broken)?;
    Ok((board, app.desk.given(place.recipe.name, step.name)?))
}

/// An item that waits for the person, or that they have voted on; no other.
fn may_see(
    board: &VoteIndex,
    place: Place<'_>,
    given: &Assignments,
    person: &Annotator,
    id: &str,
) -> Result<ShownItem, PageError> {
    let item = place.ballot.item(id).ok_or_else(PageError::not_found)?;
    let theirs = waits(board, place, given, person, item) || own(board, place, id, &person.name).is_some();
    if !theirs {
        return Err(PageError::forbidden());
    }
    shown(board, place, item).ok_or_else(PageError::not_found)
}

/// An item that no longer waits, of which somebody sends a page that they opened while it did: the hash in the
/// form is that of its texts, which nobody knows who has not seen them. `None` if it is not.
fn late(
    board: &VoteIndex,
    place: Place<'_>,
    given: &Assignments,
    person: &Annotator,
    form: &Form,
) -> Result<Option<ShownItem>, PageError> {
    let item = place.ballot.item(form.get("item")).ok_or_else(PageError::not_found)?;
    let Some(shown) = shown(board, place, item) else { return Ok(None) };
    let theirs = !given.spread(place.round) || given.to(place.round, &person.name, &item.id);
    let seen = matches!(shown.item.handed(form.get("hash")), Handed::Today(_));
    // Whoever wrote a text, or was not given it, had no page of it.
    let opened = seen && (theirs || place.round != Round::Vote) && !item.written_by.contains(&person.name);
    Ok(opened.then_some(shown))
}

/// Casts a vote.
pub(in crate::web) async fn vote(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path((name, step, round)): Path<(String, String, String)>,
    headers: HeaderMap,
    form: Form,
) -> Result<Response, PageError> {
    let (config, _) = app.config();
    let person = person(&config, &visitor, form.get("as"))?;
    let (recipe, round) = (recipe(&name)?, Round::from_name(&round).ok_or_else(PageError::not_found)?);
    let here = format!("/review/{}/{}/{}", recipe.name, view::encoded(&step), round.name());
    let id = form.get("item").to_string();
    let (reader, noting, sent, language) = (app.clone(), app.clone(), form.clone(), visitor.language);
    let (of_step, name) = (step.clone(), person.name.clone());
    let made = reading(move || {
        let ballot = reader.ballots.open(&config, recipe, &step)?.ok_or_else(PageError::not_found)?;
        check_vote(&reader, Place { recipe, ballot: &ballot, round }, &person, &sent, language)
    })
    .await?;
    let wants_json = headers.get(header::ACCEPT).is_some_and(|accept| accept == "application/json");
    let not_saved = |why: &dyn std::fmt::Display| {
        eprintln!("a vote could not be stored: {why}");
        (StatusCode::SERVICE_UNAVAILABLE, json!({ "status": "not_saved" }))
    };
    let (status, message) = match made {
        CheckedVote::Vote(vote, note, item) => match app.desk.cast(*vote).await {
            // If the remark could not be stored, the vote is sent again; it counts once.
            Cast::Saved(id) => match reading(move || remark(&noting, recipe, *note)).await {
                Ok(()) => (StatusCode::OK, json!({ "status": "saved", "vote": item.sheet_vote(id) })),
                Err(oops) => not_saved(&oops.detail),
            },
            Cast::Overtaken(_) => (StatusCode::CONFLICT, json!({ "status": "overtaken" })),
            Cast::Failed(why) => not_saved(&why),
        },
        CheckedVote::Changed => (StatusCode::CONFLICT, json!({ "status": "item_changed" })),
        CheckedVote::Answered => (StatusCode::CONFLICT, json!({ "status": "answered" })),
        CheckedVote::Faulty(faults) => {
            (StatusCode::UNPROCESSABLE_ENTITY, json!({ "status": "faulty", "faults": faults }))
        }
        CheckedVote::Doubtful(faults) => {
            (StatusCode::UNPROCESSABLE_ENTITY, json!({ "status": "gives_away", "faults": faults }))
        }
    };
    if status == StatusCode::OK {
        app.leases.end(recipe.name, &of_step, round, &id, &name);
    }
    if wants_json {
        return Ok((status, Json(message)).into_response());
    }
    // Without the script: redirect to the next item, or to the same one with the error.
    let who = if visitor.open { format!("as={}&", view::encoded(form.get("as"))) } else { String::new() };
    match status {
        StatusCode::OK => {
            Ok(Redirect::to(&format!("{here}?{who}after={}", view::encoded(&id))).into_response())
        }
        status => Err(PageError {
            status,
            key: match message["status"].as_str() {
                Some("overtaken") => "overtaken",
                Some("item_changed") => "item_changed",
                Some("answered") => "answered",
                Some("not_saved") => "not_saved",
                Some("gives_away") => "gives_away",
                _ => "faulty",
            },
            // What was written is shown, so that it can be copied: without the script nothing else keeps it.
            detail: String::new(),
            kept: form.written(),
        }),
    }
}

/// Skips an item, with a reason.
pub(in crate::web) async fn pass_over(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path((name, step, round)): Path<(String, String, String)>,
    form: Form,
) -> Result<Response, PageError> {
    let (config, _) = app.config();
    let person = person(&config, &visitor, form.get("as"))?;
    let (recipe, round) = (recipe(&name)?, Round::from_name(&round).ok_or_else(PageError::not_found)?);
    let who = if visitor.open { format!("as={}&", view::encoded(&person.name)) } else { String::new() };
    let id = form.get("item").to_string();
    let here = format!("/review/{}/{}/{}", recipe.name, view::encoded(&step), round.name());
    let next = format!("{here}?{who}after={}", view::encoded(&id));
    let reason: String = form.get("reason").trim().chars().take(500).collect();
    reading(move || {
        let ballot = ballot(&app, &config, recipe, &step)?;
        let place = Place { recipe, ballot: &ballot, round };
        let (board, given) = seat(&app, place, &person)?;
        may_see(&board, place, &given, &person, &id)?;
        app.leases.end(recipe.name, ballot.step.name, round, &id, &person.name);
        let new = Skip { item: id, annotator: person.name, round, reason, at: now() };
        // Concurrent skips wait for each other instead of failing.
        let _turn = app.assigning.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        Ok(skip(&app.workspace, recipe.name, ballot.step.name, &new)?)
    })
    .await?;
    Ok(Redirect::to(&next).into_response())
}

enum CheckedVote {
    /// The vote, its additions, and the item as it was shown.
    Vote(Box<Vote>, Box<Remarked>, Box<Item>),
    /// The item has changed since the person saw it.
    Changed,
    /// Somebody else has answered what one person answers.
    Answered,
    Faulty(Vec<(String, String)>),
    /// It can be accepted, but there are warnings that the person may overrule.
    Doubtful(Vec<(String, String)>),
}

fn check_vote(
    app: &App,
    place: Place<'_>,
    person: &Annotator,
    form: &Form,
    language: Language,
) -> Result<CheckedVote, PageError> {
    let Place { ballot, round, .. } = place;
    let step = &ballot.step;
    let (board, given) = seat(app, place, person)?;
    let id = form.get("item");
    if ballot.item(id).is_none() {
        // A run has dropped the item since the page was made.
        return Ok(CheckedVote::Changed);
    }
    let ShownItem { item, .. } = match may_see(&board, place, &given, person, id) {
        Ok(shown) => shown,
        Err(refused) => match late(&board, place, &given, person, form)? {
            Some(item) if takes_more(place, &given, person, &item.item) => item,
            Some(_) => return Ok(CheckedVote::Answered),
            None => return Err(refused),
        },
    };
    // In the order of the page, which may have been opened by an earlier program.
    let item = match item.handed(form.get("hash")) {
        Handed::Today(seen) => seen.into_owned(),
        Handed::Earlier(_) | Handed::OtherSecret | Handed::NoHash => return Ok(CheckedVote::Changed),
    };
    let fields = step.form(round);
    let values =
        match answers::read(&fields, &item, |name| faults::sent(&fields, form, name).map(Value::trimmed)) {
            Answers::Given(values) => values,
            // An empty form is a vote in which everything is missing, so that the page shows where to begin.
            Answers::Blank => {
                let asked = fields.iter().filter(|field| field.required && field.when.is_none());
                let missing = |field: &Field| {
                    (field.name.to_string(), faults::describe(language, &fields, field.name, &Fault::Missing))
                };
                return Ok(CheckedVote::Faulty(asked.map(missing).collect()));
            }
            Answers::Faulty(faults) => {
                let described = |(field, fault): (&str, Fault)| {
                    (field.to_string(), faults::describe(language, &fields, field, &fault))
                };
                return Ok(CheckedVote::Faulty(faults.into_iter().map(described).collect()));
            }
        };
    let cautions = answers::cautions(&fields, &item, &values);
    if !cautions.is_empty() && form.get("anyway").is_empty() {
        let described = |(field, tell): (&str, Cue)| {
            let (en, zh) = tell.descriptions();
            (field.to_string(), language.pick(en, zh).to_string())
        };
        return Ok(CheckedVote::Doubtful(faults::joined(cautions.into_iter().map(described))));
    }
    let base = item.handed_vote(form.get("base"));
    // `parse` accepts `inf` and `NaN`, which no vote may contain.
    let seconds = form.get("seconds").parse().ok().filter(|s: &f64| s.is_finite() && *s > 0.0);
    // The version shown on the page, which may have been edited since.
    let guides = app.desk.guides(place.recipe.name, step)?;
    let read: Option<Digest> = form.get("guideline").parse().ok();
    let guideline = read.filter(|read| guides.iter().any(|guide| guide.version() == *read));
    // The benchmark's own text may change one day, so it is stored with the first vote cast under it.
    let came_with = Guide { at: now(), ..Guide::declared(step) };
    let mut cast_by = guides.iter().filter(|guide| Some(guide.version()) == guideline);
    let unkept = cast_by.all(|guide| guide.at.is_empty()) && guideline == Some(came_with.version());
    let note = note_of(&item, person, round, form);
    let vote = vote_of(step, &item, person, round, values, base, seconds);
    let vote = Box::new(Vote { guideline, ..vote });
    let additions = (step.name.to_string(), note, unkept.then(|| Box::new(came_with)));
    Ok(CheckedVote::Vote(vote, Box::new(additions), Box::new(item)))
}

/// A step's ballot by the names in a URL, for the curator's pages.
pub(in crate::web) fn ballot(
    app: &App,
    config: &Config,
    recipe: &'static Recipe,
    step: &str,
) -> Result<Arc<BallotItems>, PageError> {
    app.ballots.open(config, recipe, step)?.ok_or_else(PageError::not_found)
}
