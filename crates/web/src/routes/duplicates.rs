//! Merged records, close pairs, and the evidence.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::response::Response;
use serde::{Deserialize, Serialize};

use super::decide::{DecisionDesk, decision_desk};
use crate::app::{App, find_recipe, read_blocking};
use crate::decisions::seen_pair;
use crate::error::PageError;
use crate::pipeline::Withheld;
use crate::recipe::{Recipe, Step};
use crate::record::Entry;
use crate::release::{AlikePair, alike_pairs};
use crate::store::view::{PairQuery, Record, StageView};
use crate::view;
use crate::visitor::Visitor;
use riddlemill_pipeline::stages::NearPair;

/// Clusters or pairs per page.
const PAGE: usize = 20;
/// Most members of a cluster that are shown.
const MEMBERS: usize = 12;

/// Query parameters.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct DuplicatesQuery {
    /// `clusters` or `pairs`.
    show: String,
    /// For pairs: `borderline`, `same` or `all`.
    verdict: String,
    /// For pairs: at most this score.
    score: String,
    /// For pairs: `lowest` or `highest` score first; merges with the lowest score are worth checking first.
    order: String,
    page: String,
}

impl Default for DuplicatesQuery {
    fn default() -> DuplicatesQuery {
        DuplicatesQuery {
            show: "clusters".into(),
            verdict: "borderline".into(),
            score: "1.00".into(),
            order: String::new(),
            page: String::new(),
        }
    }
}

#[derive(Serialize)]
struct DuplicatesPage {
    recipe: &'static str,
    stage: &'static str,
    filter: DuplicatesQuery,
    clusters: Vec<Cluster>,
    pairs: Vec<DuplicatePair>,
    /// Rows that are alike since people rewrote their texts.
    alike: Vec<Alike>,
    found: usize,
    merged: usize,
    page: usize,
    pages: usize,
    threshold: Option<f64>,
    /// Who may decide that two are one or two.
    desk: DecisionDesk,
}

/// A record and those merged into it.
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
    /// The hash of its text and its keeper's.
    seen: String,
}

#[derive(Serialize)]
struct DuplicatePair {
    #[serde(flatten)]
    pair: NearPair,
    text_a: String,
    text_b: String,
    /// The hash of both.
    seen: String,
}

#[derive(Serialize)]
struct Alike {
    #[serde(flatten)]
    pair: AlikePair,
    /// The hash of both posts as they were compared.
    seen: String,
}

pub(crate) async fn show_duplicates(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path(name): Path<String>,
    Query(filter): Query<DuplicatesQuery>,
) -> Result<Response, PageError> {
    let recipe = find_recipe(&name)?;
    let who = visitor.clone();
    let found = read_blocking(move || find_duplicates(&app, recipe, filter, &who)).await?;
    view::render_page(&visitor, "duplicates.html", found)
}

/// The step of a recipe that compares records.
pub(super) fn comparing_step(recipe: &'static Recipe) -> Option<&'static Step> {
    recipe.steps().iter().find(|step| step.stage.compares_pairs())
}

fn find_duplicates(
    app: &App,
    recipe: &'static Recipe,
    filter: DuplicatesQuery,
    visitor: &Visitor,
) -> Result<DuplicatesPage, PageError> {
    let step = comparing_step(recipe).ok_or_else(PageError::not_found)?;
    let mut found = DuplicatesPage {
        recipe: recipe.name,
        stage: step.name,
        clusters: Vec::new(),
        pairs: Vec::new(),
        alike: Vec::new(),
        found: 0,
        merged: 0,
        page: filter.page.parse().unwrap_or(1).max(1),
        pages: 0,
        threshold: None,
        desk: decision_desk(&app.current_config().0, visitor)?,
        filter,
    };
    let Some(opened) = app.stages.open_stage(&app.workspace, recipe, step)? else { return Ok(found) };
    let manifest = opened.stage.manifest();
    let metric = manifest.settings.get("metric").and_then(|m| m.as_str()).unwrap_or("default");
    if metric != "default" {
        found.threshold = manifest.settings.get("threshold").and_then(serde_json::Value::as_f64);
    }
    found.merged = opened.in_state("merged");
    let withheld = Withheld::open(&app.workspace, recipe)?;
    if found.filter.show == "pairs" {
        list_pairs(&opened, &withheld, &mut found)?;
        if step.stage.merges_posts() && found.page == 1 {
            found.alike = find_alike_rows(app, recipe, &opened)?;
        }
    } else {
        list_clusters(&opened, &withheld, &mut found)?
    }
    Ok(found)
}

/// Largest first; of equal size, in the order in which their keepers entered.
fn list_clusters(
    opened: &StageView<'_>,
    withheld: &Withheld,
    found: &mut DuplicatesPage,
) -> Result<(), PageError> {
    // The total comes first, because the number of the page is limited by it.
    let (_, all) = opened.clusters_page(0, 0, 0)?;
    let from = page_offset(all, found);
    let text = |record: &Record| record.text.clone().unwrap_or_default();
    for mut cluster in opened.clusters_page(from, PAGE, MEMBERS)?.0 {
        // Clusters with records withdrawn since are not shown.
        let ids = cluster.members.iter().chain([&cluster.keeper]).map(|record| record.entry.id.as_str());
        let withdrawn: BTreeSet<String> =
            withheld.withdrawn_among(ids)?.into_iter().map(str::to_owned).collect();
        let stays = |record: &Record| {
            !withdrawn.contains(&record.entry.id) && !withheld.is_withdrawn_text(&text(record))
        };
        if !stays(&cluster.keeper) {
            continue;
        }
        cluster.members.retain(stays);
        let keeper = (cluster.keeper.entry.id.clone(), text(&cluster.keeper));
        let member = |record: Record| {
            let text = text(&record);
            let seen = seen_pair((&keeper.0, &keeper.1), (&record.entry.id, &text)).to_string();
            Member { text, seen, entry: record.entry }
        };
        found.clusters.push(Cluster {
            text: text(&cluster.keeper),
            id: cluster.keeper.entry.id,
            size: cluster.merged + 1,
            members: cluster.members.into_iter().map(member).collect(),
        });
    }
    Ok(())
}

/// Most similar first, from the chosen score downwards.
fn list_pairs(
    opened: &StageView<'_>,
    withheld: &Withheld,
    found: &mut DuplicatesPage,
) -> Result<(), PageError> {
    let at_most: f64 = found.filter.score.parse().unwrap_or(1.0);
    // A slider's hundredth includes all scores that round to it.
    let below = at_most + 0.005;
    let verdict = found.filter.verdict.clone();
    if found.filter.order.is_empty() {
        let merged = matches!(verdict.as_str(), "same" | "joined");
        found.filter.order = if merged { "lowest" } else { "highest" }.to_string();
    }
    let lowest = found.filter.order == "lowest";
    let verdict = Some(verdict.as_str()).filter(|verdict| *verdict != "all");
    let query = PairQuery { below, verdict, lowest };
    let (_, all) = opened.pairs_page::<NearPair>(query, 0, 0)?;
    let from = page_offset(all, found);
    let (pairs, _) = opened.pairs_page::<NearPair>(query, from, PAGE)?;
    let ids: Vec<&str> = pairs.iter().flat_map(|pair| [pair.a.as_str(), pair.b.as_str()]).collect();
    let texts = opened.texts_of(&ids)?;
    let text = |id: &str| texts.get(id).cloned().unwrap_or_default();
    let shown = |pair: NearPair| {
        let (text_a, text_b) = (text(&pair.a), text(&pair.b));
        let seen = seen_pair((&pair.a, &text_a), (&pair.b, &text_b)).to_string();
        DuplicatePair { text_a, text_b, seen, pair }
    };
    let withdrawn = withheld.withdrawn_among(ids)?;
    let withdrawn: BTreeSet<String> = withdrawn.into_iter().map(str::to_owned).collect();
    let stays = |id: &String| !withdrawn.contains(id) && !withheld.is_withdrawn_text(&text(id));
    found.pairs = pairs.into_iter().filter(|pair| stays(&pair.a) && stays(&pair.b)).map(shown).collect();
    Ok(())
}

/// The rows of the candidate that are alike since people rewrote their texts.
fn find_alike_rows(
    app: &App,
    recipe: &'static Recipe,
    opened: &StageView<'_>,
) -> Result<Vec<Alike>, PageError> {
    let pairs = alike_pairs(&app.workspace, recipe)?;
    let ids: Vec<&str> = pairs.iter().flat_map(|pair| [pair.a.as_str(), pair.b.as_str()]).collect();
    let texts = opened.texts_of(&ids)?;
    let text = |id: &str| texts.get(id).map(String::as_str).unwrap_or_default();
    // A decision is about the posts, as dedup compares them.
    let shown = |pair: AlikePair| {
        let seen = seen_pair((&pair.a, text(&pair.a)), (&pair.b, text(&pair.b))).to_string();
        Alike { pair, seen }
    };
    Ok(pairs.iter().cloned().map(shown).collect())
}

/// The offset of the page among `all`.
fn page_offset(all: usize, found: &mut DuplicatesPage) -> usize {
    found.found = all;
    found.pages = all.div_ceil(PAGE);
    found.page = found.page.min(found.pages.max(1));
    (found.page - 1) * PAGE
}
