//! Pairs between two sets, such as a candidate and a published benchmark: the join of both together, of which only pairs
//! with one text of each are taken. It is the join of dedup, so that two texts resemble each other here exactly where they would be
//! merged, or shown to a person, if both sets were one.

use super::on_disk::similar_pairs_on_disk;
use super::similar_pairs::{SimilarPair, similar_pairs, with_groups};
use crate::join::{DiskError, Spill, Unwatched, Watch};
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

/// What two sets share. Rows of the first set are numbered from 0, those of the other likewise.
#[derive(Clone, Debug)]
pub struct Across {
    own: u32,
    /// Equal texts of both sets, those of the other behind those of the first.
    groups: Vec<Vec<u32>>,
    /// Pairs of groups with a row of each set.
    pairs: Vec<SimilarPair>,
}

/// Finds every pair of a text and a text of the other set that are the same or borderline. One exact join over both, so none
/// is missed. The texts may be tagged with their languages (see [`tagged_text`](super::tagged_text)).
pub fn similar_across(
    texts: &[&str],
    others: &[&str],
    settings: &settings::Dedup,
    watch: &dyn Watch,
) -> Across {
    let all: Vec<&str> = texts.iter().chain(others).copied().collect();
    let (groups, mut pairs) = similar_pairs(&all, settings, watch);
    let mut across = Across { own: texts.len() as u32, groups, pairs: Vec::new() };
    pairs.retain(|pair| across.is_across(pair));
    across.pairs = pairs;
    across
}

/// [`similar_across`] for more texts than fit in memory: the join works on disk, and only what goes across is held.
///
/// # Errors
/// [`DiskError`] if a working file cannot be written or read, or if `watch` asked to stop.
pub fn similar_across_on_disk<T: AsRef<str> + Sync>(
    texts: impl IntoIterator<Item = T>,
    others: impl IntoIterator<Item = T>,
    settings: &settings::Dedup,
    spill: Spill<'_>,
    watch: &dyn Watch,
) -> Result<Across, DiskError> {
    let mut own = 0u32;
    let first = texts.into_iter().inspect(|_| own += 1);
    let (groups, pairs) = similar_pairs_on_disk(first.chain(others), settings, spill, watch)?;
    let mut across = Across { own, groups, pairs: Vec::new() };
    for pair in pairs.read_pairs()? {
        let pair = pair?;
        if across.is_across(&pair) {
            across.pairs.push(pair);
        }
    }
    Ok(across)
}

impl Across {
    /// Rows ascend in a group, and the other set comes last, so this splits each group.
    fn split_group(&self, group: u32) -> (&[u32], &[u32]) {
        let rows = &self.groups[group as usize];
        rows.split_at(rows.partition_point(|row| *row < self.own))
    }

    fn is_across(&self, pair: &SimilarPair) -> bool {
        let ((own, other), (own_too, other_too)) = (self.split_group(pair.a), self.split_group(pair.b));
        !own.is_empty() && !other_too.is_empty() || !own_too.is_empty() && !other.is_empty()
    }

    /// Takes out pairs that are only borderline.
    pub fn only_same(&mut self) {
        self.pairs.retain(|pair| pair.same);
    }

    /// How many pairs of rows there are.
    pub fn count_pairs(&self) -> u64 {
        let sizes = |group: u32| {
            let (own, other) = self.split_group(group);
            (own.len() as u64, other.len() as u64)
        };
        let equal = (0..self.groups.len() as u32).map(sizes).map(|(own, other)| own * other);
        let similar = self.pairs.iter().map(|pair| {
            let ((own, other), (own_too, other_too)) = (sizes(pair.a), sizes(pair.b));
            own * other_too + own_too * other
        });
        equal.chain(similar).sum()
    }

    /// Every pair, ascending by the row of the first set and then by that of the other; without a [`SimilarPair`] the two texts
    /// are equal. An iterator, because copies in both sets would fill the memory.
    pub fn row_pairs(&self) -> impl Iterator<Item = (u32, u32, Option<&SimilarPair>)> + '_ {
        let mut partners: Vec<Vec<(u32, Option<&SimilarPair>)>> =
            (0..self.groups.len() as u32).map(|group| vec![(group, None)]).collect();
        for pair in &self.pairs {
            partners[pair.a as usize].push((pair.b, Some(pair)));
            partners[pair.b as usize].push((pair.a, Some(pair)));
        }
        let own = self.own;
        let rows = with_groups(&self.groups).into_iter().take_while(move |(row, _)| *row < own);
        rows.flat_map(move |(row, group)| {
            let mut found = Vec::new();
            for (partner, pair) in &partners[group as usize] {
                found.extend(self.split_group(*partner).1.iter().map(|other| (row, *other - own, *pair)));
            }
            found.sort_unstable_by_key(|(_, other, _)| *other);
            found
        })
    }

    /// For each text the most similar text of the other set that is the same; the first of several equally similar ones.
    pub fn most_similar(&self) -> Vec<Option<Resemblance>> {
        let of_others = |group: u32| self.split_group(group).1.first().map(|row| row - self.own);
        let mut best: Vec<Option<Resemblance>> = (0..self.groups.len() as u32)
            .map(|group| {
                of_others(group).map(|other| Resemblance { other, score: 1.0, predicate: "identical" })
            })
            .collect();
        for SimilarPair { a, b, score, predicate, .. } in self.pairs.iter().copied().filter(|like| like.same)
        {
            for (group, partner) in [(a, b), (b, a)] {
                let Some(other) = of_others(partner) else { continue };
                let found = Resemblance { other, score, predicate };
                let best = &mut best[group as usize];
                if best.is_none_or(|best| (best.score, other) < (score, best.other)) {
                    *best = Some(found);
                }
            }
        }
        let mut resemblances = vec![None; self.own as usize];
        for (group, best) in (0..).zip(best) {
            self.split_group(group).0.iter().for_each(|row| resemblances[*row as usize] = best);
        }
        resemblances
    }
}

/// For each text the most similar text of the other set: see [`Across::most_similar`].
pub fn find_resemblances(
    texts: &[&str],
    others: &[&str],
    settings: &settings::Dedup,
) -> Vec<Option<Resemblance>> {
    similar_across(texts, others, settings, &Unwatched).most_similar()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::offline::dedup::row_pairs;
    use crate::offline::settings::DedupMetric;

    #[test]
    fn the_likest_of_the_other_set_is_named() {
        let settings = settings::Dedup::default();
        let texts =
            ["冰箱里的灯关门后还亮吗，我钻进去看过", "云会恐高吗", "冰箱里的灯关门后还亮吗，我钻进去看过了"];
        let others =
            ["鱼会口渴吗", "冰箱里的灯关了门还亮吗，我钻进去看过", "冰箱里的灯关门后还亮吗，我钻进去看过"];
        let found = find_resemblances(&texts, &others, &settings);
        assert_eq!(found.iter().map(|f| f.map(|f| f.other)).collect::<Vec<_>>(), [Some(2), None, Some(2)]);
        assert_eq!(found[0].map(|f| f.score), Some(1.0));
    }

    fn set() -> impl Strategy<Value = Vec<String>> {
        let frame = prop::sample::select(vec![
            "冰箱里的灯关门后还亮吗，我钻进去看过",
            "云会恐高吗",
            "",
            "鱼会口渴吗",
        ]);
        let end = prop::sample::select(vec!["", "了", "，于是我把水倒了", "？"]);
        prop::collection::vec((frame, end).prop_map(|(frame, end)| format!("{frame}{end}")), 0..14)
    }

    type Printed = Vec<(u32, u32, Option<(f64, bool, &'static str)>)>;

    fn printed<'p>(pairs: impl Iterator<Item = (u32, u32, Option<&'p SimilarPair>)>) -> Printed {
        pairs.map(|(a, b, like)| (a, b, like.map(|like| (like.score, like.same, like.predicate)))).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        #[test]
        fn pairs_across_are_those_of_both_sets_together(
            texts in set(),
            others in set(),
            metric in prop::sample::select(DedupMetric::ALL),
        ) {
            let settings = settings::Dedup { metric, ..Default::default() };
            let (own, other): (Vec<&str>, Vec<&str>) =
                (texts.iter().map(String::as_str).collect(), others.iter().map(String::as_str).collect());
            let all = [own.clone(), other.clone()].concat();
            let (groups, pairs) = similar_pairs(&all, &settings, &Unwatched);
            let between = row_pairs(&groups, &pairs)
                .filter(|(a, b, _)| (*a as usize) < own.len() && *b as usize >= own.len())
                .map(|(a, b, like)| (a, b - own.len() as u32, like));
            let wanted = printed(between);
            let found = similar_across(&own, &other, &settings, &Unwatched);
            prop_assert_eq!(found.count_pairs() as usize, wanted.len());
            prop_assert_eq!(printed(found.row_pairs()), wanted.clone());
            let folder = tempfile::tempdir().expect("a folder");
            let spill = Spill { folder: folder.path(), memory: 1 << 16, texts: 0 };
            let on_disk = similar_across_on_disk(&texts, &others, &settings, spill, &Unwatched);
            prop_assert_eq!(printed(on_disk.expect("room on disk").row_pairs()), wanted);
        }
    }
}
