//! One record's path through the stages, with all decisions on it.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse, Redirect, Response};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::causes;
use super::decide::{DecisionDesk, desk_of, hash_shown_text};
use crate::app::{App, find_recipe, read_blocking};
use crate::audit::{self, NamedRecord, OtherReading, Reading, RecordEnding, Resolver, StageEntry};
use crate::config::Config;
use crate::error::PageError;
use crate::pipeline::Withheld;
use crate::recipe::{self, Recipe};
use crate::record::Post;
use crate::release::{CandidateManifest, CurrentRows};
use crate::report;
use crate::search::ChangedDump;
use crate::store::Error;
use crate::view;
use crate::visitor::Visitor;
use riddlemill_files::fence;

/// Hits of a search per page.
const HITS: usize = 30;
/// Most pages of a search: whoever looks further narrows the words.
const PAGES: usize = 1000;

#[derive(Serialize)]
struct RecordPage {
    recipe: &'static str,
    others: Vec<&'static str>,
    id: String,
    text: String,
    ends: String,
    /// The stage that it waits for, because that was made before the record was there.
    outdated: Option<String>,
    /// What else the name could mean by which it was found.
    also: Vec<OtherReading>,
    /// Whether it reached the end of the recipe and is no row of the set.
    rowless: bool,
    way: Vec<StageEntry>,
    raw: Option<Post>,
    /// The record it was merged into, side by side.
    keeper: Option<Side>,
    /// Records merged into it.
    absorbed: Vec<Side>,
    released: Vec<Released>,
    /// The existing and possible decisions about it.
    desk: DecisionDesk,
    /// The hash of the text in the form, from which a new one is told.
    shown: String,
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

pub(crate) async fn show_record(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path((name, id)): Path<(String, String)>,
    Query(sought): Query<SearchQuery>,
) -> Result<Response, PageError> {
    let recipe = find_recipe(&name)?;
    let who = visitor.clone();
    let whole = read_blocking(move || {
        let mut whole = prepare_record_page(&app, recipe, &id, &who)?;
        // It was searched for by a name that could mean another record, too.
        if !sought.q.is_empty() {
            let (config, _) = app.current_config();
            let recipes: Vec<_> = recipe::used_recipes(&config).collect();
            whole.also = Resolver::open(&config, &recipes)?.resolve_name(&sought.q, HITS)?.others;
        }
        Ok(whole)
    })
    .await?;
    view::render_page(&visitor, "record.html", whole)
}

fn prepare_record_page(
    app: &App,
    recipe: &'static Recipe,
    id: &str,
    visitor: &Visitor,
) -> Result<RecordPage, PageError> {
    let (config, _) = app.current_config();
    let withheld = Withheld::open(&app.workspace, recipe)?;
    if withheld.find_tombstone(id)?.is_some() {
        return Err(PageError::record_withdrawn());
    }
    let mut explained = audit::explain_record(&app.workspace, recipe, id)?;
    if explained.way.is_empty() {
        return Err(PageError::not_found());
    }
    let rows = CurrentRows::of_recipe(&app.workspace, recipe);
    report::complete_explanation(&config, &rows, &mut explained, Some(&withheld))?;
    let rowless = explained.left_out.is_some();
    let outdated = explained.next.clone().filter(|_| explained.outdated);
    let mut way = explained.way;
    causes::translate_passages(app, recipe, visitor.language, &mut way)?;
    let raw = audit::raw_post(&app.workspace, recipe, id)?;
    let last = way.last().filter(|passage| passage.outcome == "merged" && passage.stage != "import");
    // The text of a withdrawn record is not shown next to its keeper either.
    let keeper = last.and_then(|passage| {
        Some(passage_side(passage, passage.into.as_ref()?.clone(), passage.into_text.as_ref()?.clone()))
    });
    let absorbed = explained.absorbed.iter();
    let absorbed = absorbed
        .map(|passage| {
            passage_side(passage, passage.id.clone(), passage.own_text.clone().unwrap_or_default())
        })
        .collect();
    Ok(RecordPage {
        recipe: recipe.name,
        others: recipes_with_record(app, &config, recipe, id)?,
        id: id.into(),
        shown: hash_shown_text(explained.text.as_deref().unwrap_or_default()),
        text: explained.text.unwrap_or_default(),
        ends: explained.ends,
        outdated,
        also: Vec::new(),
        rowless,
        way,
        keeper,
        absorbed,
        released: find_released_rows(app, recipe, id)?,
        desk: desk_of(app, &config, recipe, id, visitor)?,
        raw,
    })
}

/// Other recipes with a record of this id, so that links still work.
fn recipes_with_record(
    app: &App,
    config: &Config,
    own: &'static Recipe,
    id: &str,
) -> Result<Vec<&'static str>, Error> {
    let mut others = Vec::new();
    for recipe in recipe::used_recipes(config).filter(|recipe| recipe.name != own.name) {
        if !audit::explain_record(&app.workspace, recipe, id)?.way.is_empty() {
            others.push(recipe.name);
        }
    }
    Ok(others)
}

fn passage_side(passage: &StageEntry, id: String, text: String) -> Side {
    Side {
        id,
        text,
        score: passage.score,
        reason: passage.reason.clone(),
        evidence: passage.evidence.clone(),
        stage: passage.stage.clone(),
    }
}

/// Rows of the candidate and of releases on disk that name the record. Only lines containing the id are
/// parsed.
fn find_released_rows(app: &App, recipe: &'static Recipe, id: &str) -> Result<Vec<Released>, Error> {
    let output = app.workspace.root().join("output").join(recipe.name);
    let mut found = Vec::new();
    let Ok(folders) = fence::list(&output) else { return Ok(found) };
    let mut folders: Vec<_> = folders.filter_map(|entry| Some(entry.ok()?.path())).collect();
    folders.sort();
    // With its quotes an id is not found as the beginning of a longer one.
    let quoted = Value::from(id).to_string();
    let finder = memchr::memmem::Finder::new(quoted.as_bytes());
    for folder in folders {
        let Some(manifest) = CandidateManifest::read_manifest(&folder)? else { continue };
        let files = manifest
            .configs
            .keys()
            .flat_map(|config| manifest.files_of(config).into_iter().map(move |file| (config, file)));
        for (config, file) in files {
            let path = folder.join(file);
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

/// The search terms from the page's header, and which page of what they find.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct SearchQuery {
    q: String,
    page: String,
}

#[derive(Default, Serialize)]
struct Hits {
    q: String,
    records: Vec<Hit>,
    /// How many hits are on the pages before this one.
    before: usize,
    page: usize,
    /// Whether there are more hits.
    more: bool,
    changed: Vec<ChangedDump>,
    /// What else the words could mean.
    others: Vec<OtherReading>,
}

/// A record of a dump, and where it ended.
#[derive(Serialize)]
struct Hit {
    name: String,
    place: String,
    text: String,
    ended: Vec<RecordEnding>,
}

/// An id or a place in a dump redirects to its record; words list the records that contain them, wherever
/// these ended.
pub(crate) async fn find_records(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Query(sought): Query<SearchQuery>,
) -> Result<Response, PageError> {
    let q = sought.q.trim().to_string();
    let page = sought.page.parse::<usize>().unwrap_or(1).clamp(1, PAGES);
    let before = (page - 1) * HITS;
    let found = read_blocking(move || {
        let (config, _) = app.current_config();
        let recipes: Vec<_> = recipe::used_recipes(&config).collect();
        if q.is_empty() {
            return Ok(Ok(Hits::default()));
        }
        let found = Resolver::open(&config, &recipes)?.resolve_behind(&q, before, HITS)?;
        // Later pages may have hits that are not withdrawn.
        let is_all = page == 1 && !found.more;
        if is_all && found.records.is_empty() && !found.withdrawn.is_empty() {
            return Err(PageError::record_withdrawn());
        }
        // A name has a page of its own; of a text there may be more than the one that is shown.
        if let ([record], true) = (&found.records[..], found.reading != Some(Reading::Text))
            && let Some(at) = record.at.first()
        {
            let also = if found.others.is_empty() {
                String::new()
            } else {
                format!("?q={}", view::encode_segment(&q))
            };
            return Ok(Err(format!("/{}/record/{}{also}", at.recipe.name, view::encode_segment(&at.id))));
        }
        let mut hits = Vec::new();
        for record in &found.records {
            hits.extend(describe_hit(&app, record)?);
        }
        let more = found.more && page < PAGES;
        let (changed, others) = (found.changed, found.others);
        Ok(Ok(Hits { q, records: hits, before, page, more, changed, others }))
    })
    .await?;
    match found {
        Ok(hits) => view::render_page(&visitor, "found.html", hits),
        Err(address) => Ok(Redirect::to(&address).into_response()),
    }
}

/// A record as a search shows it: as its dump has it, else as the stages do.
fn describe_hit(app: &App, record: &NamedRecord) -> Result<Option<Hit>, PageError> {
    if let Some(recalled) = &record.recalled {
        let place = recalled.locator.to_string();
        let name = recalled.ids.first().cloned().unwrap_or_else(|| place.clone());
        return Ok(Some(Hit { name, place, text: recalled.text.clone(), ended: record.ended.clone() }));
    }
    let (mut text, mut ended) = (None, Vec::new());
    for at in &record.at {
        let mut explained = audit::explain_record(&app.workspace, at.recipe, &at.id)?;
        audit::fill_texts(&app.workspace, at.recipe, &mut explained)?;
        ended.extend(explained.end_of_path());
        text = text.or(explained.text);
    }
    let name = record.name();
    Ok((!ended.is_empty()).then(|| Hit { name, place: String::new(), text: text.unwrap_or_default(), ended }))
}
