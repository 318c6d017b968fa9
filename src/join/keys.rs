//! Keys: two records that are similar enough share at least one.
//!
//! Order the tokens of every record (characters, or n-grams) from rare to common, the same order
//! everywhere. Let a pair share `need` tokens. Record a leaves at most `a − need` of its tokens
//! unshared, so its k rarest shared tokens stand among its first `a − need + k`; in b likewise.
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

use super::Threshold;
use super::metric::Metric;

/// A key is long enough when chance alone lets it stand in about this many records.
const FEW_RECORDS: f64 = 8.0;

/// The most subsets a record enumerates for one required overlap; it bounds their length.
const MOST_SUBSETS: u64 = 1000;

/// Required overlaps from here on use single tokens as keys.
const LONG: u32 = 1024;

/// No key has more tokens.
const DEEPEST: u32 = 7;

/// A token of one record, as far as keys need it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
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
    /// Tokens passed over before the key's last.
    pub skip: u32,
}

/// What a record's keys must cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Budget {
    /// Most tokens that a pair can leave unshared.
    max_skip: u32,
    /// Bit k: some pair stops at keys of k tokens whatever their rarity.
    stops: u32,
}

/// How keys are cut for one metric and threshold. Depends on nothing else.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    metric: Metric,
    threshold: Threshold,
    /// By required overlap below [`LONG`]: most tokens a key.
    stop: Vec<u8>,
}

impl Plan {
    pub fn new(metric: Metric, threshold: Threshold) -> Self {
        let need = |a, b| metric.need(threshold, a, b);
        let mut stop = vec![0];
        let mut largest = 1;
        for overlap in 1..LONG {
            // The largest record that can be in a pair with this overlap.
            while largest < 2 * LONG
                && need(largest + 1, metric.least_partner(threshold, largest + 1)) <= overlap
            {
                largest += 1;
            }
            let skips = u64::from(largest.saturating_sub(overlap));
            let deep = |k: u32| largest < 2 * LONG && subsets(skips, k) <= MOST_SUBSETS;
            let k = (1..=DEEPEST.min(overlap)).take_while(|&k| k == 1 || deep(k)).count();
            stop.push(k as u8);
        }
        Self { metric, threshold, stop }
    }

    /// For pairs of a record of this size with records of at most its size.
    pub fn downward(&self, size: u32) -> Budget {
        let least = self.metric.need(self.threshold, size, self.metric.least_partner(self.threshold, size));
        self.budget(size, least, self.metric.need(self.threshold, size, size))
    }

    /// For pairs of a record of this size with records of at least its size.
    pub fn upward(&self, size: u32) -> Budget {
        self.budget(size, self.metric.need(self.threshold, size, size), size)
    }

    /// Of pairs that share from `least` to `most` tokens.
    fn budget(&self, size: u32, least: u32, most: u32) -> Budget {
        let stops =
            (least.min(LONG)..=most.min(LONG)).fold(0, |stops, overlap| stops | 1 << self.stop(overlap));
        Budget { max_skip: size - least, stops }
    }

    fn stop(&self, overlap: u32) -> u8 {
        self.stop.get(overlap as usize).copied().unwrap_or(1)
    }
}

/// Ways to choose k tokens of which the last passes over at most `skips`.
fn subsets(skips: u64, k: u32) -> u64 {
    (1..=u64::from(k)).fold(1, |ways, i| (ways * (skips + i) / i).min(u64::from(u32::MAX)))
}

/// Appends the keys of a record, without duplicates, in an order that only the record decides.
///
/// `tokens` are sorted by (symbol, place). `chance[symbol]` is the share of the records that hold
/// the token, and `records` their number.
pub(super) fn cut(tokens: &[Token], budget: Budget, records: f64, chance: &[f32], keys: &mut Vec<Key>) {
    if budget.stops == 0 {
        return;
    }
    let deepest = u32::BITS - 1 - budget.stops.leading_zeros();
    let cutter = Cutter { tokens, budget, deepest, chance };
    let start = keys.len();
    cutter.grow(0, 0, 0, 0x9E37_79B9_7F4A_7C15, records, &mut [0; DEEPEST as usize], keys);
    let repeats = tokens.windows(2).any(|pair| pair[0].symbol == pair[1].symbol);
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

struct Cutter<'a> {
    tokens: &'a [Token],
    budget: Budget,
    deepest: u32,
    chance: &'a [f32],
}

impl Cutter<'_> {
    /// Extends a subset of `depth` tokens, the next to be chosen at or after `from`.
    #[expect(clippy::too_many_arguments, reason = "the state of one recursion")]
    fn grow(
        &self,
        depth: u32,
        from: usize,
        skipped: u32,
        hash: u64,
        expected: f64,
        places: &mut [u32; DEEPEST as usize],
        keys: &mut Vec<Key>,
    ) {
        let reach = (self.budget.max_skip - skipped) as usize;
        let depth_now = depth + 1;
        for (i, token) in self.tokens.iter().enumerate().skip(from).take(reach + 1) {
            let skip = skipped + (i - from) as u32;
            let before = &places[..depth as usize];
            let order = before.iter().fold(0u64, |bits, &place| bits << 1 | u64::from(place < token.place));
            let hash = mix(hash, u64::from(token.symbol) << 8 | order);
            let expected = expected * f64::from(self.chance[token.symbol as usize]);
            if expected <= FEW_RECORDS {
                keys.push(Key { hash, skip });
                continue;
            }
            if self.budget.stops >> depth_now & 1 == 1 {
                keys.push(Key { hash: mix(hash, u64::MAX), skip });
            }
            if depth_now < self.deepest {
                places[depth as usize] = token.place;
                self.grow(depth_now, i + 1, skip, hash, expected, places, keys);
            }
        }
    }
}

fn mix(state: u64, value: u64) -> u64 {
    let product = u128::from(state ^ value) * 0x9FB2_1C65_1E98_DF25_u128;
    (product as u64) ^ (product >> 64) as u64
}
