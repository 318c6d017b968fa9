//! The items of a ballot that wait at the desk. A sample's votes keep records, but are nobody's: what they alone keep still
//! needs people.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::app::App;
use crate::config::{Config, sections};
use crate::error::PageError;
use crate::pipeline::Tasks;
use crate::recipe::Recipe;
use crate::review::ballot::Round;
use crate::review::{Outcome, Pending, Resolution, resolve_all};
use crate::voting::BallotItems;
use riddlemill_pipeline::stages::review::Votes;

/// A ballot of more records than this is not counted while a page is made.
pub(super) const FEW: u64 = 20_000;

/// A number of items.
#[derive(Clone, Copy)]
pub(super) struct Items {
    pub(super) number: usize,
    /// Those of them that only a sample's votes keep.
    pub(super) made_up: usize,
}

/// How many items of a ballot wait in a round.
pub(super) struct OpenItems {
    pub(super) all: Items,
    /// Those with fewer tasks than they need.
    pub(super) unassigned: Items,
}

/// Counts what waits; `None` for a ballot of many records, or of a stage that was not made.
pub(super) fn count_open_items(
    app: &App,
    config: &Config,
    recipe: &'static Recipe,
    name: &str,
    round: Round,
) -> Result<Option<OpenItems>, PageError> {
    if app.ballots.count_records(config, recipe, name)?.is_none_or(|records| records > FEW) {
        return Ok(None);
    }
    let Some(ballot) = app.ballots.open_ballot(config, recipe, name)? else { return Ok(None) };
    let vote_index = app.desk.current_votes().map_err(PageError::internal_error)?;
    let votes = vote_index.by_item(recipe.name, ballot.step.name);
    let resolved = resolve_all(&ballot.step, &ballot.items, &votes);
    let given = app.desk.read_assignments(recipe.name, ballot.step.name)?;
    let sample = kept_by_sample(config, recipe, &ballot)?;
    let all: Vec<&str> = items_in_round(&ballot, &resolved, round).collect();
    let unassigned = unassigned_items(&ballot, &resolved, given.tasks(), round);
    Ok(Some(OpenItems { all: count_items(&all, &sample), unassigned: count_items(&unassigned, &sample) }))
}

/// Counts items, and those that only a sample's votes keep.
pub(super) fn count_items(items: &[&str], sample: &FxHashSet<&str>) -> Items {
    Items { number: items.len(), made_up: items.iter().filter(|id| sample.contains(*id)).count() }
}

/// Whether an item waits in a round: for votes, or in the last one for somebody who settles the dispute.
pub(super) fn is_open(resolution: &Resolution, round: Round) -> bool {
    match resolution.pending() {
        Some(Pending::Waiting { round: of, .. }) => *of == round,
        Some(Pending::Adjudicate { .. }) => round == Round::Adjudication,
        None => false,
    }
}

/// Items that wait in a round.
fn items_in_round<'b>(
    ballot: &'b BallotItems,
    resolved: &[Resolution],
    round: Round,
) -> impl Iterator<Item = &'b str> {
    let ids = ballot.items.iter().map(|item| item.id.as_str()).zip(resolved);
    ids.filter(move |(_, resolution)| is_open(resolution, round)).map(|(id, _)| id)
}

/// Items that wait in a round and have fewer tasks than they need.
pub(super) fn unassigned_items<'b>(
    ballot: &'b BallotItems,
    resolved: &[Resolution],
    tasks: &Tasks,
    round: Round,
) -> Vec<&'b str> {
    let mut given: FxHashMap<&str, usize> = FxHashMap::default();
    for task in tasks.current_tasks(round) {
        *given.entry(task.item.as_str()).or_default() += 1;
    }
    let short = |id: &&str| given.get(id).copied().unwrap_or(0) < ballot.step.votes_in(round);
    items_in_round(ballot, resolved, round).filter(short).collect()
}

/// The items that are kept by votes of the sample that the settings name.
pub(super) fn kept_by_sample<'b>(
    config: &Config,
    recipe: &'static Recipe,
    ballot: &'b BallotItems,
) -> Result<FxHashSet<&'b str>, PageError> {
    let settings: sections::Review = config.typed_settings(Some(recipe.name), "review");
    if settings.sample.is_empty() {
        return Ok(FxHashSet::default());
    }
    let votes = Votes::load(config, recipe.name)?;
    let resolved = resolve_all(&ballot.step, &ballot.items, &votes.by_item(recipe.name, ballot.step.name));
    let kept = |(_, resolution): &(&str, &Resolution)| {
        matches!(resolution.outcome, Outcome::Confirmed { synthetic: true, .. })
    };
    let ids = ballot.items.iter().map(|item| item.id.as_str()).zip(&resolved);
    Ok(ids.filter(kept).map(|(id, _)| id).collect())
}
