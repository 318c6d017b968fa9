//! Which group of equal texts is merged into which.

use super::similar_pairs::SimilarPair;
use crate::join::{Likeness, resolve};

/// Index of the row of a group that is kept.
pub fn best(rows: &[u32], ranks: &[u32]) -> usize {
    rows.iter().map(|row| *row as usize).min_by_key(|row| ranks[*row]).unwrap_or(0)
}

/// The group that a group is merged into, and why.
#[derive(Clone, Copy)]
pub struct Keeper {
    /// Its index.
    pub into: u32,
    /// 0 to 1.
    pub score: f64,
    /// The predicate that decided.
    pub predicate: &'static str,
}

/// In order of rank, each group is merged into the most similar group kept so far, or kept if there is none.
pub fn keepers(heads: &[usize], similar_pairs: &[SimilarPair], ranks: &[u32]) -> Vec<Option<Keeper>> {
    let same = similar_pairs.iter().filter(|like| like.same);
    let mut pairs: Vec<Likeness<(u32, Keeper)>> = same.map(|like| likeness(like, heads, ranks)).collect();
    pairs.sort_unstable_by_key(|pair| (pair.from, pair.into));
    keepers_of(heads.len(), pairs)
}

/// A pair of groups by the ranks of their heads, with the group that would go and its keeper.
pub(super) fn likeness(
    &SimilarPair { a, b, score, predicate, .. }: &SimilarPair,
    heads: &[usize],
    ranks: &[u32],
) -> Likeness<(u32, Keeper)> {
    let rank = |group: u32| ranks[heads[group as usize]];
    let (into, from) = if rank(a) < rank(b) { (a, b) } else { (b, a) };
    Likeness { into: rank(into), from: rank(from), score, with: (from, Keeper { into, score, predicate }) }
}

/// The keepers of so many groups, by pairs ascending by who would go and who would be kept.
pub(super) fn keepers_of(
    groups: usize,
    pairs: impl IntoIterator<Item = Likeness<(u32, Keeper)>>,
) -> Vec<Option<Keeper>> {
    let mut keepers = vec![None; groups];
    for Likeness { with: (from, keeper), .. } in resolve(pairs) {
        keepers[from as usize] = Some(keeper);
    }
    keepers
}

#[cfg(test)]
mod tests {
    use super::*;

    fn like(a: u32, b: u32, score: f64) -> SimilarPair {
        SimilarPair { a, b, score, same: true, predicate: "near", veto: None }
    }

    #[test]
    fn a_chain_of_likenesses_is_no_bridge() {
        // 0 ~ 1 ~ 2, but not 0 ~ 2.
        let keepers = keepers(&[0, 1, 2], &[like(0, 1, 0.9), like(1, 2, 0.95)], &[0, 1, 2]);
        assert_eq!(keepers[1].map(|k| k.into), Some(0));
        assert!(keepers[2].is_none(), "its only likeness was merged away");
    }

    #[test]
    fn the_likest_kept_record_takes_it() {
        let keepers = keepers(&[0, 1, 2], &[like(0, 2, 0.85), like(1, 2, 0.95)], &[0, 1, 2]);
        assert_eq!(keepers[2].map(|k| k.into), Some(1));
    }
}
