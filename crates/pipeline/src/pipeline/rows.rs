//! The records of a stage, and the items of a review.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::config::{Config, sections};
use crate::recipe::{Recipe, ReviewInput, Step};
use crate::stages::embed::Embedded;
use crate::stages::review::Votes;
use crate::stages::same_joke;
use crate::stages::withdrawal::Withdrawals;
use crate::stages::{Draft, Embeds, Rows, Seconds, Stage, StageError, Stop, draft, salt, subject, subjects};
use riddlemill_llm::{Ask, Endpoint};
use riddlemill_review::ballot::Ballot;
use riddlemill_review::{Blinding, Digest, Item};
use riddlemill_tables::{StageReader, Workspace};
use riddlemill_text::join::Unwatched;
use riddlemill_text::record::{Post, Record, Row};

use super::RunError;

/// The records of an existing step; empty if it was not made.
pub(super) fn subjects_of(
    workspace: &Workspace,
    recipe: &'static Recipe,
    step: &str,
    records: Rows,
) -> Result<Vec<Row>, StageError> {
    let Some((recipe, number, step)) = recipe.input(step) else { return Ok(Vec::new()) };
    match StageReader::open(&workspace.stage(recipe.name, number, step.name))? {
        Some(reader) => Ok(subjects(&reader, step.stage.rows(), records)?),
        None => Ok(Vec::new()),
    }
}

/// A review's ballot and its items from the stage before it; `None` if the recipe has no such review.
///
/// # Errors
/// [`RunError::Missing`] if that stage has not been made.
pub fn review_items(
    config: &Config,
    recipe: &'static Recipe,
    ballot: &str,
) -> Result<Option<(Ballot, Vec<Item>)>, RunError> {
    let Some(ReviewInput { review, recipe: from, step: before, .. }) = recipe.review(ballot) else {
        return Ok(None);
    };
    let settings: sections::Review = config.typed(Some(recipe.name), "review");
    let seed = config.typed::<sections::Options>(Some(recipe.name), "options").seed;
    let step = review.ballot(&settings);
    let reader = super::open(&Workspace::new(&config.root), from, before.name)?;
    if step.on_demand {
        return Ok(Some((step, Vec::new())));
    }
    let records = subjects(&reader, before.stage.rows(), review.subjects())?;
    // Judging texts may be expensive, and dominates the time for hundreds of thousands of items.
    let mut items: Vec<Item> =
        records.par_iter().flat_map_iter(|record| subject::items(record, &step, seed)).collect();
    if items.iter().any(|item| !item.written_in.is_empty()) {
        let votes = Votes::load(config, recipe.name)?;
        let people: FxHashMap<Digest, &str> = step
            .not_by
            .map(|ballot| votes.stored(step.recipe, ballot))
            .unwrap_or_default()
            .into_values()
            .flatten()
            .filter(|vote| !vote.synthetic)
            .map(|vote| (vote.id, vote.annotator.as_str()))
            .collect();
        for item in &mut items {
            let names = item.written_in.iter().filter_map(|id| people.get(id));
            item.written_by = names.map(|name| (*name).to_owned()).collect();
        }
    }
    Ok(Some((step, items)))
}

/// [`review_items`] as shown to people: without withdrawn ones, and with sides and lists to pick from in an
/// order drawn with the workspace's secret.
///
/// # Errors
/// Those of [`review_items`]; and if the secret cannot be read or drawn.
pub fn shown_items(
    config: &Config,
    recipe: &'static Recipe,
    ballot: &str,
) -> Result<Option<(Ballot, Vec<Item>)>, RunError> {
    let Some((step, mut items)) = review_items(config, recipe, ballot)? else { return Ok(None) };
    super::Withheld::open(&Workspace::new(&config.root), recipe)?.retain_items(&mut items)?;
    if items.iter().any(|item| !item.order.is_empty()) || step.picked_from().next().is_some() {
        let blinding = blinding(&Workspace::new(&config.root))?;
        items.iter_mut().for_each(|item| blinding.show(&step, item));
    }
    Ok(Some((step, items)))
}

/// The secret for drawing orders shown to people: raw/blinding, drawn on first use.
///
/// # Errors
/// [`Error`](riddlemill_tables::Error) if it cannot be read or drawn.
pub fn blinding(workspace: &Workspace) -> Result<Blinding, riddlemill_tables::Error> {
    riddlemill_tables::secret_or_draw(&workspace.raw().join(BLINDING), UNBLINDED).map(Blinding::new)
}

/// The file of the secret for drawing orders.
const BLINDING: &str = "blinding";
/// What is lost with it.
const UNBLINDED: &str = "without it the order of the sides on exported ballots is unknown";

/// Checks that the secrets of raw/ are those that its withdrawals, pseudonyms and ballots belong to. Draws none.
///
/// # Errors
/// [`Error`](riddlemill_tables::Error) if one is another one, is gone, or cannot be read: what to do is in it.
pub fn secrets_stand(workspace: &Workspace) -> Result<(), riddlemill_tables::Error> {
    salt::standing(workspace)?;
    Withdrawals::load(workspace)?;
    riddlemill_tables::secret(&workspace.raw().join(BLINDING), UNBLINDED)?;
    Ok(())
}

/// Requests by endpoint.
pub type ByEndpoint = Vec<(Endpoint, Vec<Ask>)>;

/// The embeddings that a step would need for its input rows.
///
/// # Errors
/// [`StageError`] if rows cannot be read.
pub fn embedded(
    workspace: &Workspace,
    recipe: &'static Recipe,
    step: &Step,
    embeds: Embeds,
) -> Result<Vec<Embedded>, StageError> {
    let mut texts = Vec::new();
    for input in step.inputs {
        match embeds {
            Embeds::Questions => {
                let Stage::Native(native) = step.stage else { continue };
                let records = subjects_of(workspace, recipe, input, native.subjects())?;
                let compared =
                    |record: &Row| Embedded { id: record.id().into(), text: native.compared(record) };
                texts.extend(records.iter().map(compared));
            }
            Embeds::Posts => {
                let Some((from, number, before)) = recipe.input(input) else { continue };
                let stage = workspace.stage(from.name, number, before.name);
                let Some(reader) = StageReader::open(&stage)? else { continue };
                // Refused by the count alone, before too many texts are in memory.
                embeds.refuse_many(texts.len() as u64 + reader.table("rows").rows)?;
                for part in reader.parts::<Post>("rows") {
                    texts.extend(part?.iter().map(Embedded::from));
                }
            }
        }
    }
    Ok(texts)
}

/// The most that a draft asks about of any of its input rows: 1, or as many elements as the longest list has.
///
/// # Errors
/// [`StageError`] if rows cannot be read.
pub(super) fn most_items(
    workspace: &Workspace,
    recipe: &'static Recipe,
    step: &Step,
    kind: Draft,
) -> Result<u64, StageError> {
    let mut most = 1;
    // Such a draft asks once per record, so no row has to be read.
    if kind.declared().over.is_none() {
        return Ok(most);
    }
    for input in step.inputs {
        let records = subjects_of(workspace, recipe, input, kind.subjects())?;
        let items = |record: &Row| subject::draft_items(record, kind).map_or(0, |items| items.len() as u64);
        most = most.max(records.iter().map(items).max().unwrap_or(0));
    }
    Ok(most)
}

/// What a judge would be asked about a step's input rows; `None` if those have not been made.
fn pairs_asked(
    config: &Config,
    recipe: &'static Recipe,
    step: &Step,
) -> Result<Option<Vec<Ask>>, StageError> {
    let mut inputs = Vec::new();
    for input in step.inputs {
        let Some((from, number, before)) = recipe.input(input) else { continue };
        let place = Workspace::new(&config.root).stage(from.name, number, before.name);
        let Some(reader) = StageReader::open(&place)? else { return Ok(None) };
        inputs.push(reader);
    }
    let inputs: Vec<&StageReader> = inputs.iter().collect();
    let seconds = Seconds::find(&inputs.iter().map(|input| (Rows::Posts, *input)).collect::<Vec<_>>())?;
    let (posts, near) = same_joke::entered(&inputs, &seconds, &Stop::default())?;
    let settings: sections::Dedup = config.typed(Some(recipe.name), "dedup");
    let pairs = same_joke::borderline(&posts, &near, &settings, &Unwatched);
    Ok(Some(same_joke::questions(config, &posts, &pairs)?))
}

/// What a step requires of the replies about its input rows, as far as those are made.
///
/// # Errors
/// [`RunError`] if rows cannot be read.
pub(super) fn draft_demands(
    config: &Config,
    recipe: &'static Recipe,
    step: &Step,
    kind: Draft,
) -> Result<draft::Demands, RunError> {
    let mut records = Vec::new();
    if !kind.declared().requires.is_empty() {
        for input in step.inputs {
            records.extend(subjects_of(&Workspace::new(&config.root), recipe, input, kind.subjects())?);
        }
    }
    Ok(draft::Demands::of(kind, &records))
}

/// The requests of a step for its input rows, by endpoint: `None` if the step asks nothing, `Some(None)` if
/// those rows have not been made.
///
/// # Errors
/// [`RunError`] if rows or prompts cannot be read.
pub fn draft_requests(
    config: &Config,
    recipe: &'static Recipe,
    step: &Step,
) -> Result<Option<Option<ByEndpoint>>, RunError> {
    let workspace = Workspace::new(&config.root);
    if let Some(embeds) = Embeds::in_stage(step.stage) {
        let Some(endpoint) = embeds.endpoint(config, recipe.name)? else { return Ok(None) };
        let texts = embedded(&workspace, recipe, step, embeds)?;
        return Ok(Some(Some(vec![(endpoint, embeds.requests(&texts))])));
    }
    if step.stage == Stage::SameJoke {
        let Some(endpoint) = same_joke::endpoint(config, recipe.name)? else { return Ok(None) };
        return Ok(Some(pairs_asked(config, recipe, step)?.map(|asks| vec![(endpoint, asks)])));
    }
    let Stage::Draft(kind) = step.stage else { return Ok(None) };
    if draft::is_unseen(kind, config, recipe.name) {
        return Ok(Some(Some(Vec::new())));
    }
    let prompts = draft::prompts(config)?;
    let endpoints = draft::endpoints(kind, config, recipe.name)?;
    let slots = draft::slots(kind, config, recipe.name, &endpoints)?;
    let mut asks: Vec<Vec<Ask>> = endpoints.iter().map(|_| Vec::new()).collect();
    for input in step.inputs {
        let Some((from, number, before)) = recipe.input(input) else { continue };
        let Some(reader) = StageReader::open(&workspace.stage(from.name, number, before.name))? else {
            return Ok(Some(None));
        };
        let records = subjects(&reader, before.stage.rows(), kind.subjects())?;
        for request in draft::requests(kind, &prompts, &slots, &records)? {
            asks[request.slot.endpoint].push(request.ask);
        }
    }
    Ok(Some(Some(endpoints.into_iter().zip(asks).collect())))
}
