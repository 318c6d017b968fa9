//! Who votes on what.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::ballot::{Role, Round, Step};
use crate::options::Draw;

/// Somebody who votes, as the settings name them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Annotator {
    /// A short code that stands in votes; not a person's name.
    pub name: String,
    /// Their standing.
    pub role: Role,
    /// Languages they read, such as `zh` and `en`.
    #[serde(default)]
    pub languages: Vec<String>,
    /// Whether the trial was passed, for steps that have one.
    #[serde(default)]
    pub qualified: bool,
    /// Accounts elsewhere (Label Studio's user number or address) that are this annotator's.
    #[serde(default)]
    pub accounts: Vec<String>,
}

impl Annotator {
    /// Whether the annotator may vote in `round` of `step`.
    pub fn may_vote(&self, step: &Step, round: Round) -> bool {
        step.roles(round).contains(&self.role)
            && (self.qualified || step.qualification.is_none() || round == Round::Adjudication)
    }
}

/// One item for one annotator.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Task {
    /// The item.
    pub item: String,
    /// Who.
    pub annotator: String,
    /// In which capacity.
    pub round: Round,
    /// Put in to see whether the annotator still agrees with a known answer; no ballot shows it.
    #[serde(default)]
    pub gold: bool,
    /// Who had it before and left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead_of: Option<String>,
}

/// How items are spread.
#[derive(Clone, Debug, PartialEq)]
pub struct AssignSettings<'s> {
    /// Of the recipe.
    pub seed: u64,
    /// The round.
    pub round: Round,
    /// Languages an annotator must read.
    pub languages: &'s [&'s str],
    /// The share of items (0 to 1) that get one more vote than needed, so that agreement can be
    /// measured where one vote is enough.
    pub overlap: f64,
    /// Items with a known answer.
    pub gold: &'s [&'s str],
    /// The share of gold items (0 to 1) in each annotator's queue, as far as there are enough.
    pub gold_share: f64,
}

/// Why items cannot be spread.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AssignError {
    /// Not enough annotators for one item.
    #[error("{step}: {needed} different annotators needed for an item, {there} may vote (roles: {roles})")]
    TooFew {
        /// The step.
        step: &'static str,
        /// How many an item needs.
        needed: usize,
        /// How many there are.
        there: usize,
        /// Who would do.
        roles: String,
    },
}

/// Assigns `items` that need more annotators than `tasks` gives them, and returns the new tasks, sorted.
///
/// An item goes to those with the fewest tasks; among equals the item's own draw decides. So loads differ
/// by one at most where everybody may vote on everything, the result depends on the seed alone and not on
/// the order of `items` or `people`, and tasks that were given once stay where they are.
pub fn assign(
    step: &Step,
    items: &[&str],
    people: &[Annotator],
    tasks: &[Task],
    settings: &AssignSettings<'_>,
) -> Result<Vec<Task>, AssignError> {
    let round = settings.round;
    let able = able(step, people, settings);
    let needed = step.votes_in(round);
    if able.len() < needed {
        let roles: Vec<&str> = step.roles(round).into_iter().map(Role::name).collect();
        return Err(AssignError::TooFew {
            step: step.name,
            needed,
            there: able.len(),
            roles: roles.join(", "),
        });
    }
    let mut loads = Loads::of(&able, tasks, round);
    let gold: BTreeSet<&str> = settings.gold.iter().copied().collect();
    let mut new = Vec::new();
    for item in drawn(items.iter().copied().filter(|item| !gold.contains(item)), settings.seed) {
        let extra = Draw::new(settings.seed, "review overlap", item).unit() < settings.overlap;
        let wanted = (needed + usize::from(extra)).min(able.len());
        while loads.on(item) < wanted {
            let Some(annotator) = loads.give(item, settings.seed) else { break };
            new.push(Task { item: item.to_owned(), annotator, round, gold: false, instead_of: None });
        }
    }
    for &annotator in &able {
        let load = loads.load(annotator);
        // A share s of the whole queue: g of n + g.
        let share = settings.gold_share.clamp(0.0, 0.9);
        let wanted = (load as f64 * share / (1.0 - share)).round() as usize;
        let has = tasks.iter().filter(|task| task.gold && task.annotator == annotator).count();
        let free = drawn(gold.iter().copied(), settings.seed ^ Draw::new(0, "review gold", annotator).bits());
        let free = free.into_iter().filter(|item| !loads.has(item, annotator));
        let free: Vec<&str> = free.take(wanted.saturating_sub(has)).collect();
        for item in free {
            new.push(Task {
                item: item.to_owned(),
                annotator: annotator.to_owned(),
                round,
                gold: true,
                instead_of: None,
            });
        }
    }
    new.sort();
    Ok(new)
}

/// Gives the open tasks of `leaving` to others, and returns the new tasks, sorted. `is_open` says whether
/// a task has no vote yet. Nobody else's task moves, and none of those that are done; where nobody else may
/// take an item, its task is left out.
pub fn replace(
    step: &Step,
    leaving: &str,
    people: &[Annotator],
    tasks: &[Task],
    is_open: impl Fn(&Task) -> bool,
    settings: &AssignSettings<'_>,
) -> Vec<Task> {
    let round = settings.round;
    let able: Vec<&str> = able(step, people, settings).into_iter().filter(|name| *name != leaving).collect();
    let mut loads = Loads::of(&able, tasks, round);
    let moved: BTreeSet<&str> = tasks
        .iter()
        .filter(|task| task.instead_of.as_deref() == Some(leaving))
        .map(|task| task.item.as_str())
        .collect();
    let open = tasks.iter().filter(|task| {
        task.annotator == leaving
            && task.round == round
            && !task.gold
            && is_open(task)
            && !moved.contains(task.item.as_str())
    });
    let mut new = Vec::new();
    for item in drawn(open.map(|task| task.item.as_str()), settings.seed) {
        if let Some(annotator) = loads.give(item, settings.seed) {
            let instead_of = Some(leaving.to_owned());
            new.push(Task { item: item.to_owned(), annotator, round, gold: false, instead_of });
        }
    }
    new.sort();
    new
}

fn able<'p>(step: &Step, people: &'p [Annotator], settings: &AssignSettings<'_>) -> Vec<&'p str> {
    let reads = |person: &&Annotator| {
        settings.languages.iter().all(|wanted| person.languages.iter().any(|language| language == wanted))
    };
    let able = people.iter().filter(|person| person.may_vote(step, settings.round)).filter(reads);
    let names: BTreeSet<&str> = able.map(|person| person.name.as_str()).collect();
    names.into_iter().collect()
}

/// The items in an order of their own draws, each once.
fn drawn<'i>(items: impl Iterator<Item = &'i str>, seed: u64) -> Vec<&'i str> {
    let items: BTreeSet<&str> = items.collect();
    let mut items: Vec<&str> = items.into_iter().collect();
    items.sort_by_cached_key(|item| Draw::new(seed, "review items", item).bits());
    items
}

/// How much everybody has to do, and who is on which item.
struct Loads<'p> {
    loads: BTreeMap<&'p str, usize>,
    on: BTreeMap<String, BTreeSet<String>>,
}

impl<'p> Loads<'p> {
    /// Whoever was replaced is counted for what they did, which is on the item too.
    fn of(able: &[&'p str], tasks: &[Task], round: Round) -> Loads<'p> {
        let mut loads = Loads { loads: able.iter().map(|name| (*name, 0)).collect(), on: BTreeMap::new() };
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

    fn load(&self, annotator: &str) -> usize {
        self.loads.get(annotator).copied().unwrap_or(0)
    }

    fn on(&self, item: &str) -> usize {
        self.on.get(item).map_or(0, BTreeSet::len)
    }

    fn has(&self, item: &str, annotator: &str) -> bool {
        self.on.get(item).is_some_and(|on| on.contains(annotator))
    }

    /// Puts whoever has least to do and is not yet on it onto `item`.
    fn give(&mut self, item: &str, seed: u64) -> Option<String> {
        let free = self.loads.iter().filter(|(name, _)| !self.has(item, name));
        let (&name, _) = free.min_by_key(|(name, load)| {
            (**load, Draw::new(seed, &format!("review pick {name}"), item).bits())
        })?;
        *self.loads.entry(name).or_default() += 1;
        self.on.entry(item.to_owned()).or_default().insert(name.to_owned());
        Some(name.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::review::ballots;

    fn people(names: &[&str], role: Role) -> Vec<Annotator> {
        let person = |name: &&str| Annotator {
            name: (*name).to_owned(),
            role,
            languages: vec!["zh".into()],
            qualified: true,
            accounts: Vec::new(),
        };
        names.iter().map(person).collect()
    }

    fn settings() -> AssignSettings<'static> {
        AssignSettings {
            seed: 1,
            round: Round::Vote,
            languages: &["zh"],
            overlap: 0.0,
            gold: &[],
            gold_share: 0.0,
        }
    }

    fn loads(tasks: &[Task]) -> BTreeMap<&str, usize> {
        let mut loads = BTreeMap::new();
        tasks
            .iter()
            .filter(|task| !task.gold)
            .for_each(|task| *loads.entry(task.annotator.as_str()).or_default() += 1);
        loads
    }

    #[test]
    fn only_those_who_may_vote_are_asked() {
        let step = ballots::step("flub", "type").unwrap();
        let mut people = people(&["a", "b", "c", "d", "e", "f"], Role::Junior);
        people[3].role = Role::Senior;
        people[4].qualified = false;
        people[5].languages.clear();
        let tasks = assign(&step, &["i"], &people, &[], &settings()).unwrap();
        assert_eq!(loads(&tasks).into_keys().collect::<Vec<_>>(), ["a", "b", "c"]);
        people[2].qualified = false;
        let error = assign(&step, &["i"], &people, &[], &settings()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "type: 3 different annotators needed for an item, 2 may vote (roles: junior)"
        );
    }

    #[test]
    fn overlap_and_gold_come_in_their_shares() {
        let step = ballots::step("chumor", "screen").unwrap();
        let people = people(&["a", "b", "c", "d"], Role::Annotator);
        let ids: Vec<String> = (0..1000).map(|at| at.to_string()).collect();
        let items: Vec<&str> = ids.iter().map(String::as_str).collect();
        let gold: Vec<&str> = items[..100].to_vec();
        let settings = AssignSettings { overlap: 0.2, gold: &gold, gold_share: 0.1, ..settings() };
        let tasks = assign(&step, &items, &people, &[], &settings).unwrap();
        let plain = tasks.iter().filter(|task| !task.gold).count();
        assert!((1040..1120).contains(&plain), "{plain} of 900 with a fifth twice");
        for (name, load) in loads(&tasks) {
            let gold = tasks.iter().filter(|task| task.gold && task.annotator == name).count();
            let share = gold as f64 / (gold + load) as f64;
            assert!((share - 0.1).abs() < 0.01, "{name}: {share}");
        }
        assert_eq!(
            assign(&step, &items, &people, &tasks, &settings).unwrap(),
            [],
            "nothing is assigned twice"
        );
    }

    #[test]
    fn who_leaves_moves_only_their_own_open_items() {
        let step = ballots::step("flub", "type").unwrap();
        let people = people(&["a", "b", "c", "d", "e"], Role::Junior);
        let ids: Vec<String> = (0..40).map(|at| format!("{at:02}")).collect();
        let items: Vec<&str> = ids.iter().map(String::as_str).collect();
        let mut tasks = assign(&step, &items, &people, &[], &settings()).unwrap();
        let is_open = |task: &Task| task.item.as_str() >= "20";
        let open = tasks.iter().filter(|task| task.annotator == "b" && is_open(task)).count();
        let new = replace(&step, "b", &people, &tasks, is_open, &settings());
        assert_eq!(new.len(), open);
        for task in &new {
            assert!(is_open(task) && task.annotator != "b" && task.instead_of.as_deref() == Some("b"));
            let mut on = tasks.iter().filter(|other| other.item == task.item);
            assert!(on.all(|other| other.annotator != task.annotator), "twice on {}", task.item);
        }
        tasks.extend(new);
        assert_eq!(replace(&step, "b", &people, &tasks, is_open, &settings()), [], "moved once");
        let stayed: Vec<Annotator> = people.into_iter().filter(|person| person.name != "b").collect();
        assert_eq!(assign(&step, &items, &stayed, &tasks, &settings()).unwrap(), [], "items are full again");
    }

    proptest! {
        #[test]
        fn loads_are_level_and_order_is_irrelevant(count in 1usize..60, seed in any::<u64>(), by in 0usize..5) {
            let step = ballots::step("flub", "type").unwrap();
            let mut people = people(&["a", "b", "c", "d", "e"], Role::Junior);
            let ids: Vec<String> = (0..count).map(|at| at.to_string()).collect();
            let mut items: Vec<&str> = ids.iter().map(String::as_str).collect();
            let settings = AssignSettings { seed, ..settings() };
            let tasks = assign(&step, &items, &people, &[], &settings).unwrap();
            prop_assert_eq!(tasks.len(), 3 * count);
            let loads = loads(&tasks);
            let most = loads.values().max().unwrap();
            prop_assert!(people.iter().all(|person| most - loads.get(person.name.as_str()).unwrap_or(&0) <= 1));
            people.rotate_left(by);
            items.reverse();
            prop_assert_eq!(&tasks, &assign(&step, &items, &people, &[], &settings).unwrap());
        }
    }
}
