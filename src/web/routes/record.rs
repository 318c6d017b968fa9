//! One record's path through the stages, with all decisions on it.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse, Redirect, Response};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::decide::{VotingDesk, desk_of};
use crate::audit::{self, Passage, Whereabouts};
use crate::config::Config;
use crate::pipeline::Withheld;
use crate::recipe::{self, Recipe};
use crate::record::Post;
use crate::release::Candidate;
use crate::search::{self, ChangedDump, Found, Recalled};
use crate::stages::withdrawal::Withdrawals;
use crate::store::Error;
use crate::web::app::{App, reading, recipe};
use crate::web::error::PageError;
use crate::web::view;
use crate::web::visitor::Visitor;
use riddlemill_files::fence;

/// Most hits of a search per recipe.
const HITS: usize = 30;

#[derive(Serialize)]
struct RecordPage {
    recipe: &'static str,
    others: Vec<&'static str>,
    id: String,
    text: String,
    ends: String,
    way: Vec<Passage>,
    raw: Option<Post>,
    /// The record it was merged into, side by side.
    keeper: Option<Side>,
    /// Records merged into it.
    absorbed: Vec<Side>,
    released: Vec<Released>,
    /// The existing and possible decisions about it.
    desk: VotingDesk,
}

/// Two records that were one joke.
#[derive(Serialize)]
struct Side {
    id: String,
    text: String,
    score: Option<f64>,
    reason: Option<String>,
    evidence: Option<String>,
    stage: String,
}

/// A row of a release or candidate made from the record.
#[derive(Serialize)]
struct Released {
    version: String,
    config: String,
    row: Value,
}

pub(in crate::web) async fn page(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path((name, id)): Path<(String, String)>,
) -> Result<Response, PageError> {
    let recipe = recipe(&name)?;
    let who = visitor.clone();
    let whole = reading(move || whole(&app, recipe, &id, &who)).await?;
    view::page(&visitor, "record.html", whole)
}

fn whole(app: &App, recipe: &'static Recipe, id: &str, visitor: &Visitor) -> Result<RecordPage, PageError> {
    let (config, _) = app.config();
    let withheld = Withheld::open(&app.workspace, recipe)?;
    if withheld.tombstone(id)?.is_some() {
        return Err(PageError::withdrawn());
    }
    let explained = audit::explain(&app.workspace, recipe, id)?;
    // The text of a withdrawn record is not shown next to its keeper either.
    let into = explained.way.iter().filter_map(|passage| passage.into.as_deref());
    let withdrawn =
        withheld.among(explained.absorbed.iter().map(|passage| passage.id.as_str()).chain(into))?;
    let withdrawn: BTreeSet<String> = withdrawn.into_iter().map(str::to_owned).collect();
    let shown = |id: &str| !withdrawn.contains(id);
    if explained.way.is_empty() {
        return Err(PageError::not_found());
    }
    let mut way = explained.way;
    for passage in &mut way {
        passage.details = audit::details(&config, recipe, &passage.stage, &passage.id)?;
    }
    let raw = audit::raw_post(&app.workspace, recipe, id)?;
    let last = way.last().filter(|passage| passage.outcome == "merged" && passage.stage != "import");
    let keeper = last.and_then(|passage| Some((passage, passage.into.clone().filter(|into| shown(into))?)));
    let keeper = keeper.map(|(passage, into)| side(app, recipe, passage, into)).transpose()?;
    let absorbed = explained.absorbed.iter().filter(|passage| shown(&passage.id));
    let absorbed = absorbed.map(|passage| side(app, recipe, passage, passage.id.clone()));
    let absorbed: Vec<Side> = absorbed.collect::<Result<_, _>>()?;
    let compared = way.iter().rev().find(|p| p.outcome == "merged" || p.stage == "dedup");
    let text = match compared {
        Some(passage) => entered(app, recipe, &passage.stage, id)?,
        None => None,
    };
    let text = text.or_else(|| way.iter().rev().find_map(|passage| passage.after.clone()));
    let text = text.or_else(|| raw.as_ref().map(|post| post.text.clone()));
    let text = match text {
        Some(text) => text,
        // A record set aside by import is only in its dump.
        None => search::at_place(&config, id)?.map(|record| record.text).unwrap_or_default(),
    };
    Ok(RecordPage {
        recipe: recipe.name,
        others: others(app, &config, recipe, id)?,
        id: id.into(),
        text,
        ends: explained.ends,
        way,
        keeper,
        absorbed,
        released: released(app, recipe, id)?,
        desk: desk_of(app, &config, recipe, id, visitor)?,
        raw,
    })
}

/// Other recipes with a record of this id, so that links still work.
fn others(app: &App, config: &Config, own: &'static Recipe, id: &str) -> Result<Vec<&'static str>, Error> {
    let mut others = Vec::new();
    for recipe in recipe::used(config).filter(|recipe| recipe.name != own.name) {
        if !audit::explain(&app.workspace, recipe, id)?.way.is_empty() {
            others.push(recipe.name);
        }
    }
    Ok(others)
}

fn side(app: &App, recipe: &'static Recipe, passage: &Passage, id: String) -> Result<Side, PageError> {
    let text = entered(app, recipe, &passage.stage, &id)?.unwrap_or_default();
    Ok(Side {
        id,
        text,
        score: passage.score,
        reason: passage.reason.clone(),
        evidence: passage.evidence.clone(),
        stage: passage.stage.clone(),
    })
}

/// A record's text as it entered a stage.
fn entered(app: &App, recipe: &'static Recipe, stage: &str, id: &str) -> Result<Option<String>, PageError> {
    let Some((_, step)) = recipe.step(stage) else { return Ok(None) };
    let Some(opened) = app.stages.open(&app.workspace, recipe, step)? else { return Ok(None) };
    Ok(opened.record_of(id)?.and_then(|record| record.text))
}

/// Rows of the candidate and of releases on disk that name the record. Only lines containing the id are
/// parsed.
fn released(app: &App, recipe: &'static Recipe, id: &str) -> Result<Vec<Released>, Error> {
    let output = app.workspace.root().join("output").join(recipe.name);
    let mut found = Vec::new();
    let Ok(folders) = fence::list(&output) else { return Ok(found) };
    let mut folders: Vec<_> = folders.filter_map(|entry| Some(entry.ok()?.path())).collect();
    folders.sort();
    // With its quotes an id is not found as the beginning of a longer one.
    let quoted = Value::from(id).to_string();
    let finder = memchr::memmem::Finder::new(quoted.as_bytes());
    for folder in folders {
        let Some(manifest) = Candidate::read(&folder)? else { continue };
        for config in manifest.configs.keys() {
            let path = folder.join("data").join(config).join("test.jsonl");
            let Ok(bytes) = fence::read(&path) else { continue };
            let Some(at) = finder.find(&bytes) else { continue };
            let start = memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |at| at + 1);
            let end = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |length| at + length);
            let row = serde_json::from_slice(&bytes[start..end]).map_err(|e| Error::stale_file(&path, e))?;
            found.push(Released { version: manifest.version.clone(), config: config.clone(), row });
        }
    }
    Ok(found)
}

/// The search terms from the page's header.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::web) struct Sought {
    q: String,
}

#[derive(Serialize)]
struct Hits {
    q: String,
    records: Vec<Hit>,
    /// Whether there are more hits.
    more: bool,
    changed: Vec<ChangedDump>,
}

/// A record of a dump, and where it ended.
#[derive(Serialize)]
struct Hit {
    name: String,
    place: String,
    text: String,
    ended: Vec<Whereabouts>,
}

/// An id or a place in a dump redirects to its record; words list the records that contain them, wherever
/// these ended.
pub(in crate::web) async fn find(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Query(sought): Query<Sought>,
) -> Result<Response, PageError> {
    let q = sought.q.trim().to_string();
    let found = reading(move || {
        let (config, _) = app.config();
        let recipes: Vec<_> = recipe::used(&config).collect();
        let withdrawals = Withdrawals::load(&app.workspace)?;
        let withheld: Vec<Withheld> =
            recipes.iter().map(|recipe| Withheld::open(&app.workspace, recipe)).collect::<Result<_, _>>()?;
        let of_place = withheld.iter().map(|withheld| Ok(withheld.tombstone(&q)?.is_some()));
        let of_place: Vec<bool> = of_place.collect::<Result<_, Error>>()?;
        let everywhere = !of_place.is_empty() && of_place.into_iter().all(|withdrawn| withdrawn);
        // The words may be the id of a post or its text.
        if withdrawals.of_post(&q, &q).is_some() || everywhere {
            return Err(PageError::withdrawn());
        }
        let mut found = Found::default();
        if is_name(&q) {
            for recipe in &recipes {
                if let [id] = audit::find(&app.workspace, recipe, &q)?.as_slice() {
                    return Ok(Err((recipe.name, id.clone())));
                }
            }
            found = search::by_name(&config, &q)?;
        }
        if found.records.is_empty() {
            found = search::by_text(&config, &q, HITS)?;
        }
        let mut hits: Vec<Hit> = found.records.iter().map(hit).collect();
        for recipe in &recipes {
            let ended = audit::whereabouts(&app.workspace, recipe, &found.records)?;
            hits.iter_mut().zip(ended).for_each(|(hit, ended)| hit.ended.extend(ended));
        }
        if hits.is_empty() {
            // A text changed by a stage is in no dump.
            for (recipe, withheld) in recipes.iter().zip(&withheld) {
                let ids = audit::find_changed(&app.workspace, recipe, &q)?;
                let withdrawn = withheld.among(ids.iter().map(String::as_str))?;
                for id in ids.iter().filter(|id| !withdrawn.contains(id.as_str())).take(HITS) {
                    let mut explained = audit::explain(&app.workspace, recipe, id)?;
                    audit::compare(&app.workspace, recipe, &mut explained)?;
                    let ended = explained.whereabouts().into_iter().collect();
                    let text = explained.text.unwrap_or_default();
                    hits.push(Hit { name: id.clone(), place: String::new(), text, ended });
                }
            }
        }
        if let [hit] = hits.as_slice()
            && let (Some(ended), true) = (hit.ended.first(), is_name(&q))
        {
            return Ok(Err((ended.recipe, ended.id.clone())));
        }
        Ok(Ok(Hits { q, records: hits, more: found.more, changed: found.changed }))
    })
    .await?;
    match found {
        Ok(hits) => view::page(&visitor, "found.html", hits),
        Err((recipe, id)) => {
            Ok(Redirect::to(&format!("/{recipe}/record/{}", view::encoded(&id))).into_response())
        }
    }
}

fn hit(record: &Recalled) -> Hit {
    Hit {
        name: record.ids.first().unwrap_or(&record.locator).clone(),
        place: record.locator.clone(),
        text: record.text.clone(),
        ended: Vec::new(),
    }
}

/// Whether it may be an id (`tieba:8370518555`, `text:…`) or a place in a dump (`titles:17`).
fn is_name(q: &str) -> bool {
    q.is_ascii() && q.contains(':') && !q.contains(' ')
}
