//! The join as functions without state, for callers that group rows by other means: a cluster, a
//! sort, a database.
//!
//! Count [`Stats`] of all rows, in any partition, and merge them. Cut the [`keys`] of each distinct row;
//! group rows with equal keys; [`verify`] each group; drop repeated pairs. The result is
//! every pair at or over the threshold. [`super::resolve`] then decides which rows are merged into which.
//!
//! Rows with equal texts share every key. Group equal texts first, and join one of each.

use super::keys::{Cutter, Key};
use super::metric::Linear;
use super::signature::Signature;
use super::stats::Order;
use super::tokens::{
    FIRST_PAIR, TokenId, collect_tokens, letters_and_pairs, letters_of_pair, weight_of_token,
};
use super::verify::Pattern;
use super::{Query, Score};

/// Which row of a pair finds the other by a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// The smaller row, or one of two of a size: it waits under the key.
    Smaller,
    /// The larger row, or one of two of a size: it looks under the key.
    Larger,
}

/// A key of one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowKey {
    /// What rows are grouped by. A collision costs a comparison, but never loses a pair.
    pub hash: u64,
    /// For partners of which size it is.
    pub role: Role,
    /// What distinguishes most rows that it is similar to from the others.
    pub sketch: RowSketch,
}

/// Data on a row, under one of its keys, that shows without its text that it is not in a pair with another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowSketch {
    /// The row's size: characters, grams, or weight.
    pub size: u32,
    /// At least so much of the row is unshared in a pair that shares this key.
    pub skip: u32,
    /// Which tokens it may hold, of a bag which letters; none where nobody says.
    pub signature: Option<Signature>,
}

/// A row in a group of rows with one key.
#[derive(Clone, Copy, Debug)]
pub struct KeyedMember<'a> {
    /// The row's number, the same wherever it is.
    pub row: u64,
    pub text: &'a str,
    /// From its [`RowKey`].
    pub role: Role,
    /// From its [`RowKey`].
    pub skip: u32,
}

/// Two rows at or over the threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundPair {
    /// The row with the lower number.
    pub a: u64,
    /// The other.
    pub b: u64,
    /// Their similarity.
    pub score: Score,
}

/// A row that the statistics do not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a row has a token that the statistics do not count; count all rows with dedup-stats first")]
pub struct Uncounted;

/// The keys of a row: two rows at or over the threshold share one, the smaller as [`Role::Smaller`] and the
/// larger as [`Role::Larger`]. An empty row has none.
///
/// ```
/// use riddlemill_text::join::{KeyedMember, Metric, Order, Query, Stats, keys, verify};
/// let rows = ["生鱼片是死鱼片", "熟鱼片是死鱼片"];
/// let query = Query { metric: Metric::Indel, threshold: "0.8".parse()? };
/// let mut stats = Stats::new(query.metric);
/// rows.iter().for_each(|row| stats.add(row));
/// let order = Order::new(&stats, query.threshold);
/// let (a, b) = (keys(rows[0], &order)?, keys(rows[1], &order)?);
/// let met = a.iter().flat_map(|x| b.iter().map(move |y| (x, y))).find(|(x, y)| x.hash == y.hash && x.role != y.role);
/// let (x, y) = met.expect("a key that both have");
/// let member = |row: usize, key: &riddlemill_text::join::RowKey| KeyedMember {
///     row: row as u64, text: rows[row], role: key.role, skip: key.sketch.skip,
/// };
/// # let (x, y) = if x.role == riddlemill_text::join::Role::Smaller { (x, y) } else { (y, x) };
/// let found = verify(&[member(0, x), member(1, y)], &query);
/// assert_eq!(found[0].score.value(), 12.0 / 14.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Uncounted`] where the statistics are not of this row.
pub fn keys(row: &str, order: &Order) -> Result<Vec<RowKey>, Uncounted> {
    let (mut scratch, mut symbols, mut cutter) = (Vec::new(), Vec::new(), Cutter::default());
    if !order.spell_text(row, &mut scratch, &mut symbols) {
        return Err(Uncounted);
    }
    if symbols.is_empty() {
        return Ok(Vec::new());
    }
    let plan = &order.plan;
    let size = order.size_of_symbols(&symbols);
    let signature = Some(Signature::new(&symbols, order));
    let mut found = Vec::new();
    for (role, budget) in [
        (Role::Smaller, Some(plan.budget_upward(size))),
        (Role::Larger, plan.budget_downward(size, (1, size))),
    ] {
        let mut keys = Vec::new();
        if let Some(budget) = budget {
            cutter.cut_keys(&symbols, budget, order, &mut keys);
        }
        let each = |key: &Key| {
            let sketch = RowSketch { size, skip: key.skip, signature };
            RowKey { hash: key.hash, role, sketch }
        };
        found.extend(keys.iter().map(each));
    }
    Ok(found)
}

/// Every pair of a group at or over the threshold, each once. Rows of equal numbers are one row.
pub fn verify(group: &[KeyedMember], query: &Query) -> Vec<FoundPair> {
    let (texts, alphabet) = spell_group(group, query);
    let metric = query.metric;
    let weights: Vec<u32> = alphabet.iter().map(|&token| weight_of_token(token, metric)).collect();
    let letters = alphabet.partition_point(|&token| letters_of_pair(token).is_none());
    let (weights, of_pairs) = weights.split_at(letters);
    let of_pairs: Vec<u8> = of_pairs.iter().map(|&weight| weight as u8).collect();
    let size = |symbols: &Vec<u32>| letters_and_pairs(symbols).0.iter().map(|&s| weights[s as usize]).sum();
    let sizes: Vec<u32> = texts.iter().map(size).collect();
    let mut pattern = Pattern::new(*query, letters, weights, &of_pairs);
    let mut found = Vec::new();
    let of_role = |role| (0..group.len()).filter(move |&i| group[i].role == role);
    for large in of_role(Role::Larger) {
        pattern.set_record(&texts[large], sizes[large]);
        for small in of_role(Role::Smaller) {
            let (x, y) = (&group[large], &group[small]);
            let (size, partner) = (sizes[large], sizes[small]);
            let need = metric.least_shared(query.threshold, size, partner);
            // Rows of one size have both roles, and their pair must come once.
            if (size, x.row) > (partner, y.row) && x.skip + need <= size && y.skip + need <= partner {
                let score = pattern.score_with(&texts[small], partner);
                found.extend(score.map(|score| FoundPair {
                    a: x.row.min(y.row),
                    b: x.row.max(y.row),
                    score,
                }));
            }
        }
    }
    found.sort_unstable_by_key(|pair| (pair.a, pair.b));
    found.dedup_by_key(|pair| (pair.a, pair.b));
    found
}

/// Whether a group's larger and smaller row can be a pair. Without a division: rows are compared with many.
pub fn can_meet(query: &Query, large: RowSketch, small: RowSketch) -> bool {
    let Linear { small: per_small, large: per_large, of } = query.metric.linear_bound(query.threshold);
    let need = per_small * u64::from(small.size) + per_large * u64::from(large.size);
    let lacks = |own: RowSketch, other: RowSketch| match (own.signature, other.signature) {
        (Some(own), Some(other)) if query.metric.is_of_bags() => own.weight_missing_from(other),
        (Some(own), Some(other)) => own.missing_from(other),
        _ => 0,
    };
    let room = |row: RowSketch, lacked: u32| {
        (of * u64::from(row.size))
            .checked_sub(need)
            .is_some_and(|room| of * u64::from(row.skip.max(lacked)) <= room)
    };
    small.size <= large.size && room(large, lacks(large, small)) && room(small, lacks(small, large))
}

/// The similarity of two texts where it is at or over the threshold.
pub fn compare(a: &str, b: &str, query: &Query) -> Option<Score> {
    if a == b {
        return (!a.is_empty()).then_some(Score::ONE);
    }
    let member = |row, text, role| KeyedMember { row, text, role, skip: 0 };
    let both = [(0, a), (1, b)].into_iter().flat_map(|(row, text)| {
        [Role::Smaller, Role::Larger].into_iter().map(move |role| member(row, text, role))
    });
    verify(&both.collect::<Vec<_>>(), query).first().map(|found| found.score)
}

/// Texts of a group over an alphabet of their own.
fn spell_group(group: &[KeyedMember], query: &Query) -> (Vec<Vec<u32>>, Vec<TokenId>) {
    let spelled: Vec<Vec<TokenId>> = group
        .iter()
        .map(|member| {
            let mut found = Vec::new();
            collect_tokens(member.text, query.metric, &mut found);
            found
        })
        .collect();
    let mut alphabet: Vec<TokenId> = spelled.iter().flatten().copied().collect();
    alphabet.sort_unstable();
    alphabet.dedup();
    // Bigrams come last.
    let letters = alphabet.partition_point(|&token| letters_of_pair(token).is_none());
    let number = |token: &TokenId| match alphabet.partition_point(|other| other < token) {
        place if place < letters => place as u32,
        place => FIRST_PAIR + (place - letters) as u32,
    };
    let texts = spelled.iter().map(|tokens| tokens.iter().map(number).collect()).collect();
    (texts, alphabet)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::join::stress::texts_of_phrases;
    use crate::join::{Metric, Pair, Stats, Threshold, self_join};
    use proptest::prelude::*;

    /// A third driver: sorts keys, and verifies group by group.
    fn grouped(rows: &[&str], query: &Query) -> Vec<(u64, u64, u32, u32)> {
        let (left, right) = rows.split_at(rows.len() / 2);
        let count = |rows: &[&str]| {
            let mut stats = Stats::new(query.metric);
            rows.iter().for_each(|row| stats.add(row));
            stats
        };
        let order = Order::new(&count(right).merge(count(left)), query.threshold);
        let mut groups: BTreeMap<u64, Vec<(KeyedMember, RowSketch)>> = BTreeMap::new();
        for (row, text) in rows.iter().enumerate() {
            for key in keys(text, &order).expect("counted") {
                let member = KeyedMember { row: row as u64, text, role: key.role, skip: key.sketch.skip };
                groups.entry(key.hash).or_default().push((member, key.sketch));
            }
        }
        let found: BTreeSet<_> = groups
            .values()
            .flat_map(|group| {
                group.iter().flat_map(move |large| group.iter().map(move |small| (large, small)))
            })
            .filter(|((large, l), (small, s))| {
                large.role == Role::Larger && small.role == Role::Smaller && can_meet(query, *l, *s)
            })
            .flat_map(|((large, _), (small, _))| verify(&[*large, *small], query))
            .map(|pair| (pair.a, pair.b, pair.score.num, pair.score.den))
            .collect();
        found.into_iter().collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(150))]

        #[test]
        fn groups_give_what_the_join_gives(
            rows in prop::collection::btree_set("[天地人你我鱼ab]{0,9}", 0..30),
            metric in prop::sample::select(
                vec![Metric::Levenshtein, Metric::Indel, Metric::Jaccard { n: 2 }, Metric::REWORDED],
            ),
            p in 8u32..=20,
        ) {
            let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
            let query = Query { metric, threshold: Threshold::new(p, 20).expect("at most 20/20") };
            let each = |pair: Pair| (pair.a.into(), pair.b.into(), pair.score.num, pair.score.den);
            let expected: Vec<_> = self_join(&rows, &query).pairs().map(each).collect();
            prop_assert_eq!(grouped(&rows, &query), expected);
        }

        #[test]
        fn groups_give_what_the_join_gives_of_phrases(
            rows in texts_of_phrases(),
            p in 8u32..=20,
            most_rows in prop::sample::select(vec![1, 2, 4, 8, 512]),
        ) {
            let rows: BTreeSet<&str> = rows.iter().map(String::as_str).filter(|row| !row.is_empty()).collect();
            let rows: Vec<&str> = rows.into_iter().collect();
            let metric = Metric::Reworded { most_rows };
            let query = Query { metric, threshold: Threshold::new(p, 20).expect("at most 20/20") };
            let each = |pair: Pair| (pair.a.into(), pair.b.into(), pair.score.num, pair.score.den);
            let expected: Vec<_> = self_join(&rows, &query).pairs().map(each).collect();
            prop_assert_eq!(grouped(&rows, &query), expected);
        }
    }

    #[test]
    fn a_row_that_was_not_counted_is_reported() {
        let query = Query { metric: Metric::Indel, threshold: Threshold::ONE };
        let order = Order::new(&Stats::new(query.metric), query.threshold);
        assert_eq!(keys("鱼", &order), Err(Uncounted));
        assert_eq!(keys("", &order), Ok(Vec::new()));
    }
}
