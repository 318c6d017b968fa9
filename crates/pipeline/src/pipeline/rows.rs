//! The records of a stage, and the items of a review.

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::config::{Config, sections};
use crate::recipe::{Recipe, ReviewInput, Step};
use crate::stages::review::Votes;
use crate::stages::withdrawal::Withdrawals;
use crate::stages::{ByEndpoint, DraftStep, StageError, StageRows, draft, read_subjects, salt, subject};
use riddlemill_record::{Record, Row};
use riddlemill_review::ballot::Ballot;
use riddlemill_review::{Blinding, Digest, Item};
use riddlemill_tables::{StageReader, Workspace};

use super::RunError;
use super::evidence::RunContext;

/// The records of an existing step; empty if it was not made.
pub(super) fn subjects_of(
    workspace: &Workspace,
    recipe: &'static Recipe,
    step: &str,
    records: StageRows,
) -> Result<Vec<Row>, StageError> {
    let Some((recipe, number, step)) = recipe.find_input(step) else { return Ok(Vec::new()) };
    match StageReader::open(&workspace.stage_folder(recipe.name, number, step.name))? {
        Some(reader) => Ok(read_subjects(&reader, step.stage.rows(), records)?),
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
    let Some(ReviewInput { review, inputs }) = recipe.find_review(ballot) else { return Ok(None) };
    let settings: sections::Review = config.typed_settings(Some(recipe.name), "review");
    let seed = config.typed_settings::<sections::Options>(Some(recipe.name), "options").seed;
    let step = review.ballot_by_settings(&settings);
    let workspace = Workspace::new(&config.root);
    let open = |(from, _, before): &(&'static Recipe, usize, &'static Step)| {
        Ok::<_, RunError>((super::open_input(&workspace, from, before.name)?, before.stage.rows()))
    };
    let readers: Vec<(StageReader, StageRows)> = inputs.iter().map(open).collect::<Result<_, RunError>>()?;
    if step.on_demand {
        return Ok(Some((step, Vec::new())));
    }
    let mut records: Vec<Row> = Vec::new();
    for (reader, rows) in &readers {
        // A record of several inputs is one, the first, as in the step itself.
        let known: FxHashSet<String> = records.iter().map(|record| record.id().to_owned()).collect();
        let more = read_subjects(reader, *rows, review.subject_rows())?;
        records.extend(more.into_iter().filter(|record| !known.contains(record.id())));
    }
    // Judging texts may be expensive, and dominates the time for hundreds of thousands of items.
    let mut items: Vec<Item> =
        records.par_iter().flat_map_iter(|record| subject::items_of_record(record, &step, seed)).collect();
    if items.iter().any(|item| !item.written_in.is_empty()) {
        let votes = Votes::load(config, recipe.name)?;
        let people: FxHashMap<Digest, &str> = step
            .not_by
            .map(|ballot| votes.stored_votes(step.recipe, ballot))
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
        let blinding = read_blinding(&Workspace::new(&config.root))?;
        items.iter_mut().for_each(|item| blinding.show_item(&step, item));
    }
    Ok(Some((step, items)))
}

/// The secret for drawing orders shown to people: raw/blinding, drawn on first use.
///
/// # Errors
/// [`Error`](riddlemill_tables::Error) if it cannot be read or drawn.
pub fn read_blinding(workspace: &Workspace) -> Result<Blinding, riddlemill_tables::Error> {
    riddlemill_tables::secret_or_draw(&workspace.raw_folder().join(BLINDING), UNBLINDED).map(Blinding::new)
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
    salt::read_salt(workspace)?;
    Withdrawals::load(workspace)?;
    riddlemill_tables::find_secret(&workspace.raw_folder().join(BLINDING), UNBLINDED)?;
    Ok(())
}

/// The most that a draft asks about of any of its input rows: 1, or as many elements as the longest list has.
///
/// # Errors
/// [`StageError`] if rows cannot be read.
pub(super) fn most_items(
    workspace: &Workspace,
    recipe: &'static Recipe,
    step: &Step,
    kind: DraftStep,
) -> Result<u64, StageError> {
    let mut most = 1;
    // Such a draft asks once per record, so no row has to be read.
    if kind.draft_declaration().over.is_none() {
        return Ok(most);
    }
    for input in step.inputs {
        let records = subjects_of(workspace, recipe, input, kind.subject_rows())?;
        let items = |record: &Row| subject::draft_items(record, kind).map_or(0, |items| items.len() as u64);
        most = most.max(records.iter().map(items).max().unwrap_or(0));
    }
    Ok(most)
}

/// What a step requires of the replies about its input rows, as far as those are made.
///
/// # Errors
/// [`RunError`] if rows cannot be read.
pub(super) fn draft_demands(
    config: &Config,
    recipe: &'static Recipe,
    step: &Step,
    kind: DraftStep,
) -> Result<draft::Demands, RunError> {
    let mut records = Vec::new();
    if !kind.draft_declaration().requires.is_empty() {
        for input in step.inputs {
            records.extend(subjects_of(&Workspace::new(&config.root), recipe, input, kind.subject_rows())?);
        }
    }
    Ok(draft::Demands::of_records(kind, &records))
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
    Ok(step.stage.collect_requests(&RunContext::new(config, recipe).step_context(step))?)
}
