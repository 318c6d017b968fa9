//! Which records were one joke, which were nearly one, and what says so.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{Path, Query as Asked, State};
use axum::response::Response;
use polars::prelude::{col, lit};
use serde::{Deserialize, Serialize};

use crate::recipe::{Recipe, Step};
use crate::record::Entry;
use crate::stages::NearPair;
use crate::store::select;
use crate::web::app::{App, reading, recipe};
use crate::web::error::Oops;
use crate::web::guard::Visitor;
use crate::web::staged::Looking;
use crate::web::view;

/// Clusters or pairs on a page.
const PAGE: usize = 20;
/// Members of a cluster that are shown.
const MEMBERS: usize = 12;

/// What stands in the address.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(default)]
pub(in crate::web) struct Filter {
    /// `clusters` or `pairs`.
    show: String,
    /// Of pairs: `borderline`, `same` or `all`.
    verdict: String,
    /// Of pairs: those of this score and less.
    score: String,
    page: String,
}

impl Default for Filter {
    fn default() -> Filter {
        Filter {
            show: "clusters".into(),
            verdict: "borderline".into(),
            score: "1.00".into(),
            page: String::new(),
        }
    }
}

#[derive(Serialize)]
struct Found {
    recipe: &'static str,
    stage: &'static str,
    filter: Filter,
    clusters: Vec<Cluster>,
    pairs: Vec<Pair>,
    found: usize,
    merged: usize,
    page: usize,
    pages: usize,
    threshold: Option<f64>,
}

/// A record and those that went into it.
#[derive(Serialize)]
struct Cluster {
    id: String,
    text: String,
    size: usize,
    members: Vec<Member>,
}

#[derive(Serialize)]
struct Member {
    #[serde(flatten)]
    entry: Entry,
    text: String,
}

#[derive(Serialize)]
struct Pair {
    #[serde(flatten)]
    pair: NearPair,
    text_a: String,
    text_b: String,
}

/// The page.
pub(in crate::web) async fn page(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path(name): Path<String>,
    Asked(filter): Asked<Filter>,
) -> Result<Response, Oops> {
    let recipe = recipe(&name)?;
    let found = reading(move || find(&app, recipe, filter)).await?;
    view::page(&visitor, "duplicates.html", found)
}

/// The step of a recipe that compares records.
fn comparing(recipe: &'static Recipe) -> Option<&'static Step> {
    recipe.steps.iter().find(|step| matches!(step.stage, crate::stages::Stage::Dedup))
}

fn find(app: &App, recipe: &'static Recipe, filter: Filter) -> Result<Found, Oops> {
    let step = comparing(recipe).ok_or_else(Oops::not_found)?;
    let mut found = Found {
        recipe: recipe.name,
        stage: step.name,
        clusters: Vec::new(),
        pairs: Vec::new(),
        found: 0,
        merged: 0,
        page: filter.page.parse().unwrap_or(1).max(1),
        pages: 0,
        threshold: None,
        filter,
    };
    let Some(looking) = app.stages.open(&app.workspace, recipe, step)? else { return Ok(found) };
    let manifest = looking.stage.manifest();
    let metric = manifest.settings.get("metric").and_then(|m| m.as_str()).unwrap_or("default");
    if metric != "default" {
        found.threshold = manifest.settings.get("threshold").and_then(serde_json::Value::as_f64);
    }
    let merged: Vec<Entry> = select(&looking.stage, "ledger", col("outcome").eq(lit("merged")))?;
    found.merged = merged.len();
    if found.filter.show == "pairs" {
        pairs(&looking, &mut found)?
    } else {
        clusters(&looking, merged, &mut found)?
    }
    Ok(found)
}

/// The largest first; of one size, in the order of their ids.
fn clusters(looking: &Looking<'_>, merged: Vec<Entry>, found: &mut Found) -> Result<(), Oops> {
    let mut by_keeper: BTreeMap<String, Vec<Entry>> = BTreeMap::new();
    for entry in merged {
        by_keeper.entry(entry.into.clone().unwrap_or_default()).or_default().push(entry);
    }
    let mut clusters: Vec<(String, Vec<Entry>)> = by_keeper.into_iter().collect();
    clusters.sort_by_key(|(_, members)| std::cmp::Reverse(members.len()));
    for (id, members) in paged(clusters, found) {
        let text = text_of(looking, &id)?;
        let size = members.len() + 1;
        let member = |entry: Entry| Ok(Member { text: text_of(looking, &entry.id)?, entry });
        let members = members.into_iter().take(MEMBERS).map(member).collect::<Result<_, Oops>>()?;
        found.clusters.push(Cluster { id, text, size, members });
    }
    Ok(())
}

/// The likest first, from the chosen score downwards.
fn pairs(looking: &Looking<'_>, found: &mut Found) -> Result<(), Oops> {
    let at_most: f64 = found.filter.score.parse().unwrap_or(1.0);
    // A slider's hundredths stand for all scores that are written so.
    let mut wanted = col("score").lt(lit(at_most + 0.005));
    if found.filter.verdict != "all" {
        wanted = wanted.and(col("verdict").eq(lit(found.filter.verdict.clone())));
    }
    let mut pairs: Vec<NearPair> = select(&looking.stage, "pairs", wanted)?;
    pairs.sort_by(|x, y| y.score.total_cmp(&x.score));
    for pair in paged(pairs, found) {
        let (text_a, text_b) = (text_of(looking, &pair.a)?, text_of(looking, &pair.b)?);
        found.pairs.push(Pair { pair, text_a, text_b });
    }
    Ok(())
}

fn paged<T>(all: Vec<T>, found: &mut Found) -> Vec<T> {
    found.found = all.len();
    found.pages = all.len().div_ceil(PAGE);
    found.page = found.page.min(found.pages.max(1));
    all.into_iter().skip((found.page - 1) * PAGE).take(PAGE).collect()
}

fn text_of(looking: &Looking<'_>, id: &str) -> Result<String, Oops> {
    Ok(looking.record_of(id)?.and_then(|record| record.text).unwrap_or_default())
}
