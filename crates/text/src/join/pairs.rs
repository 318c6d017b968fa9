//! Queries and their answers, by input row, and which rows go into which of their pairs' keepers.

use std::hash::Hash;

use rustc_hash::{FxHashMap, FxHashSet};

use super::memory::{BLOCK_KEYS, match_texts};
use super::metric::shared_letters;
use super::watch::WorkPart;
use super::{Effort, Match, Query, Score, Watch};
use crate::text::sameness::SharedWeights;

/// Two rows at or over the threshold, by their numbers in the input, `a < b`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The earlier row.
    pub a: u32,
    /// The later row.
    pub b: u32,
    /// Their similarity.
    pub score: Score,
}

/// Every pair of a join, with identical rows held as one group.
///
/// A hundred thousand identical rows are one group here and five billion pairs in
/// [`Joined::pairs`], which makes them one at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Joined {
    /// Rows by identical text, ascending within a group; empty rows are in none.
    pub groups: Vec<Vec<u32>>,
    /// Pairs of groups, `a < b` by group number, ascending.
    pub pairs: Vec<Pair>,
    /// Of bags, by pair: what the bigrams weigh that both hold.
    pub(super) shared_pairs: Vec<u32>,
    /// What it took.
    pub effort: Effort,
}

/// Finds every pair of rows at or over the threshold.
pub fn self_join(rows: &[&str], query: &Query) -> Joined {
    join_by_blocks(rows, query, BLOCK_KEYS, WorkPart::without_watch())
}

/// [`self_join`] with an observer.
pub fn self_join_watched(rows: &[&str], query: &Query, watch: &dyn Watch) -> Joined {
    join_by_blocks(rows, query, BLOCK_KEYS, WorkPart::of_whole(watch))
}

pub(super) fn join_by_blocks(rows: &[&str], query: &Query, block_keys: u64, part: WorkPart<'_>) -> Joined {
    let (texts, groups) = distinct_rows(rows);
    let (found, effort) = match_texts(&texts, &groups, query, block_keys, part);
    let of_bags = if query.metric.is_of_bags() { found.as_slice() } else { &[] };
    let shared_pairs = of_bags.iter().map(|found| found.shared_pairs).collect();
    let pairs = found.into_iter().map(|Match { a, b, score, .. }| Pair { a, b, score }).collect();
    Joined { groups, pairs, shared_pairs, effort }
}

/// Distinct non-empty rows by first occurrence, and the rows that read so.
fn distinct_rows<'a>(rows: &[&'a str]) -> (Vec<&'a str>, Vec<Vec<u32>>) {
    let mut seen: FxHashMap<&str, u32> = FxHashMap::default();
    let mut texts = Vec::new();
    let mut groups: Vec<Vec<u32>> = Vec::new();
    for (i, &row) in rows.iter().enumerate().filter(|(_, row)| !row.is_empty()) {
        let group = *seen.entry(row).or_insert_with(|| {
            texts.push(row);
            groups.push(Vec::with_capacity(1));
            groups.len() as u32 - 1
        });
        groups[group as usize].push(i as u32);
    }
    (texts, groups)
}

impl Joined {
    /// By pair of groups, what the two share, if the metric provides it.
    pub(super) fn shared_weights(&self) -> impl Iterator<Item = Option<SharedWeights>> + '_ {
        self.pairs.iter().enumerate().map(|(n, pair)| {
            let letters = shared_letters(pair.score);
            self.shared_pairs.get(n).map(|&pairs| SharedWeights { letters, pairs })
        })
    }

    /// Every pair of rows, ascending by (a, b). Takes memory for the groups, not for the pairs.
    pub fn pairs(&self) -> impl Iterator<Item = Pair> + '_ {
        let mut partners: Vec<Vec<(u32, Score)>> = vec![Vec::new(); self.groups.len()];
        for pair in &self.pairs {
            partners[pair.a as usize].push((pair.b, pair.score));
            partners[pair.b as usize].push((pair.a, pair.score));
        }
        let mut rows: Vec<(u32, u32)> = Vec::with_capacity(self.groups.iter().map(Vec::len).sum());
        for (group, copies) in self.groups.iter().enumerate() {
            rows.extend(copies.iter().map(|&row| (row, group as u32)));
        }
        rows.sort_unstable();
        rows.into_iter().flat_map(move |(a, group)| {
            let own = std::iter::once((group, Score::ONE));
            let others = partners[group as usize].iter().copied();
            let mut pairs: Vec<Pair> = own
                .chain(others)
                .flat_map(|(group, score)| {
                    let copies = &self.groups[group as usize];
                    copies[copies.partition_point(|&b| b <= a)..].iter().map(move |&b| Pair { a, b, score })
                })
                .collect();
            pairs.sort_unstable_by_key(|pair| pair.b);
            pairs
        })
    }
}

/// Two rows that are one, each by its rank: its place in the order in which rows would be kept, 0 before
/// all others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Likeness<T, R = u32> {
    /// The rank of the row that would be kept.
    pub into: R,
    /// The rank of the row that would go, always greater.
    pub from: R,
    /// How like they are; more is liker.
    pub score: f64,
    /// What else is known of the pair.
    pub with: T,
}

/// Decides, in the order of rank, where each row goes: into the kept row that it is most like, the first
/// of them by rank; or nowhere, and it is kept. So a chain of likenesses never carries a row into one that
/// it does not resemble.
///
/// `similar_pairs` come in the order of `from`; what is decided comes in the same order, each row that goes once.
/// Memory is for the rows that go.
///
/// ```
/// use riddlemill_text::join::{Likeness, resolve};
/// let like = |into, from, score| Likeness { into, from, score, with: () };
/// // 0 ~ 1 ~ 2, but not 0 ~ 2.
/// let gone: Vec<_> = resolve([like(0, 1, 0.9), like(1, 2, 0.95)]).map(|l| (l.from, l.into)).collect();
/// assert_eq!(gone, [(1, 0)]);
/// ```
pub fn resolve<T, R: Clone + Ord + Hash>(
    similar_pairs: impl IntoIterator<Item = Likeness<T, R>>,
) -> impl Iterator<Item = Likeness<T, R>> {
    let mut similar_pairs = similar_pairs.into_iter().peekable();
    let mut gone: FxHashSet<R> = FxHashSet::default();
    std::iter::from_fn(move || {
        loop {
            let mut best = similar_pairs.next()?;
            let from = best.from.clone();
            let mut found = !gone.contains(&best.into);
            while let Some(like) = similar_pairs.next_if(|like| like.from == from) {
                let better =
                    like.score.total_cmp(&best.score).then_with(|| best.into.cmp(&like.into)).is_gt();
                if !gone.contains(&like.into) && (better || !found) {
                    best = like;
                    found = true;
                }
            }
            if found {
                gone.insert(from);
                return Some(best);
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;
    use crate::join::stress::texts_of_phrases;
    use crate::join::{Metric, Threshold, plain_similarity};

    fn neighbours(row: &str) -> BTreeSet<(char, char)> {
        row.chars().zip(row.chars().skip(1)).collect()
    }

    /// What the join must find, by comparing every row with every other.
    fn brute_force(rows: &[&str], query: &Query) -> Vec<Pair> {
        let mut held_by: BTreeMap<(char, char), u32> = BTreeMap::new();
        rows.iter().flat_map(|row| neighbours(row)).for_each(|pair| *held_by.entry(pair).or_default() += 1);
        let may_meet = |left: &str, right: &str| match query.metric {
            Metric::Reworded { most_rows } if left != right => {
                neighbours(left).intersection(&neighbours(right)).any(|pair| held_by[pair] <= most_rows)
            }
            _ => true,
        };
        let mut pairs = Vec::new();
        for (a, left) in rows.iter().enumerate() {
            for (b, right) in rows.iter().enumerate().skip(a + 1) {
                let score = plain_similarity(query.metric, left, right);
                if query.threshold.admits(score) && may_meet(left, right) {
                    pairs.push(Pair { a: a as u32, b: b as u32, score });
                }
            }
        }
        pairs
    }

    fn check(rows: &[impl AsRef<str>], query: &Query) {
        let rows: Vec<&str> = rows.iter().map(AsRef::as_ref).collect();
        let expected = brute_force(&rows, query);
        for block_keys in [BLOCK_KEYS, 20] {
            let found: Vec<Pair> =
                join_by_blocks(&rows, query, block_keys, WorkPart::without_watch()).pairs().collect();
            assert_eq!(found, expected, "{query:?} over {rows:?}");
        }
    }

    fn metrics() -> impl Strategy<Value = Metric> {
        let gram = (1u8..4).prop_map(|n| Metric::Jaccard { n });
        prop_oneof![Just(Metric::Levenshtein), Just(Metric::Indel), gram, reworded()]
    }

    fn reworded() -> impl Strategy<Value = Metric> {
        prop_oneof![1u32..9, Just(512)].prop_map(|most_rows| Metric::Reworded { most_rows })
    }

    fn queries() -> impl Strategy<Value = Query> {
        let ratio = (1u32..=20, Just(20u32));
        (metrics(), ratio).prop_map(|(metric, (p, q))| Query {
            metric,
            threshold: Threshold::new(p, q).expect("1..=20 of 20"),
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn tiny_alphabets(rows in proptest::collection::vec("[ab]{0,12}", 0..40), query in queries()) {
            check(&rows, &query);
        }

        #[test]
        fn short_words(rows in proptest::collection::vec("[天地人你我]{1,8}", 0..60), query in queries()) {
            check(&rows, &query);
        }

        #[test]
        fn phrases(rows in texts_of_phrases(), query in queries()) {
            check(&rows, &query);
        }

        #[test]
        fn phrases_of_reworded_posts(rows in texts_of_phrases(), metric in reworded()) {
            check(&rows, &Query { metric, threshold: Threshold::of_ratio(3, 5) });
        }

        #[test]
        fn any_text(rows in proptest::collection::vec("\\PC{0,20}", 0..25), query in queries()) {
            check(&rows, &query);
        }

        #[test]
        fn edited_copies(
            seeds in proptest::collection::vec("[一-俿]{1,90}", 1..5),
            edits in proptest::collection::vec((0usize..5, 0usize..90, "[一-俿。]{0,3}", 0usize..3), 0..25),
            query in queries(),
        ) {
            let mut rows = seeds;
            for (source, at, insert, remove) in edits {
                let mut chars: Vec<char> = rows[source % rows.len()].chars().collect();
                let at = at.min(chars.len());
                let end = (at + remove).min(chars.len());
                chars.splice(at..end, insert.chars());
                rows.push(chars.into_iter().collect());
            }
            check(&rows, &query);
        }
    }

    fn gone(similar_pairs: &[(u32, u32, f64)]) -> Vec<(u32, u32)> {
        let similar_pairs =
            similar_pairs.iter().map(|&(into, from, score)| Likeness { into, from, score, with: () });
        resolve(similar_pairs).map(|like| (like.from, like.into)).collect()
    }

    #[test]
    fn the_likest_kept_row_takes_it() {
        assert_eq!(gone(&[(0, 2, 0.85), (1, 2, 0.95)]), [(2, 1)]);
        assert_eq!(gone(&[(1, 2, 0.9), (0, 2, 0.9)]), [(2, 0)], "of equals the first by rank");
    }

    #[test]
    fn a_row_that_went_takes_none() {
        assert_eq!(gone(&[(0, 1, 0.9), (1, 2, 0.99), (0, 2, 0.8)]), [(1, 0), (2, 0)]);
        assert_eq!(gone(&[(0, 1, 0.9), (1, 2, 0.99), (2, 3, 0.8)]), [(1, 0), (3, 2)]);
    }
}
