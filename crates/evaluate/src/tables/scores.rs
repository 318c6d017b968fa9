//! The answers of a set by author, task and setting, with the items; and figures computed from them.

use std::collections::{BTreeMap, BTreeSet};

use crate::answer::{Answer, NoAnswer, OF_A_REPLY};
use crate::figures::{Figure, Keys};
use crate::item::Item;
use crate::measures::{RatioUnit, Resamples, SHARE};
use crate::review::agreement::Bootstrap;
use crate::set::Set;
use crate::task::{Setting, Task};

/// The name of all people together.
pub const PEOPLE: &str = "people";

/// The author of answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerAuthor {
    /// The name in tables.
    pub name: String,
    /// Whether it is a person, or all of them.
    pub person: bool,
}

/// Answers of one task in one setting: a list per item, empty if nobody answered.
pub type Column<'a> = Vec<Vec<&'a Answer>>;

/// All answers to a set.
pub struct ScoreBook<'a> {
    pub set: &'a Set,
    /// Models in the order they come, then people: all together first, followed by each of them.
    pub who: Vec<AnswerAuthor>,
    /// Sizes in billions of parameters, by model.
    pub sizes: BTreeMap<String, f64>,
    /// Resamples of the groups of items; in most benchmarks each item is its own group.
    pub resamples: Resamples,
    /// The unit of each item.
    units: Vec<usize>,
    columns: BTreeMap<(usize, Task, Setting), Column<'a>>,
}

impl<'a> ScoreBook<'a> {
    /// Groups answers. `models` gives the order of models; others follow in the order they come.
    pub fn new(
        set: &'a Set,
        answers: &'a [Answer],
        models: &[String],
        sizes: BTreeMap<String, f64>,
        bootstrap: Bootstrap,
    ) -> ScoreBook<'a> {
        let units = number_units(&set.items);
        let count = units.iter().max().map_or(0, |last| last + 1);
        let mut who: Vec<AnswerAuthor> = Vec::new();
        let mut add = |name: &str, person: bool| {
            if !who.iter().any(|one| one.name == name && one.person == person) {
                who.push(AnswerAuthor { name: name.to_owned(), person });
            }
        };
        let named = |name: &&String| answers.iter().any(|answer| !answer.person && answer.model == **name);
        models.iter().filter(named).for_each(|name| add(name, false));
        answers.iter().filter(|answer| !answer.person).for_each(|answer| add(&answer.model, false));
        if answers.iter().any(|answer| answer.person) {
            add(PEOPLE, true);
        }
        answers.iter().filter(|answer| answer.person).for_each(|answer| add(&answer.model, true));
        let place_of =
            |name: &str, person: bool| who.iter().position(|w| w.name == name && w.person == person);
        let places = set.index_by_id();
        let mut columns: BTreeMap<(usize, Task, Setting), Column<'a>> = BTreeMap::new();
        for answer in answers {
            let Some(&item) = places.get(answer.item.as_str()) else { continue };
            let mut put = |who: Option<usize>| {
                let Some(who) = who else { return };
                let column = columns
                    .entry((who, answer.task, answer.setting))
                    .or_insert_with(|| set.items.iter().map(|_| Vec::new()).collect());
                column[item].push(answer);
            };
            put(place_of(&answer.model, answer.person));
            if answer.person {
                put(place_of(PEOPLE, true));
            }
        }
        let resamples = Resamples::new(bootstrap, &set.config, count);
        ScoreBook { set, who, sizes, resamples, units, columns }
    }

    /// The unit of resampling of an item.
    pub fn unit_of_item(&self, item: usize) -> usize {
        self.units[item]
    }

    /// One author's answers, item by item.
    pub fn answers_of_author(&self, author: usize, task: Task, setting: Setting) -> Option<&Column<'a>> {
        self.columns.get(&(author, task, setting))
    }

    /// The settings in which a task was answered, those without chain of thought first.
    pub fn settings_of_task(&self, task: Task) -> Vec<Setting> {
        let mut settings: Vec<Setting> =
            self.columns.keys().filter(|(_, of, _)| *of == task).map(|(_, _, setting)| *setting).collect();
        settings.sort();
        settings.dedup();
        settings
    }

    /// The authors who answered any of these tasks.
    pub fn authors_of_tasks(&self, tasks: &[Task]) -> Vec<usize> {
        let of_tasks = self.columns.keys().filter(|(_, task, _)| tasks.contains(task));
        of_tasks.map(|(who, ..)| *who).collect::<BTreeSet<usize>>().into_iter().collect()
    }

    /// The authors who answered a task, each with every setting in which it did.
    pub fn answered_in(&self, task: Task) -> impl Iterator<Item = (usize, Setting)> {
        self.columns.keys().filter(move |(_, of, _)| *of == task).map(|(who, _, setting)| (*who, *setting))
    }

    /// Judges of these tasks, sorted.
    pub fn judges_of_tasks(&self, tasks: &[Task], persons: bool) -> Vec<&'a str> {
        let mut judges: Vec<&str> = self
            .columns
            .iter()
            .filter(|((_, task, _), _)| tasks.contains(task))
            .flat_map(|(_, column)| column.iter().flatten())
            .flat_map(|answer| answer.ratings.iter().filter(|rating| rating.person == persons))
            .map(|rating| rating.judge.as_str())
            .collect();
        judges.sort_unstable();
        judges.dedup();
        judges
    }

    /// The addends of items to a ratio, and the number of answers: `value` returns an answer's numerator if
    /// it counts.
    pub fn sum_by_unit(
        &self,
        column: &Column<'_>,
        among: impl Fn(&Item) -> bool,
        value: impl Fn(&Answer) -> Option<f64>,
    ) -> (Vec<RatioUnit>, usize) {
        let mut units = Vec::new();
        let mut n = 0;
        for (at, answers) in column.iter().enumerate().filter(|(at, _)| among(&self.set.items[*at])) {
            let values = answers.iter().filter_map(|answer| value(answer));
            let (sum, count) = values.fold((0.0, 0usize), |(sum, count), value| (sum + value, count + 1));
            if count > 0 {
                n += count;
                units.push(RatioUnit { at: self.units[at], sum, count: count as f64 });
            }
        }
        (units, n)
    }

    /// The share of correct answers among items, in percent; a format error is incorrect.
    pub fn accuracy_of_author(
        &self,
        author: usize,
        task: Task,
        setting: Setting,
        among: impl Fn(&Item) -> bool,
        mut keys: Keys,
    ) -> Option<Figure> {
        let column = self.answers_of_author(author, task, setting)?;
        let (units, n) = self.sum_by_unit(column, among, |answer| answer.correct.map(f64::from));
        keys.extend(self.keys_of_answers(author, task, setting));
        Some(Figure::new(self.resamples.estimate_ratio(&units, SHARE)?, 100.0, n, keys))
    }

    /// The share of answers in the requested format, in percent.
    pub fn format_share(&self, who: usize, tasks: &[Task], setting: Setting) -> Option<Figure> {
        self.share_of_answers(who, tasks, setting, |answer| Some(f64::from(answer.format_error.is_none())))
    }

    /// The share of replies that hold no answer for this reason, in percent: of an endpoint's, and of outputs made elsewhere whose
    /// format says of some that they hold none.
    pub fn without_answer(
        &self,
        who: usize,
        tasks: &[Task],
        setting: Setting,
        why: NoAnswer,
    ) -> Option<Figure> {
        let columns = tasks.iter().filter_map(|task| self.answers_of_author(who, *task, setting));
        let is_stated = columns.flatten().flatten().any(|answer| answer.no_answer.is_some());
        let is_so = |answer: &Answer| {
            let unread = answer.format_error.is_some().then_some(NoAnswer::Unread);
            f64::from(answer.no_answer.or(unread) == Some(why))
        };
        self.share_of_answers(who, tasks, setting, |answer| {
            (is_stated || answer.basis.starts_with(OF_A_REPLY)).then(|| is_so(answer))
        })
    }

    /// All answers.
    pub fn all_answers(&self) -> impl Iterator<Item = &'a Answer> {
        let together = |who: &AnswerAuthor| who.person && who.name == PEOPLE;
        let columns = self.columns.iter().filter(move |((who, ..), _)| !together(&self.who[*who]));
        columns.flat_map(|(_, column)| column.iter().flatten().copied())
    }

    fn share_of_answers(
        &self,
        who: usize,
        tasks: &[Task],
        setting: Setting,
        value: impl Fn(&Answer) -> Option<f64>,
    ) -> Option<Figure> {
        let (mut units, mut n) = (Vec::new(), 0);
        for &task in tasks {
            let Some(column) = self.answers_of_author(who, task, setting) else { continue };
            let (more, count) = self.sum_by_unit(column, |_| true, &value);
            units.extend(more);
            n += count;
        }
        let mut keys = self.keys_of_answers(who, tasks[0], setting);
        // A figure over several tasks belongs to none of them.
        if tasks.len() > 1 {
            keys.remove("task");
        }
        Some(Figure::new(self.resamples.estimate_ratio(&units, SHARE)?, 100.0, n, keys))
    }

    /// The keys that identify an author's answers in answers.jsonl.
    pub fn keys_of_answers(&self, who: usize, task: Task, setting: Setting) -> Keys {
        let who = &self.who[who];
        let whose = match who.person && who.name == PEOPLE {
            true => ("person", "true".to_string()),
            false => ("model", who.name.clone()),
        };
        Keys::from([whose, ("task", task.to_string()), ("setting", setting.to_string())])
    }
}

/// One unit per group, whose items are resampled together.
fn number_units(items: &[Item]) -> Vec<usize> {
    let mut known: BTreeMap<&str, usize> = BTreeMap::new();
    items
        .iter()
        .map(|item| {
            let next = known.len();
            *known.entry(&item.group).or_insert(next)
        })
        .collect()
}
