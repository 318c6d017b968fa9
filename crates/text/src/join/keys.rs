//! Keys: two records that are similar enough share at least one.
//!
//! Order the tokens of every record (characters, or n-grams) from rare to common, the same order
//! everywhere. Let a pair share `need` tokens. Record a leaves at most `a − need` of its tokens
//! unshared, so its k rarest shared tokens are among its first `a − need + k`; in b likewise.
//! Hence, for any k up to `need`, both records hold the k rarest shared tokens as a subset of
//! their prefixes, and for a common *subsequence* in the same order of text. Such a subset is a
//! key, and the tokens passed over before its last one are its `skip`.
//!
//! k is not fixed: a subset grows until its tokens are so rare together that few records can hold
//! it, which is read from the corpus statistics and thus the same for both records. One rare
//! character is a key by itself; common ones only as pairs, triples and so on. This bounds the
//! length of the lists in a corpus of any size, where a plain prefix filter (Bayardo et al. 2007,
//! Xiao et al. 2008) has lists that grow with the corpus; Wang et al. 2012 (AdaptJoin) choose k
//! for a whole record, here each key does.
//!
//! A bag of letters has two such orders, and its keys are of the other: each is one bigram. Its partner shares
//! a third of its pairs by weight, so that the rarest that both hold is before the last third. It is one that few
//! rows hold, because others do not make two rows a pair: the lists are bounded in a corpus of any size. What a pair
//! passes over is of the order of pairs; what that says of the letters is in `skip`.

use super::metric::{Linear, Metric};
use super::plan::{Budget, DEEPEST, largest_partner};
use super::stats::Order;
use super::tokens::letters_and_pairs;

/// A key is long enough when chance alone lets it are in about this many records. Passing over a record
/// in a list is cheaper than looking up another key: hundreds are read in the time of a few lookups, and most
/// are rejected by the data stored with them.
const FEW_RECORDS: f64 = 512.0;

/// Starting states of hashes: of keys, and of those cut at the greatest depth.
const KEY: u64 = 0x9E37_79B9_7F4A_7C15;
const STOP: u64 = u64::MAX;

/// A token of one record, as far as keys need it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed {
    /// Identity, and place in the order from rare to common.
    pub symbol: u32,
    /// Place in the text (characters), or 0 for every token of a set.
    pub place: u32,
}

/// One key of one record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    /// Identity. A collision costs a comparison, never a pair.
    pub hash: u64,
    /// At least so much of the record's size is unshared in a pair that this key finds.
    pub skip: u32,
    /// The place, among a bag's bigrams, of the one that is this key; of others [`NO_PAIR`].
    pub pair: u16,
}

/// No place among the pairs of a bag, or none that is kept.
pub(super) const NO_PAIR: u16 = u16::MAX;

/// Tokens of a record from rare to common. `sequence` says whether their places in the text count.
fn place_tokens(symbols: &[u32], order: &Order, tokens: &mut Vec<Placed>) {
    tokens.clear();
    let sequence = order.query.metric.of_sequences();
    let each =
        symbols.iter().zip(0u32..).map(|(&symbol, i)| Placed { symbol, place: if sequence { i } else { 0 } });
    tokens.extend(each);
    if sequence {
        tokens.sort_unstable_by_key(|token| u64::from(token.symbol) << 32 | u64::from(token.place));
    }
}

/// Cuts the keys of records, one after the other.
#[derive(Default)]
pub(super) struct Cutter {
    tokens: Vec<Placed>,
}

impl Cutter {
    /// Appends the keys of a record, without duplicates, in an order that only the record decides.
    pub fn cut_keys(&mut self, symbols: &[u32], budget: Budget, order: &Order, keys: &mut Vec<Key>) {
        if order.query.metric.is_of_bags() {
            return pairs_of_bag(letters_and_pairs(symbols).1, budget, order, keys);
        }
        place_tokens(symbols, order, &mut self.tokens);
        let tokens = &self.tokens;
        let deepest = u32::BITS - 1 - budget.stops.leading_zeros();
        let start = keys.len();
        let chosen = Chosen { depth: 0, skipped: 0, hash: KEY, expected: order.rows };
        Subsets { tokens, budget, deepest, order }.extend_subset(chosen, 0, &mut [0; DEEPEST as usize], keys);
        if tokens.windows(2).any(|pair| pair[0].symbol == pair[1].symbol) {
            keys[start..].sort_unstable();
            let mut end = start;
            for i in start..keys.len() {
                if i == start || keys[i].hash != keys[end - 1].hash {
                    keys[end] = keys[i];
                    end += 1;
                }
            }
            keys.truncate(end);
        }
    }
}

/// Keys of a bag: the bigrams of which each may be the rarest that a partner shares.
fn pairs_of_bag(pairs: &[u32], budget: Budget, order: &Order, keys: &mut Vec<Key>) {
    let weight = |pair: u32| order.weight_of_pair(pair);
    let total: u32 = pairs.iter().fold(0, |sum, &pair| sum.saturating_add(weight(pair)));
    let spare = total.saturating_sub(budget.least_of_pairs(total));
    let mut skipped = 0u32;
    for (i, &pair) in pairs.iter().enumerate() {
        // They ascend, and from here on none makes two rows a pair.
        if skipped > spare || pair >= order.common_pairs {
            break;
        }
        let left = total - skipped;
        skipped = skipped.saturating_add(weight(pair));
        if i > 0 && pairs[i - 1] == pair {
            continue;
        }
        let place = u16::try_from(i).unwrap_or(NO_PAIR);
        keys.push(Key {
            hash: hash_of_pair(pair),
            skip: skip_of_pairs(total, left, budget, order),
            pair: place,
        });
    }
}

/// What a bag leaves unshared with every partner, where those of its bigrams that may be shared weigh
/// `left` of `total`.
///
/// That is too little for a partner whose pairs weigh over three times as much, or the bag's own if they are
/// lighter: such a partner is too large. What is unshared with the largest one left says the same, and is looked at
/// wherever sizes are.
fn skip_of_pairs(total: u32, left: u32, budget: Budget, order: &Order) -> u32 {
    if Metric::need_of_pairs(total, total) <= left {
        return 0;
    }
    let Linear { small, large, of } = order.query.metric.linear_bound(order.query.threshold);
    let (size, largest) = (u64::from(budget.size), u64::from(largest_partner(left)));
    if largest >= size {
        return 0;
    }
    u32::try_from((of * size).saturating_sub(small * largest + large * size) / of).unwrap_or(u32::MAX)
}

/// The key that a bigram is. No two pairs have the same, as far as an index and its lists look at
/// it, at the highest eight bits and the lower 48: a list of a pair is of this one alone.
pub(super) fn hash_of_pair(pair: u32) -> u64 {
    const BITS: u64 = (1 << 56) - 1;
    // Each step can be undone: odd factors, and shifts of the higher bits into the lower.
    let hash = u64::from(pair).wrapping_mul(0xD6_E8FE_B866_59FD) & BITS;
    let hash = (hash ^ hash >> 28).wrapping_mul(0x9F_B21C_651E_98DF) & BITS;
    let hash = hash ^ hash >> 28;
    (hash >> 48) << 56 | hash & ((1 << 48) - 1)
}

/// The subsets of one record's tokens that are keys.
struct Subsets<'a> {
    tokens: &'a [Placed],
    budget: Budget,
    deepest: u32,
    order: &'a Order,
}

/// A subset that may grow.
#[derive(Clone, Copy)]
struct Chosen {
    depth: u32,
    /// What was passed over.
    skipped: u32,
    hash: u64,
    /// Records that hold it by chance.
    expected: f64,
}

impl Subsets<'_> {
    /// Extends a subset by every token at or after `from` that the budget reaches.
    fn extend_subset(
        &self,
        chosen: Chosen,
        from: usize,
        places: &mut [u32; DEEPEST as usize],
        keys: &mut Vec<Key>,
    ) {
        let Budget { size, least, stops, .. } = self.budget;
        let depth = chosen.depth + 1;
        for ((i, token), skip) in self.tokens.iter().enumerate().skip(from).zip(chosen.skipped..) {
            if skip > size - least {
                break;
            }
            let before = &places[..chosen.depth as usize];
            let order = before.iter().fold(0u64, |bits, &place| bits << 1 | u64::from(place < token.place));
            let hash = mix_hash(chosen.hash, u64::from(token.symbol) << 8 | order);
            let expected = chosen.expected * f64::from(self.order.chance[token.symbol as usize]);
            if expected <= FEW_RECORDS {
                keys.push(Key { hash, skip, pair: NO_PAIR });
                continue;
            }
            if stops >> depth & 1 == 1 {
                keys.push(Key { hash: mix_hash(hash, STOP), skip, pair: NO_PAIR });
            }
            if depth < self.deepest {
                places[chosen.depth as usize] = token.place;
                self.extend_subset(Chosen { depth, skipped: skip, hash, expected }, i + 1, places, keys);
            }
        }
    }
}

fn mix_hash(state: u64, value: u64) -> u64 {
    let product = u128::from(state ^ value) * 0x9FB2_1C65_1E98_DF25_u128;
    (product as u64) ^ (product >> 64) as u64
}
