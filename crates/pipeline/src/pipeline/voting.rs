//! What a run does for a review: it tells whether open items are assigned and who has most of them to vote on, and keeps the
//! texts on which people voted before it changes them (raw/seen, append-only).

use std::collections::{BTreeMap, BTreeSet};

use riddlemill_review::ballot::{Ballot, Round};
use riddlemill_review::carry::{SeenLog, rested_on};
use riddlemill_review::votes::current_votes;
use riddlemill_review::{
    Annotator, AssignError, AssignSettings, Item, Pending, Resolution, Task, assign_items, kept_off,
    missing_requirement, resolve_all,
};
use riddlemill_tables::Workspace;

use super::words::{KeyedSentence, Word};
use super::{RunError, Tasks, review_items, rows};
use crate::config::{Config, sections};
use crate::recipe::Recipe;
use crate::stages::review::Votes;
use crate::stages::{ReviewStep, StageError};

/// What helps the records of a cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// Nothing that a command can do.
    Nothing,
    /// Another run.
    Run,
    /// A change outside of the program or in pipeline.toml, and then another run.
    First(KeyedSentence),
    Command(String),
}

/// A review with its items, votes and assignments.
pub(super) struct Voting<'c> {
    config: &'c Config,
    recipe: &'static str,
    ballot: Ballot,
    items: Vec<Item>,
    resolved: Vec<Resolution>,
    votes: Votes,
    tasks: Tasks,
}

impl<'c> Voting<'c> {
    /// `None` if the stage before the review has not been made.
    pub(super) fn open(
        config: &'c Config,
        recipe: &'static Recipe,
        review: ReviewStep,
    ) -> Result<Option<Voting<'c>>, RunError> {
        let name = review.benchmark_and_ballot().1;
        let (ballot, items) = match review_items(config, recipe, name) {
            Ok(Some(found)) => found,
            Ok(None) | Err(RunError::Missing { .. }) => return Ok(None),
            Err(e) => return Err(e),
        };
        let votes = Votes::load(config, recipe.name)?;
        let tasks = Tasks::open(&Workspace::new(&config.root), recipe.name, name)?;
        let resolved = resolve_all(&ballot, &items, &votes.by_item(ballot.recipe, ballot.name));
        Ok(Some(Voting { config, recipe: recipe.name, ballot, items, resolved, votes, tasks }))
    }

    /// The first round in which an item waits for votes.
    pub(super) fn first_round(&self) -> Round {
        let waits = |wanted: Round| {
            self.resolved.iter().any(|resolution| {
                matches!(resolution.pending(), Some(Pending::Waiting { round, .. }) if *round == wanted)
            })
        };
        if !waits(Round::Vote) && waits(Round::Review) { Round::Review } else { Round::Vote }
    }

    /// The command that helps the items waiting in a round.
    pub(super) fn remedy_of_round(&self, round: Round) -> Remedy {
        let waits = |resolution: &Resolution| match resolution.pending() {
            Some(Pending::Waiting { round: of, .. }) => *of == round,
            Some(Pending::Adjudicate { .. }) => round == Round::Adjudication,
            None => false,
        };
        let open = self.items.iter().zip(&self.resolved).filter(|(_, resolution)| waits(resolution));
        let open: Vec<&str> = open.map(|(item, _)| item.id.as_str()).collect();
        // What they waited for has come since the stage was made.
        if open.is_empty() {
            return Remedy::Run;
        }
        let at = format!("{} --recipe {}", self.ballot.name, self.recipe);
        if round == Round::Adjudication {
            let may = |person: &Annotator| person.may_vote(&self.ballot, round);
            if !self.config.annotators.iter().any(may) {
                let roles: Vec<String> =
                    self.ballot.roles_of_round(round).iter().map(ToString::to_string).collect();
                return Remedy::First(KeyedSentence::from_word(
                    Word::AddAdjudicator,
                    [self.ballot.name, &roles.join("\" / \"")],
                ));
            }
            return Remedy::Command(format!("riddlemill review adjudicate {at}"));
        }
        let at = match round {
            Round::Vote => at,
            _ => format!("{at} --round {}", round.name()),
        };
        let mut tasks = self.tasks.all_tasks().to_vec();
        // People may vote without a task; if that did not count, they would get the same item again.
        tasks.extend(votes_as_tasks(
            round,
            &self.items,
            &self.resolved,
            &self.by_item(),
            self.tasks.all_tasks(),
        ));
        let written_by = kept_off(&self.items, &self.config.annotators);
        let settings = AssignSettings { round, written_by: Some(&written_by), ..AssignSettings::default() };
        match assign_items(&self.ballot, &open, &self.config.annotators, &tasks, &settings) {
            Err(error) => remedy_of_unassigned(&self.ballot, &error, &self.config.annotators, &settings),
            Ok(new) if !new.is_empty() => Remedy::Command(format!("riddlemill review assign {at}")),
            Ok(_) => match self.most_to_do(round, &open) {
                Some(who) => Remedy::Command(format!("riddlemill review export {at} --annotator {who}")),
                None => self.nobody_left(&open, &written_by),
            },
        }
    }

    /// What helps open items that can be given to nobody: others than their authors, or than those who do not read them.
    fn nobody_left(&self, open: &[&str], kept_off: &BTreeMap<String, Vec<String>>) -> Remedy {
        let open: BTreeSet<&str> = open.iter().copied().collect();
        let waits = || self.items.iter().filter(|item| open.contains(item.id.as_str()));
        if waits().any(|item| !item.written_by.is_empty()) {
            return Remedy::First(KeyedSentence::from_word(Word::AddOthers, [self.ballot.name]));
        }
        let unread = waits().filter(|item| kept_off.contains_key(&item.id));
        let languages: BTreeSet<&str> = unread.filter_map(|item| item.language.as_deref()).collect();
        if languages.is_empty() {
            return Remedy::Command(format!("riddlemill review status --recipe {}", self.recipe));
        }
        let languages: Vec<&str> = languages.into_iter().collect();
        Remedy::First(KeyedSentence::from_word(Word::AddReaders, [self.ballot.name, &languages.join(", ")]))
    }

    fn by_item(&self) -> rustc_hash::FxHashMap<&str, Vec<&riddlemill_review::Vote>> {
        self.votes.by_item(self.ballot.recipe, self.ballot.name)
    }

    /// The person with most open items to vote on.
    fn most_to_do(&self, round: Round, open: &[&str]) -> Option<&str> {
        let votes = self.by_item();
        let open: BTreeSet<&str> = open.iter().copied().collect();
        let open: BTreeMap<&str, &Resolution> = self
            .items
            .iter()
            .zip(&self.resolved)
            .map(|(item, resolution)| (item.id.as_str(), resolution))
            .filter(|(item, _)| open.contains(item))
            .collect();
        let voted = |task: &Task, resolution: &Resolution| {
            let on_it = votes.get(task.item.as_str()).map(Vec::as_slice).unwrap_or_default();
            current_votes(on_it).into_iter().any(|vote| {
                !vote.synthetic
                    && vote.round == round
                    && vote.annotator == task.annotator
                    && !resolution.stale.contains(&vote.id)
            })
        };
        let mut loads: BTreeMap<&str, usize> = BTreeMap::new();
        for task in self.tasks.current_tasks(round) {
            if open.get(task.item.as_str()).is_some_and(|resolution| !voted(task, resolution)) {
                *loads.entry(&task.annotator).or_default() += 1;
            }
        }
        // Of several with equally many the first by name.
        loads.into_iter().rev().max_by_key(|(_, load)| *load).map(|(name, _)| name)
    }
}

/// What helps a first round without any votes and assignments. Does not make the items, of which there may be
/// a million; `None` if it depends on the items.
///
/// # Errors
/// [`RunError`] if votes, tasks or the stage before cannot be read.
pub(super) fn remedy_before_votes(
    config: &Config,
    recipe: &'static Recipe,
    review: ReviewStep,
) -> Result<Option<Remedy>, RunError> {
    let name = review.benchmark_and_ballot().1;
    let ballot =
        review.ballot_by_settings(&config.typed_settings::<sections::Review>(Some(recipe.name), "review"));
    let Some(before) = recipe.find_review(name) else { return Ok(None) };
    // With `not_by` the voters depend on each item's authors, with languages of the records on each item, and items on
    // demand are not listed at all.
    if ballot.not_by.is_some() || ballot.of_its_language || ballot.on_demand {
        return Ok(None);
    }
    let workspace = Workspace::new(&config.root);
    let made = before.read_input_manifests(&workspace)?;
    let is_voted_on = || {
        Ok::<_, RunError>(!Votes::load(config, recipe.name)?.by_item(ballot.recipe, ballot.name).is_empty())
    };
    if made.is_none_or(|made| made.iter().all(|made| made.counts.records_out == 0))
        || !Tasks::open(&workspace, recipe.name, name)?.all_tasks().is_empty()
        || is_voted_on()?
    {
        return Ok(None);
    }
    // One item represents all of them: each may be assigned to anybody.
    let settings = AssignSettings::default();
    Ok(match assign_items(&ballot, &["any"], &config.annotators, &[], &settings) {
        Err(error) => Some(remedy_of_unassigned(&ballot, &error, &config.annotators, &settings)),
        Ok(new) if new.is_empty() => None,
        Ok(_) => Some(Remedy::Command(format!("riddlemill review assign {name} --recipe {}", recipe.name))),
    })
}

/// What is missing for assigning items: people, or what those who are there need before they may vote.
fn remedy_of_unassigned(
    ballot: &Ballot,
    error: &AssignError,
    people: &[Annotator],
    settings: &AssignSettings<'_>,
) -> Remedy {
    let AssignError::TooFew { needed, there, .. } = error else {
        return Remedy::First(KeyedSentence::verbatim(error.to_string()));
    };
    // Somebody of another role does not become a voter by anything that they lack.
    let roles = ballot.roles_of_round(settings.round);
    let of_role = people.iter().filter(|person| roles.contains(&person.role));
    let lacking: Vec<String> =
        of_role.filter_map(|person| missing_requirement(person, ballot, settings)).collect();
    let (name, needed, may) = (ballot.name, needed.to_string(), there.to_string());
    Remedy::First(match (lacking.is_empty(), there) {
        (false, _) => KeyedSentence::from_word(Word::LetVote, [name, &needed, &may, &lacking.join("; ")]),
        (true, 1) => KeyedSentence::from_word(Word::AddAnnotatorsOne, [name, &needed, &may]),
        (true, _) => KeyedSentence::from_word(Word::AddAnnotators, [name, &needed, &may]),
    })
}

/// People's votes that count in a round, as tasks, for those without a task: a voter is on the item.
pub fn votes_as_tasks(
    round: Round,
    items: &[Item],
    resolved: &[Resolution],
    votes: &rustc_hash::FxHashMap<&str, Vec<&riddlemill_review::Vote>>,
    tasks: &[Task],
) -> Vec<Task> {
    let given: BTreeSet<(&str, &str)> =
        tasks.iter().map(|task| (task.item.as_str(), task.annotator.as_str())).collect();
    let mut cast = Vec::new();
    for (item, resolution) in items.iter().zip(resolved) {
        let on_it = votes.get(item.id.as_str()).map(Vec::as_slice).unwrap_or_default();
        for vote in current_votes(on_it) {
            let counts = !vote.synthetic && vote.round == round && !resolution.stale.contains(&vote.id);
            if counts && !given.contains(&(item.id.as_str(), vote.annotator.as_str())) {
                let (item, annotator) = (item.id.clone(), vote.annotator.clone());
                cast.push(Task { item, annotator, round, ..Task::default() });
            }
        }
    }
    cast
}

/// Keeps the content of reviews after the step in place `made`, from 0, for items with people's votes. Called before the
/// first stage of a run is written: afterwards the content of the votes' items would be lost.
///
/// # Errors
/// [`RunError`] if votes cannot be read or the texts not be written.
pub(super) fn keep_review_texts(
    config: &Config,
    recipe: &'static Recipe,
    made: usize,
) -> Result<(), RunError> {
    let raw = Workspace::new(&config.root).raw_folder();
    if !raw.join("votes").exists() {
        return Ok(());
    }
    let votes = Votes::load(config, recipe.name)?;
    let mut texts = Vec::new();
    for review in recipe.review_steps() {
        let (of, ballot) = review.benchmark_and_ballot();
        let by_item = votes.stored_votes(of, ballot);
        let voted = by_item.values().flatten().any(|vote| !vote.synthetic);
        let later = recipe.place_of(&format!("review:{ballot}")).is_none_or(|place| place > made);
        // A review up to the first remade stage keeps its input, and with it the texts.
        if !voted || !later {
            continue;
        }
        // Rows that were never built, or cannot be read, were not shown to anybody.
        if let Ok(Some((step, items))) = rows::review_items(config, recipe, ballot) {
            texts.extend(rested_on(&step, &items, &by_item));
        }
    }
    SeenLog::append_texts(&raw.join("seen"), texts).map_err(StageError::from)?;
    Ok(())
}
