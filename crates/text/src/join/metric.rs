//! The similarities that can be joined on, and what a pair at the threshold must share.

use std::collections::{BTreeMap, BTreeSet};

use super::{Score, Threshold};
use crate::text::sameness::{MOST_POSTS, PAIRS, weight};

/// A similarity of two strings. The unit is the Unicode scalar value; every value is a ratio of
/// integers in 0..=1, and two empty strings are not a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Metric {
    /// Normalized Levenshtein: 1 − d / max(|a|, |b|), with d insertions, deletions and
    /// substitutions.
    Levenshtein,
    /// Indel ratio: 2·LCS / (|a| + |b|), with LCS the longest common subsequence.
    Indel,
    /// Jaccard over the *sets* of character n-grams; a string shorter than n is one gram.
    Jaccard {
        /// Characters a gram, 1 to 6.
        n: u8,
    },
    /// The measure of [`Predicate::Reworded`](crate::text::sameness::Predicate): over bags of characters
    /// with their [weights](crate::text::sameness::weight), shared / (4/5·lighter + 1/5·heavier); 0 where the
    /// bigrams that both hold weigh less than a third of the lighter's. Equal texts score 1.
    Reworded {
        /// Rows are a pair only where both hold a bigram that at most this many rows of the join hold. What a
        /// join finds thus depends on all of its rows; the score of two texts does not.
        most_rows: u32,
    },
}

impl Metric {
    /// The metric of the default similarity.
    pub const REWORDED: Metric = Metric::Reworded { most_rows: MOST_POSTS };

    /// Whether the order of the text counts.
    pub(super) fn of_sequences(self) -> bool {
        matches!(self, Metric::Levenshtein | Metric::Indel)
    }

    /// Whether records are weighted bags of letters and of bigrams.
    pub(super) fn is_of_bags(self) -> bool {
        matches!(self, Metric::Reworded { .. })
    }

    /// How many rows hold each bigram at most by which two bags meet.
    pub(super) fn most_rows(self) -> u64 {
        if let Metric::Reworded { most_rows } = self { most_rows.into() } else { u64::MAX }
    }

    /// How much two records of these sizes must share for a score at the threshold: characters
    /// of a common subsequence, grams of the intersection, or weight of letters. Above `min(a, b)` no pair of
    /// these sizes can be one.
    ///
    /// Grows with either size, by at most 1 for each unit: the filters rest on both.
    pub(super) fn least_shared(self, t: Threshold, a: u32, b: u32) -> u32 {
        let Linear { small, large, of } = self.linear_bound(t);
        let need = (small * u64::from(a.min(b)) + large * u64::from(a.max(b))).div_ceil(of);
        u32::try_from(need).unwrap_or(u32::MAX)
    }

    /// [`Metric::least_shared`] as a linear function of the smaller and the larger size.
    pub(super) fn linear_bound(self, t: Threshold) -> Linear {
        let (p, q) = (u64::from(t.num()), u64::from(t.den()));
        let (small, large, of) = match self {
            // d <= max − need, and an alignment of d edits keeps at least max − d characters.
            Metric::Levenshtein => (0, p, q),
            Metric::Indel => (p, p, 2 * q),
            // o / (a + b − o) >= p/q
            Metric::Jaccard { .. } => (p, p, p + q),
            // 5·o / (4·lighter + heavier) >= p/q
            Metric::Reworded { .. } => (4 * p, p, 5 * q),
        };
        Linear { small, large, of }
    }

    /// The least size of a partner for a record of size `a`, at least 1.
    pub(super) fn least_partner(self, t: Threshold, a: u32) -> u32 {
        // b − need(a, b) never falls as b grows, and is 0 or more at b = a.
        let (mut low, mut high) = (1, a);
        while low < high {
            let mid = low + (high - low) / 2;
            if self.least_shared(t, a, mid) <= mid { high = mid } else { low = mid + 1 }
        }
        low
    }

    /// How much two bags must share of their bigrams, by what those of each weigh; never nothing.
    pub(super) fn need_of_pairs(a: u32, b: u32) -> u32 {
        u32::try_from((PAIRS.num * u64::from(a.min(b))).div_ceil(PAIRS.den)).unwrap_or(u32::MAX).max(1)
    }
}

/// `(small · smaller + large · larger) / of`, rounded up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Linear {
    pub small: u64,
    pub large: u64,
    pub of: u64,
}

/// The similarity of two strings by the plain textbook computation: what a score *means*.
///
/// The join computes the same number by faster means; its tests compare the two. Time and memory
/// are O(|a|·|b|) and O(|b|). Two empty strings score 0.
pub fn plain_similarity(metric: Metric, a: &str, b: &str) -> Score {
    if a.is_empty() && b.is_empty() {
        return Score::ZERO;
    }
    let (len_a, len_b) = (a.chars().count() as u32, b.chars().count() as u32);
    match metric {
        Metric::Levenshtein => {
            let longest = len_a.max(len_b);
            Score { num: longest - strsim::levenshtein(a, b) as u32, den: longest }
        }
        Metric::Indel => Score { num: 2 * longest_common_subsequence(a, b), den: len_a + len_b },
        Metric::Jaccard { n } => {
            let (a, b) = (gram_set(a, n), gram_set(b, n));
            let shared = a.intersection(&b).count();
            Score { num: shared as u32, den: (a.len() + b.len() - shared) as u32 }
        }
        Metric::Reworded { .. } if a == b => Score::ONE,
        Metric::Reworded { .. } => {
            let letters = |text: &str| count_grams(text.chars().map(|c| vec![c]));
            let pairs =
                |text: &str| count_grams(text.chars().zip(text.chars().skip(1)).map(|(x, y)| vec![x, y]));
            let (shared, worth_a, worth_b) = shared_of_bags(&letters(a), &letters(b));
            let (shared_pairs, pairs_a, pairs_b) = shared_of_bags(&pairs(a), &pairs(b));
            let lighter = pairs_a.min(pairs_b).max(1);
            let enough = PAIRS.num * u64::from(lighter) <= PAIRS.den * u64::from(shared_pairs);
            if enough { overlap_score(shared, worth_a, worth_b) } else { Score::ZERO }
        }
    }
}

/// What two bags share by weight, and what each weighs.
fn shared_of_bags(a: &BTreeMap<Vec<char>, u32>, b: &BTreeMap<Vec<char>, u32>) -> (u32, u32, u32) {
    let of = |token: &[char]| token.iter().map(|&c| weight(c)).sum::<u32>();
    let worth = |bag: &BTreeMap<Vec<char>, u32>| bag.iter().map(|(token, n)| n * of(token)).sum();
    let shared = a.iter().filter_map(|(token, n)| b.get(token).map(|m| n.min(m) * of(token))).sum();
    (shared, worth(a), worth(b))
}

/// The score of two bags of these weights.
pub(super) fn overlap_score(shared: u32, a: u32, b: u32) -> Score {
    Score { num: 5 * shared, den: 4 * a.min(b) + a.max(b) }
}

/// The weight of letters that two bags share, of what [`overlap_score`] made of it.
pub(super) fn shared_letters(score: Score) -> u32 {
    score.num / 5
}

fn count_grams(tokens: impl Iterator<Item = Vec<char>>) -> BTreeMap<Vec<char>, u32> {
    let mut bag = BTreeMap::new();
    tokens.for_each(|token| *bag.entry(token).or_default() += 1);
    bag
}

fn longest_common_subsequence(a: &str, b: &str) -> u32 {
    let b: Vec<char> = b.chars().collect();
    let mut row = vec![0u32; b.len() + 1];
    for x in a.chars() {
        let mut diagonal = 0;
        for (j, &y) in b.iter().enumerate() {
            let above = row[j + 1];
            row[j + 1] = if x == y { diagonal + 1 } else { above.max(row[j]) };
            diagonal = above;
        }
    }
    row[b.len()]
}

fn gram_set(text: &str, n: u8) -> BTreeSet<Vec<char>> {
    let chars: Vec<char> = text.chars().collect();
    match chars.len() {
        0 => BTreeSet::new(),
        len if len < usize::from(n) => BTreeSet::from([chars]),
        _ => chars.windows(usize::from(n)).map(<[char]>::to_vec).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(metric: Metric, a: &str, b: &str) -> (u32, u32) {
        let Score { num, den } = plain_similarity(metric, a, b);
        (num, den)
    }

    #[test]
    fn worked_examples() {
        assert_eq!(score(Metric::Levenshtein, "生鱼片是死鱼片", "熟鱼片是死鱼片"), (6, 7));
        assert_eq!(score(Metric::Indel, "生鱼片是死鱼片", "熟鱼片是死鱼片"), (12, 14));
        assert_eq!(score(Metric::Jaccard { n: 2 }, "abcd", "abce"), (2, 4));
        assert_eq!(score(Metric::Jaccard { n: 2 }, "aaaa", "aa"), (1, 1));
        assert_eq!(score(Metric::Jaccard { n: 2 }, "a", "ab"), (0, 2));
        assert_eq!(score(Metric::Jaccard { n: 2 }, "a", "a"), (1, 1));
        // Letters weigh 20 each, pairs 40: of the shorter's 80 one is shared.
        assert_eq!(score(Metric::REWORDED, "abc", "bcxy"), (200, 320));
        assert_eq!(score(Metric::REWORDED, "abc", "cba"), (0, 1));
    }

    #[test]
    fn empty_strings_are_like_nothing() {
        for metric in [Metric::Levenshtein, Metric::Indel, Metric::Jaccard { n: 2 }, Metric::REWORDED] {
            assert_eq!(plain_similarity(metric, "", ""), Score::ZERO);
            assert_eq!(plain_similarity(metric, "", "a"), Score::ZERO);
        }
    }

    #[test]
    fn need_is_monotone_and_grows_by_at_most_one() {
        let t: Threshold = "0.8".parse().unwrap();
        for metric in [Metric::Levenshtein, Metric::Indel, Metric::Jaccard { n: 2 }, Metric::REWORDED] {
            for a in 1..60 {
                for b in 1..60 {
                    let (here, next) = (metric.least_shared(t, a, b), metric.least_shared(t, a, b + 1));
                    assert!((here..=here + 1).contains(&next));
                    assert_eq!(here, metric.least_shared(t, b, a));
                }
                let least = metric.least_partner(t, a);
                assert!(metric.least_shared(t, a, least) <= least);
                assert!(least == 1 || metric.least_shared(t, a, least - 1) > least - 1);
            }
        }
    }
}
