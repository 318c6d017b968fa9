//! Assignments, for queries item by item.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::pipeline::Tasks;
use crate::review::Item;
use crate::review::ballot::Round;

/// The tasks of a step by round and annotator.
pub(crate) struct Assignments {
    tasks: Tasks,
    /// By round, then by annotator: their items. Rounds without assignments are missing.
    rounds: FxHashMap<Round, FxHashMap<String, FxHashSet<String>>>,
}

impl Assignments {
    pub(super) fn new(tasks: Tasks) -> Assignments {
        let mut rounds: FxHashMap<Round, FxHashMap<String, FxHashSet<String>>> = FxHashMap::default();
        for round in Round::ALL {
            for task in tasks.current(round) {
                let people = rounds.entry(round).or_default();
                people.entry(task.annotator.clone()).or_default().insert(task.item.clone());
            }
        }
        Assignments { tasks, rounds }
    }

    /// The tasks as stored.
    pub(crate) fn tasks(&self) -> &Tasks {
        &self.tasks
    }

    /// Whether items were assigned in a round at all.
    pub(crate) fn spread(&self, round: Round) -> bool {
        self.rounds.contains_key(&round)
    }

    /// The items that were assigned to somebody in a round; `None` if nothing was.
    pub(super) fn of(&self, round: Round, person: &str) -> Option<&FxHashSet<String>> {
        self.rounds.get(&round).and_then(|people| people.get(person))
    }

    /// Whether anything was assigned to somebody in a round.
    pub(crate) fn any(&self, round: Round, person: &str) -> bool {
        self.of(round, person).is_some_and(|items| !items.is_empty())
    }

    /// The first day by which one of these items is wanted of somebody.
    pub(crate) fn until(&self, round: Round, person: &str, items: &[&Item]) -> Option<String> {
        let dated = self.tasks.all().iter().filter(|task| task.until.is_some());
        let mine: Vec<_> = dated.filter(|task| task.round == round && task.annotator == person).collect();
        if mine.is_empty() {
            return None;
        }
        let open: FxHashSet<&str> = items.iter().map(|item| item.id.as_str()).collect();
        mine.into_iter()
            .filter(|task| open.contains(task.item.as_str()))
            .filter_map(|task| task.until.clone())
            .min()
    }

    /// Whether an item was assigned to somebody.
    pub(crate) fn to(&self, round: Round, person: &str, item: &str) -> bool {
        let items = self.rounds.get(&round).and_then(|people| people.get(person));
        items.is_some_and(|items| items.contains(item))
    }
}
