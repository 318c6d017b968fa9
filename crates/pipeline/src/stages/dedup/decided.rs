//! People's decisions about pairs, which take precedence over the comparison of texts.
//!
//! Groups that people joined are one unit, which is merged as a whole into one record that is kept. Groups that people
//! split are never merged into each other; if both are similar to a third record that ranks before them, the less
//! similar one is not merged into it. If decisions contradict each other, the later one counts.

use std::collections::{BTreeMap, BTreeSet};

use riddlemill_review::decisions::{Decision, Pairing};
use riddlemill_text::offline::dedup::{Keeper, SimilarPair, find_keepers, first_by_rank};
use riddlemill_text::text::sameness::Predicate;

/// The predicate of pairs that only a decision joins.
pub(super) const DECISION: &str = "decision";

/// The row that a row is merged into, and why.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum RowMerge<'a> {
    /// Into this row, as without decisions; no predicate if the texts are equal.
    ByRule(usize, Option<(f64, &'static str)>),
    /// Into this row, because a person joined the two, or others that they are merged with.
    ByDecision(usize, &'a Decision),
}

/// Groups of equal texts, the similar pairs among them, and people's decisions.
pub(super) struct PairDecisions<'a> {
    /// Groups with those rows apart that people split from an equal text.
    pub groups: Vec<Vec<u32>>,
    /// Similar pairs; those that people split no longer count as the same.
    pub similar_pairs: Vec<SimilarPair>,
    /// The row of each group that ranks first.
    pub heads: Vec<usize>,
    /// The unit of each group.
    unit: Vec<u32>,
    /// The row of each unit that ranks first.
    unit_heads: Vec<usize>,
    /// Decisions that joined the groups of a unit.
    joins: Vec<(u32, u32, &'a Decision)>,
    /// Decisions that hold groups apart.
    splits: Vec<(u32, u32, &'a Decision)>,
    /// Units that stay out of a third because another one resembles it more.
    out: BTreeMap<u32, &'a Decision>,
    /// Similar pairs of units.
    unit_likes: Vec<SimilarPair>,
}

impl<'a> PairDecisions<'a> {
    /// Applies decisions, the latest last, to the similar pairs.
    pub(super) fn new(
        mut groups: Vec<Vec<u32>>,
        mut similar_pairs: Vec<SimilarPair>,
        ranks: &[u32],
        pairings: &[Pairing<'a>],
    ) -> PairDecisions<'a> {
        let mut group_of = vec![u32::MAX; ranks.len()];
        for (rows, group) in groups.iter().zip(0u32..) {
            rows.iter().for_each(|row| group_of[*row as usize] = group);
        }
        // A row without a text is in no group; as part of a decision it is one of its own.
        for row in pairings.iter().flat_map(|pairing| [pairing.a, pairing.b]) {
            if group_of[row as usize] == u32::MAX {
                group_of[row as usize] = groups.len() as u32;
                groups.push(vec![row]);
            }
        }
        set_apart(&mut groups, &mut similar_pairs, &mut group_of, ranks, pairings);
        let group = |row: u32| group_of[row as usize];
        let mut roots: Vec<u32> = (0..groups.len() as u32).collect();
        let (mut joins, mut splits): (Vec<_>, Vec<(u32, u32, &Decision)>) = Default::default();
        // The latest decision comes first, so that earlier ones which contradict it have no effect.
        for pairing in pairings.iter().rev() {
            let (a, b) = (group(pairing.a), group(pairing.b));
            let (root_a, root_b) = (find_root(&roots, a), find_root(&roots, b));
            let apart = |(x, y, _): &(u32, u32, &Decision)| {
                let found = (find_root(&roots, *x), find_root(&roots, *y));
                found == (root_a, root_b) || found == (root_b, root_a)
            };
            match pairing.one {
                true if root_a == root_b => joins.push((a, b, pairing.decision)),
                true if splits.iter().any(apart) => {}
                true => {
                    roots[root_a.max(root_b) as usize] = root_a.min(root_b);
                    joins.push((a, b, pairing.decision));
                }
                false if root_a == root_b => {}
                false => splits.push((a, b, pairing.decision)),
            }
        }
        let unit: Vec<u32> = (0..groups.len() as u32).map(|group| find_root(&roots, group)).collect();
        let heads: Vec<usize> = groups.iter().map(|rows| first_by_rank(rows, ranks)).collect();
        let mut unit_heads = heads.clone();
        for (group, head) in heads.iter().enumerate() {
            let place = &mut unit_heads[unit[group] as usize];
            if ranks[*head] < ranks[*place] {
                *place = *head;
            }
        }
        let mut decided = PairDecisions {
            groups,
            similar_pairs,
            heads,
            unit,
            unit_heads,
            joins,
            splits,
            out: BTreeMap::new(),
            unit_likes: Vec::new(),
        };
        decided.look_again(ranks);
        decided
    }

    fn unit_of_group(&self, group: u32) -> u32 {
        self.unit[group as usize]
    }

    /// Similar pairs of units, without those that people split.
    fn look_again(&mut self, ranks: &[u32]) {
        let apart: BTreeSet<(u32, u32)> = self
            .splits
            .iter()
            .map(|(a, b, _)| order_pair(self.unit_of_group(*a), self.unit_of_group(*b)))
            .collect();
        let mut alike: BTreeMap<(u32, u32), SimilarPair> = BTreeMap::new();
        for at in 0..self.similar_pairs.len() {
            let like = self.similar_pairs[at];
            let (a, b) = order_pair(self.unit_of_group(like.a), self.unit_of_group(like.b));
            if apart.contains(&(a, b)) {
                self.similar_pairs[at].same = false;
            } else if a != b && like.same {
                let best = alike.entry((a, b)).or_insert(SimilarPair { a, b, ..like });
                if like.score > best.score {
                    *best = SimilarPair { a, b, ..like };
                }
            }
        }
        // If both of two split rows would be merged into a third, the less similar one is not.
        let mut near: BTreeMap<u32, Vec<(u32, f64)>> = BTreeMap::new();
        for like in alike.values() {
            near.entry(like.a).or_default().push((like.b, like.score));
            near.entry(like.b).or_default().push((like.a, like.score));
        }
        let rank = |unit: u32| ranks[self.unit_heads[unit as usize]];
        let mut stay_out = BTreeMap::new();
        for (a, b, decision) in &self.splits {
            let (x, y) = (self.unit_of_group(*a), self.unit_of_group(*b));
            for (third, score) in near.get(&x).into_iter().flatten() {
                let other = near.get(&y).into_iter().flatten().find(|(unit, _)| unit == third);
                let Some((_, other)) = other else { continue };
                // A third that ranks behind one of the two is merged into that one, not the other way round.
                if rank(*third) > rank(x).min(rank(y)) {
                    continue;
                }
                // At equal scores the rank decides, and not the order in which a pair was given.
                let y_less = other.total_cmp(score).then_with(|| rank(x).cmp(&rank(y))).is_lt();
                stay_out.insert((if y_less { y } else { x }, *third), *decision);
            }
        }
        for ((unit, third), decision) in stay_out {
            alike.remove(&order_pair(unit, third));
            self.out.insert(unit, decision);
        }
        self.unit_likes = alike.into_values().collect();
    }

    /// The row that each merged row is merged into.
    pub(super) fn merge_targets(&self, ranks: &[u32]) -> Vec<(usize, RowMerge<'a>)> {
        let keepers = find_keepers(&self.unit_heads, &self.unit_likes, ranks);
        let direct: BTreeMap<(u32, u32), (f64, &'static str)> = self
            .similar_pairs
            .iter()
            .filter(|like| like.same)
            .map(|like| (order_pair(like.a, like.b), (like.score, like.predicate)))
            .collect();
        let mut group_of_head: BTreeMap<usize, u32> = BTreeMap::new();
        group_of_head.extend(self.heads.iter().copied().zip(0u32..));
        let mut goes = Vec::new();
        for (rows, group) in self.groups.iter().zip(0u32..) {
            let unit = self.unit_of_group(group);
            let keeper: Option<Keeper> = keepers[unit as usize];
            let into = self.unit_heads[keeper.map_or(unit, |keeper| keeper.into) as usize];
            let into_group = group_of_head.get(&into).copied().unwrap_or(group);
            let why = match direct.get(&order_pair(group, into_group)) {
                _ if group == into_group => RowMerge::ByRule(into, None),
                Some(found) => RowMerge::ByRule(into, Some(*found)),
                None => match self.join_of(group, into_group) {
                    Some(decision) => RowMerge::ByDecision(into, decision),
                    None => RowMerge::ByRule(into, keeper.map(|keeper| (keeper.score, keeper.predicate))),
                },
            };
            goes.extend(
                rows.iter().map(|row| *row as usize).filter(|row| *row != into).map(|row| (row, why)),
            );
        }
        goes
    }

    /// The decision that makes a group one with another: about one of the two, else about one of their units.
    fn join_of(&self, group: u32, into: u32) -> Option<&'a Decision> {
        let about = |wanted: u32| self.joins.iter().find(|(a, b, _)| *a == wanted || *b == wanted);
        let inside = |unit: u32| self.joins.iter().find(|(a, ..)| self.unit_of_group(*a) == unit);
        let found = about(group).or_else(|| about(into)).or_else(|| inside(self.unit_of_group(group)));
        found.or_else(|| inside(self.unit_of_group(into))).map(|(.., decision)| *decision)
    }

    /// The decision that keeps a row of these groups apart, where one does: its own split, or that it stays out of
    /// what another one went into.
    pub(super) fn separating_decisions(&self) -> BTreeMap<u32, &'a Decision> {
        let mut apart = BTreeMap::new();
        for (group, unit) in self.unit.iter().enumerate() {
            let group = group as u32;
            let split = self
                .splits
                .iter()
                .find(|(a, b, _)| self.unit_of_group(*a) == *unit || self.unit_of_group(*b) == *unit);
            let decision = self.out.get(unit).copied().or(split.map(|(.., decision)| *decision));
            if let Some(decision) = decision {
                apart.extend(self.groups[group as usize].iter().map(|row| (*row, decision)));
            }
        }
        apart
    }

    /// Pairs of groups that people decided about, with the word for each.
    pub(super) fn words_of_pairs(&self) -> BTreeMap<(u32, u32), &'static str> {
        let split = self.splits.iter().map(|(a, b, _)| (order_pair(*a, *b), "split"));
        let joined = self.joins.iter().map(|(a, b, _)| (order_pair(*a, *b), "joined"));
        joined.chain(split).collect()
    }
}

/// Takes rows that people split from an equal text out of its group; they stay like all that the group is like.
fn set_apart(
    groups: &mut Vec<Vec<u32>>,
    similar_pairs: &mut Vec<SimilarPair>,
    group_of: &mut [u32],
    ranks: &[u32],
    pairings: &[Pairing<'_>],
) {
    let mut taken: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for pairing in pairings.iter().filter(|pairing| !pairing.one) {
        let (a, b) = (pairing.a, pairing.b);
        let group = group_of[a as usize];
        if group != group_of[b as usize] {
            continue;
        }
        let row = if ranks[a as usize] < ranks[b as usize] { b } else { a };
        let own = groups.len() as u32;
        groups[group as usize].retain(|other| *other != row);
        groups.push(vec![row]);
        group_of[row as usize] = own;
        let copies: Vec<SimilarPair> = similar_pairs
            .iter()
            .filter(|like| like.a == group || like.b == group)
            .map(|like| SimilarPair { a: if like.a == group { like.b } else { like.a }, b: own, ..*like })
            .filter(|like| !taken.get(&group).is_some_and(|taken| taken.contains(&like.a)))
            .collect();
        similar_pairs.extend(copies);
        // Rows that were split from the same text are still equal to each other.
        let equal = |other: u32| SimilarPair {
            a: other,
            b: own,
            score: 1.0,
            same: true,
            predicate: Predicate::Identical.name(),
            veto: None,
        };
        let before = taken.entry(group).or_default();
        similar_pairs.extend(before.iter().map(|other| equal(*other)));
        before.push(own);
    }
}

pub(super) fn order_pair(a: u32, b: u32) -> (u32, u32) {
    (a.min(b), a.max(b))
}

fn find_root(roots: &[u32], mut group: u32) -> u32 {
    while roots[group as usize] != group {
        group = roots[group as usize];
    }
    group
}

#[cfg(test)]
#[path = "decided_tests.rs"]
mod tests;
