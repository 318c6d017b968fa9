//! Pairs and held posts as a queue, one at a time, and the decisions made.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::response::Response;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::decide::{DecisionDesk, decision_desk, decisions_of, possible_decisions};
use super::duplicates::comparing_step;
use super::stage::withhold_records;
use crate::app::{App, find_recipe, read_blocking};
use crate::decisions::{Decision, DecisionLog, seen_pair, seen_text};
use crate::error::PageError;
use crate::pipeline::Withheld;
use crate::recipe::{Recipe, Step};
use crate::record::State as Left;
use crate::review::Digest;
use crate::store::view::{PairQuery, Query as Records};
use crate::view;
use crate::visitor::Visitor;
use riddlemill_pipeline::stages::NearPair;

/// Pairs or records read at a time while those already decided are passed over.
const CHUNK: usize = 200;
/// More than any score.
const EVERY_SCORE: f64 = 2.0;

/// Query parameters.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct PendingQuery {
    /// For pairs: `borderline`, `same` or `all`.
    verdict: String,
    /// For pairs: `lowest` or `highest` score first.
    order: String,
    /// How many undecided ones are passed over.
    at: String,
    /// Without tokens: who decided last.
    #[serde(rename = "as")]
    person: String,
}

#[derive(Serialize)]
struct PendingPage {
    recipe: &'static str,
    /// `pairs` or `held`.
    kind: &'static str,
    verdict: String,
    order: String,
    /// How many undecided ones come before this one.
    at: usize,
    /// How many the stages left, decided since or not.
    total: usize,
    /// How many of the queue's kind were decided, in this run or for the next one.
    decided: usize,
    item: Option<Item>,
    person: String,
    /// The visitor's last decision here, which one key takes back.
    last: Option<Decision>,
    desk: DecisionDesk,
}

/// What stands there to be decided.
#[derive(Serialize)]
struct Item {
    stage: &'static str,
    record: String,
    text: String,
    /// The hash of what is shown.
    seen: String,
    /// For a held post: why.
    reason: Option<String>,
    evidence: Option<String>,
    /// For a held post: the possible decisions.
    choices: Vec<&'static str>,
    /// For a pair: the other one.
    other: Option<String>,
    other_text: String,
    pair: Option<NearPair>,
}

/// The decisions of one kind that count.
struct StandingDecisions<'l> {
    made: Vec<&'l Decision>,
    /// Stage, records, and what was seen: a text that changed since is asked about again.
    known: BTreeSet<(&'l str, &'l str, Option<&'l str>, String)>,
}

impl<'l> StandingDecisions<'l> {
    fn of_stages(
        log: &'l DecisionLog,
        recipe: &str,
        of_pairs: bool,
        stages: &[&str],
    ) -> StandingDecisions<'l> {
        let counts = |d: &&Decision| {
            stages.contains(&d.stage.as_str())
                && d.is_for(recipe)
                && d.verdict.is_of_pair() == of_pairs
                && !d.verdict.is_edit()
                && log.undo_of(d.id).is_none()
                && !log.is_disputed(d.id)
        };
        let made: Vec<&Decision> = log.all_decisions().iter().filter(counts).collect();
        let key =
            |d: &'l Decision| (d.stage.as_str(), d.record.as_str(), d.other.as_deref(), d.seen.to_string());
        let known = made.iter().copied().map(key).collect();
        StandingDecisions { made, known }
    }

    /// Whether somebody decided on this record or pair as it reads now.
    fn has_decision(&self, stage: &str, record: &str, other: Option<&str>, seen: Digest) -> bool {
        // A decision has the smaller of two ids first.
        let (first, second) = match other {
            Some(other) if other < record => (other, Some(record)),
            _ => (record, other),
        };
        self.known.contains(&(stage, first, second, seen.to_string()))
    }

    /// How many records or pairs somebody decided on, each counted once.
    fn len(&self) -> usize {
        let keys: BTreeSet<_> = self.known.iter().map(|(stage, a, b, _)| (stage, a, b)).collect();
        keys.len()
    }
}

/// Pairs, one at a time.
pub(crate) async fn show_pairs(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path(name): Path<String>,
    Query(asked): Query<PendingQuery>,
) -> Result<Response, PageError> {
    let recipe = find_recipe(&name)?;
    let step = comparing_step(recipe).ok_or_else(PageError::not_found)?;
    let of_page = (recipe, "pairs", vec![step]);
    next_one(app, visitor, asked, of_page, move |app, decided, found| {
        next_pair(app, recipe, step, decided, found)
    })
    .await
}

/// Held posts, one at a time.
pub(crate) async fn show_held(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path(name): Path<String>,
    Query(asked): Query<PendingQuery>,
) -> Result<Response, PageError> {
    let recipe = find_recipe(&name)?;
    let steps: Vec<&'static Step> =
        recipe.steps().iter().filter(|step| !possible_decisions(step).is_empty()).collect();
    let of_page = (recipe, "held", steps.clone());
    next_one(app, visitor, asked, of_page, move |app, decided, found| {
        next_held(app, recipe, &steps, decided, found)
    })
    .await
}

/// The page of a queue: recipe, its name in the address, and the steps whose decisions count. `next` finds what stands there.
async fn next_one(
    app: Arc<App>,
    visitor: Visitor,
    asked: PendingQuery,
    (recipe, kind, steps): (&'static Recipe, &'static str, Vec<&'static Step>),
    next: impl FnOnce(&App, &StandingDecisions<'_>, &mut PendingPage) -> Result<(), PageError> + Send + 'static,
) -> Result<Response, PageError> {
    let who = visitor.clone();
    let found = read_blocking(move || {
        // Before the decisions that the page shows, so that it never claims more of them than it does.
        let desk = decision_desk(&app.current_config().0, &who)?;
        let log =
            DecisionLog::read_folder(&app.workspace.decisions_folder()).map_err(PageError::internal_error)?;
        let names: Vec<&str> = steps.iter().map(|step| step.name).collect();
        let decided = StandingDecisions::of_stages(&log, recipe.name, kind == "pairs", &names);
        let mut found = PendingPage { desk, ..empty_page(recipe, kind, &who, asked, &decided) };
        next(&app, &decided, &mut found)?;
        Ok::<_, PageError>(found)
    })
    .await?;
    view::render_page(&visitor, "pending.html", found)
}

/// Every decision for a recipe, the newest first, each with what became of it.
pub(crate) async fn show_decisions(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path(name): Path<String>,
    Query(asked): Query<PendingQuery>,
) -> Result<Response, PageError> {
    let recipe = find_recipe(&name)?;
    let who = visitor.clone();
    let found = read_blocking(move || {
        let (config, _) = app.current_config();
        let desk = decision_desk(&config, &who)?;
        let mut made = decisions_of(&app, &config, recipe, |_| true)?;
        made.reverse();
        Ok::<_, PageError>(
            json!({ "recipe": recipe.name, "desk": desk, "made": made, "person": asked.person }),
        )
    })
    .await?;
    view::render_page(&visitor, "decisions.html", found)
}

/// How many held posts of a stage nobody has decided on as they read now.
pub(super) fn count_undecided(app: &App, recipe: &'static Recipe, step: &Step) -> Result<u64, PageError> {
    let log =
        DecisionLog::read_folder(&app.workspace.decisions_folder()).map_err(PageError::internal_error)?;
    let decided = StandingDecisions::of_stages(&log, recipe.name, false, &[step.name]);
    let Some(opened) = app.stages.open_stage(&app.workspace, recipe, step)? else { return Ok(0) };
    let withheld = Withheld::open(&app.workspace, recipe)?;
    let query = Records { outcome: Left::Held.code().to_owned(), ..Records::default() };
    let (_, all) = opened.records_page(&query, 0, 0)?;
    let mut left = 0;
    for from in (0..all).step_by(CHUNK) {
        let (mut records, _) = opened.records_page(&query, from, CHUNK)?;
        withhold_records(&withheld, &mut records, true)?;
        for record in records {
            let is_open =
                |text: &String| !decided.has_decision(step.name, &record.entry.id, None, seen_text(text));
            left += u64::from(record.text.as_ref().is_some_and(is_open));
        }
    }
    Ok(left)
}

/// The page without the pair or post.
fn empty_page(
    recipe: &'static Recipe,
    kind: &'static str,
    visitor: &Visitor,
    asked: PendingQuery,
    decided: &StandingDecisions<'_>,
) -> PendingPage {
    let verdict = if asked.verdict.is_empty() { "borderline".to_owned() } else { asked.verdict };
    // A doubtful merge has a low score; a pair that was nearly merged has a high one.
    let merged = matches!(verdict.as_str(), "same" | "joined");
    let usual = if merged { "lowest" } else { "highest" };
    let known = ["lowest", "highest"].contains(&asked.order.as_str());
    let order = if known { asked.order } else { usual.to_owned() };
    let person = visitor.name().map_or(asked.person, str::to_owned);
    PendingPage {
        recipe: recipe.name,
        kind,
        verdict,
        order,
        at: asked.at.parse().unwrap_or(0),
        total: 0,
        decided: decided.len(),
        item: None,
        last: decided.made.iter().rev().find(|d| d.by == person).map(|d| (*d).clone()),
        person,
        desk: DecisionDesk::default(),
    }
}

fn next_pair(
    app: &App,
    recipe: &'static Recipe,
    step: &'static Step,
    decided: &StandingDecisions<'_>,
    found: &mut PendingPage,
) -> Result<(), PageError> {
    let Some(opened) = app.stages.open_stage(&app.workspace, recipe, step)? else { return Ok(()) };
    let withheld = Withheld::open(&app.workspace, recipe)?;
    let verdict = found.verdict.clone();
    let verdict = Some(verdict.as_str()).filter(|verdict| *verdict != "all");
    let query = PairQuery { below: EVERY_SCORE, verdict, lowest: found.order == "lowest" };
    (_, found.total) = opened.pairs_page::<NearPair>(query, 0, 0)?;
    let mut before = 0;
    for from in (0..found.total).step_by(CHUNK) {
        let (pairs, _) = opened.pairs_page::<NearPair>(query, from, CHUNK)?;
        let ids: Vec<&str> = pairs.iter().flat_map(|pair| [pair.a.as_str(), pair.b.as_str()]).collect();
        let texts = opened.texts_of(&ids)?;
        let withdrawn = withheld.withdrawn_among(ids)?;
        let withdrawn: BTreeSet<String> = withdrawn.into_iter().map(str::to_owned).collect();
        let text = |id: &str| texts.get(id).cloned().unwrap_or_default();
        for pair in pairs {
            let (text_a, text_b) = (text(&pair.a), text(&pair.b));
            let gone = withdrawn.contains(&pair.a)
                || withdrawn.contains(&pair.b)
                || withheld.is_withdrawn_text(&text_a)
                || withheld.is_withdrawn_text(&text_b);
            let seen = seen_pair((&pair.a, &text_a), (&pair.b, &text_b));
            if gone || decided.has_decision(step.name, &pair.a, Some(&pair.b), seen) {
                continue;
            }
            if before == found.at {
                found.item = Some(Item {
                    stage: step.name,
                    record: pair.a.clone(),
                    text: text_a,
                    seen: seen.to_string(),
                    reason: None,
                    evidence: None,
                    choices: Vec::new(),
                    other: Some(pair.b.clone()),
                    other_text: text_b,
                    pair: Some(pair),
                });
                return Ok(());
            }
            before += 1;
        }
    }
    Ok(())
}

fn next_held(
    app: &App,
    recipe: &'static Recipe,
    steps: &[&'static Step],
    decided: &StandingDecisions<'_>,
    found: &mut PendingPage,
) -> Result<(), PageError> {
    let withheld = Withheld::open(&app.workspace, recipe)?;
    let query = Records { outcome: Left::Held.code().to_owned(), ..Records::default() };
    let mut before = 0;
    for step in steps.iter().copied() {
        let Some(opened) = app.stages.open_stage(&app.workspace, recipe, step)? else { continue };
        let (_, all) = opened.records_page(&query, 0, 0)?;
        found.total += all;
        if found.item.is_some() {
            // The others are only counted.
            continue;
        }
        for from in (0..all).step_by(CHUNK) {
            let (mut records, _) = opened.records_page(&query, from, CHUNK)?;
            withhold_records(&withheld, &mut records, true)?;
            for record in records {
                let Some(text) = record.text else { continue };
                let seen = seen_text(&text);
                if found.item.is_some() || decided.has_decision(step.name, &record.entry.id, None, seen) {
                    continue;
                }
                if before == found.at {
                    found.item = Some(Item {
                        stage: step.name,
                        record: record.entry.id,
                        text,
                        seen: seen.to_string(),
                        reason: record.entry.reason,
                        evidence: record.entry.evidence,
                        choices: possible_decisions(step)
                            .into_iter()
                            .filter(|verdict| *verdict != "hold")
                            .collect(),
                        other: None,
                        other_text: String::new(),
                        pair: None,
                    });
                }
                before += 1;
            }
            if found.item.is_some() {
                break;
            }
        }
    }
    Ok(())
}
