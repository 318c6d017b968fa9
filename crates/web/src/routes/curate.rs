//! A ballot for curators: everybody's progress and speed, agreement, missing votes and from whom, stale votes,
//! and votes to download.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use rustc_hash::FxHashMap;
use serde::Serialize;
use serde_json::json;

use super::ballot::label_in;
use super::faults::field_name;
use super::open_items::{is_open, unassigned_items};
use super::review::find_ballot;
use crate::app::{App, find_recipe, read_blocking};
use crate::config::{Config, sections};
use crate::error::PageError;
use crate::i18n::Language;
use crate::pipeline::{Tasks, known_answers};
use crate::recipe::Recipe;
use crate::review::agreement::{self, Bootstrap, Estimate, FieldAgreement};
use crate::review::ballot::{Qualification, Round};
use crate::review::grades;
use crate::review::qualify::{FEWEST, judge_trials};
use crate::review::{
    Annotator, Ballot, Gold, Item, Outcome, Resolution, Role, Values, Vote, Voted, ballots, count_outcomes,
    resolve_all, voted::measure_guessing,
};
use crate::shortcuts::Shortcuts;
use crate::view;
use crate::visitor::Visitor;
use crate::voting::{BallotItems, Note, Skip, latest_notes};

/// A ballot on a page: computed, or to be loaded afterwards.
#[derive(Serialize)]
pub(super) struct Section {
    pub(super) recipe: &'static str,
    pub(super) step: String,
    title: String,
    #[serde(flatten)]
    pub(super) looked: Option<Standing>,
}

/// How far a ballot is.
#[derive(Serialize)]
pub(super) struct Standing {
    paper: &'static str,
    pub(super) items: usize,
    confirmed: usize,
    waiting: usize,
    disputed: usize,
    stale: usize,
    /// Open items without enough voters.
    unassigned: usize,
    pub(super) people: Vec<BallotPerson>,
    /// Missing votes, and from whom.
    waits: Vec<Waits>,
    /// Where disputes are settled.
    disputes: Option<Disputes>,
    /// Whether there are trials: required, or made.
    tries: bool,
}

/// What the votes of a ballot say.
#[derive(Serialize)]
struct Curated {
    agreement: Vec<BallotAgreementRow>,
    /// Those two who share items and agree least, the least first.
    pairs: Vec<AnnotatorPair>,
    /// Every two who share items.
    pairs_all: usize,
    /// Votes by day, for the last days with any.
    trend: Vec<Day>,
    /// Summary of the votes.
    voted: Voted,
    /// How well answers can be guessed in the sets made so far.
    guessed: Option<Shortcuts>,
    /// The last items that were skipped.
    passed: Vec<Skip>,
    /// Remarks on votes, latest first.
    notes: Vec<Note>,
}

/// Somebody with tasks or votes on a ballot.
#[derive(Clone, Serialize)]
pub(super) struct BallotPerson {
    pub(super) name: String,
    assigned: usize,
    done: usize,
    pub(super) votes: usize,
    stale: usize,
    seconds: Option<f64>,
    /// Votes faster than reading, of those with a time; if they are too many to be an accident.
    fast: Option<(usize, usize)>,
    /// Items with a known answer: right, of.
    gold: Option<(usize, usize)>,
    /// Graded trials.
    attempts: usize,
    share: usize,
}

/// Missing votes of a round.
#[derive(Serialize)]
struct Waits {
    round: &'static str,
    roles: Vec<&'static str>,
    items: usize,
    /// The assigned people, with the number of items, largest first.
    people: Vec<(String, usize)>,
}

/// Where disputes are settled.
#[derive(Serialize)]
pub(super) struct Disputes {
    /// Link for the visitor.
    pub(super) href: String,
    /// Who may settle them.
    by: Vec<String>,
}

#[derive(Serialize)]
struct BallotAgreementRow {
    field: String,
    items: usize,
    percent: Option<[f64; 3]>,
    alpha: Option<[f64; 3]>,
    fleiss: Option<[f64; 3]>,
    /// Cohen's kappa of every two who share items: mean, smallest and greatest.
    cohen: Option<[f64; 3]>,
    /// Why a coefficient is not defined.
    undefined: Option<String>,
}

/// Two who share items.
#[derive(Serialize)]
struct AnnotatorPair {
    names: [String; 2],
    /// For each field: the share of common items on which they agree, and their number.
    fields: Vec<Option<(f64, u64)>>,
}

/// The votes of a day.
#[derive(Serialize)]
struct Day {
    date: String,
    votes: usize,
    /// Thousandths of the busiest day.
    share: usize,
}

/// Days in the trend.
const DAYS: usize = 14;
/// Most pairs of people that are listed.
const PAIRS: usize = 12;

/// One ballot.
pub(crate) async fn show_ballot(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path((name, step)): Path<(String, String)>,
) -> Result<Response, PageError> {
    let recipe = find_recipe(&name)?;
    let who = visitor.clone();
    let (section, curated) = read_blocking(move || {
        let (config, _) = app.current_config();
        let section =
            ballot_section(&app, &config, recipe, &step, &who, true)?.ok_or_else(PageError::not_found)?;
        let ballot = find_ballot(&app, &config, recipe, &step)?;
        let curated = curate_ballot(&app, &config, recipe, &ballot, &who)?;
        Ok((section, curated))
    })
    .await?;
    view::render_page(&visitor, "curate.html", json!({ "steps": [section], "found": curated }))
}

/// A step, computed or not; `None` if there is nothing to vote on yet.
pub(super) fn ballot_section(
    app: &App,
    config: &Config,
    recipe: &'static Recipe,
    name: &str,
    visitor: &Visitor,
    look: bool,
) -> Result<Option<Section>, PageError> {
    let ballot = if look { app.ballots.open_ballot(config, recipe, name)? } else { None };
    let Some(step) = ballots::find_step(recipe.name, name).filter(|_| ballot.is_some() || !look) else {
        return Ok(None);
    };
    let looked = ballot.map(|ballot| standing_of(app, config, recipe, &ballot, visitor)).transpose()?;
    let title = label_in(visitor.language, step.title).to_string();
    Ok(Some(Section { recipe: recipe.name, step: name.to_string(), title, looked }))
}

fn standing_of(
    app: &App,
    config: &Config,
    recipe: &'static Recipe,
    ballot: &BallotItems,
    visitor: &Visitor,
) -> Result<Standing, PageError> {
    let BallotItems { step, items, .. } = ballot;
    let vote_index = app.desk.current_votes().map_err(PageError::internal_error)?;
    let votes = vote_index.by_item(recipe.name, step.name);
    let resolved = resolve_all(step, items, &votes);
    let given = app.desk.read_assignments(recipe.name, step.name)?;
    let tasks = given.tasks();
    let status = count_outcomes(items, &resolved, &votes, tasks.all_tasks());
    let known = known_answers(config, recipe.name, step, items)?;
    let gold = grade_known_items(ballot, &resolved, tasks, &votes, &known);
    let attempts = grades::read_attempts(&app.workspace.raw_folder(), recipe.name, step.name)
        .map_err(PageError::internal_error)?;
    let person = |(name, p): (&String, &crate::review::status::Progress)| BallotPerson {
        name: name.clone(),
        assigned: p.assigned,
        done: p.done,
        votes: p.votes,
        stale: p.stale,
        seconds: p.median_seconds,
        fast: p.is_implausibly_fast().then_some((p.hasty.count, p.hasty.of)),
        gold: gold.get(name).copied(),
        attempts: attempts.get(name).map_or(0, Vec::len),
        share: (p.done * 1000).checked_div(p.assigned).unwrap_or(0),
    };
    Ok(Standing {
        tries: step.qualification.is_some() || !attempts.is_empty() || !known.is_empty(),
        paper: step.paper,
        items: status.items,
        confirmed: status.confirmed,
        waiting: status.waiting.values().map(|(items, _)| items).sum(),
        disputed: status.disputed,
        stale: status.stale,
        unassigned: unassigned_items(ballot, &resolved, tasks, Round::Vote).len(),
        people: status.annotators.iter().map(person).collect(),
        waits: waits_by_round(ballot, &resolved, tasks, &votes),
        disputes: (status.disputed > 0).then(|| locate_disputes(config, recipe, step, visitor)),
    })
}

fn curate_ballot(
    app: &App,
    config: &Config,
    recipe: &'static Recipe,
    ballot: &BallotItems,
    visitor: &Visitor,
) -> Result<Curated, PageError> {
    let BallotItems { step, items, .. } = ballot;
    let vote_index = app.desk.current_votes().map_err(PageError::internal_error)?;
    let votes = vote_index.by_item(recipe.name, step.name);
    let resolved = resolve_all(step, items, &votes);
    // Only people are shown here, not a sample's voters.
    let agreement = agreement::step_agreement(step, items, &votes, Bootstrap::AGREEMENT);
    let fields: Vec<&FieldAgreement> =
        agreement.fields.iter().filter(|field| !agreement.sample && field.items > 0).collect();
    let voted =
        Voted::summarise_step(step, items, &resolved, &votes, &config.annotators, Bootstrap::AGREEMENT);
    let cohen = |field: &FieldAgreement| voted.fields.iter().find(|of| of.field == field.field)?.cohen;
    let seed = config.typed_settings::<sections::Options>(Some(recipe.name), "options").seed;
    let (pairs, pairs_all) = least_agreeing_pairs(&fields);
    Ok(Curated {
        agreement: fields
            .iter()
            .map(|field| agreement_row(step, visitor.language, field, cohen(field)))
            .collect(),
        pairs,
        pairs_all,
        trend: votes_by_day(&votes),
        guessed: measure_guessing(step, items, &resolved, seed),
        voted,
        notes: latest_notes(&app.desk.read_remarks(recipe.name, step.name)?)
            .into_iter()
            .take(50)
            .cloned()
            .collect(),
        passed: app.desk.read_skips(recipe.name, step.name)?.iter().rev().take(20).cloned().collect(),
    })
}

/// Missing votes by round, and the assigned people.
fn waits_by_round(
    ballot: &BallotItems,
    resolved: &[Resolution],
    tasks: &Tasks,
    votes: &FxHashMap<&str, Vec<&Vote>>,
) -> Vec<Waits> {
    let mut found = Vec::new();
    for round in Round::ALL {
        let open: FxHashMap<&str, &Resolution> = ballot
            .items
            .iter()
            .zip(resolved)
            .filter(|(_, resolution)| is_open(resolution, round))
            .map(|(item, resolution)| (item.id.as_str(), resolution))
            .collect();
        if open.is_empty() {
            continue;
        }
        let mut loads: BTreeMap<&str, usize> = BTreeMap::new();
        for task in tasks.current_tasks(round) {
            let Some(resolution) = open.get(task.item.as_str()) else { continue };
            let on_it = votes.get(task.item.as_str()).map(Vec::as_slice).unwrap_or_default();
            let theirs = |vote: &&&Vote| {
                vote.annotator == task.annotator
                    && vote.round == round
                    && !vote.synthetic
                    && !resolution.stale.contains(&vote.id)
            };
            if !on_it.iter().any(|vote| theirs(&vote)) {
                *loads.entry(&task.annotator).or_default() += 1;
            }
        }
        let mut people: Vec<(String, usize)> =
            loads.into_iter().map(|(who, n)| (who.to_string(), n)).collect();
        people.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
        found.push(Waits {
            round: round.name(),
            roles: ballot.step.roles_of_round(round).into_iter().map(Role::name).collect(),
            items: open.len(),
            people,
        });
    }
    found
}

/// Where the visitor finds the disputes: at their own desk if they settle them, else among the held records.
pub(super) fn locate_disputes(
    config: &Config,
    recipe: &'static Recipe,
    ballot: &Ballot,
    visitor: &Visitor,
) -> Disputes {
    let settle = |person: &&Annotator| person.may_vote(ballot, Round::Adjudication);
    let by: Vec<String> = config.annotators.iter().filter(settle).map(|person| person.name.clone()).collect();
    let desk = format!("/review/{}/{}/adjudication", recipe.name, view::encode_segment(ballot.name));
    let href = match (visitor.name(), by.first()) {
        (None, Some(first)) => format!("{desk}?as={}", view::encode_segment(first)),
        (Some(name), _) if by.iter().any(|known| known == name) => desk,
        _ => {
            format!(
                "/{}/stage/review:{}?outcome=held&reason=disputed",
                recipe.name,
                view::encode_segment(ballot.name)
            )
        }
    };
    Disputes { href, by }
}

fn agreement_row(
    ballot: &Ballot,
    language: Language,
    field: &FieldAgreement,
    cohen: Option<[f64; 3]>,
) -> BallotAgreementRow {
    let three = |e: &Option<Estimate>| e.as_ref().map(|e| [e.value, e.low, e.high]);
    BallotAgreementRow {
        field: field_name(language, ballot, &field.field),
        items: field.items,
        percent: three(&field.percent),
        alpha: three(&field.alpha),
        fleiss: three(&field.fleiss),
        cohen,
        undefined: field.why_undefined().map(|why| why.to_string()),
    }
}

/// Those two who share items and agree least, with their agreement in each field, and the number of all: those who agree
/// least in one come first.
fn least_agreeing_pairs(fields: &[&FieldAgreement]) -> (Vec<AnnotatorPair>, usize) {
    let all: BTreeSet<&[String; 2]> =
        fields.iter().flat_map(|field| &field.pairs).map(|pair| &pair.names).collect();
    let of = |names: &[String; 2], field: &FieldAgreement| {
        let pair = field.pairs.iter().find(|pair| pair.names == *names)?;
        Some((pair.percent?, pair.items))
    };
    let pair = |names: &[String; 2]| AnnotatorPair {
        names: names.clone(),
        fields: fields.iter().copied().map(|field| of(names, field)).collect(),
    };
    let mut pairs: Vec<AnnotatorPair> = all.into_iter().map(pair).collect();
    let least =
        |pair: &AnnotatorPair| pair.fields.iter().flatten().map(|(share, _)| *share).fold(1.0, f64::min);
    pairs.sort_by(|a, b| least(a).total_cmp(&least(b)));
    let all = pairs.len();
    pairs.truncate(PAIRS);
    (pairs, all)
}

/// People's votes by day.
fn votes_by_day(votes: &FxHashMap<&str, Vec<&Vote>>) -> Vec<Day> {
    let mut days: BTreeMap<&str, usize> = BTreeMap::new();
    for vote in votes.values().flatten().filter(|vote| !vote.synthetic) {
        *days.entry(vote.at.get(..10).unwrap_or_default()).or_default() += 1;
    }
    let most = days.values().copied().max().unwrap_or(1);
    let last = days.len().saturating_sub(DAYS);
    let day =
        |(date, votes): (&str, usize)| Day { date: date.to_string(), votes, share: votes * 1000 / most };
    days.into_iter().skip(last).map(day).collect()
}

/// How many known items each annotator answered correctly: those of the settings' folder, and items assigned as
/// known ones and decided.
fn grade_known_items(
    ballot: &BallotItems,
    resolved: &[Resolution],
    tasks: &Tasks,
    votes: &FxHashMap<&str, Vec<&Vote>>,
    more: &[Gold<'_>],
) -> FxHashMap<String, (usize, usize)> {
    let given: Vec<&str> = tasks.all_tasks().iter().filter(|t| t.gold).map(|t| t.item.as_str()).collect();
    let known: Vec<(&Item, &Values)> = ballot
        .items
        .iter()
        .zip(resolved)
        .filter(|(item, _)| given.contains(&item.id.as_str()))
        .filter_map(|(item, resolution)| match &resolution.outcome {
            Outcome::Confirmed { values, .. } => Some((item, values)),
            _ => None,
        })
        .chain(more.iter().map(|gold| (gold.item, &gold.answers)))
        .collect();
    let items: BTreeSet<&str> = known.iter().map(|(item, _)| item.id.as_str()).collect();
    let cast: Vec<&Vote> =
        items.iter().flat_map(|item| votes.get(item).into_iter().flatten().copied()).collect();
    // Only the counts of a trial are shown here, and these do not depend on the shares.
    let shares = ballot.step.qualification.unwrap_or(Qualification { formal: 0.8, senior: 0.95 });
    let trials = judge_trials(&ballot.step, &known, &cast, shares, FEWEST);
    trials.into_iter().map(|trial| (trial.annotator, (trial.right, trial.of))).collect()
}

/// The votes of a step, as stored.
pub(crate) async fn download_votes(
    State(app): State<Arc<App>>,
    Path((name, step)): Path<(String, String)>,
) -> Result<Response, PageError> {
    let recipe = find_recipe(&name)?;
    let lines = read_blocking(move || {
        let (config, _) = app.current_config();
        let ballot = find_ballot(&app, &config, recipe, &step)?;
        let vote_index = app.desk.current_votes().map_err(PageError::internal_error)?;
        let mut lines = Vec::new();
        for item in &ballot.items {
            for vote in vote_index.stored_votes(recipe.name, ballot.step.name, &item.id) {
                serde_json::to_writer(&mut lines, vote).map_err(PageError::internal_error)?;
                lines.push(b'\n');
            }
        }
        Ok(lines)
    })
    .await?;
    let head = [
        (header::CONTENT_TYPE, "application/jsonl; charset=utf-8"),
        (header::CONTENT_DISPOSITION, "attachment; filename=\"votes.jsonl\""),
        (header::CACHE_CONTROL, "no-store"),
    ];
    Ok((head, lines).into_response())
}
