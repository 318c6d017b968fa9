//! Bitmaps of records that reject most candidates with a few popcounts.
//!
//! There are two: a [`Signature`] for each record, and its [`Classes`], which are small enough to be stored with
//! each key, where they reject a candidate before any of its data is fetched.

use std::fmt;
use std::str::FromStr;

use super::stats::Order;
use super::tokens::{HEAVY, MIDDLING, TAG_BITS, TIERS, Tier, letters_and_pairs, spread_hash};

/// Which of 256 classes of symbols a record holds. As text it is 64 hex digits.
///
/// A bit of a that b lacks is at least one token of a without a partner in b.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Signature([u64; 4]);

impl Signature {
    /// Of a record; of a bag of its letters.
    pub(super) fn new(symbols: &[u32], order: &Order) -> Self {
        let mut bits = [0u64; 4];
        for &symbol in letters_and_pairs(symbols).0 {
            let class = class_of(symbol, order);
            bits[class / 64] |= 1 << (class % 64);
        }
        Self(bits)
    }

    /// The least number of tokens of `self` that are not in `other`.
    pub(super) fn missing_from(self, other: Self) -> u32 {
        self.0.iter().zip(other.0).map(|(mine, theirs)| (mine & !theirs).count_ones()).sum()
    }

    /// What the letters of `self` that are not in `other` weigh at least; both are of bags.
    pub(super) fn weight_missing_from(self, other: Self) -> u32 {
        let missing = |tier: &Tier| (self.0[tier.word] & !other.0[tier.word]) >> tier.from;
        let count = |tier: &Tier| (missing(tier) & (!0 >> (64 - tier.classes))).count_ones();
        TIERS.iter().map(|tier| tier.least * count(tier)).sum()
    }

    /// Its bits, 64 in a word.
    pub fn words(self) -> [u64; 4] {
        self.0
    }

    /// A signature from its [`words`](Signature::words).
    pub fn of_words(words: [u64; 4]) -> Signature {
        Signature(words)
    }

    /// The same in half of the room.
    pub(super) fn classes(self) -> Classes {
        let Self([a, b, c, d]) = self;
        Classes((u128::from(b | d) << 64 | u128::from(a | c)) & Classes::KEPT)
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|word| write!(f, "{word:016x}"))
    }
}

/// A text that is not 64 hex digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a signature is 64 hex digits")]
pub struct NoSignature;

impl FromStr for Signature {
    type Err = NoSignature;

    fn from_str(text: &str) -> Result<Self, NoSignature> {
        let mut words = [0; 4];
        let mut rest = text;
        for word in &mut words {
            let (digits, more) = rest.split_at_checked(16).ok_or(NoSignature)?;
            *word = u64::from_str_radix(digits, 16).map_err(|_| NoSignature)?;
            rest = more;
        }
        if rest.is_empty() { Ok(Self(words)) } else { Err(NoSignature) }
    }
}

/// Which of 120 classes of symbols a record holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Classes(u128);

impl Classes {
    /// The lowest bits are the holder's, for a tag.
    const TAG_BITS: u32 = TAG_BITS;

    const KEPT: u128 = !0 << Self::TAG_BITS;

    /// The classes in two words, and in the lowest eight bits of the first the tag.
    pub fn with_tag(self, tag: u8) -> [u64; 2] {
        [self.0 as u64 | u64::from(tag), (self.0 >> 64) as u64]
    }

    /// The classes of tagged words.
    #[inline(always)]
    pub fn of_tagged([low, high]: [u64; 2]) -> Self {
        Self((u128::from(high) << 64 | u128::from(low)) & Self::KEPT)
    }

    /// The least number of tokens of `self` that are not in `other`.
    #[inline(always)]
    pub fn missing_from(self, other: Self) -> u32 {
        (self.0 & !other.0).count_ones()
    }

    /// What the letters of `self` that are not in `other` weigh at least; both are of bags.
    #[inline(always)]
    pub fn weight_missing_from(self, other: Self) -> u32 {
        let missing = self.0 & !other.0;
        let (middling, heavy) = (missing as u64 >> Self::TAG_BITS, (missing >> 64) as u64);
        // Light ones are in none of the classes.
        MIDDLING * middling.count_ones() + HEAVY * heavy.count_ones()
    }
}

/// What the letters of one bag are worth, by class.
#[derive(Clone, Debug)]
pub(super) struct Worth([u32; 128]);

impl Worth {
    /// Of no record yet.
    pub const NOTHING: Worth = Worth([0; 128]);

    /// Takes another record.
    pub fn set_letters(&mut self, letters: &[u32], order: &Order) {
        self.0.fill(0);
        for &letter in letters {
            let worth = &mut self.0[class_of(letter, order) % 128];
            *worth = worth.saturating_add(order.weight_of_symbol(letter));
        }
    }

    /// Whether what a record with `mine` as its classes holds and one with `theirs` lacks is worth over so
    /// much.
    #[inline(always)]
    pub fn is_over(&self, most: u64, mine: Classes, theirs: Classes) -> bool {
        let (mut missing, mut room) = (mine.0 & !theirs.0, most);
        while missing != 0 {
            let worth = u64::from(self.0[missing.trailing_zeros() as usize]);
            match room.checked_sub(worth) {
                Some(left) => room = left,
                None => return true,
            }
            missing &= missing - 1;
        }
        false
    }
}

/// Which of 128 classes of bigrams a bag holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PairClasses(u128);

impl PairClasses {
    pub fn from_pairs(pairs: &[u32]) -> Self {
        Self(pairs.iter().fold(0, |bits, &pair| bits | 1 << Self::class_of_pair(pair)))
    }

    fn class_of_pair(pair: u32) -> u32 {
        spread_hash(pair) >> 25
    }
}

/// What the bigrams of one bag weigh, by class.
#[derive(Clone, Debug)]
pub(super) struct PairWorth {
    of_class: [u32; 128],
    classes: PairClasses,
    total: u32,
}

impl PairWorth {
    /// Of no bag yet.
    pub const NOTHING: PairWorth = PairWorth { of_class: [0; 128], classes: PairClasses(0), total: 0 };

    /// Takes another bag.
    pub fn set_pairs(&mut self, pairs: &[u32], order: &Order) {
        self.of_class.fill(0);
        (self.total, self.classes) = (0, PairClasses::from_pairs(pairs));
        for &pair in pairs {
            let weight = order.weight_of_pair(pair);
            let of_class = &mut self.of_class[PairClasses::class_of_pair(pair) as usize];
            *of_class = of_class.saturating_add(weight);
            self.total = self.total.saturating_add(weight);
        }
    }

    /// Whether the bag may share pairs of this weight with one of these classes. A class that the other has not is
    /// shared by nothing.
    pub fn may_share(&self, need: u32, other: PairClasses) -> bool {
        let Some(mut room) = self.total.checked_sub(need) else { return false };
        let mut missing = self.classes.0 & !other.0;
        while missing != 0 {
            match room.checked_sub(self.of_class[missing.trailing_zeros() as usize]) {
                Some(left) => room = left,
                None => return false,
            }
            missing &= missing - 1;
        }
        true
    }
}

fn class_of(symbol: u32, order: &Order) -> usize {
    order
        .classes
        .get(symbol as usize)
        .map_or_else(|| spread_hash(symbol) as usize >> 24, |&class| class.into())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::join::{Metric, Stats, Threshold};

    /// The letters of two texts, in an order made of both.
    fn spelled(metric: Metric, a: &str, b: &str) -> (Order, Vec<u32>, Vec<u32>) {
        let mut stats = Stats::new(metric);
        [a, b].iter().for_each(|text| stats.add(text));
        let order = Order::new(&stats, Threshold::ONE);
        let letters = |text: &str| {
            let (mut scratch, mut symbols) = (Vec::new(), Vec::new());
            assert!(order.spell_text(text, &mut scratch, &mut symbols));
            letters_and_pairs(&symbols).0.to_vec()
        };
        let (a, b) = (letters(a), letters(b));
        (order, a, b)
    }

    proptest! {
        #[test]
        fn never_takes_pairs_that_are_shared_for_others(a in "[一-俿的一是a-c]{0,60}", b in "[一-俿的一是a-c]{0,60}") {
            let mut stats = Stats::new(Metric::REWORDED);
            [&a, &b].into_iter().for_each(|text| stats.add(text));
            let order = Order::new(&stats, Threshold::ONE);
            let pairs = |text: &str| {
                let (mut scratch, mut symbols) = (Vec::new(), Vec::new());
                order.spell_text(text, &mut scratch, &mut symbols);
                letters_and_pairs(&symbols).1.to_vec()
            };
            let (a, mut b) = (pairs(&a), pairs(&b));
            let mut worth = PairWorth::NOTHING;
            worth.set_pairs(&b, &order);
            worth.set_pairs(&a, &order);
            let others = PairClasses::from_pairs(&b);
            let mut shared = 0;
            for pair in &a {
                if let Some(at) = b.iter().position(|other| other == pair) {
                    b.remove(at);
                    shared += order.weight_of_pair(*pair);
                }
            }
            prop_assert!(worth.may_share(shared, others));
        }

        #[test]
        fn never_counts_more_than_are_missing(a in "[一-俿a-c]{0,60}", b in "[一-俿a-c]{0,60}") {
            let (order, a, b) = spelled(Metric::Indel, &a, &b);
            let missing = a.iter().filter(|symbol| !b.contains(symbol)).count() as u32;
            let (of_a, of_b) = (Signature::new(&a, &order), Signature::new(&b, &order));
            prop_assert!(of_a.missing_from(of_b) <= missing);
            prop_assert_eq!(of_a.to_string().parse(), Ok(of_a));
            prop_assert!(of_a.classes().missing_from(of_b.classes()) <= of_a.missing_from(of_b));
        }

        #[test]
        fn never_finds_more_missing_than_it_is_worth(a in "[一-俿的一是a-c]{0,60}", b in "[一-俿的一是a-c]{0,60}") {
            let (order, a, b) = spelled(Metric::REWORDED, &a, &b);
            let missing: u32 = a.iter().filter(|symbol| !b.contains(symbol)).map(|&symbol| order.weight_of_symbol(symbol)).sum();
            let (of_a, of_b) = (Signature::new(&a, &order).classes(), Signature::new(&b, &order).classes());
            prop_assert!(of_a.weight_missing_from(of_b) <= missing);
            let mut worth = Worth::NOTHING;
            worth.set_letters(&b, &order);
            worth.set_letters(&a, &order);
            prop_assert!(!worth.is_over(u64::from(missing), of_a, of_b));
            let (of_a, of_b) = (Signature::new(&a, &order), Signature::new(&b, &order));
            prop_assert!(of_a.weight_missing_from(of_b) <= missing);
        }
    }
}
