//! Single and multiple labels: `2(A), 3(B)`, `["2", "3"]` and `A` are sets, and each label has its figures.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value as Json;

use super::as_text;
use crate::review::agreement::{Confusion, Weights};

/// Agreement on one label, with the reference taken as correct.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LabelFigures {
    pub label: String,
    /// Items with it in the reference.
    pub reference: u64,
    /// Items with it in the set.
    pub set: u64,
    /// Items with it in both.
    pub both: u64,
    /// The share of items with it in the set that have it in the reference.
    pub precision: Option<f64>,
    /// The share of items with it in the reference that have it in the set.
    pub recall: Option<f64>,
    /// Cohen's kappa of having the label; `None` if it is not defined.
    pub kappa: Option<f64>,
}

/// The labels of a value. Those in a string are separated by commas outside of brackets.
pub(super) fn parse_labels(value: &Json, types: &BTreeMap<String, String>) -> BTreeSet<String> {
    let mapped = |label: &str| types.get(label).cloned().unwrap_or_else(|| label.to_string());
    match value {
        Json::Array(list) => list.iter().map(|label| mapped(&as_text(label))).collect(),
        Json::String(text) => split_labels(text).into_iter().map(mapped).collect(),
        other => BTreeSet::from([mapped(&as_text(other))]),
    }
}

fn split_labels(text: &str) -> Vec<&str> {
    let (mut depth, mut from, mut parts) = (0_usize, 0, Vec::new());
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(text[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text[from..].trim());
    parts
}

/// The figures of each label on either side, sorted.
pub(super) fn label_figures(pairs: &[(BTreeSet<String>, BTreeSet<String>)]) -> Vec<LabelFigures> {
    let known: BTreeSet<&String> = pairs.iter().flat_map(|(a, b)| a.iter().chain(b)).collect();
    let figures = known.into_iter().map(|label| {
        let mut confusion = Confusion::new(2);
        let (mut reference, mut set, mut both) = (0, 0, 0);
        for (theirs, ours) in pairs {
            let (theirs, ours) = (theirs.contains(label), ours.contains(label));
            confusion.push(usize::from(theirs), usize::from(ours));
            reference += u64::from(theirs);
            set += u64::from(ours);
            both += u64::from(theirs && ours);
        }
        let share = |of: u64| (of > 0).then(|| both as f64 / of as f64);
        LabelFigures {
            label: label.clone(),
            reference,
            set,
            both,
            precision: share(set),
            recall: share(reference),
            kappa: confusion.cohen_kappa(Weights::None),
        }
    });
    figures.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn set(value: Json) -> BTreeSet<String> {
        parse_labels(&value, &BTreeMap::new())
    }

    #[test]
    fn a_list_and_its_text_are_the_same_labels_in_any_order() {
        assert_eq!(set(json!("2(B, or not), 1(A)")), set(json!(["1(A)", "2(B, or not)"])));
        assert_eq!(set(json!("推理错误")), BTreeSet::from(["推理错误".to_string()]));
        assert_eq!(set(json!(null)), BTreeSet::from(["null".to_string()]));
    }

    #[test]
    fn each_label_has_its_own_figures() {
        let pair = |a: Json, b: Json| (set(a), set(b));
        let figures_of_pairs = label_figures(&[
            pair(json!("1, 2"), json!("2, 1")),
            pair(json!("1"), json!("6")),
            pair(json!("2"), json!("2")),
            pair(json!("3"), json!("3")),
        ]);
        let of = |label: &str| figures_of_pairs.iter().find(|f| f.label == label).unwrap();
        let one = of("1");
        assert_eq!((one.reference, one.set, one.both), (2, 1, 1));
        assert_eq!((one.precision, one.recall), (Some(1.0), Some(0.5)));
        assert!((one.kappa.unwrap() - 0.5).abs() < 1e-12);
        assert_eq!((of("2").precision, of("2").recall, of("2").kappa), (Some(1.0), Some(1.0), Some(1.0)));
        assert_eq!((of("6").precision, of("6").recall), (Some(0.0), None));
    }
}
