//! What setting votes aside opens again, and who gets it; known answers and whom they stop.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;

use super::{RunError, Tasks, review_items, votes_as_tasks};
use crate::config::{Config, Problem, sections, unknown};
use crate::recipe::{self, Recipe};
use crate::stages::review::Votes;
use crate::stages::{StageError, Unusable};
use riddlemill_review::ballot::{Ballot, Round};
use riddlemill_review::people::{Right, gold_standing};
use riddlemill_review::votes::{AsideLine, Asides, Restored, SetAside, aside};
use riddlemill_review::{
    AssignSettings, Gold, Item, Outcome, Pending, Resolution, Task, Values, Vote, hand_on, kept_off,
    read_gold, resolve_all,
};
use riddlemill_tables::{Error, Workspace};

/// What a decision changes in a step.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AsideEffect {
    pub recipe: &'static str,
    pub step: &'static str,
    /// Current votes that no longer count.
    pub votes: usize,
    /// Items that wait for votes again.
    pub reopened: usize,
    /// Disputes that are none any more, because the votes that remain decide, or too few are left.
    pub undisputed: usize,
    /// The tasks that others get.
    pub given: Vec<Task>,
    /// Reopened items of assigned work that nobody else may vote on.
    pub left: usize,
}

fn votes_folder(config: &Config) -> PathBuf {
    Workspace::new(&config.root).raw_folder().join("votes")
}

/// What setting votes aside would change, step by step; steps without such votes are left out.
///
/// # Errors
/// [`RunError`] if votes, tasks or the stages before cannot be read.
pub fn look_aside(
    config: &Config,
    recipes: &[&'static Recipe],
    new: &SetAside,
) -> Result<Vec<AsideEffect>, RunError> {
    let mut effects = Vec::new();
    for &recipe in recipes {
        let before = Votes::load(config, recipe.name)?;
        let after = Votes::load_with(config, recipe.name, std::slice::from_ref(new))?;
        for review in recipe.review_steps() {
            let (of, name) = review.benchmark_and_ballot();
            let known = before.set_aside(of, name).count();
            let votes = after.set_aside(of, name).count().saturating_sub(known);
            if votes > 0 {
                effects.push(effect_on_ballot(config, recipe, name, votes, (&before, &after), new)?);
            }
        }
    }
    Ok(effects)
}

fn effect_on_ballot(
    config: &Config,
    recipe: &'static Recipe,
    name: &'static str,
    votes: usize,
    (before, after): (&Votes, &Votes),
    new: &SetAside,
) -> Result<AsideEffect, RunError> {
    let none = AsideEffect {
        recipe: recipe.name,
        step: name,
        votes,
        reopened: 0,
        undisputed: 0,
        given: Vec::new(),
        left: 0,
    };
    let (ballot, items) = match review_items(config, recipe, name) {
        Ok(Some(found)) => found,
        // Votes on items that were never made here, as after a merge.
        Ok(None) | Err(RunError::Missing { .. }) => return Ok(none),
        Err(e) => return Err(e),
    };
    let on = after.by_item(ballot.recipe, name);
    let was = resolve_all(&ballot, &items, &before.by_item(ballot.recipe, name));
    let resolved = resolve_all(&ballot, &items, &on);
    let disputed = |found: &Resolution| matches!(found.pending(), Some(Pending::Adjudicate { .. }));
    let undisputed = was.iter().zip(&resolved).filter(|(was, now)| disputed(was) && !disputed(now)).count();
    let tasks = Tasks::open(&Workspace::new(&config.root), recipe.name, name)?;
    let mut reopened: BTreeMap<&str, Round> = BTreeMap::new();
    let theirs: FxHashSet<(&str, Round)> =
        after.set_aside(ballot.recipe, name).map(|(vote, _)| (vote.item.as_str(), vote.round)).collect();
    for (item, resolution) in items.iter().zip(&resolved) {
        let waits = match (resolution.pending(), &resolution.outcome) {
            (Some(Pending::Waiting { round, .. }), _) => Some(*round),
            // What only a sample's votes decide waits for people.
            (None, Outcome::Confirmed { synthetic: true, .. }) => Some(Round::Vote),
            _ => None,
        };
        if let Some(round) = waits.filter(|round| theirs.contains(&(item.id.as_str(), *round))) {
            reopened.insert(&item.id, round);
        }
    }
    let authors = kept_off(&items, &config.annotators);
    let (mut given, mut left) = (Vec::new(), 0);
    for round in [Round::Vote, Round::Review] {
        // Where nothing was assigned to anybody, what is open waits for everybody who may vote.
        if tasks.current_tasks(round).is_empty() {
            continue;
        }
        let open: Vec<&str> =
            reopened.iter().filter(|(_, of)| **of == round).map(|(item, _)| *item).collect();
        let mut known = tasks.all_tasks().to_vec();
        known.extend(votes_as_tasks(round, &items, &resolved, &on, tasks.all_tasks()));
        let settings = AssignSettings { round, written_by: Some(&authors), ..AssignSettings::default() };
        let people = eligible_annotators(config, recipe, &ballot, &items, &on, after.asides())?;
        let new_tasks = hand_on(&ballot, &new.annotator, &open, &people, &known, &settings);
        let on_it = |item: &str| {
            let others =
                known.iter().chain(&new_tasks).filter(|task| task.item == item && task.round == round);
            others.filter(|task| task.annotator != new.annotator).count()
        };
        left += open.iter().filter(|item| on_it(item) < ballot.votes_in(round)).count();
        given.extend(new_tasks);
    }
    // Tasks given together are taken back together if the decision is withdrawn.
    given.iter_mut().for_each(|task| task.at = Some(new.at.clone()));
    Ok(AsideEffect { reopened: reopened.len(), undisputed, given, left, ..none })
}

/// Those whom no bound stops.
fn eligible_annotators(
    config: &Config,
    recipe: &'static Recipe,
    ballot: &Ballot,
    items: &[Item],
    votes: &FxHashMap<&str, Vec<&Vote>>,
    asides: &Asides,
) -> Result<Vec<riddlemill_review::Annotator>, RunError> {
    let stopped = stopped_annotators(config, recipe, ballot, items, votes, asides)?;
    Ok(config.annotators.iter().filter(|person| !stopped.contains_key(&person.name)).cloned().collect())
}

/// Sets votes aside, and gives what becomes open again to others.
///
/// # Errors
/// [`RunError`] if something cannot be read or written. The decision is written before the tasks.
pub fn set_aside(
    config: &Config,
    recipes: &[&'static Recipe],
    new: &SetAside,
) -> Result<Vec<AsideEffect>, RunError> {
    let effects = look_aside(config, recipes, new)?;
    // Pressed twice, it is one decision.
    if effects.is_empty() {
        return Ok(effects);
    }
    let line = AsideLine::SetAside(new.clone());
    aside::append_line(&votes_folder(config), &line).map_err(StageError::from)?;
    for effect in &effects {
        Tasks::open(&Workspace::new(&config.root), effect.recipe, effect.step)?
            .append_tasks(&effect.given)?;
    }
    Ok(effects)
}

/// Lets votes count again, and takes the tasks back that others got for them and have not done. Returns how many.
///
/// # Errors
/// [`RunError`] if something cannot be read or written.
pub fn restore_votes(
    config: &Config,
    recipes: &[&'static Recipe],
    decision: &SetAside,
    undo: &Restored,
) -> Result<usize, RunError> {
    aside::append_line(&votes_folder(config), &AsideLine::Undo(undo.clone())).map_err(StageError::from)?;
    let mut taken = 0;
    for &recipe in recipes {
        let votes = Votes::load(config, recipe.name)?;
        for review in recipe.review_steps() {
            let (of, name) = review.benchmark_and_ballot();
            let on = votes.by_item(of, name);
            let is_done = |task: &Task| {
                let votes = on.get(task.item.as_str()).map(Vec::as_slice).unwrap_or_default();
                votes.iter().any(|vote| {
                    !vote.synthetic && vote.annotator == task.annotator && vote.round == task.round
                })
            };
            let tasks = Tasks::open(&Workspace::new(&config.root), recipe.name, name)?;
            let of_it = |task: &&Task| {
                task.at.as_deref() == Some(decision.at.as_str())
                    && task.instead_of.as_deref() == Some(decision.annotator.as_str())
            };
            let back: Vec<Task> = tasks
                .all_tasks()
                .iter()
                .filter(of_it)
                .filter(|task| !is_done(task))
                .map(|task| Task { back: true, at: Some(undo.at.clone()), ..task.clone() })
                .collect();
            taken += back.len();
            tasks.append_tasks(&back)?;
        }
    }
    Ok(taken)
}

/// The file of a step's known answers that the settings name; `None` without the setting.
fn known_file(config: &Config, recipe: &str, step: &str) -> Option<PathBuf> {
    let settings: sections::Review = config.typed_settings(Some(recipe), "review");
    (!settings.gold.is_empty())
        .then(|| config.root.join(&settings.gold).join(format!("{recipe}.{step}.jsonl")))
}

/// What the settings name and what is not there, or is there and not named, where everything works without it.
pub fn list_setting_warnings(config: &Config) -> Vec<Problem> {
    [config.absent_places(), config.lacking_endpoints(), list_unused_answers(config)].concat()
}

/// Files in the folders of known answers that are of no review, for which nobody would look.
fn list_unused_answers(config: &Config) -> Vec<Problem> {
    let mut known: BTreeSet<PathBuf> = BTreeSet::new();
    for recipe in recipe::RECIPES.iter() {
        let steps = recipe.review_steps().map(|review| review.benchmark_and_ballot().1);
        known.extend(steps.filter_map(|step| known_file(config, recipe.name, step)));
    }
    let folders: BTreeSet<&Path> = known.iter().filter_map(|file| file.parent()).collect();
    let files = folders.into_iter().flat_map(|folder| fs::read_dir(folder).into_iter().flatten().flatten());
    let stray = files.map(|entry| entry.path()).filter(|file| {
        let is_hidden = file.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        let is_note = file.extension().is_some_and(|end| end == "md" || end == "txt");
        !is_hidden && !is_note && !known.contains(file)
    });
    let names: Vec<&str> = known.iter().filter_map(|file| file.file_name()?.to_str()).collect();
    let problem = |file: PathBuf| {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let what = unknown("file of known answers, which nobody is given:", &name, names.iter().copied());
        Problem { place: file.display().to_string(), what }
    };
    stray.map(problem).collect()
}

/// The known answers of a step, from the folder of `review.gold`; none if it has no file of the step.
///
/// # Errors
/// [`RunError`] if the file cannot be read, or a line of it cannot be used.
pub fn known_answers<'i>(
    config: &Config,
    recipe: &str,
    ballot: &Ballot,
    items: &'i [Item],
) -> Result<Vec<Gold<'i>>, RunError> {
    let Some(file) = known_file(config, recipe, ballot.name) else { return Ok(Vec::new()) };
    let text = match fs::read_to_string(&file) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(Error::io("read", &file)(e).into()),
    };
    let by_id: FxHashMap<&str, &'i Item> = items.iter().map(|item| (item.id.as_str(), item)).collect();
    read_gold(&text, ballot, |id| by_id.get(id).copied()).map_err(|problems| {
        let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
        RunError::Stage(Unusable::at_place(file.display().to_string(), lines.join("\n")).into())
    })
}

/// Whoever gets no more work on a step, by the bound of the settings, with how often they were right.
///
/// # Errors
/// Those of [`known_answers`].
pub fn stopped_annotators(
    config: &Config,
    recipe: &'static Recipe,
    ballot: &Ballot,
    items: &[Item],
    votes: &FxHashMap<&str, Vec<&Vote>>,
    asides: &Asides,
) -> Result<BTreeMap<String, Right>, RunError> {
    let bound = config.typed_settings::<sections::Review>(Some(recipe.name), "review").gold_bound;
    if bound <= 0.0 {
        return Ok(BTreeMap::new());
    }
    let known = known_answers(config, recipe.name, ballot, items)?;
    let pairs: Vec<(&Item, &Values)> = known.iter().map(|gold| (gold.item, &gold.answers)).collect();
    let mut standing = gold_standing(ballot, &pairs, votes, asides);
    standing.retain(|_, right| right.is_below(bound));
    Ok(standing)
}
