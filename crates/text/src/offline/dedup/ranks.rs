//! The keeper policy: which of two records is kept, and which group of equal texts is merged into which.

use std::cmp::Reverse;

use rayon::prelude::*;

use super::similar_pairs::SimilarPair;
use crate::join::{Likeness, resolve};
use crate::offline::settings::Keep;

/// The properties of a record that the policies compare.
#[derive(Clone, Copy, Debug)]
pub struct Standing {
    /// Whether it comes from a published set, whose text is kept as it is.
    pub published: bool,
    /// Whether it is written entirely in capitals.
    pub shouts: bool,
    /// Characters of the text.
    pub chars: u32,
    /// The voters' or annotators' score.
    pub score: Option<f64>,
    /// Seconds since 1970.
    pub time: Option<i64>,
}

/// The rank of each record in the policy `keep`: 0 is kept before all others. A text in capitals only is kept
/// only if there is no other; ties are broken by id.
pub fn rank_records<I: Ord>(standings: &[Standing], keep: Keep, id: impl Fn(u32) -> I + Sync) -> Vec<u32> {
    let mut order: Vec<u32> = (0..standings.len() as u32).collect();
    let of = |row: &u32| standings[*row as usize];
    // Under any policy, published records are kept before all others.
    let first = |row: &u32| !of(row).published;
    let long = |row: &u32| (of(row).shouts, Reverse(of(row).chars), id(*row));
    match keep {
        Keep::BestScored => order.par_sort_by(|x, y| {
            let score = |row: &u32| of(row).score.unwrap_or(f64::NEG_INFINITY);
            first(x)
                .cmp(&first(y))
                .then_with(|| score(y).total_cmp(&score(x)))
                .then_with(|| long(x).cmp(&long(y)))
        }),
        Keep::Earliest => order.par_sort_by(|x, y| {
            // `None` alone would sort before every time.
            let early = |row: &u32| (first(row), of(row).time.is_none(), of(row).time, id(*row));
            early(x).cmp(&early(y))
        }),
        Keep::Longest => order.par_sort_by(|x, y| (first(x), long(x)).cmp(&(first(y), long(y)))),
    }
    let mut ranks = vec![0; standings.len()];
    for (rank, row) in (0..).zip(order) {
        ranks[row as usize] = rank;
    }
    ranks
}

/// Index of the row of a group that is kept.
pub fn first_by_rank(rows: &[u32], ranks: &[u32]) -> usize {
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
pub fn find_keepers(heads: &[usize], similar_pairs: &[SimilarPair], ranks: &[u32]) -> Vec<Option<Keeper>> {
    let same = similar_pairs.iter().filter(|like| like.same);
    let mut pairs: Vec<Likeness<(u32, Keeper)>> =
        same.map(|like| likeness_by_rank(like, heads, ranks)).collect();
    pairs.sort_unstable_by_key(|pair| (pair.from, pair.into));
    keepers_of(heads.len(), pairs)
}

/// A pair of groups by the ranks of their heads, with the group that would go and its keeper.
pub(super) fn likeness_by_rank(
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

    #[test]
    fn each_policy_has_its_order() {
        let standing = |chars, score, time| Standing { published: false, shouts: false, chars, score, time };
        let all = [standing(3, None, Some(5)), standing(4, None, None), standing(3, Some(0.1), Some(4))];
        assert_eq!(rank_records(&all, Keep::Longest, |row| row), [1, 0, 2]);
        assert_eq!(rank_records(&all, Keep::BestScored, |row| row), [2, 1, 0]);
        assert_eq!(rank_records(&all, Keep::Earliest, |row| row), [1, 2, 0]);
        let loud = [Standing { shouts: true, ..all[1] }, all[0]];
        assert_eq!(rank_records(&loud, Keep::Longest, |row| row), [1, 0]);
        for &keep in Keep::ALL {
            let published = [all[0], all[1], all[2], Standing { published: true, chars: 1, ..loud[0] }];
            assert_eq!(rank_records(&published, keep, |row| row)[3], 0, "{keep}");
        }
    }

    fn like(a: u32, b: u32, score: f64) -> SimilarPair {
        SimilarPair { a, b, score, same: true, predicate: "near", veto: None }
    }

    #[test]
    fn a_chain_of_likenesses_is_no_bridge() {
        // 0 ~ 1 ~ 2, but not 0 ~ 2.
        let keepers = find_keepers(&[0, 1, 2], &[like(0, 1, 0.9), like(1, 2, 0.95)], &[0, 1, 2]);
        assert_eq!(keepers[1].map(|k| k.into), Some(0));
        assert!(keepers[2].is_none(), "its only likeness was merged away");
    }

    #[test]
    fn the_likest_kept_record_takes_it() {
        let keepers = find_keepers(&[0, 1, 2], &[like(0, 2, 0.85), like(1, 2, 0.95)], &[0, 1, 2]);
        assert_eq!(keepers[2].map(|k| k.into), Some(1));
    }
}
