//! The set that is evaluated.

use rustc_hash::FxHashMap;

use super::item::Item;
use crate::options::Draw;

/// A set of items.
#[derive(Clone, Debug)]
pub struct Set {
    /// Its config: the benchmark's name.
    pub config: String,
    /// `1.0.0`, `candidate`, or the name of a published file.
    pub version: String,
    /// The items, in the order of the release.
    pub items: Vec<Item>,
    /// Why the release is a draft; empty if it is not.
    pub draft: Vec<String>,
    /// Number of rows withdrawn since: they are not evaluated.
    pub withdrawn: usize,
}

impl Set {
    /// `flub@1.0.0`.
    pub fn name(&self) -> String {
        format!("{}@{}", self.config, self.version)
    }

    /// Keeps `limit` items, drawn by the seed, in whole groups. The order is unchanged.
    pub fn limit(&mut self, limit: usize, seed: u64) {
        let group = |item: &Item| item.group.clone();
        let mut groups: Vec<String> = self.items.iter().map(group).collect();
        groups.dedup();
        groups.sort_by_key(|id| (Draw::new(seed, "evaluation limit", id).bits(), id.clone()));
        groups.dedup();
        let mut kept = std::collections::BTreeSet::new();
        let mut items = 0;
        for id in groups {
            if items >= limit {
                break;
            }
            items += self.items.iter().filter(|item| group(item) == id).count();
            kept.insert(id);
        }
        self.items.retain(|item| kept.contains(&group(item)));
    }

    /// The index of each item by its id, and by its record if that is unique.
    pub fn places(&self) -> FxHashMap<&str, usize> {
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
