//! Casts a vote from the page of an item.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use serde_json::json;

use super::faults;
use super::review::{find_person, may_see, votes_and_tasks};
use crate::app::{App, find_recipe, read_blocking};
use crate::error::PageError;
use crate::form::Form;
use crate::i18n::Language;
use crate::pipeline::current_time;
use crate::recipe::Recipe;
use crate::review::answers::{self, Answers, Fault};
use crate::review::ballot::{Field, Round};
use crate::review::votes::PAGE;
use crate::review::{Annotator, Ballot, Digest, HandedHash, Item, Value, Vote};
use crate::shortcuts::Cue;
use crate::view;
use crate::visitor::Visitor;
use crate::voting::{
    Assignments, BallotGuideline, BallotRound, CastResult, Note, ShownItem, VoteIndex, shown_item, takes_more,
};

/// Longest time that counts as work on one item, in seconds; beyond it somebody was away.
const LONGEST: f64 = 3600.0;
/// Most characters of a remark.
const REMARK_CHARS: usize = 2000;

/// Casts a vote.
pub(crate) async fn submit_vote(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path((name, step, round)): Path<(String, String, String)>,
    headers: HeaderMap,
    form: Form,
) -> Result<Response, PageError> {
    let (config, _) = app.current_config();
    let person = find_person(&config, &visitor, form.get("as"))?;
    let (recipe, round) = (find_recipe(&name)?, Round::from_name(&round).ok_or_else(PageError::not_found)?);
    let here = format!("/review/{}/{}/{}", recipe.name, view::encode_segment(&step), round.name());
    let id = form.get("item").to_string();
    let (reader, noting, sent, language) = (app.clone(), app.clone(), form.clone(), visitor.language);
    let (of_step, name) = (step.clone(), person.name.clone());
    let (made, ballot) = read_blocking(move || {
        let ballot = reader.ballots.open_ballot(&config, recipe, &step)?.ok_or_else(PageError::not_found)?;
        let place = BallotRound { recipe, ballot: &ballot, round };
        let made = check_vote(&reader, place, &person, &sent, language)?;
        Ok((made, ballot))
    })
    .await?;
    let wants_json = headers.get(header::ACCEPT).is_some_and(|accept| accept == "application/json");
    let not_saved = |why: &dyn std::fmt::Display| {
        eprintln!("a vote could not be stored: {why}");
        (StatusCode::SERVICE_UNAVAILABLE, json!({ "status": "not_saved" }))
    };
    let (status, message) = match made {
        CheckedVote::Vote(vote, note, item) => match app.desk.cast_vote(*vote).await {
            // If the remark could not be stored, the vote is sent again; it counts once.
            CastResult::Saved(id) => {
                match read_blocking(move || store_remark(&noting, recipe, *note)).await {
                    Ok(()) => (StatusCode::OK, json!({ "status": "saved", "vote": item.sheet_vote(id) })),
                    Err(oops) => not_saved(&oops.detail),
                }
            }
            CastResult::Overtaken(_) => (StatusCode::CONFLICT, json!({ "status": "overtaken" })),
            CastResult::Failed(why) => not_saved(&why),
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
        app.leases.end_lease(recipe.name, &of_step, round, &id, &name);
    }
    if wants_json {
        return Ok((status, Json(message)).into_response());
    }
    // Without the script: redirect to the next item, or to the same one with the error.
    let who =
        if visitor.open { format!("as={}&", view::encode_segment(form.get("as"))) } else { String::new() };
    match status {
        StatusCode::OK => {
            Ok(Redirect::to(&format!("{here}?{who}after={}", view::encode_segment(&id))).into_response())
        }
        status => {
            let refused = PageError::new(
                status,
                match message["status"].as_str() {
                    Some("overtaken") => "overtaken",
                    Some("item_changed") => "item_changed",
                    Some("answered") => "answered",
                    // Without the script nothing is kept in the browser.
                    Some("not_saved") => "not_stored",
                    Some("gives_away") => "gives_away",
                    _ => "faulty",
                },
            );
            let faults: Vec<(String, String)> =
                serde_json::from_value(message["faults"].clone()).unwrap_or_default();
            let Some((first, _)) = faults.first() else { return Err(refused) };
            let field = format!("f.{first}");
            let asked = ballot.step.questions_of_round(round);
            Err(refused.telling_sender(faults::name_faults(language, &asked, &faults)).about(field))
        }
    }
}

/// An item that no longer waits, of which somebody sends a page that they opened while it did: the hash in the
/// form is that of its texts, which nobody knows who has not seen them. `None` if it is not.
fn find_late_item(
    vote_index: &VoteIndex,
    place: BallotRound<'_>,
    assignments: &Assignments,
    person: &Annotator,
    form: &Form,
) -> Result<Option<ShownItem>, PageError> {
    let item = place.ballot.find_item(form.get("item")).ok_or_else(PageError::not_found)?;
    let Some(shown) = shown_item(vote_index, place, item) else { return Ok(None) };
    let theirs = !assignments.is_round_assigned(place.round)
        || assignments.is_assigned(place.round, &person.name, &item.id);
    let seen = matches!(shown.item.read_handed(form.get("hash")), HandedHash::Today(_));
    // Whoever wrote a text, does not read it, or was not given it, had no page of it.
    let opened = seen && (theirs || place.round != Round::Vote) && !person.is_kept_from(item);
    Ok(opened.then_some(shown))
}

/// Additions to a vote: the step, the remark, and the guideline if it has to be stored first.
type Remarked = (String, Note, Option<Box<BallotGuideline>>);

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
    place: BallotRound<'_>,
    person: &Annotator,
    form: &Form,
    language: Language,
) -> Result<CheckedVote, PageError> {
    let BallotRound { ballot, round, .. } = place;
    let step = &ballot.step;
    let (board, given) = votes_and_tasks(app, place, person)?;
    let id = form.get("item");
    if ballot.find_item(id).is_none() {
        // A run has dropped the item since the page was made.
        return Ok(CheckedVote::Changed);
    }
    let ShownItem { item, .. } = match may_see(&board, place, &given, person, id) {
        Ok(shown) => shown,
        Err(refused) => match find_late_item(&board, place, &given, person, form)? {
            Some(item) if takes_more(place, &given, person, &item.item) => item,
            Some(_) => return Ok(CheckedVote::Answered),
            None => return Err(refused),
        },
    };
    // In the order of the page, which may have been opened by an earlier program.
    let item = match item.read_handed(form.get("hash")) {
        HandedHash::Today(seen) => seen.into_owned(),
        HandedHash::Earlier(_) | HandedHash::OtherSecret | HandedHash::NoHash => {
            return Ok(CheckedVote::Changed);
        }
    };
    let fields = step.questions_of_round(round);
    let values = match answers::read_answers(&fields, &item, |name| {
        faults::sent_value(&fields, form, name).map(Value::trim_text)
    }) {
        Answers::Given(values) => values,
        // An empty form is a vote in which everything is missing, so that the page shows where to begin.
        Answers::Blank => {
            let asked = fields.iter().filter(|field| field.required && field.when.is_none());
            let missing = |field: &Field| {
                (
                    field.name.to_string(),
                    faults::describe_fault(language, &fields, field.name, &Fault::Missing),
                )
            };
            return Ok(CheckedVote::Faulty(asked.map(missing).collect()));
        }
        Answers::Faulty(faults) => {
            let described = |(field, fault): (&str, Fault)| {
                (field.to_string(), faults::describe_fault(language, &fields, field, &fault))
            };
            return Ok(CheckedVote::Faulty(faults.into_iter().map(described).collect()));
        }
    };
    let cautions = answers::find_cautions(&fields, &item, &values);
    if !cautions.is_empty() && form.get("anyway").is_empty() {
        let described = |(field, tell): (&str, Cue)| {
            let (en, zh) = tell.descriptions();
            (field.to_string(), language.pick_text(en, zh).to_string())
        };
        return Ok(CheckedVote::Doubtful(faults::join_messages(cautions.into_iter().map(described))));
    }
    let base = item.handed_vote(form.get("base"));
    // `parse` accepts `inf` and `NaN`, which no vote may contain.
    let seconds = form.get("seconds").parse().ok().filter(|s: &f64| s.is_finite() && *s > 0.0);
    // The version shown on the page, which may have been edited since.
    let guides = app.desk.read_guidelines(place.recipe.name, step)?;
    let read: Option<Digest> = form.get("guideline").parse().ok();
    let guideline = read.filter(|read| guides.iter().any(|guide| guide.version() == *read));
    // The benchmark's own text may change one day, so it is stored with the first vote cast under it.
    let came_with = BallotGuideline { at: current_time(), ..BallotGuideline::of_ballot(step) };
    let mut cast_by = guides.iter().filter(|guide| Some(guide.version()) == guideline);
    let unkept = cast_by.all(|guide| guide.at.is_empty()) && guideline == Some(came_with.version());
    let note = Note {
        item: item.id.clone(),
        annotator: person.name.clone(),
        round,
        // Browsers send line breaks as CRLF.
        text: form.get("n.text").trim().replace("\r\n", "\n").chars().take(REMARK_CHARS).collect(),
        flag: !form.get("n.flag").is_empty(),
        at: current_time(),
    };
    let vote = vote_of(step, &item, person, round, values, base, seconds.map(|s| s.min(LONGEST)));
    let vote = Box::new(Vote { guideline, ..vote });
    let additions = (step.name.to_string(), note, unkept.then(|| Box::new(came_with)));
    Ok(CheckedVote::Vote(vote, Box::new(additions), Box::new(item)))
}

/// Stores a remark if it differs from the previous one.
fn store_remark(app: &App, recipe: &Recipe, (step, new, came_with): Remarked) -> Result<(), PageError> {
    // Concurrent remarks wait for each other instead of failing.
    let _turn = app.assigning.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let found = app.desk.kept_guides(recipe.name, &step)?;
    if let Some(guide) = came_with.filter(|new| !found.iter().any(|guide| guide.version() == new.version())) {
        app.desk.store_guideline(recipe.name, &step, &guide)?;
    }
    let notes = app.desk.read_remarks(recipe.name, &step)?;
    let same_seat =
        |old: &&Note| (&old.item, &old.annotator, old.round) == (&new.item, &new.annotator, new.round);
    let (text, flag) = notes.iter().rev().find(same_seat).map_or(("", false), |old| (&old.text, old.flag));
    if (text, flag) != (new.text.as_str(), new.flag) {
        app.desk.record_remark(recipe.name, &step, &new)?;
    }
    Ok(())
}

fn vote_of(
    ballot: &Ballot,
    item: &Item,
    person: &Annotator,
    round: Round,
    values: crate::review::Values,
    base: Option<Digest>,
    seconds: Option<f64>,
) -> Vote {
    Vote {
        annotator: person.name.clone(),
        role: person.role,
        round,
        values,
        at: current_time(),
        source: PAGE.to_string(),
        order: item.shown_order(),
        seconds,
        base,
        ..Vote::on_item(ballot, item)
    }
}
