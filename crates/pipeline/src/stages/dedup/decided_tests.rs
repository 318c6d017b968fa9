//! Tests of decisions about pairs.

use proptest::prelude::*;

use super::*;
use riddlemill_review::decisions::{Verdict, seen_text};

fn like(a: u32, b: u32, score: f64) -> SimilarPair {
    SimilarPair { a, b, score, same: true, predicate: "near", veto: None }
}

fn decision(one: bool) -> Decision {
    Decision {
        id: seen_text(""),
        recipe: None,
        stage: "dedup".into(),
        record: String::new(),
        other: None,
        verdict: if one { Verdict::One } else { Verdict::Two },
        text: None,
        seen: seen_text(""),
        by: "meta-1".into(),
        why: "x".into(),
        at: String::new(),
        source: String::new(),
        base: None,
    }
}

/// Where each row ends, itself where it is kept.
fn ends(
    groups: &[Vec<u32>],
    similar_pairs: &[SimilarPair],
    ranks: &[u32],
    pairs: &[(u32, u32, bool)],
) -> Vec<usize> {
    let decisions: Vec<Decision> = pairs.iter().map(|(.., one)| decision(*one)).collect();
    let pairing =
        |((a, b, one), decision): (&(u32, u32, bool), _)| Pairing { a: *a, b: *b, one: *one, decision };
    let pairings: Vec<Pairing<'_>> = pairs.iter().zip(&decisions).map(pairing).collect();
    let decided = PairDecisions::new(groups.to_vec(), similar_pairs.to_vec(), ranks, &pairings);
    let mut ends: Vec<usize> = (0..ranks.len()).collect();
    for (row, goes) in decided.merge_targets(ranks) {
        assert_eq!(ends[row], row, "row {row} goes twice");
        ends[row] = match goes {
            RowMerge::ByRule(into, _) | RowMerge::ByDecision(into, _) => into,
        };
    }
    ends
}

fn single(rows: u32) -> (Vec<Vec<u32>>, Vec<u32>) {
    ((0..rows).map(|row| vec![row]).collect(), (0..rows).collect())
}

#[test]
fn two_that_were_split_stay_two() {
    let (groups, ranks) = single(3);
    let similar_pairs = [like(0, 1, 0.9)];
    assert_eq!(ends(&groups, &similar_pairs, &ranks, &[]), [0, 0, 2]);
    assert_eq!(ends(&groups, &similar_pairs, &ranks, &[(0, 1, false)]), [0, 1, 2]);
}

#[test]
fn the_less_like_stays_out_of_a_third() {
    let (groups, ranks) = single(3);
    // Both 1 and 2 are near 0, and 2 is nearer.
    let similar_pairs = [like(0, 1, 0.85), like(0, 2, 0.95), like(1, 2, 0.9)];
    assert_eq!(ends(&groups, &similar_pairs, &ranks, &[(1, 2, false)]), [0, 1, 0]);
    let similar_pairs = [like(0, 1, 0.95), like(0, 2, 0.85)];
    assert_eq!(ends(&groups, &similar_pairs, &ranks, &[(1, 2, false)]), [0, 0, 2]);
}

#[test]
fn two_that_were_joined_go_into_one_that_is_kept() {
    let (groups, ranks) = single(4);
    assert_eq!(ends(&groups, &[], &ranks, &[(1, 3, true)]), [0, 1, 2, 1]);
    // 1 is near 0, and 3 is not: the two go together.
    let similar_pairs = [like(0, 1, 0.9)];
    assert_eq!(ends(&groups, &similar_pairs, &ranks, &[(1, 3, true)]), [0, 0, 2, 0]);
}

#[test]
fn of_decisions_that_contradict_each_other_the_later_one_holds() {
    let (groups, ranks) = single(3);
    let joined = [(0, 1, true), (1, 2, true)];
    assert_eq!(ends(&groups, &[], &ranks, &joined), [0, 0, 0]);
    assert_eq!(ends(&groups, &[], &ranks, &[joined[0], joined[1], (0, 2, false)]), [0, 1, 1]);
    assert_eq!(ends(&groups, &[], &ranks, &[(0, 2, false), joined[0], joined[1]]), [0, 0, 0]);
}

#[test]
fn equal_texts_are_split_too() {
    let ranks: Vec<u32> = (0..4).collect();
    let groups = [vec![0, 1, 2], vec![3]];
    assert_eq!(ends(&groups, &[], &ranks, &[]), [0, 0, 0, 3]);
    assert_eq!(ends(&groups, &[], &ranks, &[(0, 1, false)]), [0, 1, 0, 3]);
    // What was like the group is like each of them.
    let similar_pairs = [like(0, 1, 0.9)];
    assert_eq!(ends(&groups, &similar_pairs, &ranks, &[(0, 1, false)]), [0, 1, 0, 0]);
    // Two that are equal and both not the first are one again.
    assert_eq!(ends(&groups, &[], &ranks, &[(0, 1, false), (0, 2, false)]), [0, 1, 1, 3]);
}

type Found = (Vec<Vec<u32>>, Vec<SimilarPair>, Vec<u32>, Vec<(u32, u32, bool)>);

/// Groups of rows, what is alike among them, ranks and decisions.
fn found() -> impl Strategy<Value = Found> {
    (2u32..12).prop_flat_map(|rows| {
        let group_of = prop::collection::vec(0..rows, rows as usize);
        let similar_pairs = prop::collection::btree_map((0..rows, 0..rows), 0u8..20, 0..20);
        let ranks = Just((0..rows).collect::<Vec<u32>>()).prop_shuffle();
        let pairs = prop::collection::vec((0..rows, 0..rows, any::<bool>()), 0..8);
        (group_of, similar_pairs, ranks, pairs).prop_map(|(group_of, similar_pairs, ranks, pairs)| {
            let mut groups: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
            for (row, group) in (0u32..).zip(group_of) {
                groups.entry(group).or_default().push(row);
            }
            let groups: Vec<Vec<u32>> = groups.into_values().collect();
            let here = groups.len() as u32;
            let similar_pairs = similar_pairs.into_iter().filter(|((a, b), _)| a < b && *b < here);
            let similar_pairs =
                similar_pairs.map(|((a, b), score)| like(a, b, 0.8 + f64::from(score) / 100.0)).collect();
            // Of decisions on one pair the last holds, as the log sees to.
            let mut last: BTreeMap<(u32, u32), (usize, bool)> = BTreeMap::new();
            for (at, (a, b, one)) in pairs.into_iter().enumerate().filter(|(_, (a, b, _))| a != b) {
                last.insert(order_pair(a, b), (at, one));
            }
            let mut pairs: Vec<_> = last.into_iter().map(|((a, b), (at, one))| (at, a, b, one)).collect();
            pairs.sort_unstable();
            let pairs = pairs.into_iter().map(|(_, a, b, one)| (a, b, one)).collect();
            (groups, similar_pairs, ranks, pairs)
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn every_row_ends_in_one_that_is_kept((groups, similar_pairs, ranks, pairs) in found()) {
        let ends = ends(&groups, &similar_pairs, &ranks, &pairs);
        for (row, into) in ends.iter().enumerate() {
            prop_assert_eq!(ends[*into], *into, "row {} ends in {}, which is not kept", row, into);
            prop_assert!(ranks[*into] <= ranks[row], "row {} ends in {}, which ranks after it", row, into);
        }
    }

    #[test]
    fn the_last_decision_always_holds((groups, similar_pairs, ranks, pairs) in found()) {
        let ends = ends(&groups, &similar_pairs, &ranks, &pairs);
        if let Some((a, b, one)) = pairs.last() {
            prop_assert_eq!(ends[*a as usize] == ends[*b as usize], *one, "{:?}", ends);
        }
    }

    #[test]
    fn splits_alone_all_hold((groups, similar_pairs, ranks, pairs) in found()) {
        let splits: Vec<_> = pairs.into_iter().filter(|(.., one)| !one).collect();
        let ends = ends(&groups, &similar_pairs, &ranks, &splits);
        // A third of an equal text to both cannot be in two places; all others hold.
        for (a, b, _) in &splits {
            prop_assert_ne!(ends[*a as usize], ends[*b as usize], "{} and {}: {:?}", a, b, ends);
        }
    }

    #[test]
    fn joins_alone_all_hold((groups, similar_pairs, ranks, pairs) in found()) {
        let joins: Vec<_> = pairs.into_iter().filter(|(.., one)| *one).collect();
        let ends = ends(&groups, &similar_pairs, &ranks, &joins);
        for (a, b, _) in &joins {
            prop_assert_eq!(ends[*a as usize], ends[*b as usize], "{} and {}: {:?}", a, b, ends);
        }
    }

    #[test]
    fn nothing_changes_without_decisions((groups, similar_pairs, ranks, _) in found()) {
        let decided = ends(&groups, &similar_pairs, &ranks, &[]);
        let heads: Vec<usize> = groups.iter().map(|rows| first_by_rank(rows, &ranks)).collect();
        let keepers = find_keepers(&heads, &similar_pairs, &ranks);
        for (group, rows) in groups.iter().enumerate() {
            let into = keepers[group].map_or(heads[group], |keeper| heads[keeper.into as usize]);
            rows.iter().for_each(|row| assert_eq!(decided[*row as usize], into));
        }
    }
}
