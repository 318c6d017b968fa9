//! The set that is evaluated.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use serde::Serialize;

use super::item::Item;
use super::prompt;
use super::task::Task;
use crate::options::DrawStream;

/// A set of items.
#[derive(Clone, Debug)]
pub struct Set {
    /// Its config: the benchmark's name.
    pub config: String,
    /// `1.0.0`, `candidate`, or the name of a published file.
    pub version: String,
    /// The items, in the order of the release.
    pub items: Vec<Item>,
    /// The items that solved examples are drawn from; empty if the set has no split of its own for them.
    pub examples: Vec<Item>,
    /// Why the release is a draft; empty if it is not.
    pub draft: Vec<String>,
    /// Number of rows withdrawn since: they are not evaluated.
    pub withdrawn: usize,
    /// The hash of all its rows, by which results of other workspaces are known to be of the same ones.
    pub rows_hash: String,
    /// What was drawn; `None` if all its items are evaluated.
    pub sample: Option<Sample>,
}

/// The items that were drawn from a set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Sample {
    /// How many.
    pub items: usize,
    /// Of how many.
    pub of: usize,
    /// The column from whose values they were drawn in proportion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// By value of that column.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub strata: Vec<Stratum>,
}

/// The items with one value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Stratum {
    pub value: String,
    /// How many were drawn.
    pub items: usize,
    /// Of how many.
    pub of: usize,
}

/// The parts that the benchmark declares, in place of a column.
pub const PARTS: &str = "parts";

impl Set {
    /// `flub@1.0.0`.
    pub fn name(&self) -> String {
        format!("{}@{}", self.config, self.version)
    }

    /// Solved examples for the item at a place: from the split that is for them, else from the other items.
    pub fn draw_shots(&self, at: usize, task: Task, shots: u8, seed: u64) -> Vec<&Item> {
        match self.examples.is_empty() {
            true => prompt::draw_shots(&self.items, at, task, shots, seed),
            false => prompt::draw_examples(&self.examples, &self.items[at], task, shots, seed),
        }
    }

    /// Keeps `limit` items, drawn by the seed, in whole groups. The order is unchanged. With a column, each of
    /// its values has its share of the limit, rounded by the largest remainders; whole groups may exceed it.
    pub fn limit_items(&mut self, limit: usize, seed: u64, column: Option<&str>) {
        let before = self.items.len();
        let value = |item: &Item| column.map_or_else(String::new, |column| stratum_of_item(item, column));
        // A group is drawn as a whole, so it has one value: that of its first item.
        let mut of_group: FxHashMap<&str, String> = FxHashMap::default();
        for item in &self.items {
            of_group.entry(&item.group).or_insert_with(|| value(item));
        }
        let mut sizes: BTreeMap<String, usize> = BTreeMap::new();
        for item in &self.items {
            *sizes.entry(of_group[item.group.as_str()].clone()).or_default() += 1;
        }
        let mut kept = std::collections::BTreeSet::new();
        for (value, quota) in divide_limit(&sizes, limit.min(before)) {
            let of_value = |item: &&Item| of_group[item.group.as_str()] == value;
            let mut groups: Vec<String> =
                self.items.iter().filter(of_value).map(|item| item.group.clone()).collect();
            groups.dedup();
            groups.sort_by_key(|id| (DrawStream::new(seed, "evaluation limit", id).next_bits(), id.clone()));
            groups.dedup();
            let mut items = 0;
            for id in groups {
                if items >= quota {
                    break;
                }
                items += self.items.iter().filter(|item| item.group == id).count();
                kept.insert(id);
            }
        }
        let of_group: FxHashMap<String, String> =
            of_group.into_iter().map(|(group, value)| (group.to_owned(), value)).collect();
        self.items.retain(|item| kept.contains(&item.group));
        if self.items.len() == before {
            return;
        }
        let strata = sizes.into_iter().map(|(value, of)| {
            let items = self.items.iter().filter(|item| of_group[&item.group] == value).count();
            Stratum { value, items, of }
        });
        let strata = if column.is_some() { strata.collect() } else { Vec::new() };
        self.sample =
            Some(Sample { items: self.items.len(), of: before, column: column.map(str::to_owned), strata });
    }

    /// The index of each item by its id, and by its record if that is unique.
    pub fn index_by_id(&self) -> FxHashMap<&str, usize> {
        let mut places: FxHashMap<&str, usize> = FxHashMap::default();
        let mut twice = Vec::new();
        for (at, item) in self.items.iter().enumerate() {
            if places.insert(&item.record, at).is_some() {
                twice.push(item.record.as_str());
            }
        }
        twice.into_iter().for_each(|record| _ = places.remove(record));
        places.extend(self.items.iter().enumerate().map(|(at, item)| (item.id.as_str(), at)));
        places
    }
}

/// An item's value in a column; items without one are together.
fn stratum_of_item(item: &Item, column: &str) -> String {
    if column == PARTS {
        return item.parts.join(", ");
    }
    match item.row().get(column) {
        None | Some(serde_json::Value::Null) => String::new(),
        Some(serde_json::Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

/// The share of each size in `limit`: rounded down, and what is missing goes to the largest remainders.
fn divide_limit(sizes: &BTreeMap<String, usize>, limit: usize) -> Vec<(String, usize)> {
    let all: usize = sizes.values().sum::<usize>().max(1);
    let mut quotas: Vec<(String, usize, usize)> =
        sizes.iter().map(|(value, size)| (value.clone(), size * limit / all, size * limit % all)).collect();
    let given: usize = quotas.iter().map(|(_, quota, _)| quota).sum();
    let mut order: Vec<usize> = (0..quotas.len()).collect();
    order.sort_by_key(|at| (std::cmp::Reverse(quotas[*at].2), *at));
    for at in order.into_iter().take(limit.saturating_sub(given)) {
        quotas[at].1 += 1;
    }
    quotas.into_iter().map(|(value, quota, _)| (value, quota)).collect()
}

impl Sample {
    /// `A sample of 100 of 677 items, drawn by the seed`; with a column also what was drawn of each value.
    pub fn describe_sample(&self) -> String {
        let all = format!("A sample of {} of {} items", self.items, self.of);
        let Some(column) = &self.column else { return format!("{all}, drawn by the seed") };
        let one = |stratum: &Stratum| {
            let value = if stratum.value.is_empty() { "none" } else { &stratum.value };
            format!("{value} {} of {}", stratum.items, stratum.of)
        };
        let strata: Vec<String> = self.strata.iter().map(one).collect();
        format!("{all}, in proportion by {column}: {}", strata.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{puzzle_group, set_of_items, text_item};

    fn kinds(set: &Set, kind: &str) -> usize {
        set.items.iter().filter(|item| stratum_of_item(item, "type") == kind).count()
    }

    #[test]
    fn strata_have_their_shares_and_a_seed_draws_the_same() {
        let items = (0..100)
            .map(|at| text_item(at, true, Some(if at % 10 == 0 { "rare" } else { "common" }), 0))
            .collect();
        let whole = set_of_items("flub", items);
        let drawn = |seed| {
            let mut set = whole.clone();
            set.limit_items(30, seed, Some("type"));
            set
        };
        let first = drawn(1);
        assert_eq!((first.items.len(), kinds(&first, "rare"), kinds(&first, "common")), (30, 3, 27));
        let ids = |set: &Set| set.items.iter().map(|item| item.id.clone()).collect::<Vec<_>>();
        assert_eq!(ids(&first), ids(&drawn(1)));
        assert_ne!(ids(&first), ids(&drawn(2)));
        let described = first.sample.unwrap().describe_sample();
        assert_eq!(
            described,
            "A sample of 30 of 100 items, in proportion by type: common 27 of 90, rare 3 of 10"
        );
    }

    #[test]
    fn shares_add_up_to_the_limit() {
        for limit in 0..=23 {
            let sizes = [("a", 11), ("b", 7), ("c", 5)].map(|(value, size)| (value.to_owned(), size));
            let quotas = divide_limit(&sizes.into(), limit);
            assert_eq!(quotas.iter().map(|(_, quota)| quota).sum::<usize>(), limit);
        }
    }

    #[test]
    fn groups_stay_whole_and_what_is_whole_is_no_sample() {
        let mut puzzles =
            set_of_items("brainteaser", (0..5).flat_map(|at| puzzle_group(at, false, 1)).collect());
        puzzles.limit_items(99, 1, None);
        assert_eq!((puzzles.items.len(), &puzzles.sample), (15, &None));
        puzzles.limit_items(4, 1, None);
        assert_eq!(puzzles.items.len(), 6);
        assert_eq!(puzzles.sample.unwrap().describe_sample(), "A sample of 6 of 15 items, drawn by the seed");
    }
}
