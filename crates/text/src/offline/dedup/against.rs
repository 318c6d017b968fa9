//! Records of one set that resemble records of another, such as a published benchmark.

use super::similar_pairs::{SimilarPair, similar_pairs};
use crate::join::Unwatched;
use crate::offline::settings;

/// The record of the other set that a record resembles most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resemblance {
    /// Its index in the other set.
    pub other: u32,
    /// 0 to 1.
    pub score: f64,
    /// The predicate that decided.
    pub predicate: &'static str,
}

/// For each text the most similar text of the other set; the first of several equally similar ones. One exact
/// join over both sets, so none is missed.
pub fn resemblances(texts: &[&str], others: &[&str], settings: &settings::Dedup) -> Vec<Option<Resemblance>> {
    let all: Vec<&str> = texts.iter().chain(others).copied().collect();
    let (groups, similar_pairs) = similar_pairs(&all, settings, &Unwatched);
    let own = texts.len() as u32;
    // Rows ascend in a group, and the other set comes last, so this splits each group.
    let of_others = |group: u32| {
        let rows = &groups[group as usize];
        rows.get(rows.partition_point(|row| *row < own)).map(|row| row - own)
    };
    let mut best: Vec<Option<Resemblance>> = (0..groups.len() as u32)
        .map(|group| of_others(group).map(|other| Resemblance { other, score: 1.0, predicate: "identical" }))
        .collect();
    for SimilarPair { a, b, score, predicate, .. } in similar_pairs.into_iter().filter(|like| like.same) {
        for (group, partner) in [(a, b), (b, a)] {
            let Some(other) = of_others(partner) else { continue };
            let found = Resemblance { other, score, predicate };
            let best = &mut best[group as usize];
            if best.is_none_or(|best| (best.score, other) < (score, best.other)) {
                *best = Some(found);
            }
        }
    }
    let mut resemblances = vec![None; texts.len()];
    for (rows, best) in groups.iter().zip(best) {
        for row in rows.iter().filter(|row| **row < own) {
            resemblances[*row as usize] = best;
        }
    }
    resemblances
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_likest_of_the_other_set_is_named() {
        let settings = settings::Dedup::default();
        let texts =
            ["冰箱里的灯关门后还亮吗，我钻进去看过", "云会恐高吗", "冰箱里的灯关门后还亮吗，我钻进去看过了"];
        let others =
            ["鱼会口渴吗", "冰箱里的灯关了门还亮吗，我钻进去看过", "冰箱里的灯关门后还亮吗，我钻进去看过"];
        let found = resemblances(&texts, &others, &settings);
        assert_eq!(found.iter().map(|f| f.map(|f| f.other)).collect::<Vec<_>>(), [Some(2), None, Some(2)]);
        assert_eq!(found[0].map(|f| f.score), Some(1.0));
    }
}
