//! One record's whole way, with everything that was decided on.

use std::sync::Arc;

use axum::extract::{Path, Query as Asked, State};
use axum::response::{IntoResponse, Redirect, Response};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::audit::{self, Passage};
use crate::config::Config;
use crate::recipe::{self, Recipe};
use crate::record::Post;
use crate::release::Candidate;
use crate::stages::Rows;
use crate::store::{Error, StageReader, any_of, select};
use crate::web::app::{App, reading, recipe};
use crate::web::error::Oops;
use crate::web::guard::Visitor;
use crate::web::staged::{Query, Record};
use crate::web::view;

/// Hits of a search, a recipe.
const HITS: usize = 30;

#[derive(Serialize)]
struct Whole {
    recipe: &'static str,
    others: Vec<&'static str>,
    id: String,
    text: String,
    ends: String,
    way: Vec<Passage>,
    raw: Option<Post>,
    /// The record it went into, side by side.
    keeper: Option<Side>,
    /// Records that went into it.
    absorbed: Vec<Side>,
    released: Vec<Released>,
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

/// A row of a release or candidate that came of the record.
#[derive(Serialize)]
struct Released {
    version: String,
    config: String,
    row: Value,
}

/// The page.
pub(in crate::web) async fn page(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path((name, id)): Path<(String, String)>,
) -> Result<Response, Oops> {
    let recipe = recipe(&name)?;
    let whole = reading(move || whole(&app, recipe, &id)).await?;
    view::page(&visitor, "record.html", whole)
}

fn whole(app: &App, recipe: &'static Recipe, id: &str) -> Result<Whole, Oops> {
    let (config, _) = app.config();
    let explained = audit::explain_by(&app.workspace, recipe, id, &app.stages)?;
    if explained.way.is_empty() {
        return Err(Oops::not_found());
    }
    let mut way = explained.way;
    for passage in &mut way {
        passage.details = audit::details(&config, recipe, &passage.stage, &passage.id)?;
    }
    let raw = raw(app, recipe, id)?;
    let last = way.last().filter(|passage| passage.outcome == "merged" && passage.stage != "import");
    let keeper = last.and_then(|passage| Some((passage, passage.into.clone()?)));
    let keeper = keeper.map(|(passage, into)| side(app, recipe, passage, into)).transpose()?;
    let absorbed = explained.absorbed.iter().map(|passage| side(app, recipe, passage, passage.id.clone()));
    let absorbed: Vec<Side> = absorbed.collect::<Result<_, _>>()?;
    let compared = way.iter().rev().find(|p| p.outcome == "merged" || p.stage == "dedup");
    let text = match compared {
        Some(passage) => entered(app, recipe, &passage.stage, id)?,
        None => None,
    };
    let text = text.or_else(|| way.iter().rev().find_map(|passage| passage.after.clone()));
    let text = text.or_else(|| raw.as_ref().map(|post| post.text.clone())).unwrap_or_default();
    Ok(Whole {
        recipe: recipe.name,
        others: others(&config, recipe),
        id: id.into(),
        text,
        ends: explained.ends,
        way,
        keeper,
        absorbed,
        released: released(app, recipe, id)?,
        raw,
    })
}

fn others(config: &Config, own: &'static Recipe) -> Vec<&'static str> {
    recipe::used(config).map(|recipe| recipe.name).filter(|name| *name != own.name).collect()
}

/// The post as people wrote it.
fn raw(app: &App, recipe: &'static Recipe, id: &str) -> Result<Option<Post>, Error> {
    let origin = recipe.origin();
    let Some(first) = origin.steps.first().filter(|step| step.stage.rows() == Rows::Posts) else {
        return Ok(None);
    };
    let Some(reader) = StageReader::open(&app.workspace.stage(origin.name, 1, first.name))? else {
        return Ok(None);
    };
    Ok(select::<Post>(&reader, "rows", any_of("id", [id]))?.into_iter().next())
}

fn side(app: &App, recipe: &'static Recipe, passage: &Passage, id: String) -> Result<Side, Oops> {
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
fn entered(app: &App, recipe: &'static Recipe, stage: &str, id: &str) -> Result<Option<String>, Oops> {
    let Some((_, step)) = recipe.step(stage) else { return Ok(None) };
    let Some(looking) = app.stages.open(&app.workspace, recipe, step)? else { return Ok(None) };
    Ok(looking.record_of(id)?.and_then(|record| record.text))
}

/// Rows of the candidate and of releases on disk that name the record. Only lines that hold the id are
/// parsed.
fn released(app: &App, recipe: &'static Recipe, id: &str) -> Result<Vec<Released>, Error> {
    let output = app.workspace.root().join("output").join(recipe.name);
    let mut found = Vec::new();
    let Ok(folders) = std::fs::read_dir(&output) else { return Ok(found) };
    let mut folders: Vec<_> = folders.filter_map(|entry| Some(entry.ok()?.path())).collect();
    folders.sort();
    let quoted = Value::from(id).to_string();
    let finder = memchr::memmem::Finder::new(quoted.as_bytes());
    for folder in folders {
        let Some(manifest) = Candidate::read(&folder)? else { continue };
        for config in manifest.configs.keys() {
            let path = folder.join("data").join(config).join("test.jsonl");
            let Ok(bytes) = std::fs::read(&path) else { continue };
            let Some(at) = finder.find(&bytes) else { continue };
            let start = memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |at| at + 1);
            let end = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |length| at + length);
            let row = serde_json::from_slice(&bytes[start..end]).map_err(|e| Error::stale_file(&path, e))?;
            found.push(Released { version: manifest.version.clone(), config: config.clone(), row });
        }
    }
    Ok(found)
}

/// What somebody typed into the search of the page's head.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::web) struct Sought {
    q: String,
}

#[derive(Serialize)]
struct Hits {
    q: String,
    recipes: Vec<(&'static str, Vec<Record>, usize)>,
}

/// An id or a place in a dump leads to its record; words to the posts that hold them.
pub(in crate::web) async fn find(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Asked(sought): Asked<Sought>,
) -> Result<Response, Oops> {
    let q = sought.q.trim().to_string();
    let found = reading(move || {
        let (config, _) = app.config();
        let recipes: Vec<_> = recipe::used(&config).collect();
        if is_name(&q) {
            for recipe in &recipes {
                if let [id] = audit::find(&app.workspace, recipe, &q)?.as_slice() {
                    return Ok(Err((recipe.name, id.clone())));
                }
            }
        }
        let mut hits = Hits { q: q.clone(), recipes: Vec::new() };
        let query = Query { words: q, ..Query::default() };
        for recipe in recipes.into_iter().filter(|_| !query.words.is_empty()) {
            let Some(first) = recipe.steps.first() else { continue };
            let Some(looking) = app.stages.open(&app.workspace, recipe, first)? else { continue };
            let (records, all) = looking.page(&query, 0, HITS)?;
            hits.recipes.push((recipe.name, records, all));
        }
        Ok(Ok(hits))
    })
    .await?;
    match found {
        Ok(hits) => view::page(&visitor, "found.html", hits),
        Err((recipe, id)) => {
            Ok(Redirect::to(&format!("/{recipe}/record/{}", view::encoded(&id))).into_response())
        }
    }
}

/// Whether it may be an id (`tieba:8370518555`, `text:…`) or a place in a dump (`titles:17`).
fn is_name(q: &str) -> bool {
    q.is_ascii() && q.contains(':') && !q.contains(' ')
}
