//! The data of a review step for every verb: the step with its items, votes and assignments.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::args::{ReviewArgs, RoundArg};
use super::exit::{Exit, Failure};
use super::output;
use crate::config::Config;
use crate::pipeline::{Tasks, shown_items, stopped_annotators, votes_as_tasks};
use crate::review::ballot::{Ballot, Round};
use crate::review::guidance;
use crate::review::people::Right;
use crate::review::{Item, Pending, Resolution, Task, Vote, VoteLog, dispute_item, resolve_all, review_item};
use crate::stages::review::Votes;
use crate::store::Workspace;

pub(super) fn usage_failure(error: impl std::fmt::Display) -> Failure {
    Failure::usage(error.to_string())
}

pub(super) fn io_failure(error: impl std::fmt::Display) -> Failure {
    Failure { exit: Exit::Io, message: error.to_string() }
}

/// A step with its items, votes and tasks.
pub(super) struct ReviewSession<'c> {
    pub(super) config: &'c Config,
    pub(super) step: Ballot,
    pub(super) round: Round,
    pub(super) items: Vec<Item>,
    pub(super) votes: Votes,
    pub(super) tasks: Tasks,
}

impl<'c> ReviewSession<'c> {
    pub(super) fn open(config: &'c Config, place: &ReviewArgs) -> Result<ReviewSession<'c>, Failure> {
        // `status` and `report` name the stage review:NAME, and people copy that.
        let name = place.step.strip_prefix("review:").unwrap_or(&place.step);
        let recipe = output::recipe_of(config, name, place.recipe.as_deref())?;
        let Some((step, items)) = shown_items(config, recipe, name)? else {
            return Err(usage_failure(output::unknown_review(&[recipe], name)));
        };
        let round = match place.round {
            RoundArg::Vote => Round::Vote,
            RoundArg::Review => Round::Review,
            RoundArg::Adjudication => Round::Adjudication,
        };
        let tasks = Tasks::open(&Workspace::new(&config.root), recipe.name, step.name)?;
        Ok(ReviewSession { config, step, round, items, votes: Votes::load(config, recipe.name)?, tasks })
    }

    pub(super) fn by_item(&self) -> FxHashMap<&str, Vec<&Vote>> {
        self.votes.by_item(self.step.recipe, self.step.name)
    }

    /// Whoever gets no more work on the step, each with what to do about it.
    pub(super) fn stopped_people(&self) -> Result<BTreeMap<String, String>, Failure> {
        let recipe = output::recipe_of(self.config, self.step.name, Some(self.step.recipe))?;
        let votes = self.by_item();
        let stopped =
            stopped_annotators(self.config, recipe, &self.step, &self.items, &votes, self.votes.asides())?;
        let told = |(name, right): (String, Right)| {
            let what = format!(
                "{name}: {} of {} known items right, at most {:.0} %, which is below review.gold_bound: no more work until `riddlemill review set-aside {name} --admit --by NAME --why TEXT`",
                right.right,
                right.of,
                100.0 * right.high
            );
            (name, what)
        };
        Ok(stopped.into_iter().map(told).collect())
    }

    /// The remarks on votes of the step.
    pub(super) fn read_remarks(&self) -> Result<Vec<guidance::Note>, Failure> {
        let votes = Workspace::new(&self.config.root).raw_folder().join("votes");
        guidance::read_entries(guidance::path_of_notes(&votes, self.step.recipe, self.step.name))
            .map_err(io_failure)
    }

    /// The guideline as last edited, or the benchmark's own.
    pub(super) fn read_guideline(&self) -> Result<String, Failure> {
        let votes = Workspace::new(&self.config.root).raw_folder().join("votes");
        let guides: Vec<guidance::BallotGuideline> =
            guidance::read_entries(guidance::path_of_guides(&votes, self.step.recipe, self.step.name))
                .map_err(io_failure)?;
        let edited = guides.into_iter().rfind(|guide| !guide.by.is_empty());
        let guide = edited.unwrap_or_else(|| guidance::BallotGuideline::of_ballot(&self.step));
        Ok([guide.en, guide.examples]
            .into_iter()
            .filter(|text| !text.is_empty())
            .collect::<Vec<_>>()
            .join(" "))
    }

    pub(super) fn open_vote_log(&self) -> Result<VoteLog, Failure> {
        VoteLog::open(Workspace::new(&self.config.root).raw_folder().join("votes")).map_err(io_failure)
    }

    /// People's current votes in this round, as tasks, for those without a task.
    pub(super) fn cast_tasks(&self) -> Vec<Task> {
        let votes = self.by_item();
        let resolved = resolve_all(&self.step, &self.items, &votes);
        votes_as_tasks(self.round, &self.items, &resolved, &votes, self.tasks.all_tasks())
    }

    /// The content in this round of items that are open in it.
    pub(super) fn seen_items(&self) -> Vec<(Item, bool)> {
        let votes = self.by_item();
        let resolved = resolve_all(&self.step, &self.items, &votes);
        let seen = |(item, resolution): (&Item, &Resolution)| {
            let on_it = votes.get(item.id.as_str()).map(Vec::as_slice).unwrap_or_default();
            let waits = |round| matches!(resolution.pending(), Some(Pending::Waiting { round: r, .. }) if *r == round);
            match self.round {
                Round::Vote => (item.clone(), waits(Round::Vote) || is_synthetic(resolution)),
                Round::Review => (review_item(&self.step, item, on_it), waits(Round::Review)),
                Round::Adjudication => {
                    let disputed = matches!(resolution.pending(), Some(Pending::Adjudicate { .. }));
                    (dispute_item(&self.step, item, on_it), disputed)
                }
            }
        };
        self.items.iter().zip(&resolved).map(seen).collect()
    }
}

/// A result from a sample's votes is not final for people, who may still vote.
fn is_synthetic(resolution: &Resolution) -> bool {
    matches!(resolution.outcome, crate::review::Outcome::Confirmed { synthetic: true, .. })
}
