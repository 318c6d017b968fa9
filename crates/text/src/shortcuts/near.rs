//! Nearly equal options of one item: a reader cannot tell which of the two is right.

use serde::Serialize;

use super::Item;
use crate::text::normalise::{Fold, fold};

/// From this similarity on, two options say the same to most readers: one edit in ten characters.
const ALIKE: f64 = 0.9;

/// Two options of an item.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NearEqual {
    /// The item.
    pub id: String,
    /// The indices of the two.
    pub places: (usize, usize),
    /// Whether one of them is the right one.
    pub with_right: bool,
    /// Their normalized Levenshtein similarity after folding; 1 if they are equal after folding.
    pub likeness: f64,
}

/// Every such pair, in the order of the items.
pub fn near_equal(items: &[Item<'_>]) -> Vec<NearEqual> {
    let mut found = Vec::new();
    for item in items {
        let folded: Vec<String> = item.options.iter().map(|text| fold(text, Fold::KEY)).collect();
        for (second, text) in folded.iter().enumerate() {
            for (first, other) in folded[..second].iter().enumerate() {
                let likeness = match item.options[first] == item.options[second] {
                    true => 1.0,
                    // Folding two options of punctuation alone leaves nothing to compare.
                    false if text.is_empty() || other.is_empty() => 0.0,
                    false => strsim::normalized_levenshtein(other, text),
                };
                if likeness >= ALIKE {
                    let with_right = first == item.gold || second == item.gold;
                    found.push(NearEqual {
                        id: item.id.into(),
                        places: (first, second),
                        with_right,
                        likeness,
                    });
                }
            }
        }
    }
    found
}
