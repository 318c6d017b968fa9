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
//! A bag of letters has two such orders. Its partner shares a third of its pairs of neighbours by weight, so that the
//! rarest pair that both hold is before the last third: every key begins with a pair, which says more than two
//! letters do. What else is shared are letters, and where a pair is too common, the rarest of the others make it
//! longer. The budgets are of weight: what a record passes over of its letters weighs at most its size − `need`.
//! There the shared letters may end before a key is long enough. A record cannot know where, so each of its
//! subsets that weighs enough to be all that is shared is a key too, marked as an end.

use super::metric::{Linear, Metric};
use super::plan::{Budget, DEEPEST, FEW_RECORDS_OF_BAG, largest_partner};
use super::stats::Order;
use super::tokens::{FIRST_PAIR, parted};

/// A key is long enough when chance alone lets it are in about this many records. Passing over a record
/// in a list is cheaper than looking up another key: hundreds are read in the time of a few lookups, and most
/// are rejected by the data stored with them.
const FEW_RECORDS: f64 = 512.0;

/// Starting states of hashes: of keys, of those cut at the greatest depth, and of ends.
const KEY: u64 = 0x9E37_79B9_7F4A_7C15;
const STOP: u64 = u64::MAX;
const END: u64 = u64::MAX - 1;

/// A token of one record, as far as keys need it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed {
    /// Identity, and place in the order from rare to common.
    pub symbol: u32,
    /// Place in the text (characters), or 0 for every token of a set.
    pub place: u32,
    /// What it adds to the size.
    pub weight: u32,
}

/// One key of one record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    /// Identity. A collision costs a comparison, never a pair.
    pub hash: u64,
    /// At least so much of the record's size is unshared in a pair that this key finds.
    pub skip: u32,
    /// The place, among a bag's pairs of neighbours, of the one that is this key by itself; otherwise [`NO_PAIR`].
    pub pair: u16,
}

/// No place among the pairs of a bag, or none that is kept.
pub(super) const NO_PAIR: u16 = u16::MAX;

/// Tokens of a record from rare to common. `sequence` says whether their places in the text count.
pub(super) fn placed(symbols: &[u32], order: &Order, tokens: &mut Vec<Placed>) {
    tokens.clear();
    let symbols = parted(symbols).0;
    let sequence = order.query.metric.of_sequences();
    let each = symbols.iter().zip(0u32..).map(|(&symbol, i)| Placed {
        symbol,
        place: if sequence { i } else { 0 },
        weight: order.weight(symbol),
    });
    tokens.extend(each);
    if sequence {
        tokens.sort_unstable_by_key(|token| u64::from(token.symbol) << 32 | u64::from(token.place));
    }
}

/// Appends the keys of a record, without duplicates, in an order that only the record decides.
///
/// `tokens` are those of [`placed`], `pairs` the pairs of neighbours of a bag.
pub(super) fn cut(tokens: &[Placed], pairs: &[u32], budget: Budget, order: &Order, keys: &mut Vec<Key>) {
    let deepest = u32::BITS - 1 - budget.stops.leading_zeros();
    let weighted = !order.weights.is_empty();
    let cutter = Cutter { tokens, budget, deepest, order, weighted, besides: [NONE; 2] };
    let start = keys.len();
    let chosen = Chosen { depth: 0, skipped: 0, weight: 0, hash: KEY, expected: order.rows };
    if weighted {
        cutter.begin_with_pairs(pairs, keys);
    } else {
        cutter.grow(chosen, 0, &mut [0; DEEPEST as usize], keys);
    }
    let repeats = weighted || tokens.windows(2).any(|pair| pair[0].symbol == pair[1].symbol);
    if repeats {
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

/// The key that a pair of neighbours is by itself; none where it is so common that keys go on with letters.
pub(super) fn finds_alone(pair: u32, order: &Order) -> Option<u64> {
    (pair < order.common_pairs).then(|| hash_of_pair(pair))
}

/// Where the keys of a pair of neighbours begin. No two pairs have the same, as far as an index and its lists look at
/// it, at the highest eight bits and the lower 48: a list of a pair is of this one alone.
fn hash_of_pair(pair: u32) -> u64 {
    const BITS: u64 = (1 << 56) - 1;
    // Each step can be undone: odd factors, and shifts of the higher bits into the lower.
    let hash = u64::from(pair).wrapping_mul(0xD6_E8FE_B866_59FD) & BITS;
    let hash = (hash ^ hash >> 28).wrapping_mul(0x9F_B21C_651E_98DF) & BITS;
    let hash = hash ^ hash >> 28;
    (hash >> 48) << 56 | hash & ((1 << 48) - 1)
}

/// A key that no pair of neighbours is by itself, and that passes over nothing.
fn longer(hash: u64) -> Key {
    Key { hash, skip: 0, pair: NO_PAIR }
}

/// No place.
const NONE: usize = usize::MAX;

struct Cutter<'a> {
    tokens: &'a [Placed],
    budget: Budget,
    deepest: u32,
    order: &'a Order,
    weighted: bool,
    /// Tokens that a key began with, by their places among `tokens`.
    besides: [usize; 2],
}

/// A subset that may grow.
#[derive(Clone, Copy)]
struct Chosen {
    depth: u32,
    /// What was passed over.
    skipped: u32,
    /// What was chosen.
    weight: u32,
    hash: u64,
    /// Records that hold it by chance.
    expected: f64,
}

impl Cutter<'_> {
    /// Keys of a bag: each begins with the rarest pair of neighbours that a partner may share.
    fn begin_with_pairs(&self, pairs: &[u32], keys: &mut Vec<Key>) {
        let weight = |pair: u32| self.order.weight_of_pair(pair);
        let total: u32 = pairs.iter().fold(0, |sum, &pair| sum.saturating_add(weight(pair)));
        let spare = total.saturating_sub(self.budget.least_of_pairs(total));
        let mut skipped = 0u32;
        for (i, &pair) in pairs.iter().enumerate() {
            if skipped > spare {
                break;
            }
            let left = total - skipped;
            skipped = skipped.saturating_add(weight(pair));
            if i > 0 && pairs[i - 1] == pair {
                continue;
            }
            let skip = self.skip_of_pairs(total, left);
            if let Some(hash) = finds_alone(pair, self.order) {
                keys.push(Key { hash, skip, pair: u16::try_from(i).unwrap_or(NO_PAIR) });
                continue;
            }
            let of_pair = &self.order.pairs[(pair - FIRST_PAIR) as usize];
            let expected = self.order.rows * f64::from(of_pair.chance);
            let hash = hash_of_pair(pair);
            let start = keys.len();
            // The letters of the pair are shared; the others are what the key goes on with.
            let (x, y) = of_pair.letters;
            let place = |letter: u32| self.tokens.partition_point(|token| token.symbol < letter);
            let besides = [place(x), if x == y { place(y) + 1 } else { place(y) }];
            let cutter = Cutter { besides, ..*self };
            let chosen = Chosen { depth: 1, skipped: 0, weight: weight(pair), hash, expected };
            if chosen.weight >= self.budget.least {
                keys.push(Key { skip: self.budget.size - chosen.weight, ..longer(mix(hash, END)) });
            }
            if self.budget.stops >> 1 & 1 == 1 {
                keys.push(longer(mix(hash, STOP)));
            }
            if self.deepest > 1 {
                cutter.grow(chosen, 0, &mut [0; DEEPEST as usize], keys);
            }
            keys[start..].iter_mut().for_each(|key| key.skip = key.skip.max(skip));
        }
    }

    /// What a bag leaves unshared with every partner, where those of its pairs of neighbours that may be shared weigh
    /// `left` of `total`.
    ///
    /// That is too little for a partner whose pairs weigh over three times as much, or the bag's own if they are
    /// lighter: such a partner is too large. What is unshared with the largest one left says the same, and is looked at
    /// wherever sizes are.
    fn skip_of_pairs(&self, total: u32, left: u32) -> u32 {
        if Metric::need_of_pairs(total, total) <= left {
            return 0;
        }
        let Linear { small, large, of } = self.order.query.metric.linear(self.order.query.threshold);
        let (size, largest) = (u64::from(self.budget.size), u64::from(largest_partner(left)));
        if largest >= size {
            return 0;
        }
        u32::try_from((of * size).saturating_sub(small * largest + large * size) / of).unwrap_or(u32::MAX)
    }

    /// Extends a subset by every token at or after `from` that the budget reaches.
    fn grow(&self, chosen: Chosen, from: usize, places: &mut [u32; DEEPEST as usize], keys: &mut Vec<Key>) {
        let Budget { size, least, stops, .. } = self.budget;
        let depth = chosen.depth + 1;
        let few = if self.weighted { FEW_RECORDS_OF_BAG } else { FEW_RECORDS };
        let mut skip = chosen.skipped;
        for (i, token) in self.tokens.iter().enumerate().skip(from) {
            if skip > size - least {
                break;
            }
            if self.besides.contains(&i) {
                continue;
            }
            let before = &places[..chosen.depth as usize];
            let order = before.iter().fold(0u64, |bits, &place| bits << 1 | u64::from(place < token.place));
            let hash = mix(chosen.hash, u64::from(token.symbol) << 8 | order);
            let expected = chosen.expected * f64::from(self.order.chance[token.symbol as usize]);
            let weight = chosen.weight + token.weight;
            if expected <= few {
                keys.push(Key { skip, ..longer(hash) });
            } else {
                if stops >> depth & 1 == 1 {
                    keys.push(Key { skip, ..longer(mix(hash, STOP)) });
                }
                if self.weighted && weight >= least {
                    keys.push(Key { skip: size - weight, ..longer(mix(hash, END)) });
                }
                if depth < self.deepest {
                    places[chosen.depth as usize] = token.place;
                    let chosen = Chosen { depth, skipped: skip, weight, hash, expected };
                    self.grow(chosen, i + 1, places, keys);
                }
            }
            skip += token.weight;
        }
    }
}

fn mix(state: u64, value: u64) -> u64 {
    let product = u128::from(state ^ value) * 0x9FB2_1C65_1E98_DF25_u128;
    (product as u64) ^ (product >> 64) as u64
}
