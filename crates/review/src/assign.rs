//! Assigns items to annotators.

mod hand_on;

pub use hand_on::{hand_on, reassign_tasks};

use std::collections::{BTreeMap, BTreeSet};

use riddlemill_schema::table;
use serde::{Deserialize, Serialize};

use super::ballot::{Ballot, Qualification, Role, Round};
use super::item::Item;
use super::qualify::{TrialLevel, qualified_level};
use riddlemill_text::hint::unknown;
use riddlemill_text::options::DrawStream;

table! {
    /// An annotator, as named in the settings.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    pub struct Annotator in "annotator": "[[annotator]]: a person who votes. The name is stored in votes, so use a code instead of the person's name." {
        name: String = required, "A short code; it is stored in every vote.";
        role: Role = required, "annotator votes; junior votes where a senior reviews the votes; meta settles disputes.";
        languages: Vec<String> = [], "The languages they read: [\"zh\", \"en\"]; items in other languages (`languages` of a ballot, \"of the record\" or listed; `assign --language`) are not given to them; empty: any.";
        qualified: bool = false, "Let this annotator vote without a graded trial; FLUB's steps require one (`review qualify`), and its card counts the exceptions.";
        accounts: Vec<String> = [], "Their Label Studio accounts: the user's number or e-mail address.";
    }
    unread {
        /// The results of their trials, from raw/votes/trials, not from the settings.
        #[serde(skip)]
        trials: Vec<LastTrial>;
    }
}

/// The last graded trial of an annotator on a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastTrial {
    pub recipe: String,
    pub step: String,
    /// Gold items answered correctly.
    pub right: usize,
    /// Gold items answered.
    pub of: usize,
    /// The fewest answers that it was judged by.
    pub fewest: usize,
    /// What it qualifies for.
    pub level: TrialLevel,
}

impl Annotator {
    /// Whether they are not given an item: they wrote what is judged, or they do not read it.
    pub fn is_kept_from(&self, item: &Item) -> bool {
        item.written_by.contains(&self.name) || self.cannot_read(item)
    }

    /// Whether they are said to read languages, and not the item's.
    pub fn cannot_read(&self, item: &Item) -> bool {
        let is_theirs = |wanted: &String| self.languages.contains(wanted);
        !self.languages.is_empty() && item.language.as_ref().is_some_and(|wanted| !is_theirs(wanted))
    }

    /// Languages of `step` that the annotator is not said to read; empty if no languages are given.
    pub fn unread_languages<'s>(&self, ballot: &'s Ballot) -> Vec<&'s str> {
        let reads = |wanted: &&'s str| self.languages.iter().any(|language| language == wanted);
        let wanted = ballot.languages.iter().copied().filter(|_| !self.languages.is_empty());
        wanted.filter(|wanted| !reads(wanted)).collect()
    }

    /// An annotator without further properties.
    pub fn new(name: impl Into<String>, role: Role) -> Annotator {
        let (languages, accounts, trials) = Default::default();
        Annotator { name: name.into(), role, languages, qualified: false, accounts, trials }
    }

    /// Whether the annotator may vote in `round` of `step`. If the step has a trial, a grade decides, and
    /// `qualified` only for annotators without one.
    pub fn may_vote(&self, ballot: &Ballot, round: Round) -> bool {
        let roles = ballot.roles_of_round(round);
        if !roles.contains(&self.role) {
            return false;
        }
        if ballot.qualification.is_none() || round == Round::Adjudication {
            return true;
        }
        let only_seniors = !roles.iter().any(|role| matches!(role, Role::Annotator | Role::Junior));
        let wanted = if only_seniors { TrialLevel::Senior } else { TrialLevel::Formal };
        self.trial_level(ballot).map_or(self.qualified, |level| level >= wanted)
    }

    /// What the trials on a step qualify for; without any, those on the other steps of its recipe together,
    /// as one pre-annotation (FLUB, section 2.1). `None` without any that could be judged.
    pub fn trial_level(&self, ballot: &Ballot) -> Option<TrialLevel> {
        let of_recipe = || self.trials.iter().filter(|trial| trial.recipe == ballot.recipe);
        if let Some(own) = of_recipe().find(|trial| trial.step == ballot.name) {
            return Some(own.level);
        }
        let (right, of) = of_recipe().fold((0, 0), |(right, of), t| (right + t.right, of + t.of));
        let fewest = of_recipe().map(|trial| trial.fewest).min()?;
        let level = qualified_level(right, of, ballot.qualification.unwrap_or(Qualification::USUAL), fewest);
        (level != TrialLevel::TooFew).then_some(level)
    }
}

/// One item for one annotator.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Task {
    pub item: String,
    pub annotator: String,
    pub round: Round,
    /// Included to check whether the annotator agrees with a known answer; ballots do not show this.
    #[serde(default)]
    pub gold: bool,
    /// The annotator whom this one replaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead_of: Option<String>,
    /// When it was given, RFC 3339, if recorded: tasks given at once can be taken back at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// Whether this entry takes back the last task of this item, annotator and round, instead of giving one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub back: bool,
    /// The day by which it is wanted, YYYY-MM-DD, if one was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
}

/// How items are assigned.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AssignSettings<'s> {
    /// Of the recipe.
    pub seed: u64,
    pub round: Round,
    /// Languages an annotator must read.
    pub languages: &'s [&'s str],
    /// The share of items (0 to 1) that get one more vote than needed, so that agreement can be measured
    /// where one vote is enough.
    pub overlap: f64,
    /// Items that need no vote any more. Their share of the overlap is assigned too.
    pub decided: &'s [&'s str],
    /// Only these annotators; if empty, all who may vote.
    pub to: &'s [&'s str],
    /// Assigns this many of all items instead, open or decided, drawn by the seed, each for one vote more
    /// than it needs; to each of the named annotators, if there are any.
    pub sample: Option<usize>,
    /// Items with a known answer.
    pub gold: &'s [&'s str],
    /// The share of gold items (0 to 1) in each annotator's queue, if there are enough.
    pub gold_share: f64,
    /// Draws which gold items each annotator gets, with `seed`.
    pub gold_seed: u64,
    /// Whether open gold items also get the votes that they need, as known items that stay in the recipe do.
    pub gold_is_due: bool,
    /// Who is not given an item, by item: the authors of what is judged, and those who do not read it ([`kept_off`]).
    pub written_by: Option<&'s BTreeMap<String, Vec<String>>>,
}

/// Why items cannot be assigned.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AssignError {
    /// Not enough annotators for one item.
    #[error("{step}: {needed} different annotators are needed for each item, but {there} may vote{why}", why = list_lacking(lacking))]
    TooFew {
        step: &'static str,
        /// How many an item needs.
        needed: usize,
        /// How many there are.
        there: usize,
        /// What each of the others lacks.
        lacking: Vec<String>,
    },
    /// A named annotator may not vote.
    #[error("{0}")]
    MayNot(String),
    /// A named annotator is not in the settings.
    #[error("{0}")]
    Unknown(String),
}

fn list_lacking(lacking: &[String]) -> String {
    match lacking {
        [] => "\n  hint: pipeline.toml has no [[annotator]]; `riddlemill config --explain annotator`".into(),
        _ => lacking.iter().map(|one| format!("\n  {one}")).collect(),
    }
}

/// Who is not given an item, by item, for [`AssignSettings::written_by`]: the authors of what is judged, and those who are
/// said to read languages, and not the item's.
pub fn kept_off(items: &[Item], people: &[Annotator]) -> BTreeMap<String, Vec<String>> {
    let names = |item: &Item| -> Vec<String> {
        // Authors may have left the settings.
        let authors = item.written_by.iter().cloned();
        let kept = people.iter().filter(|person| person.is_kept_from(item)).map(|person| person.name.clone());
        authors.chain(kept.filter(|name| !item.written_by.contains(name))).collect()
    };
    let all = items.iter().map(|item| (item.id.clone(), names(item)));
    all.filter(|(_, names)| !names.is_empty()).collect()
}

/// The command that grades trials on a ballot, but for the file with the known answers.
fn qualify_command(ballot: &Ballot) -> String {
    format!("`riddlemill review qualify {} --recipe {} --gold FILE`", ballot.name, ballot.recipe)
}

/// What keeps somebody from voting, with a hint; `None` if nothing does.
pub fn missing_requirement(
    person: &Annotator,
    ballot: &Ballot,
    settings: &AssignSettings<'_>,
) -> Option<String> {
    let roles: Vec<&str> = ballot.roles_of_round(settings.round).into_iter().map(Role::name).collect();
    let mut lacks = Vec::new();
    if !ballot.roles_of_round(settings.round).contains(&person.role) {
        lacks.push(format!("role = {:?}, but the step requires {}", person.role.name(), roles.join(" or ")));
    } else if !person.may_vote(ballot, settings.round) {
        lacks.push(match person.trial_level(ballot) {
            Some(_) => format!("their trial was not passed ({})", qualify_command(ballot)),
            None => format!("no trial passed ({}; or qualified = true)", qualify_command(ballot)),
        });
    }
    let mut unread: Vec<&str> = settings
        .languages
        .iter()
        .copied()
        .filter(|wanted| !person.languages.iter().any(|language| language == wanted))
        .collect();
    for wanted in person.unread_languages(ballot) {
        if !unread.contains(&wanted) {
            unread.push(wanted);
        }
    }
    if !unread.is_empty() {
        lacks.push(format!("languages lack {}", unread.join(", ")));
    }
    (!lacks.is_empty()).then(|| format!("{}: {}", person.name, lacks.join("; ")))
}

/// Assigns `items` that need more annotators than `tasks` gives them, and returns the new tasks, sorted.
///
/// An item goes to those with the fewest tasks; among equals the item's own draw decides. So loads differ by
/// at most one if everybody may vote on everything, the result depends on the seed and not on the order of
/// `items` or `people`, and existing tasks stay.
pub fn assign_items(
    ballot: &Ballot,
    items: &[&str],
    people: &[Annotator],
    tasks: &[Task],
    settings: &AssignSettings<'_>,
) -> Result<Vec<Task>, AssignError> {
    let round = settings.round;
    let able = named_voters(ballot, people, settings)?;
    let needed = ballot.votes_in(round);
    if settings.to.is_empty() && able.len() < needed {
        let lacking =
            people.iter().filter_map(|person| missing_requirement(person, ballot, settings)).collect();
        return Err(AssignError::TooFew { step: ballot.name, needed, there: able.len(), lacking });
    }
    let mut loads = Loads::count_tasks(&able, tasks, round);
    loads.keep_off(settings.written_by);
    let gold: BTreeSet<&str> = settings.gold.iter().copied().collect();
    let open_gold: Vec<&str> = items.iter().copied().filter(|item| gold.contains(item)).collect();
    let mut new = Vec::new();
    let task =
        |item: &str, annotator: String| Task { item: item.into(), annotator, round, ..Task::default() };
    if let Some(size) = settings.sample {
        for item in
            draw_items(items.iter().chain(settings.decided).copied(), settings.seed).into_iter().take(size)
        {
            // Named annotators get all of it; otherwise one more than the item needs.
            let wanted = if settings.to.is_empty() { needed + 1 } else { usize::MAX };
            while loads.count_on_item(item) < wanted {
                let Some(annotator) = loads.assign_item(item, settings.seed) else { break };
                new.push(task(item, annotator));
            }
        }
        new.sort();
        return Ok(new);
    }
    let is_extra = |item: &str| gets_one_more(item, settings);
    let decided = settings.decided.iter().copied().filter(|item| is_extra(item)).map(|item| (item, true));
    let items = items.iter().map(|item| (*item, is_extra(item))).chain(decided);
    let items: BTreeMap<&str, bool> = items.filter(|(item, _)| !gold.contains(item)).collect();
    for item in draw_items(items.keys().copied(), settings.seed) {
        let wanted = needed + usize::from(items[item]);
        while loads.count_on_item(item) < wanted {
            let Some(annotator) = loads.assign_item(item, settings.seed) else { break };
            new.push(task(item, annotator));
        }
    }
    for &annotator in &able {
        let load = loads.load_of_annotator(annotator);
        // A share s of the whole queue: g of n + g.
        let share = settings.gold_share.clamp(0.0, 0.9);
        let wanted = (load as f64 * share / (1.0 - share)).round() as usize;
        let has = tasks.iter().filter(|task| task.gold && task.annotator == annotator).count();
        // Drawn anew for each annotator, so that not all get the same gold items.
        let free = draw_items(
            gold.iter().copied(),
            settings.seed ^ DrawStream::new(settings.gold_seed, "review gold", annotator).next_bits(),
        );
        let free = free.into_iter().filter(|item| !loads.is_on_item(item, annotator));
        let free: Vec<&str> = free.take(wanted.saturating_sub(has)).collect();
        for item in free {
            loads.on.entry(item.to_owned()).or_default().insert(annotator.to_owned());
            new.push(Task {
                item: item.to_owned(),
                annotator: annotator.to_owned(),
                round,
                gold: true,
                ..Task::default()
            });
        }
    }
    for item in draw_items(open_gold.into_iter().filter(|_| settings.gold_is_due), settings.seed) {
        while loads.count_on_item(item) < needed {
            let Some(annotator) = loads.assign_item(item, settings.seed) else { break };
            new.push(Task { gold: true, ..task(item, annotator) });
        }
    }
    new.sort();
    Ok(new)
}

/// Whether an item is in the share that gets one vote more than it needs.
fn gets_one_more(item: &str, settings: &AssignSettings<'_>) -> bool {
    DrawStream::new(settings.seed, "review overlap", item).draw_unit() < settings.overlap
}

/// Those who may vote and, if names are given, are among them.
fn named_voters<'p>(
    ballot: &Ballot,
    people: &'p [Annotator],
    settings: &AssignSettings<'_>,
) -> Result<Vec<&'p str>, AssignError> {
    for name in settings.to {
        let Some(person) = people.iter().find(|person| person.name == *name) else {
            let known = people.iter().map(|person| person.name.as_str());
            return Err(AssignError::Unknown(unknown("annotator", name, known)));
        };
        if let Some(lacks) = missing_requirement(person, ballot, settings) {
            return Err(AssignError::MayNot(lacks));
        }
    }
    let all = able_voters(ballot, people, settings);
    Ok(all.into_iter().filter(|name| settings.to.is_empty() || settings.to.contains(name)).collect())
}

fn able_voters<'p>(ballot: &Ballot, people: &'p [Annotator], settings: &AssignSettings<'_>) -> Vec<&'p str> {
    let reads = |person: &&Annotator| {
        settings.languages.iter().all(|wanted| person.languages.iter().any(|language| language == wanted))
    };
    let able = people.iter().filter(|person| person.may_vote(ballot, settings.round)).filter(reads);
    let able = able.filter(|person| person.unread_languages(ballot).is_empty());
    let names: BTreeSet<&str> = able.map(|person| person.name.as_str()).collect();
    names.into_iter().collect()
}

/// The items in the order of their own draws, each once.
fn draw_items<'i>(items: impl Iterator<Item = &'i str>, seed: u64) -> Vec<&'i str> {
    let items: BTreeSet<&str> = items.collect();
    let mut items: Vec<&str> = items.into_iter().collect();
    items.sort_by_cached_key(|item| DrawStream::new(seed, "review items", item).next_bits());
    items
}

/// Everybody's load, and who is on which item.
struct Loads<'p> {
    loads: BTreeMap<&'p str, usize>,
    on: BTreeMap<String, BTreeSet<String>>,
    off: Option<&'p BTreeMap<String, Vec<String>>>,
}

impl<'p> Loads<'p> {
    /// Annotators who were replaced are counted with what they did, which is on the item too.
    fn count_tasks(able: &[&'p str], tasks: &[Task], round: Round) -> Loads<'p> {
        let mut loads =
            Loads { loads: able.iter().map(|name| (*name, 0)).collect(), on: BTreeMap::new(), off: None };
        let given_on: BTreeSet<(&str, &str)> = tasks
            .iter()
            .filter(|task| task.round == round)
            .filter_map(|task| Some((task.item.as_str(), task.instead_of.as_deref()?)))
            .collect();
        for task in tasks.iter().filter(|task| task.round == round) {
            if given_on.contains(&(task.item.as_str(), task.annotator.as_str())) {
                continue;
            }
            if !task.gold
                && let Some(load) = loads.loads.get_mut(task.annotator.as_str())
            {
                *load += 1;
            }
            loads.on.entry(task.item.clone()).or_default().insert(task.annotator.clone());
        }
        loads
    }

    fn load_of_annotator(&self, annotator: &str) -> usize {
        self.loads.get(annotator).copied().unwrap_or(0)
    }

    fn count_on_item(&self, item: &str) -> usize {
        self.on.get(item).map_or(0, BTreeSet::len)
    }

    fn is_on_item(&self, item: &str, annotator: &str) -> bool {
        self.on.get(item).is_some_and(|on| on.contains(annotator))
    }

    /// Excludes authors from their own texts.
    fn keep_off(&mut self, written_by: Option<&'p BTreeMap<String, Vec<String>>>) {
        self.off = written_by;
    }

    fn is_off(&self, item: &str, annotator: &str) -> bool {
        let written_by = self.off.and_then(|off| off.get(item));
        written_by.is_some_and(|names| names.iter().any(|name| name == annotator))
    }

    /// Assigns `item` to the person with the smallest load who is not yet on it.
    fn assign_item(&mut self, item: &str, seed: u64) -> Option<String> {
        let free =
            self.loads.iter().filter(|(name, _)| !self.is_on_item(item, name) && !self.is_off(item, name));
        let (&name, _) = free.min_by_key(|(name, load)| {
            (**load, DrawStream::new(seed, &format!("review pick {name}"), item).next_bits())
        })?;
        *self.loads.entry(name).or_default() += 1;
        self.on.entry(item.to_owned()).or_default().insert(name.to_owned());
        Some(name.to_owned())
    }
}

#[cfg(test)]
mod margins;
#[cfg(test)]
mod tests;
