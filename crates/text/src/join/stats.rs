//! Corpus statistics and the order of tokens that follows from them.

use rustc_hash::FxHashMap;

use super::plan::Plan;
use super::tokens::{
    FIRST_PAIR, TokenId, class_of_letter, collect_tokens, letters_and_pairs, letters_of_pair, weight_of_token,
};
use super::{Metric, Query, Threshold};
use crate::text::sameness::MOST_WEIGHT;

/// How many rows hold each token. Merging is associative and commutative, so that partitions may be
/// counted apart and in any order.
///
/// ```
/// use riddlemill_text::join::{Metric, Stats};
/// let count = |rows: &[&str]| {
///     let mut stats = Stats::new(Metric::Indel);
///     rows.iter().for_each(|row| stats.add(row));
///     stats
/// };
/// assert_eq!(count(&["鱼"]).merge(count(&["鸟", "虾"])), count(&["虾", "鱼", "鸟"]));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stats {
    metric: Metric,
    rows: u64,
    holders: FxHashMap<TokenId, u64>,
    scratch: Vec<TokenId>,
}

impl Stats {
    /// Statistics of no rows.
    pub fn new(metric: Metric) -> Self {
        Self { metric, rows: 0, holders: FxHashMap::default(), scratch: Vec::new() }
    }

    /// Counts a row. An empty one counts for nothing.
    pub fn add(&mut self, row: &str) {
        self.add_copies(row, 1);
    }

    /// Counts this many rows of one text.
    pub(super) fn add_copies(&mut self, text: &str, rows: u64) {
        let mut scratch = std::mem::take(&mut self.scratch);
        collect_tokens(text, self.metric, &mut scratch);
        self.rows += if scratch.is_empty() { 0 } else { rows };
        scratch.sort_unstable();
        scratch.dedup();
        for token in scratch.drain(..) {
            *self.holders.entry(token).or_default() += rows;
        }
        self.scratch = scratch;
    }

    /// Counts rows that were counted elsewhere.
    pub fn add_rows(&mut self, rows: u64) {
        self.rows += rows;
    }

    /// Counts rows elsewhere that hold a token, by the number that [`Stats::holders`] gives it.
    pub fn add_holders(&mut self, token: u128, rows: u64) {
        *self.holders.entry(token).or_default() += rows;
    }

    /// How many rows hold each token, tokens as numbers that are the same in every corpus, ascending.
    pub fn sorted_holders(&self) -> Vec<(u128, u64)> {
        let mut holders: Vec<_> = self.holders.iter().map(|(&token, &rows)| (token, rows)).collect();
        holders.sort_unstable();
        holders
    }

    /// Of bags: the bigrams that more rows hold than the metric allows, as the numbers of their letters.
    pub(crate) fn common_pairs(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let common = self.holders.iter().filter(|(_, rows)| **rows > self.metric.most_rows());
        common
            .filter_map(|(&token, _)| letters_of_pair(token))
            .map(|(first, second)| (first as u32, second as u32))
    }

    /// Statistics of both sets of rows together.
    #[must_use]
    pub fn merge(self, other: Self) -> Self {
        // The smaller map is added to the larger one, which need not be copied.
        let (mut most, least) =
            if self.holders.len() >= other.holders.len() { (self, other) } else { (other, self) };
        most.rows += least.rows;
        for (token, holders) in least.holders {
            *most.holders.entry(token).or_default() += holders;
        }
        most
    }

    /// Rows that were counted, without empty ones.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The metric they were counted for.
    pub fn metric(&self) -> Metric {
        self.metric
    }
}

/// The order of all tokens from rare to common, with what keys need to know of each. A token's place in
/// it is its *symbol*.
#[derive(Clone, Debug)]
pub struct Order {
    /// What is looked for.
    pub(super) query: Query,
    pub(super) plan: Plan,
    /// Rows of the corpus.
    pub(super) rows: f64,
    /// By symbol: the share of the rows that hold it.
    pub(super) chance: Vec<f32>,
    /// By symbol: what it is worth in units of size. Empty where each is worth 1.
    pub(super) weights: Vec<u32>,
    /// By symbol: its class in signatures. Empty where symbols are spread alike.
    pub(super) classes: Vec<u8>,
    /// Of bags: bigrams from rare to common, by their symbol less [`FIRST_PAIR`], as the symbols of their
    /// letters.
    pub(super) pairs: Vec<(u32, u32)>,
    /// What each of them weighs; in bytes, since they are looked up in no order.
    pub(super) weights_of_pairs: Vec<u8>,
    /// Bigrams before this one are held by one row alone: among those that were counted nobody shares them.
    pub(super) shared_pairs: u32,
    /// Bigrams from this one on are held by too many rows for two rows to be a pair by them.
    pub(super) common_pairs: u32,
    symbols: Symbols,
}

#[derive(Clone, Debug)]
enum Symbols {
    /// By scalar value, `NONE` where no row holds it.
    Characters(Vec<u32>),
    Tokens(FxHashMap<TokenId, u32>),
}

const NONE: u32 = u32::MAX;

impl Order {
    /// The order that statistics fix, for joins at a threshold: whoever has the same statistics has the
    /// same order.
    pub fn new(stats: &Stats, threshold: Threshold) -> Self {
        let metric = stats.metric;
        let query = Query { metric, threshold };
        let mut present: Vec<(bool, u64, TokenId)> = stats
            .holders
            .iter()
            .map(|(&token, &holders)| (letters_of_pair(token).is_some(), holders, token))
            .collect();
        // The token breaks ties, so that the order does not depend on the hash map.
        present.sort_unstable();
        let (present, pairs) = present.split_at(present.partition_point(|&(pair, ..)| !pair));
        // Without any row the shares would be divisions by zero.
        let rows = stats.rows.max(1) as f64;
        let share = |holders: u64| (holders as f64 / rows) as f32;
        let chance = present.iter().map(|&(_, holders, _)| share(holders)).collect();
        let weights: Vec<u32> = match metric {
            Metric::Reworded { .. } => {
                present.iter().map(|&(.., token)| weight_of_token(token, metric)).collect()
            }
            _ => Vec::new(),
        };
        let classes = (0..).zip(&weights).map(|(letter, &weight)| class_of_letter(letter, weight)).collect();
        let numbered = present.iter().zip(0u32..).map(|(&(.., token), symbol)| (token, symbol));
        let mut symbols = match metric {
            Metric::Levenshtein | Metric::Indel => {
                let mut table = vec![NONE; char::MAX as usize + 1];
                numbered.for_each(|(token, symbol)| table[token as usize] = symbol);
                Symbols::Characters(table)
            }
            Metric::Jaccard { .. } | Metric::Reworded { .. } => Symbols::Tokens(numbered.collect()),
        };
        let mut neighbours = Vec::with_capacity(pairs.len());
        const { assert!(2 * MOST_WEIGHT <= u8::MAX as u32) }
        let weights_of_pairs =
            pairs.iter().map(|&(.., token)| weight_of_token(token, metric) as u8).collect();
        let more_than =
            |rows: u64| FIRST_PAIR + pairs.partition_point(|&(_, holders, _)| holders <= rows) as u32;
        let (shared_pairs, common_pairs) = (more_than(1), more_than(metric.most_rows()));
        if let Symbols::Tokens(table) = &mut symbols {
            for (&(.., token), symbol) in pairs.iter().zip(FIRST_PAIR..NONE) {
                let letters =
                    letters_of_pair(token).and_then(|(x, y)| Some((*table.get(&x)?, *table.get(&y)?)));
                neighbours.push(letters.unwrap_or((NONE, NONE)));
                table.insert(token, symbol);
            }
        }
        Self {
            query,
            plan: Plan::for_query(&query),
            rows,
            chance,
            weights,
            classes,
            pairs: neighbours,
            weights_of_pairs,
            shared_pairs,
            common_pairs,
            symbols,
        }
    }

    /// Distinct tokens, without bigrams.
    pub(super) fn alphabet_size(&self) -> usize {
        self.chance.len()
    }

    /// Appends the symbols of a text: in its order for sequences, ascending for sets and bags, of a bag its
    /// letters and then its pairs. False where it holds a token that the statistics have not.
    pub(super) fn spell_text(&self, text: &str, scratch: &mut Vec<TokenId>, symbols: &mut Vec<u32>) -> bool {
        let start = symbols.len();
        match &self.symbols {
            Symbols::Characters(table) => symbols.extend(text.chars().map(|c| table[c as usize])),
            Symbols::Tokens(table) => {
                collect_tokens(text, self.query.metric, scratch);
                symbols.extend(scratch.iter().map(|token| table.get(token).copied().unwrap_or(NONE)));
                symbols[start..].sort_unstable();
            }
        }
        !symbols[start..].contains(&NONE)
    }

    /// What the symbols are worth together: of a bag its letters.
    pub(super) fn size_of_symbols(&self, symbols: &[u32]) -> u32 {
        match self.weights.as_slice() {
            [] => symbols.len() as u32,
            _ => letters_and_pairs(symbols)
                .0
                .iter()
                .fold(0, |sum: u32, &s| sum.saturating_add(self.weight_of_symbol(s))),
        }
    }

    /// What a bigram of a bag weighs.
    pub(super) fn weight_of_pair(&self, pair: u32) -> u32 {
        self.weights_of_pairs[(pair - FIRST_PAIR) as usize].into()
    }

    /// What a symbol is worth that is no pair.
    pub(super) fn weight_of_symbol(&self, symbol: u32) -> u32 {
        self.weights.get(symbol as usize).copied().unwrap_or(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn metrics() -> impl Strategy<Value = Metric> {
        prop::sample::select(vec![Metric::Indel, Metric::Jaccard { n: 2 }, Metric::REWORDED])
    }

    proptest! {
        #[test]
        fn merging_is_associative_and_commutative(
            parts in prop::collection::vec(prop::collection::vec("[鱼鸟虾a1]{0,6}", 0..6), 3),
            metric in metrics(),
        ) {
            let part = |i: usize| {
                let mut stats = Stats::new(metric);
                parts[i].iter().for_each(|row| stats.add(row));
                stats
            };
            let whole = parts.concat().iter().fold(Stats::new(metric), |mut stats, row| {
                stats.add(row);
                stats
            });
            prop_assert_eq!(part(0).merge(part(1)).merge(part(2)), whole.clone());
            prop_assert_eq!(part(2).merge(part(0).merge(part(1))), whole.clone());
            prop_assert_eq!(part(1).merge(Stats::new(metric)), part(1));
        }
    }

    #[test]
    fn rare_comes_first_and_pairs_last() {
        let mut stats = Stats::new(Metric::REWORDED);
        ["鱼鸟虾", "鱼鸟", "鱼"].iter().for_each(|row| stats.add(row));
        let order = Order::new(&stats, Threshold::ONE);
        let (mut symbols, mut scratch) = (Vec::new(), Vec::new());
        assert!(order.spell_text("鱼鸟虾", &mut scratch, &mut symbols));
        assert_eq!(letters_and_pairs(&symbols), (&[0, 1, 2][..], &[FIRST_PAIR, FIRST_PAIR + 1][..]));
        assert_eq!(order.pairs[0], (1, 0));
        assert_eq!(
            order.size_of_symbols(&symbols),
            order.weight_of_symbol(0) + order.weight_of_symbol(1) + order.weight_of_symbol(2)
        );
        assert!(!order.spell_text("虾鱼", &mut scratch, &mut symbols), "the corpus has no such pair");
    }
}
