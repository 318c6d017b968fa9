//! Options that occur in several items: knowing one item helps with the others. Items of one group share
//! theirs by design, as a puzzle and its rephrasing do.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::Item;
use crate::text::normalise::{Fold, fold};

/// An option of several items.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reused {
    /// The text, as it is first written.
    pub text: String,
    /// The items where it is right.
    pub right: Vec<String>,
    /// The items where it is wrong.
    pub wrong: Vec<String>,
}

/// Every option that is in items of more than one group, ignoring width, case and punctuation; options meant
/// for every item are left out.
pub fn reused(items: &[Item<'_>], apart: &[&str]) -> Vec<Reused> {
    let mut by_text: BTreeMap<String, Reused> = BTreeMap::new();
    for item in items {
        for (at, text) in item.options.iter().enumerate() {
            if apart.contains(&text.as_str()) {
                continue;
            }
            let folded = fold(text, Fold::KEY);
            let key = if folded.is_empty() { text.clone() } else { folded };
            let entry = by_text.entry(key).or_insert_with(|| Reused {
                text: text.clone(),
                right: Vec::new(),
                wrong: Vec::new(),
            });
            let list = if at == item.gold { &mut entry.right } else { &mut entry.wrong };
            if list.last().is_none_or(|last| last != item.id) {
                list.push(item.id.to_owned());
            }
        }
    }
    let group_of: BTreeMap<&str, &str> = items.iter().map(|item| (item.id, item.group)).collect();
    let several = |reused: &Reused| {
        let ids = reused.right.iter().chain(&reused.wrong);
        ids.filter_map(|id| group_of.get(id.as_str())).collect::<BTreeSet<_>>().len() > 1
    };
    by_text.into_values().filter(several).collect()
}
