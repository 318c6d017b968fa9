//! The main loop: reads a stage's inputs, runs it, and writes its output.
//!
//! [`plan`] determines for every step of a recipe whether it is fresh and, if not, why; [`run_recipe`] makes those
//! that are not. If a step's rows come out unchanged, everything after it stays fresh.

use std::collections::BTreeMap;
use std::path::Path;

use crate::config::{Config, Problems, unknown};
use crate::recipe::{Recipe, Step};
use crate::stages::draft::LlmContext;
use crate::stages::{Embeds, Job, Pulse, StageError, StageRows, Stop, salt, same_joke};
use riddlemill_llm::Run;
use riddlemill_record::{Reason, State};
use riddlemill_tables::{self as store, CommitError, Lock, Manifest, StageReader, Workspace, durable};

mod advice;
mod aside;
mod assemble;
pub mod decide;
mod evidence;
mod forecast;
mod freshness;
mod kept;
mod logs;
mod merge;
mod outdated;
mod plan;
mod refused;
mod rehearsal;
mod rows;
mod stale;
mod tasks;
mod voting;
mod waits;
mod withheld;
mod words;

pub use crate::stages::ByEndpoint;
pub use advice::{describe_fact, remedy_of_request};
pub use aside::{
    AsideEffect, known_answers, list_setting_warnings, look_aside, restore_votes, set_aside,
    stopped_annotators,
};
pub use assemble::{AssembleError, assemble_stage};
use evidence::{RunContext, not_judged};
pub use forecast::{Forecast, LaterRequests, StepForecast, forecast_recipes, remaining_cost};
pub use freshness::{Change, Freshness, describe_changes, list_changes};
pub use kept::CauseState;
pub use logs::registered_logs;
pub use merge::{MergeError, Merged, merge_workspace};
pub use outdated::{Outdated, find_outdated};
pub use plan::{Planned, plan_recipe, same_work};
pub use refused::{Lacking, list_lacking};
pub use rows::{draft_requests, read_blinding, review_items, secrets_stand, shown_items};
pub use stale::{StaleStage, stale_stages};
pub use tasks::{Tasks, current_time};
pub use voting::{Remedy, votes_as_tasks};
pub use waits::{Cause, kept_back, list_causes};
pub use withheld::Withheld;
pub use words::{KeyedSentence, Word, sentence_pairs};

/// Why a run ended early.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The settings cannot be used.
    #[error("{0}")]
    Settings(#[from] Problems),
    /// A stage could not be made.
    #[error(transparent)]
    Stage(#[from] StageError),
    /// A stage could not be written, or its accounting does not close.
    #[error(transparent)]
    Commit(#[from] CommitError),
    /// A flag names a stage that the recipe does not have.
    #[error("recipe {recipe}: {unknown}")]
    NoStage {
        recipe: &'static str,
        /// The name given, with a suggestion or a list.
        unknown: String,
    },
    /// A run from a later stage needs the earlier ones.
    #[error("{recipe}: stage {stage} has not been made\n  hint: run without --from or --only first")]
    Missing { recipe: &'static str, stage: &'static str },
    /// A recipe goes on from a stage of another one.
    #[error(
        "{recipe} goes on from {stage} of {of}, which has not been made\n  hint: `riddlemill run --recipe {of} --recipe {recipe}` makes both"
    )]
    MissingInput { recipe: &'static str, of: &'static str, stage: &'static str },
}

impl From<store::Error> for RunError {
    fn from(e: store::Error) -> RunError {
        RunError::Stage(e.into())
    }
}

/// Which stages a run makes.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// The first one; those before are used as they are.
    pub from: Option<String>,
    /// The last one.
    pub to: Option<String>,
    /// Also those that are fresh.
    pub force: bool,
    /// Sends nothing over the network; what is missing waits.
    pub offline: bool,
    /// Asks again for permanent failures, and makes the stages that contain them.
    pub retry_failed: bool,
    /// What is paid is charged to this run; one that makes several recipes gives it to each.
    pub run: Run,
}

impl Selection {
    /// The numbers of the selected steps, from 0.
    ///
    /// # Errors
    /// [`RunError::NoStage`] if a name is not one of the recipe's, or the last stage comes before the first.
    pub fn step_range(&self, recipe: &'static Recipe) -> Result<std::ops::Range<usize>, RunError> {
        let number = |name: &String| recipe.place_of(name).ok_or_else(|| no_stage(recipe, name));
        let from = self.from.as_ref().map(number).transpose()?.unwrap_or(0);
        let to = self.to.as_ref().map(number).transpose()?.map_or(recipe.steps().len(), |to| to + 1);
        match (&self.from, &self.to) {
            (Some(first), Some(last)) if to <= from => {
                let unknown = format!(
                    "{last} is made before {first}, so there is nothing from one to the other\n  hint: exchange --from and --to"
                );
                Err(RunError::NoStage { recipe: recipe.name, unknown })
            }
            _ => Ok(from..to.max(from)),
        }
    }
}

/// Receives the progress of a run, and of the stage that is being made.
pub trait Progress: Pulse {
    /// A stage is about to be made, for this reason, from this many records (0 if unknown).
    fn begin_stage(&self, recipe: &str, stage: &str, why: &str, records: u64);
    /// A stage was made.
    fn end_stage(&self, recipe: &str, manifest: &Manifest);
    /// A stage was fresh.
    fn report_fresh(&self, recipe: &str, manifest: &Manifest);
}

/// Makes the stages of a recipe that are not fresh. Returns the manifests of all steps up to the last
/// selected one.
///
/// # Errors
/// [`RunError`]. Stages finished before it remain.
pub fn run_recipe(
    config: &Config,
    recipe: &'static Recipe,
    selection: &Selection,
    stop: &Stop,
    progress: &dyn Progress,
) -> Result<Vec<Manifest>, RunError> {
    let workspace = Workspace::new(&config.root);
    let range = selection.step_range(recipe)?;
    let context = RunContext::new(config, recipe);
    rows::secrets_stand(&workspace)?;
    // Dumps that differ from the settings are reported before anything is written.
    context.read_dumps()?;
    let _lock = Lock::take_lock(&workspace.recipe_folder(recipe.name))?;
    // Under the lock nobody else writes, so unfinished folders are what a killed process left.
    durable::sweep_folder(&workspace.recipe_folder(recipe.name))?;
    // Looking must not draw a salt, but import's evidence below needs one.
    salt::read_or_draw(&workspace)?;
    let mut made = read_foreign_manifests(&workspace, recipe)?;
    // Without this a stage under its earlier name would stay on the disk forever.
    for (then, now) in recipe.renamed {
        let Some((number, _)) = recipe.find_step(now) else { continue };
        durable::remove_folder(&workspace.stage_folder(recipe.name, number, then))?;
    }
    let mut kept = false;
    for (i, step) in recipe.steps()[..range.end].iter().enumerate() {
        stop.fail_if_stopped()?;
        let place = workspace.stage_folder(recipe.name, step.number, step.name);
        let expected = context.expected_manifest(step, &made)?;
        let freshness = match context.freshness_of_step(step, &place, &expected, selection.offline)? {
            Freshness::Fresh(manifest) if !selection.force => verify_stage(&place, manifest),
            other => other,
        };
        let why = match freshness {
            Freshness::Fresh(manifest)
                if !range.contains(&i)
                    || !(selection.force || selection.retry_failed && failed_for_good(&manifest) > 0) =>
            {
                progress.report_fresh(recipe.name, &manifest);
                remove_unused_stages(&workspace, recipe, step)?;
                made.insert(step.name, *manifest);
                continue;
            }
            Freshness::Fresh(_) if selection.force => "forced".to_string(),
            Freshness::Fresh(manifest) => match failed_for_good(&manifest) {
                1 => "retrying 1 failed record".to_owned(),
                failed => format!("retrying {failed} failed records"),
            },
            Freshness::Stale(manifest, _) if i < range.start => {
                // The user asked to use it unchanged.
                progress.report_fresh(recipe.name, &manifest);
                made.insert(step.name, *manifest);
                continue;
            }
            _ if i < range.start => return Err(RunError::Missing { recipe: recipe.name, stage: step.name }),
            Freshness::Stale(_, why) => describe_changes(&why),
            Freshness::Missing => "not made yet".to_string(),
            Freshness::Layout(layout) => Freshness::of_layout(layout).1,
            Freshness::Damaged(what) => what,
        };
        let records =
            step.inputs.iter().filter_map(|input| made.get(input)).map(|m| m.counts.records_out).sum();
        progress.begin_stage(recipe.name, step.name, &why, records);
        if !std::mem::replace(&mut kept, true) {
            voting::keep_review_texts(config, recipe, i)?;
        }
        // Replies and votes about a recipe's records belong to that recipe.
        // Embeddings and judgements that another recipe's run did not ask for are asked for now.
        let asks = |embeds: &Embeds| embeds.may_ask_endpoint(config, recipe.name).is_ok_and(|asks| asks);
        let embeds = step.stage.embedding_task().filter(|embeds| !selection.offline && asks(embeds));
        let judges = !selection.offline
            && step.stage.is_pair_judge()
            && same_joke::may_ask_judge(config, recipe.name).is_ok_and(|asks| asks);
        let lacks = |twin: &Manifest| {
            embeds.is_some_and(|embeds| embeds.count_missing(twin) > 0) || judges && not_judged(twin) > 0
        };
        if step.stage.rows() == StageRows::Posts
            && !selection.force
            && let Some(manifest) = plan::link_twin(&workspace, recipe, &place, &expected, lacks)?
        {
            progress.end_stage(recipe.name, &manifest);
            remove_unused_stages(&workspace, recipe, step)?;
            made.insert(step.name, manifest);
            continue;
        }
        let inputs: Vec<StageReader> = step
            .inputs
            .iter()
            .map(|input| open_input(&workspace, recipe, input))
            .collect::<Result<_, _>>()?;
        let asking = LlmContext {
            config,
            recipe: recipe.name,
            run: &selection.run,
            offline: selection.offline,
            retry_failed: selection.retry_failed,
            accept_before: true,
            stop,
            pulse: progress,
        };
        let rows =
            step.stage.make_rows(&Job { step: &context.step_context(step), inputs: &inputs, asking })?;
        // What it asked for is part of its evidence.
        let expected =
            if step.stage.has_reply_evidence() { context.expected_manifest(step, &made)? } else { expected };
        let manifest = rows.commit(expected)?;
        progress.end_stage(recipe.name, &manifest);
        remove_unused_stages(&workspace, recipe, step)?;
        made.insert(step.name, manifest);
    }
    Ok(recipe.steps()[..range.end].iter().filter_map(|s| made.remove(s.name)).collect())
}

/// Removes the stages of embeddings and judgements where the settings name no model any more, once dedup does not read them.
fn remove_unused_stages(workspace: &Workspace, recipe: &Recipe, made: &Step) -> Result<(), RunError> {
    for step in recipe.unused_steps().filter(|_| made.stage.merges_posts()) {
        durable::remove_folder(&workspace.stage_folder(recipe.name, step.number, step.name))?;
    }
    Ok(())
}

/// Verifies a stage before it is reused: if any byte was changed, it is remade.
fn verify_stage(folder: &Path, manifest: Box<Manifest>) -> Freshness {
    let read =
        StageReader::open(folder).and_then(|stage| stage.map_or(Ok(()), |stage| stage.verify_contents()));
    match read {
        Ok(()) => Freshness::Fresh(manifest),
        Err(e) => Freshness::Damaged(e.to_string().lines().next().unwrap_or_default().to_owned()),
    }
}

/// Records with permanent failures, which a run only asks for again on request.
fn failed_for_good(manifest: &Manifest) -> u64 {
    let count = |state: State, reason: Reason| {
        manifest.counts.reasons.get(&format!("{}/{}", state.code(), reason.code())).copied().unwrap_or(0)
    };
    count(State::Changed, Reason::Unembeddable)
        + count(State::Changed, Reason::Unjudgeable)
        + count(State::Failed, Reason::RequestRefused)
        + count(State::Failed, Reason::ReplyUnparseable)
        + count(State::Changed, Reason::Undraftable)
}

/// The existing manifests of inputs from other recipes.
fn read_foreign_manifests(
    workspace: &Workspace,
    recipe: &'static Recipe,
) -> Result<BTreeMap<&'static str, Manifest>, RunError> {
    let mut made = BTreeMap::new();
    for input in recipe.steps().iter().flat_map(|step| step.inputs) {
        if input.contains('/') {
            let stage = open_input(workspace, recipe, input).map_err(|error| match error {
                RunError::Missing { recipe: of, stage } => {
                    RunError::MissingInput { recipe: recipe.name, of, stage }
                }
                error => error,
            });
            made.insert(*input, stage?.manifest().clone());
        }
    }
    Ok(made)
}

fn no_stage(recipe: &'static Recipe, name: &str) -> RunError {
    let unknown = unknown("stage", name, recipe.steps().iter().map(|step| step.name));
    RunError::NoStage { recipe: recipe.name, unknown }
}

fn open_input(workspace: &Workspace, recipe: &'static Recipe, input: &str) -> Result<StageReader, RunError> {
    let (recipe, number, step) = recipe.find_input(input).ok_or_else(|| no_stage(recipe, input))?;
    let place = workspace.stage_folder(recipe.name, number, step.name);
    StageReader::open(&place)?.ok_or(RunError::Missing { recipe: recipe.name, stage: step.name })
}
